/* Nodes that move no element: other dimensions of the same tensor, or a part of it. */
#include "nn/plan_axes.h"

#include <string.h>

uint32_t fw_nn_root(struct fw_nn_planner *p, uint32_t tensor)
{
	while (fw_nn_draft(p, tensor)->parent != FW_NN_NONE)
		tensor = fw_nn_draft(p, tensor)->parent;
	return tensor;
}

fw_status fw_nn_alias(struct fw_nn_planner *p, uint32_t value, enum fw_nn_layout layout,
		      const struct fw_nn_draft_tensor *view, struct fw_error *err)
{
	p->places[value].layout = layout;
	return fw_nn_tensor_new(p, view, &p->places[value].tensor, err);
}

/* The tensor of `from` with h x w pixels in other rows, as value. */
static fw_status regrid(struct fw_nn_planner *p, uint32_t from, uint32_t value,
			enum fw_nn_layout layout, int64_t h, int64_t w, struct fw_error *err)
{
	uint32_t base = p->places[from].tensor;
	struct fw_nn_draft_tensor view = fw_nn_draft_view(p, base, value);

	if (view.h == h && view.w == w) {
		p->places[value] = (struct fw_nn_place){ base, layout, NULL };
		return FW_OK;
	}
	view.h = h;
	view.w = w;
	return fw_nn_alias(p, value, layout, &view, err);
}

/* Other dimensions for elements that follow each other in the order n, c, h, w. False: not possible without a copy. */
static bool reshape_channels_first(const struct fw_nn_draft_tensor *t, const struct fw_nn_shape *to,
				   enum fw_nn_layout *layout, int64_t grid[2])
{
	const int64_t *d = to->dims;

	if (to->rank == 2 && d[1] == t->c * t->h * t->w) {
		*layout = t->h * t->w == 1 ? FW_NN_LAST : FW_NN_FLAT;
		return true;
	}
	if (to->rank == 3 && d[1] == t->c && d[2] == t->h * t->w) {
		*layout = FW_NN_COLUMNS;
		return true;
	}
	if (to->rank == 3 && d[1] == 1 && d[2] == t->c && t->h * t->w == 1) {
		*layout = FW_NN_LAST;
		return true;
	}
	if (to->rank == 4 && d[1] == t->c && d[2] * d[3] == t->h * t->w) {
		*layout = FW_NN_MAP;
		grid[0] = d[2];
		grid[1] = d[3];
		return true;
	}
	return false;
}

/* The same for the order n, h, w, c. */
static bool reshape_channels_last(const struct fw_nn_draft_tensor *t, const struct fw_nn_shape *to,
				  enum fw_nn_layout *layout, int64_t grid[2])
{
	const int64_t *d = to->dims;

	if (t->h * t->w == 1)
		return reshape_channels_first(t, to, layout, grid);
	*layout = FW_NN_LAST;
	if (to->rank == 3 && d[2] == t->c && d[1] == t->h * t->w) {
		grid[0] = d[1];
		grid[1] = 1;
		return true;
	}
	if (to->rank == 4 && d[3] == t->c && d[1] * d[2] == t->h * t->w) {
		grid[0] = d[1];
		grid[1] = d[2];
		return true;
	}
	return false;
}

/* What is a view in no usual order of dimensions. */
static fw_status plan_axes(struct fw_nn_planner *p, uint32_t node, struct fw_error *err)
{
	bool is_view;
	fw_status status = fw_nn_axes_view(p, node, &is_view, err);

	if (status || is_view)
		return status;
	return fw_nn_refuse(p, node, err, "its result is no view of channels-last memory");
}

static fw_status plan_reshape(struct fw_nn_planner *p, uint32_t node, struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	uint32_t from = n->inputs[0], value = n->outputs[0];
	const struct fw_nn_shape *to = &p->shapes[value];
	const struct fw_nn_draft_tensor *t = fw_nn_draft(p, p->places[from].tensor);
	int64_t grid[2] = { t->h, t->w };
	enum fw_nn_layout layout = FW_NN_MAP;
	bool is_last = p->places[from].layout == FW_NN_LAST, fits;

	fits = to->rank >= 2 && to->dims[0] == t->n && p->places[from].layout != FW_NN_AXES &&
	       (is_last ? reshape_channels_last : reshape_channels_first)(t, to, &layout, grid);
	if (!fits)
		return plan_axes(p, node, err);
	return regrid(p, from, value, layout, grid[0], grid[1], err);
}

static bool is_perm(uint32_t n, const int64_t *perm, const char *digits)
{
	if (strlen(digits) != n)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (perm[i] != digits[i] - '0')
			return false;
	return true;
}

