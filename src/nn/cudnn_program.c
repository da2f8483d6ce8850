/* Steps of a plan to operations: convolutions and products to problems, the rest to our kernels. */
#include "nn/cudnn_network.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define BLOCK 256

/* kernels/nn_types.h counts activations and operations by these numbers. */
_Static_assert(FW_NN_ACT_NONE == 0 && FW_NN_ACT_CLAMP == 1 && FW_NN_ACT_SIGMOID == 2 &&
		       FW_NN_ACT_HARD_SIGMOID == 3 && FW_NN_ACT_HARD_SWISH == 4 &&
		       FW_NN_ACT_SWISH == 5 && FW_NN_ACT_GELU == 6 && FW_NN_ACT_GELU_TANH == 7 &&
		       FW_NN_ACT_TANH == 8,
	       "activations as the kernels know them");
_Static_assert(FW_NN_ELEMENTWISE_ADD == 1 && FW_NN_ELEMENTWISE_MUL == 2 &&
		       FW_NN_ELEMENTWISE_SUB == 3,
	       "operations as the kernels know them");

struct building {
	struct fw_nn_gpu_network *network;
	struct fw_nn_program *program;
	const struct fw_nn_plan *plan;
	uint32_t index; /* of the step */
	const struct fw_nn_step *step;
	const struct fw_nn_tensor *input, *second, *output;
};

struct fw_kernel_tensor fw_nn_kernel_tensor(const struct fw_nn_tensor *t)
{
	return (struct fw_kernel_tensor){
		.data = t->offset,
		.sample_step = t->h * t->w * t->pixel_stride,
		.n = (int)t->n,
		.h = (int)t->h,
		.w = (int)t->w,
		.c = (int)t->c,
		.pixel_step = (int)t->pixel_stride,
		.padded_c = (int)t->padded_c,
	};
}

fw_status fw_nn_launch_items(struct fw_nn_launch *launch, int64_t items, struct fw_error *err)
{
	if (items > INT32_MAX - BLOCK)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "a layer of %lld items: the GPU kernels count up to 2147483391",
			       (long long)items);
	launch->grid[0] = (unsigned)((items + BLOCK - 1) / BLOCK);
	launch->grid[1] = launch->grid[2] = 1;
	launch->block[0] = BLOCK;
	launch->block[1] = launch->block[2] = 1;
	return FW_OK;
}

static struct fw_nn_operation *add_operation(const struct building *b, struct fw_error *err)
{
	struct fw_nn_operation *operation = fw_vec_push(&b->program->operations);

	if (!operation)
		fw_fail_nomem(err, sizeof(*operation));
	else
		operation->step = b->index;
	return operation;
}

/* Elements that a thread moves at once if tensors and channels allow 16 bytes. */
static int64_t lanes(enum fw_nn_precision precision)
{
	return (int64_t)(16 / fw_nn_precision_bytes(precision));
}

static bool is_aligned(const struct building *b, const struct fw_nn_tensor *t)
{
	const int64_t v = lanes(b->plan->precision);

	return !t || (t->c % v == 0 && t->pixel_stride % v == 0 && t->offset % 16 == 0);
}

static void set_activation(struct fw_kernel_args *args, const struct fw_nn_act *act)
{
	args->act = (int)act->kind;
	args->low = act->low;
	args->high = act->high;
	args->alpha = act->alpha;
	args->beta = act->beta;
}

/* A kernel of the step with its tensors, window and activation; *vector: whether it moves 16 bytes at once. */
static struct fw_nn_operation *add_kernel(const struct building *b, enum fw_nn_kernel kernel,
					  bool *vector, struct fw_error *err)
{
	struct fw_nn_operation *operation = add_operation(b, err);
	const struct fw_nn_window *w = &b->step->window;
	void *const *forms = b->network->gpu->kernels[kernel][b->plan->precision];
	struct fw_kernel_args *args;

	if (!operation)
		return NULL;
	*vector = forms[0] && is_aligned(b, b->input) && is_aligned(b, b->second) &&
		  is_aligned(b, b->output);
	operation->is_kernel = true;
	operation->launch.function = forms[*vector ? 0 : 1];
	args = &operation->launch.args;
	args->input = fw_nn_kernel_tensor(b->input);
	args->output = fw_nn_kernel_tensor(b->output);
	if (b->second)
		args->second = fw_nn_kernel_tensor(b->second);
	args->r = (int)w->r;
	args->s = (int)w->s;
	args->stride_y = (int)w->stride_y;
	args->stride_x = (int)w->stride_x;
	args->pad_top = (int)w->pad_top;
	args->pad_left = (int)w->pad_left;
	args->dilation_y = (int)w->dilation_y;
	args->dilation_x = (int)w->dilation_x;
	args->counts_padding = w->counts_padding;
	args->epsilon = b->step->epsilon;
	args->scale = b->step->scale;
	args->heads = (int)b->step->heads;
	args->input_high = INFINITY;
	set_activation(args, &b->step->act);
	return operation;
}

