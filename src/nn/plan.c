/* A graph and its shapes become fused steps on NHWC tensors. */
#include "nn/plan.h"

const char *fw_nn_step_name(enum fw_nn_step_kind kind)
{
	static const char *const names[] = {
		[FW_NN_STEP_CONV] = "conv",
		[FW_NN_STEP_GEMM] = "gemm",
		[FW_NN_STEP_MAX_POOL] = "max pool",
		[FW_NN_STEP_AVERAGE_POOL] = "average pool",
		[FW_NN_STEP_GLOBAL_AVERAGE] = "global average",
		[FW_NN_STEP_ELEMENTWISE] = "elementwise",
		[FW_NN_STEP_SOFTMAX] = "softmax",
		[FW_NN_STEP_LAYER_NORM] = "layer norm",
		[FW_NN_STEP_ATTENTION] = "attention",
		[FW_NN_STEP_TOKENS] = "tokens",
		[FW_NN_STEP_COPY] = "copy",
	};

	return names[kind];
}

const char *fw_nn_act_name(enum fw_nn_activation kind)
{
	static const char *const names[] = {
		[FW_NN_ACT_NONE] = "none",
		[FW_NN_ACT_CLAMP] = "clamp",
		[FW_NN_ACT_SIGMOID] = "sigmoid",
		[FW_NN_ACT_HARD_SIGMOID] = "hard sigmoid",
		[FW_NN_ACT_HARD_SWISH] = "hard swish",
		[FW_NN_ACT_SWISH] = "swish",
		[FW_NN_ACT_GELU] = "gelu",
		[FW_NN_ACT_GELU_TANH] = "gelu (tanh)",
		[FW_NN_ACT_TANH] = "tanh",
	};

	return names[kind];
}

const char *fw_nn_precision_name(enum fw_nn_precision precision)
{
	static const char *const names[] = {
		[FW_NN_FP32] = "fp32",
		[FW_NN_FP16] = "fp16",
		[FW_NN_BFLOAT16] = "bf16",
	};

	return names[precision];
}

size_t fw_nn_precision_bytes(enum fw_nn_precision precision)
{
	return precision == FW_NN_FP32 ? 4 : 2;
}

fw_status fw_nn_plan_make(const struct fw_nn_graph *graph, const struct fw_nn_plan_options *options,
			  struct fw_nn_plan *plan, struct fw_error *err)
{
	*plan = (struct fw_nn_plan){ .graph = graph, .batch = options->batch };
	return fw_fail(err, FW_ERR_UNSUPPORTED, "this build has no planner yet");
}

void fw_nn_plan_free(struct fw_nn_plan *plan)
{
	fw_arena_release(&plan->arena);
}
