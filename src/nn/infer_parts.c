/* Shapes of what takes parts of a value: Shape, Gather, Slice, Split. */
#include "nn/infer.h"

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
	return x < low ? low : x > high ? high : x;
}

/* The range [*from, *to) of dimensions that a Shape node gives; opset 15 has start and end. */
fw_status fw_nn_infer_shape(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			    struct fw_nn_shape *out, struct fw_error *err)
{
	int64_t rank = fw_nn_input_shape(in, node, 0)->rank;
	int64_t start = fw_nn_attr_int(node, "start", 0), end = fw_nn_attr_int(node, "end", rank);

	(void)err;
	start = clamp(start < 0 ? clamp(start, -rank, 0) + rank : start, 0, rank);
	end = clamp(end < 0 ? clamp(end, -rank, 0) + rank : end, 0, rank);
	*out = (struct fw_nn_shape){ 1, { end > start ? end - start : 0 } };
	return FW_OK;
}

fw_status fw_nn_infer_gather(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			     struct fw_nn_shape *out, struct fw_error *err)
{
	const struct fw_nn_shape *x = fw_nn_input_shape(in, node, 0);
	const struct fw_nn_shape *indices = fw_nn_input_shape(in, node, 1);
	int64_t wanted = fw_nn_attr_int(node, "axis", 0);
	struct fw_nn_ints list;
	uint32_t axis;
	fw_status status = fw_nn_input_ints(in, node, 1, &list, err);

	if (status)
		return status;
	if (!fw_nn_axis(wanted, x->rank, &axis) || x->rank + indices->rank > FW_NN_MAX_RANK + 1)
		return fw_nn_infer_fail(node, err, "axis %lld of %u dimensions", (long long)wanted,
					x->rank);
	for (uint32_t i = 0; i < list.n; i++)
		if (list.data[i] < -x->dims[axis] || list.data[i] >= x->dims[axis])
			return fw_nn_infer_fail(node, err, "index %lld of %lld elements",
						(long long)list.data[i], (long long)x->dims[axis]);
	out->rank = 0;
	for (uint32_t i = 0; i < axis; i++)
		out->dims[out->rank++] = x->dims[i];
	for (uint32_t i = 0; i < indices->rank; i++)
		out->dims[out->rank++] = indices->dims[i];
	for (uint32_t i = axis + 1; i < x->rank; i++)
		out->dims[out->rank++] = x->dims[i];
	return FW_OK;
}

/* Numpy's slice: negative bounds count from the end, all are clamped. */
static struct fw_nn_cut cut_of(int64_t start, int64_t end, int64_t step, int64_t size)
{
	struct fw_nn_cut cut = { .step = step };
	int64_t span;

	/* Bounds may be INT64_MIN and INT64_MAX: clamped before anything is added. */
	start = clamp(start, -size - 1, size);
	end = clamp(end, -size - 1, size);
	start += start < 0 ? size : 0;
	end += end < 0 ? size : 0;
	cut.start = step > 0 ? clamp(start, 0, size) : clamp(start, -1, size - 1);
	end = step > 0 ? clamp(end, 0, size) : clamp(end, -1, size - 1);
	span = step > 0 ? end - cut.start : cut.start - end;
	step = step > 0 ? step : -step;
	cut.count = span > 0 ? (span - 1) / step + 1 : 0;
	return cut;
}

