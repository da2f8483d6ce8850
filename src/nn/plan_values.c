/* Where the values of a graph lie in the plan's tensors, and what constants hold. */
#include "nn/planner.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Elements of one tensor: keeps every later product of sizes inside 64 bits. */
#define MAX_ELEMENTS ((int64_t)1 << 40)

fw_status fw_nn_refuse(const struct fw_nn_planner *p, uint32_t node, struct fw_error *err,
		       const char *fmt, ...)
{
	const struct fw_nn_node *n = &p->graph->nodes[node];
	char reason[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(reason, sizeof(reason), fmt, args);
	va_end(args);
	return fw_fail(err, FW_ERR_UNSUPPORTED, "%.128s: node '%.64s' (%s): %s",
		       p->graph->path ? p->graph->path : "model", n->name, fw_nn_op_name(n->op),
		       reason);
}

struct fw_nn_draft_tensor fw_nn_draft_like(struct fw_nn_planner *p, uint32_t like, uint32_t value)
{
	struct fw_nn_draft_tensor draft = *fw_nn_draft(p, like);

	if (value != FW_NN_NONE)
		draft.name = p->graph->values[value].name;
	draft.padded_c = draft.c;
	draft.parent = FW_NN_NONE;
	draft.shift = 0;
	draft.pixels = 1;
	draft.dense = draft.is_fixed = false;
	return draft;
}

struct fw_nn_draft_tensor fw_nn_draft_view(struct fw_nn_planner *p, uint32_t base, uint32_t value)
{
	struct fw_nn_draft_tensor draft = fw_nn_draft_like(p, base, value);

	draft.parent = base;
	return draft;
}

fw_status fw_nn_tensor_new(struct fw_nn_planner *p, const struct fw_nn_draft_tensor *draft,
			   uint32_t *tensor, struct fw_error *err)
{
	int64_t size = draft->n;
	const int64_t factors[] = { draft->h, draft->w, draft->padded_c };
	struct fw_nn_draft_tensor *made;

	for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++)
		if (size <= 0 || factors[i] <= 0 ||
		    __builtin_mul_overflow(size, factors[i], &size) || size > MAX_ELEMENTS)
			return fw_fail(err, FW_ERR_UNSUPPORTED,
				       "value '%.64s' has no elements, or more than 2^40",
				       draft->name);
	made = fw_vec_push(&p->tensors);
	if (!made)
		return fw_fail_nomem(err, sizeof(*made));
	*made = *draft;
	*tensor = (uint32_t)p->tensors.len - 1;
	return FW_OK;
}

static bool take_shape(const struct fw_nn_shape *shape, enum fw_nn_layout layout,
		       struct fw_nn_draft_tensor *draft)
{
	const int64_t *d = shape->dims;

	draft->n = d[0];
	draft->h = draft->w = 1;
	if (layout == FW_NN_MAP && shape->rank == 4) {
		draft->c = d[1];
		draft->h = d[2];
		draft->w = d[3];
		return true;
	}
	if (layout != FW_NN_LAST || shape->rank < 2 || shape->rank > 4)
		return false;
	draft->c = d[shape->rank - 1];
	if (shape->rank > 2)
		draft->h = d[1];
	if (shape->rank > 3)
		draft->w = d[2];
	return true;
}

fw_status fw_nn_place_new(struct fw_nn_planner *p, uint32_t value, enum fw_nn_layout layout,
			  struct fw_error *err)
{
	struct fw_nn_draft_tensor draft = {
		.name = p->graph->values[value].name,
		.parent = FW_NN_NONE,
		.pixels = 1,
		.producer = FW_NN_NONE,
	};
	fw_status status;

	if (!take_shape(&p->shapes[value], layout, &draft))
		return fw_fail(
			err, FW_ERR_UNSUPPORTED,
			"value '%.64s' has %u dimensions where the plan can have no such value",
			draft.name, p->shapes[value].rank);
	draft.padded_c = draft.c;
	status = fw_nn_tensor_new(p, &draft, &p->places[value].tensor, err);
	p->places[value].layout = layout;
	return status;
}

bool fw_nn_same_shape(const struct fw_nn_planner *p, uint32_t a, uint32_t b)
{
	const struct fw_nn_shape *x = &p->shapes[a], *y = &p->shapes[b];

	return x->rank == y->rank && !memcmp(x->dims, y->dims, x->rank * sizeof(x->dims[0]));
}

