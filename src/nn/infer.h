#ifndef FW_NN_INFER_H
#define FW_NN_INFER_H
/*
 * Shape inference at work: one rule an operator. Small integer tensors are followed with their contents, so that shapes
 * which the model computes (Shape, Gather, Concat, ... into Reshape) are known. One thread.
 */
#include "nn/graph.h"

/* Elements of a value: keeps sums and products of a few sizes inside 64 bits. */
#define FW_NN_MAX_ELEMENTS ((int64_t)1 << 40)

/* Integers that a model computes shapes with are at most so many. */
#define FW_NN_MAX_INTS 64

struct fw_nn_ints {
	const int64_t *data; /* NULL: not known */
	uint32_t n;
};

struct fw_nn_inference {
	const struct fw_nn_graph *graph;
	struct fw_nn_shape *shapes; /* of every value */
	struct fw_nn_ints *ints;    /* of every value */
	struct fw_arena *arena;
};

/* Fills out[i] for every output of node. */
typedef fw_status fw_nn_rule(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			     struct fw_nn_shape *out, struct fw_error *err);

fw_nn_rule fw_nn_infer_conv, fw_nn_infer_pool, fw_nn_infer_global_pool;
fw_nn_rule fw_nn_infer_gemm, fw_nn_infer_matmul, fw_nn_infer_reduce, fw_nn_infer_batch_norm,
	fw_nn_infer_layer_norm, fw_nn_infer_softmax, fw_nn_infer_same, fw_nn_infer_clip,
	fw_nn_infer_dropout, fw_nn_infer_broadcast, fw_nn_infer_where;
fw_nn_rule fw_nn_infer_concat, fw_nn_infer_flatten, fw_nn_infer_reshape, fw_nn_infer_transpose,
	fw_nn_infer_squeeze, fw_nn_infer_unsqueeze, fw_nn_infer_expand,
	fw_nn_infer_constant_of_shape;
fw_nn_rule fw_nn_infer_shape, fw_nn_infer_gather, fw_nn_infer_slice, fw_nn_infer_split,
	fw_nn_infer_pad;

/* "Conv /layer1/conv1/Conv: " and the rest; FW_ERR_UNSUPPORTED. */
fw_status fw_nn_infer_fail(const struct fw_nn_node *node, struct fw_error *err, const char *fmt,
			   ...) __attribute__((format(printf, 3, 4)));

static inline bool fw_nn_has_input(const struct fw_nn_node *node, uint32_t i)
{
	return i < node->n_inputs && node->inputs[i] != FW_NN_NONE;
}

/* Of input i, which must be there. */
static inline const struct fw_nn_shape *fw_nn_input_shape(const struct fw_nn_inference *in,
							  const struct fw_nn_node *node, uint32_t i)
{
	return &in->shapes[node->inputs[i]];
}

/* The contents of integer input i. */
fw_status fw_nn_input_ints(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			   uint32_t i, struct fw_nn_ints *out, struct fw_error *err);

/*
 * A list that is an attribute in older opsets and input i in newer ones; *found: it is there at all.
 */
fw_status fw_nn_list(const struct fw_nn_inference *in, const struct fw_nn_node *node,
		     const char *name, uint32_t i, struct fw_nn_ints *out, struct fw_error *err);

/* An axis of rank dimensions, counted from the end where negative; false: out of range. */
bool fw_nn_axis(int64_t axis, uint32_t rank, uint32_t *out);

/* The same for a list without repetitions. */
fw_status fw_nn_axes(const struct fw_nn_node *node, const struct fw_nn_ints *list, uint32_t rank,
		     bool is_axis[FW_NN_MAX_RANK], struct fw_error *err);

/* Numpy's rule; false: the shapes do not go together. */
bool fw_nn_broadcast(const struct fw_nn_shape *a, const struct fw_nn_shape *b,
		     struct fw_nn_shape *out);

/* The number of elements; the shape is one of inference's, so there is no overflow. */
int64_t fw_nn_elements(const struct fw_nn_shape *shape);

/* What the bounds are of one axis of a Slice: first element, step, and how many. */
struct fw_nn_cut {
	int64_t start, step, count;
};
fw_status fw_nn_slice_cuts(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			   struct fw_nn_cut cuts[FW_NN_MAX_RANK], struct fw_error *err);

/* Where input 0 ends in output i of a Split along its axis: sizes of all outputs. */
fw_status fw_nn_split_sizes(const struct fw_nn_inference *in, const struct fw_nn_node *node,
			    int64_t *sizes, uint32_t *axis, struct fw_error *err);

/* Contents of a node's first result where they follow from its inputs; false: memory is out. */
bool fw_nn_infer_ints(struct fw_nn_inference *in, const struct fw_nn_node *node);

/* fw_nn_infer, and the contents too. */
fw_status fw_nn_infer_all(const struct fw_nn_graph *graph, int64_t batch,
			  struct fw_nn_inference *in, struct fw_error *err);

#endif
