/* Attention: product of heads, softmax, product with the third; one step that reads q, k and v side by side. */
#include "nn/plan_axes.h"

#include <string.h>

static bool owe(struct fw_nn_axes *axes, uint32_t node)
{
	if (axes->n_owed == FW_NN_MAX_OWED)
		return false;
	axes->owed[axes->n_owed++] = node;
	return true;
}

/* Where channels lie in the outermost tensor of the same pixels. */
static struct fw_nn_heads resolve(struct fw_nn_planner *p, uint32_t tensor, int64_t first)
{
	const struct fw_nn_draft_tensor *t = fw_nn_draft(p, tensor);

	while (t->parent != FW_NN_NONE && t->pixels == 1 &&
	       fw_nn_draft(p, t->parent)->h * fw_nn_draft(p, t->parent)->w == t->h * t->w) {
		first += t->shift;
		tensor = t->parent;
		t = fw_nn_draft(p, tensor);
	}
	return (struct fw_nn_heads){ tensor, first };
}

/* One atom of a dimension; NULL: none or several. */
static const struct fw_nn_atom *only_atom(const struct fw_nn_axes *axes, uint32_t dim)
{
	const struct fw_nn_atom *found = NULL;

	for (uint32_t i = 0; i < axes->n_atoms; i++) {
		if (axes->atoms[i].dim != dim)
			continue;
		if (found)
			return NULL;
		found = &axes->atoms[i];
	}
	return found;
}

/* Whether dimension `dim` is all tokens and `other` the channels of a head. */
static bool is_head(struct fw_nn_planner *p, uint32_t tensor, const struct fw_nn_axes *axes,
		    uint32_t dim, uint32_t other)
{
	const struct fw_nn_draft_tensor *t = fw_nn_draft(p, tensor);
	const struct fw_nn_atom *tokens = only_atom(axes, dim), *width = only_atom(axes, other);

	return axes->rank >= 3 && axes->stage == FW_NN_STAGE_PLAIN && tokens && width &&
	       tokens->kind == FW_NN_ATOM_PIXEL && tokens->size == t->h * t->w &&
	       tokens->step == 1 && width->kind == FW_NN_ATOM_CHANNEL && width->step == 1;
}

/* Whether all but the last two dimensions are the same samples and heads. */
static bool same_heads(const struct fw_nn_axes *a, const struct fw_nn_axes *b)
{
	uint32_t i = 0, k = 0;

	if (a->rank != b->rank)
		return false;
	for (; i < a->n_atoms && a->atoms[i].dim + 2 < a->rank; i++, k++) {
		if (k >= b->n_atoms || a->atoms[i].dim != b->atoms[k].dim ||
		    a->atoms[i].kind != b->atoms[k].kind || a->atoms[i].size != b->atoms[k].size ||
		    a->atoms[i].step != b->atoms[k].step)
			return false;
	}
	return k == b->n_atoms || b->atoms[k].dim + 2 >= b->rank;
}

/* How many heads there are; 0: they do not follow each other in the channels. */
static int64_t count_heads(const struct fw_nn_axes *axes, int64_t width)
{
	int64_t heads = 1;

	for (uint32_t i = 0; i < axes->n_atoms && axes->atoms[i].dim + 2 < axes->rank; i++) {
		const struct fw_nn_atom *a = &axes->atoms[i];

		if (a->kind == FW_NN_ATOM_PIXEL ||
		    (a->kind == FW_NN_ATOM_CHANNEL && (a->step != width || heads != 1)))
			return 0;
		if (a->kind == FW_NN_ATOM_CHANNEL)
			heads = a->size;
	}
	return heads;
}

static fw_status plan_scores(struct fw_nn_planner *p, uint32_t node, const struct fw_nn_axes *q,
			     const struct fw_nn_axes *k, struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	struct fw_nn_axes scores = *q;
	uint32_t rank = q->rank, tensor = p->places[n->inputs[0]].tensor;
	uint32_t other = p->places[n->inputs[1]].tensor;

	if (!is_head(p, tensor, q, rank - 2, rank - 1) ||
	    !is_head(p, other, k, k->rank - 1, k->rank - 2) || !same_heads(q, k))
		return fw_nn_refuse(
			p, node, err,
			"a product of two computed values is supported as attention only");
	scores.width = only_atom(q, rank - 1)->size;
	scores.heads = count_heads(q, scores.width);
	if (!scores.heads || only_atom(k, k->rank - 2)->size != scores.width)
		return fw_nn_refuse(p, node, err,
				    "its heads do not lie side by side in the channels");
	scores.stage = FW_NN_STAGE_SCORES;
	scores.scale = q->scale * k->scale;
	scores.q = resolve(p, tensor, q->first_channel);
	scores.k = resolve(p, other, k->first_channel);
	for (uint32_t i = 0; i < k->n_owed; i++)
		if (!owe(&scores, k->owed[i]))
			return fw_nn_refuse(p, node, err, "too many nodes before it");
	if (!owe(&scores, node))
		return fw_nn_refuse(p, node, err, "too many nodes before it");
	return fw_nn_axes_place(p, n->outputs[0], tensor, &scores, err);
}

