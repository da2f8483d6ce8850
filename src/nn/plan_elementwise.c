/* Steps that compute each element by itself: activations, sums and products, scale and shift by channel. */
#include "nn/plan_axes.h"

#include <math.h>

/* Marks the match's nodes as the step's, and gives its result a place like the input's. */
static fw_status take_match(struct fw_nn_planner *p, uint32_t step, const struct fw_nn_match *match,
			    struct fw_nn_place like, struct fw_error *err)
{
	for (uint32_t i = 0; i < match->n_nodes; i++)
		p->node_step[match->nodes[i]] = step;
	fw_nn_draft_step(p, step)->step.act = match->act;
	return fw_nn_step_result_like(p, step, match->value, like, err);
}

/* An activation by itself, of an input that other nodes may read too. *is_done: it was one. */
static fw_status plan_act(struct fw_nn_planner *p, uint32_t node, bool *is_done,
			  struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	struct fw_nn_match match;

	for (uint32_t i = 0; i < n->n_inputs && i < 2; i++) {
		uint32_t value = n->inputs[i], step;
		fw_status status;

		if (value == FW_NN_NONE || p->places[value].tensor == FW_NN_NONE ||
		    !fw_nn_match_act(p, value, node, &match) ||
		    !fw_nn_same_shape(p, value, match.value))
			continue;
		*is_done = true;
		status = fw_nn_step_new(p, node, FW_NN_STEP_ELEMENTWISE, p->places[value].tensor,
					&step, err);
		return status ? status : take_match(p, step, &match, p->places[value], err);
	}
	return FW_OK;
}

/* Scale and shift of a channel: what a chain of constants does to an element. */
struct affine {
	float *scale, *shift;
	struct fw_nn_weight weight, bias;
};

static fw_status affine_new(struct fw_nn_planner *p, uint32_t node, int64_t c,
			    struct affine *affine, struct fw_error *err)
{
	affine->scale = fw_nn_derive(p, node, 0, c, &affine->weight);
	affine->shift = fw_nn_derive(p, node, 1, c, &affine->bias);
	if (!affine->scale || !affine->shift)
		return fw_fail_nomem(err, (size_t)c * sizeof(float));
	for (int64_t i = 0; i < c; i++)
		affine->scale[i] = 1;
	return FW_OK;
}

/* Follows one node with a constant operand; scratch: c floats. False: it is of another kind. */
static bool affine_add(struct fw_nn_planner *p, uint32_t node, uint32_t value, float *scratch,
		       struct affine *affine)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	const struct fw_nn_place *place = &p->places[value];
	bool is_first = n->inputs[0] == value;
	uint32_t other = fw_nn_other_input(n, value);

	if (!fw_nn_is_constant(p, other) || !fw_nn_same_shape(p, value, n->outputs[0]) ||
	    !fw_nn_channel_floats(p, other, place, scratch) || (n->op == FW_NN_DIV && !is_first))
		return false;
	for (int64_t i = 0; i < affine->weight.k; i++) {
		float x = n->op == FW_NN_DIV ? 1 / scratch[i] : scratch[i];

		if (n->op == FW_NN_MUL || n->op == FW_NN_DIV) {
			affine->scale[i] *= x;
			affine->shift[i] *= x;
		} else if (n->op == FW_NN_SUB && !is_first) {
			affine->scale[i] = -affine->scale[i];
			affine->shift[i] = x - affine->shift[i];
		} else {
			affine->shift[i] += n->op == FW_NN_SUB ? -x : x;
		}
	}
	return true;
}

/* The step of an affine: a depthwise convolution of one pixel, which every engine has. */
static fw_status affine_step(struct fw_nn_planner *p, uint32_t node, uint32_t from,
			     const struct affine *affine, uint32_t *step, struct fw_error *err)
{
	struct fw_nn_step *s;
	fw_status status =
		fw_nn_step_new(p, node, FW_NN_STEP_CONV, p->places[from].tensor, step, err);

	if (status)
		return status;
	s = &fw_nn_draft_step(p, *step)->step;
	s->weight = affine->weight;
	s->bias = affine->bias;
	s->window = (struct fw_nn_window){
		.r = 1,
		.s = 1,
		.stride_y = 1,
		.stride_x = 1,
		.dilation_y = 1,
		.dilation_x = 1,
		.groups = affine->weight.k,
	};
	return FW_OK;
}

static bool is_affine_op(enum fw_nn_op op)
{
	return op == FW_NN_ADD || op == FW_NN_SUB || op == FW_NN_MUL || op == FW_NN_DIV;
}

