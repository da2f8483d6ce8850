/* Shapes of what moves elements: reshapes, transposes, concatenations, slices. */
#include "nn/infer.h"

#include <string.h>

fw_status fw_nn_infer_concat(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			     struct fw_nn_shape *out, struct fw_error *err)
{
	const struct fw_nn_attr *attr = fw_nn_attr_find(node, "axis");
	uint32_t axis;

	*out = *fw_nn_input_shape(in, node, 0);
	if (!attr || !fw_nn_axis(attr->i, out->rank, &axis))
		return fw_nn_infer_fail(node, err, "axis %lld of %u dimensions",
					(long long)(attr ? attr->i : 0), out->rank);
	for (uint32_t i = 1; i < node->n_inputs; i++) {
		const struct fw_nn_shape *x;

		if (!fw_nn_has_input(node, i))
			return fw_nn_infer_fail(node, err, "its input %u is absent", i);
		x = fw_nn_input_shape(in, node, i);
		for (uint32_t d = 0; d < out->rank; d++)
			if (x->rank != out->rank || (d != axis && x->dims[d] != out->dims[d]))
				return fw_nn_infer_fail(
					node, err, "its input %u differs in dimension %u", i, d);
		out->dims[axis] += x->dims[axis];
	}
	return FW_OK;
}

fw_status fw_nn_infer_flatten(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			      struct fw_nn_shape *out, struct fw_error *err)
{
	const struct fw_nn_shape *x = fw_nn_input_shape(in, node, 0);
	int64_t axis = fw_nn_attr_int(node, "axis", 1);

	if (axis < 0)
		axis += x->rank;
	if (axis < 0 || axis > x->rank)
		return fw_nn_infer_fail(node, err, "axis %lld of %u dimensions", (long long)axis,
					x->rank);
	*out = (struct fw_nn_shape){ 2, { 1, 1 } };
	for (uint32_t i = 0; i < x->rank; i++)
		out->dims[i >= axis] *= x->dims[i];
	return FW_OK;
}

fw_status fw_nn_infer_reshape(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			      struct fw_nn_shape *out, struct fw_error *err)
{
	const struct fw_nn_shape *x = fw_nn_input_shape(in, node, 0);
	bool keeps_zero = fw_nn_attr_int(node, "allowzero", 0) != 0;
	int64_t known = 1, total = fw_nn_elements(x);
	struct fw_nn_ints shape;
	int open = -1;
	fw_status status = fw_nn_input_ints(in, node, 1, &shape, err);

	if (status)
		return status;
	if (shape.n > FW_NN_MAX_RANK)
		return fw_nn_infer_fail(node, err, "to %u dimensions; supported: %d", shape.n,
					FW_NN_MAX_RANK);
	out->rank = shape.n;
	for (uint32_t i = 0; i < shape.n; i++) {
		int64_t dim = shape.data[i];

		if (!dim && !keeps_zero)
			dim = i < x->rank ? x->dims[i] : -2;
		if (dim < -1 || (dim == -1 && open >= 0) || (dim > 0 && known > total / dim + 1))
			return fw_nn_infer_fail(node, err, "dimension %u of the new shape: %lld", i,
						(long long)shape.data[i]);
		out->dims[i] = dim;
		if (dim == -1)
			open = (int)i;
		else
			known *= dim;
	}
	if (open >= 0)
		out->dims[open] = known ? total / known : 0;
	if (known * (open >= 0 ? out->dims[open] : 1) == total)
		return FW_OK;
	return fw_nn_infer_fail(node, err,
				"%lld elements do not fill its new shape of %u dimensions, %lld "
				"elements without the open one",
				(long long)total, shape.n, (long long)known);
}

fw_status fw_nn_infer_transpose(const struct fw_nn_inference *in, const struct fw_nn_node *node,
				struct fw_nn_shape *out, struct fw_error *err)
{
	const struct fw_nn_shape *x = fw_nn_input_shape(in, node, 0);
	const struct fw_nn_attr *perm = fw_nn_attr_find(node, "perm");
	bool seen[FW_NN_MAX_RANK] = { 0 };

	if (perm && (perm->kind != FW_NN_ATTR_INTS || perm->n != x->rank))
		return fw_nn_infer_fail(node, err, "perm is no list of %u axes", x->rank);
	out->rank = x->rank;
	for (uint32_t i = 0; i < x->rank; i++) {
		int64_t axis = perm ? perm->ints[i] : x->rank - 1 - i;

		if (axis < 0 || axis >= x->rank || seen[axis])
			return fw_nn_infer_fail(node, err, "perm holds %lld twice, or out of range",
						(long long)axis);
		seen[axis] = true;
		out->dims[i] = x->dims[axis];
	}
	return FW_OK;
}

