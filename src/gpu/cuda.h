#ifndef FW_GPU_CUDA_H
#define FW_GPU_CUDA_H
/* The CUDA driver API, opened at run time: the program builds and starts on machines without one. */
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CUlaunchAttribute and CUlaunchConfig; tests/nvidia/cuda_abi.c proves the layout. */
#define FW_CUDA_LAUNCH_CLUSTER 4 /* CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION */
struct fw_cuda_launch_attribute {
	unsigned id, pad;
	union {
		char room[64];
		unsigned cluster[3];
	} value;
};
struct fw_cuda_launch {
	unsigned grid[3], block[3], smem_bytes;
	void *stream;
	struct fw_cuda_launch_attribute *attributes;
	unsigned n_attributes;
};

/* CUstreamCaptureMode: calls of other threads are nobody's business. */
#define FW_CUDA_CAPTURE_THREAD_LOCAL 1
#define FW_CUDA_STREAM_NON_BLOCKING  1

/* Entry points of libcuda.so.1; an optional one may be NULL. Immutable after opening. */
struct fw_cuda {
	void *handle;
#define FW_SYM(required, symbol, field, args) int(*field) args;
#include "gpu/cuda.def"
#undef FW_SYM
};

/* CUdevice_attribute and CUfunction_attribute values that we ask for (cuda.h). */
enum fw_cuda_device_attribute {
	FW_CUDA_MAX_THREADS_PER_BLOCK = 1,
	FW_CUDA_WARP_SIZE = 10,
	FW_CUDA_REGISTERS_PER_BLOCK = 12,
	FW_CUDA_SM_COUNT = 16,
	FW_CUDA_L2_BYTES = 38,
	FW_CUDA_THREADS_PER_SM = 39,
	FW_CUDA_CC_MAJOR = 75,
	FW_CUDA_CC_MINOR = 76,
	FW_CUDA_SMEM_PER_SM = 81,
	FW_CUDA_REGISTERS_PER_SM = 82,
	FW_CUDA_SMEM_OPTIN = 97,
	FW_CUDA_BLOCKS_PER_SM = 106,
	FW_CUDA_SMEM_RESERVED = 111
};

enum fw_cuda_function_attribute {
	FW_CUDA_FUNC_MAX_THREADS = 0,
	FW_CUDA_FUNC_STATIC_SMEM = 1,
	FW_CUDA_FUNC_LOCAL_BYTES = 3,
	FW_CUDA_FUNC_REGISTERS = 4,
	FW_CUDA_FUNC_BINARY_VERSION = 6,
	FW_CUDA_FUNC_MAX_DYNAMIC_SMEM = 8,
	FW_CUDA_FUNC_CARVEOUT = 9,
	FW_CUDA_FUNC_NON_PORTABLE_CLUSTER = 14
};

enum fw_cuda_value {
	FW_CUDA_EVENT_BLOCKING_SYNC = 1,
	FW_CUDA_EVENT_DISABLE_TIMING = 2,
	FW_CUDA_HOST_PORTABLE = 1, /* page-locked for every context */
	FW_CUDA_ERROR_NOT_READY = 600,
	FW_CUDA_ERROR_OUT_OF_MEMORY = 2,
	FW_CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
	FW_CUDA_ERROR_UNSUPPORTED_PTX = 222
};

/* FW_ERR_UNSUPPORTED, with the loader's own words, where there is no driver or a symbol is missing. */
fw_status fw_cuda_open(struct fw_cuda *cuda, struct fw_error *err);
void fw_cuda_close(struct fw_cuda *cuda);

/* "GPU-..." as NVML names it, of CUDA's number of a device, after cuInit; false: it has none. */
#define FW_CUDA_UUID_BYTES 48
bool fw_cuda_uuid(const struct fw_cuda *cuda, int number, char text[FW_CUDA_UUID_BYTES]);

/* Fills err with the call's name and the driver's name of the result; returns FW_ERR_IO. */
fw_status fw_cuda_fail(const struct fw_cuda *cuda, int result, const char *call,
		       struct fw_error *err);

#endif
