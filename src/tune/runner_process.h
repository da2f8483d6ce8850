#ifndef FW_TUNE_RUNNER_PROCESS_H
#define FW_TUNE_RUNNER_PROCESS_H
/* The process that owns the GPU, and the words that it and its parent exchange. */
#include "tune/device.h"
#include "tune/process.h"

#define FW_TUNE_MAX_SLOTS 1024 /* in one request for samples */

enum fw_tune_runner_message {
	/* Child: status, error text, struct fw_tune_gpu, block: cubin of our kernels if it was compiled now. */
	FW_TUNE_MSG_READY = 100,
	/* Parent: n_sizes, sizes, config, name of the reference or none, name of the kernel, block: cubin. */
	FW_TUNE_MSG_REFERENCE,
	/* Parent: slot, whether to check, config, name of the kernel, block: cubin. */
	FW_TUNE_MSG_LOAD,
	/* Parent: n, n_slots, slots. */
	FW_TUNE_MSG_SAMPLE,
	/* Parent: slot. */
	FW_TUNE_MSG_DROP,
	/* Child: struct fw_tune_outcome; after SAMPLE also a struct fw_tune_samples a slot. */
	FW_TUNE_MSG_OUTCOME
};

/* What came of a request. */
struct fw_tune_outcome {
	uint32_t status;  /* fw_status: an error that is not the kernel's */
	uint32_t verdict; /* enum fw_tune_status; CRASHED: the child ends */
	char text[512];   /* the reason, or the error */
};

/* What the child starts from; lives in the parent, inherited by fork. */
struct fw_tune_runner_work {
	const struct fw_tune_spec *spec;
	struct fw_tune_runner_options options;
	struct fw_tune_watch *watch;
	void *check_cubin; /* NULL: not compiled yet */
	size_t check_bytes;
};

/* user: struct fw_tune_runner_work. */
void fw_tune_runner_process(int fd, void *user);

#endif
