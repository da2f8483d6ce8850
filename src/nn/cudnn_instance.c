/* Runs a loaded network: an arena, a stream, one CUDA graph for each batch size. */
#include "nn/cudnn_network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct runnable {
	void **packs; /* for each operation: cuDNN's tensor addresses, or NULL */
	void *exec;   /* the CUDA graph; NULL: operations are launched one by one */
};

struct instance {
	struct fw_nn_gpu_network *network;
	uint64_t arena, workspace, workspace_beside, staging;
	void *stream, *last_stream;
	void *beside, *fork, *join; /* the second stream, and events between the two */
	struct runnable *runnables; /* for each program */
};

static uint64_t place(const struct instance *instance, uint64_t offset)
{
	return offset == FW_NN_NO_OFFSET ? 0 : instance->arena + offset;
}

static struct fw_nn_addresses addresses(const struct instance *instance,
					const struct fw_nn_operation *operation)
{
	return (struct fw_nn_addresses){
		.x = place(instance, operation->at.x),
		.y = place(instance, operation->at.y),
		.z = place(instance, operation->at.z),
		.w = operation->at.w,
		.bias = operation->at.bias,
		.workspace =
			operation->is_beside ? instance->workspace_beside : instance->workspace,
	};
}

static fw_status launch_kernel(const struct fw_nn_gpu *gpu, const struct fw_nn_launch *launch,
			       void *stream, struct fw_error *err)
{
	struct fw_kernel_args args = launch->args;
	void *parameters[] = { &args };

	return fw_nn_gpu_check(
		gpu,
		gpu->cuda.launch_kernel(launch->function, launch->grid[0], launch->grid[1],
					launch->grid[2], launch->block[0], launch->block[1],
					launch->block[2], 0, stream, parameters, NULL),
		"cuLaunchKernel", err);
}

static fw_status launch_own(const struct instance *instance, const struct fw_nn_launch *launch,
			    void *stream, struct fw_error *err)
{
	struct fw_nn_launch placed = *launch;

	placed.args.input.data += instance->arena;
	placed.args.second.data += instance->arena;
	placed.args.output.data += instance->arena;
	return launch_kernel(instance->network->gpu, &placed, stream, err);
}

static fw_status enqueue_one(const struct instance *instance,
			     const struct fw_nn_operation *operation, void *pack, void *stream,
			     struct fw_error *err)
{
	const struct fw_nn_gpu *gpu = instance->network->gpu;
	int result;

	if (operation->is_kernel)
		return launch_own(instance, &operation->launch, stream, err);
	if (operation->choice->is_gemm)
		return fw_nn_gemm_enqueue(
			&operation->gemm,
			&(struct fw_nn_gemm_run){ .algo = &operation->choice->algo,
						  .at = addresses(instance, operation),
						  .workspace_bytes =
							  operation->choice->workspace_bytes,
						  .stream = stream },
			err);
	result = gpu->cudnn.execute(gpu->cudnn_handle, operation->choice->plan.plan, pack);
	return result ? fw_cudnn_fail(&gpu->cudnn, result, "cudnnBackendExecute", err) : FW_OK;
}

struct two_streams {
	void *main, *beside;
};

/* An operation and what is started beside the next ones. */
static fw_status enqueue_with_company(const struct instance *instance, uint32_t program, size_t i,
				      const struct two_streams *streams, struct fw_error *err)
{
	const struct fw_nn_gpu *gpu = instance->network->gpu;
	const struct fw_nn_operation *operations =
		instance->network->programs[program].operations.data;
	void *const *packs = instance->runnables[program].packs;
	const uint32_t other = operations[i].start_beside;
	fw_status status;
	int result = 0;

	if (operations[i].joins)
		result = gpu->cuda.stream_wait_event(streams->main, instance->join, 0);
	if (result)
		return fw_nn_gpu_check(gpu, result, "cuStreamWaitEvent", err);
	status = enqueue_one(instance, &operations[i], packs[i], streams->main, err);
	if (status || other == FW_NN_NONE)
		return status;
	result = gpu->cuda.event_record(instance->fork, streams->main);
	if (!result)
		result = gpu->cuda.stream_wait_event(streams->beside, instance->fork, 0);
	if (result)
		return fw_nn_gpu_check(gpu, result, "cuStreamWaitEvent", err);
	gpu->cudnn.set_stream(gpu->cudnn_handle, streams->beside);
	status = enqueue_one(instance, &operations[other], packs[other], streams->beside, err);
	gpu->cudnn.set_stream(gpu->cudnn_handle, streams->main);
	return status ? status
		      : fw_nn_gpu_check(gpu,
					gpu->cuda.event_record(instance->join, streams->beside),
					"cuEventRecord", err);
}

