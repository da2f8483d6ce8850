/* The two steps of transformers: attention as three primitives, and tokens with their positions. */
#include "nn/onednn_program.h"

/* A part of the step's operands as n x heads matrices. */
static fw_status part(struct fw_onednn_builder *b, const struct fw_nn_tensor *t, int64_t first,
		      bool transposed, struct fw_onednn_arg *arg)
{
	int64_t width = b->plan->tensors[b->step->output].c / b->step->heads;
	int64_t tokens = t->h * t->w, row = transposed ? 1 : t->pixel_stride;
	const dnnl_dims_t dims = { t->n, b->step->heads, transposed ? width : tokens,
				   transposed ? tokens : width };
	const dnnl_dims_t strides = { tokens * t->pixel_stride, width, row,
				      transposed ? t->pixel_stride : 1 };
	size_t size = b->type == dnnl_f32 ? 4 : 2;

	*arg = (struct fw_onednn_arg){
		.place = FW_ONEDNN_ARENA,
		.offset = t->offset + (uint64_t)first * size,
	};
	return fw_onednn_check(
		b, dnnl_memory_desc_init_by_strides(&arg->md, 4, dims, b->type, strides),
		"attention");
}

static fw_status product(struct fw_onednn_builder *b, float scale,
			 const struct fw_onednn_arg operands[3])
{
	const struct fw_onednn_fused fused = { .scale = scale };
	struct fw_onednn_arg args[3] = { operands[0], operands[1], operands[2] };
	dnnl_matmul_desc_t operation;
	fw_status status;

	status = fw_onednn_check(
		b, dnnl_matmul_desc_init(&operation, &args[0].md, &args[1].md, NULL, &args[2].md),
		"attention");
	args[0].arg = DNNL_ARG_SRC;
	args[1].arg = DNNL_ARG_WEIGHTS;
	args[2].arg = DNNL_ARG_DST;
	return status ? status : fw_onednn_add_operation(b, &operation, &fused, args, 3);
}

static fw_status softmax_scores(struct fw_onednn_builder *b, const struct fw_onednn_arg *scores)
{
	const struct fw_onednn_fused none = { 0 };
	struct fw_onednn_arg args[2] = { *scores, *scores };
	dnnl_softmax_desc_t operation;
	fw_status status;

	status = fw_onednn_check(
		b,
		dnnl_softmax_forward_desc_init(&operation, dnnl_forward_inference, &scores->md, 3),
		"softmax");
	args[0].arg = DNNL_ARG_SRC;
	args[1].arg = DNNL_ARG_DST;
	return status ? status : fw_onednn_add_operation(b, &operation, &none, args, 2);
}

fw_status fw_onednn_attention(struct fw_onednn_builder *b)
{
	const struct fw_nn_tensor *in = &b->plan->tensors[b->step->input];
	const struct fw_nn_tensor *out = &b->plan->tensors[b->step->output];
	int64_t tokens = in->h * in->w;
	const dnnl_dims_t dims = { in->n, b->step->heads, tokens, tokens };
	struct fw_onednn_arg q, k, v, scores, result;
	dnnl_memory_desc_t md;
	fw_status status;

	if ((status = part(b, in, 0, false, &q)) || (status = part(b, in, out->c, true, &k)) ||
	    (status = part(b, in, 2 * out->c, false, &v)) ||
	    (status = part(b, out, 0, false, &result)))
		return status;
	status = fw_onednn_check(b, dnnl_memory_desc_init_by_tag(&md, 4, dims, b->type, dnnl_abcd),
				 "attention");
	if (status)
		return status;
	scores = fw_onednn_workspace(b, &md);
	if ((status = product(b, b->step->scale, (struct fw_onednn_arg[]){ q, k, scores })) ||
	    (status = softmax_scores(b, &scores)))
		return status;
	return product(b, 0, (struct fw_onednn_arg[]){ scores, v, result });
}

/* Rows first .. first + n of the step's weight. */
static fw_status weight_rows(struct fw_onednn_builder *b, int64_t first, int64_t n,
			     struct fw_onednn_arg *arg)
{
	int64_t c = b->plan->tensors[b->step->output].c;
	const dnnl_dims_t dims = { 1, n, c };

	*arg = (struct fw_onednn_arg){
		.place = FW_ONEDNN_CONSTANT,
		.constant = b->step->weight.data + first * c,
	};
	return fw_onednn_check(
		b, dnnl_memory_desc_init_by_tag(&arg->md, 3, dims, dnnl_f32, dnnl_abc), "tokens");
}

/* n tokens of a sample, from token `first` on. */
static fw_status tokens(struct fw_onednn_builder *b, const struct fw_nn_tensor *t,
			const int64_t place[3], struct fw_onednn_arg *arg)
{
	int64_t sample = place[0], first = place[1], n = place[2];
	const dnnl_dims_t dims = { 1, n, t->c };
	const dnnl_dims_t strides = { n * t->pixel_stride, t->pixel_stride, 1 };
	size_t size = b->type == dnnl_f32 ? 4 : 2;

	*arg = (struct fw_onednn_arg){
		.place = FW_ONEDNN_ARENA,
		.offset = t->offset +
			  (uint64_t)((sample * t->h * t->w + first) * t->pixel_stride) * size,
	};
	return fw_onednn_check(
		b, dnnl_memory_desc_init_by_strides(&arg->md, 3, dims, b->type, strides), "tokens");
}

static fw_status add_positions(struct fw_onednn_builder *b, const struct fw_onednn_arg *input,
			       const struct fw_onednn_arg *weight,
			       const struct fw_onednn_arg *output)
{
	const struct fw_onednn_fused none = { 0 };
	struct fw_onednn_arg args[3] = { *input, *weight, *output };
	dnnl_binary_desc_t operation;
	fw_status status;

	status = fw_onednn_check(b,
				 dnnl_binary_desc_init(&operation, dnnl_binary_add, &input->md,
						       &weight->md, &output->md),
				 "tokens");
	args[0].arg = DNNL_ARG_SRC_0;
	args[1].arg = DNNL_ARG_SRC_1;
	args[2].arg = DNNL_ARG_DST;
	return status ? status : fw_onednn_add_operation(b, &operation, &none, args, 3);
}

/* A call a sample: over several, whose results lie apart, oneDNN adds with its slow reference code. */
fw_status fw_onednn_tokens(struct fw_onednn_builder *b)
{
	const struct fw_nn_tensor *in = &b->plan->tensors[b->step->input];
	const struct fw_nn_tensor *out = &b->plan->tensors[b->step->output];
	int64_t lead = out->h - in->h;
	struct fw_onednn_arg input, weight, output;
	fw_status status = FW_OK;

	for (int64_t i = 0; lead > 0 && i < out->n; i++)
		if ((status = weight_rows(b, 0, lead, &weight)) ||
		    (status = tokens(b, out, (int64_t[]){ i, 0, lead }, &output)) ||
		    (status = fw_onednn_copy(b, &weight, &output)))
			return status;
	for (int64_t i = 0; i < out->n && !status; i++)
		if (!(status = tokens(b, in, (int64_t[]){ i, 0, in->h }, &input)) &&
		    !(status = weight_rows(b, lead, in->h, &weight)) &&
		    !(status = tokens(b, out, (int64_t[]){ i, lead, in->h }, &output)))
			status = add_positions(b, &input, &weight, &output);
	return status;
}
