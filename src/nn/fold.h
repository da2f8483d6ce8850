#ifndef FW_NN_FOLD_H
#define FW_NN_FOLD_H
/*
 * Folding at work. Nodes are rewritten and dropped where they stand; a value that becomes known turns into a constant
 * where it stands too, so that numbers of values hold. One thread.
 */
#include "base/vec.h"
#include "nn/infer.h"

struct fw_nn_fold {
	struct fw_nn_graph *graph;
	struct fw_arena scratch;
	struct fw_vec values; /* struct fw_nn_value: the graph's, and new constants behind */
	struct fw_nn_shape *
		shapes[2]; /* of the graph's values, for two batch sizes; the same if it is fixed */
	struct fw_nn_ints *ints[2];
	bool *dropped;  /* nodes */
	uint32_t *uses; /* of the graph's values: by nodes that are not dropped, and as outputs */
	size_t left;    /* bytes that folded constants may still take */
};

static inline struct fw_nn_value *fw_nn_fold_value(const struct fw_nn_fold *f, uint32_t value)
{
	return &((struct fw_nn_value *)f->values.data)[value];
}

/* The node that makes value if only `value`'s one use reads it and it is of this kind; else NULL. */
struct fw_nn_node *fw_nn_fold_producer(const struct fw_nn_fold *f, uint32_t value, enum fw_nn_op op,
				       bool only_use);

/* A new constant like `like` with its own data (not filled), in the graph's arena. */
fw_status fw_nn_fold_constant(struct fw_nn_fold *f, const struct fw_nn_value *like, uint32_t *value,
			      void **data, struct fw_error *err);

/* Other inputs for a node. */
fw_status fw_nn_fold_set_inputs(struct fw_nn_fold *f, struct fw_nn_node *node, uint32_t n,
				const uint32_t *inputs, struct fw_error *err);

/* Shapes that do not depend on the batch become constants, the others' open dimension -1. */
fw_status fw_nn_fold_shapes(struct fw_nn_fold *f, struct fw_error *err);
/* A node of constants becomes a constant. */
fw_status fw_nn_fold_constants(struct fw_nn_fold *f, struct fw_error *err);
fw_status fw_nn_fold_batch_norms(struct fw_nn_fold *f, struct fw_error *err);
/* The nodes that exporters write for a layer norm before opset 17 become one. */
fw_status fw_nn_fold_layer_norms(struct fw_nn_fold *f, struct fw_error *err);

#endif
