#ifndef FW_TUNE_RESULT_H
#define FW_TUNE_RESULT_H
/* What is known of one configuration; a line of the cache, a row of the result. */
#include "tune/spec.h"

#define FW_TUNE_REASON_BYTES 200
#define FW_TUNE_MAX_SAMPLES  64

enum fw_tune_status {
	FW_TUNE_OK,
	FW_TUNE_COMPILE_FAILED,
	FW_TUNE_NOT_LAUNCHABLE, /* more registers, threads or shared memory than the GPU has: never launched */
	FW_TUNE_LAUNCH_FAILED,
	FW_TUNE_WRONG_OUTPUT,
	FW_TUNE_WROTE_OUTSIDE, /* a canary beside a buffer changed */
	FW_TUNE_CRASHED, /* illegal address and the like; the process that owned the GPU is gone */
	FW_TUNE_HUNG     /* ended by the watchdog */
};

struct fw_tune_result {
	struct fw_tune_config config;
	enum fw_tune_status status;
	char reason[FW_TUNE_REASON_BYTES]; /* "" if OK */
	bool has_attributes;               /* compiled: the next five are known */
	uint32_t registers, static_smem, dynamic_smem, spill_bytes, max_threads;
	double occupancy;    /* theoretical; -1: unknown */
	uint32_t limiters;   /* enum fw_limiter bits */
	uint64_t cubin_hash; /* equal code has equal hash; 0: not compiled */
	uint32_t n_samples;  /* times of one launch, in order of measuring */
	double samples_s[FW_TUNE_MAX_SAMPLES];
	double median_s, low_s,
		high_s;        /* 95 % interval of the median from order statistics; -1: unknown */
	uint32_t sm_clock_mhz; /* median while sampled; 0: unknown */
	uint32_t discarded;    /* samples thrown away because clocks moved or the GPU throttled */
	uint32_t unsteady; /* samples kept although they did: repeating them had been of no use */
	double compile_s;
};

const char *
fw_tune_status_name(enum fw_tune_status status); /* stable: "ok", "compile-failed", ... */

#endif
