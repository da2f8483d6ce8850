/* Loads the pipeline's own kernels into the current context. */
#include "pipeline/gpu_kernels.h"

#include "gpu/nvrtc.h"

#include <stdio.h>

fw_status fw_gpu_kernels_check(const struct fw_cuda *cuda, int result, const char *call,
			       struct fw_error *err)
{
	fw_status status;

	if (!result)
		return FW_OK;
	status = fw_cuda_fail(cuda, result, call, err);
	if (result != FW_CUDA_ERROR_OUT_OF_MEMORY)
		return status;
	if (err)
		err->code = FW_ERR_NOMEM;
	return FW_ERR_NOMEM;
}

static fw_status ask_capability(const struct fw_cuda *cuda, unsigned *cc, struct fw_error *err)
{
	int device, major = 0, minor = 0, result;

	if (!cuda->ctx_get_device)
		return fw_fail(err, FW_ERR_UNSUPPORTED, "the driver has no cuCtxGetDevice");
	result = cuda->ctx_get_device(&device);
	if (!result)
		result = cuda->device_get_attribute(&major, FW_CUDA_CC_MAJOR, device);
	if (!result)
		result = cuda->device_get_attribute(&minor, FW_CUDA_CC_MINOR, device);
	*cc = (unsigned)(major * 10 + minor);
	return fw_gpu_kernels_check(cuda, result, "asking for the compute capability", err);
}

static fw_status compile(const struct fw_nvrtc *nvrtc, unsigned cc, struct fw_nvrtc_output *output,
			 struct fw_error *err)
{
	char target[32];
	const char *const options[] = { target, "-std=c++14", "-default-device", "--fmad=false" };
	const struct fw_nvrtc_job job = { .source = fw_pipeline_kernel_source,
					  .name = "pipeline_kernels.cu",
					  .options = options,
					  .n_options = 4 };

	snprintf(target, sizeof(target), "-arch=sm_%u", cc);
	return fw_nvrtc_compile(nvrtc, &job, output, err);
}

static fw_status load_compiled(const struct fw_cuda *cuda, void **module, struct fw_error *err)
{
	struct fw_nvrtc_output output = { 0 };
	struct fw_nvrtc nvrtc;
	unsigned cc;
	fw_status status = ask_capability(cuda, &cc, err);

	if (status)
		return status;
	status = fw_nvrtc_open(&nvrtc, NULL, err);
	if (status) {
		fw_error_prefix(err,
				"this build has no pipeline kernels for sm_%u, and NVRTC, which "
				"would make them, was not found",
				cc);
		return status;
	}
	status = compile(&nvrtc, cc, &output, err);
	if (!status) {
		status = fw_gpu_kernels_check(cuda, cuda->module_load_data(module, output.cubin),
					      "cuModuleLoadData of what NVRTC made", err);
		fw_nvrtc_output_release(&output);
	}
	if (status)
		*module = NULL;
	fw_nvrtc_close(&nvrtc);
	return status;
}

fw_status fw_gpu_kernels_load(const struct fw_cuda *cuda, void **module, struct fw_error *err)
{
	int result;

	*module = NULL;
	if (!fw_pipeline_fatbin_bytes)
		return load_compiled(cuda, module, err);
	result = cuda->module_load_data(module, fw_pipeline_fatbin);
	if (!result)
		return FW_OK;
	*module = NULL;
	if (result == FW_CUDA_ERROR_NO_BINARY_FOR_GPU || result == FW_CUDA_ERROR_UNSUPPORTED_PTX)
		return load_compiled(cuda, module, err);
	return fw_gpu_kernels_check(cuda, result, "cuModuleLoadData of the pipeline's kernels",
				    err);
}

fw_status fw_gpu_kernels_find(const struct fw_cuda *cuda, void *module, const char *name,
			      void **function, struct fw_error *err)
{
	return fw_gpu_kernels_check(cuda, cuda->module_get_function(function, module, name), name,
				    err);
}
