/* What every part of the engine asks of a graph's nodes. */
#include "nn/graph.h"

#include <stdio.h>
#include <string.h>

const char *fw_nn_op_name(enum fw_nn_op op)
{
	static const char *const names[] = {
#define FW_NN_OP(id, name, ...) [FW_NN_##id] = name,
#include "nn/ops.def"
#undef FW_NN_OP
	};

	return (unsigned)op < FW_NN_N_OPS ? names[op] : "unknown";
}

static const struct {
	const char *name;
	size_t bytes;
} types[] = {
	[FW_NN_F32] = { "float32", 4 },   [FW_NN_F16] = { "float16", 2 },
	[FW_NN_BF16] = { "bfloat16", 2 }, [FW_NN_F64] = { "float64", 8 },
	[FW_NN_I64] = { "int64", 8 },     [FW_NN_I32] = { "int32", 4 },
	[FW_NN_U8] = { "uint8", 1 },      [FW_NN_I8] = { "int8", 1 },
	[FW_NN_BOOL] = { "bool", 1 },
};

const char *fw_nn_type_name(enum fw_nn_type type)
{
	return types[type].name;
}

size_t fw_nn_type_bytes(enum fw_nn_type type)
{
	return types[type].bytes;
}

struct fw_nn_label fw_nn_node_label(const struct fw_nn_node *node)
{
	struct fw_nn_label label;

	snprintf(label.text, sizeof(label.text), "%s %s", fw_nn_op_name(node->op), node->name);
	return label;
}

const struct fw_nn_attr *fw_nn_attr_find(const struct fw_nn_node *node, const char *name)
{
	for (uint32_t i = 0; i < node->n_attrs; i++)
		if (!strcmp(node->attrs[i].name, name))
			return &node->attrs[i];
	return NULL;
}

int64_t fw_nn_attr_int(const struct fw_nn_node *node, const char *name, int64_t fallback)
{
	const struct fw_nn_attr *attr = fw_nn_attr_find(node, name);

	return attr && attr->kind == FW_NN_ATTR_INT ? attr->i : fallback;
}

float fw_nn_attr_float(const struct fw_nn_node *node, const char *name, float fallback)
{
	const struct fw_nn_attr *attr = fw_nn_attr_find(node, name);

	return attr && attr->kind == FW_NN_ATTR_FLOAT ? attr->f : fallback;
}
