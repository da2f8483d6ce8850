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
	char *lowered_name;   /* of the kernel in the cubin; owned by the receiver */
	char *reference_name; /* of spec->reference, likewise; NULL: there is none */
};

struct fw_tune_compile_stats {
	unsigned nvrtc_major, nvrtc_minor;
	uint64_t compiled, from_cache, workers_lost;
	uint64_t damaged;       /* entries of the cache that were ignored and built again */
	uint64_t not_kept;      /* objects that could not be written to the cache */
	char trouble[256];      /* the last of those in words; "": none */
	char nvrtc_path[256];   /* the library in use; "" where the loader does not say */
	char include_path[256]; /* CUDA's headers; "": none found */
};

/*
 * Starts the workers: forks, so open it while the process has one thread. spec must outlive it.
 * FW_ERR_UNSUPPORTED: no NVRTC that serves; the message names the places.
 */
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
void fw_tune_compiler_stats(const struct fw_tune_compiler *compiler,
			    struct fw_tune_compile_stats *stats);
/* Frees what an object owns; zeroes it. */
void fw_tune_object_release(struct fw_tune_object *object);
void fw_tune_compiler_close(struct fw_tune_compiler *compiler);

#endif
