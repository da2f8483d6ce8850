/* The shape of every value of a graph, for one batch size. */
#include "nn/infer.h"

#include <stdarg.h>
#include <string.h>

#define MAX_BATCH ((int64_t)1 << 20)

static const struct {
	fw_nn_rule *rule;
	bool is_float; /* computes with float32 only */
} rules[FW_NN_N_OPS] = {
	[FW_NN_CONV] = { fw_nn_infer_conv, true },
	[FW_NN_BATCH_NORM] = { fw_nn_infer_batch_norm, true },
	[FW_NN_RELU] = { fw_nn_infer_same, true },
	[FW_NN_CLIP] = { fw_nn_infer_clip, true },
	[FW_NN_SIGMOID] = { fw_nn_infer_same, true },
	[FW_NN_HARD_SIGMOID] = { fw_nn_infer_same, true },
	[FW_NN_HARD_SWISH] = { fw_nn_infer_same, true },
	[FW_NN_TANH] = { fw_nn_infer_same, true },
	[FW_NN_ERF] = { fw_nn_infer_same, true },
	[FW_NN_GELU] = { fw_nn_infer_same, true },
	[FW_NN_ADD] = { fw_nn_infer_broadcast, false },
	[FW_NN_SUB] = { fw_nn_infer_broadcast, false },
	[FW_NN_MUL] = { fw_nn_infer_broadcast, false },
	[FW_NN_DIV] = { fw_nn_infer_broadcast, false },
	[FW_NN_SQRT] = { fw_nn_infer_same, true },
	[FW_NN_POW] = { fw_nn_infer_broadcast, true },
	[FW_NN_MAX_POOL] = { fw_nn_infer_pool, true },
	[FW_NN_AVERAGE_POOL] = { fw_nn_infer_pool, true },
	[FW_NN_GLOBAL_AVERAGE_POOL] = { fw_nn_infer_global_pool, true },
	[FW_NN_REDUCE_MEAN] = { fw_nn_infer_reduce, true },
	[FW_NN_GEMM] = { fw_nn_infer_gemm, true },
	[FW_NN_MATMUL] = { fw_nn_infer_matmul, true },
	[FW_NN_SOFTMAX] = { fw_nn_infer_softmax, true },
	[FW_NN_LAYER_NORM] = { fw_nn_infer_layer_norm, true },
	[FW_NN_CONCAT] = { fw_nn_infer_concat, false },
	[FW_NN_FLATTEN] = { fw_nn_infer_flatten, false },
	[FW_NN_RESHAPE] = { fw_nn_infer_reshape, false },
	[FW_NN_TRANSPOSE] = { fw_nn_infer_transpose, false },
	[FW_NN_SQUEEZE] = { fw_nn_infer_squeeze, false },
	[FW_NN_UNSQUEEZE] = { fw_nn_infer_unsqueeze, false },
	[FW_NN_IDENTITY] = { fw_nn_infer_same, false },
	[FW_NN_DROPOUT] = { fw_nn_infer_dropout, false },
	[FW_NN_SHAPE] = { fw_nn_infer_shape, false },
	[FW_NN_GATHER] = { fw_nn_infer_gather, false },
	[FW_NN_SLICE] = { fw_nn_infer_slice, false },
	[FW_NN_SPLIT] = { fw_nn_infer_split, false },
	[FW_NN_CAST] = { fw_nn_infer_same, false },
	[FW_NN_CONSTANT_OF_SHAPE] = { fw_nn_infer_constant_of_shape, false },
	[FW_NN_EXPAND] = { fw_nn_infer_expand, false },
	[FW_NN_EQUAL] = { fw_nn_infer_broadcast, false },
	[FW_NN_WHERE] = { fw_nn_infer_where, false },
	[FW_NN_PAD] = { fw_nn_infer_pad, false },
	[FW_NN_MOD] = { fw_nn_infer_broadcast, false },
};

fw_status fw_nn_infer_fail(const struct fw_nn_node *node, struct fw_error *err, const char *fmt,
			   ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return fw_fail(err, FW_ERR_UNSUPPORTED, "%s: %s", fw_nn_node_label(node).text, text);
}

fw_status fw_nn_input_ints(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			   uint32_t i, struct fw_nn_ints *out, struct fw_error *err)
{
	*out = in->ints[node->inputs[i]];
	if (out->data)
		return FW_OK;
	return fw_nn_infer_fail(node, err,
				"its input %u (%s) must be at most %d integers, constant or "
				"computed from shapes",
				i, in->graph->values[node->inputs[i]].name, FW_NN_MAX_INTS);
}