/* One thread for each pixel of the output and each group of its channels. */
static fw_status add_pixelwise(const struct building *b, enum fw_nn_kernel kernel,
			       struct fw_nn_operation **made, struct fw_error *err)
{
	const struct fw_nn_tensor *out = b->output;
	struct fw_nn_operation *operation;
	bool vector;

	operation = add_kernel(b, kernel, &vector, err);
	if (!operation)
		return FW_ERR_NOMEM;
	if (made)
		*made = operation;
	return fw_nn_launch_items(&operation->launch,
				  out->n * out->h * out->w *
					  (vector ? out->c / lanes(b->plan->precision) : out->c),
				  err);
}

/* Which operand is one pixel, or one sample, for all. */
static void broadcast(struct fw_kernel_tensor *operand, const struct fw_kernel_tensor *output)
{
	if (operand->h * operand->w == 1 && output->h * output->w > 1)
		operand->pixel_step = 0;
	if (operand->n == 1 && output->n > 1)
		operand->sample_step = 0;
}

static fw_status add_elementwise(const struct building *b, struct fw_error *err)
{
	struct fw_nn_operation *operation;
	struct fw_kernel_args *args;
	fw_status status = add_pixelwise(b, FW_NN_KERNEL_ELEMENTWISE, &operation, err);

	if (status)
		return status;
	args = &operation->launch.args;
	args->operation = (int)b->step->elementwise;
	broadcast(&args->input, &args->output);
	if (b->second)
		broadcast(&args->second, &args->output);
	return FW_OK;
}

/* What the engines could not fuse: an activation in place after the operation. */
static fw_status add_activation(const struct building *b, const struct fw_nn_act *act,
				struct fw_error *err)
{
	struct building in_place = *b;
	struct fw_nn_operation *operation;
	fw_status status;

	in_place.input = b->output;
	in_place.second = NULL;
	status = add_pixelwise(&in_place, FW_NN_KERNEL_ELEMENTWISE, &operation, err);
	if (!status)
		set_activation(&operation->launch.args, act);
	return status;
}

static fw_status add_global_average(const struct building *b, struct fw_error *err)
{
	bool vector;
	struct fw_nn_operation *operation =
		add_kernel(b, FW_NN_KERNEL_GLOBAL_AVERAGE, &vector, err);
	int64_t groups;

	if (!operation)
		return FW_ERR_NOMEM;
	groups = vector ? b->input->c / lanes(b->plan->precision) : b->input->c;
	operation->launch.grid[0] = (unsigned)((groups + 31) / 32);
	operation->launch.grid[1] = (unsigned)b->input->n;
	operation->launch.grid[2] = 1;
	operation->launch.block[0] = 32;
	operation->launch.block[1] = 8;
	operation->launch.block[2] = 1;
	return FW_OK;
}

/* One block for each pixel. */
static fw_status add_rowwise(const struct building *b, enum fw_nn_kernel kernel,
			     struct fw_nn_operation **made, struct fw_error *err)
{
	const int64_t rows = b->input->n * b->input->h * b->input->w;
	bool vector;
	struct fw_nn_operation *operation = add_kernel(b, kernel, &vector, err);

	if (!operation)
		return FW_ERR_NOMEM;
	*made = operation;
	return fw_nn_launch_items(&operation->launch, rows * BLOCK, err);
}

static fw_status add_layer_norm(const struct building *b, struct fw_error *err)
{
	struct fw_nn_weights *weights = &b->network->weights;
	struct fw_nn_operation *operation;
	uint64_t scale = 0, shift = 0;
	fw_status status = FW_OK;

	if (b->step->weight.data)
		status = fw_nn_weights_get(weights, &b->step->weight, FW_NN_FORM_VECTOR, 1, &scale,
					   err);
	if (!status && b->step->bias.data)
		status = fw_nn_weights_get(weights, &b->step->bias, FW_NN_FORM_VECTOR, 1, &shift,
					   err);
	if (!status)
		status = add_rowwise(b, FW_NN_KERNEL_LAYER_NORM, &operation, err);
	if (status)
		return status;
	operation->launch.args.weight = scale;
	operation->launch.args.bias = shift;
	return FW_OK;
}

