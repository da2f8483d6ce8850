/* Steps without weights: pools, means, element by element, softmax, normalisation, copies. */
#include "nn/onednn_program.h"

/* An operation with one source and one destination. */
static fw_status add_unary(struct fw_onednn_builder *b, const_dnnl_op_desc_t operation,
			   const struct fw_onednn_arg *input, const struct fw_onednn_arg *output)
{
	const struct fw_onednn_fused fused = { .act = &b->step->act };
	struct fw_onednn_arg args[2] = { *input, *output };

	args[0].arg = DNNL_ARG_SRC;
	args[1].arg = DNNL_ARG_DST;
	return fw_onednn_add_operation(b, operation, &fused, args, 2);
}

static fw_status begin(struct fw_onednn_builder *b, struct fw_onednn_arg *input,
		       struct fw_onednn_arg *output)
{
	fw_status status = fw_onednn_dense_input(b, b->step->input, input);

	return status ? status : fw_onednn_dense_output_begin(b, output);
}

static fw_status pool(struct fw_onednn_builder *b, dnnl_alg_kind_t kind,
		      const struct fw_nn_window *window)
{
	const dnnl_dims_t strides = { window->stride_y, window->stride_x };
	const dnnl_dims_t size = { window->r, window->s };
	const dnnl_dims_t gaps = { window->dilation_y - 1, window->dilation_x - 1 };
	const dnnl_dims_t before = { window->pad_top, window->pad_left };
	const dnnl_dims_t after = { window->pad_bottom, window->pad_right };
	struct fw_onednn_arg input, output;
	dnnl_pooling_v2_desc_t operation;
	fw_status status = begin(b, &input, &output);

	if (status)
		return status;
	status = fw_onednn_check(b,
				 dnnl_pooling_v2_forward_desc_init(
					 &operation, dnnl_forward_inference, kind, &input.md,
					 &output.md, strides, size, gaps, before, after),
				 fw_nn_step_name(b->step->kind));
	if (!status)
		status = add_unary(b, &operation, &input, &output);
	return status ? status : fw_onednn_dense_output_end(b, &output);
}

fw_status fw_onednn_pool(struct fw_onednn_builder *b)
{
	const struct fw_nn_window *window = &b->step->window;
	dnnl_alg_kind_t average = window->counts_padding ? dnnl_pooling_avg_include_padding
							 : dnnl_pooling_avg_exclude_padding;

	return pool(b, b->step->kind == FW_NN_STEP_MAX_POOL ? dnnl_pooling_max : average, window);
}

fw_status fw_onednn_global_average(struct fw_onednn_builder *b)
{
	const struct fw_nn_tensor *t = &b->plan->tensors[b->step->input];
	const struct fw_nn_window whole = {
		.r = t->h,
		.s = t->w,
		.stride_y = 1,
		.stride_x = 1,
		.dilation_y = 1,
		.dilation_x = 1,
	};

	return pool(b, dnnl_pooling_avg_exclude_padding, &whole);
}

static fw_status add_binary(struct fw_onednn_builder *b, const struct fw_onednn_arg *first,
			    const struct fw_onednn_arg *second, const struct fw_onednn_arg *output)
{
	static const dnnl_alg_kind_t kinds[] = {
		[FW_NN_ELEMENTWISE_ADD] = dnnl_binary_add,
		[FW_NN_ELEMENTWISE_MUL] = dnnl_binary_mul,
		[FW_NN_ELEMENTWISE_SUB] = dnnl_binary_sub,
	};
	const struct fw_onednn_fused fused = { .act = &b->step->act };
	struct fw_onednn_arg args[3] = { *first, *second, *output };
	dnnl_binary_desc_t operation;
	fw_status status;

	status = fw_onednn_check(b,
				 dnnl_binary_desc_init(&operation, kinds[b->step->elementwise],
						       &first->md, &second->md, &output->md),
				 "element by element");
	args[0].arg = DNNL_ARG_SRC_0;
	args[1].arg = DNNL_ARG_SRC_1;
	args[2].arg = DNNL_ARG_DST;
	return status ? status : fw_onednn_add_operation(b, &operation, &fused, args, 3);
}

/* The activation alone; none is a copy. */
static fw_status activate(struct fw_onednn_builder *b, const struct fw_onednn_arg *input,
			  const struct fw_onednn_arg *output)
{
	dnnl_eltwise_desc_t identity;
	fw_status status;

	status = fw_onednn_check(b,
				 dnnl_eltwise_forward_desc_init(&identity, dnnl_forward_inference,
								dnnl_eltwise_linear, &input->md, 1,
								0),
				 "activation");
	return status ? status : add_unary(b, &identity, input, output);
}