fw_status fw_nn_list(const struct fw_nn_inference *in, const struct fw_nn_node *node,
		     const char *name, uint32_t i, struct fw_nn_ints *out, struct fw_error *err)
{
	const struct fw_nn_attr *attr = fw_nn_attr_find(node, name);

	*out = (struct fw_nn_ints){ 0 };
	if (fw_nn_has_input(node, i))
		return fw_nn_input_ints(in, node, i, out, err);
	if (!attr)
		return FW_OK;
	if (attr->kind != FW_NN_ATTR_INTS || attr->n > FW_NN_MAX_INTS)
		return fw_nn_infer_fail(node, err, "%s is no list of at most %d integers", name,
					FW_NN_MAX_INTS);
	out->n = attr->n;
	out->data = attr->n ? attr->ints : &attr->i;
	return FW_OK;
}

bool fw_nn_axis(int64_t axis, uint32_t rank, uint32_t *out)
{
	if (axis < -(int64_t)rank || axis >= (int64_t)rank)
		return false;
	*out = (uint32_t)(axis < 0 ? axis + rank : axis);
	return true;
}

fw_status fw_nn_axes(const struct fw_nn_node *node, const struct fw_nn_ints *list, uint32_t rank,
		     bool is_axis[FW_NN_MAX_RANK], struct fw_error *err)
{
	uint32_t axis;

	memset(is_axis, 0, FW_NN_MAX_RANK * sizeof(*is_axis));
	for (uint32_t i = 0; i < list->n; i++) {
		if (!fw_nn_axis(list->data[i], rank, &axis) || is_axis[axis])
			return fw_nn_infer_fail(
				node, err, "axis %lld is none of the %u of its input, or twice",
				(long long)list->data[i], rank);
		is_axis[axis] = true;
	}
	return FW_OK;
}

int64_t fw_nn_elements(const struct fw_nn_shape *shape)
{
	int64_t n = 1;

	for (uint32_t i = 0; i < shape->rank; i++)
		n *= shape->dims[i];
	return n;
}

bool fw_nn_broadcast(const struct fw_nn_shape *a, const struct fw_nn_shape *b,
		     struct fw_nn_shape *out)
{
	uint32_t rank = a->rank > b->rank ? a->rank : b->rank;
	struct fw_nn_shape result = { .rank = rank };

	for (uint32_t i = 0; i < rank; i++) {
		int64_t x = i < rank - a->rank ? 1 : a->dims[i - (rank - a->rank)];
		int64_t y = i < rank - b->rank ? 1 : b->dims[i - (rank - b->rank)];

		if (x != y && x != 1 && y != 1)
			return false;
		result.dims[i] = x == 1 ? y : x;
	}
	*out = result;
	return true;
}

/* Every result has a sane number of elements; only integers may be none. */
static fw_status check_result(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			      uint32_t output, struct fw_error *err)
{
	const struct fw_nn_shape *shape = &in->shapes[node->outputs[output]];
	enum fw_nn_type type = in->graph->values[node->outputs[output]].type;
	int64_t least = type == FW_NN_I64 || type == FW_NN_I32 ? 0 : 1, n = 1;

	for (uint32_t i = 0; i < shape->rank; i++) {
		int64_t dim = shape->dims[i];

		if (dim < least || (dim && n > FW_NN_MAX_ELEMENTS / dim))
			return fw_nn_infer_fail(node, err,
						"dimension %u of its result would be %lld", i,
						(long long)dim);
		n *= dim;
	}
	return FW_OK;
}

/* All operands have one type; what computes with floats does so in float32. */
static fw_status check_types(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			     struct fw_error *err)
{
	const struct fw_nn_value *values = in->graph->values;
	enum fw_nn_type type = values[node->inputs[0]].type;
	bool is_binary = rules[node->op].rule == fw_nn_infer_broadcast;

	if (rules[node->op].is_float && type != FW_NN_F32)
		return fw_nn_infer_fail(node, err,
					"its input %s is %s; only float32 is computed: export the "
					"model in float32",
					values[node->inputs[0]].name, fw_nn_type_name(type));
	if (node->op == FW_NN_REDUCE_MEAN || (!rules[node->op].is_float && !is_binary))
		return FW_OK;
	for (uint32_t i = 1; i < node->n_inputs; i++)
		if (node->inputs[i] != FW_NN_NONE && values[node->inputs[i]].type != type &&
		    node->op != FW_NN_POW)
			return fw_nn_infer_fail(node, err, "its operands are %s and %s",
						fw_nn_type_name(type),
						fw_nn_type_name(values[node->inputs[i]].type));
	return FW_OK;
}

static fw_status infer_node(struct fw_nn_inference *in, const struct fw_nn_node *node,
			    struct fw_error *err)
{
	struct fw_nn_shape out[16] = { 0 }; /* the most outputs of ops.def */
	fw_status status = FW_OK;