fw_status fw_nn_infer_squeeze(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			      struct fw_nn_shape *out, struct fw_error *err)
{
	const struct fw_nn_shape *x = fw_nn_input_shape(in, node, 0);
	bool is_axis[FW_NN_MAX_RANK];
	struct fw_nn_ints axes;
	fw_status status = fw_nn_list(in, node, "axes", 1, &axes, err);

	if (!status)
		status = fw_nn_axes(node, &axes, x->rank, is_axis, err);
	if (status)
		return status;
	out->rank = 0;
	for (uint32_t i = 0; i < x->rank; i++) {
		if (axes.data && is_axis[i] && x->dims[i] != 1)
			return fw_nn_infer_fail(node, err, "axis %u has %lld elements, not 1", i,
						(long long)x->dims[i]);
		if (axes.data ? !is_axis[i] : x->dims[i] != 1)
			out->dims[out->rank++] = x->dims[i];
	}
	return FW_OK;
}

fw_status fw_nn_infer_unsqueeze(const struct fw_nn_inference *in, const struct fw_nn_node *node,
				struct fw_nn_shape *out, struct fw_error *err)
{
	const struct fw_nn_shape *x = fw_nn_input_shape(in, node, 0);
	bool is_axis[FW_NN_MAX_RANK];
	uint32_t from = 0;
	struct fw_nn_ints axes;
	fw_status status = fw_nn_list(in, node, "axes", 1, &axes, err);

	if (status)
		return status;
	out->rank = x->rank + axes.n;
	if (!axes.data || out->rank > FW_NN_MAX_RANK)
		return fw_nn_infer_fail(node, err, "to %u dimensions; supported: %d", out->rank,
					FW_NN_MAX_RANK);
	status = fw_nn_axes(node, &axes, out->rank, is_axis, err);
	for (uint32_t i = 0; !status && i < out->rank; i++)
		out->dims[i] = is_axis[i] ? 1 : x->dims[from++];
	return status;
}

/* The dimensions that the contents of input i name. */
static fw_status read_dims(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			   uint32_t i, struct fw_nn_shape *out, struct fw_error *err)
{
	struct fw_nn_ints dims;
	fw_status status = fw_nn_input_ints(in, node, i, &dims, err);

	if (status)
		return status;
	if (dims.n > FW_NN_MAX_RANK)
		return fw_nn_infer_fail(node, err, "to %u dimensions; supported: %d", dims.n,
					FW_NN_MAX_RANK);
	out->rank = dims.n;
	for (uint32_t d = 0; d < dims.n; d++)
		out->dims[d] = dims.data[d];
	return FW_OK;
}

fw_status fw_nn_infer_expand(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			     struct fw_nn_shape *out, struct fw_error *err)
{
	struct fw_nn_shape wanted = { 0 };
	fw_status status = read_dims(in, node, 1, &wanted, err);

	if (status)
		return status;
	if (!fw_nn_broadcast(fw_nn_input_shape(in, node, 0), &wanted, out))
		return fw_nn_infer_fail(node, err, "its input does not go with the new shape");
	return FW_OK;
}

fw_status fw_nn_infer_constant_of_shape(const struct fw_nn_inference *in,
					const struct fw_nn_node *node, struct fw_nn_shape *out,
					struct fw_error *err)
{
	return read_dims(in, node, 0, out, err);
}

fw_status fw_nn_infer_pad(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			  struct fw_nn_shape *out, struct fw_error *err)
{
	const struct fw_nn_attr *mode = fw_nn_attr_find(node, "mode");
	struct fw_nn_ints pads;
	fw_status status = fw_nn_list(in, node, "pads", 1, &pads, err);

	*out = *fw_nn_input_shape(in, node, 0);
	if (status)
		return status;
	if (mode && mode->text && strcmp(mode->text, "constant"))
		return fw_nn_infer_fail(node, err, "mode %.20s; supported: constant", mode->text);
	if (fw_nn_has_input(node, 3) || pads.n != 2 * out->rank)
		return fw_nn_infer_fail(node, err,
					"%u pads for %u dimensions, or with axes; "
					"supported: two for each",
					pads.n, out->rank);
	for (uint32_t i = 0; i < pads.n; i++) {
		if (pads.data[i] < 0 || pads.data[i] > (1 << 20))
			return fw_nn_infer_fail(node, err,
						"a padding of %lld; supported: 0 to 2^20",
						(long long)pads.data[i]);
		out->dims[i % out->rank] += pads.data[i];
	}
	return FW_OK;
}
