/* A plan becomes a list of oneDNN primitives with their operands. */
#include "nn/onednn_program.h"

#include <string.h>
#include <sys/mman.h>

/* Parts of the workspace: as the plan's buffers. */
#define ALIGNMENT 256u
/* More than oneDNN needs for one primitive: its code generator takes some 100 KiB a kernel. */
#define HEADROOM ((size_t)16 << 20)

fw_status fw_onednn_check(const struct fw_onednn_builder *b, dnnl_status_t status, const char *what)
{
	const struct fw_nn_step *step = b->step;
	const char *node = "the plan";

	if (status == dnnl_success)
		return FW_OK;
	if (step && step->n_nodes)
		node = b->plan->graph->nodes[step->nodes[0]].name;
	if (status == dnnl_out_of_memory)
		return fw_fail(b->err, FW_ERR_NOMEM, "oneDNN ran out of memory at %s of '%.64s'",
			       what, node);
	if (status == dnnl_unimplemented)
		return fw_fail(b->err, FW_ERR_UNSUPPORTED,
			       "oneDNN %d.%d has no %s as '%.64s' needs it", DNNL_VERSION_MAJOR,
			       DNNL_VERSION_MINOR, what, node);
	return fw_fail(b->err, FW_ERR_INTERNAL, "oneDNN refused %s of '%.64s': status %d", what,
		       node, (int)status);
}

struct fw_onednn_arg fw_onednn_workspace(struct fw_onednn_builder *b, const dnnl_memory_desc_t *md)
{
	struct fw_onednn_arg arg = { .place = FW_ONEDNN_WORKSPACE, .offset = b->workspace };
	uint64_t *most = &b->network->bytes[FW_ONEDNN_WORKSPACE];

	arg.md = *md;
	b->workspace += (dnnl_memory_desc_get_size(md) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (b->workspace > *most)
		*most = b->workspace;
	return arg;
}

static fw_status strided(struct fw_onednn_builder *b, const struct fw_nn_tensor *t,
			 int64_t pixel_stride, dnnl_memory_desc_t *md)
{
	const dnnl_dims_t dims = { t->n, t->c, t->h, t->w };
	const dnnl_dims_t strides = { t->h * t->w * pixel_stride, 1, t->w * pixel_stride,
				      pixel_stride };

	return fw_onednn_check(b, dnnl_memory_desc_init_by_strides(md, 4, dims, b->type, strides),
			       "a tensor");
}

fw_status fw_onednn_map(struct fw_onednn_builder *b, uint32_t tensor, struct fw_onednn_arg *arg)
{
	const struct fw_nn_tensor *t = &b->plan->tensors[tensor];

	*arg = (struct fw_onednn_arg){ .place = FW_ONEDNN_ARENA, .offset = t->offset };
	return strided(b, t, t->pixel_stride, &arg->md);
}

fw_status fw_onednn_rows(struct fw_onednn_builder *b, uint32_t tensor, struct fw_onednn_arg *arg)
{
	const struct fw_nn_tensor *t = &b->plan->tensors[tensor];
	const dnnl_dims_t dims = { t->n * t->h * t->w, t->c };
	const dnnl_dims_t strides = { t->pixel_stride, 1 };

	*arg = (struct fw_onednn_arg){ .place = FW_ONEDNN_ARENA, .offset = t->offset };
	return fw_onednn_check(
		b, dnnl_memory_desc_init_by_strides(&arg->md, 2, dims, b->type, strides),
		"a tensor");
}

/* The strides of a single pixel mean nothing. */
static bool is_dense(const struct fw_nn_tensor *t)
{
	return t->pixel_stride == t->c || t->n * t->h * t->w == 1;
}

fw_status fw_onednn_dense_input(struct fw_onednn_builder *b, uint32_t tensor,
				struct fw_onednn_arg *arg)
{
	const struct fw_nn_tensor *t = &b->plan->tensors[tensor];
	struct fw_onednn_arg from;
	fw_status status = fw_onednn_map(b, tensor, &from);

