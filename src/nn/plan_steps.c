/* Steps with weights or windows: convolution, product, pooling, mean, softmax. */
#include "nn/plan_axes.h"
#include "nn/window.h"

#include <string.h>

fw_status fw_nn_step_new(struct fw_nn_planner *p, uint32_t node, enum fw_nn_step_kind kind,
			 uint32_t input, uint32_t *step, struct fw_error *err)
{
	struct fw_nn_draft_step *made = fw_vec_push(&p->steps);

	if (!made)
		return fw_fail_nomem(err, sizeof(*made));
	made->node = node;
	made->step = (struct fw_nn_step){
		.kind = kind,
		.input = input,
		.second = FW_NN_NONE,
		.output = FW_NN_NONE,
		.weight.id = FW_NN_NONE,
		.bias.id = FW_NN_NONE,
	};
	*step = (uint32_t)p->steps.len - 1;
	if (p->node_step[node] == FW_NN_NONE)
		p->node_step[node] = *step;
	return FW_OK;
}

fw_status fw_nn_step_result(struct fw_nn_planner *p, uint32_t step, uint32_t value,
			    enum fw_nn_layout layout, struct fw_error *err)
{
	fw_status status = fw_nn_place_new(p, value, layout, err);

	if (status)
		return status;
	fw_nn_draft(p, p->places[value].tensor)->producer = step;
	fw_nn_draft_step(p, step)->step.output = p->places[value].tensor;
	return FW_OK;
}

fw_status fw_nn_step_result_like(struct fw_nn_planner *p, uint32_t step, uint32_t value,
				 struct fw_nn_place like, struct fw_error *err)
{
	struct fw_nn_draft_tensor draft = fw_nn_draft_like(p, like.tensor, value);
	fw_status status;

	draft.producer = step;
	status = fw_nn_tensor_new(p, &draft, &p->places[value].tensor, err);
	p->places[value].layout = like.layout;
	fw_nn_draft_step(p, step)->step.output = p->places[value].tensor;
	return status;
}

float *fw_nn_derive(struct fw_nn_planner *p, uint32_t node, unsigned which, int64_t count,
		    struct fw_nn_weight *weight)
{
	float *data = fw_arena_array(&p->plan->arena, (size_t)count, sizeof(*data));

	*weight = (struct fw_nn_weight){
		.id = p->graph->n_values + 2 * node + which,
		.data = data,
		.k = count,
		.c = 1,
		.r = 1,
		.s = 1,
	};
	return data;
}

/* A bias of k elements from a node's input; FW_NN_NONE: none. */
static fw_status take_bias(struct fw_nn_planner *p, uint32_t node, uint32_t input, int64_t k,
			   struct fw_nn_weight *bias, struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];

	if (input >= n->n_inputs || n->inputs[input] == FW_NN_NONE)
		return FW_OK;
	*bias = (struct fw_nn_weight){ .id = n->inputs[input], .k = k, .c = 1, .r = 1, .s = 1 };
	bias->data = fw_nn_floats(p, n->inputs[input], k);
	if (!bias->data)
		return fw_nn_refuse(p, node, err,
				    "its bias is not an fp32 constant of %lld elements",
				    (long long)k);
	return FW_OK;
}

static fw_status take_filter(struct fw_nn_planner *p, uint32_t node, uint32_t tensor,
			     struct fw_nn_weight *weight, struct fw_error *err)
{
	uint32_t value = p->graph->nodes[node].inputs[1];
	int64_t groups = fw_nn_attr_int(&p->graph->nodes[node], "group", 1), count = 1;
	const struct fw_nn_shape *shape = &p->shapes[value];
	int64_t c = fw_nn_draft(p, tensor)->c;

	for (uint32_t i = 0; i < shape->rank; i++)
		if (__builtin_mul_overflow(count, shape->dims[i], &count))
			return fw_nn_refuse(p, node, err, "its weight is too large");
	*weight = (struct fw_nn_weight){
		.id = value,
		.data = fw_nn_floats(p, value, count),
		.k = shape->dims[0],
		.c = shape->dims[1],
		.r = shape->dims[2],
		.s = shape->dims[3],
	};
	if (!weight->data || shape->rank != 4)
		return fw_nn_refuse(p, node, err,
				    "its weight is not an fp32 constant of 4 dimensions");
	if (groups < 1 || c % groups || weight->c != c / groups || weight->k % groups)
		return fw_nn_refuse(
			p, node, err,
			"%lld groups and a weight of %lld x %lld do not fit %lld channels",
			(long long)groups, (long long)weight->k, (long long)weight->c,
			(long long)c);
	return FW_OK;
}

