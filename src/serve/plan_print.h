#ifndef FW_SERVE_PLAN_PRINT_H
#define FW_SERVE_PLAN_PRINT_H
/* A plan as a table for people and as JSON. */
#include "base/str.h"
#include "hw/peaks.h"
#include "nn/plan.h"

struct fw_serve_shown {
	const struct fw_nn_plan *plan;
	const struct fw_hw_peak *peak; /* NULL: no times */
	bool is_fused;
	unsigned columns; /* of the terminal; 0: unknown */
};

void fw_serve_plan_text(struct fw_str *out, const struct fw_serve_shown *shown);
void fw_serve_plan_json(struct fw_str *out, const struct fw_serve_shown *shown);

/* "conv 3x3/2 + residual + relu6": what the step does, without its shapes. */
void fw_serve_step_text(struct fw_str *out, const struct fw_nn_step *step);

#endif
