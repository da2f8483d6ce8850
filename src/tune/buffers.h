#ifndef FW_TUNE_BUFFERS_H
#define FW_TUNE_BUFFERS_H
/*
 * The arguments of a launch on the GPU: buffers between canaries, a pristine copy of what a launch must not change or
 * starts from, the outputs of the reference.
 */
#include "tune/device.h"

struct fw_tune_buffer {
	uint64_t base;            /* of the first canary; 0: a scalar */
	uint64_t elements, bytes; /* without canaries */
	uint64_t pristine; /* device copy of the first content; 0: outputs that are only written */
	uint64_t want;     /* device copy of what the reference wrote; 0: not compared */
};

struct fw_tune_buffers {
	const struct fw_tune_spec *spec;
	bool has_sizes; /* else the spec's own */
	int64_t sizes[FW_TUNE_MAX_SETS];
	struct fw_tune_buffer items[FW_TUNE_MAX_ARGS];
	uint64_t inout_bytes; /* of all in/out buffers */
};

/* Allocates and fills the buffers of those problem sizes; sizes NULL: the spec's own. Release also after a failure. */
fw_status fw_tune_buffers_open(struct fw_tune_buffers *buffers, struct fw_tune_device *device,
			       const struct fw_tune_spec *spec, const int64_t *sizes, uint64_t seed,
			       struct fw_error *err);
void fw_tune_buffers_release(struct fw_tune_buffers *buffers, struct fw_tune_device *device);

/* Queues: in/out buffers get their first content back; with poisons, pure outputs are poisoned. */
fw_status fw_tune_buffers_restore(const struct fw_tune_buffers *buffers,
				  struct fw_tune_device *device, bool poisons,
				  struct fw_error *err);

/* After a launch: *status and reason say what is wrong with its outputs; damage is repaired. */
fw_status fw_tune_buffers_verify(const struct fw_tune_buffers *buffers,
				 struct fw_tune_device *device, enum fw_tune_status *status,
				 char reason[FW_TUNE_REASON_BYTES], struct fw_error *err);

/* After the reference's launch: keeps the outputs. FW_ERR_FORMAT: it wrote outside, or nothing into an output. */
fw_status fw_tune_buffers_keep(struct fw_tune_buffers *buffers, struct fw_tune_device *device,
			       struct fw_error *err);

/* What a kernel is launched with; values hold what parameters point to. */
struct fw_tune_parameters {
	void *pointers[FW_TUNE_MAX_ARGS];
	uint64_t values[FW_TUNE_MAX_ARGS];
};
fw_status fw_tune_buffers_parameters(const struct fw_tune_buffers *buffers,
				     const struct fw_tune_config *config,
				     struct fw_tune_parameters *parameters, struct fw_error *err);

#endif
