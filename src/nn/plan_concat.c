/* Concatenations along the channels: a buffer that the producers write into, where they can; else copies. */
#include "nn/plan_axes.h"

/* Engines read and write 16 bytes at a time: a part that begins elsewhere is copied. */
#define PART_ALIGNMENT 16

/* One tensor at channel `shift` of the output. */
static fw_status add_part(struct fw_nn_planner *p, uint32_t node, uint32_t from, uint32_t output,
			  int64_t shift, struct fw_error *err)
{
	struct fw_nn_draft_tensor view = fw_nn_draft_like(p, from, FW_NN_NONE);
	const struct fw_nn_draft_tensor *whole = fw_nn_draft(p, output);
	uint32_t step, part;
	fw_status status;

	if (view.n != whole->n || view.h != whole->h || view.w != whole->w ||
	    view.c > whole->c - shift)
		return fw_nn_refuse(p, node, err,
				    "its inputs do not fit together along the channels");
	if ((status = fw_nn_step_new(p, node, FW_NN_STEP_COPY, from, &step, err)))
		return status;
	view.parent = output;
	view.shift = shift;
	view.producer = step;
	if ((status = fw_nn_tensor_new(p, &view, &part, err)))
		return status;
	fw_nn_draft_step(p, step)->step.output = part;
	fw_nn_draft_step(p, step)->step.fallback = "a part of a concatenation is copied";
	fw_nn_draft(p, output)->producer = step;
	return FW_OK;
}

fw_status fw_nn_concat_new(struct fw_nn_planner *p, uint32_t node, uint32_t n,
			   const uint32_t *tensors, uint32_t *output, struct fw_error *err)
{
	struct fw_nn_draft_tensor whole = fw_nn_draft_like(p, tensors[0], FW_NN_NONE);
	struct fw_nn_draft_concat *concat;
	int64_t shift = 0;
	fw_status status;

	whole.name = p->graph->nodes[node].name;
	for (uint32_t i = 1; i < n; i++)
		if (__builtin_add_overflow(whole.c, fw_nn_draft(p, tensors[i])->c, &whole.c))
			return fw_nn_refuse(p, node, err, "its result is too large");
	whole.padded_c = whole.c;
	if ((status = fw_nn_tensor_new(p, &whole, output, err)))
		return status;
	concat = fw_vec_push(&p->concats);
	if (!concat)
		return fw_fail_nomem(err, sizeof(*concat));
	*concat = (struct fw_nn_draft_concat){ *output, (uint32_t)p->steps.len, n };
	for (uint32_t i = 0; i < n; i++) {
		if ((status = add_part(p, node, tensors[i], *output, shift, err)))
			return status;
		shift += fw_nn_draft(p, tensors[i])->c;
	}
	return FW_OK;
}

fw_status fw_nn_plan_concat(struct fw_nn_planner *p, uint32_t node, struct fw_error *err)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	uint32_t value = n->outputs[0], rank = p->shapes[value].rank, output;
	uint32_t *parts = fw_arena_array(&p->scratch, n->n_inputs, sizeof(*parts));
	enum fw_nn_layout layout = p->places[n->inputs[0]].layout;
	int64_t axis = fw_nn_attr_int(n, "axis", 1);
	bool is_tokens = false;
	fw_status status;

	if ((status = fw_nn_plan_tokens(p, node, &is_tokens, err)) || is_tokens)
		return status;
	axis = axis < 0 ? axis + rank : axis;
	layout = layout == FW_NN_FLAT ? FW_NN_LAST : layout;
	if ((layout != FW_NN_MAP && layout != FW_NN_LAST) ||
	    axis != (layout == FW_NN_MAP ? 1 : rank - 1))
		return fw_nn_refuse(p, node, err,
				    "a concatenation is supported along the channels only");
	if (!parts)
		return fw_fail_nomem(err, n->n_inputs * sizeof(*parts));
	for (uint32_t i = 0; i < n->n_inputs; i++)
		if ((status = fw_nn_operand(p, node, i, layout, &parts[i], err)))
			return status;
	if ((status = fw_nn_concat_new(p, node, n->n_inputs, parts, &output, err)))
		return status;
	if (p->shapes[value].dims[axis] != fw_nn_draft(p, output)->c)
		return fw_nn_refuse(p, node, err, "its inputs do not fill its result");
	fw_nn_draft(p, output)->name = p->graph->values[value].name;
	p->places[value] = (struct fw_nn_place){ output, layout, NULL };
	return FW_OK;
}

