/* The nodes of an ONNX file and their attributes. */
#include "nn/onnx.h"

#include <string.h>

/* How ONNX marks what an attribute holds (AttributeProto.AttributeType). */
enum {
	KIND_FLOAT = 1,
	KIND_INT = 2,
	KIND_STRING = 3,
	KIND_TENSOR = 4,
	KIND_FLOATS = 6,
	KIND_INTS = 7
};

static const struct {
	const char *name;
	uint32_t min_inputs, max_inputs, max_outputs;
} ops[] = {
#define FW_NN_OP(id, name, min_inputs, max_inputs, outputs)                                        \
	[FW_NN_##id] = { name, min_inputs, max_inputs, outputs },
#include "nn/ops.def"
#undef FW_NN_OP
};

/* Far more than any operator has: each is compared with those before it. */
#define MAX_ATTRS 64

/* What messages call a node: its name, or its first output's where it has none. */
static const char *name_of(const Fw__Onnx__Node *node)
{
	if (node->name && *node->name)
		return node->name;
	return node->n_output ? node->output[0] : "";
}

static fw_status find_op(const Fw__Onnx__Node *from, enum fw_nn_op *op, struct fw_error *err)
{
	const char *type = from->op_type ? from->op_type : "";

	if (from->domain && *from->domain && strcmp(from->domain, "ai.onnx"))
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "node %s: operator %s of domain %s; only ai.onnx's are read",
			       name_of(from), type, from->domain);
	for (unsigned i = 0; i < FW_NN_N_OPS; i++)
		if (!strcmp(type, ops[i].name)) {
			*op = (enum fw_nn_op)i;
			return FW_OK;
		}
	return fw_fail(
		err, FW_ERR_UNSUPPORTED,
		"node %s: operator \"%s\" is not supported; docs/nn-operators.md lists the %d "
		"that are",
		name_of(from), type, FW_NN_N_OPS);
}

static fw_status read_text(struct fw_onnx_reader *r, const Fw__Onnx__Attribute *from,
			   struct fw_nn_attr *attr, struct fw_error *err)
{
	if (from->s.len && memchr(from->s.data, 0, from->s.len))
		return fw_fail(err, FW_ERR_FORMAT, "a text with a zero in it");
	attr->text = fw_arena_strndup(&r->graph->arena, from->s.len ? (char *)from->s.data : "",
				      from->s.len);
	return attr->text ? FW_OK : fw_fail_nomem(err, from->s.len);
}

static fw_status read_attr(struct fw_onnx_reader *r, const Fw__Onnx__Attribute *from,
			   struct fw_nn_attr *attr, struct fw_error *err)
{
	if (from->n_ints > UINT32_MAX || from->n_floats > UINT32_MAX)
		return fw_fail(err, FW_ERR_FORMAT, "more than 2^32 numbers");
	switch (from->type) {
	case KIND_FLOAT:
		attr->kind = FW_NN_ATTR_FLOAT;
		attr->f = from->f;
		return FW_OK;
	case KIND_INT:
		attr->kind = FW_NN_ATTR_INT;
		attr->i = from->i;
		return FW_OK;
	case KIND_STRING: attr->kind = FW_NN_ATTR_TEXT; return read_text(r, from, attr, err);
	case KIND_TENSOR:
		attr->kind = FW_NN_ATTR_TENSOR;
		if (!from->t)
			return fw_fail(err, FW_ERR_FORMAT, "no tensor");
		return fw_onnx_add_tensor(r, from->t, "", &attr->value, err);
	case KIND_FLOATS:
		attr->kind = FW_NN_ATTR_FLOATS;
		attr->n = (uint32_t)from->n_floats;
		attr->floats = from->floats;
		return FW_OK;
	case KIND_INTS:
		attr->kind = FW_NN_ATTR_INTS;
		attr->n = (uint32_t)from->n_ints;
		attr->ints = from->ints;
		return FW_OK;
	default: return fw_fail(err, FW_ERR_UNSUPPORTED, "its type %d is not read", from->type);
	}
}

static fw_status add_attrs(struct fw_onnx_reader *r, const Fw__Onnx__Node *from,
			   struct fw_nn_node *node, struct fw_error *err)
{
	struct fw_nn_attr *attrs =
		fw_arena_array(&r->graph->arena, from->n_attribute, sizeof(*attrs));

