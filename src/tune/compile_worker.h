#ifndef FW_TUNE_COMPILE_WORKER_H
#define FW_TUNE_COMPILE_WORKER_H
/* One process of the compile pool, and the words that it and the pool exchange. */
#include "gpu/nvrtc.h"
#include "hw/limits.h"
#include "tune/compile.h"
#include "tune/process.h"

enum fw_tune_compile_message {
	FW_TUNE_MSG_HELLO, /* worker: status, error text; NVRTC's version, path, headers */
	FW_TUNE_MSG_JOB,   /* pool: struct fw_tune_config, whether sizes follow, sizes */
	FW_TUNE_MSG_DONE   /* worker: struct fw_tune_result, struct fw_tune_work_done, blocks */
};

/* What the workers start from; lives in the parent, inherited by fork. */
struct fw_tune_compile_work {
	const struct fw_tune_spec *spec;
	struct fw_tune_compile_options options;
	const struct fw_hw_limits *hw;
	uint64_t include_hash;
	char source_folder[FW_NVRTC_PATH_BYTES];
};

struct fw_tune_work_done {
	bool was_compiled, was_cached, was_damaged, was_not_kept;
	char trouble[256];
};

/* user: struct fw_tune_compile_work. */
void fw_tune_compile_worker(int fd, void *user);

#endif
