#ifndef FW_NN_ONNX_H
#define FW_NN_ONNX_H
/*
 * The ONNX reader at work. The messages of the file are unpacked into the graph's arena, so names and numbers of the graph
 * point into them. One thread.
 */
#include "base/map.h"
#include "base/vec.h"
#include "nn/graph.h"
#include "nn/onnx.pb-c.h"

/* What ONNX calls a tensor's element (TensorProto.DataType). */
enum fw_onnx_type {
	FW_ONNX_FLOAT = 1,
	FW_ONNX_UINT8 = 2,
	FW_ONNX_INT8 = 3,
	FW_ONNX_INT32 = 6,
	FW_ONNX_INT64 = 7,
	FW_ONNX_BOOL = 9,
	FW_ONNX_FLOAT16 = 10,
	FW_ONNX_DOUBLE = 11,
	FW_ONNX_BFLOAT16 = 16
};

struct fw_onnx_reader {
	struct fw_nn_graph *graph;
	const char *folder;   /* of external data; NULL: none */
	size_t limit;         /* on the bytes of messages that are still to come */
	bool is_full;         /* the limit was reached */
	size_t left;          /* of the bytes that constants may take */
	struct fw_map names;  /* (hash of a name, 0, 1, ... of that hash) -> value */
	struct fw_vec values; /* struct fw_nn_value */
	struct fw_vec nodes;  /* struct fw_nn_node */
};

/* The same as an enum fw_nn_type; false: not read. */
bool fw_onnx_type(int32_t type, enum fw_nn_type *out);

/* A new value; name "" is not entered in the names. FW_ERR_FORMAT if the name is taken. Initialised with type alone. */
fw_status fw_onnx_add_value(struct fw_onnx_reader *r, const char *name, uint32_t *value,
			    struct fw_error *err);
/* FW_NN_NONE if no value has the name. */
uint32_t fw_onnx_find(const struct fw_onnx_reader *r, const char *name);
static inline struct fw_nn_value *fw_onnx_value(const struct fw_onnx_reader *r, uint32_t value)
{
	return &((struct fw_nn_value *)r->values.data)[value];
}

/* A constant of the tensor's content. */
fw_status fw_onnx_add_tensor(struct fw_onnx_reader *r, const Fw__Onnx__Tensor *tensor,
			     const char *name, uint32_t *value, struct fw_error *err);

/* Nodes in order; each may use only what came before it. */
fw_status fw_onnx_add_nodes(struct fw_onnx_reader *r, const Fw__Onnx__Graph *graph,
			    struct fw_error *err);

#endif
