#ifndef FW_NN_CUDNN_GPU_H
#define FW_NN_CUDNN_GPU_H
/* What the cudnn engine holds of one GPU: libraries, context, handles, own kernels. Immutable after opening. */
#include "gpu/cublaslt.h"
#include "gpu/cuda.h"
#include "gpu/cudnn.h"
#include "nn/engine.h"

#include <pthread.h>

/* The kernels in kernels/nn_*.cu, by name and by the forms that exist. */
enum fw_nn_kernel {
#define FW_NN_KERNEL(id, name, vector, scalar) FW_NN_KERNEL_##id,
#include "nn/cudnn_kernels.def"
#undef FW_NN_KERNEL
	FW_NN_N_KERNELS
};

struct fw_nn_gpu {
	struct fw_cuda cuda;
	struct fw_cudnn cudnn;
	struct fw_cublaslt lt;
	int device, driver_version;
	unsigned cc; /* 90 for sm_90 */
	char name[128];
	char driver[64]; /* the driver's own version, "" where it could not be asked */
	bool has_context;
	void *context, *module, *lt_handle;
	void *cudnn_handle;    /* guarded by lock, as are the execution plans */
	void *device_property; /* for planning without a GPU; NULL with one */
	pthread_mutex_t lock;
	/* [kernel][precision][0: moves 16 bytes at once, 1: single elements]; NULL: there is no such form */
	void *kernels[FW_NN_N_KERNELS][3][2];
	char *cache_dir;
	double autotune_s;
	void (*say)(void *user, const char *text);
	void *user;
};

fw_status fw_nn_gpu_open(const struct fw_nn_engine_options *options, struct fw_nn_gpu **gpu,
			 struct fw_error *err);
void fw_nn_gpu_close(struct fw_nn_gpu *gpu);

/*
 * cuDNN alone, told by JSON which GPU to plan for: nothing can be run. For tests. json: what
 * CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION takes.
 */
fw_status fw_nn_gpu_open_deviceless(const char *json, struct fw_nn_gpu **gpu, struct fw_error *err);

/* Loads the module with our kernels and finds them. */
fw_status fw_nn_gpu_load_kernels(struct fw_nn_gpu *gpu, struct fw_error *err);

/* Makes the GPU's context current in this thread. */
fw_status fw_nn_gpu_enter(const struct fw_nn_gpu *gpu, struct fw_error *err);

/* The result of a driver call: FW_OK, FW_ERR_NOMEM for memory of the GPU, else FW_ERR_IO with names. */
fw_status fw_nn_gpu_check(const struct fw_nn_gpu *gpu, int result, const char *call,
			  struct fw_error *err);

fw_status fw_nn_gpu_alloc(const struct fw_nn_gpu *gpu, size_t bytes, const char *what,
			  uint64_t *address, struct fw_error *err);
void fw_nn_gpu_free(const struct fw_nn_gpu *gpu, uint64_t address);

void fw_nn_gpu_say(const struct fw_nn_gpu *gpu, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