fw_status fw_nn_plan_conv(struct fw_nn_planner *p, uint32_t node, struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	struct fw_nn_weight weight, bias = { .id = FW_NN_NONE };
	uint32_t tensor, step, value = n->outputs[0];
	struct fw_nn_window window;
	struct fw_nn_step *s;
	fw_status status;

	if ((status = fw_nn_operand(p, node, 0, FW_NN_MAP, &tensor, err)) ||
	    (status = take_filter(p, node, tensor, &weight, err)) ||
	    (status = take_bias(p, node, 2, weight.k, &bias, err)) ||
	    (status = fw_nn_window_read(p, node, weight.r, weight.s, &window, err)))
		return status;
	if (p->shapes[value].dims[1] != weight.k)
		return fw_nn_refuse(p, node, err, "its result has other channels than its weight");
	status = fw_nn_step_new(p, node, FW_NN_STEP_CONV, tensor, &step, err);
	if (status)
		return status;
	s = &fw_nn_draft_step(p, step)->step;
	s->weight = weight;
	s->bias = bias;
	s->window = window;
	s->window.groups = fw_nn_attr_int(n, "group", 1);
	status = fw_nn_step_result(p, step, value, FW_NN_MAP, err);
	if (!status)
		fw_nn_fuse_after(p, step, &value);
	return status;
}

/* The rows of a product, as a tensor: for a flattened map the map itself. */
static fw_status take_rows(struct fw_nn_planner *p, uint32_t node, uint32_t *tensor,
			   struct fw_nn_weight *weight, struct fw_error *err)
{
	uint32_t value = p->graph->nodes[node].inputs[0], root;
	const struct fw_nn_draft_tensor *t;
	bool is_flat = value != FW_NN_NONE && p->places[value].tensor != FW_NN_NONE &&
		       p->places[value].layout == FW_NN_FLAT;
	fw_status status;

	if (is_flat) {
		root = fw_nn_root(p, p->places[value].tensor);
		t = fw_nn_draft(p, p->places[value].tensor);
		if (fw_nn_draft(p, root)->padded_c == t->c) {
			fw_nn_draft(p, root)->dense = true;
			*tensor = p->places[value].tensor;
			weight->c = t->c;
			weight->r = t->h;
			weight->s = t->w;
			return FW_OK;
		}
	}
	if (p->places[value].tensor != FW_NN_NONE && p->places[value].layout == FW_NN_AXES &&
	    fw_nn_axes_are_rows(p, p->places[value].tensor, p->places[value].axes)) {
		*tensor = p->places[value].tensor;
	} else {
		status = fw_nn_operand(p, node, 0, FW_NN_LAST, tensor, err);
		if (status)
			return status;
	}
	weight->c = fw_nn_draft(p, *tensor)->c;
	weight->r = weight->s = 1;
	return FW_OK;
}

static fw_status take_matrix(struct fw_nn_planner *p, uint32_t node, struct fw_nn_weight *weight,
			     struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	const struct fw_nn_shape *shape = &p->shapes[n->inputs[1]];
	int64_t columns = weight->c * weight->r * weight->s, count;

	weight->id = n->inputs[1];
	weight->transposed = n->op == FW_NN_MATMUL || !fw_nn_attr_int(n, "transB", 0);
	if (n->op == FW_NN_GEMM &&
	    (fw_nn_attr_int(n, "transA", 0) || fw_nn_attr_float(n, "alpha", 1) != 1 ||
	     fw_nn_attr_float(n, "beta", 1) != 1))
		return fw_nn_refuse(p, node, err, "transA, alpha and beta other than 0, 1, 1");
	if (shape->rank != 2 || shape->dims[weight->transposed ? 0 : 1] != columns)
		return fw_nn_refuse(p, node, err, "its weight has not %lld columns",
				    (long long)columns);
	weight->k = shape->dims[weight->transposed ? 1 : 0];
	if (!__builtin_mul_overflow(weight->k, columns, &count))
		weight->data = fw_nn_floats(p, weight->id, count);
	if (!weight->data)
		return fw_nn_refuse(p, node, err, "its weight is not an fp32 constant");
	return FW_OK;
}