	*arg = from;
	if (!status)
		status = strided(b, t, t->c, &arg->md);
	if (status || is_dense(t))
		return status;
	*arg = fw_onednn_workspace(b, &arg->md);
	return fw_onednn_copy(b, &from, arg);
}

fw_status fw_onednn_dense_output_begin(struct fw_onednn_builder *b, struct fw_onednn_arg *arg)
{
	const struct fw_nn_tensor *t = &b->plan->tensors[b->step->output];
	fw_status status;

	*arg = (struct fw_onednn_arg){ .place = FW_ONEDNN_ARENA, .offset = t->offset };
	status = strided(b, t, t->c, &arg->md);
	if (!status && !is_dense(t))
		*arg = fw_onednn_workspace(b, &arg->md);
	return status;
}

fw_status fw_onednn_dense_output_end(struct fw_onednn_builder *b, const struct fw_onednn_arg *arg)
{
	struct fw_onednn_arg from = *arg, to;
	fw_status status;

	if (arg->place == FW_ONEDNN_ARENA)
		return FW_OK;
	status = fw_onednn_map(b, b->step->output, &to);
	if (!status)
		status = strided(b, &b->plan->tensors[b->step->output],
				 b->plan->tensors[b->step->output].c, &from.md);
	return status ? status : fw_onednn_copy(b, &from, &to);
}

fw_status fw_onednn_as_rows(struct fw_onednn_builder *b, struct fw_onednn_arg *arg)
{
	const dnnl_dim_t *d = arg->md.dims;
	const dnnl_dims_t dims = { d[0] * d[2] * d[3], d[1] };

	return fw_onednn_check(
		b, dnnl_memory_desc_init_by_tag(&arg->md, 2, dims, arg->md.data_type, dnnl_ab),
		"a tensor");
}

/* What a user should know: the reference code is some hundred times slower. */
static void warn_of_reference_code(struct fw_onednn_builder *b, dnnl_primitive_desc_t description)
{
	const struct fw_nn_engine_options *options = &b->network->engine->options;
	const char *name = NULL;
	char text[256];

	if (!options->say ||
	    dnnl_primitive_desc_query(description, dnnl_query_impl_info_str, 0, &name) ||
	    strncmp(name, "ref", 3))
		return;
	snprintf(text, sizeof(text), "oneDNN has only slow reference code for the %s of '%.64s'",
		 fw_nn_step_name(b->step->kind),
		 b->step->n_nodes ? b->plan->graph->nodes[b->step->nodes[0]].name : "");
	options->say(options->user, text);
}

static void add_scratchpad(struct fw_onednn_builder *b, dnnl_primitive_desc_t description,
			   struct fw_onednn_call *call)
{
	const dnnl_memory_desc_t *md =
		dnnl_primitive_desc_query_md(description, dnnl_query_scratchpad_md, 0);
	uint64_t size = md ? dnnl_memory_desc_get_size(md) : 0;
	uint64_t *most = &b->network->bytes[FW_ONEDNN_SCRATCHPAD];

