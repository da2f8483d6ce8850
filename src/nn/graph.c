/* What every part of the engine asks of a graph's nodes. */
#include "nn/graph.h"

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