static fw_status plan_transpose(struct fw_nn_planner *p, uint32_t node, struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	struct fw_nn_place from = p->places[n->inputs[0]];
	const struct fw_nn_draft_tensor *t = fw_nn_draft(p, from.tensor);
	const struct fw_nn_attr *attr = fw_nn_attr_find(n, "perm");
	const int64_t *perm = attr ? attr->ints : NULL;
	uint32_t rank = attr ? attr->n : 0;
	bool is_tokens = from.layout == FW_NN_COLUMNS && is_perm(rank, perm, "021");

	if (is_tokens)
		return regrid(p, n->inputs[0], n->outputs[0], FW_NN_LAST, t->h * t->w, 1, err);
	p->places[n->outputs[0]] = from;
	if (is_perm(rank, perm, "01") || is_perm(rank, perm, "012") || is_perm(rank, perm, "0123"))
		return FW_OK;
	if (from.layout == FW_NN_MAP && is_perm(rank, perm, "0231"))
		p->places[n->outputs[0]].layout = FW_NN_LAST;
	else if (from.layout == FW_NN_LAST && is_perm(rank, perm, "0312"))
		p->places[n->outputs[0]].layout = FW_NN_MAP;
	else if (from.layout == FW_NN_LAST && is_perm(rank, perm, "021"))
		p->places[n->outputs[0]].layout = FW_NN_COLUMNS;
	else
		return plan_axes(p, node, err);
	return FW_OK;
}

/* Channels from first on, count of them, as value. */
static fw_status take_channels(struct fw_nn_planner *p, uint32_t from, uint32_t value,
			       int64_t first, int64_t count, struct fw_error *err)
{
	struct fw_nn_draft_tensor view = fw_nn_draft_view(p, p->places[from].tensor, value);

	view.shift = first;
	view.c = view.padded_c = count;
	return fw_nn_alias(p, value, p->places[from].layout, &view, err);
}

/* The dimension of a value that its tensor's channels are; FW_NN_NONE: none is. */
static uint32_t channel_dimension(const struct fw_nn_planner *p, uint32_t value)
{
	switch (p->places[value].layout) {
	case FW_NN_MAP:
	case FW_NN_COLUMNS: return 1;
	case FW_NN_LAST: return p->shapes[value].rank - 1;
	default: return FW_NN_NONE;
	}
}

static fw_status plan_split(struct fw_nn_planner *p, uint32_t node, struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	uint32_t channels = channel_dimension(p, n->inputs[0]);
	int64_t axis = fw_nn_attr_int(n, "axis", 0), first = 0;

	axis = axis < 0 ? axis + p->shapes[n->inputs[0]].rank : axis;
	if (axis != channels)
		return plan_axes(p, node, err);
	for (uint32_t i = 0; i < n->n_outputs; i++) {
		int64_t count = p->shapes[n->outputs[i]].dims[channels];
		fw_status status;

		if (count < 1 || count > fw_nn_draft(p, p->places[n->inputs[0]].tensor)->c - first)
			return fw_nn_refuse(p, node, err, "its parts exceed the channels");
		status = take_channels(p, n->inputs[0], n->outputs[i], first, count, err);
		if (status)
			return status;
		first += count;
	}
	return FW_OK;
}

/* The first token, or a part of the channels. */
static fw_status plan_gather(struct fw_nn_planner *p, uint32_t node, struct fw_error *err)
{
	bool is_done = false;
	fw_status status = fw_nn_plan_first_token(p, node, &is_done, err);

	return status || is_done ? status : plan_axes(p, node, err);
}

/* Padding by nothing, as exporters write it before a pool. */
static fw_status plan_pad(struct fw_nn_planner *p, uint32_t node, struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	uint32_t count;
	const int64_t *pads;

	if (!fw_nn_ints(p, n, "pads", 1, &count, &pads))
		return fw_nn_refuse(p, node, err, "its pads are not constant");
	for (uint32_t i = 0; i < count; i++)
		if (pads[i])
			return fw_nn_refuse(
				p, node, err,
				"padding is supported as a part of convolutions and pools");
	p->places[n->outputs[0]] = p->places[n->inputs[0]];
	return FW_OK;
}

fw_status fw_nn_plan_view(struct fw_nn_planner *p, uint32_t node, struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	struct fw_nn_place from = p->places[n->inputs[0]];
	fw_status status;

	if (from.tensor == FW_NN_NONE)
		return fw_nn_refuse(p, node, err, "its input is a constant");
	switch (n->op) {
	case FW_NN_TRANSPOSE: status = plan_transpose(p, node, err); break;
	case FW_NN_SPLIT: status = plan_split(p, node, err); break;
	case FW_NN_PAD: status = plan_pad(p, node, err); break;
	case FW_NN_GATHER: status = plan_gather(p, node, err); break;
	case FW_NN_SLICE: status = plan_axes(p, node, err); break;
	case FW_NN_IDENTITY:
	case FW_NN_DROPOUT:
		p->places[n->outputs[0]] = from;
		status = FW_OK;
		break;
	default: status = plan_reshape(p, node, err); break;
	}
	/* It has no step of its own: it belongs to the one that made the tensor. */
	p->node_step[node] = fw_nn_draft(p, from.tensor)->producer;
	return status;
}