/* The GPU's lock is held: cuDNN's handle and plans are shared. */
static fw_status enqueue(const struct instance *instance, uint32_t program, void *stream,
			 struct fw_error *err)
{
	const struct fw_nn_gpu *gpu = instance->network->gpu;
	const struct fw_vec *operations = &instance->network->programs[program].operations;
	const struct fw_nn_operation *operation = operations->data;
	const struct two_streams streams = { stream, instance->beside };
	fw_status status = FW_OK;
	int result = gpu->cudnn.set_stream(gpu->cudnn_handle, stream);

	if (result)
		return fw_cudnn_fail(&gpu->cudnn, result, "cudnnSetStream", err);
	for (size_t i = 0; !status && i < operations->len; i++)
		if (!operation[i].is_beside)
			status = enqueue_with_company(instance, program, i, &streams, err);
	return status;
}

static fw_status make_packs(const struct instance *instance, uint32_t program, struct fw_error *err)
{
	const struct fw_vec *operations = &instance->network->programs[program].operations;
	const struct fw_nn_operation *operation = operations->data;
	struct runnable *runnable = &instance->runnables[program];

	runnable->packs = calloc(operations->len + 1, sizeof(*runnable->packs));
	if (!runnable->packs)
		return fw_fail_nomem(err, operations->len * sizeof(*runnable->packs));
	for (size_t i = 0; i < operations->len; i++) {
		const struct fw_nn_addresses at = addresses(instance, &operation[i]);
		fw_status status;

		if (operation[i].is_kernel || operation[i].choice->is_gemm)
			continue;
		status = fw_nn_conv_pack(instance->network->gpu, &at, &runnable->packs[i], err);
		if (status)
			return status;
	}
	return FW_OK;
}

static fw_status capture(struct instance *instance, uint32_t program, struct fw_error *err)
{
	const struct fw_nn_gpu *gpu = instance->network->gpu;
	void *graph = NULL;
	fw_status status;
	int result = gpu->cuda.stream_begin_capture(instance->stream, FW_CUDA_CAPTURE_THREAD_LOCAL);

	if (result)
		return fw_nn_gpu_check(gpu, result, "cuStreamBeginCapture", err);
	status = enqueue(instance, program, instance->stream, err);
	result = gpu->cuda.stream_end_capture(instance->stream, &graph);
	if (!status)
		status = fw_nn_gpu_check(gpu, result, "cuStreamEndCapture", err);
	if (!status)
		status = fw_nn_gpu_check(
			gpu,
			gpu->cuda.graph_instantiate(&instance->runnables[program].exec, graph, 0),
			"cuGraphInstantiate", err);
	if (!result && graph)
		gpu->cuda.graph_destroy(graph);
	return status;
}

static fw_status create_company(struct instance *instance, struct fw_error *err)
{
	const struct fw_nn_gpu *gpu = instance->network->gpu;
	int result = gpu->cuda.stream_create(&instance->beside, FW_CUDA_STREAM_NON_BLOCKING);

	if (!result)
		result = gpu->cuda.event_create(&instance->fork, FW_CUDA_EVENT_DISABLE_TIMING);
	if (!result)
		result = gpu->cuda.event_create(&instance->join, FW_CUDA_EVENT_DISABLE_TIMING);
	return fw_nn_gpu_check(gpu, result, "a second stream", err);
}

static fw_status allocate(struct instance *instance, struct fw_error *err)
{
	const struct fw_nn_gpu_network *network = instance->network;
	const struct fw_nn_gpu *gpu = network->gpu;
	fw_status status;

	status = fw_nn_gpu_alloc(gpu, network->arena_bytes, "activations", &instance->arena, err);
	if (!status)
		status = fw_nn_gpu_alloc(gpu, network->workspace_bytes, "the engines' workspace",
					 &instance->workspace, err);
	if (!status)
		status =
			fw_nn_gpu_alloc(gpu, network->workspace_beside_bytes,
					"the engines' workspace", &instance->workspace_beside, err);
	if (!status)
		status = fw_nn_gpu_alloc(gpu, network->staging_bytes, "host data",
					 &instance->staging, err);
	if (!status)
		status = fw_nn_gpu_check(
			gpu,
			gpu->cuda.stream_create(&instance->stream, FW_CUDA_STREAM_NON_BLOCKING),
			"cuStreamCreate", err);
	if (!status)
		status = create_company(instance, err);
	/* Not-a-number in every type: what is read before it is written shows itself. */
	if (!status)
		status = fw_nn_gpu_check(gpu,
					 gpu->cuda.memset_async(instance->arena, 0xff,
								network->arena_bytes,
								instance->stream),
					 "cuMemsetD8Async", err);
	return status;
}

