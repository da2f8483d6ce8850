/* Steps with weights: convolutions and products, with bias, residual and activation fused. */
#include "nn/onednn_program.h"

#include <string.h>

/* A step with its operands; the weight's layout is the primitive's choice. */
struct product {
	struct fw_onednn_arg input, output, weight, bias;
	dnnl_memory_desc_t plain;  /* the weight as it lies in the graph */
	dnnl_memory_desc_t chosen; /* with format `any` */
	bool has_bias;
};

/* The residual where the primitive adds to it: in its output. */
static fw_status bring_residual(struct fw_onednn_builder *b, const struct fw_onednn_arg *output)
{
	const struct fw_nn_tensor *to = &b->plan->tensors[b->step->output];
	struct fw_onednn_arg from;
	fw_status status = fw_onednn_map(b, b->step->second, &from);

	if (status || (from.offset == output->offset && from.place == output->place &&
		       b->plan->tensors[b->step->second].pixel_stride == to->pixel_stride))
		return status;
	return fw_onednn_copy(b, &from, output);
}

static fw_status begin(struct fw_onednn_builder *b, struct product *p)
{
	const struct fw_nn_step *step = b->step;
	fw_status status = fw_onednn_dense_input(b, step->input, &p->input);

	if (!status)
		status = fw_onednn_dense_output_begin(b, &p->output);
	if (!status && step->second != FW_NN_NONE)
		status = bring_residual(b, &p->output);
	p->has_bias = step->bias.data != NULL;
	if (!status && p->has_bias)
		status = fw_onednn_vector(b, DNNL_ARG_BIAS, &step->bias, &p->bias);
	p->input.arg = DNNL_ARG_SRC;
	p->output.arg = DNNL_ARG_DST;
	return status;
}

/* The primitive for an operation's description, with its weight packed. */
static fw_status finish(struct fw_onednn_builder *b, const_dnnl_op_desc_t operation,
			struct product *p)
{
	const struct fw_nn_step *step = b->step;
	const struct fw_onednn_fused fused = {
		.has_sum = step->second != FW_NN_NONE,
		.act = &step->act,
	};
	struct fw_onednn_arg args[4];
	dnnl_primitive_desc_t description;
	fw_status status = fw_onednn_describe(b, operation, &fused, &description);

	if (status)
		return status;
	p->weight = (struct fw_onednn_arg){ .arg = DNNL_ARG_WEIGHTS, .place = FW_ONEDNN_CONSTANT };
	p->weight.md = *dnnl_primitive_desc_query_md(description, dnnl_query_weights_md, 0);
	status = fw_onednn_pack(b, &step->weight, &p->plain, &p->weight.md, &p->weight.constant);
	if (status) {
		dnnl_primitive_desc_destroy(description);
		return status;
	}
	args[0] = p->input;
	args[1] = p->output;
	args[2] = p->weight;
	args[3] = p->bias;
	return fw_onednn_add(b, description, args, p->has_bias ? 4 : 3);
}

static dnnl_status_t filter(const struct fw_onednn_builder *b, struct product *p)
{
	const struct fw_nn_weight *w = &b->step->weight;
	int64_t groups = b->step->window.groups;
	const dnnl_dims_t dims = { w->k, w->c, w->r, w->s };
	const dnnl_dims_t grouped = { groups, w->k / groups, w->c, w->r, w->s };
	dnnl_status_t status;

	if (groups > 1) {
		status = dnnl_memory_desc_init_by_tag(&p->plain, 5, grouped, dnnl_f32, dnnl_abcde);
		return status ? status
			      : dnnl_memory_desc_init_by_tag(&p->chosen, 5, grouped, b->type,
							     dnnl_format_tag_any);
	}
	status = dnnl_memory_desc_init_by_tag(&p->plain, 4, dims, dnnl_f32, dnnl_abcd);
	return status ? status
		      : dnnl_memory_desc_init_by_tag(&p->chosen, 4, dims, b->type,
						     dnnl_format_tag_any);
}

fw_status fw_onednn_conv(struct fw_onednn_builder *b)
{
	const struct fw_nn_window *window = &b->step->window;
	const dnnl_dims_t strides = { window->stride_y, window->stride_x };
	/* oneDNN counts the gaps. */
	const dnnl_dims_t gaps = { window->dilation_y - 1, window->dilation_x - 1 };
	const dnnl_dims_t before = { window->pad_top, window->pad_left };
	const dnnl_dims_t after = { window->pad_bottom, window->pad_right };
	dnnl_convolution_desc_t operation;
	struct product p;
	fw_status status;

	memset(&p, 0, sizeof(p));
	status = begin(b, &p);
	if (!status)
		status = fw_onednn_check(b, filter(b, &p), "a filter");
	if (status)
		return status;
	status =
		fw_onednn_check(b,
				dnnl_dilated_convolution_forward_desc_init(
					&operation, dnnl_forward_inference, dnnl_convolution_direct,
					&p.input.md, &p.chosen, p.has_bias ? &p.bias.md : NULL,
					&p.output.md, strides, gaps, before, after),
				"convolution");
	if (!status)
		status = finish(b, &operation, &p);
	return status ? status : fw_onednn_dense_output_end(b, &p.output);
}

/* Of a flattened map, the weight's columns are c, r, s in the graph, whatever the input's order is. */
static dnnl_status_t matrix(const struct fw_onednn_builder *b, struct product *p)
{
	const struct fw_nn_weight *w = &b->step->weight;
	int64_t area = w->r * w->s, columns = area * w->c;
	int64_t row = w->transposed ? 1 : columns, column = w->transposed ? w->k : 1;
	const dnnl_dims_t dims = { w->k, w->c, w->r, w->s };
	const dnnl_dims_t strides = { row, area * column, w->s * column, column };
	int rank = area > 1 ? 4 : 2;
	dnnl_status_t status;

	status = dnnl_memory_desc_init_by_strides(&p->plain, rank, dims, dnnl_f32, strides);
	return status ? status
		      : dnnl_memory_desc_init_by_tag(&p->chosen, rank, dims, b->type,
						     dnnl_format_tag_any);
}

/* A flattened map stays one; all else is rows. */
static fw_status shape_rows(struct fw_onednn_builder *b, struct product *p)
{
	const struct fw_nn_tensor *t = &b->plan->tensors[b->step->input];
	const struct fw_nn_weight *w = &b->step->weight;
	dnnl_dims_t dims = { t->n, w->c, w->r, w->s };
	fw_status status = fw_onednn_as_rows(b, &p->output);

	if (status)
		return status;
	if (w->r * w->s == 1)
		return fw_onednn_as_rows(b, &p->input);
	return fw_onednn_check(
		b, dnnl_memory_desc_init_by_tag(&p->input.md, 4, dims, b->type, dnnl_nhwc),
		"a flattened map");
}

fw_status fw_onednn_gemm(struct fw_onednn_builder *b)
{
	dnnl_inner_product_desc_t operation;
	struct product p;
	fw_status status;

	memset(&p, 0, sizeof(p));
	status = begin(b, &p);
	if (!status)
		status = shape_rows(b, &p);
	if (!status)
		status = fw_onednn_check(b, matrix(b, &p), "a matrix");
	if (status)
		return status;
	status = fw_onednn_check(b,
				 dnnl_inner_product_forward_desc_init(
					 &operation, dnnl_forward_inference, &p.input.md, &p.chosen,
					 p.has_bias ? &p.bias.md : NULL, &p.output.md),
				 "product");
	if (!status)
		status = finish(b, &operation, &p);
	return status ? status : fw_onednn_dense_output_end(b, &p.output);
}
