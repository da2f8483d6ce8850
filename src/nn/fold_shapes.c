/* Shapes that a model computes become constants. */
#include "nn/fold.h"

#include <string.h>

static bool same_ints(const struct fw_nn_ints *a, const struct fw_nn_ints *b)
{
	return a->data && b->data && a->n == b->n &&
	       (!a->n || !memcmp(a->data, b->data, a->n * sizeof(*a->data)));
}

/* A result of which inference knows the contents, the same for every batch. */
static fw_status fold_result(struct fw_nn_fold *f, uint32_t node, struct fw_error *err)
{
	uint32_t output = f->graph->nodes[node].outputs[0];
	const struct fw_nn_ints *ints = &f->ints[0][output];
	struct fw_nn_value *v = fw_nn_fold_value(f, output);
	const struct fw_nn_shape *shape = &f->shapes[0][output];
	size_t size = fw_nn_type_bytes(v->type);
	unsigned char *data;

	if (!same_ints(ints, &f->ints[1][output]))
		return FW_OK;
	data = fw_arena_array(&f->graph->arena, ints->n, sizeof(int64_t));
	if (!data)
		return fw_fail_nomem(err, ints->n * sizeof(int64_t));
	for (uint32_t i = 0; i < ints->n; i++) {
		int32_t narrow = (int32_t)ints->data[i];

		if (size == sizeof(narrow))
			memcpy(data + i * size, &narrow, size);
		else
			memcpy(data + i * size, &ints->data[i], size);
	}
	v->data = data;
	v->bytes = ints->n * size;
	v->has_shape = true;
	v->rank = shape->rank;
	memcpy(v->dims, shape->dims, sizeof(v->dims));
	v->producer = FW_NN_NONE;
	f->dropped[node] = true;
	return FW_OK;
}

/* The shape of a Reshape whose result has the batch in one dimension: there it says -1. */
static fw_status fold_reshape(struct fw_nn_fold *f, struct fw_nn_node *node, struct fw_error *err)
{
	const struct fw_nn_shape *a = &f->shapes[0][node->outputs[0]];
	const struct fw_nn_shape *b = &f->shapes[1][node->outputs[0]];
	struct fw_nn_value like = { .name = fw_nn_fold_value(f, node->inputs[1])->name,
				    .type = FW_NN_I64,
				    .has_shape = true,
				    .rank = 1,
				    .dims = { a->rank },
				    .bytes = a->rank * sizeof(int64_t) };
	uint32_t inputs[2] = { node->inputs[0] };
	int64_t *dims;
	void *data;
	int open = 0;
	fw_status status;

	if (a->rank != b->rank)
		return FW_OK;
	for (uint32_t i = 0; i < a->rank; i++)
		open += a->dims[i] != b->dims[i];
	if (open > 1)
		return FW_OK;
	status = fw_nn_fold_constant(f, &like, &inputs[1], &data, err);
	if (status)
		return status;
	dims = data;
	for (uint32_t i = 0; i < a->rank; i++)
		dims[i] = a->dims[i] == b->dims[i] ? a->dims[i] : -1;
	return fw_nn_fold_set_inputs(f, node, 2, inputs, err);
}

fw_status fw_nn_fold_shapes(struct fw_nn_fold *f, struct fw_error *err)
{
	for (uint32_t i = 0; i < f->graph->n_nodes; i++) {
		struct fw_nn_node *node = &f->graph->nodes[i];
		fw_status status = FW_OK;

		if (!f->dropped[i])
			status = fold_result(f, i, err);
		if (!status && !f->dropped[i] && node->op == FW_NN_RESHAPE &&
		    !fw_nn_fold_value(f, node->inputs[1])->data)
			status = fold_reshape(f, node, err);
		if (status)
			return status;
	}
	return FW_OK;
}