static bool is_aligned(const struct fw_nn_planner *p, int64_t elements)
{
	return elements * (int64_t)fw_nn_precision_bytes(p->options->precision) % PART_ALIGNMENT ==
	       0;
}

/* Where a tensor begins in its root, in elements; false: it is not a run of the root's channels. */
static bool find_shift(struct fw_nn_planner *p, uint32_t tensor, int64_t *shift)
{
	const struct fw_nn_draft_tensor *t = fw_nn_draft(p, tensor), *root = t;

	for (*shift = 0; root->parent != FW_NN_NONE; root = fw_nn_draft(p, root->parent)) {
		if (root->pixels != 1)
			return false;
		*shift += root->shift;
	}
	return t->n == root->n && t->h == root->h && t->w == root->w;
}

/* If all the parts lie side by side in one tensor already, the result is a view of it. */
static bool is_view(struct fw_nn_planner *p, const struct fw_nn_draft_concat *concat)
{
	struct fw_nn_draft_tensor *output = fw_nn_draft(p, concat->output);
	uint32_t root = fw_nn_root(p, fw_nn_draft_step(p, concat->first_step)->step.input);
	int64_t next = 0, first = 0, shift;

	if (output->parent != FW_NN_NONE || output->dense || output->is_fixed)
		return false;
	for (uint32_t i = 0; i < concat->n_steps; i++) {
		uint32_t input = fw_nn_draft_step(p, concat->first_step + i)->step.input;

		if (fw_nn_root(p, input) != root || !find_shift(p, input, &shift) ||
		    (i && shift != next))
			return false;
		first = i ? first : shift;
		next = shift + fw_nn_draft(p, input)->c;
	}
	if (fw_nn_draft(p, root)->n != output->n || fw_nn_draft(p, root)->h != output->h ||
	    !is_aligned(p, first))
		return false;
	output->parent = root;
	output->shift = first;
	return true;
}

/* Lets the part's producer write into the result. */
static bool place_part(struct fw_nn_planner *p, const struct fw_nn_draft_concat *concat,
		       const struct fw_nn_step *copy)
{
	struct fw_nn_draft_tensor *input = fw_nn_draft(p, copy->input);
	const struct fw_nn_draft_tensor *part = fw_nn_draft(p, copy->output);

	if (input->parent != FW_NN_NONE || input->dense || input->is_fixed ||
	    input->producer == FW_NN_NONE || input->padded_c != input->c ||
	    copy->input == fw_nn_root(p, concat->output) || !is_aligned(p, part->shift) ||
	    !is_aligned(p, fw_nn_draft(p, concat->output)->c))
		return false;
	input->parent = concat->output;
	input->shift = part->shift;
	return true;
}

static void place_concat(struct fw_nn_planner *p, const struct fw_nn_draft_concat *concat)
{
	uint32_t node = fw_nn_draft_step(p, concat->first_step)->node, last = 0;
	bool all = is_view(p, concat), any_left = false;

	for (uint32_t i = 0; i < concat->n_steps; i++) {
		struct fw_nn_draft_step *draft = fw_nn_draft_step(p, concat->first_step + i);
		uint32_t producer = fw_nn_draft(p, draft->step.input)->producer;

		draft->is_dropped = all || place_part(p, concat, &draft->step);
		if (!draft->is_dropped) {
			any_left = true;
			p->node_step[node] = concat->first_step + i;
		} else if (!any_left && producer != FW_NN_NONE && producer >= last) {
			last = producer;
			p->node_step[node] = producer;
		}
	}
}

void fw_nn_place_concats(struct fw_nn_planner *p)
{
	const struct fw_nn_draft_concat *concats = p->concats.data;

	if (!p->options->fuse || !p->options->concat_in_place)
		return;
	/* The last one first: the earlier ones of a dense block are its beginnings. */
	for (size_t i = p->concats.len; i-- > 0;)
		place_concat(p, &concats[i]);
}
