/* The pipeline's hold on a GPU. */
#include "pipeline/gpu.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The entry points that the profiler can do without are needed here. */
static fw_status check_driver(const struct fw_cuda *cuda, struct fw_error *err)
{
	if (cuda->mem_alloc && cuda->mem_free && cuda->mem_host_alloc && cuda->mem_free_host &&
	    cuda->memcpy_host_to_device && cuda->memcpy_host_to_device_async &&
	    cuda->memcpy_device_to_host_async && cuda->memset_async && cuda->launch_kernel &&
	    cuda->stream_create && cuda->stream_destroy && cuda->stream_synchronize &&
	    cuda->stream_wait_event && cuda->stream_begin_capture && cuda->stream_end_capture &&
	    cuda->graph_instantiate && cuda->graph_launch && cuda->graph_exec_destroy &&
	    cuda->graph_destroy && cuda->event_create && cuda->event_destroy &&
	    cuda->event_record && cuda->event_synchronize && cuda->event_query)
		return FW_OK;
	return fw_fail(err, FW_ERR_UNSUPPORTED,
		       "the driver is too old for the pipeline: CUDA graphs of version 11.4 are "
		       "needed");
}

static fw_status open_device(struct fw_gpu *gpu, unsigned ordinal, struct fw_error *err)
{
	const struct fw_cuda *cuda = &gpu->cuda;
	int count = 0, result = cuda->init(0);

	if (!result)
		result = cuda->device_get_count(&count);
	if (!result && ordinal >= (unsigned)count)
		return fw_fail(err, FW_ERR_UNSUPPORTED, "there is no GPU %u: the driver has %d",
			       ordinal, count);
	if (!result)
		result = cuda->device_get(&gpu->device, (int)ordinal);
	if (!result)
		result = cuda->device_get_name(gpu->name, sizeof(gpu->name), gpu->device);
	if (!result)
		result = cuda->device_primary_ctx_retain(&gpu->context, gpu->device);
	if (result)
		return fw_gpu_check(gpu, result, "opening the GPU", err);
	gpu->has_context = true;
	return fw_gpu_enter(gpu, err);
}

fw_status fw_gpu_open(unsigned ordinal, struct fw_gpu **gpu, struct fw_error *err)
{
	struct fw_gpu *made = calloc(1, sizeof(*made));
	fw_status status;

	if (!made)
		return fw_fail_nomem(err, sizeof(*made));
	pthread_mutex_init(&made->lock, NULL);
	status = fw_cuda_open(&made->cuda, err);
	if (!status)
		status = check_driver(&made->cuda, err);
	if (!status)
		status = open_device(made, ordinal, err);
	if (status) {
		fw_gpu_close(made);
		return status;
	}
	*gpu = made;
	return FW_OK;
}

void fw_gpu_close(struct fw_gpu *gpu)
{
	if (!gpu)
		return;
	if (gpu->has_context)
		gpu->cuda.device_primary_ctx_release(gpu->device);
	fw_cuda_close(&gpu->cuda);
	pthread_mutex_destroy(&gpu->lock);
	free(gpu);
}

fw_status fw_gpu_enter(const struct fw_gpu *gpu, struct fw_error *err)
{
	return fw_gpu_check(gpu, gpu->cuda.ctx_set_current(gpu->context), "cuCtxSetCurrent", err);
}

fw_status fw_gpu_check(const struct fw_gpu *gpu, int result, const char *call, struct fw_error *err)
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

fw_status fw_gpu_alloc(struct fw_gpu *gpu, size_t bytes, const char *what, uint64_t *address,
		       struct fw_error *err)
{
	fw_status status =
		fw_gpu_check(gpu, gpu->cuda.mem_alloc(address, bytes), "cuMemAlloc", err);

	if (status) {
		*address = 0;
		fw_error_prefix(err, "%zu bytes of GPU memory for %s", bytes, what);
		return status;
	}
	atomic_fetch_add(&gpu->device_bytes, bytes);
	return FW_OK;
}

void fw_gpu_free(struct fw_gpu *gpu, uint64_t address, size_t bytes)
{
	if (!address)
		return;
	gpu->cuda.mem_free(address);
	atomic_fetch_sub(&gpu->device_bytes, bytes);
}

fw_status fw_gpu_pin(struct fw_gpu *gpu, size_t bytes, const char *what, void **memory,
		     struct fw_error *err)
{
	int result = gpu->cuda.mem_host_alloc(memory, bytes, FW_CUDA_HOST_PORTABLE);

	if (result) {
		struct fw_error why = { .code = FW_OK };

		*memory = NULL;
		fw_cuda_fail(&gpu->cuda, result, "cuMemHostAlloc", &why);
		return fw_fail(
			err, FW_ERR_NOMEM,
			"cannot page-lock %zu bytes for %s: %s; smaller batches or cells need "
			"less, pageable memory (--memory pageable) needs none and is slower",
			bytes, what, why.message);
	}
	atomic_fetch_add(&gpu->pinned_bytes, bytes);
	return FW_OK;
}

void fw_gpu_unpin(struct fw_gpu *gpu, void *memory, size_t bytes)
{
	if (!memory)
		return;
	gpu->cuda.mem_free_host(memory);
	atomic_fetch_sub(&gpu->pinned_bytes, bytes);
}

void fw_gpu_note_failure(struct fw_gpu *gpu, const struct fw_error *err)
{
	pthread_mutex_lock(&gpu->lock);
	if (!atomic_load(&gpu->is_failed))
		snprintf(gpu->failure, sizeof(gpu->failure), "%.255s", err->message);
	atomic_store(&gpu->is_failed, true);
	pthread_mutex_unlock(&gpu->lock);
}

fw_status fw_gpu_failure(struct fw_gpu *gpu, struct fw_error *err)
{
	fw_status status = FW_OK;

	if (!atomic_load(&gpu->is_failed))
		return FW_OK;
	pthread_mutex_lock(&gpu->lock);
	status = fw_fail(err, FW_ERR_IO, "the GPU failed before: %s", gpu->failure);
	pthread_mutex_unlock(&gpu->lock);
	return status;
}

int fw_gpu_numa_node(const struct fw_gpu *gpu)
{
	char id[32] = "", path[128];
	int node = -1;
	FILE *file;

	if (!gpu->cuda.device_get_pci_bus_id ||
	    gpu->cuda.device_get_pci_bus_id(id, sizeof(id), gpu->device))
		return -1;
	for (char *c = id; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/numa_node", id);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (fscanf(file, "%d", &node) != 1)
		node = -1;
	fclose(file);
	return node;
}
