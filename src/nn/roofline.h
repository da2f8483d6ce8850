#ifndef FW_NN_ROOFLINE_H
#define FW_NN_ROOFLINE_H
/* The least time that a step can take on a GPU: a model from peak rates, never a measurement. */
#include "hw/peaks.h"
#include "nn/plan.h"

struct fw_nn_roofline {
	double compute_s, memory_s; /* FLOPs at the peak rate; bytes at the peak bandwidth */
	double bound_s;             /* the longer of the two */
	bool is_memory_bound;
};

/*
 * Each tensor and each weight moves once between memory and chip, and nothing stays in a cache between steps. Convolutions
 * and products of 16-bit numbers run on the tensor cores, but for depthwise convolutions; everything else at the fp32 rate.
 */
struct fw_nn_roofline fw_nn_step_roofline(const struct fw_nn_plan *plan,
					  const struct fw_nn_step *step,
					  const struct fw_hw_peak *peak);

/* bf16 needs compute capability 8.0. */
fw_status fw_nn_roofline_check(const struct fw_nn_plan *plan, const struct fw_hw_peak *peak,
			       struct fw_error *err);

#endif
