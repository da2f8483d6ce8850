/* Residual sum and activation behind a primitive, so that the result is written once. */
#include "nn/onednn_program.h"

#include <math.h>

/* An activation as at most two of oneDNN's element functions, applied one after the other. */
struct functions {
	unsigned n;
	struct {
		dnnl_alg_kind_t kind;
		float alpha, beta;
	} list[2];
};

static struct functions clamp(const struct fw_nn_act *act)
{
	if (act->low == 0 && act->high == INFINITY)
		return (struct functions){ 1, { { dnnl_eltwise_relu, 0, 0 } } };
	if (act->low == -INFINITY && act->high == INFINITY)
		return (struct functions){ 0 };
	return (struct functions){ 1, { { dnnl_eltwise_clip, act->low, act->high } } };
}

static struct functions functions_of(const struct fw_nn_act *act)
{
	switch (act->kind) {
	case FW_NN_ACT_NONE: break;
	case FW_NN_ACT_CLAMP: return clamp(act);
	case FW_NN_ACT_SIGMOID: return (struct functions){ 1, { { dnnl_eltwise_logistic, 0, 0 } } };
	case FW_NN_ACT_HARD_SIGMOID:
		return (struct functions){ 2,
					   { { dnnl_eltwise_linear, act->alpha, act->beta },
					     { dnnl_eltwise_clip, 0, 1 } } };
	case FW_NN_ACT_HARD_SWISH:
		return (struct functions){ 1, { { dnnl_eltwise_hardswish, 0, 0 } } };
	case FW_NN_ACT_SWISH: return (struct functions){ 1, { { dnnl_eltwise_swish, 1, 0 } } };
	case FW_NN_ACT_GELU: return (struct functions){ 1, { { dnnl_eltwise_gelu_erf, 0, 0 } } };
	case FW_NN_ACT_GELU_TANH:
		return (struct functions){ 1, { { dnnl_eltwise_gelu_tanh, 0, 0 } } };
	case FW_NN_ACT_TANH: return (struct functions){ 1, { { dnnl_eltwise_tanh, 0, 0 } } };
	}
	return (struct functions){ 0 };
}

static dnnl_status_t append(dnnl_post_ops_t ops, const struct fw_onednn_fused *fused)
{
	struct functions functions = { 0 };
	dnnl_status_t status = dnnl_success;

	if (fused->scale != 0)
		status = dnnl_post_ops_append_eltwise(ops, 1, dnnl_eltwise_linear, fused->scale, 0);
	if (!status && fused->has_sum)
		status = dnnl_post_ops_append_sum(ops, 1);
	if (fused->act)
		functions = functions_of(fused->act);
	for (unsigned i = 0; i < functions.n && !status; i++)
		status = dnnl_post_ops_append_eltwise(ops, 1, functions.list[i].kind,
						      functions.list[i].alpha,
						      functions.list[i].beta);
	return status;
}

fw_status fw_onednn_attr(struct fw_onednn_builder *b, const struct fw_onednn_fused *fused,
			 dnnl_primitive_attr_t *attr)
{
	dnnl_post_ops_t ops = NULL;
	dnnl_status_t status;

	*attr = NULL;
	status = dnnl_primitive_attr_create(attr);
	if (!status)
		status = dnnl_primitive_attr_set_scratchpad_mode(*attr, dnnl_scratchpad_mode_user);
	if (!status)
		status = dnnl_post_ops_create(&ops);
	if (!status)
		status = append(ops, fused);
	if (!status)
		status = dnnl_primitive_attr_set_post_ops(*attr, ops);
	if (ops)
		dnnl_post_ops_destroy(ops);
	if (status && *attr) {
		dnnl_primitive_attr_destroy(*attr);
		*attr = NULL;
	}
	return fw_onednn_check(b, status, "a fused operation");
}

fw_status fw_onednn_describe(struct fw_onednn_builder *b, const_dnnl_op_desc_t operation,
			     const struct fw_onednn_fused *fused,
			     dnnl_primitive_desc_t *description)
{
	dnnl_primitive_attr_t attr;
	fw_status status = fw_onednn_attr(b, fused, &attr);

	if (status)
		return status;
	status = fw_onednn_check(b,
				 dnnl_primitive_desc_create(description, operation, attr,
							    b->network->engine->cpu, NULL),
				 fw_nn_step_name(b->step->kind));
	dnnl_primitive_attr_destroy(attr);
	return status;
}