	if (!attrs)
		return fw_fail_nomem(err, from->n_attribute * sizeof(*attrs));
	if (from->n_attribute > MAX_ATTRS)
		return fw_fail(err, FW_ERR_FORMAT, "node %s: %zu attributes; at most %d are read",
			       node->name, from->n_attribute, MAX_ATTRS);
	node->attrs = attrs;
	for (size_t i = 0; i < from->n_attribute; i++) {
		const char *name = from->attribute[i]->name ? from->attribute[i]->name : "";
		fw_status status;

		if (fw_nn_attr_find(node, name))
			return fw_fail(err, FW_ERR_FORMAT, "node %s: attribute %s stands twice",
				       node->name, name);
		attrs[i].name = name;
		status = read_attr(r, from->attribute[i], &attrs[i], err);
		if (status) {
			fw_error_prefix(err, "node %s: attribute %s", node->name, name);
			return status;
		}
		node->n_attrs++;
	}
	return FW_OK;
}

static fw_status add_inputs(struct fw_onnx_reader *r, const Fw__Onnx__Node *from, uint32_t count,
			    struct fw_nn_node *node, struct fw_error *err)
{
	uint32_t *inputs = fw_arena_array(&r->graph->arena, count, sizeof(*inputs));

	if (!inputs)
		return fw_fail_nomem(err, count * sizeof(*inputs));
	for (uint32_t i = 0; i < count; i++) {
		inputs[i] = *from->input[i] ? fw_onnx_find(r, from->input[i]) : FW_NN_NONE;
		if (*from->input[i] && inputs[i] == FW_NN_NONE)
			return fw_fail(
				err, FW_ERR_FORMAT,
				"node %s: its input \"%s\" is no input, initialiser or result "
				"of an earlier node: missing, out of order, or a cycle",
				node->name, from->input[i]);
		if (inputs[i] == FW_NN_NONE && i < ops[node->op].min_inputs)
			return fw_fail(err, FW_ERR_FORMAT, "node %s: %s needs input %u", node->name,
				       ops[node->op].name, i);
	}
	node->n_inputs = count;
	node->inputs = inputs;
	return FW_OK;
}

/* Most results have the type of the first operand. */
static fw_status result_type(struct fw_onnx_reader *r, const struct fw_nn_node *node,
			     uint32_t output, enum fw_nn_type *type, struct fw_error *err)
{
	const struct fw_nn_attr *value = fw_nn_attr_find(node, "value");

	if (node->op == FW_NN_CAST) {
		int64_t to = fw_nn_attr_int(node, "to", 0);

		if (to < 0 || to > INT32_MAX || !fw_onnx_type((int32_t)to, type))
			return fw_fail(err, FW_ERR_UNSUPPORTED,
				       "node %s: Cast to element type %lld", node->name,
				       (long long)to);
	} else if (node->op == FW_NN_SHAPE) {
		*type = FW_NN_I64;
	} else if (node->op == FW_NN_WHERE) {
		*type = fw_onnx_value(r, node->inputs[1])->type;
	} else if (node->op == FW_NN_EQUAL || (node->op == FW_NN_DROPOUT && output)) {
		*type = FW_NN_BOOL;
	} else if (node->op == FW_NN_CONSTANT_OF_SHAPE) {
		*type = value && value->kind == FW_NN_ATTR_TENSOR
				? fw_onnx_value(r, value->value)->type
				: FW_NN_F32;
	} else {
		*type = fw_onnx_value(r, node->inputs[0])->type;
	}
	return FW_OK;
}

static fw_status add_outputs(struct fw_onnx_reader *r, const Fw__Onnx__Node *from, uint32_t count,
			     struct fw_nn_node *node, struct fw_error *err)
{
	uint32_t *outputs = fw_arena_array(&r->graph->arena, count, sizeof(*outputs));

