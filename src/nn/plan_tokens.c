/* Tokens: their class token and positions, layer norm, and the one that is asked for in the end. */
#include "nn/plan_axes.h"

#include <string.h>

fw_status fw_nn_plan_layer_norm(struct fw_nn_planner *p, uint32_t node, struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	int64_t rank = p->shapes[n->inputs[0]].rank, axis = fw_nn_attr_int(n, "axis", -1), c;
	struct fw_nn_weight weights[2] = { { .id = FW_NN_NONE }, { .id = FW_NN_NONE } };
	uint32_t tensor, step;
	struct fw_nn_step *s;
	fw_status status;

	if ((status = fw_nn_operand(p, node, 0, FW_NN_LAST, &tensor, err)))
		return status;
	if ((axis < 0 ? axis + rank : axis) != rank - 1)
		return fw_nn_refuse(p, node, err,
				    "layer norm is supported over the last dimension only");
	c = fw_nn_draft(p, tensor)->c;
	for (uint32_t i = 0; i < 2 && i + 1 < n->n_inputs; i++) {
		uint32_t value = n->inputs[i + 1];

		if (value == FW_NN_NONE)
			continue;
		weights[i] = (struct fw_nn_weight){ .id = value, .k = c, .c = 1, .r = 1, .s = 1 };
		weights[i].data = fw_nn_floats(p, value, c);
		if (!weights[i].data)
			return fw_nn_refuse(p, node, err,
					    "input %u is not an fp32 constant of %lld elements",
					    i + 1, (long long)c);
	}
	if ((status = fw_nn_step_new(p, node, FW_NN_STEP_LAYER_NORM, tensor, &step, err)))
		return status;
	s = &fw_nn_draft_step(p, step)->step;
	s->weight = weights[0];
	s->bias = weights[1];
	s->epsilon = fw_nn_attr_float(n, "epsilon", 1e-5f);
	return fw_nn_step_result_like(p, step, n->outputs[0], p->places[n->inputs[0]], err);
}

/* A constant, or a constant expanded along the batch: c floats the same for every sample. NULL: it is neither. */
static const float *class_token(const struct fw_nn_planner *p, uint32_t value, int64_t c)
{
	uint32_t producer = value == FW_NN_NONE ? FW_NN_NONE : p->graph->values[value].producer;
	const struct fw_nn_value *v;
	const float *data;
	size_t rows;

	if (producer != FW_NN_NONE && p->graph->nodes[producer].op == FW_NN_EXPAND)
		value = p->graph->nodes[producer].inputs[0];
	if (!fw_nn_is_constant(p, value))
		return NULL;
	v = &p->graph->values[value];
	data = v->data;
	rows = v->bytes / sizeof(float) / (size_t)c;
	if (v->type != FW_NN_F32 || !rows || v->bytes != rows * (size_t)c * sizeof(float))
		return NULL;
	for (size_t i = 1; i < rows; i++)
		if (memcmp(data, data + i * (size_t)c, (size_t)c * sizeof(float)))
			return NULL;
	return data;
}

/* Positions: one row a token, the same for every sample. */
static const float *positions(const struct fw_nn_planner *p, uint32_t value, int64_t count)
{
	const struct fw_nn_shape *shape;

	if (!fw_nn_is_constant(p, value))
		return NULL;
	shape = &p->shapes[value];
	if (shape->rank < 2 || shape->rank > 3 || (shape->rank == 3 && shape->dims[0] != 1))
		return NULL;
	return fw_nn_floats(p, value, count);
}

/* The step: rows are what is added to each token; lead tokens come from it alone. */
static fw_status tokens_step(struct fw_nn_planner *p, uint32_t node, uint32_t from, uint32_t value,
			     int64_t lead, const float *first, const float *added,
			     struct fw_error *err)
{
	int64_t c = fw_nn_draft(p, from)->c, rows = fw_nn_draft(p, from)->h + lead;
	struct fw_nn_weight weight;
	uint32_t step;
	fw_status status = fw_nn_step_new(p, node, FW_NN_STEP_TOKENS, from, &step, err);
	float *data;

