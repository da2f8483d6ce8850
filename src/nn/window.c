/* The window of a convolution or a pool: its attributes made explicit for the shapes at hand. */
#include "nn/window.h"

#include <string.h>

/* Sizes, strides and dilations up to here: keeps their products inside 64 bits. */
#define MAX_VALUE ((int64_t)1 << 20)

/* One axis of the window. */
struct axis {
	int64_t size, result; /* of the input and of the output */
	int64_t extent, stride, before, after;
	bool is_padded, has_grown; /* by the model; by ceil_mode */
};

bool fw_nn_window_pads(const struct fw_nn_window *w)
{
	return w->pad_top || w->pad_left || w->pad_bottom || w->pad_right;
}

/* A list of integers of an attribute into out, all `fallback` where it is absent; false: out of range. */
static bool read_list(const struct fw_nn_node *node, const char *name, uint32_t count,
		      int64_t fallback, int64_t *out)
{
	const struct fw_nn_attr *attr = fw_nn_attr_find(node, name);

	for (uint32_t i = 0; i < count; i++) {
		out[i] = attr && attr->n == count ? attr->ints[i] : fallback;
		if (out[i] < (strcmp(name, "pads") ? 1 : 0) || out[i] > MAX_VALUE)
			return false;
	}
	return !attr || (attr->kind == FW_NN_ATTR_INTS && attr->n == count);
}

/* SAME_UPPER and SAME_LOWER: as much padding as the result's size needs, the odd one behind or before. */
static void pad_same(struct axis *axis, bool lower)
{
	int64_t total = (axis->result - 1) * axis->stride + axis->extent - axis->size;

	total = total < 0 ? 0 : total;
	axis->before = lower ? (total + 1) / 2 : total / 2;
	axis->after = total - axis->before;
}

/* What the last window reaches behind the input; false: the shapes contradict the attributes. */
static bool settle(struct axis *axis, bool is_pool, bool may_grow)
{
	int64_t reach =
		(axis->result - 1) * axis->stride + axis->extent - axis->size - axis->before;

	if (axis->result < 1 ||
	    (axis->size + axis->before + axis->after - axis->extent) / axis->stride + 1 >
		    axis->result)
		return false;
	if (reach > axis->after) {
		if (!may_grow)
			return false;
		axis->after = reach;
		axis->has_grown = true;
	}
	/* A pool's window never lies in the padding as a whole. */
	return !is_pool || (axis->before < axis->extent && axis->after < axis->extent);
}

static fw_status read_axes(const struct fw_nn_planner *p, uint32_t node, struct axis axes[2],
			   struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	const struct fw_nn_attr *automatic = fw_nn_attr_find(n, "auto_pad");
	const char *mode = automatic && automatic->text ? automatic->text : "NOTSET";
	bool is_same = !strncmp(mode, "SAME", 4);
	int64_t pads[4];

	if (!read_list(n, "pads", 4, 0, pads))
		return fw_nn_refuse(p, node, err, "its pads are not 4 numbers from 0 to 2^20");
	for (int i = 0; i < 2; i++) {
		axes[i].size = p->shapes[n->inputs[0]].dims[2 + i];
		axes[i].result = p->shapes[n->outputs[0]].dims[2 + i];
		axes[i].before = strcmp(mode, "VALID") ? pads[i] : 0;
		axes[i].after = strcmp(mode, "VALID") ? pads[2 + i] : 0;
		if (is_same)
			pad_same(&axes[i], !strcmp(mode, "SAME_LOWER"));
		axes[i].is_padded = axes[i].before || axes[i].after;
		if (!settle(&axes[i], n->op != FW_NN_CONV, fw_nn_attr_int(n, "ceil_mode", 0)))
			return fw_nn_refuse(p, node, err,
					    "a window of %lld over %lld with padding %lld and %lld "
					    "gives no %lld results",
					    (long long)axes[i].extent, (long long)axes[i].size,
					    (long long)axes[i].before, (long long)axes[i].after,
					    (long long)axes[i].result);
	}
	return FW_OK;
}

fw_status fw_nn_window_read(const struct fw_nn_planner *p, uint32_t node, int64_t r, int64_t s,
			    struct fw_nn_window *window, struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	int64_t kernel[2] = { r, s }, strides[2], dilations[2];
	struct axis axes[2] = { 0 };
	fw_status status;

	if (p->shapes[n->outputs[0]].rank != 4 ||
	    (!r && !read_list(n, "kernel_shape", 2, 0, kernel)) ||
	    !read_list(n, "strides", 2, 1, strides) || !read_list(n, "dilations", 2, 1, dilations))
		return fw_nn_refuse(
			p, node, err,
			"its window is not two-dimensional with numbers from 1 to 2^20");
	for (int i = 0; i < 2; i++) {
		if (kernel[i] < 1 || kernel[i] > MAX_VALUE)
			return fw_nn_refuse(p, node, err, "its window has %lld elements a row",
					    (long long)kernel[i]);
		axes[i].extent = (kernel[i] - 1) * dilations[i] + 1;
		axes[i].stride = strides[i];
	}
	status = read_axes(p, node, axes, err);
	if (status)
		return status;
	*window = (struct fw_nn_window){
		.r = kernel[0],
		.s = kernel[1],
		.stride_y = strides[0],
		.stride_x = strides[1],
		.dilation_y = dilations[0],
		.dilation_x = dilations[1],
		.pad_top = axes[0].before,
		.pad_bottom = axes[0].after,
		.pad_left = axes[1].before,
		.pad_right = axes[1].after,
		.groups = 1,
		.counts_padding = fw_nn_attr_int(n, "count_include_pad", 0),
	};
	if (!window->counts_padding || (!axes[0].has_grown && !axes[1].has_grown))
		return FW_OK;
	/* What ceil_mode adds is never counted, so where it is all the padding there is, none is. */
	if (axes[0].is_padded || axes[1].is_padded)
		return fw_nn_refuse(p, node, err, "ceil_mode together with count_include_pad");
	window->counts_padding = false;
	return FW_OK;
}