/* The constant that is added to each row: Gemm's third input, or an Add after MatMul. */
static fw_status take_row_bias(struct fw_nn_planner *p, uint32_t node, uint32_t step,
			       uint32_t *value, struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	struct fw_nn_weight *bias = &fw_nn_draft_step(p, step)->step.bias;
	uint32_t add = fw_nn_only_user(p, *value), constant;
	struct fw_nn_place place = p->places[*value];
	int64_t k = fw_nn_draft(p, place.tensor)->c;
	float *derived;

	if (n->op == FW_NN_GEMM && n->n_inputs > 2 && n->inputs[2] != FW_NN_NONE) {
		constant = n->inputs[2];
	} else {
		if (n->op == FW_NN_GEMM || !p->options->fuse || add == FW_NN_NONE ||
		    p->graph->nodes[add].op != FW_NN_ADD)
			return FW_OK;
		constant = fw_nn_other_input(&p->graph->nodes[add], *value);
		if (!fw_nn_is_constant(p, constant) ||
		    !fw_nn_same_shape(p, *value, p->graph->nodes[add].outputs[0]))
			return FW_OK;
	}
	derived = fw_nn_derive(p, node, 1, k, bias);
	if (!derived)
		return fw_fail_nomem(err, (size_t)k * sizeof(*derived));
	if (!fw_nn_channel_floats(p, constant, &place, derived)) {
		*bias = (struct fw_nn_weight){ .id = FW_NN_NONE };
		return n->op == FW_NN_GEMM
			       ? fw_nn_refuse(p, node, err,
					      "its bias is not one fp32 constant a column")
			       : FW_OK;
	}
	if (n->op == FW_NN_MATMUL) {
		p->node_step[add] = step;
		*value = p->graph->nodes[add].outputs[0];
		p->places[*value] = place;
	}
	return FW_OK;
}

/* The result's rows lie as the input's: its dimensions too, but for the last. */
static fw_status place_rows(struct fw_nn_planner *p, uint32_t node, uint32_t step, int64_t k,
			    struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	struct fw_nn_place from = p->places[n->inputs[0]];
	struct fw_nn_draft_tensor draft = fw_nn_draft_like(p, from.tensor, n->outputs[0]);
	struct fw_nn_axes axes;
	uint32_t output;
	fw_status status;

	if (from.layout != FW_NN_AXES)
		return fw_nn_step_result(p, step, n->outputs[0], FW_NN_LAST, err);
	axes = *from.axes;
	if (axes.n_atoms && axes.atoms[axes.n_atoms - 1].kind == FW_NN_ATOM_CHANNEL)
		axes.n_atoms--;
	if (axes.n_atoms == FW_NN_MAX_ATOMS)
		return fw_nn_refuse(p, node, err, "its rows have too many parts");
	if (k != 1)
		axes.atoms[axes.n_atoms++] =
			(struct fw_nn_atom){ FW_NN_ATOM_CHANNEL, axes.rank - 1, k, 1 };
	draft.c = draft.padded_c = k;
	draft.producer = step;
	if ((status = fw_nn_tensor_new(p, &draft, &output, err)))
		return status;
	fw_nn_draft_step(p, step)->step.output = output;
	return fw_nn_axes_place(p, n->outputs[0], output, &axes, err);
}

fw_status fw_nn_plan_gemm(struct fw_nn_planner *p, uint32_t node, struct fw_error *err)
{
	uint32_t tensor, step, value = p->graph->nodes[node].outputs[0];
	struct fw_nn_weight weight = { .id = FW_NN_NONE };
	fw_status status;

	if (!fw_nn_is_constant(p, p->graph->nodes[node].inputs[1]) &&
	    p->graph->nodes[node].op == FW_NN_MATMUL)
		return fw_nn_plan_heads(p, node, err);
	if ((status = take_rows(p, node, &tensor, &weight, err)) ||
	    (status = take_matrix(p, node, &weight, err)) ||
	    (status = fw_nn_step_new(p, node, FW_NN_STEP_GEMM, tensor, &step, err)) ||
	    (status = place_rows(p, node, step, weight.k, err)))
		return status;
	if (fw_nn_draft(p, p->places[value].tensor)->c != weight.k)
		return fw_nn_refuse(p, node, err, "its result has other columns than its weight");
	fw_nn_draft_step(p, step)->step.weight = weight;
	status = take_row_bias(p, node, step, &value, err);
	if (!status)
		fw_nn_fuse_after(p, step, &value);
	return status;
}

static fw_status plan_global_average(struct fw_nn_planner *p, uint32_t node, uint32_t tensor,
				     enum fw_nn_layout layout, struct fw_error *err)
{
	uint32_t step;
	fw_status status = fw_nn_step_new(p, node, FW_NN_STEP_GLOBAL_AVERAGE, tensor, &step, err);

