/* Opens and closes what the cudnn engine needs of a GPU. */
#include "nn/cudnn_gpu.h"

#include "gpu/nvml.h"
#include "nn/cudnn_image.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fw_nn_gpu_say(const struct fw_nn_gpu *gpu, const char *fmt, ...)
{
	char text[512];
	va_list args;

	if (!gpu->say)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	gpu->say(gpu->user, text);
}

fw_status fw_nn_gpu_check(const struct fw_nn_gpu *gpu, int result, const char *call,
			  struct fw_error *err)
{
	if (!result)
		return FW_OK;
	fw_cuda_fail(&gpu->cuda, result, call, err);
	if (result != FW_CUDA_ERROR_OUT_OF_MEMORY)
		return FW_ERR_IO;
	if (err)
		err->code = FW_ERR_NOMEM;
	return FW_ERR_NOMEM;
}

fw_status fw_nn_gpu_alloc(const struct fw_nn_gpu *gpu, size_t bytes, const char *what,
			  uint64_t *address, struct fw_error *err)
{
	fw_status status = fw_nn_gpu_check(gpu, gpu->cuda.mem_alloc(address, bytes ? bytes : 1),
					   "cuMemAlloc", err);

	if (status) {
		*address = 0;
		fw_error_prefix(err, "%zu bytes of GPU memory for %s", bytes, what);
	}
	return status;
}

void fw_nn_gpu_free(const struct fw_nn_gpu *gpu, uint64_t address)
{
	if (address)
		gpu->cuda.mem_free(address);
}

fw_status fw_nn_gpu_enter(const struct fw_nn_gpu *gpu, struct fw_error *err)
{
	if (!gpu->has_context) /* planning without a GPU */
		return FW_OK;
	return fw_nn_gpu_check(gpu, gpu->cuda.ctx_set_current(gpu->context), "cuCtxSetCurrent",
			       err);
}

/* The entry points that the profiler can do without are needed here. */
static fw_status check_driver(const struct fw_nn_gpu *gpu, struct fw_error *err)
{
	const struct fw_cuda *cuda = &gpu->cuda;

	if (cuda->mem_alloc && cuda->mem_free && cuda->memcpy_host_to_device &&
	    cuda->launch_kernel && cuda->memcpy_host_to_device_async &&
	    cuda->memcpy_device_to_host_async && cuda->memset_async && cuda->stream_create &&
	    cuda->stream_destroy && cuda->stream_synchronize && cuda->stream_wait_event &&
	    cuda->stream_begin_capture && cuda->stream_end_capture && cuda->graph_instantiate &&
	    cuda->graph_launch && cuda->graph_exec_destroy && cuda->graph_destroy &&
	    cuda->event_create && cuda->event_destroy && cuda->event_record &&
	    cuda->event_synchronize && cuda->event_elapsed_time)
		return FW_OK;
	return fw_fail(
		err, FW_ERR_UNSUPPORTED,
		"the driver is too old for the cudnn engine: CUDA graphs of version 11.4 are "
		"needed");
}

static void ask_driver_version(struct fw_nn_gpu *gpu)
{
	struct fw_nvml nvml;

	if (fw_nvml_open(&nvml, NULL, NULL, NULL))
		return;
	if (nvml.system_get_driver_version(gpu->driver, sizeof(gpu->driver)))
		gpu->driver[0] = 0;
	fw_nvml_close(&nvml);
}

static fw_status open_device(struct fw_nn_gpu *gpu, unsigned ordinal, struct fw_error *err)
{
	const struct fw_cuda *cuda = &gpu->cuda;
	int count = 0, major = 0, minor = 0, result;

	result = cuda->init(0);
	if (!result)
		result = cuda->device_get_count(&count);
	if (result) {
		fw_cuda_fail(cuda, result, "cuInit", err);
		if (err)
			err->code = FW_ERR_UNSUPPORTED;
		return FW_ERR_UNSUPPORTED;
	}
	if (ordinal >= (unsigned)count)
		return fw_fail(err, FW_ERR_UNSUPPORTED, "there is no GPU %u: the driver has %d",
			       ordinal, count);
	result = cuda->device_get(&gpu->device, (int)ordinal);
	if (!result)
		result = cuda->device_get_name(gpu->name, sizeof(gpu->name), gpu->device);
	if (!result)
		result = cuda->device_get_attribute(&major, FW_CUDA_CC_MAJOR, gpu->device);
	if (!result)
		result = cuda->device_get_attribute(&minor, FW_CUDA_CC_MINOR, gpu->device);
	if (!result)
		result = cuda->driver_get_version(&gpu->driver_version);
	if (!result)
		result = cuda->device_primary_ctx_retain(&gpu->context, gpu->device);
	if (result)
		return fw_nn_gpu_check(gpu, result, "opening the GPU", err);
	gpu->has_context = true;
	gpu->cc = (unsigned)(major * 10 + minor);
	if (gpu->cc < 75)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "%s is of compute capability %d.%d: the cudnn engine needs 7.5",
			       gpu->name, major, minor);
	ask_driver_version(gpu);
	return fw_nn_gpu_enter(gpu, err);
}

static fw_status open_handles(struct fw_nn_gpu *gpu, struct fw_error *err)
{
	int result = gpu->cudnn.create(&gpu->cudnn_handle);

	if (result) {
		gpu->cudnn_handle = NULL;
		return fw_cudnn_fail(&gpu->cudnn, result, "cudnnCreate", err);
	}
	result = gpu->lt.create(&gpu->lt_handle);
	if (result) {
		gpu->lt_handle = NULL;
		return fw_cublaslt_fail(&gpu->lt, result, "cublasLtCreate", err);
	}
	return FW_OK;
}

