#ifndef FW_PIPELINE_GPU_KERNELS_H
#define FW_PIPELINE_GPU_KERNELS_H
/* The pipeline's own kernels in the current context: the build's machine code, or what NVRTC makes of the source. */
#include "gpu/cuda.h"

/* Of kernels/preprocess.cu and top.cu, made by the build. */
extern const unsigned char fw_pipeline_fatbin[]; /* empty where the build had no nvcc */
extern const unsigned long fw_pipeline_fatbin_bytes;
extern const char fw_pipeline_kernel_source[];

/*
 * LIMIT: what NVRTC makes is not kept: a build without nvcc compiles for about a second at each start. The caller unloads
 * the module (cuda->module_unload).
 */
fw_status fw_gpu_kernels_load(const struct fw_cuda *cuda, void **module, struct fw_error *err);
fw_status fw_gpu_kernels_find(const struct fw_cuda *cuda, void *module, const char *name,
			      void **function, struct fw_error *err);

/* The result of a driver call: FW_OK, FW_ERR_NOMEM for memory of the GPU, else FW_ERR_IO with names. */
fw_status fw_gpu_kernels_check(const struct fw_cuda *cuda, int result, const char *call,
			       struct fw_error *err);

#endif
