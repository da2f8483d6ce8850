/* Shapes of what computes: matrix products, norms, reductions, elementwise operators. */
#include "nn/infer.h"

fw_status fw_nn_infer_same(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			   struct fw_nn_shape *out, struct fw_error *err)
{
	(void)err;
	*out = *fw_nn_input_shape(in, node, 0);
	return FW_OK;
}

fw_status fw_nn_infer_broadcast(const struct fw_nn_inference *in, const struct fw_nn_node *node,
				struct fw_nn_shape *out, struct fw_error *err)
{
	const struct fw_nn_shape *a = fw_nn_input_shape(in, node, 0);
	const struct fw_nn_shape *b = fw_nn_input_shape(in, node, 1);

	if (fw_nn_broadcast(a, b, out))
		return FW_OK;
	return fw_nn_infer_fail(node, err, "shapes of %u and %u dimensions do not go together",
				a->rank, b->rank);
}

fw_status fw_nn_infer_where(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			    struct fw_nn_shape *out, struct fw_error *err)
{
	struct fw_nn_shape values;

	if (fw_nn_broadcast(fw_nn_input_shape(in, node, 1), fw_nn_input_shape(in, node, 2),
			    &values) &&
	    fw_nn_broadcast(fw_nn_input_shape(in, node, 0), &values, out))
		return FW_OK;
	return fw_nn_infer_fail(node, err, "shapes of its three inputs do not go together");
}

fw_status fw_nn_infer_clip(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			   struct fw_nn_shape *out, struct fw_error *err)
{
	for (uint32_t i = 1; i < 3; i++) {
		const struct fw_nn_value *bound =
			fw_nn_has_input(node, i) ? &in->graph->values[node->inputs[i]] : NULL;

		if (bound && fw_nn_elements(&in->shapes[node->inputs[i]]) != 1)
			return fw_nn_infer_fail(node, err, "its bound %s is no single number",
						bound->name);
	}
	*out = *fw_nn_input_shape(in, node, 0);
	return FW_OK;
}

fw_status fw_nn_infer_dropout(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			      struct fw_nn_shape *out, struct fw_error *err)
{
	const struct fw_nn_value *training =
		fw_nn_has_input(node, 2) ? &in->graph->values[node->inputs[2]] : NULL;

	if (training && (!training->data || training->bytes != 1 || *(const char *)training->data))
		return fw_nn_infer_fail(node, err, "training_mode; supported: inference only");
	for (uint32_t i = 0; i < node->n_outputs; i++)
		out[i] = *fw_nn_input_shape(in, node, 0);
	return FW_OK;
}

fw_status fw_nn_infer_batch_norm(const struct fw_nn_inference *in, const struct fw_nn_node *node,
				 struct fw_nn_shape *out, struct fw_error *err)
{
	*out = *fw_nn_input_shape(in, node, 0);
	if (fw_nn_attr_int(node, "training_mode", 0))
		return fw_nn_infer_fail(node, err, "training_mode; supported: inference only");
	for (uint32_t i = 1; i < 5; i++) {
		const struct fw_nn_shape *row = fw_nn_input_shape(in, node, i);

		if (out->rank < 2 || row->rank != 1 || row->dims[0] != out->dims[1])
			return fw_nn_infer_fail(node, err,
						"its input %u is not one number a channel", i);
	}
	return FW_OK;
}

fw_status fw_nn_infer_layer_norm(const struct fw_nn_inference *in, const struct fw_nn_node *node,
				 struct fw_nn_shape *out, struct fw_error *err)
{
	uint32_t axis;

	*out = *fw_nn_input_shape(in, node, 0);
	if (!fw_nn_axis(fw_nn_attr_int(node, "axis", -1), out->rank, &axis))
		return fw_nn_infer_fail(node, err, "axis %lld of %u dimensions",
					(long long)fw_nn_attr_int(node, "axis", -1), out->rank);
	for (uint32_t i = 1; i < 3 && fw_nn_has_input(node, i); i++) {
		const struct fw_nn_shape *row = fw_nn_input_shape(in, node, i);

		if (row->rank != out->rank - axis)
			return fw_nn_infer_fail(node, err, "its input %u has %u dimensions, not %u",
						i, row->rank, out->rank - axis);
		for (uint32_t d = 0; d < row->rank; d++)
			if (row->dims[d] != out->dims[axis + d])
				return fw_nn_infer_fail(node, err, "its input %u does not fit", i);
	}
	return FW_OK;
}

