/* Loads a cubin and launches what is in it. */
#include "tune/kernel.h"

#include "hw/limits.h"

#include <string.h>

static fw_status set_attributes(struct fw_tune_kernel *kernel, struct fw_tune_device *device,
				struct fw_error *err)
{
	const struct fw_tune_launch *launch = &kernel->launch;
	const struct fw_cuda *cuda = &device->cuda;

	if (launch->dynamic_smem)
		FW_TUNE_TRY(device,
			    cuda->func_set_attribute(kernel->function,
						     FW_CUDA_FUNC_MAX_DYNAMIC_SMEM,
						     (int)launch->dynamic_smem),
			    "cuFuncSetAttribute(MAX_DYNAMIC_SHARED_SIZE_BYTES)");
	if (launch->carveout >= 0)
		FW_TUNE_TRY(device,
			    cuda->func_set_attribute(kernel->function, FW_CUDA_FUNC_CARVEOUT,
						     launch->carveout),
			    "cuFuncSetAttribute(PREFERRED_SHARED_MEMORY_CARVEOUT)");
	if (launch->cluster <= 1)
		return FW_OK;
	if (!cuda->launch_kernel_ex)
		return fw_fail(err, FW_ERR_UNSUPPORTED, "the driver has no cuLaunchKernelEx");
	if (launch->cluster > device->hw->cluster_portable)
		FW_TUNE_TRY(device,
			    cuda->func_set_attribute(kernel->function,
						     FW_CUDA_FUNC_NON_PORTABLE_CLUSTER, 1),
			    "cuFuncSetAttribute(NON_PORTABLE_CLUSTER_SIZE_ALLOWED)");
	return FW_OK;
}

fw_status fw_tune_kernel_load(struct fw_tune_kernel *kernel, struct fw_tune_device *device,
			      const struct fw_tune_buffers *buffers,
			      const struct fw_tune_kernel_source *source, struct fw_error *err)
{
	fw_status status;

	*kernel = (struct fw_tune_kernel){ .launch = source->launch, .launches = 1 };
	status = fw_tune_buffers_parameters(buffers, source->config, &kernel->parameters, err);
	if (status)
		return status;
	FW_TUNE_TRY(device, device->cuda.module_load_data(&kernel->module, source->cubin),
		    "cuModuleLoadData");
	FW_TUNE_TRY(
		device,
		device->cuda.module_get_function(&kernel->function, kernel->module, source->name),
		"cuModuleGetFunction");
	return set_attributes(kernel, device, err);
}

static void drop_graph(struct fw_tune_kernel *kernel, struct fw_tune_device *device)
{
	if (kernel->graph)
		device->cuda.graph_exec_destroy(kernel->graph);
	kernel->graph = NULL;
}

void fw_tune_kernel_unload(struct fw_tune_kernel *kernel, struct fw_tune_device *device)
{
	drop_graph(kernel, device);
	if (kernel->module)
		device->cuda.module_unload(kernel->module);
	*kernel = (struct fw_tune_kernel){ 0 };
}

static fw_status launch_cluster(struct fw_tune_kernel *kernel, struct fw_tune_device *device,
				struct fw_error *err)
{
	const struct fw_tune_launch *l = &kernel->launch;
	struct fw_cuda_launch_attribute cluster = { .id = FW_CUDA_LAUNCH_CLUSTER,
						    .value = { .cluster = { l->cluster, 1, 1 } } };
	struct fw_cuda_launch launch = { .grid = { l->grid[0], l->grid[1], l->grid[2] },
					 .block = { l->block[0], l->block[1], l->block[2] },
					 .smem_bytes = l->dynamic_smem,
					 .stream = device->stream,
					 .attributes = &cluster,
					 .n_attributes = 1 };

	FW_TUNE_TRY(device,
		    device->cuda.launch_kernel_ex(&launch, kernel->function,
						  kernel->parameters.pointers, NULL),
		    "cuLaunchKernelEx");
	return FW_OK;
}

fw_status fw_tune_kernel_launch(struct fw_tune_kernel *kernel, struct fw_tune_device *device,
				struct fw_error *err)
{
	const struct fw_tune_launch *l = &kernel->launch;

	if (l->cluster > 1)
		return launch_cluster(kernel, device, err);
	FW_TUNE_TRY(device,
		    device->cuda.launch_kernel(kernel->function, l->grid[0], l->grid[1], l->grid[2],
					       l->block[0], l->block[1], l->block[2],
					       l->dynamic_smem, device->stream,
					       kernel->parameters.pointers, NULL),
		    "cuLaunchKernel");
	return FW_OK;
}

/* The launches of a sample as a graph that is yet to be instantiated. */
static fw_status capture(struct fw_tune_kernel *kernel, struct fw_tune_device *device,
			 unsigned launches, void **graph, struct fw_error *err)
{
	const struct fw_cuda *cuda = &device->cuda;
	fw_status status = FW_OK;
	int result;

	FW_TUNE_TRY(device,
		    cuda->stream_begin_capture(device->stream, FW_CUDA_CAPTURE_THREAD_LOCAL),
		    "cuStreamBeginCapture");
	for (unsigned i = 0; !status && i < launches; i++)
		status = fw_tune_kernel_launch(kernel, device, err);
	result = cuda->stream_end_capture(device->stream, graph);
	if (status)
		return status;
	return result ? fw_cuda_fail(cuda, result, "cuStreamEndCapture", err) : FW_OK;
}

fw_status fw_tune_kernel_repeat(struct fw_tune_kernel *kernel, struct fw_tune_device *device,
				unsigned launches, struct fw_error *err)
{
	void *graph = NULL;
	fw_status status;
	int result;

	drop_graph(kernel, device);
	kernel->launches = launches;
	if (launches <= 1)
		return FW_OK;
	status = capture(kernel, device, launches, &graph, err);
	if (status)
		return status;
	result = device->cuda.graph_instantiate(&kernel->graph, graph, 0);
	device->cuda.graph_destroy(graph);
	if (!result)
		return FW_OK;
	kernel->graph = NULL;
	return fw_cuda_fail(&device->cuda, result, "cuGraphInstantiate", err);
}

fw_status fw_tune_kernel_launch_all(struct fw_tune_kernel *kernel, struct fw_tune_device *device,
				    struct fw_error *err)
{
	if (!kernel->graph)
		return fw_tune_kernel_launch(kernel, device, err);
	FW_TUNE_TRY(device, device->cuda.graph_launch(kernel->graph, device->stream),
		    "cuGraphLaunch");
	return FW_OK;
}