bool fw_nn_is_constant(const struct fw_nn_planner *p, uint32_t value)
{
	return value != FW_NN_NONE && p->graph->values[value].data;
}

const float *fw_nn_floats(const struct fw_nn_planner *p, uint32_t value, int64_t count)
{
	const struct fw_nn_value *v;

	if (!fw_nn_is_constant(p, value))
		return NULL;
	v = &p->graph->values[value];
	if (v->type != FW_NN_F32 || count < 0 || v->bytes / sizeof(float) != (uint64_t)count)
		return NULL;
	return v->data;
}

bool fw_nn_is_scalar(const struct fw_nn_planner *p, uint32_t value, float *scalar)
{
	const float *data = fw_nn_floats(p, value, 1);

	if (data)
		*scalar = *data;
	return data != NULL;
}

bool fw_nn_is_about(const struct fw_nn_planner *p, uint32_t value, float x)
{
	float scalar;

	return fw_nn_is_scalar(p, value, &scalar) && fabsf(scalar - x) <= 1e-4f * fabsf(x);
}

bool fw_nn_channel_floats(const struct fw_nn_planner *p, uint32_t value,
			  const struct fw_nn_place *place, float *out)
{
	const struct fw_nn_draft_tensor *t =
		&((const struct fw_nn_draft_tensor *)p->tensors.data)[place->tensor];
	const struct fw_nn_shape *shape = &p->shapes[value];
	const float *data;
	uint32_t channel_axis; /* counted from the last */
	float scalar;

	if (fw_nn_is_scalar(p, value, &scalar)) {
		for (int64_t i = 0; i < t->c; i++)
			out[i] = scalar;
		return true;
	}
	if (place->layout == FW_NN_COLUMNS || place->layout == FW_NN_FLAT)
		return false;
	data = fw_nn_floats(p, value, t->c);
	channel_axis = place->layout == FW_NN_MAP ? 2 : 0;
	if (!data || shape->rank <= channel_axis || shape->rank > 4 ||
	    shape->dims[shape->rank - 1 - channel_axis] != t->c)
		return false;
	memcpy(out, data, (size_t)t->c * sizeof(float));
	return true;
}

/* A flat value becomes one with a pixel a sample: channels in ONNX's order. */
static fw_status unflatten(struct fw_nn_planner *p, uint32_t node, uint32_t value,
			   struct fw_error *err)
{
	uint32_t from = p->places[value].tensor, step;
	fw_status status = fw_nn_step_new(p, node, FW_NN_STEP_COPY, from, &step, err);

	if (status)
		return status;
	fw_nn_draft_step(p, step)->step.fallback = "a map is flattened for other than a product";
	return fw_nn_step_result(p, step, value, FW_NN_LAST, err);
}

fw_status fw_nn_operand(struct fw_nn_planner *p, uint32_t node, uint32_t input,
			enum fw_nn_layout layout, uint32_t *tensor, struct fw_error *err)
{
	uint32_t value = p->graph->nodes[node].inputs[input];
	struct fw_nn_place *place;
	fw_status status;

	if (value == FW_NN_NONE || p->places[value].tensor == FW_NN_NONE)
		return fw_nn_refuse(p, node, err,
				    "input %u is a constant or missing; it must be computed",
				    input);
	place = &p->places[value];
	if (place->layout == FW_NN_FLAT && layout == FW_NN_LAST) {
		status = unflatten(p, node, value, err);
		if (status)
			return status;
	}
	if (place->layout != layout)
		return fw_nn_refuse(
			p, node, err,
			"input %u has its dimensions in another order than is supported", input);
	*tensor = place->tensor;
	return FW_OK;
}

bool fw_nn_ints(const struct fw_nn_planner *p, const struct fw_nn_node *node, const char *attr,
		uint32_t input, uint32_t *n, const int64_t **ints)
{
	const struct fw_nn_attr *found = fw_nn_attr_find(node, attr);
	const struct fw_nn_value *value;

	if (found && found->kind == FW_NN_ATTR_INTS) {
		*n = found->n;
		*ints = found->ints;
		return true;
	}
	if (input >= node->n_inputs || !fw_nn_is_constant(p, node->inputs[input]))
		return false;
	value = &p->graph->values[node->inputs[input]];
	if (value->type != FW_NN_I64 || value->bytes / sizeof(int64_t) > FW_NN_MAX_RANK * 2)
		return false;
	*n = (uint32_t)(value->bytes / sizeof(int64_t));
	*ints = value->data;
	return true;
}
