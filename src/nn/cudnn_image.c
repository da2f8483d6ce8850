/*
 * Loads our kernels into a context: the machine code of the build, or, where the build had no nvcc or the GPU is one that it
 * did not know, what NVRTC makes of the source. That is kept on disk beside the engine choices.
 */
#include "nn/cudnn_image.h"

#include "base/file.h"
#include "gpu/nvrtc.h"
#include "nn/cudnn_store.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *fw_nn_image_kind(void)
{
	return fw_nn_fatbin_bytes ? "compiled by nvcc" : "compiled at first use by NVRTC";
}

/* Name of the cubin for this source, compiler and GPU. */
static bool cubin_path(const struct fw_nn_gpu *gpu, const struct fw_nvrtc *nvrtc,
		       char path[PATH_MAX])
{
	char what[64];
	uint64_t hash;

	if (!gpu->cache_dir)
		return false;
	snprintf(what, sizeof(what), "sm_%u, NVRTC %d.%d", gpu->cc, nvrtc->major, nvrtc->minor);
	hash = fw_nn_store_hash(fw_nn_store_hash(0, fw_nn_kernel_source), what);
	return fw_nn_store_path(gpu->cache_dir, "nn-kernels", hash, ".cubin", path);
}

/* A stored cubin; one that the driver does not take is ignored, and said. */
static bool load_stored(const struct fw_nn_gpu *gpu, const char *path, void **module)
{
	struct fw_file file;
	struct fw_error err;
	int result;

	if (access(path, F_OK))
		return false;
	if (fw_file_open(&file, path, &err)) {
		fw_nn_gpu_say(gpu, "stored GPU kernels are ignored: %s", err.message);
		return false;
	}
	/* The driver reads what the ELF header says: a file that is cut short must not be given to it. */
	result = fw_nn_store_is_whole(file.data, file.size, NULL)
			 ? gpu->cuda.module_load_data(module, file.data)
			 : -1;
	fw_file_close(&file);
	if (!result)
		return true;
	*module = NULL;
	fw_nn_gpu_say(gpu, "stored GPU kernels are ignored and made again: %s is damaged", path);
	return false;
}

static fw_status compile(const struct fw_nn_gpu *gpu, const struct fw_nvrtc *nvrtc,
			 const char *path, void **module, struct fw_error *err)
{
	char target[32];
	const char *const options[] = { target, "-std=c++14", "-default-device" };
	const struct fw_nvrtc_job job = { .source = fw_nn_kernel_source,
					  .name = "nn_kernels.cu",
					  .options = options,
					  .n_options = 3 };
	struct fw_nvrtc_output output = { 0 };
	fw_status status;

	snprintf(target, sizeof(target), "-arch=sm_%u", gpu->cc);
	fw_nn_gpu_say(gpu, "the GPU kernels are compiled for sm_%u by NVRTC %d.%d", gpu->cc,
		      nvrtc->major, nvrtc->minor);
	status = fw_nvrtc_compile(nvrtc, &job, &output, err);
	if (status)
		return status;
	status = fw_nn_gpu_check(gpu, gpu->cuda.module_load_data(module, output.cubin),
				 "cuModuleLoadData of what NVRTC made", err);
	if (status)
		*module = NULL;
	else if (path[0] && !fw_nn_store_write(path, output.cubin, output.cubin_bytes))
		fw_nn_gpu_say(gpu, "the GPU kernels could not be stored in %s", path);
	fw_nvrtc_output_release(&output);
	return status;
}

static fw_status load_compiled(const struct fw_nn_gpu *gpu, void **module, struct fw_error *err)
{
	struct fw_nvrtc nvrtc;
	char path[PATH_MAX] = "";
	fw_status status = fw_nvrtc_open(&nvrtc, NULL, err);

	if (status) {
		fw_error_prefix(err,
				"this build has no GPU kernels for sm_%u, and NVRTC, which "
				"would make them, was not found",
				gpu->cc);
		return status;
	}
	if (!cubin_path(gpu, &nvrtc, path))
		path[0] = 0;
	if (!path[0] || !load_stored(gpu, path, module))
		status = compile(gpu, &nvrtc, path, module, err);
	fw_nvrtc_close(&nvrtc);
	return status;
}

fw_status fw_nn_image_load(const struct fw_nn_gpu *gpu, void **module, struct fw_error *err)
{
	int result;

	*module = NULL;
	if (!fw_nn_fatbin_bytes)
		return load_compiled(gpu, module, err);
	result = gpu->cuda.module_load_data(module, fw_nn_fatbin);
	if (!result)
		return FW_OK;
	*module = NULL;
	if (result == FW_CUDA_ERROR_NO_BINARY_FOR_GPU || result == FW_CUDA_ERROR_UNSUPPORTED_PTX)
		return load_compiled(gpu, module, err);
	return fw_nn_gpu_check(gpu, result, "cuModuleLoadData of our kernels", err);
}
