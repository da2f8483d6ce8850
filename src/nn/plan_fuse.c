/* What follows a step and becomes a part of it: a residual, an activation in one node or in several. */
#include "nn/planner.h"

#include <math.h>
#include <stddef.h>

uint32_t fw_nn_only_user(const struct fw_nn_planner *p, uint32_t value)
{
	if (p->uses[value] != 1 || p->first_use[value] == p->first_use[value + 1])
		return FW_NN_NONE;
	return p->users[p->first_use[value]];
}

uint32_t fw_nn_other_input(const struct fw_nn_node *node, uint32_t value)
{
	return node->inputs[node->inputs[0] == value ? 1 : 0];
}

static bool is_op(const struct fw_nn_planner *p, uint32_t node, enum fw_nn_op op)
{
	return node != FW_NN_NONE && p->graph->nodes[node].op == op &&
	       p->node_step[node] == FW_NN_NONE;
}

/* The node of this operator that alone reads value, or FW_NN_NONE. */
static uint32_t next_op(const struct fw_nn_planner *p, uint32_t value, enum fw_nn_op op)
{
	uint32_t user = fw_nn_only_user(p, value);

	return is_op(p, user, op) ? user : FW_NN_NONE;
}

/* The same, whose other input is a scalar about x. */
static uint32_t next_scalar_op(const struct fw_nn_planner *p, uint32_t value, enum fw_nn_op op,
			       float x)
{
	uint32_t user = next_op(p, value, op);
	const struct fw_nn_node *node;

	if (user == FW_NN_NONE)
		return FW_NN_NONE;
	node = &p->graph->nodes[user];
	return fw_nn_is_about(p, fw_nn_other_input(node, value), x) ? user : FW_NN_NONE;
}

/* value / x or value * (1 / x). */
static uint32_t next_division(const struct fw_nn_planner *p, uint32_t value, float x)
{
	uint32_t user = next_op(p, value, FW_NN_DIV);

	if (user != FW_NN_NONE)
		return p->graph->nodes[user].inputs[0] == value &&
				       fw_nn_is_about(p, p->graph->nodes[user].inputs[1], x)
			       ? user
			       : FW_NN_NONE;
	return next_scalar_op(p, value, FW_NN_MUL, 1 / x);
}

static void add_node(struct fw_nn_match *match, const struct fw_nn_planner *p, uint32_t node)
{
	match->nodes[match->n_nodes++] = node;
	match->value = p->graph->nodes[node].outputs[0];
}

/* Clip's bounds, constants or attributes; false: they are computed. */
static bool clip_bounds(const struct fw_nn_planner *p, const struct fw_nn_node *node, float *low,
			float *high)
{
	float *bounds[] = { low, high };

	*low = fw_nn_attr_float(node, "min", -INFINITY);
	*high = fw_nn_attr_float(node, "max", INFINITY);
	for (uint32_t i = 1; i < node->n_inputs && i < 3; i++)
		if (node->inputs[i] != FW_NN_NONE &&
		    !fw_nn_is_scalar(p, node->inputs[i], bounds[i - 1]))
			return false;
	return true;
}

static bool simple_act(const struct fw_nn_planner *p, const struct fw_nn_node *node,
		       struct fw_nn_act *act)
{
	const struct fw_nn_attr *approximate;

	switch (node->op) {
	case FW_NN_RELU:
		*act = (struct fw_nn_act){ FW_NN_ACT_CLAMP, .low = 0, .high = INFINITY };
		return true;
	case FW_NN_CLIP:
		act->kind = FW_NN_ACT_CLAMP;
		return clip_bounds(p, node, &act->low, &act->high);
	case FW_NN_SIGMOID: act->kind = FW_NN_ACT_SIGMOID; return true;
	case FW_NN_HARD_SIGMOID:
		act->kind = FW_NN_ACT_HARD_SIGMOID;
		act->alpha = fw_nn_attr_float(node, "alpha", 0.2f);
		act->beta = fw_nn_attr_float(node, "beta", 0.5f);
		return true;
	case FW_NN_HARD_SWISH: act->kind = FW_NN_ACT_HARD_SWISH; return true;
	case FW_NN_TANH: act->kind = FW_NN_ACT_TANH; return true;
	case FW_NN_GELU:
		approximate = fw_nn_attr_find(node, "approximate");
		act->kind = approximate && approximate->text && approximate->text[0] == 't'
				    ? FW_NN_ACT_GELU_TANH
				    : FW_NN_ACT_GELU;
		return true;
	default: return false;
	}
}