/* A chain of constants added or multiplied, from node on. */
static fw_status plan_affine(struct fw_nn_planner *p, uint32_t node, uint32_t from,
			     struct fw_error *err)
{
	struct fw_nn_place place = p->places[from];
	int64_t c = fw_nn_draft(p, place.tensor)->c;
	float *scratch = fw_arena_array(&p->scratch, (size_t)c, sizeof(*scratch));
	uint32_t step, value = p->graph->nodes[node].outputs[0], next;
	struct fw_nn_match match;
	struct affine affine;
	fw_status status;

	if (!scratch)
		return fw_fail_nomem(err, (size_t)c * sizeof(*scratch));
	if ((status = affine_new(p, node, c, &affine, err)))
		return status;
	if (!affine_add(p, node, from, scratch, &affine))
		return fw_nn_refuse(p, node, err,
				    "its constant is not one fp32 number or one a channel");
	if ((status = affine_step(p, node, from, &affine, &step, err)))
		return status;
	p->places[value] = place;
	while (p->options->fuse && (next = fw_nn_only_user(p, value)) != FW_NN_NONE &&
	       is_affine_op(p->graph->nodes[next].op) && !fw_nn_match_act(p, value, next, &match) &&
	       affine_add(p, next, value, scratch, &affine)) {
		p->node_step[next] = step;
		value = p->graph->nodes[next].outputs[0];
		p->places[value] = place;
	}
	status = fw_nn_step_result_like(p, step, value, place, err);
	if (!status)
		fw_nn_fuse_after(p, step, &value);
	return status;
}

fw_status fw_nn_plan_batch_norm(struct fw_nn_planner *p, uint32_t node, struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	double epsilon = (double)fw_nn_attr_float(n, "epsilon", 1e-5f);
	uint32_t tensor, step, value = n->outputs[0];
	const float *v[5] = { NULL }; /* of inputs 1 to 4: scale, shift, mean, variance */
	struct affine affine;
	fw_status status;
	int64_t c;

	status = fw_nn_operand(p, node, 0,
			       p->shapes[n->inputs[0]].rank == 4 ? FW_NN_MAP : FW_NN_LAST, &tensor,
			       err);
	if (status)
		return status;
	if (p->places[n->inputs[0]].layout == FW_NN_LAST && p->shapes[n->inputs[0]].rank != 2)
		return fw_nn_refuse(p, node, err, "its channels are not dimension 1");
	c = fw_nn_draft(p, tensor)->c;
	for (uint32_t i = 1; i < 5; i++)
		if (!(v[i] = fw_nn_floats(p, n->inputs[i], c)))
			return fw_nn_refuse(p, node, err,
					    "input %u is not an fp32 constant of %lld elements", i,
					    (long long)c);
	if ((status = affine_new(p, node, c, &affine, err)))
		return status;
	for (int64_t i = 0; i < c; i++) {
		double scale = (double)v[1][i] / sqrt((double)v[4][i] + epsilon);

		affine.scale[i] = (float)scale;
		affine.shift[i] = (float)((double)v[2][i] - (double)v[3][i] * scale);
	}
	if ((status = affine_step(p, node, n->inputs[0], &affine, &step, err)) ||
	    (status = fw_nn_step_result_like(p, step, value, p->places[n->inputs[0]], err)))
		return status;
	fw_nn_fuse_after(p, step, &value);
	return FW_OK;
}

/* Whether b has one pixel for each sample of a, and the result has a's shape. */
static bool is_one_pixel_of(struct fw_nn_planner *p, uint32_t a, uint32_t b, uint32_t result)
{
	const struct fw_nn_draft_tensor *x = fw_nn_draft(p, p->places[a].tensor);
	const struct fw_nn_draft_tensor *y = fw_nn_draft(p, p->places[b].tensor);

	return y->h == 1 && y->w == 1 && x->n == y->n && x->c == y->c &&
	       p->shapes[a].rank == p->shapes[b].rank && fw_nn_same_shape(p, a, result);
}

/* The step whose only result is value, seen through views that nothing else reads; FW_NN_NONE: there is none. */
static uint32_t sole_writer(struct fw_nn_planner *p, uint32_t value)
{
	uint32_t tensor = p->places[value].tensor, step = fw_nn_draft(p, tensor)->producer;
	uint32_t producer = p->graph->values[value].producer;

	if (step == FW_NN_NONE || fw_nn_draft_step(p, step)->step.output != tensor)
		return FW_NN_NONE;
	for (;;) {
		if (p->uses[value] != 1 || producer == FW_NN_NONE || p->node_step[producer] != step)
			return FW_NN_NONE;
		if (p->graph->nodes[producer].op != FW_NN_RESHAPE &&
		    p->graph->nodes[producer].op != FW_NN_TRANSPOSE)
			return step;
		value = p->graph->nodes[producer].inputs[0];
		producer = p->graph->values[value].producer;
	}
}

