/* The check of a buffer on the host: the definition of what the kernel of check_kernel.c does. */
#include "tune/compare.h"

#include "tune/floating.h"

#include <math.h>
#include <string.h>

/* check_kernel.c knows these numbers. */
_Static_assert(FW_TUNE_F16 == 0 && FW_TUNE_BF16 == 1 && FW_TUNE_F32 == 2 && FW_TUNE_F64 == 3,
	       "floating types come first");
_Static_assert(FW_TUNE_CANARY_BYTES == 4096 && FW_TUNE_CANARY == 0xc5, "as in the kernel");
_Static_assert(sizeof(struct fw_tune_check) == 64, "no padding that the kernel does not have");

static uint64_t load(const unsigned char *from, uint32_t width, uint64_t i)
{
	uint64_t bits = 0;

	memcpy(&bits, from + i * width, width);
	return bits;
}

static bool agree(const struct fw_tune_check *check, uint64_t got, uint64_t want)
{
	double g, w;

	if (got == want)
		return true;
	if (check->is_exact || !fw_tune_type_is_floating((enum fw_tune_type)check->type))
		return false;
	g = fw_tune_floating_value((enum fw_tune_type)check->type, got);
	w = fw_tune_floating_value((enum fw_tune_type)check->type, want);
	if (isnan(g) || isnan(w))
		return isnan(g) && isnan(w);
	if (g == w)
		return true;
	if (isinf(g) || isinf(w))
		return false;
	return fabs(g - w) <= check->abs + check->rel * fabs(w);
}

static void report(uint64_t *count, uint64_t *first, uint64_t at)
{
	(*count)++;
	if (at < *first)
		*first = at;
}

void fw_tune_check_host(const struct fw_tune_check *check)
{
	struct fw_tune_findings *findings = (struct fw_tune_findings *)(uintptr_t)check->findings;
	const unsigned char *base = (const unsigned char *)(uintptr_t)check->base;
	const unsigned char *want = (const unsigned char *)(uintptr_t)check->want;
	uint64_t bytes = check->elements * check->width;

	for (uint64_t i = 0; want && i < check->elements; i++)
		if (!agree(check, load(base + FW_TUNE_CANARY_BYTES, check->width, i),
			   load(want, check->width, i)))
			report(&findings->wrong, &findings->first_wrong, i);
	for (uint64_t i = 0; i < 2 * FW_TUNE_CANARY_BYTES; i++) {
		uint64_t place = i < FW_TUNE_CANARY_BYTES ? i : i + bytes;

		if (base[place] != FW_TUNE_CANARY)
			report(&findings->outside, &findings->first_outside, place);
	}
}
