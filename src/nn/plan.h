#ifndef FW_NN_PLAN_H
#define FW_NN_PLAN_H
/*
 * What an engine executes: fused steps in order on NHWC tensors that lie in one arena, for one batch size. Made without
 * any engine or hardware. Borrows constants from the graph, which must outlive it. Immutable once made.
 */
#include "nn/graph.h"

enum fw_nn_precision { FW_NN_FP32, FW_NN_FP16, FW_NN_BFLOAT16 };

enum fw_nn_step_kind {
	FW_NN_STEP_CONV, /* output = act(conv(input, weight) + bias + residual) */
	/*
	 * output = act(input x weight^T + bias + residual); rows = n * h * w. After a Flatten of a map of r x s pixels a row is
	 * the whole map: rows = n, the input is dense (pixel_stride = c), and the weight's columns stand in ONNX's order C r s:
	 * fw_nn_weight_rows gives them in the input's.
	 */
	FW_NN_STEP_GEMM,
	FW_NN_STEP_MAX_POOL,
	FW_NN_STEP_AVERAGE_POOL,
	FW_NN_STEP_GLOBAL_AVERAGE, /* over h and w */
	/* output = act(input [op] second), see fw_nn_elementwise; second may be one pixel of each sample (SE). */
	FW_NN_STEP_ELEMENTWISE,
	FW_NN_STEP_SOFTMAX,    /* over c */
	FW_NN_STEP_LAYER_NORM, /* over c; weight: scale, bias: shift */
	FW_NN_STEP_ATTENTION, /* softmax(q k^T * scale) v; input: q, k and v side by side in c, heads */
	/*
	 * output(n, t) = weight(t) + (t < lead ? 0 : input(n, t - lead)), lead = output.h - input.h: class token and position
	 * embedding of a transformer. weight: k = output.h rows of c.
	 */
	FW_NN_STEP_TOKENS,
	/*
	 * Into another place, where the producer could not write there. If the shapes differ, elements follow each other in
	 * ONNX's order n, c, y, x in both.
	 */
	FW_NN_STEP_COPY
};

enum fw_nn_activation {
	FW_NN_ACT_NONE,
	FW_NN_ACT_CLAMP, /* to [low, high]: relu, relu6, clip; an open end is +-infinity. NaN stays NaN, but see docs/nn-engines.md. */
	FW_NN_ACT_SIGMOID,
	FW_NN_ACT_HARD_SIGMOID, /* max(0, min(1, alpha x + beta)) */
	FW_NN_ACT_HARD_SWISH,   /* x max(0, min(1, x / 6 + 0.5)) */
	FW_NN_ACT_SWISH,        /* x sigmoid(x) */
	FW_NN_ACT_GELU,         /* erf form */
	FW_NN_ACT_GELU_TANH,
	FW_NN_ACT_TANH
};

struct fw_nn_act {
	enum fw_nn_activation kind;
	float low, high, alpha, beta;
};

enum fw_nn_elementwise {
	FW_NN_ELEMENTWISE_NONE,
	FW_NN_ELEMENTWISE_ADD,
	FW_NN_ELEMENTWISE_MUL,
	FW_NN_ELEMENTWISE_SUB
};

/*
 * An activation: element (n, y, x, c) lies at buffer offset + ((n * h + y) * w + x) * pixel_stride + c elements.
 * pixel_stride > c where it is a part of a concatenation, or where channels are padded. A 2-D value has h = w = 1, tokens
 * have w = 1. Channels between c and padded_c exist, belong to this tensor and are zero.
 */
struct fw_nn_tensor {
	const char *name;
	int64_t n, h, w, c, padded_c, pixel_stride;
	uint64_t offset; /* of the first element in the arena, in bytes; 256-byte aligned buffers */
	uint64_t bytes;  /* of the whole span from offset */
	uint32_t
		buffer; /* tensors of one number share memory: parts of a concatenation, views, in-place results */
	uint32_t first_step,
		last_step; /* written, last read; the input is alive in all, the output from its step on */
};

/*
 * A constant that a step uses. Of one graph, the same id is the same constant in the plans of all batch sizes, so that
 * engines share what they make of it: fw_nn_weight_same. data lives as long as the plan.
 */
struct fw_nn_weight {
	uint32_t id;
	const float *
		data; /* fp32 as in ONNX: K C/g R S for convolutions, see transposed for GEMM; NULL: none */
	int64_t k, c, r, s; /* GEMM: r * s > 1 only after Flatten; bias: k elements; c is C/g */
	bool transposed; /* GEMM: false: data is K x C (as Gemm transB = 1); true: C x K (as MatMul) */
};

struct fw_nn_window { /* convolution and pooling */
	int64_t r, s, stride_y, stride_x, pad_top, pad_left, pad_bottom, pad_right, dilation_y,
		dilation_x, groups;
	bool counts_padding; /* average pool */
};

struct fw_nn_step {
	enum fw_nn_step_kind kind;
	uint32_t input, second,
		output; /* tensors; second: residual, other operand, or FW_NN_NONE */
	struct fw_nn_weight weight, bias; /* bias of k elements, fp32 */
	struct fw_nn_window window;
	struct fw_nn_act act;
	enum fw_nn_elementwise elementwise;
	float epsilon, scale; /* layer norm; attention */
	int64_t heads;
	uint32_t n_nodes; /* nodes of the graph that it stands for */
	const uint32_t *nodes;
	uint64_t flops;                   /* 2 per multiply-add; 1 per other operation */
	uint64_t read_bytes, write_bytes; /* each tensor and weight once */
	const char *fallback;             /* why something that is usually fused is not; NULL */
};

struct fw_nn_plan {
	struct fw_arena arena; /* owns the rest */
	const struct fw_nn_graph *graph;
	enum fw_nn_precision precision;
	int64_t batch;
	uint32_t n_tensors, n_steps;
	struct fw_nn_tensor *tensors;
	struct fw_nn_step *steps;
	uint32_t input, output; /* tensors; one each */
	uint64_t arena_bytes;   /* activations, input and output included */
	uint64_t weight_bytes, flops;
};

struct fw_nn_plan_options {
	int64_t batch;
	enum fw_nn_precision precision;
	int64_t channel_multiple; /* the input's channels are padded to it: cuDNN wants 4 or 8; 1: none */
	bool concat_in_place; /* steps may read and write parts of wider pixels (pixel_stride > c) */
	bool residual_in_place; /* the output may be written over a residual that nothing else reads */
	bool fuse;              /* false: one step per node (the article's 'before') */
};

fw_status fw_nn_plan_make(const struct fw_nn_graph *graph, const struct fw_nn_plan_options *options,
			  struct fw_nn_plan *plan, struct fw_error *err);
void fw_nn_plan_free(struct fw_nn_plan *plan);

/* The same constant in the same shape: one packed form serves both. */
bool fw_nn_weight_same(const struct fw_nn_weight *a, const struct fw_nn_weight *b);

/*
 * Rows first .. first + n of a convolution's or GEMM's weight as NHWC engines want them: n x (r, s, c), dense. out: n * r *
 * s * c floats.
 */
void fw_nn_weight_rows(const struct fw_nn_weight *weight, int64_t first, int64_t n, float *out);

const char *fw_nn_step_name(enum fw_nn_step_kind kind);
const char *fw_nn_act_name(enum fw_nn_activation kind);
const char *fw_nn_precision_name(enum fw_nn_precision precision);
size_t fw_nn_precision_bytes(enum fw_nn_precision precision); /* of an element */

#endif