	if (!size)
		return;
	call->args[call->n_args++] = (struct fw_onednn_arg){
		.arg = DNNL_ARG_SCRATCHPAD,
		.place = FW_ONEDNN_SCRATCHPAD,
		.md = *md,
	};
	if (size > *most)
		*most = size;
}

/* oneDNN 2.6 crashes where memory runs out while it makes a primitive, so that is asked for before. */
static fw_status check_headroom(const struct fw_onednn_builder *b)
{
	void *memory =
		mmap(NULL, HEADROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return fw_fail_nomem(b->err, HEADROOM);
	munmap(memory, HEADROOM);
	return FW_OK;
}

fw_status fw_onednn_add(struct fw_onednn_builder *b, dnnl_primitive_desc_t description,
			const struct fw_onednn_arg *args, uint32_t n_args)
{
	struct fw_onednn_call *call = fw_vec_push(&b->program->calls);
	fw_status status = FW_OK;

	if (!call || n_args >= FW_ONEDNN_MAX_ARGS) {
		status = fw_fail_nomem(b->err, sizeof(*call));
		goto out;
	}
	call->step = b->step_number;
	call->n_args = n_args;
	memcpy(call->args, args, n_args * sizeof(*args));
	add_scratchpad(b, description, call);
	warn_of_reference_code(b, description);
	status = check_headroom(b);
	if (status)
		goto out;
	status = fw_onednn_check(b, dnnl_primitive_create(&call->primitive, description),
				 "a primitive");
out:
	dnnl_primitive_desc_destroy(description);
	return status;
}

fw_status fw_onednn_add_operation(struct fw_onednn_builder *b, const_dnnl_op_desc_t operation,
				  const struct fw_onednn_fused *fused,
				  const struct fw_onednn_arg *args, uint32_t n_args)
{
	dnnl_primitive_desc_t description;
	fw_status status = fw_onednn_describe(b, operation, fused, &description);

	return status ? status : fw_onednn_add(b, description, args, n_args);
}

fw_status fw_onednn_copy(struct fw_onednn_builder *b, const struct fw_onednn_arg *from,
			 const struct fw_onednn_arg *to)
{
	const struct fw_onednn_fused none = { 0 };
	struct fw_onednn_arg args[2] = { *from, *to };
	dnnl_engine_t cpu = b->network->engine->cpu;
	dnnl_primitive_desc_t description;
	dnnl_primitive_attr_t attr;
	fw_status status = fw_onednn_attr(b, &none, &attr);

	if (status)
		return status;
	status = fw_onednn_check(b,
				 dnnl_reorder_primitive_desc_create(&description, &from->md, cpu,
								    &to->md, cpu, attr),
				 "copy");
	dnnl_primitive_attr_destroy(attr);
	if (status)
		return status;
	args[0].arg = DNNL_ARG_SRC;
	args[1].arg = DNNL_ARG_DST;
	return fw_onednn_add(b, description, args, 2);
}

static fw_status build_step(struct fw_onednn_builder *b)
{
	static fw_status (*const kinds[])(struct fw_onednn_builder *) = {
		[FW_NN_STEP_CONV] = fw_onednn_conv,
		[FW_NN_STEP_GEMM] = fw_onednn_gemm,
		[FW_NN_STEP_MAX_POOL] = fw_onednn_pool,
		[FW_NN_STEP_AVERAGE_POOL] = fw_onednn_pool,
		[FW_NN_STEP_GLOBAL_AVERAGE] = fw_onednn_global_average,
		[FW_NN_STEP_ELEMENTWISE] = fw_onednn_elementwise,
		[FW_NN_STEP_SOFTMAX] = fw_onednn_softmax,
		[FW_NN_STEP_LAYER_NORM] = fw_onednn_layer_norm,
		[FW_NN_STEP_ATTENTION] = fw_onednn_attention,
		[FW_NN_STEP_TOKENS] = fw_onednn_tokens,
		[FW_NN_STEP_COPY] = fw_onednn_copy_step,
	};

	if ((size_t)b->step->kind >= sizeof(kinds) / sizeof(kinds[0]) || !kinds[b->step->kind])
		return fw_fail(b->err, FW_ERR_UNSUPPORTED, "engine 'onednn' has no step '%s'",
			       fw_nn_step_name(b->step->kind));
	b->workspace = 0;
	return kinds[b->step->kind](b);
}

fw_status fw_onednn_build(struct fw_onednn_builder *b)
{
	fw_status status = FW_OK;

	if (b->plan->arena_bytes > b->network->bytes[FW_ONEDNN_ARENA])
		b->network->bytes[FW_ONEDNN_ARENA] = b->plan->arena_bytes;
	for (uint32_t i = 0; i < b->plan->n_steps && !status; i++) {
		b->step = &b->plan->steps[i];
		b->step_number = i;
		status = build_step(b);
	}
	return status;
}

void fw_onednn_program_release(struct fw_onednn_program *program)
{
	struct fw_onednn_call *calls = program->calls.data;

	for (size_t i = 0; i < program->calls.len; i++)
		if (calls[i].primitive)
			dnnl_primitive_destroy(calls[i].primitive);
	fw_vec_release(&program->calls);
}