	if (status)
		return status;
	return fw_nn_step_result(p, step, p->graph->nodes[node].outputs[0], layout, err);
}

fw_status fw_nn_plan_pool(struct fw_nn_planner *p, uint32_t node, struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	enum fw_nn_step_kind kind =
		n->op == FW_NN_MAX_POOL ? FW_NN_STEP_MAX_POOL : FW_NN_STEP_AVERAGE_POOL;
	const struct fw_nn_draft_tensor *t;
	struct fw_nn_window window;
	uint32_t tensor, step;
	fw_status status = fw_nn_operand(p, node, 0, FW_NN_MAP, &tensor, err);

	if (status)
		return status;
	if (n->op == FW_NN_GLOBAL_AVERAGE_POOL)
		return plan_global_average(p, node, tensor, FW_NN_MAP, err);
	status = fw_nn_window_read(p, node, 0, 0, &window, err);
	if (status)
		return status;
	t = fw_nn_draft(p, tensor);
	if (kind == FW_NN_STEP_AVERAGE_POOL && window.r == t->h && window.s == t->w &&
	    !fw_nn_window_pads(&window))
		return plan_global_average(p, node, tensor, FW_NN_MAP, err);
	status = fw_nn_step_new(p, node, kind, tensor, &step, err);
	if (status)
		return status;
	fw_nn_draft_step(p, step)->step.window = window;
	return fw_nn_step_result(p, step, n->outputs[0], FW_NN_MAP, err);
}

/* Whether the axes of a mean are those of the pixels: 2 and 3 of a map, 1 of tokens. */
static bool are_pixel_axes(uint32_t n, const int64_t *axes, uint32_t rank, enum fw_nn_layout layout)
{
	uint32_t seen = 0, want = layout == FW_NN_MAP ? 0xc : rank == 3 ? 0x2 : 0x6;

	for (uint32_t i = 0; i < n; i++) {
		int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];

		if (axis < 0 || axis >= rank)
			return false;
		seen |= 1u << axis;
	}
	return seen == want && rank > 2;
}

fw_status fw_nn_plan_mean(struct fw_nn_planner *p, uint32_t node, struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	struct fw_nn_place place = p->places[n->inputs[0]];
	uint32_t rank = p->shapes[n->inputs[0]].rank, n_axes, tensor;
	bool keeps = fw_nn_attr_int(n, "keepdims", 1);
	const int64_t *axes;
	fw_status status;

	if (place.layout != FW_NN_MAP && place.layout != FW_NN_LAST)
		place.layout = FW_NN_MAP; /* refused by the next line */
	status = fw_nn_operand(p, node, 0, place.layout, &tensor, err);
	if (status)
		return status;
	if (!fw_nn_ints(p, n, "axes", 1, &n_axes, &axes) ||
	    !are_pixel_axes(n_axes, axes, rank, place.layout))
		return fw_nn_refuse(p, node, err,
				    "a mean is supported over all pixels of each channel only");
	return plan_global_average(p, node, tensor, keeps ? place.layout : FW_NN_LAST, err);
}

fw_status fw_nn_plan_softmax(struct fw_nn_planner *p, uint32_t node, struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	struct fw_nn_place place = p->places[n->inputs[0]];
	int64_t rank = p->shapes[n->inputs[0]].rank;
	int64_t axis = fw_nn_attr_int(n, "axis", p->graph->opset < 13 ? 1 : -1);
	enum fw_nn_layout layout = place.layout == FW_NN_MAP ? FW_NN_MAP : FW_NN_LAST;
	const struct fw_nn_draft_tensor *t;
	bool is_done = false;
	uint32_t tensor, step;
	fw_status status;

	if ((status = fw_nn_plan_shares(p, node, &is_done, err)) || is_done)
		return status;
	if ((status = fw_nn_operand(p, node, 0, layout, &tensor, err)))
		return status;
	t = fw_nn_draft(p, tensor);
	axis = axis < 0 ? axis + rank : axis;
	/* Before opset 13 all dimensions from the axis on are one. */
	if (axis != (layout == FW_NN_MAP ? 1 : rank - 1) ||
	    (p->graph->opset < 13 && layout == FW_NN_MAP && t->h * t->w > 1))
		return fw_nn_refuse(p, node, err, "softmax is supported over the channels only");
	status = fw_nn_step_new(p, node, FW_NN_STEP_SOFTMAX, tensor, &step, err);
	if (status)
		return status;
	return fw_nn_step_result_like(p, step, n->outputs[0], p->places[n->inputs[0]], err);
}
