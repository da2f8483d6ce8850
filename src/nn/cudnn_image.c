/* Loads our kernels into a context. */
#include "nn/cudnn_image.h"

const char *fw_nn_image_kind(void)
{
	return fw_nn_fatbin_bytes ? "GPU kernels: compiled by nvcc"
				  : "GPU kernels: none (the build had no nvcc)";
}

fw_status fw_nn_image_load(const struct fw_nn_gpu *gpu, void **module, struct fw_error *err)
{
	fw_status status;

	if (!fw_nn_fatbin_bytes)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "this build has no GPU kernels: there was no nvcc");
	status = fw_nn_gpu_check(gpu, gpu->cuda.module_load_data(module, fw_nn_fatbin),
				 "cuModuleLoadData of our kernels", err);
	if (status)
		*module = NULL;
	return status;
}