/* kernels/nn_attention.cu: 32 queries for each block; heads of at most 96 channels. */
static fw_status add_attention(const struct building *b, struct fw_error *err)
{
	const int64_t tokens = b->input->h * b->input->w;
	bool vector;
	struct fw_nn_operation *operation;

	if (b->input->c != 3 * b->output->c || b->output->c % b->step->heads ||
	    b->output->c / b->step->heads > 96)
		return fw_fail(
			err, FW_ERR_UNSUPPORTED,
			"attention with %lld heads of %lld channels: at most 96 are possible",
			(long long)b->step->heads, (long long)(b->output->c / b->step->heads));
	operation = add_kernel(b, FW_NN_KERNEL_ATTENTION, &vector, err);
	if (!operation)
		return FW_ERR_NOMEM;
	operation->launch.grid[0] = (unsigned)((tokens + 31) / 32);
	operation->launch.grid[1] = (unsigned)b->step->heads;
	operation->launch.grid[2] = (unsigned)b->input->n;
	operation->launch.block[0] = BLOCK;
	operation->launch.block[1] = operation->launch.block[2] = 1;
	return FW_OK;
}

static fw_status add_tokens(const struct building *b, struct fw_error *err)
{
	const struct fw_nn_tensor *out = b->output;
	struct fw_nn_operation *operation;
	uint64_t weight;
	bool vector;
	fw_status status = fw_nn_weights_get(&b->network->weights, &b->step->weight,
					     FW_NN_FORM_ROWS, b->step->weight.c, &weight, err);

	if (status)
		return status;
	operation = add_kernel(b, FW_NN_KERNEL_TOKENS, &vector, err);
	if (!operation)
		return FW_ERR_NOMEM;
	operation->launch.args.weight = weight;
	return fw_nn_launch_items(&operation->launch, out->n * out->h * out->w * out->c, err);
}

static fw_status add_copy(const struct building *b, struct fw_error *err)
{
	const struct fw_nn_tensor *in = b->input, *out = b->output;
	struct fw_nn_operation *operation;
	bool vector;

	if (in->h == out->h && in->w == out->w && in->c == out->c)
		return add_elementwise(b, err);
	if (out->h * out->w != 1)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "the cudnn engine cannot bring %s into the shape of %s", in->name,
			       out->name);
	operation = add_kernel(b, FW_NN_KERNEL_FLATTEN_NCHW, &vector, err);
	if (!operation)
		return FW_ERR_NOMEM;
	return fw_nn_launch_items(&operation->launch, out->n * out->c, err);
}

/* The kernel for a depthwise convolution, or FW_NN_N_KERNELS: cuDNN's. */
static enum fw_nn_kernel depthwise_kernel(const struct building *b)
{
	const struct fw_nn_window *w = &b->step->window;

	if (b->step->kind != FW_NN_STEP_CONV || w->groups != b->input->c ||
	    b->step->weight.k != w->groups || b->second || w->r != w->s || w->dilation_y != 1 ||
	    w->dilation_x != 1 || w->stride_y != w->stride_x || !is_aligned(b, b->input) ||
	    !is_aligned(b, b->output))
		return FW_NN_N_KERNELS;
	if (w->r == 1 && w->stride_y == 1)
		return FW_NN_KERNEL_DEPTHWISE_1_1;
	if (w->r == 3 && w->stride_y <= 2)
		return w->stride_y == 1 ? FW_NN_KERNEL_DEPTHWISE_3_1 : FW_NN_KERNEL_DEPTHWISE_3_2;
	if (w->r == 5 && w->stride_y <= 2)
		return w->stride_y == 1 ? FW_NN_KERNEL_DEPTHWISE_5_1 : FW_NN_KERNEL_DEPTHWISE_5_2;
	return FW_NN_N_KERNELS;
}

/* Four pixels of a row for each thread: kernels/nn_depthwise.cu. */
static fw_status add_depthwise(const struct building *b, enum fw_nn_kernel kernel,
			       struct fw_error *err)
{
	const struct fw_nn_tensor *out = b->output;
	struct fw_nn_weight bias = b->step->bias;
	struct fw_nn_operation *operation;
	uint64_t weight_address, bias_address;
	bool vector;
	fw_status status;

