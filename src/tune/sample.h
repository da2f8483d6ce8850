#ifndef FW_TUNE_SAMPLE_H
#define FW_TUNE_SAMPLE_H
/* Times of launches: what one sample is, warm-up, and which samples count. */
#include "tune/kernel.h"

/* What a call has measured of one kernel. */
struct fw_tune_samples {
	uint32_t n, discarded, unsteady;
	uint32_t clock_mhz;                  /* median of the samples kept; 0: unknown */
	double seconds[FW_TUNE_MAX_SAMPLES]; /* of one launch */
	enum fw_tune_status status; /* LAUNCH_FAILED: reason says why; there are no more samples */
	char reason[FW_TUNE_REASON_BYTES];
};

#define FW_TUNE_CLOCKS 32 /* readings of which the median is what the clock usually is */

/* Lives as long as the process. */
struct fw_tune_sampler {
	struct fw_tune_device *device;
	const struct fw_tune_buffers *buffers;
	bool is_flushing;
	unsigned clocks[FW_TUNE_CLOCKS], n_clocks; /* MHz; n_clocks counts all */
	unsigned clock;                            /* the last reading; 0: unknown */
	bool is_throttled;                         /* likewise */
	int64_t read_ns, cost_ns;                  /* when it was, and how long it took */
};

/*
 * n samples (at most FW_TUNE_MAX_SAMPLES) of each of the kernels, one of each a round; slots: their numbers for the
 * watch. An error is one that the device does not come back from.
 */
fw_status fw_tune_sample(struct fw_tune_sampler *sampler, struct fw_tune_kernel **kernels,
			 const uint32_t *slots, struct fw_tune_samples *samples, uint32_t n_kernels,
			 uint32_t n, struct fw_error *err);

#endif
