/* A step in words. */
#include "serve/plan_print.h"

#include <inttypes.h>
#include <math.h>

static void put_window(struct fw_str *out, const struct fw_nn_window *w)
{
	fw_str_printf(out, " %" PRId64 "x%" PRId64, w->r, w->s);
	if (w->stride_y != w->stride_x)
		fw_str_printf(out, "/%" PRId64 "x%" PRId64, w->stride_y, w->stride_x);
	else if (w->stride_y != 1)
		fw_str_printf(out, "/%" PRId64, w->stride_y);
	if (w->dilation_y != 1 || w->dilation_x != 1)
		fw_str_printf(out, " dilated %" PRId64 "x%" PRId64, w->dilation_y, w->dilation_x);
}

static void put_act(struct fw_str *out, const struct fw_nn_act *act, const char *before)
{
	if (act->kind == FW_NN_ACT_NONE)
		return;
	fw_str_puts(out, before);
	if (act->kind != FW_NN_ACT_CLAMP)
		fw_str_puts(out, fw_nn_act_name(act->kind));
	else if (act->low == 0 && isinf(act->high))
		fw_str_puts(out, "relu");
	else if (act->low == 0 && act->high == 6)
		fw_str_puts(out, "relu6");
	else
		fw_str_printf(out, "clamp %g to %g", (double)act->low, (double)act->high);
}

static void put_elementwise(struct fw_str *out, const struct fw_nn_step *step)
{
	static const char *const names[] = {
		[FW_NN_ELEMENTWISE_NONE] = "",
		[FW_NN_ELEMENTWISE_ADD] = "sum",
		[FW_NN_ELEMENTWISE_MUL] = "product",
		[FW_NN_ELEMENTWISE_SUB] = "difference",
	};

	fw_str_puts(out, names[step->elementwise]);
	put_act(out, &step->act, step->elementwise ? " + " : "");
}

void fw_serve_step_text(struct fw_str *out, const struct fw_nn_step *step)
{
	bool is_depthwise = step->kind == FW_NN_STEP_CONV && step->weight.c == 1 &&
			    step->window.groups > 1 && step->window.groups == step->weight.k;

	if (step->kind == FW_NN_STEP_ELEMENTWISE) {
		put_elementwise(out, step);
		return;
	}
	if (is_depthwise && step->window.r == 1 && step->window.s == 1)
		fw_str_puts(out, "scale");
	else
		fw_str_puts(out, is_depthwise ? "depthwise" : fw_nn_step_name(step->kind));
	if (step->window.r && !(is_depthwise && step->window.r == 1 && step->window.s == 1))
		put_window(out, &step->window);
	if (step->kind == FW_NN_STEP_CONV && step->window.groups > 1 && !is_depthwise)
		fw_str_printf(out, " x%" PRId64 " groups", step->window.groups);
	if (step->second != FW_NN_NONE)
		fw_str_puts(out, " + residual");
	put_act(out, &step->act, " + ");
}