/* A part of the three operands: a tensor of its own channels. */
static fw_status operand(struct fw_nn_planner *p, struct fw_nn_heads heads, int64_t c,
			 uint32_t *tensor, struct fw_error *err)
{
	struct fw_nn_draft_tensor view = fw_nn_draft_view(p, heads.tensor, FW_NN_NONE);

	view.shift = heads.first;
	view.c = view.padded_c = c;
	if (heads.first < 0 || c > fw_nn_draft(p, heads.tensor)->c - heads.first)
		return fw_fail(err, FW_ERR_UNSUPPORTED, "heads of '%.64s' reach past its channels",
			       view.name);
	if (view.c == fw_nn_draft(p, heads.tensor)->c) {
		*tensor = heads.tensor;
		return FW_OK;
	}
	return fw_nn_tensor_new(p, &view, tensor, err);
}

/* q, k and v side by side: as they lie, or as parts of a new tensor that their producers can write into. */
static fw_status side_by_side(struct fw_nn_planner *p, uint32_t node,
			      const struct fw_nn_heads parts[3], int64_t c, uint32_t *tensor,
			      struct fw_error *err)
{
	uint32_t operands[3];
	fw_status status;

	if (parts[1].tensor == parts[0].tensor && parts[2].tensor == parts[0].tensor &&
	    parts[1].first == parts[0].first + c && parts[2].first == parts[0].first + 2 * c)
		return operand(p, parts[0], 3 * c, tensor, err);
	for (int i = 0; i < 3; i++)
		if ((status = operand(p, parts[i], c, &operands[i], err)))
			return status;
	return fw_nn_concat_new(p, node, 3, operands, tensor, err);
}

static fw_status plan_context(struct fw_nn_planner *p, uint32_t node,
			      const struct fw_nn_axes *shares, const struct fw_nn_axes *v,
			      struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	uint32_t tensor = p->places[n->inputs[1]].tensor, step, output;
	int64_t c = shares->heads * shares->width;
	struct fw_nn_draft_tensor draft = fw_nn_draft_like(p, tensor, n->outputs[0]);
	struct fw_nn_axes result = *v;
	struct fw_nn_step *s;
	fw_status status;

	if (!is_head(p, tensor, v, v->rank - 2, v->rank - 1) || !same_heads(shares, v) ||
	    v->scale != 1 || only_atom(v, v->rank - 1)->size != shares->width)
		return fw_nn_refuse(p, node, err,
				    "its second operand has not the heads of its first");
	const struct fw_nn_heads parts[3] = { shares->q, shares->k,
					      resolve(p, tensor, v->first_channel) };
	if ((status = side_by_side(p, node, parts, c, &tensor, err)) ||
	    (status = fw_nn_step_new(p, node, FW_NN_STEP_ATTENTION, tensor, &step, err)))
		return status;
	draft.c = draft.padded_c = c;
	draft.producer = step;
	if ((status = fw_nn_tensor_new(p, &draft, &output, err)))
		return status;
	s = &fw_nn_draft_step(p, step)->step;
	s->heads = shares->heads;
	s->scale = shares->scale;
	s->output = output;
	p->node_step[node] = step;
	for (uint32_t i = 0; i < shares->n_owed; i++)
		p->node_step[shares->owed[i]] = step;
	result.first_channel = 0;
	return fw_nn_axes_place(p, n->outputs[0], output, &result, err);
}

fw_status fw_nn_plan_heads(struct fw_nn_planner *p, uint32_t node, struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	struct fw_nn_axes a, b;

	for (uint32_t i = 0; i < 2; i++)
		if (p->places[n->inputs[i]].tensor == FW_NN_NONE)
			return fw_nn_refuse(p, node, err, "its first operand is a constant");
	fw_nn_axes_of(p, n->inputs[0], &a);
	fw_nn_axes_of(p, n->inputs[1], &b);
	if (a.stage == FW_NN_STAGE_SHARES)
		return plan_context(p, node, &a, &b, err);
	if (a.stage == FW_NN_STAGE_SCORES)
		return fw_nn_refuse(p, node, err, "its scores have not gone through a softmax");
	return plan_scores(p, node, &a, &b, err);
}

fw_status fw_nn_plan_shares(struct fw_nn_planner *p, uint32_t node, bool *is_done,
			    struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	bool is_softmax = n->op == FW_NN_SOFTMAX;
	uint32_t value = n->inputs[0];
	struct fw_nn_axes axes;
	int64_t axis;
	float factor;

	if (!is_softmax && p->places[value].tensor == FW_NN_NONE && n->op == FW_NN_MUL)
		value = n->inputs[1];
	if (p->places[value].tensor == FW_NN_NONE || p->places[value].layout != FW_NN_AXES)
		return FW_OK;
	axes = *p->places[value].axes;
	if (is_softmax) {
		axis = fw_nn_attr_int(n, "axis", p->graph->opset < 13 ? 1 : -1);
		axis = axis < 0 ? axis + axes.rank : axis;
		if (axes.stage != FW_NN_STAGE_SCORES || axis != axes.rank - 1)
			return FW_OK;
		axes.stage = FW_NN_STAGE_SHARES;
	} else {
		if (axes.stage == FW_NN_STAGE_SHARES ||
		    (n->op != FW_NN_MUL && n->op != FW_NN_DIV) ||
		    !fw_nn_is_scalar(p, fw_nn_other_input(n, value), &factor))
			return FW_OK;
		axes.scale *= n->op == FW_NN_MUL ? factor : 1 / factor;
	}
	*is_done = true;
	if (!owe(&axes, node))
		return fw_nn_refuse(p, node, err, "too many nodes before it");
	return fw_nn_axes_place(p, n->outputs[0], p->places[value].tensor, &axes, err);
}