/* The product of value with `factor`, which nothing else reads; FW_NN_NONE: there is none. */
static uint32_t gate(const struct fw_nn_planner *p, uint32_t value, uint32_t factor)
{
	uint32_t user = next_op(p, factor, FW_NN_MUL);

	return user != FW_NN_NONE && fw_nn_other_input(&p->graph->nodes[user], factor) == value
		       ? user
		       : FW_NN_NONE;
}

/* x sigmoid(x), and x hard_sigmoid(x) with the hard swish's slope. */
static void match_gate(const struct fw_nn_planner *p, uint32_t value, struct fw_nn_match *match)
{
	uint32_t product = gate(p, value, match->value);
	bool is_hard_swish = match->act.kind == FW_NN_ACT_HARD_SIGMOID &&
			     fabsf(match->act.alpha - 1.0f / 6) < 1e-5f &&
			     fabsf(match->act.beta - 0.5f) < 1e-5f;

	if (product == FW_NN_NONE || !p->options->fuse)
		return;
	if (match->act.kind == FW_NN_ACT_SIGMOID)
		match->act.kind = FW_NN_ACT_SWISH;
	else if (is_hard_swish)
		match->act.kind = FW_NN_ACT_HARD_SWISH;
	else
		return;
	add_node(match, p, product);
}

/* clip(x + 3, 0, 6) / 6, with the product by x before or after the division, or without it. */
static bool match_hard(const struct fw_nn_planner *p, uint32_t value, struct fw_nn_match *match)
{
	const struct fw_nn_node *add = &p->graph->nodes[match->nodes[0]];
	uint32_t clip, product, division;
	float low, high;

	if (!fw_nn_is_about(p, fw_nn_other_input(add, value), 3))
		return false;
	clip = next_op(p, match->value, FW_NN_CLIP);
	if (clip == FW_NN_NONE || !clip_bounds(p, &p->graph->nodes[clip], &low, &high) ||
	    low != 0 || high != 6)
		return false;
	add_node(match, p, clip);
	match->act = (struct fw_nn_act){ FW_NN_ACT_HARD_SIGMOID, .alpha = 1.0f / 6, .beta = 0.5f };
	product = gate(p, value, match->value);
	if (product != FW_NN_NONE) {
		add_node(match, p, product);
		match->act.kind = FW_NN_ACT_HARD_SWISH;
	}
	division = next_division(p, match->value, 6);
	if (division == FW_NN_NONE)
		return false;
	add_node(match, p, division);
	if (product == FW_NN_NONE)
		match_gate(p, value, match);
	return true;
}

/* x (1 + erf(x / sqrt 2)) / 2, as PyTorch writes gelu where the opset has none. */
static bool match_gelu(const struct fw_nn_planner *p, uint32_t value, struct fw_nn_match *match)
{
	const struct fw_nn_node *first = &p->graph->nodes[match->nodes[0]];
	bool is_division = first->op == FW_NN_DIV;
	uint32_t next;

	if ((is_division && first->inputs[0] != value) ||
	    !fw_nn_is_about(p, fw_nn_other_input(first, value),
			    is_division ? (float)sqrt(2) : (float)sqrt(0.5)))
		return false;
	next = next_op(p, match->value, FW_NN_ERF);
	if (next == FW_NN_NONE)
		return false;
	add_node(match, p, next);
	next = next_scalar_op(p, match->value, FW_NN_ADD, 1);
	if (next == FW_NN_NONE)
		return false;
	add_node(match, p, next);
	next = gate(p, value, match->value);
	if (next == FW_NN_NONE)
		return false;
	add_node(match, p, next);
	next = next_scalar_op(p, match->value, FW_NN_MUL, 0.5f);
	if (next == FW_NN_NONE)
		return false;
	add_node(match, p, next);
	match->act = (struct fw_nn_act){ .kind = FW_NN_ACT_GELU };
	return true;
}

