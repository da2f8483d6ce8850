#ifndef TESTS_NN_BUILD_H
#define TESTS_NN_BUILD_H
/*
 * Graphs written by hand, for tests of the planner. Each node gives its result's shape by the formula of the ONNX
 * specification; inference finds the same. Constants are zero unless they are given. Limits are asserted: a test's own
 * fault ends it.
 */
#include "nn/graph.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUILD_MAX 4096

struct build {
	struct fw_nn_graph graph;
	struct fw_nn_value values[BUILD_MAX];
	struct fw_nn_node nodes[BUILD_MAX];
	uint32_t input, output;
	float *zeros;
	size_t n_zeros;
};

static inline void build_start(struct build *b, size_t n_zeros)
{
	memset(b, 0, sizeof(*b));
	b->graph.path = "test.onnx";
	b->graph.opset = 17;
	b->graph.values = b->values;
	b->graph.nodes = b->nodes;
	b->graph.n_inputs = b->graph.n_outputs = 1;
	b->graph.inputs = &b->input;
	b->graph.outputs = &b->output;
	b->zeros = calloc(n_zeros, sizeof(float));
	b->n_zeros = n_zeros;
	assert(b->zeros);
}

static inline void build_end(struct build *b)
{
	free(b->zeros);
	fw_arena_release(&b->graph.arena);
}

static inline uint32_t build_value(struct build *b, uint32_t rank, const int64_t *dims)
{
	struct fw_nn_value *v = &b->values[b->graph.n_values];

	assert(b->graph.n_values < BUILD_MAX);
	v->name = fw_arena_printf(&b->graph.arena, "v%u", b->graph.n_values);
	v->has_shape = true;
	v->rank = rank;
	if (rank)
		memcpy(v->dims, dims, rank * sizeof(*dims));
	v->producer = FW_NN_NONE;
	return b->graph.n_values++;
}

#define DIMS(...)                                                                                  \
	(const int64_t[])                                                                          \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

static inline uint32_t build_image(struct build *b, int64_t c, int64_t h, int64_t w)
{
	b->input = build_value(b, 4, DIMS(FW_NN_BATCH, c, h, w));
	return b->input;
}

/* An fp32 constant; data NULL: zeros. */
static inline uint32_t build_floats(struct build *b, uint32_t rank, const int64_t *dims,
				    const float *data)
{
	uint32_t v = build_value(b, rank, dims);
	size_t n = 1;

	for (uint32_t i = 0; i < rank; i++)
		n *= (size_t)dims[i];
	assert(data || n <= b->n_zeros);
	b->values[v].data = data ? data : b->zeros;
	b->values[v].bytes = n * sizeof(float);
	return v;
}

static inline uint32_t build_scalar(struct build *b, float x)
{
	float *data = fw_arena_alloc(&b->graph.arena, sizeof(*data));

	*data = x;
	return build_floats(b, 0, NULL, data);
}

static inline uint32_t build_node(struct build *b, enum fw_nn_op op, uint32_t n_inputs,
				  const uint32_t *inputs, uint32_t rank, const int64_t *dims)
{
	struct fw_nn_node *node = &b->nodes[b->graph.n_nodes];
	uint32_t *in = fw_arena_array(&b->graph.arena, n_inputs, sizeof(*in));
	uint32_t *out = fw_arena_array(&b->graph.arena, 1, sizeof(*out));

	assert(b->graph.n_nodes < BUILD_MAX && in && out);
	memcpy(in, inputs, n_inputs * sizeof(*in));
	out[0] = build_value(b, rank, dims);
	b->values[out[0]].producer = b->graph.n_nodes;
	node->op = op;
	node->name =
		fw_arena_printf(&b->graph.arena, "/n%u/%s", b->graph.n_nodes, fw_nn_op_name(op));
	node->n_inputs = n_inputs;
	node->n_outputs = 1;
	node->inputs = in;
	node->outputs = out;
	b->graph.n_nodes++;
	b->output = out[0];
	return out[0];
}

/* Adds an attribute to the last node. */
static inline void build_ints(struct build *b, const char *name, uint32_t n, const int64_t *ints)
{
	struct fw_nn_node *node = &b->nodes[b->graph.n_nodes - 1];
	struct fw_nn_attr *attrs =
		fw_arena_array(&b->graph.arena, node->n_attrs + 1, sizeof(*attrs));
	int64_t *copy = fw_arena_array(&b->graph.arena, n, sizeof(*copy));

	if (node->n_attrs)
		memcpy(attrs, node->attrs, node->n_attrs * sizeof(*attrs));
	memcpy(copy, ints, n * sizeof(*copy));
	attrs[node->n_attrs] =
		(struct fw_nn_attr){ .name = name, .kind = FW_NN_ATTR_INTS, .n = n, .ints = copy };
	node->attrs = attrs;
	node->n_attrs++;
}

static inline void build_int(struct build *b, const char *name, int64_t i)
{
	struct fw_nn_node *node = &b->nodes[b->graph.n_nodes - 1];
	struct fw_nn_attr *attrs =
		fw_arena_array(&b->graph.arena, node->n_attrs + 1, sizeof(*attrs));

	if (node->n_attrs)
		memcpy(attrs, node->attrs, node->n_attrs * sizeof(*attrs));
	attrs[node->n_attrs] = (struct fw_nn_attr){ .name = name, .kind = FW_NN_ATTR_INT, .i = i };
	node->attrs = attrs;
	node->n_attrs++;
}

