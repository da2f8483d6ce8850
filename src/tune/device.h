#ifndef FW_TUNE_DEVICE_H
#define FW_TUNE_DEVICE_H
/* The GPU in the process that owns it: context, stream, the kernels that check and wait, the clock. One thread. */
#include "gpu/cuda.h"
#include "gpu/nvml.h"
#include "tune/compare.h"
#include "tune/runner.h"

#include <stdatomic.h>

/* Memory that the owner of the GPU shares with its parent, which kills it when the deadline has passed. */
struct fw_tune_watch {
	_Atomic int64_t deadline_ns; /* CLOCK_MONOTONIC */
	_Atomic int64_t hang_ns;     /* of one launch */
	_Atomic uint32_t slot;       /* what it works on */
};

struct fw_tune_device {
	struct fw_cuda cuda;
	struct fw_tune_gpu gpu;
	struct fw_tune_watch *watch;
	const struct fw_hw_limits *hw;
	int ordinal;
	void *stream, *start, *stop; /* events */
	void *module, *check, *wait; /* our own kernels */
	uint64_t findings;           /* device memory for one struct fw_tune_findings an argument */
	uint64_t flush; /* device memory that is written over to empty the L2; 0: none */
	struct fw_nvml nvml;
	void *nvml_device; /* NULL: clocks are not known */
};

/* A call of the driver in a function with an err; a failure is its caller's, with the call's name. */
#define FW_TUNE_TRY(device, call, words)                                                           \
	do {                                                                                       \
		int result_ = (call);                                                              \
		if (result_)                                                                       \
			return fw_cuda_fail(&(device)->cuda, result_, words, err);                 \
	} while (0)

struct fw_tune_device_setup {
	const struct fw_tune_runner_options *options;
	struct fw_tune_watch *watch;
	const void *check_cubin; /* of an earlier process; NULL: compiled now */
	size_t check_bytes;
};

/* *made: the cubin of our kernels where it was compiled now (owned by the caller), else NULL. */
fw_status fw_tune_device_open(struct fw_tune_device *device,
			      const struct fw_tune_device_setup *setup, void **made,
			      size_t *made_bytes, struct fw_error *err);

/* Work may take that long from now on, besides one launch. */
void fw_tune_device_allow(struct fw_tune_device *device, double seconds);

/* Waits for all that was launched. */
fw_status fw_tune_device_finish(struct fw_tune_device *device, struct fw_error *err);

/* Whether no call will ever work again: an error like an illegal address stays with the context. */
bool fw_tune_device_is_lost(const struct fw_tune_device *device);

/* Queues a check; its findings are number i. */
fw_status fw_tune_device_check(struct fw_tune_device *device, struct fw_tune_check check,
			       uint32_t i, struct fw_error *err);
fw_status fw_tune_device_clear_findings(struct fw_tune_device *device, struct fw_error *err);
/* Waits for the checks and reads what they found. */
fw_status fw_tune_device_findings(struct fw_tune_device *device,
				  struct fw_tune_findings findings[FW_TUNE_MAX_ARGS],
				  struct fw_error *err);

/* MHz of the SMs, 0: unknown; is_throttled: by power, heat or brake. */
unsigned fw_tune_device_clock(const struct fw_tune_device *device, bool *is_throttled);

#endif