static fw_status prepare(struct instance *instance, struct fw_error *err)
{
	const struct fw_nn_gpu_network *network = instance->network;
	fw_status status = allocate(instance, err);

	for (uint32_t i = 0; !status && i < network->n_programs; i++)
		status = make_packs(instance, i, err);
	/* A run before the capture loads every kernel: capturing must not. */
	for (uint32_t i = 0; !status && i < network->n_programs; i++)
		status = enqueue(instance, i, instance->stream, err);
	if (!status)
		status = fw_nn_gpu_check(network->gpu,
					 network->gpu->cuda.stream_synchronize(instance->stream),
					 "the first run", err);
	for (uint32_t i = 0; !status && network->graph && i < network->n_programs; i++)
		status = capture(instance, i, err);
	return status;
}

fw_status fw_nn_gpu_instance_open(void *network, void **instance, struct fw_error *err)
{
	struct fw_nn_gpu_network *n = network;
	struct instance *made = calloc(1, sizeof(*made));
	fw_status status;

	if (!made)
		return fw_fail_nomem(err, sizeof(*made));
	made->network = n;
	made->runnables = calloc(n->n_programs, sizeof(*made->runnables));
	status = made->runnables ? fw_nn_gpu_enter(n->gpu, err)
				 : fw_fail_nomem(err, n->n_programs * sizeof(*made->runnables));
	if (!status) {
		pthread_mutex_lock(&n->gpu->lock);
		status = prepare(made, err);
		pthread_mutex_unlock(&n->gpu->lock);
	}
	if (status) {
		fw_nn_gpu_instance_close(made);
		return status;
	}
	*instance = made;
	return FW_OK;
}

static void free_runnable(const struct fw_nn_gpu *gpu, struct runnable *runnable, size_t n)
{
	if (runnable->exec)
		gpu->cuda.graph_exec_destroy(runnable->exec);
	for (size_t i = 0; runnable->packs && i < n; i++)
		if (runnable->packs[i])
			gpu->cudnn.descriptor_destroy(runnable->packs[i]);
	free(runnable->packs);
}

void fw_nn_gpu_instance_close(void *instance)
{
	struct instance *i = instance;
	const struct fw_nn_gpu *gpu = i->network->gpu;

	fw_nn_gpu_enter(gpu, NULL);
	if (i->stream)
		gpu->cuda.stream_synchronize(i->stream);
	for (uint32_t k = 0; i->runnables && k < i->network->n_programs; k++)
		free_runnable(gpu, &i->runnables[k], i->network->programs[k].operations.len);
	fw_nn_gpu_free(gpu, i->arena);
	fw_nn_gpu_free(gpu, i->workspace);
	fw_nn_gpu_free(gpu, i->workspace_beside);
	fw_nn_gpu_free(gpu, i->staging);
	if (i->stream)
		gpu->cuda.stream_destroy(i->stream);
	if (i->beside)
		gpu->cuda.stream_destroy(i->beside);
	if (i->fork)
		gpu->cuda.event_destroy(i->fork);
	if (i->join)
		gpu->cuda.event_destroy(i->join);
	free(i->runnables);
	free(i);
}

static void describe(const struct instance *instance, const struct fw_nn_tensor *t,
		     struct fw_nn_io *io)
{
	*io = (struct fw_nn_io){
		.data = (void *)(uintptr_t)(instance->arena + t->offset),
		.bytes = t->bytes,
		.precision = instance->network->precision,
		.n = t->n,
		.h = t->h,
		.w = t->w,
		.c = t->c,
		.pixel_stride = t->pixel_stride,
	};
}

fw_status fw_nn_gpu_instance_io(void *instance, uint32_t plan, struct fw_nn_io *input,
				struct fw_nn_io *output, struct fw_error *err)
{
	const struct instance *i = instance;
	const struct fw_nn_program *p = &i->network->programs[plan];

	(void)err;
	describe(i, &p->tensors[p->plan->input], input);
	describe(i, &p->tensors[p->plan->output], output);
	return FW_OK;
}

fw_status fw_nn_gpu_instance_launch(void *instance, uint32_t plan, void *stream,
				    struct fw_error *err)
{
	struct instance *i = instance;
	struct fw_nn_gpu *gpu = i->network->gpu;
	fw_status status = fw_nn_gpu_enter(gpu, err);

	if (status)
		return status;
	if (!stream)
		stream = i->stream;
	i->last_stream = stream;
	if (i->runnables[plan].exec)
		return fw_nn_gpu_check(gpu, gpu->cuda.graph_launch(i->runnables[plan].exec, stream),
				       "cuGraphLaunch", err);
	pthread_mutex_lock(&gpu->lock);
	status = enqueue(i, plan, stream, err);
	pthread_mutex_unlock(&gpu->lock);
	return status;
}