	bias.k = b->step->weight.k;
	status = fw_nn_weights_get(&b->network->weights, &b->step->weight, FW_NN_FORM_CHANNELS, 1,
				   &weight_address, err);
	if (!status)
		status = fw_nn_weights_get(&b->network->weights, &bias, FW_NN_FORM_VECTOR, 1,
					   &bias_address, err);
	if (status)
		return status;
	operation = add_kernel(b, kernel, &vector, err);
	if (!operation)
		return FW_ERR_NOMEM;
	operation->launch.args.weight = weight_address;
	operation->launch.args.bias = bias_address;
	return fw_nn_launch_items(
		&operation->launch,
		out->n * out->h * ((out->w + 3) / 4) * (out->c / lanes(b->plan->precision)), err);
}

/* Whether an operation of ours can clip what it reads of a tensor. */
static bool clips_input(const struct building *b, const struct fw_nn_step *reader, uint32_t tensor)
{
	struct building r = *b;

	if (reader->input != tensor || reader->second == tensor)
		return false;
	r.step = reader;
	r.input = &b->program->tensors[reader->input];
	r.second = reader->second == FW_NN_NONE ? NULL : &b->program->tensors[reader->second];
	r.output = &b->program->tensors[reader->output];
	switch (reader->kind) {
	case FW_NN_STEP_CONV: return depthwise_kernel(&r) != FW_NN_N_KERNELS;
	case FW_NN_STEP_MAX_POOL:
	case FW_NN_STEP_AVERAGE_POOL:
	case FW_NN_STEP_GLOBAL_AVERAGE:
	case FW_NN_STEP_ELEMENTWISE: return true;
	default: return false;
	}
}

/* Whether the step's output is read by nothing that would miss its upper clip. */
static bool can_defer_clip(const struct building *b)
{
	const uint32_t tensor = b->step->output;
	const struct fw_nn_plan *plan = b->plan;

	if (tensor == plan->output)
		return false;
	for (uint32_t i = 0; i < plan->n_tensors; i++)
		if (i != tensor && plan->tensors[i].buffer == plan->tensors[tensor].buffer)
			return false;
	for (uint32_t i = 0; i < plan->n_steps; i++) {
		const struct fw_nn_step *reader = &b->program->steps[i];

		if ((reader->input == tensor || reader->second == tensor) &&
		    !clips_input(b, reader, tensor))
			return false;
	}
	return true;
}

/* What cuDNN and cuBLASLt fuse: nothing, or max(x, 0); the upper clip of relu6 falls to the readers. */
static bool fuses(const struct building *b, bool *relu)
{
	const struct fw_nn_act *act = &b->step->act;

	*relu = act->kind == FW_NN_ACT_CLAMP && act->low == 0;
	if (act->kind == FW_NN_ACT_NONE)
		return true;
	return *relu && (isinf(act->high) || can_defer_clip(b));
}

static struct fw_nn_problem problem_of(const struct building *b, bool relu)
{
	const struct fw_nn_tensor *in = b->input, *out = b->output;
	const struct fw_nn_step *step = b->step;
	struct fw_nn_problem p = {
		.precision = b->plan->precision,
		.n = in->n,
		.h = in->h,
		.w = in->w,
		.c = step->kind == FW_NN_STEP_CONV ? in->padded_c : in->c,
		.x_step = in->pixel_stride,
		.out_h = out->h,
		.out_w = out->w,
		.k = step->weight.k,
		.y_step = out->pixel_stride,
		.z_step = b->second ? b->second->pixel_stride : 0,
		.window = step->window,
		.relu = relu,
	};

	if (step->kind == FW_NN_STEP_CONV)
		return p;
	/* A product after Flatten is a convolution whose window is the whole image. */
	p.window = (struct fw_nn_window){ .r = step->weight.r,
					  .s = step->weight.s,
					  .stride_y = 1,
					  .stride_x = 1,
					  .dilation_y = 1,
					  .dilation_x = 1,
					  .groups = 1 };
	if (p.window.r * p.window.s > 1 && in->pixel_stride == in->c) {
		p.c = p.x_step = in->c * in->h * in->w;
		p.h = p.w = p.window.r = p.window.s = 1;
	}
	return p;
}

static const char *node_name(const struct building *b)
{
	return b->step->n_nodes ? b->plan->graph->nodes[b->step->nodes[0]].name : "?";
}

