#ifndef FW_SAMPLE_GPM_H
#define FW_SAMPLE_GPM_H
/*
 * The counters of a Hopper or newer GPU through NVML (GPM): averages between two samples. On an H200,
 * samples 20 ms apart answer 0 for everything, so that closer ones are not taken, and an answer of
 * nothing but zeros is no answer.
 */
#include "gpu/nvml.h"
#include "sample/values.h"

#include <stdint.h>

#define FW_GPM_LEAST_NS INT64_C(200000000)

/* Of one device. One thread. Initialise with {0}. */
struct fw_gpm {
	void *older, *newer;
	int64_t older_ns; /* when `older` was taken */
	bool has_older;
};

/*
 * Takes a sample at now_ns (any steady clock) and fills the values that GPM knows of `values`
 * (FW_GPU_VALUE_COUNT of them), each for the time since the sample before.
 */
void fw_gpm_read(struct fw_gpm *gpm, const struct fw_nvml *nvml, void *device, int64_t now_ns,
		 struct fw_value *values);

/* Frees the samples; before nvml is closed. */
void fw_gpm_release(struct fw_gpm *gpm, const struct fw_nvml *nvml);

#endif