/* How often the nodes of a match read value. */
static uint32_t uses_by(const struct fw_nn_planner *p, uint32_t value,
			const struct fw_nn_match *match)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < match->n_nodes; i++)
		for (uint32_t k = 0; k < p->graph->nodes[match->nodes[i]].n_inputs; k++)
			count += p->graph->nodes[match->nodes[i]].inputs[k] == value;
	return count;
}

static bool match_from(const struct fw_nn_planner *p, uint32_t value, uint32_t first,
		       struct fw_nn_match *match)
{
	const struct fw_nn_node *node = &p->graph->nodes[first];

	*match = (struct fw_nn_match){ .act.kind = FW_NN_ACT_NONE };
	if (p->node_step[first] != FW_NN_NONE || node->inputs[0] == FW_NN_NONE)
		return false;
	add_node(match, p, first);
	switch (node->op) {
	case FW_NN_ADD: return p->options->fuse && match_hard(p, value, match);
	case FW_NN_DIV:
	case FW_NN_MUL: return match_gelu(p, value, match);
	default: break;
	}
	if (node->inputs[0] != value || !simple_act(p, node, &match->act))
		return false;
	match_gate(p, value, match);
	return true;
}

bool fw_nn_match_act(const struct fw_nn_planner *p, uint32_t value, uint32_t first,
		     struct fw_nn_match *match)
{
	if (first != FW_NN_NONE)
		return match_from(p, value, first, match);
	for (uint32_t i = p->first_use[value]; i < p->first_use[value + 1]; i++)
		if (match_from(p, value, p->users[i], match) &&
		    uses_by(p, value, match) == p->uses[value])
			return true;
	return false;
}

/* The other operand of an addition that alone reads value, computed already and of one shape; or FW_NN_NONE. */
static uint32_t find_residual(const struct fw_nn_planner *p, uint32_t value, uint32_t *node)
{
	uint32_t add = next_op(p, value, FW_NN_ADD), other;

	if (add == FW_NN_NONE)
		return FW_NN_NONE;
	other = fw_nn_other_input(&p->graph->nodes[add], value);
	if (other == value || p->places[other].tensor == FW_NN_NONE ||
	    p->places[other].layout != p->places[value].layout ||
	    p->places[value].layout == FW_NN_AXES || !fw_nn_same_shape(p, value, other))
		return FW_NN_NONE;
	*node = add;
	return other;
}

void fw_nn_fuse_after(struct fw_nn_planner *p, uint32_t step, uint32_t *value)
{
	struct fw_nn_step *s = &fw_nn_draft_step(p, step)->step;
	struct fw_nn_place place = p->places[*value];
	struct fw_nn_match match;
	uint32_t residual, node;

	if (!p->options->fuse)
		return;
	residual = s->second == FW_NN_NONE ? find_residual(p, *value, &node) : FW_NN_NONE;
	if (residual != FW_NN_NONE && s->kind != FW_NN_STEP_ELEMENTWISE) {
		s->second = p->places[residual].tensor;
		p->node_step[node] = step;
		*value = p->graph->nodes[node].outputs[0];
	}
	if (fw_nn_match_act(p, *value, FW_NN_NONE, &match) &&
	    fw_nn_same_shape(p, *value, match.value)) {
		s->act = match.act;
		for (uint32_t i = 0; i < match.n_nodes; i++)
			p->node_step[match.nodes[i]] = step;
		*value = match.value;
	}
	p->places[*value] = place;
	fw_nn_draft(p, place.tensor)->name = p->graph->values[*value].name;
}
