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
	FW_NN_STEP_GEMM, /* output = act(input x weight^T + bias + residual); rows = n * h * w */
	FW_NN_STEP_MAX_POOL,
	FW_NN_STEP_AVERAGE_POOL,
	FW_NN_STEP_GLOBAL_AVERAGE, /* over h and w */
	FW_NN_STEP_ELEMENTWISE, /* output = act(input [op] second), see fw_nn_elementwise; second may be one pixel (SE) */
	FW_NN_STEP_SOFTMAX,    /* over c */
	FW_NN_STEP_LAYER_NORM, /* over c; weight: scale, bias: shift */
	FW_NN_STEP_ATTENTION, /* softmax(q k^T * scale) v; input: q, k and v side by side in c, heads */
	FW_NN_STEP_COPY       /* into another layout or place: what could not be written in place */
};

enum fw_nn_activation {
	FW_NN_ACT_NONE,
	FW_NN_ACT_CLAMP, /* to [low, high]: relu, relu6, clip; an open end is +-infinity. NaN stays NaN. */
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
	uint32_t first_step, last_step; /* alive */
};

/* A constant that a step uses: id is the graph's value, so that engines share it between plans. */
struct fw_nn_weight {
	uint32_t id;
	const float *
		data; /* fp32 as in ONNX: K C/g R S for convolutions, see transposed for GEMM; NULL: none */
	int64_t k, c, r, s;
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
	bool fuse;                /* false: one step per node (the article's 'before') */
};

fw_status fw_nn_plan_make(const struct fw_nn_graph *graph, const struct fw_nn_plan_options *options,
			  struct fw_nn_plan *plan, struct fw_error *err);
void fw_nn_plan_free(struct fw_nn_plan *plan);

#endif
