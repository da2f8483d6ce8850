#ifndef FW_TUNE_COMPILE_H
#define FW_TUNE_COMPILE_H
/*
 * Compiles configurations with NVRTC in worker processes (a crash or hang of the compiler costs that configuration
 * only), with a cache of cubins on disk, and reads each cubin's resources with src/binary before anything is launched.
 */
#include "tune/result.h"

struct fw_tune_compiler;

struct fw_tune_compile_options {
	unsigned cc; /* 90 for sm_90 */
	unsigned
		workers; /* processes; 0: the cores that this process may use, less one, at least one */
	const char *cache_dir;  /* NULL: no cache on disk */
	const char *nvrtc_path; /* NULL: looked for as doctor does */
	double limit_s;         /* of one compile */
};

struct fw_tune_object {
	struct fw_tune_result result; /* status, reason, attributes, occupancy, hash */
	void *cubin;                  /* owned by the receiver (free); NULL unless status is OK */
	size_t cubin_bytes;
	char *lowered_name; /* of the kernel in the cubin; owned by the receiver */
};

fw_status fw_tune_compiler_open(const struct fw_tune_spec *spec,
				const struct fw_tune_compile_options *options,
				struct fw_tune_compiler **compiler, struct fw_error *err);
/* Queues one configuration (sizes NULL: the spec's own sets). Never blocks; the queue holds any number. */
fw_status fw_tune_compiler_submit(struct fw_tune_compiler *compiler,
				  const struct fw_tune_config *config, const int64_t *sizes,
				  struct fw_error *err);
/* Waits for the next finished one, any order. FW_ERR_ARGUMENT: nothing is queued. */
fw_status fw_tune_compiler_next(struct fw_tune_compiler *compiler, struct fw_tune_object *object,
				struct fw_error *err);
void fw_tune_compiler_close(struct fw_tune_compiler *compiler);

#endif
