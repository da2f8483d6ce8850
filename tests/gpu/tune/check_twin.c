/*
 * gpu_tune_check: the kernel that checks outputs against its definition on the host, on random buffers of every type with
 * planted differences, not a number and infinity among them. Skips (77) without a GPU.
 */
#include "tune/compare.h"
#include "tune/device.h"
#include "tune/fill.h"
#include "tune/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ELEMENTS 100003u
#define BYTES    (ELEMENTS * 8u + 2u * FW_TUNE_CANARY_BYTES)

static unsigned char got[BYTES], want[BYTES];
static struct fw_tune_device device;
static struct fw_tune_watch watch;
static struct fw_tune_spec spec;

static uint32_t random_state = 1;

static uint32_t next_random(void)
{
	random_state = random_state * 1664525u + 1013904223u; /* Numerical Recipes */
	return random_state >> 8;
}

/* Equal contents, then some elements and canary bytes are changed, in got or in both. */
static void make(enum fw_tune_type type, unsigned changes)
{
	uint32_t width = fw_tune_type_bytes(type);
	unsigned char *data = got + FW_TUNE_CANARY_BYTES;

	spec.args[0] = (struct fw_tune_arg){ .type = type,
					     .fill = FW_TUNE_RANDOM,
					     .low = type <= FW_TUNE_F64 ? -3 : 0,
					     .high = 100 };
	memset(got, FW_TUNE_CANARY, BYTES);
	fw_tune_fill(&spec, 0, next_random(), 0, ELEMENTS, data);
	memcpy(want, data, (size_t)ELEMENTS * width);
	for (unsigned i = 0; i < changes; i++) {
		uint32_t at = next_random() % ELEMENTS;

		switch (next_random() % 4) {
		case 0: data[at * width] ^= 1; break;
		case 1: memset(data + at * width, 0xff, width); break;
		case 2: memset(want + at * width, 0x7c, width); break;
		default: data[at * width + width - 1] ^= (unsigned char)next_random(); break;
		}
	}
	if (changes % 3 == 2)
		got[next_random() % FW_TUNE_CANARY_BYTES] ^= 4;
	if (changes % 3 == 1)
		data[(size_t)ELEMENTS * width + next_random() % FW_TUNE_CANARY_BYTES] ^= 4;
}

static int compare(enum fw_tune_type type, unsigned changes, uint64_t base, uint64_t other,
		   struct fw_error *err)
{
	struct fw_tune_findings here = { .first_wrong = FW_TUNE_NO_PLACE,
					 .first_outside = FW_TUNE_NO_PLACE };
	struct fw_tune_findings there[FW_TUNE_MAX_ARGS];
	struct fw_tune_check check = { .elements = ELEMENTS,
				       .rel = 1e-3,
				       .abs = 1e-5,
				       .type = type,
				       .width = fw_tune_type_bytes(type),
				       .is_exact = changes % 7 == 6 };

	make(type, changes);
	check.base = base;
	check.want = other;
	if (device.cuda.memcpy_host_to_device(base, got, BYTES) ||
	    device.cuda.memcpy_host_to_device(other, want, BYTES) ||
	    fw_tune_device_clear_findings(&device, err) ||
	    fw_tune_device_check(&device, check, 0, err) ||
	    fw_tune_device_findings(&device, there, err))
		return 1;
	check.base = (uintptr_t)got;
	check.want = (uintptr_t)want;
	check.findings = (uintptr_t)&here;
	fw_tune_check_host(&check);
	if (!memcmp(&here, &there[0], sizeof(here)))
		return 0;
	printf("%s, %u changes: %llu wrong from %llu, %llu outside from %llu; the host says %llu, "
	       "%llu, %llu, %llu\n",
	       fw_tune_type_name(type), changes, (unsigned long long)there[0].wrong,
	       (unsigned long long)there[0].first_wrong, (unsigned long long)there[0].outside,
	       (unsigned long long)there[0].first_outside, (unsigned long long)here.wrong,
	       (unsigned long long)here.first_wrong, (unsigned long long)here.outside,
	       (unsigned long long)here.first_outside);
	return 1;
}

int main(void)
{
	const struct fw_tune_runner_options options = { .hang_s = 10 };
	const struct fw_tune_device_setup setup = { .options = &options, .watch = &watch };
	struct fw_error err = { 0 };
	uint64_t base, other;
	unsigned cases = 0, failed = 0;
	size_t bytes;
	void *cubin;

	spec.n_args = 1;
	if (fw_tune_device_open(&device, &setup, &cubin, &bytes, &err)) {
		printf("skipped: %s\n", err.message);
		return 77;
	}
	free(cubin);
	if (device.cuda.mem_alloc(&base, BYTES) || device.cuda.mem_alloc(&other, BYTES))
		return 1;
	for (enum fw_tune_type type = FW_TUNE_F16; type <= FW_TUNE_U64; type++)
		for (unsigned changes = 0; changes < 40; changes++, cases++)
			failed += (unsigned)compare(type, changes, base, other, &err);
	printf("{\"check\": \"kernel against host\", \"cases\": %u, \"different\": %u}\n", cases,
	       failed);
	if (err.code)
		printf("%s\n", err.message);
	return failed != 0;
}
