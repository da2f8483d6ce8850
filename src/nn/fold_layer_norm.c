/*
 * Before opset 17 exporters write a layer norm as nine nodes: the mean, its difference from x, the mean of the square,
 * plus epsilon, root, quotient, scale and shift. They become one node.
 */
#include "nn/fold.h"

#include <string.h>

/* The other operand of a sum or product; FW_NN_NONE if value is not one of the two. */
static uint32_t other(const struct fw_nn_node *node, uint32_t value)
{
	return node->inputs[0] == value   ? node->inputs[1]
	       : node->inputs[1] == value ? node->inputs[0]
					  : FW_NN_NONE;
}

static const struct fw_nn_value *constant(const struct fw_nn_fold *f, uint32_t value)
{
	const struct fw_nn_value *v = value == FW_NN_NONE ? NULL : fw_nn_fold_value(f, value);

	return v && v->data && v->type == FW_NN_F32 ? v : NULL;
}

/* A mean over the last axis that keeps it. */
static bool is_last_mean(const struct fw_nn_fold *f, const struct fw_nn_node *mean)
{
	const struct fw_nn_attr *attr = fw_nn_attr_find(mean, "axes");
	const struct fw_nn_value *list =
		fw_nn_has_input(mean, 1) ? fw_nn_fold_value(f, mean->inputs[1]) : NULL;
	int64_t axis, rank = f->shapes[0][mean->inputs[0]].rank;

	if (list && list->data && list->type == FW_NN_I64 && list->bytes == sizeof(axis))
		axis = *(const int64_t *)list->data;
	else if (!list && attr && attr->kind == FW_NN_ATTR_INTS && attr->n == 1)
		axis = attr->ints[0];
	else
		return false;
	return (axis == -1 || axis == rank - 1) && fw_nn_attr_int(mean, "keepdims", 1);
}

/* (x - mean) squared, as a power or a product. */
static bool is_square(const struct fw_nn_fold *f, uint32_t value, uint32_t difference)
{
	const struct fw_nn_node *product = fw_nn_fold_producer(f, value, FW_NN_MUL, false);
	const struct fw_nn_node *power = fw_nn_fold_producer(f, value, FW_NN_POW, false);
	const struct fw_nn_value *exponent = power ? fw_nn_fold_value(f, power->inputs[1]) : NULL;

	if (product)
		return product->inputs[0] == difference && product->inputs[1] == difference;
	if (!power || power->inputs[0] != difference || !exponent->data)
		return false;
	return (exponent->type == FW_NN_F32 && exponent->bytes == sizeof(float) &&
		*(const float *)exponent->data == 2) ||
	       (exponent->type == FW_NN_I64 && exponent->bytes == sizeof(int64_t) &&
		*(const int64_t *)exponent->data == 2);
}

/* The variance of x and epsilon, of which `root` is the root; false: it is something else. */
static bool is_deviation(const struct fw_nn_fold *f, uint32_t root, uint32_t difference,
			 float *epsilon)
{
	const struct fw_nn_node *node = fw_nn_fold_producer(f, root, FW_NN_SQRT, false);
	const struct fw_nn_node *sum =
		node ? fw_nn_fold_producer(f, node->inputs[0], FW_NN_ADD, false) : NULL;

	for (int i = 0; sum && i < 2; i++) {
		const struct fw_nn_node *mean =
			fw_nn_fold_producer(f, sum->inputs[i], FW_NN_REDUCE_MEAN, false);
		const struct fw_nn_value *e = constant(f, sum->inputs[1 - i]);

		if (!mean || !e || e->bytes != sizeof(float))
			continue;
		*epsilon = *(const float *)e->data;
		return is_last_mean(f, mean) && is_square(f, mean->inputs[0], difference);
	}
	return false;
}

/* (x - mean) / deviation: x, or FW_NN_NONE. */
static uint32_t normalised(const struct fw_nn_fold *f, uint32_t value, float *epsilon)
{
	const struct fw_nn_node *quotient = fw_nn_fold_producer(f, value, FW_NN_DIV, true), *mean;
	const struct fw_nn_node *difference =
		quotient ? fw_nn_fold_producer(f, quotient->inputs[0], FW_NN_SUB, false) : NULL;

	if (!difference || !is_deviation(f, quotient->inputs[1], quotient->inputs[0], epsilon))
		return FW_NN_NONE;
	mean = fw_nn_fold_producer(f, difference->inputs[1], FW_NN_REDUCE_MEAN, false);
	return mean && is_last_mean(f, mean) && mean->inputs[0] == difference->inputs[0]
		       ? mean->inputs[0]
		       : FW_NN_NONE;
}

static fw_status become_layer_norm(struct fw_nn_fold *f, struct fw_nn_node *node,
				   const uint32_t inputs[3], float epsilon, struct fw_error *err)
{
	struct fw_nn_attr *attrs = fw_arena_array(&f->graph->arena, 2, sizeof(*attrs));

	if (!attrs)
		return fw_fail_nomem(err, 2 * sizeof(*attrs));
	attrs[0] = (struct fw_nn_attr){ .name = "axis", .kind = FW_NN_ATTR_INT, .i = -1 };
	attrs[1] = (struct fw_nn_attr){ .name = "epsilon", .kind = FW_NN_ATTR_FLOAT, .f = epsilon };
	node->op = FW_NN_LAYER_NORM;
	node->attrs = attrs;
	node->n_attrs = 2;
	return fw_nn_fold_set_inputs(f, node, 3, inputs, err);
}

/* A row as long as the last axis of x. */
static bool is_row(const struct fw_nn_fold *f, uint32_t value, uint32_t x)
{
	const struct fw_nn_value *row = constant(f, value);
	const struct fw_nn_shape *shape = &f->shapes[0][x];

	return row && row->rank == 1 && row->dims[0] == shape->dims[shape->rank - 1];
}

static fw_status fold_sum(struct fw_nn_fold *f, struct fw_nn_node *node, struct fw_error *err)
{
	for (int i = 0; i < 2; i++) {
		const struct fw_nn_node *product =
			fw_nn_fold_producer(f, node->inputs[i], FW_NN_MUL, true);

		for (int k = 0; product && k < 2; k++) {
			uint32_t scale = other(product, product->inputs[k]);
			float epsilon = 0;
			uint32_t x = normalised(f, product->inputs[k], &epsilon);
			uint32_t inputs[3] = { x, scale, node->inputs[1 - i] };

			if (x != FW_NN_NONE && is_row(f, scale, x) && is_row(f, inputs[2], x))
				return become_layer_norm(f, node, inputs, epsilon, err);
		}
	}
	return FW_OK;
}

fw_status fw_nn_fold_layer_norms(struct fw_nn_fold *f, struct fw_error *err)
{
	for (uint32_t i = 0; i < f->graph->n_nodes; i++) {
		fw_status status = FW_OK;

		if (f->graph->nodes[i].op == FW_NN_ADD && !f->dropped[i])
			status = fold_sum(f, &f->graph->nodes[i], err);
		if (status)
			return status;
	}
	return FW_OK;
}