fw_status fw_onednn_elementwise(struct fw_onednn_builder *b)
{
	struct fw_onednn_arg input, second, output;
	fw_status status = begin(b, &input, &output);

	if (status)
		return status;
	if (b->step->second == FW_NN_NONE) {
		status = activate(b, &input, &output);
	} else {
		status = fw_onednn_dense_input(b, b->step->second, &second);
		if (!status)
			status = add_binary(b, &input, &second, &output);
	}
	return status ? status : fw_onednn_dense_output_end(b, &output);
}

fw_status fw_onednn_softmax(struct fw_onednn_builder *b)
{
	struct fw_onednn_arg input, output;
	dnnl_softmax_desc_t operation;
	fw_status status = begin(b, &input, &output);

	if (!status)
		status = fw_onednn_as_rows(b, &input);
	if (!status)
		status = fw_onednn_as_rows(b, &output);
	if (status)
		return status;
	status = fw_onednn_check(
		b, dnnl_softmax_forward_desc_init(&operation, dnnl_forward_inference, &input.md, 1),
		"softmax");
	if (!status)
		status = add_unary(b, &operation, &input, &output);
	return status ? status : fw_onednn_dense_output_end(b, &output);
}

static fw_status add_layer_norm(struct fw_onednn_builder *b, const struct fw_onednn_arg *input,
				const struct fw_onednn_arg *output)
{
	const struct fw_nn_step *step = b->step;
	const struct fw_onednn_fused none = { 0 };
	dnnl_layer_normalization_desc_t operation;
	struct fw_onednn_arg args[4] = { *input, *output };
	unsigned flags = 0, n = 2;
	fw_status status = FW_OK;

	args[0].arg = DNNL_ARG_SRC;
	args[1].arg = DNNL_ARG_DST;
	if (step->weight.data) {
		flags |= dnnl_use_scale;
		status = fw_onednn_vector(b, DNNL_ARG_SCALE, &step->weight, &args[n++]);
	}
	if (!status && step->bias.data) {
		flags |= dnnl_use_shift;
		status = fw_onednn_vector(b, DNNL_ARG_SHIFT, &step->bias, &args[n++]);
	}
	if (!status)
		status = fw_onednn_check(b,
					 dnnl_layer_normalization_forward_desc_init(
						 &operation, dnnl_forward_inference, &input->md,
						 NULL, step->epsilon, flags),
					 "layer norm");
	return status ? status : fw_onednn_add_operation(b, &operation, &none, args, n);
}

fw_status fw_onednn_layer_norm(struct fw_onednn_builder *b)
{
	struct fw_onednn_arg input, output;
	fw_status status = begin(b, &input, &output);

	if (!status)
		status = fw_onednn_as_rows(b, &input);
	if (!status)
		status = fw_onednn_as_rows(b, &output);
	if (!status)
		status = add_layer_norm(b, &input, &output);
	return status ? status : fw_onednn_dense_output_end(b, &output);
}

static bool is_same_shape(const struct fw_nn_tensor *a, const struct fw_nn_tensor *b)
{
	return a->n == b->n && a->h == b->h && a->w == b->w && a->c == b->c;
}

/* A map as the pixel-wide row of `row`, or the other way round: the map's dimensions in ONNX's order. */
static dnnl_status_t flat(const struct fw_onednn_builder *b, const struct fw_nn_tensor *map,
			  const struct fw_nn_tensor *row, dnnl_memory_desc_t *md)
{
	const dnnl_dims_t dims = { map->n, map->c, map->h, map->w };
	const dnnl_dims_t strides = { row->pixel_stride, map->h * map->w, map->w, 1 };

	return dnnl_memory_desc_init_by_strides(md, 4, dims, b->type, strides);
}

fw_status fw_onednn_copy_step(struct fw_onednn_builder *b)
{
	const struct fw_nn_tensor *from = &b->plan->tensors[b->step->input];
	const struct fw_nn_tensor *to = &b->plan->tensors[b->step->output];
	struct fw_onednn_arg input, output;
	fw_status status = fw_onednn_map(b, b->step->input, &input);

	if (!status)
		status = fw_onednn_map(b, b->step->output, &output);
	if (status || is_same_shape(from, to))
		return status ? status : fw_onednn_copy(b, &input, &output);
	if (to->h * to->w == 1)
		status = fw_onednn_check(b, flat(b, from, to, &output.md), "copy");
	else if (from->h * from->w == 1)
		status = fw_onednn_check(b, flat(b, to, from, &input.md), "copy");
	else
		return fw_fail(
			b->err, FW_ERR_UNSUPPORTED,
			"engine 'onednn' cannot copy '%.64s' into '%.64s': two shapes of maps",
			from->name, to->name);
	return status ? status : fw_onednn_copy(b, &input, &output);
}
