/* Shapes of convolutions and pools. */
#include "nn/infer.h"

#include <string.h>

/* Sizes, strides, dilations and paddings up to here: keeps their products inside 64 bits. */
#define MAX_VALUE ((int64_t)1 << 20)

struct window {
	int64_t kernel[2], stride[2], dilation[2], before[2], after[2];
	bool ceil;
	const char *auto_pad;
};

/* A list of 2 or 4 integers of an attribute; fallback where it is absent. */
static fw_status read_list(const struct fw_nn_node *node, const char *name, uint32_t count,
			   int64_t least, int64_t *out, struct fw_error *err)
{
	const struct fw_nn_attr *attr = fw_nn_attr_find(node, name);

	for (uint32_t i = 0; i < count; i++)
		out[i] = least;
	if (!attr)
		return FW_OK;
	if (attr->kind != FW_NN_ATTR_INTS || attr->n != count)
		return fw_nn_infer_fail(node, err,
					"%s is no list of %u integers: only images of "
					"two dimensions are supported",
					name, count);
	for (uint32_t i = 0; i < count; i++) {
		out[i] = attr->ints[i];
		if (out[i] < least || out[i] > MAX_VALUE)
			return fw_nn_infer_fail(node, err, "%s holds %lld; supported: %lld to %lld",
						name, (long long)out[i], (long long)least,
						(long long)MAX_VALUE);
	}
	return FW_OK;
}

static fw_status read_window(const struct fw_nn_node *node, struct window *w, struct fw_error *err)
{
	const struct fw_nn_attr *mode = fw_nn_attr_find(node, "auto_pad");
	int64_t pads[4];
	fw_status status = read_list(node, "strides", 2, 1, w->stride, err);

	if (!status)
		status = read_list(node, "dilations", 2, 1, w->dilation, err);
	if (!status)
		status = read_list(node, "pads", 4, 0, pads, err);
	if (status)
		return status;
	for (int i = 0; i < 2; i++) {
		w->before[i] = pads[i];
		w->after[i] = pads[2 + i];
	}
	w->ceil = fw_nn_attr_int(node, "ceil_mode", 0) != 0;
	w->auto_pad = mode && mode->text ? mode->text : "NOTSET";
	if (strcmp(w->auto_pad, "NOTSET") && strcmp(w->auto_pad, "VALID") &&
	    strcmp(w->auto_pad, "SAME_UPPER") && strcmp(w->auto_pad, "SAME_LOWER"))
		return fw_nn_infer_fail(node, err,
					"auto_pad %.20s; supported: NOTSET, VALID, SAME_UPPER, "
					"SAME_LOWER",
					w->auto_pad);
	return FW_OK;
}

/* The result's size along one axis; 0: the window does not fit. */
static int64_t result_size(const struct window *w, int axis, int64_t size)
{
	int64_t extent = (w->kernel[axis] - 1) * w->dilation[axis] + 1;
	int64_t stride = w->stride[axis], before = w->before[axis], room, out;

	if (!strncmp(w->auto_pad, "SAME", 4))
		return (size + stride - 1) / stride;
	if (!strcmp(w->auto_pad, "VALID"))
		before = room = 0;
	else
		room = before + w->after[axis];
	room += size - extent;
	if (room < 0)
		return 0;
	out = (room + (w->ceil ? stride - 1 : 0)) / stride + 1;
	/* What ceil_mode adds must begin inside the input or the padding before it. */
	if (w->ceil && (out - 1) * stride >= size + before)
		out--;
	return out;
}

static fw_status window_result(const struct fw_nn_node *node, const struct window *w,
			       const struct fw_nn_shape *x, struct fw_nn_shape *out,
			       struct fw_error *err)
{
	out->rank = 4;
	out->dims[0] = x->dims[0];
	for (int i = 0; i < 2; i++) {
		out->dims[2 + i] = result_size(w, i, x->dims[2 + i]);
		if (out->dims[2 + i] < 1)
			return fw_nn_infer_fail(node, err,
						"a window of %lld (dilation %lld) does not fit "
						"into %lld with padding %lld and %lld",
						(long long)w->kernel[i], (long long)w->dilation[i],
						(long long)x->dims[2 + i], (long long)w->before[i],
						(long long)w->after[i]);
	}
	return FW_OK;
}