static fw_status open_all(struct fw_nn_gpu *gpu, const struct fw_nn_engine_options *options,
			  struct fw_error *err)
{
	fw_status status = fw_cuda_open(&gpu->cuda, err);

	if (!status)
		status = check_driver(gpu, err);
	if (!status)
		status = open_device(gpu, options->device, err);
	if (!status)
		status = fw_cudnn_open(&gpu->cudnn, NULL, err);
	if (!status)
		status = fw_cublaslt_open(&gpu->lt, NULL, err);
	if (!status)
		status = open_handles(gpu, err);
	if (!status)
		status = fw_nn_gpu_load_kernels(gpu, err);
	if (!status)
		fw_nn_gpu_say(gpu,
			      "%s (sm_%u), driver %s, cuDNN %zu, cuBLASLt %zu; our kernels were %s",
			      gpu->name, gpu->cc, gpu->driver[0] ? gpu->driver : "unknown",
			      gpu->cudnn.version, gpu->lt.version, fw_nn_image_kind());
	return status;
}

fw_status fw_nn_gpu_open(const struct fw_nn_engine_options *options, struct fw_nn_gpu **gpu,
			 struct fw_error *err)
{
	struct fw_nn_gpu *made = calloc(1, sizeof(*made));
	fw_status status;

	if (!made)
		return fw_fail_nomem(err, sizeof(*made));
	pthread_mutex_init(&made->lock, NULL);
	made->autotune_s = options->autotune_s;
	made->say = options->say;
	made->user = options->user;
	if (options->cache_dir) {
		made->cache_dir = strdup(options->cache_dir);
		if (!made->cache_dir) {
			fw_nn_gpu_close(made);
			return fw_fail_nomem(err, strlen(options->cache_dir));
		}
	}
	status = open_all(made, options, err);
	if (status) {
		fw_nn_gpu_close(made);
		return status;
	}
	*gpu = made;
	return FW_OK;
}

void fw_nn_gpu_close(struct fw_nn_gpu *gpu)
{
	if (!gpu)
		return;
	if (gpu->has_context)
		gpu->cuda.ctx_set_current(gpu->context);
	if (gpu->device_property)
		gpu->cudnn.descriptor_destroy(gpu->device_property);
	if (gpu->cudnn_handle)
		gpu->cudnn.destroy(gpu->cudnn_handle);
	if (gpu->lt_handle)
		gpu->lt.destroy(gpu->lt_handle);
	if (gpu->module)
		gpu->cuda.module_unload(gpu->module);
	if (gpu->has_context)
		gpu->cuda.device_primary_ctx_release(gpu->device);
	fw_cublaslt_close(&gpu->lt);
	fw_cudnn_close(&gpu->cudnn);
	fw_cuda_close(&gpu->cuda);
	pthread_mutex_destroy(&gpu->lock);
	free(gpu->cache_dir);
	free(gpu);
}

static fw_status make_device_property(struct fw_nn_gpu *gpu, const char *json, struct fw_error *err)
{
	const struct fw_cudnn *cudnn = &gpu->cudnn;
	int result = cudnn->descriptor_create(FW_CUDNN_DEVICEPROP, &gpu->device_property);

	if (result) {
		gpu->device_property = NULL;
		return fw_cudnn_fail(cudnn, result, "a description of the GPU (cuDNN 9.8)", err);
	}
	result = cudnn->set_attribute(gpu->device_property, FW_CUDNN_DEVICEPROP_JSON,
				      FW_CUDNN_TYPE_CHAR, (int64_t)strlen(json), json);
	if (!result)
		result = cudnn->finalize(gpu->device_property);
	return result ? fw_cudnn_fail(cudnn, result, "the description of the GPU", err) : FW_OK;
}

fw_status fw_nn_gpu_open_deviceless(const char *json, struct fw_nn_gpu **gpu, struct fw_error *err)
{
	struct fw_nn_gpu *made = calloc(1, sizeof(*made));
	fw_status status;

	if (!made)
		return fw_fail_nomem(err, sizeof(*made));
	pthread_mutex_init(&made->lock, NULL);
	status = fw_cudnn_open(&made->cudnn, NULL, err);
	if (!status)
		status = make_device_property(made, json, err);
	if (status) {
		fw_nn_gpu_close(made);
		return status;
	}
	*gpu = made;
	return FW_OK;
}

static fw_status find_kernel(struct fw_nn_gpu *gpu, const char *name, bool vector, void **functions,
			     struct fw_error *err)
{
	static const char *const suffixes[] = { "f32", "f16", "bf16" }; /* enum fw_nn_precision */
	char symbol[64];

	for (unsigned p = 0; p < 3; p++) {
		int result;

		snprintf(symbol, sizeof(symbol), "%s_%s%s", name, suffixes[p], vector ? "v" : "");
		result = gpu->cuda.module_get_function(&functions[2 * p], gpu->module, symbol);
		if (result)
			return fw_nn_gpu_check(gpu, result, symbol, err);
	}
	return FW_OK;
}

fw_status fw_nn_gpu_load_kernels(struct fw_nn_gpu *gpu, struct fw_error *err)
{
	static const struct {
		const char *name;
		bool vector, scalar;
	} rows[] = {
#define FW_NN_KERNEL(id, name, vector, scalar) { name, vector, scalar },
#include "nn/cudnn_kernels.def"
#undef FW_NN_KERNEL
	};
	fw_status status = fw_nn_image_load(gpu, &gpu->module, err);

	for (unsigned i = 0; !status && i < FW_NN_N_KERNELS; i++) {
		if (rows[i].vector)
			status = find_kernel(gpu, rows[i].name, true, &gpu->kernels[i][0][0], err);
		if (!status && rows[i].scalar)
			status = find_kernel(gpu, rows[i].name, false, &gpu->kernels[i][0][1], err);
	}
	return status;
}
