/* The least time that a step can take on a GPU. */
#include "nn/roofline.h"

static bool is_on_tensor_cores(const struct fw_nn_plan *plan, const struct fw_nn_step *step)
{
	bool is_product = step->kind == FW_NN_STEP_GEMM || step->kind == FW_NN_STEP_ATTENTION ||
			  (step->kind == FW_NN_STEP_CONV && step->weight.c > 1);

	return is_product && plan->precision != FW_NN_FP32;
}

struct fw_nn_roofline fw_nn_step_roofline(const struct fw_nn_plan *plan,
					  const struct fw_nn_step *step,
					  const struct fw_hw_peak *peak)
{
	double tflops = is_on_tensor_cores(plan, step) ? peak->tensor_tflops : peak->fp32_tflops;
	struct fw_nn_roofline r = {
		.compute_s = (double)step->flops / (tflops * 1e12),
		.memory_s = (double)(step->read_bytes + step->write_bytes) / (peak->gb_s * 1e9),
	};

	r.is_memory_bound = r.memory_s >= r.compute_s;
	r.bound_s = r.is_memory_bound ? r.memory_s : r.compute_s;
	return r;
}

fw_status fw_nn_roofline_check(const struct fw_nn_plan *plan, const struct fw_hw_peak *peak,
			       struct fw_error *err)
{
	const struct fw_hw_chip *chip;
	fw_status status = fw_hw_chip_find(peak->name, &chip, err);

	if (!status && plan->precision == FW_NN_BFLOAT16 && chip->cc < 80)
		status = fw_fail(err, FW_ERR_UNSUPPORTED,
				 "GPU '%s' (compute capability %u.%u) has no bf16; use fp16",
				 peak->name, chip->cc / 10, chip->cc % 10);
	return status;
}