static inline void build_text(struct build *b, const char *name, const char *text)
{
	struct fw_nn_node *node = &b->nodes[b->graph.n_nodes - 1];

	build_int(b, name, 0);
	((struct fw_nn_attr *)node->attrs)[node->n_attrs - 1] =
		(struct fw_nn_attr){ .name = name, .kind = FW_NN_ATTR_TEXT, .text = text };
}

static inline const int64_t *build_dims(const struct build *b, uint32_t value)
{
	return b->values[value].dims;
}

static inline int64_t build_out(int64_t size, int64_t kernel, int64_t stride, int64_t pad,
				bool ceil)
{
	int64_t span = size + 2 * pad - kernel;
	int64_t out = span / stride + 1;

	/* PyTorch's rule: a window may not begin behind the input and the padding before it. */
	if (ceil && span % stride && out * stride < size + pad)
		out++;
	return out;
}

static inline void build_window(struct build *b, int64_t kernel, int64_t stride, int64_t pad)
{
	build_ints(b, "kernel_shape", 2, DIMS(kernel, kernel));
	build_ints(b, "strides", 2, DIMS(stride, stride));
	build_ints(b, "pads", 4, DIMS(pad, pad, pad, pad));
}

/* A convolution with a bias, as folding leaves it behind. */
static inline uint32_t build_conv(struct build *b, uint32_t x, int64_t k, int64_t kernel,
				  int64_t stride, int64_t groups)
{
	const int64_t *d = build_dims(b, x);
	int64_t pad = kernel / 2;
	uint32_t w = build_floats(b, 4, DIMS(k, d[1] / groups, kernel, kernel), NULL);
	uint32_t bias = build_floats(b, 1, DIMS(k), NULL);
	uint32_t y = build_node(b, FW_NN_CONV, 3, (const uint32_t[]){ x, w, bias }, 4,
				DIMS(d[0], k, build_out(d[2], kernel, stride, pad, false),
				     build_out(d[3], kernel, stride, pad, false)));

	build_window(b, kernel, stride, pad);
	build_int(b, "group", groups);
	return y;
}

/* A node of one or two computed inputs whose result has the first one's shape. */
static inline uint32_t build_same(struct build *b, enum fw_nn_op op, uint32_t x, uint32_t y)
{
	return build_node(b, op, y == FW_NN_NONE ? 1 : 2, (const uint32_t[]){ x, y },
			  b->values[x].rank, build_dims(b, x));
}

static inline uint32_t build_relu(struct build *b, uint32_t x)
{
	return build_same(b, FW_NN_RELU, x, FW_NN_NONE);
}

static inline uint32_t build_clip(struct build *b, uint32_t x, float low, float high)
{
	uint32_t bounds[2] = { build_scalar(b, low), build_scalar(b, high) };

	return build_node(b, FW_NN_CLIP, 3, (const uint32_t[]){ x, bounds[0], bounds[1] }, 4,
			  build_dims(b, x));
}

static inline uint32_t build_pool(struct build *b, enum fw_nn_op op, uint32_t x, int64_t kernel,
				  int64_t stride, int64_t pad, bool ceil)
{
	const int64_t *d = build_dims(b, x);
	uint32_t y = build_node(b, op, 1, &x, 4,
				DIMS(d[0], d[1], build_out(d[2], kernel, stride, pad, ceil),
				     build_out(d[3], kernel, stride, pad, ceil)));

	build_window(b, kernel, stride, pad);
	build_int(b, "ceil_mode", ceil);
	return y;
}

static inline uint32_t build_mean(struct build *b, uint32_t x)
{
	return build_node(b, FW_NN_GLOBAL_AVERAGE_POOL, 1, &x, 4,
			  DIMS(build_dims(b, x)[0], build_dims(b, x)[1], 1, 1));
}

static inline uint32_t build_flatten(struct build *b, uint32_t x)
{
	const int64_t *d = build_dims(b, x);

	return build_node(b, FW_NN_FLATTEN, 1, &x, 2, DIMS(d[0], d[1] * d[2] * d[3]));
}

static inline uint32_t build_gemm(struct build *b, uint32_t x, int64_t k)
{
	const int64_t *d = build_dims(b, x);
	uint32_t w = build_floats(b, 2, DIMS(k, d[1]), NULL);
	uint32_t bias = build_floats(b, 1, DIMS(k), NULL);
	uint32_t y =
		build_node(b, FW_NN_GEMM, 3, (const uint32_t[]){ x, w, bias }, 2, DIMS(d[0], k));

	build_int(b, "transB", 1);
	return y;
}

static inline uint32_t build_concat(struct build *b, uint32_t n, const uint32_t *parts)
{
	const int64_t *d = build_dims(b, parts[0]);
	int64_t c = 0;
	uint32_t y;

	for (uint32_t i = 0; i < n; i++)
		c += build_dims(b, parts[i])[1];
	y = build_node(b, FW_NN_CONCAT, n, parts, 4, DIMS(d[0], c, d[2], d[3]));
	build_int(b, "axis", 1);
	return y;
}

#endif
