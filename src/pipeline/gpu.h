#ifndef FW_PIPELINE_GPU_H
#define FW_PIPELINE_GPU_H
/*
 * The pipeline's hold on a GPU: the driver, the context that the engine uses too, and what was allocated and copied. Any
 * thread may use it. A failure stays: a driver that has failed in a process is not to be trusted again.
 */
#include "gpu/cuda.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct fw_gpu {
	struct fw_cuda cuda;
	int device;
	bool has_context;
	void *context;
	char name[128];
	_Atomic uint64_t pinned_bytes, device_bytes, copies, copied_bytes;
	_Atomic uint64_t nvjpeg_decoded, nvjpeg_returned;
	atomic_uint nvjpeg_busy; /* workers that are waiting for it */
	atomic_bool is_failed;
	pthread_mutex_t lock;
	char failure[256]; /* guarded by lock; set once */
};

/* FW_ERR_UNSUPPORTED: no driver, no such GPU, or a driver too old. */
fw_status fw_gpu_open(unsigned ordinal, struct fw_gpu **gpu, struct fw_error *err);
void fw_gpu_close(struct fw_gpu *gpu);

/* Makes the context current in this thread. */
fw_status fw_gpu_enter(const struct fw_gpu *gpu, struct fw_error *err);
/* The result of a driver call: FW_OK, FW_ERR_NOMEM for memory of the GPU, else FW_ERR_IO with names. */
fw_status fw_gpu_check(const struct fw_gpu *gpu, int result, const char *call,
		       struct fw_error *err);

fw_status fw_gpu_alloc(struct fw_gpu *gpu, size_t bytes, const char *what, uint64_t *address,
		       struct fw_error *err);
void fw_gpu_free(struct fw_gpu *gpu, uint64_t address, size_t bytes);

/* Page-locked host memory. FW_ERR_NOMEM says what to do where there is none. */
fw_status fw_gpu_pin(struct fw_gpu *gpu, size_t bytes, const char *what, void **memory,
		     struct fw_error *err);
void fw_gpu_unpin(struct fw_gpu *gpu, void *memory, size_t bytes);

/* From now on every batch fails with this. */
void fw_gpu_note_failure(struct fw_gpu *gpu, const struct fw_error *err);
/* FW_OK, or FW_ERR_IO with the failure that was noted. */
fw_status fw_gpu_failure(struct fw_gpu *gpu, struct fw_error *err);

/* The node of the machine's memory that the GPU hangs on; negative: unknown, or there is one only. */
int fw_gpu_numa_node(const struct fw_gpu *gpu);

#endif
