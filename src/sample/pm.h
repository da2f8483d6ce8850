#ifndef FW_SAMPLE_PM_H
#define FW_SAMPLE_PM_H
/*
 * The counters of a GPU through CUPTI's PM sampling: taken by the hardware at short intervals, exact, and
 * from outside of the programs that use the GPU. One client per GPU at a time.
 */
#include "base/error.h"
#include "sample/values.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FW_PM_VALUES 16 /* room for all of pm_metrics.def */

/* libcuda and libcupti. One thread. */
struct fw_pm_library;

/*
 * path: a libcupti; NULL: the first of the usual places that works with the driver (cupti_places.h).
 * FW_ERR_UNSUPPORTED with the reason where there is no driver, no GPU or no libcupti with PM sampling.
 */
fw_status fw_pm_library_open(struct fw_pm_library **library, const char *path,
			     struct fw_error *err);

/* The path or name of the libcupti in use, and its version as cuptiGetVersion() says it. */
const char *fw_pm_library_path(const struct fw_pm_library *library);
uint32_t fw_pm_library_version(const struct fw_pm_library *library);

/* Whether CUDA shows us the GPU of that UUID ("GPU-..."): CUDA_VISIBLE_DEVICES. */
bool fw_pm_library_sees(const struct fw_pm_library *library, const char *uuid);

/* After the samplers. NULL is accepted. */
void fw_pm_library_close(struct fw_pm_library *library);

struct fw_pm_options {
	uint64_t interval_ns; /* asked for; each sample says what it got */
	size_t buffer_bytes;  /* of the hardware's buffer; 0: 16 MiB */
	uint32_t batch;       /* samples decoded at once; 0: 256 */
};

/* A sampler of one GPU, at work from its opening to its closing. One thread. */
struct fw_pm;

/*
 * uuid: "GPU-..." as NVML writes it. On failure err says what is in the way: no permission (and what an
 * administrator has to set), another client, MIG, a chip that this libcupti does not know...
 */
fw_status fw_pm_open(struct fw_pm **pm, struct fw_pm_library *library, const char *uuid,
		     const struct fw_pm_options *options, struct fw_error *err);

/* NULL is accepted. */
void fw_pm_close(struct fw_pm *pm);

/* Which values the samples hold, in the order of fw_pm_sample.values; static for the sampler's life. */
const enum fw_gpu_value *fw_pm_values(const struct fw_pm *pm, size_t *count);

struct fw_pm_sample {
	int64_t start_mono, end_mono; /* CLOCK_MONOTONIC; start < end, and none overlaps another */
	double values[FW_PM_VALUES];  /* NAN: the hardware gave an impossible value */
};

typedef void fw_pm_sink(void *arg, const struct fw_pm_sample *sample);

/* CUPTI's clock, in which samples and kernels are timed, read between two of CLOCK_MONOTONIC. */
struct fw_pm_clock {
	int64_t before_mono, after_mono;
	uint64_t cupti_ns;
};

/* What one reading did. */
struct fw_pm_read {
	unsigned samples;         /* handed to the sink */
	unsigned dropped;         /* with impossible times, not handed on */
	unsigned wild;            /* values made NAN */
	unsigned overflows;       /* the hardware's buffer ran over: samples are missing */
	struct fw_pm_clock clock; /* by which the samples' times were mapped */
};

/*
 * Hands on all samples since the last reading, oldest first. An error means that the sampler is of no
 * more use: the GPU is lost, the driver went away, or the samples turned out to be timed by another
 * clock than CUPTI's. A reading costs about 3 ms of CPU time, and 60 us a sample (measured on an H200).
 */
fw_status fw_pm_read(struct fw_pm *pm, fw_pm_sink *sink, void *arg, struct fw_pm_read *read,
		     struct fw_error *err);

#endif