fw_status fw_nn_gpu_instance_wait(void *instance, struct fw_error *err)
{
	const struct instance *i = instance;
	const struct fw_nn_gpu *gpu = i->network->gpu;
	fw_status status = fw_nn_gpu_enter(gpu, err);

	if (status)
		return status;
	return fw_nn_gpu_check(
		gpu, gpu->cuda.stream_synchronize(i->last_stream ? i->last_stream : i->stream),
		"cuStreamSynchronize", err);
}

/* Samples that pass through the staging memory at once. */
static int64_t samples_at_once(const struct instance *instance, const struct fw_nn_tensor *t)
{
	const size_t bytes = (size_t)(t->h * t->w * t->c) * sizeof(float);
	const size_t samples = instance->network->staging_bytes / bytes;

	return samples < 1 ? 1 : (int64_t)samples;
}

/* A part of a tensor's samples, as a kernel sees it. */
static struct fw_kernel_tensor samples(const struct instance *instance,
				       const struct fw_nn_tensor *t, int64_t first, int64_t n)
{
	struct fw_kernel_tensor part = fw_nn_kernel_tensor(t);

	part.n = (int)n;
	part.data = instance->arena + t->offset +
		    (uint64_t)(first * part.sample_step) *
			    fw_nn_precision_bytes(instance->network->precision);
	return part;
}

static fw_status convert(const struct instance *instance, enum fw_nn_kernel kernel,
			 const struct fw_kernel_tensor *tensor, struct fw_error *err)
{
	const struct fw_nn_gpu *gpu = instance->network->gpu;
	const bool writes = kernel == FW_NN_KERNEL_FROM_NCHW;
	struct fw_nn_launch launch = {
		.function = gpu->kernels[kernel][instance->network->precision][1],
		.args = { .input = *tensor, .output = *tensor, .input_high = INFINITY },
	};
	int64_t items = (int64_t)tensor->n * tensor->h * tensor->w * (writes ? 1 : tensor->c);
	fw_status status = fw_nn_launch_items(&launch, items, err);

	if (writes)
		launch.args.input.data = instance->staging;
	else
		launch.args.output.data = instance->staging;
	return status ? status : launch_kernel(gpu, &launch, instance->stream, err);
}

fw_status fw_nn_gpu_instance_write(void *instance, uint32_t plan, const float *nchw,
				   struct fw_error *err)
{
	const struct instance *i = instance;
	const struct fw_nn_gpu *gpu = i->network->gpu;
	const struct fw_nn_program *p = &i->network->programs[plan];
	const struct fw_nn_tensor *t = &p->tensors[p->plan->input];
	const int64_t step = samples_at_once(i, t), floats = t->h * t->w * t->c;
	fw_status status = fw_nn_gpu_enter(gpu, err);

	for (int64_t first = 0; !status && first < t->n; first += step) {
		const int64_t n = t->n - first < step ? t->n - first : step;
		const struct fw_kernel_tensor part = samples(i, t, first, n);

		status = fw_nn_gpu_check(gpu,
					 gpu->cuda.memcpy_host_to_device_async(
						 i->staging, nchw + first * floats,
						 (size_t)(n * floats) * sizeof(float), i->stream),
					 "cuMemcpyHtoDAsync", err);
		if (!status)
			status = convert(i, FW_NN_KERNEL_FROM_NCHW, &part, err);
		if (!status)
			status = fw_nn_gpu_check(gpu, gpu->cuda.stream_synchronize(i->stream),
						 "cuStreamSynchronize", err);
	}
	return status;
}

fw_status fw_nn_gpu_instance_read(void *instance, uint32_t plan, float *out, struct fw_error *err)
{
	const struct instance *i = instance;
	const struct fw_nn_gpu *gpu = i->network->gpu;
	const struct fw_nn_program *p = &i->network->programs[plan];
	const struct fw_nn_tensor *t = &p->tensors[p->plan->output];
	const int64_t step = samples_at_once(i, t), floats = t->h * t->w * t->c;
	fw_status status = fw_nn_gpu_instance_wait(instance, err);

	for (int64_t first = 0; !status && first < t->n; first += step) {
		const int64_t n = t->n - first < step ? t->n - first : step;
		const struct fw_kernel_tensor part = samples(i, t, first, n);

		status = convert(i, FW_NN_KERNEL_TO_NCHW, &part, err);
		if (!status)
			status = fw_nn_gpu_check(gpu,
						 gpu->cuda.memcpy_device_to_host_async(
							 out + first * floats, i->staging,
							 (size_t)(n * floats) * sizeof(float),
							 i->stream),
						 "cuMemcpyDtoHAsync", err);
		if (!status)
			status = fw_nn_gpu_check(gpu, gpu->cuda.stream_synchronize(i->stream),
						 "cuStreamSynchronize", err);
	}
	return status;
}