/* Whether no step reads the tensor yet. */
static bool is_unread(struct fw_nn_planner *p, uint32_t tensor)
{
	for (uint32_t i = 0; i < p->steps.len; i++) {
		const struct fw_nn_step *s = &fw_nn_draft_step(p, i)->step;

		if (s->input == tensor || s->second == tensor)
			return false;
	}
	return true;
}

/*
 * A sum whose one operand comes from a product with nothing but views between them, as attention's output has in
 * PyTorch: the product takes the other operand as its residual if that was there before it. False: there is no such product.
 */
static bool fuse_residual_back(struct fw_nn_planner *p, uint32_t node)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	uint32_t value = n->outputs[0];

	for (uint32_t i = 0; i < 2 && p->options->fuse; i++) {
		uint32_t a = n->inputs[i], b = n->inputs[1 - i], step = sole_writer(p, a);
		uint32_t other = p->places[b].tensor, writer = fw_nn_draft(p, other)->producer;
		struct fw_nn_step *s;

		if (step == FW_NN_NONE || a == b || fw_nn_draft(p, other)->parent != FW_NN_NONE)
			continue;
		s = &fw_nn_draft_step(p, step)->step;
		if ((writer != FW_NN_NONE && writer >= step) || s->kind != FW_NN_STEP_GEMM ||
		    s->second != FW_NN_NONE || s->act.kind != FW_NN_ACT_NONE ||
		    !is_unread(p, s->output))
			continue;
		s->second = other;
		p->places[value] = p->places[a];
		p->node_step[node] = step;
		fw_nn_fuse_after(p, step, &value);
		return true;
	}
	return false;
}

/* Sum, difference or product of two computed values. */
static fw_status plan_binary(struct fw_nn_planner *p, uint32_t node, struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	uint32_t a = n->inputs[0], b = n->inputs[1], value = n->outputs[0], step;
	struct fw_nn_step *s;
	fw_status status;

	if (p->places[a].layout != p->places[b].layout || p->places[a].layout == FW_NN_AXES)
		return fw_nn_refuse(p, node, err,
				    "its operands have their dimensions in other orders");
	if (n->op != FW_NN_SUB && is_one_pixel_of(p, b, a, value) && !fw_nn_same_shape(p, a, b)) {
		a = n->inputs[1];
		b = n->inputs[0];
	}
	if (!fw_nn_same_shape(p, a, b) && !is_one_pixel_of(p, a, b, value))
		return fw_nn_refuse(
			p, node, err,
			"operands of two shapes are supported where one has one pixel only");
	if (n->op == FW_NN_DIV)
		return fw_nn_refuse(p, node, err, "a division is supported by a constant only");
	if (n->op == FW_NN_ADD && fw_nn_same_shape(p, a, b) && fuse_residual_back(p, node))
		return FW_OK;
	status = fw_nn_step_new(p, node, FW_NN_STEP_ELEMENTWISE, p->places[a].tensor, &step, err);
	if (status)
		return status;
	s = &fw_nn_draft_step(p, step)->step;
	s->second = p->places[b].tensor;
	s->elementwise = n->op == FW_NN_ADD   ? FW_NN_ELEMENTWISE_ADD
			 : n->op == FW_NN_SUB ? FW_NN_ELEMENTWISE_SUB
					      : FW_NN_ELEMENTWISE_MUL;
	status = fw_nn_step_result_like(p, step, value, p->places[a], err);
	if (!status)
		fw_nn_fuse_after(p, step, &value);
	return status;
}

fw_status fw_nn_plan_elementwise(struct fw_nn_planner *p, uint32_t node, struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	bool is_done = false, known[2] = { false, false };
	fw_status status = plan_act(p, node, &is_done, err);

	if (status || is_done)
		return status;
	if (is_affine_op(n->op) &&
	    ((status = fw_nn_plan_shares(p, node, &is_done, err)) || is_done))
		return status;
	for (uint32_t i = 0; i < 2 && i < n->n_inputs; i++)
		known[i] = p->places[n->inputs[i]].tensor != FW_NN_NONE;
	if (is_affine_op(n->op) && known[0] && known[1])
		return plan_binary(p, node, err);
	if (n->op == FW_NN_ADD && ((status = fw_nn_plan_tokens(p, node, &is_done, err)) || is_done))
		return status;
	if (is_affine_op(n->op) && (known[0] || known[1]))
		return plan_affine(p, node, n->inputs[known[0] ? 0 : 1], err);
	if (n->op == FW_NN_CLIP)
		return fw_nn_refuse(p, node, err, "its bounds are not fp32 constants");
	return fw_nn_refuse(p, node, err, "is supported only as a part of an activation");
}