static fw_status check_image(const struct fw_nn_node *node, const struct fw_nn_shape *x,
			     struct fw_error *err)
{
	if (x->rank == 4)
		return FW_OK;
	return fw_nn_infer_fail(node, err,
				"its input has %u dimensions; supported: 4 (batch, channels, "
				"height, width)",
				x->rank);
}

fw_status fw_nn_infer_conv(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			   struct fw_nn_shape *out, struct fw_error *err)
{
	const struct fw_nn_shape *x = fw_nn_input_shape(in, node, 0);
	const struct fw_nn_shape *k = fw_nn_input_shape(in, node, 1), *bias;
	int64_t groups = fw_nn_attr_int(node, "group", 1), kernel[2];
	struct window w = { .kernel = { 0 } };
	fw_status status = check_image(node, x, err);

	if (!status)
		status = read_window(node, &w, err);
	if (status)
		return status;
	if (fw_nn_attr_find(node, "group") &&
	    fw_nn_attr_find(node, "group")->kind != FW_NN_ATTR_INT)
		return fw_nn_infer_fail(node, err, "group is no integer");
	if (k->rank != 4 || groups < 1 || groups > MAX_VALUE || k->dims[0] % groups ||
	    k->dims[1] > MAX_VALUE || k->dims[1] * groups != x->dims[1])
		return fw_nn_infer_fail(node, err,
					"filters of %lld x %lld channels (rank %u) in %lld groups "
					"do not go with %lld channels",
					(long long)k->dims[0], (long long)k->dims[1], k->rank,
					(long long)groups, (long long)x->dims[1]);
	memcpy(w.kernel, &k->dims[2], sizeof(w.kernel));
	if (fw_nn_attr_find(node, "kernel_shape")) {
		status = read_list(node, "kernel_shape", 2, 1, kernel, err);
		if (status)
			return status;
		if (memcmp(kernel, w.kernel, sizeof(kernel)))
			return fw_nn_infer_fail(node, err, "kernel_shape is not its filters'");
	}
	if (w.kernel[0] < 1 || w.kernel[1] < 1 || w.kernel[0] > MAX_VALUE ||
	    w.kernel[1] > MAX_VALUE)
		return fw_nn_infer_fail(node, err, "filters of %lld x %lld pixels",
					(long long)w.kernel[0], (long long)w.kernel[1]);
	bias = fw_nn_has_input(node, 2) ? fw_nn_input_shape(in, node, 2) : NULL;
	if (bias && (bias->rank != 1 || bias->dims[0] != k->dims[0]))
		return fw_nn_infer_fail(node, err, "its bias is not of %lld elements",
					(long long)k->dims[0]);
	out->dims[1] = k->dims[0];
	return window_result(node, &w, x, out, err);
}

fw_status fw_nn_infer_pool(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			   struct fw_nn_shape *out, struct fw_error *err)
{
	const struct fw_nn_shape *x = fw_nn_input_shape(in, node, 0);
	struct window w = { .kernel = { 0 } };
	fw_status status = check_image(node, x, err);

	if (!status)
		status = read_window(node, &w, err);
	if (status)
		return status;
	if (!fw_nn_attr_find(node, "kernel_shape"))
		return fw_nn_infer_fail(node, err, "no kernel_shape");
	if (fw_nn_attr_int(node, "storage_order", 0))
		return fw_nn_infer_fail(node, err, "storage_order; supported: 0");
	status = read_list(node, "kernel_shape", 2, 1, w.kernel, err);
	if (status)
		return status;
	/* The specification leaves a window of nothing but padding open. */
	for (int i = 0; i < 2; i++)
		if (w.before[i] >= (w.kernel[i] - 1) * w.dilation[i] + 1 ||
		    w.after[i] >= (w.kernel[i] - 1) * w.dilation[i] + 1)
			return fw_nn_infer_fail(node, err,
						"a padding of %lld and %lld; supported: "
						"less than the window of %lld",
						(long long)w.before[i], (long long)w.after[i],
						(long long)w.kernel[i]);
	out->dims[1] = x->dims[1];
	return window_result(node, &w, x, out, err);
}

fw_status fw_nn_infer_global_pool(const struct fw_nn_inference *in, const struct fw_nn_node *node,
				  struct fw_nn_shape *out, struct fw_error *err)
{
	*out = *fw_nn_input_shape(in, node, 0);
	out->dims[2] = out->dims[3] = 1;
	return check_image(node, out, err);
}