	if (!outputs)
		return fw_fail_nomem(err, count * sizeof(*outputs));
	node->outputs = outputs;
	for (uint32_t i = 0; i < count; i++) {
		enum fw_nn_type type;
		fw_status status = result_type(r, node, i, &type, err);

		if (!status)
			status = fw_onnx_add_value(r, from->output[i], &outputs[i], err);
		if (status)
			return status;
		fw_onnx_value(r, outputs[i])->type = type;
		fw_onnx_value(r, outputs[i])->producer = (uint32_t)r->nodes.len;
		node->n_outputs++;
	}
	return FW_OK;
}

/* A Constant node is a constant from here on: of a tensor, a number or a list of numbers. */
static fw_status add_constant(struct fw_onnx_reader *r, const Fw__Onnx__Node *from,
			      struct fw_error *err)
{
	const Fw__Onnx__Attribute *attr = from->n_attribute == 1 ? from->attribute[0] : NULL;
	Fw__Onnx__Tensor tensor = FW__ONNX__TENSOR__INIT;
	const char *name = attr && attr->name ? attr->name : "";
	int64_t dim;
	uint32_t value;

	if (!strcmp(name, "value") && attr->t)
		return fw_onnx_add_tensor(r, attr->t, from->output[0], &value, err);
	tensor.data_type = strstr(name, "float") ? FW_ONNX_FLOAT : FW_ONNX_INT64;
	if (!strcmp(name, "value_float") || !strcmp(name, "value_int")) {
		tensor.n_float_data = tensor.n_int64_data = 1;
		tensor.float_data = (float *)(uintptr_t)&attr->f;
		tensor.int64_data = (int64_t *)(uintptr_t)&attr->i;
	} else if (!strcmp(name, "value_floats") || !strcmp(name, "value_ints")) {
		tensor.n_float_data = attr->n_floats;
		tensor.float_data = attr->floats;
		tensor.n_int64_data = attr->n_ints;
		tensor.int64_data = attr->ints;
		tensor.n_dims = 1;
		tensor.dims = &dim;
		dim = (int64_t)(tensor.data_type == FW_ONNX_FLOAT ? attr->n_floats : attr->n_ints);
	} else {
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "node %s: Constant with attribute \"%s\"; supported: value, "
			       "value_int(s), value_float(s)",
			       name_of(from), name);
	}
	return fw_onnx_add_tensor(r, &tensor, from->output[0], &value, err);
}

/* Inputs or outputs without the empty names at the end. */
static uint32_t without_tail(char *const *names, size_t count)
{
	while (count && !*names[count - 1])
		count--;
	return (uint32_t)count;
}

static fw_status add_node(struct fw_onnx_reader *r, const Fw__Onnx__Node *from,
			  struct fw_error *err)
{
	uint32_t n_inputs = without_tail(from->input, from->n_input);
	uint32_t n_outputs = without_tail(from->output, from->n_output);
	struct fw_nn_node node = { .name = name_of(from) }, *place;
	fw_status status = find_op(from, &node.op, err);

	if (status)
		return status;
	if (n_inputs < ops[node.op].min_inputs || n_inputs > ops[node.op].max_inputs)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "node %s: %s with %u inputs; supported: %u to %u", node.name,
			       ops[node.op].name, n_inputs, ops[node.op].min_inputs,
			       ops[node.op].max_inputs);
	if (!n_outputs || n_outputs > ops[node.op].max_outputs)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "node %s: %s with %u outputs; supported: 1 to %u", node.name,
			       ops[node.op].name, n_outputs, ops[node.op].max_outputs);
	if (node.op == FW_NN_CONSTANT)
		return add_constant(r, from, err);
	status = add_attrs(r, from, &node, err);
	if (!status)
		status = add_inputs(r, from, n_inputs, &node, err);
	if (!status)
		status = add_outputs(r, from, n_outputs, &node, err);
	if (status)
		return status;
	place = fw_vec_push(&r->nodes);
	if (!place)
		return fw_fail_nomem(err, r->nodes.len * sizeof(*place));
	*place = node;
	return FW_OK;
}

fw_status fw_onnx_add_nodes(struct fw_onnx_reader *r, const Fw__Onnx__Graph *graph,
			    struct fw_error *err)
{
	for (size_t i = 0; i < graph->n_node; i++) {
		fw_status status = add_node(r, graph->node[i], err);

		if (status)
			return status;
	}
	return FW_OK;
}
