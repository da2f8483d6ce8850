/* The contents of small integer tensors, so that shapes which a model computes are known. */
#include "nn/infer.h"

/* Values stay far from the ends of 64 bits: a few additions and one product never overflow. */
#define MAX_INT ((int64_t)1 << 31)

static bool is_integer(const struct fw_nn_inference *in, uint32_t value)
{
	enum fw_nn_type type = in->graph->values[value].type;

	return type == FW_NN_I64 || type == FW_NN_I32 || type == FW_NN_BOOL;
}

static void of_shape(const struct fw_nn_inference *in, const struct fw_nn_node *node, int64_t *out,
		     uint32_t n)
{
	const struct fw_nn_shape *x = fw_nn_input_shape(in, node, 0);
	int64_t start = fw_nn_attr_int(node, "start", 0);

	if (start < 0)
		start = start < -(int64_t)x->rank ? 0 : start + x->rank;
	for (uint32_t i = 0; i < n; i++)
		out[i] = x->dims[start + i];
}

static bool of_gather(const struct fw_nn_inference *in, const struct fw_nn_node *node, int64_t *out,
		      uint32_t n)
{
	struct fw_nn_ints from = in->ints[node->inputs[0]], at = in->ints[node->inputs[1]];

	if (!from.data || !at.data || fw_nn_input_shape(in, node, 0)->rank != 1)
		return false;
	for (uint32_t i = 0; i < n; i++)
		out[i] = from.data[at.data[i] < 0 ? at.data[i] + from.n : at.data[i]];
	return true;
}

static bool of_concat(const struct fw_nn_inference *in, const struct fw_nn_node *node, int64_t *out)
{
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		struct fw_nn_ints part = in->ints[node->inputs[i]];

		if (!part.data)
			return false;
		for (uint32_t k = 0; k < part.n; k++)
			*out++ = part.data[k];
	}
	return true;
}

static bool of_slice(const struct fw_nn_inference *in, const struct fw_nn_node *node, int64_t *out,
		     uint32_t n)
{
	struct fw_nn_ints from = in->ints[node->inputs[0]];
	struct fw_nn_cut cuts[FW_NN_MAX_RANK];

	if (!from.data || fw_nn_input_shape(in, node, 0)->rank != 1 ||
	    fw_nn_slice_cuts(in, node, cuts, NULL))
		return false;
	for (uint32_t i = 0; i < n; i++)
		out[i] = from.data[cuts[0].start + i * cuts[0].step];
	return true;
}

static bool compute(const struct fw_nn_node *node, int64_t a, int64_t b, int64_t *out)
{
	bool divides = node->op == FW_NN_DIV || node->op == FW_NN_MOD;

	if (a < -MAX_INT || a > MAX_INT || b < -MAX_INT || b > MAX_INT || (divides && !b))
		return false;
	switch (node->op) {
	case FW_NN_ADD: *out = a + b; return true;
	case FW_NN_SUB: *out = a - b; return true;
	case FW_NN_MUL: *out = a * b; return true;
	case FW_NN_DIV: *out = a / b; return true;
	case FW_NN_MOD: /* of the divisor's sign, as Python's, or with fmod as C's */
		*out = a % b;
		if (*out && (*out < 0) != (b < 0) && !fw_nn_attr_int(node, "fmod", 0))
			*out += b;
		return true;
	default: *out = a == b; return node->op == FW_NN_EQUAL;
	}
}

static bool of_arithmetic(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			  int64_t *out, uint32_t n)
{
	struct fw_nn_ints a = in->ints[node->inputs[0]], b = in->ints[node->inputs[1]];

	if (!a.data || !b.data)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!compute(node, a.data[a.n == 1 ? 0 : i], b.data[b.n == 1 ? 0 : i], &out[i]))
			return false;
	return true;
}

static bool of_where(const struct fw_nn_inference *in, const struct fw_nn_node *node, int64_t *out,
		     uint32_t n)
{
	struct fw_nn_ints which = in->ints[node->inputs[0]];
	struct fw_nn_ints a = in->ints[node->inputs[1]], b = in->ints[node->inputs[2]];

	if (!which.data || !a.data || !b.data)
		return false;
	for (uint32_t i = 0; i < n; i++)
		out[i] = which.data[which.n == 1 ? 0 : i] ? a.data[a.n == 1 ? 0 : i]
							  : b.data[b.n == 1 ? 0 : i];
	return true;
}

static bool of_filled(const struct fw_nn_inference *in, const struct fw_nn_node *node, int64_t *out,
		      uint32_t n)
{
	const struct fw_nn_attr *attr = fw_nn_attr_find(node, "value");
	const struct fw_nn_value *value = attr ? &in->graph->values[attr->value] : NULL;

	if (!value || attr->kind != FW_NN_ATTR_TENSOR || value->type != FW_NN_I64 ||
	    value->bytes != sizeof(int64_t))
		return false;
	for (uint32_t i = 0; i < n; i++)
		out[i] = *(const int64_t *)value->data;
	return true;
}

/* The elements keep their order; a cast may narrow them. */
static bool of_copy(const struct fw_nn_inference *in, const struct fw_nn_node *node, int64_t *out,
		    uint32_t n)
{
	struct fw_nn_ints from = in->ints[node->inputs[0]];
	enum fw_nn_type type = in->graph->values[node->outputs[0]].type;

	if (!from.data || from.n != n)
		return false;
	for (uint32_t i = 0; i < n; i++)
		out[i] = type == FW_NN_BOOL  ? from.data[i] != 0
			 : type == FW_NN_I32 ? (int32_t)from.data[i]
					     : from.data[i];
	return true;
}

static bool contents(const struct fw_nn_inference *in, const struct fw_nn_node *node, int64_t *out,
		     uint32_t n)
{
	switch (node->op) {
	case FW_NN_SHAPE: of_shape(in, node, out, n); return true;
	case FW_NN_GATHER: return of_gather(in, node, out, n);
	case FW_NN_CONCAT: return of_concat(in, node, out);
	case FW_NN_SLICE: return of_slice(in, node, out, n);
	case FW_NN_ADD:
	case FW_NN_SUB:
	case FW_NN_MUL:
	case FW_NN_DIV:
	case FW_NN_MOD:
	case FW_NN_EQUAL: return of_arithmetic(in, node, out, n);
	case FW_NN_WHERE: return of_where(in, node, out, n);
	case FW_NN_CONSTANT_OF_SHAPE: return of_filled(in, node, out, n);
	case FW_NN_CAST:
	case FW_NN_IDENTITY:
	case FW_NN_RESHAPE:
	case FW_NN_SQUEEZE:
	case FW_NN_UNSQUEEZE:
	case FW_NN_FLATTEN: return is_integer(in, node->inputs[0]) && of_copy(in, node, out, n);
	default: return false;
	}
}

bool fw_nn_infer_ints(struct fw_nn_inference *in, const struct fw_nn_node *node)
{
	const struct fw_nn_shape *shape = &in->shapes[node->outputs[0]];
	int64_t n = fw_nn_elements(shape), *out;

	if (!is_integer(in, node->outputs[0]) || shape->rank > 1 || n > FW_NN_MAX_INTS)
		return true;
	out = fw_arena_array(in->arena, (size_t)n, sizeof(*out));
	if (!out)
		return false;
	if (contents(in, node, out, (uint32_t)n))
		in->ints[node->outputs[0]] = (struct fw_nn_ints){ out, (uint32_t)n };
	return true;
}