fw_status fw_nn_infer_softmax(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			      struct fw_nn_shape *out, struct fw_error *err)
{
	bool is_old = in->graph->opset < 13;
	int64_t wanted = fw_nn_attr_int(node, "axis", is_old ? 1 : -1), behind = 1;
	uint32_t axis;

	*out = *fw_nn_input_shape(in, node, 0);
	if (!fw_nn_axis(wanted, out->rank, &axis))
		return fw_nn_infer_fail(node, err, "axis %lld of %u dimensions", (long long)wanted,
					out->rank);
	for (uint32_t i = axis + 1; i < out->rank; i++)
		behind *= out->dims[i];
	/* Before opset 13 it normalised over all the axes from `axis` on together. */
	if (is_old && behind != 1)
		return fw_nn_infer_fail(node, err,
					"before opset 13 over several axes; supported: the last");
	return FW_OK;
}

fw_status fw_nn_infer_reduce(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			     struct fw_nn_shape *out, struct fw_error *err)
{
	const struct fw_nn_shape *x = fw_nn_input_shape(in, node, 0);
	bool keeps = fw_nn_attr_int(node, "keepdims", 1) != 0, is_axis[FW_NN_MAX_RANK];
	struct fw_nn_ints axes;
	fw_status status = fw_nn_list(in, node, "axes", 1, &axes, err);

	if (!status)
		status = fw_nn_axes(node, &axes, x->rank, is_axis, err);
	if (status)
		return status;
	out->rank = 0;
	for (uint32_t i = 0; i < x->rank; i++) {
		bool reduces =
			axes.n ? is_axis[i] : !fw_nn_attr_int(node, "noop_with_empty_axes", 0);

		if (!reduces || keeps)
			out->dims[out->rank++] = reduces ? 1 : x->dims[i];
	}
	return FW_OK;
}

fw_status fw_nn_infer_gemm(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			   struct fw_nn_shape *out, struct fw_error *err)
{
	const struct fw_nn_shape *a = fw_nn_input_shape(in, node, 0);
	const struct fw_nn_shape *b = fw_nn_input_shape(in, node, 1);
	int ta = fw_nn_attr_int(node, "transA", 0) != 0,
	    tb = fw_nn_attr_int(node, "transB", 0) != 0;
	struct fw_nn_shape both;

	if (a->rank != 2 || b->rank != 2 || a->dims[!ta] != b->dims[tb])
		return fw_nn_infer_fail(
			node, err, "%lld x %lld times %lld x %lld (ranks %u and %u)",
			(long long)a->dims[ta], (long long)a->dims[!ta], (long long)b->dims[tb],
			(long long)b->dims[!tb], a->rank, b->rank);
	*out = (struct fw_nn_shape){ 2, { a->dims[ta], b->dims[!tb] } };
	if (!fw_nn_has_input(node, 2))
		return FW_OK;
	if (!fw_nn_broadcast(out, fw_nn_input_shape(in, node, 2), &both) || both.rank != 2 ||
	    both.dims[0] != out->dims[0] || both.dims[1] != out->dims[1])
		return fw_nn_infer_fail(node, err, "its third operand does not go with %lld x %lld",
					(long long)out->dims[0], (long long)out->dims[1]);
	return FW_OK;
}

/* A vector is a row on the left and a column on the right; all axes before the last two broadcast. */
fw_status fw_nn_infer_matmul(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			     struct fw_nn_shape *out, struct fw_error *err)
{
	struct fw_nn_shape a = *fw_nn_input_shape(in, node, 0), b = *fw_nn_input_shape(in, node, 1);
	bool is_row = a.rank == 1, is_column = b.rank == 1;
	int64_t m, n;

	if (is_row)
		a = (struct fw_nn_shape){ 2, { 1, a.dims[0] } };
	if (is_column)
		b = (struct fw_nn_shape){ 2, { b.dims[0], 1 } };
	if (a.rank < 2 || b.rank < 2 || a.dims[a.rank - 1] != b.dims[b.rank - 2])
		return fw_nn_infer_fail(node, err, "its operands have %lld columns and %lld rows",
					(long long)(a.rank ? a.dims[a.rank - 1] : 0),
					(long long)(b.rank > 1 ? b.dims[b.rank - 2] : 0));
	m = a.dims[a.rank - 2];
	n = b.dims[b.rank - 1];
	a.rank -= 2;
	b.rank -= 2;
	if (!fw_nn_broadcast(&a, &b, out))
		return fw_nn_infer_fail(node, err, "its operands' batches do not go together");
	if (!is_row)
		out->dims[out->rank++] = m;
	if (!is_column)
		out->dims[out->rank++] = n;
	return FW_OK;
}