	if (status)
		return status;
	data = fw_nn_derive(p, node, 0, rows * c, &weight);
	if (!data)
		return fw_fail_nomem(err, (size_t)(rows * c) * sizeof(*data));
	if (added)
		memcpy(data, added, (size_t)(rows * c) * sizeof(*data));
	for (int64_t i = 0; i < lead * c; i++)
		data[i] += first[i];
	weight.k = rows;
	weight.c = c;
	fw_nn_draft_step(p, step)->step.weight = weight;
	return fw_nn_step_result(p, step, value, FW_NN_LAST, err);
}

static fw_status plan_class_token(struct fw_nn_planner *p, uint32_t node, bool *is_done,
				  struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	uint32_t value = n->outputs[0], add, other, from, step;
	const float *first, *added = NULL;
	int64_t axis = fw_nn_attr_int(n, "axis", 1);
	fw_status status;

	if (n->n_inputs != 2 || axis != 1 || p->shapes[value].rank != 3 ||
	    n->inputs[1] == FW_NN_NONE || p->places[n->inputs[1]].tensor == FW_NN_NONE ||
	    p->places[n->inputs[1]].layout != FW_NN_LAST)
		return FW_OK;
	from = p->places[n->inputs[1]].tensor;
	first = class_token(p, n->inputs[0], fw_nn_draft(p, from)->c);
	if (!first || p->shapes[value].dims[1] != fw_nn_draft(p, from)->h + 1)
		return FW_OK;
	*is_done = true;
	add = p->options->fuse ? fw_nn_only_user(p, value) : FW_NN_NONE;
	if (add != FW_NN_NONE && p->graph->nodes[add].op == FW_NN_ADD) {
		other = fw_nn_other_input(&p->graph->nodes[add], value);
		added = positions(p, other,
				  (fw_nn_draft(p, from)->h + 1) * fw_nn_draft(p, from)->c);
	}
	if (added)
		value = p->graph->nodes[add].outputs[0];
	step = (uint32_t)p->steps.len;
	status = tokens_step(p, node, from, value, 1, first, added, err);
	if (!status && added)
		p->node_step[add] = step;
	add = p->graph->values[n->inputs[0]].producer; /* an Expand of the token */
	if (!status && add != FW_NN_NONE)
		p->node_step[add] = step;
	return status;
}

static fw_status plan_positions(struct fw_nn_planner *p, uint32_t node, bool *is_done,
				struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	uint32_t value = n->inputs[fw_nn_is_constant(p, n->inputs[0]) ? 1 : 0], from;
	const float *added;

	if (p->places[value].tensor == FW_NN_NONE || p->places[value].layout != FW_NN_LAST ||
	    p->shapes[value].rank != 3 || !fw_nn_same_shape(p, value, n->outputs[0]))
		return FW_OK;
	from = p->places[value].tensor;
	if (fw_nn_draft(p, from)->h == 1)
		return FW_OK;
	added = positions(p, fw_nn_other_input(n, value),
			  fw_nn_draft(p, from)->h * fw_nn_draft(p, from)->c);
	if (!added)
		return FW_OK;
	*is_done = true;
	return tokens_step(p, node, from, n->outputs[0], 0, NULL, added, err);
}

fw_status fw_nn_plan_tokens(struct fw_nn_planner *p, uint32_t node, bool *is_done,
			    struct fw_error *err)
{
	return p->graph->nodes[node].op == FW_NN_CONCAT ? plan_class_token(p, node, is_done, err)
							: plan_positions(p, node, is_done, err);
}

fw_status fw_nn_plan_first_token(struct fw_nn_planner *p, uint32_t node, bool *is_done,
				 struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	const struct fw_nn_value *index = &p->graph->values[n->inputs[1]];
	struct fw_nn_place place = p->places[n->inputs[0]];
	struct fw_nn_draft_tensor view;

	if (place.layout != FW_NN_LAST || p->shapes[n->inputs[0]].rank != 3 ||
	    p->shapes[n->outputs[0]].rank != 2 || fw_nn_attr_int(n, "axis", 0) != 1 ||
	    !index->data || index->type != FW_NN_I64 || index->bytes != sizeof(int64_t) ||
	    *(const int64_t *)index->data)
		return FW_OK;
	*is_done = true;
	view = fw_nn_draft_view(p, place.tensor, n->outputs[0]);
	view.pixels = view.h * view.w;
	view.h = view.w = 1;
	return fw_nn_alias(p, n->outputs[0], FW_NN_LAST, &view, err);
}