	if (!rules[node->op].rule)
		return fw_fail(err, FW_ERR_INTERNAL, "%s: no rule", fw_nn_node_label(node).text);
	if (node->n_inputs)
		status = check_types(in, node, err);
	if (!status)
		status = rules[node->op].rule(in, node, out, err);
	for (uint32_t i = 0; !status && i < node->n_outputs; i++) {
		in->shapes[node->outputs[i]] = out[i];
		status = check_result(in, node, i, err);
	}
	if (!status && !fw_nn_infer_ints(in, node))
		return fw_fail_nomem(err, sizeof(int64_t));
	return status;
}

/* The contents of a small integer constant. */
static fw_status read_ints(struct fw_nn_inference *in, uint32_t value, struct fw_error *err)
{
	const struct fw_nn_value *v = &in->graph->values[value];
	size_t n = v->bytes / fw_nn_type_bytes(v->type);
	int64_t *copy;

	if ((v->type != FW_NN_I64 && v->type != FW_NN_I32 && v->type != FW_NN_BOOL) ||
	    n > FW_NN_MAX_INTS || v->rank > 1)
		return FW_OK;
	in->ints[value] = (struct fw_nn_ints){ v->data, (uint32_t)n };
	if (v->type == FW_NN_I64)
		return FW_OK;
	copy = fw_arena_array(in->arena, n, sizeof(*copy));
	if (!copy)
		return fw_fail_nomem(err, n * sizeof(*copy));
	for (size_t i = 0; i < n; i++)
		copy[i] = v->type == FW_NN_BOOL ? ((const uint8_t *)v->data)[i]
						: ((const int32_t *)v->data)[i];
	in->ints[value].data = copy;
	return FW_OK;
}

static fw_status infer_ends(struct fw_nn_inference *in, int64_t batch, struct fw_error *err)
{
	const struct fw_nn_graph *graph = in->graph;
	const struct fw_nn_value *first = graph->n_inputs ? &graph->values[graph->inputs[0]] : NULL;

	if (batch < 1 || batch > MAX_BATCH)
		return fw_fail(err, FW_ERR_ARGUMENT, "batch size %lld: 1 to %lld are possible",
			       (long long)batch, (long long)MAX_BATCH);
	if (first && first->rank && first->dims[0] != FW_NN_BATCH && first->dims[0] != batch)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "batch size %lld: the model fixes it at %lld; export it with a "
			       "dynamic batch axis, or ask for one",
			       (long long)batch, (long long)first->dims[0]);
	for (uint32_t i = 0; i < graph->n_values; i++) {
		const struct fw_nn_value *v = &graph->values[i];
		struct fw_nn_shape *shape = &in->shapes[i];
		fw_status status = v->data ? read_ints(in, i, err) : FW_OK;

		if (status)
			return status;
		shape->rank = v->has_shape ? v->rank : 0;
		for (uint32_t d = 0; d < shape->rank; d++)
			shape->dims[d] = v->dims[d] == FW_NN_BATCH ? batch : v->dims[d];
	}
	return FW_OK;
}

/* Inputs are as large as anything else may be. */
static fw_status check_inputs(const struct fw_nn_inference *in, struct fw_error *err)
{
	for (uint32_t i = 0; i < in->graph->n_inputs; i++) {
		const struct fw_nn_shape *shape = &in->shapes[in->graph->inputs[i]];
		int64_t n = 1;

		for (uint32_t d = 0; d < shape->rank; d++) {
			if (n > FW_NN_MAX_ELEMENTS / shape->dims[d])
				return fw_fail(err, FW_ERR_UNSUPPORTED,
					       "input %s: dimension %u is %lld",
					       in->graph->values[in->graph->inputs[i]].name, d,
					       (long long)shape->dims[d]);
			n *= shape->dims[d];
		}
	}
	return FW_OK;
}

fw_status fw_nn_infer_all(const struct fw_nn_graph *graph, int64_t batch,
			  struct fw_nn_inference *in, struct fw_error *err)
{
	fw_status status;

	in->graph = graph;
	in->shapes = fw_arena_array(in->arena, graph->n_values, sizeof(*in->shapes));
	in->ints = fw_arena_array(in->arena, graph->n_values, sizeof(*in->ints));
	if (!in->shapes || !in->ints)
		return fw_fail_nomem(err, graph->n_values * sizeof(*in->shapes));
	status = infer_ends(in, batch, err);
	if (!status)
		status = check_inputs(in, err);
	for (uint32_t i = 0; !status && i < graph->n_nodes; i++)
		status = infer_node(in, &graph->nodes[i], err);
	return status;
}

fw_status fw_nn_infer(const struct fw_nn_graph *graph, int64_t batch, struct fw_arena *arena,
		      struct fw_nn_shape **shapes, struct fw_error *err)
{
	struct fw_nn_inference in = { .arena = arena };
	fw_status status = fw_nn_infer_all(graph, batch, &in, err);

	*shapes = status ? NULL : in.shapes;
	return status;
}
