#ifndef FW_NN_GRAPH_H
#define FW_NN_GRAPH_H
/*
 * A model as it was read: values (inputs, constants, results) and nodes in topological order. The ONNX reader makes it,
 * inference gives every value a shape for one batch size, folding rewrites it; the planner turns it into a plan.
 * Immutable after fw_nn_fold: plans of several batch sizes and their engines borrow its constants.
 */
#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FW_NN_MAX_RANK 8
#define FW_NN_NONE     UINT32_MAX /* an optional input that is absent; a value that no node makes */
#define FW_NN_BATCH    (-1)       /* a dimension that is the batch, before fw_nn_infer */

enum fw_nn_type {
	FW_NN_F32,
	FW_NN_F16,
	FW_NN_BF16,
	FW_NN_F64,
	FW_NN_I64,
	FW_NN_I32,
	FW_NN_U8,
	FW_NN_I8,
	FW_NN_BOOL
};

/* ops.def: FW_NN_OP(id, ONNX name, least and most inputs, outputs). */
enum fw_nn_op {
#define FW_NN_OP(id, ...) FW_NN_##id,
#include "nn/ops.def"
#undef FW_NN_OP
	FW_NN_N_OPS
};

struct fw_nn_value {
	const char *name;
	enum fw_nn_type type;
	bool has_shape;
	uint32_t rank;
	int64_t dims[FW_NN_MAX_RANK];
	const void *
		data; /* of a constant, dense, native byte order, aligned for its type; else NULL */
	size_t bytes;
	uint32_t producer; /* node, or FW_NN_NONE */
};

enum fw_nn_attr_kind {
	FW_NN_ATTR_INT,
	FW_NN_ATTR_FLOAT,
	FW_NN_ATTR_TEXT,
	FW_NN_ATTR_INTS,
	FW_NN_ATTR_FLOATS,
	FW_NN_ATTR_TENSOR
};

struct fw_nn_attr {
	const char *name;
	enum fw_nn_attr_kind kind;
	int64_t i;
	float f;
	const char *text;
	uint32_t n;
	const int64_t *ints;
	const float *floats;
	uint32_t value; /* of a TENSOR: a constant of the graph */
};

struct fw_nn_node {
	enum fw_nn_op op;
	const char *name; /* never empty: the first output's name where the model has none */
	uint32_t n_inputs, n_outputs, n_attrs;
	const uint32_t *inputs, *outputs; /* values */
	const struct fw_nn_attr *attrs;
};

struct fw_nn_graph {
	struct fw_arena arena;          /* owns all the rest, except mapped external data */
	struct fw_nn_mapping *mappings; /* external data files */
	const char *path;
	int64_t opset, ir_version;
	uint32_t n_values, n_nodes, n_inputs, n_outputs;
	struct fw_nn_value *values;
	struct fw_nn_node *nodes;
	uint32_t *inputs, *outputs; /* inputs without initialisers */
	uint64_t
		hash; /* of the model file and its external data: the engines' caches are keyed by it */
};

struct fw_nn_read_options {
	bool dynamic; /* the first input's first dimension is the batch even where the model fixes it */
	size_t max_bytes; /* of constants; 0: 8 GiB */
};

/* FW_ERR_FORMAT: file, offset or node, value. FW_ERR_UNSUPPORTED: node, operator and what is supported. */
fw_status fw_nn_onnx_read(const char *path, const struct fw_nn_read_options *options,
			  struct fw_nn_graph *graph, struct fw_error *err);
/* From memory; folder is where external data files may lie (NULL: there are none). bytes is borrowed for the call. */
fw_status fw_nn_onnx_parse(const void *bytes, size_t size, const char *folder,
			   const struct fw_nn_read_options *options, struct fw_nn_graph *graph,
			   struct fw_error *err);
void fw_nn_graph_free(struct fw_nn_graph *graph);

/*
 * Rewrites the graph, independent of batch size: constant folding, Identity and Dropout removed, batch-norm into the
 * convolution before it (weights and bias recomputed in double), dead nodes dropped.
 */
fw_status fw_nn_fold(struct fw_nn_graph *graph, struct fw_error *err);

/* The shape of each value for one batch size: shapes[i] belongs to values[i]; allocated in arena. */
struct fw_nn_shape {
	uint32_t rank;
	int64_t dims[FW_NN_MAX_RANK];
};
fw_status fw_nn_infer(const struct fw_nn_graph *graph, int64_t batch, struct fw_arena *arena,
		      struct fw_nn_shape **shapes, struct fw_error *err);

/* An attribute by name, or NULL; fallback where it is absent. */
const struct fw_nn_attr *fw_nn_attr_find(const struct fw_nn_node *node, const char *name);
int64_t fw_nn_attr_int(const struct fw_nn_node *node, const char *name, int64_t fallback);
float fw_nn_attr_float(const struct fw_nn_node *node, const char *name, float fallback);

const char *fw_nn_op_name(enum fw_nn_op op);
const char *fw_nn_type_name(enum fw_nn_type type);
size_t fw_nn_type_bytes(enum fw_nn_type type);

/* "Conv /layer1/conv1/Conv", as messages name a node; cut where it is long. */
struct fw_nn_label {
	char text[160];
};
struct fw_nn_label fw_nn_node_label(const struct fw_nn_node *node);

#endif
