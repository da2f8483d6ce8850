#ifndef FW_NN_CUDNN_CONV_H
#define FW_NN_CUDNN_CONV_H
/* A convolution with bias, residual and relu as cuDNN sees it: a problem, the engines that solve it, a plan to run. */
#include "nn/cudnn_gpu.h"

/* What decides which engine is the fastest: two equal problems share one choice. Steps are of elements. */
struct fw_nn_problem {
	enum fw_nn_precision precision;
	int64_t n, h, w, c, x_step; /* x_step: from one pixel to the next */
	int64_t out_h, out_w, k, y_step;
	int64_t z_step; /* of the residual; 0: none */
	struct fw_nn_window window;
	bool relu;
};

#define FW_NN_KEY_BYTES 192
#define FW_NN_MAX_KNOBS 32
/* Of heuristics; cuDNN gives 32 to 40 for a usual layer. */
#define FW_NN_MAX_CONFIGS 64

/* An engine with its settings: numbers only, so that they can be stored. */
struct fw_nn_config {
	int64_t engine;
	uint32_t n_knobs;
	struct {
		int32_t type;
		int64_t value;
	} knobs[FW_NN_MAX_KNOBS];
};

/* Identifiers of the tensors in a variant pack. */
enum { FW_NN_UID_X = 1, FW_NN_UID_W, FW_NN_UID_Y, FW_NN_UID_Z, FW_NN_UID_BIAS, FW_NN_N_UIDS = 5 };

/* Descriptors that live as long as what is made of them. */
struct fw_nn_parts {
	uint32_t n;
	void *items[FW_NN_MAX_KNOBS + 8];
};

/* The operation graph: conv, + z * (0 or 1), + bias, relu. It outlives the plans made of it. */
struct fw_nn_conv {
	const struct fw_nn_gpu *gpu;
	enum fw_nn_precision precision;
	void *graph;
	struct fw_nn_parts parts;
};

struct fw_nn_conv_plan {
	void *plan;
	size_t workspace_bytes;
	struct fw_nn_parts parts;
};

/* Everything of the problem in one line: "conv fp16 64x56x56x64/64 ...". */
void fw_nn_problem_key(const struct fw_nn_problem *problem, char key[FW_NN_KEY_BYTES]);

fw_status fw_nn_conv_open(const struct fw_nn_gpu *gpu, const struct fw_nn_problem *problem,
			  struct fw_nn_conv *conv, struct fw_error *err);
void fw_nn_conv_close(struct fw_nn_conv *conv);

/*
 * The engines that cuDNN's heuristics propose, best first: precompiled, deterministic, and in fp32 without TF32 and
 * without Winograd. fallback: those for everything, and slow. *n may be 0.
 */
fw_status fw_nn_conv_configs(const struct fw_nn_conv *conv, bool fallback,
			     struct fw_nn_config configs[FW_NN_MAX_CONFIGS], uint32_t *n,
			     struct fw_error *err);

/* FW_ERR_UNSUPPORTED: this engine cannot do it here. */
fw_status fw_nn_conv_plan_open(const struct fw_nn_conv *conv, const struct fw_nn_config *config,
			       struct fw_nn_conv_plan *plan, struct fw_error *err);
void fw_nn_conv_plan_close(const struct fw_nn_gpu *gpu, struct fw_nn_conv_plan *plan);

/* Where a plan finds its tensors. *pack is destroyed with cudnn.descriptor_destroy. */
struct fw_nn_addresses {
	uint64_t x, w, y, z, bias, workspace; /* z 0: none */
};
fw_status fw_nn_conv_pack(const struct fw_nn_gpu *gpu, const struct fw_nn_addresses *addresses,
			  void **pack, struct fw_error *err);

#endif
