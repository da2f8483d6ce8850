/*
 * Asks the profiler host of a real libcupti, which needs no GPU, which of our metrics fit one pass on
 * every chip that can be sampled, and prints them. Fails where a value is missing that the chip is
 * known to give: SM busy, warp slots and tensor pipes on every one.
 */
#include "gpu/cupti_pm.h"
#include "sample/cupti_places.h"
#include "sample/pm_metrics.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *chip;
	size_t values; /* at least, by CUPTI 13.0 */
} chips[] = {
	{ "GA100", 8 },  { "GA102", 8 }, { "AD102", 6 }, { "AD104", 6 },
	{ "GH100", 10 }, { "GB100", 7 }, { "GB202", 6 }, { "GA10B", 3 },
};

static bool has(const struct fw_pm_choice *choice, enum fw_gpu_value value)
{
	for (size_t i = 0; i < choice->count; i++)
		if (choice->values[i] == value)
			return true;
	return false;
}

static int check(const struct fw_cupti_pm *cupti, size_t i)
{
	struct fw_pm_choice choice;
	struct fw_error err = { 0 };
	int bad = 0;

	if (fw_pm_choose(cupti, chips[i].chip, NULL, &choice, &err)) {
		printf("%s: %s\n", chips[i].chip, err.message);
		return 1;
	}
	printf("%s:", chips[i].chip);
	for (size_t k = 0; k < choice.count; k++)
		printf(" %s", fw_gpu_values[choice.values[k]].name);
	puts("");
	if (!has(&choice, FW_GPU_SM_BUSY) || !has(&choice, FW_GPU_WARPS) ||
	    !has(&choice, FW_GPU_TENSOR) || choice.count < chips[i].values) {
		printf("%s: a value is missing, %zu of %zu\n", chips[i].chip, choice.count,
		       chips[i].values);
		bad = 1;
	}
	for (size_t k = 0; k < choice.count; k++)
		if (strstr(choice.names[k], "shader_cs"))
			bad = 1;
	fw_pm_choice_release(cupti, &choice);
	return bad;
}

/* libcupti opens libnvperf_host with RTLD_DEEPBIND, which the address sanitizer forbids. */
#if defined(__SANITIZE_ADDRESS__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#if !defined(HAS_SANITIZER) && defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#endif
#ifndef HAS_SANITIZER
#define HAS_SANITIZER 0
#endif

int main(void)
{
	static struct fw_cupti_places places;
	struct fw_cupti_pm cupti = { 0 };
	struct fw_error err = { 0 };
	uint32_t version = 0;
	int bad = 0;

	if (HAS_SANITIZER) {
		puts("skipped: libcupti does not run under the sanitizers");
		return 77;
	}
	fw_cupti_places_find(&places);
	for (size_t i = 0; i < places.count && !cupti.handle; i++)
		fw_cupti_pm_open(&cupti, places.paths[i], &err);
	if (!cupti.handle) {
		printf("skipped: no libcupti with PM sampling: %s\n", err.message);
		return 77;
	}
	cupti.get_version(&version);
	if (version < 130000) {
		printf("skipped: the numbers are those of CUPTI 13.0, this is %u\n", version);
		return 77;
	}
	for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++)
		bad |= check(&cupti, i);
	return bad;
}