static fw_status add_product(const struct building *b, struct fw_error *err)
{
	const enum fw_nn_kernel depthwise = depthwise_kernel(b);
	struct fw_nn_weight bias = b->step->bias;
	struct fw_nn_operation *operation;
	bool relu, fused;
	fw_status status;

	if (depthwise != FW_NN_N_KERNELS)
		return add_depthwise(b, depthwise, err);
	fused = fuses(b, &relu);
	operation = add_operation(b, err);
	if (!operation)
		return FW_ERR_NOMEM;
	operation->problem = problem_of(b, fused && relu);
	operation->at.x = b->input->offset;
	operation->at.y = b->output->offset;
	operation->at.z = b->second ? b->second->offset : FW_NN_NO_OFFSET;
	bias.k = b->step->weight.k;
	status = fw_nn_weights_get(&b->network->weights, &b->step->weight, FW_NN_FORM_ROWS,
				   b->step->kind == FW_NN_STEP_CONV
					   ? operation->problem.c / b->step->window.groups
					   : b->step->weight.c,
				   &operation->at.w, err);
	if (!status)
		status = fw_nn_weights_get(&b->network->weights, &bias, FW_NN_FORM_VECTOR, 1,
					   &operation->at.bias, err);
	if (status || fused)
		return status;
	if (!b->network->unfused[b->step->act.kind].layers++)
		b->network->unfused[b->step->act.kind].node = node_name(b);
	return add_activation(b, &b->step->act, err);
}

static fw_status add_step(const struct building *b, struct fw_error *err)
{
	struct fw_nn_operation *operation;

	switch (b->step->kind) {
	case FW_NN_STEP_CONV:
	case FW_NN_STEP_GEMM: return add_product(b, err);
	case FW_NN_STEP_MAX_POOL: return add_pixelwise(b, FW_NN_KERNEL_MAX_POOL, NULL, err);
	case FW_NN_STEP_AVERAGE_POOL: return add_pixelwise(b, FW_NN_KERNEL_AVERAGE_POOL, NULL, err);
	case FW_NN_STEP_GLOBAL_AVERAGE: return add_global_average(b, err);
	case FW_NN_STEP_ELEMENTWISE: return add_elementwise(b, err);
	case FW_NN_STEP_SOFTMAX: return add_rowwise(b, FW_NN_KERNEL_SOFTMAX, &operation, err);
	case FW_NN_STEP_LAYER_NORM: return add_layer_norm(b, err);
	case FW_NN_STEP_COPY: return add_copy(b, err);
	case FW_NN_STEP_ATTENTION: return add_attention(b, err);
	case FW_NN_STEP_TOKENS: return add_tokens(b, err);
	}
	return fw_fail(err, FW_ERR_UNSUPPORTED, "the cudnn engine cannot run a step of kind '%s'",
		       fw_nn_step_name(b->step->kind));
}

/* Readers of a tensor whose upper clip was left to them. */
static void pass_clips_on(const struct building *b)
{
	struct fw_nn_operation *operations = b->program->operations.data;
	bool relu;

	if ((b->step->kind != FW_NN_STEP_CONV && b->step->kind != FW_NN_STEP_GEMM) ||
	    depthwise_kernel(b) != FW_NN_N_KERNELS || !fuses(b, &relu) || !relu ||
	    isinf(b->step->act.high))
		return;
	for (size_t i = 0; i < b->program->operations.len; i++)
		if (operations[i].is_kernel &&
		    b->program->steps[operations[i].step].input == b->step->output)
			operations[i].launch.args.input_high = b->step->act.high;
}

static void look_at(struct building *b, uint32_t index)
{
	b->index = index;
	b->step = &b->program->steps[index];
	b->input = &b->program->tensors[b->step->input];
	b->second = b->step->second == FW_NN_NONE ? NULL : &b->program->tensors[b->step->second];
	b->output = &b->program->tensors[b->step->output];
}

fw_status fw_nn_program_build(struct fw_nn_gpu_network *network, struct fw_nn_program *program,
			      struct fw_error *err)
{
	struct building b = { .network = network, .program = program, .plan = program->plan };
	fw_status status = fw_nn_program_place(program, err);

	for (uint32_t i = 0; !status && i < b.plan->n_steps; i++) {
		look_at(&b, i);
		status = add_step(&b, err);
		if (status)
			fw_error_prefix(err, "node '%s'", node_name(&b));
	}
	for (uint32_t i = 0; !status && i < b.plan->n_steps; i++) {
		look_at(&b, i);
		pass_clips_on(&b);
	}
	if (!status)
		fw_nn_program_schedule(program);
	return status;
}