fw_status fw_nn_slice_cuts(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			   struct fw_nn_cut cuts[FW_NN_MAX_RANK], struct fw_error *err)
{
	const struct fw_nn_shape *x = fw_nn_input_shape(in, node, 0);
	struct fw_nn_ints starts, ends, axes, steps;
	bool is_axis[FW_NN_MAX_RANK];
	fw_status status = fw_nn_list(in, node, "starts", 1, &starts, err);

	if (!status)
		status = fw_nn_list(in, node, "ends", 2, &ends, err);
	if (!status)
		status = fw_nn_list(in, node, "axes", 3, &axes, err);
	if (!status)
		status = fw_nn_list(in, node, "steps", 4, &steps, err);
	if (!status)
		status = fw_nn_axes(node, &axes, x->rank, is_axis, err);
	if (status)
		return status;
	if (!starts.data || starts.n != ends.n || starts.n > x->rank ||
	    (axes.data && axes.n != starts.n) || (steps.data && steps.n != starts.n))
		return fw_nn_infer_fail(node, err, "%u starts, %u ends, %u axes and %u steps",
					starts.n, ends.n, axes.n, steps.n);
	for (uint32_t i = 0; i < x->rank; i++)
		cuts[i] = (struct fw_nn_cut){ 0, 1, x->dims[i] };
	for (uint32_t i = 0; i < starts.n; i++) {
		int64_t step = steps.data ? steps.data[i] : 1;
		uint32_t axis = i;

		if (axes.data)
			(void)fw_nn_axis(axes.data[i], x->rank, &axis);
		if (!step || step < -FW_NN_MAX_ELEMENTS || step > FW_NN_MAX_ELEMENTS)
			return fw_nn_infer_fail(node, err, "a step of %lld", (long long)step);
		cuts[axis] = cut_of(starts.data[i], ends.data[i], step, x->dims[axis]);
	}
	return FW_OK;
}

fw_status fw_nn_infer_slice(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			    struct fw_nn_shape *out, struct fw_error *err)
{
	struct fw_nn_cut cuts[FW_NN_MAX_RANK];
	fw_status status = fw_nn_slice_cuts(in, node, cuts, err);

	*out = *fw_nn_input_shape(in, node, 0);
	for (uint32_t i = 0; !status && i < out->rank; i++)
		out->dims[i] = cuts[i].count;
	return status;
}

fw_status fw_nn_split_sizes(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			    int64_t *sizes, uint32_t *axis, struct fw_error *err)
{
	const struct fw_nn_shape *x = fw_nn_input_shape(in, node, 0);
	int64_t wanted = fw_nn_attr_int(node, "axis", 0), left, part;
	struct fw_nn_ints list;
	fw_status status = fw_nn_list(in, node, "split", 1, &list, err);

	if (status)
		return status;
	if (!fw_nn_axis(wanted, x->rank, axis))
		return fw_nn_infer_fail(node, err, "axis %lld of %u dimensions", (long long)wanted,
					x->rank);
	left = x->dims[*axis];
	/* Without sizes: equal parts; from opset 18 on the last may be smaller. */
	part = (left + node->n_outputs - 1) / node->n_outputs;
	if (list.data && list.n != node->n_outputs)
		return fw_nn_infer_fail(node, err, "%u sizes for %u outputs", list.n,
					node->n_outputs);
	for (uint32_t i = 0; i < node->n_outputs; i++) {
		sizes[i] = list.data ? list.data[i] : part < left ? part : left;
		if (sizes[i] < 1 || sizes[i] > left)
			return fw_nn_infer_fail(node, err, "part %u would have %lld elements", i,
						(long long)sizes[i]);
		left -= sizes[i];
	}
	if (left || (!list.data && in->graph->opset < 18 && sizes[node->n_outputs - 1] != part))
		return fw_nn_infer_fail(node, err, "its parts do not fill %lld elements",
					(long long)x->dims[*axis]);
	return FW_OK;
}

fw_status fw_nn_infer_split(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			    struct fw_nn_shape *out, struct fw_error *err)
{
	int64_t sizes[16]; /* the most outputs of ops.def */
	uint32_t axis;
	fw_status status = fw_nn_split_sizes(in, node, sizes, &axis, err);

	for (uint32_t i = 0; !status && i < node->n_outputs; i++) {
		out[i] = *fw_nn_input_shape(in, node, 0);
		out[i].dims[axis] = sizes[i];
	}
	return status;
}
