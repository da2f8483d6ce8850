/* FLOPs and bytes of each step, from its shapes. */
#include "base/map.h"
#include "nn/planner.h"

/* Sums and products that stay at the largest number instead of wrapping round. */
static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t elements(const struct fw_nn_tensor *t)
{
	return (uint64_t)(t->n * t->h * t->w * t->c);
}

static uint64_t weight_elements(const struct fw_nn_weight *w)
{
	return w->data ? (uint64_t)(w->k * w->c * w->r * w->s) : 0;
}

/* Operations for each element of the result. */
static uint64_t per_result(const struct fw_nn_step *s, const struct fw_nn_tensor *input)
{
	const struct fw_nn_weight *w = &s->weight;
	uint64_t extras = (s->bias.data != NULL) + (s->second != FW_NN_NONE) +
			  (s->act.kind != FW_NN_ACT_NONE);

	switch (s->kind) {
	case FW_NN_STEP_CONV:
	case FW_NN_STEP_GEMM: return 2 * (uint64_t)(w->c * w->r * w->s) + extras;
	case FW_NN_STEP_MAX_POOL:
	case FW_NN_STEP_AVERAGE_POOL: return times((uint64_t)s->window.r, (uint64_t)s->window.s);
	case FW_NN_STEP_GLOBAL_AVERAGE: return (uint64_t)(input->h * input->w);
	case FW_NN_STEP_ELEMENTWISE: return extras;
	case FW_NN_STEP_SOFTMAX: return 4; /* maximum, difference and exponential, sum, quotient */
	case FW_NN_STEP_LAYER_NORM:
		return 7; /* mean, difference, square, sum, quotient, scale, shift */
	case FW_NN_STEP_ATTENTION: return 0; /* attention_flops */
	case FW_NN_STEP_TOKENS: return 1;
	case FW_NN_STEP_COPY: return 0;
	}
	return 0;
}

/* q k^T and its product with v: a multiply-add for each pair of tokens and channel; softmax of each pair and head. */
static uint64_t attention_flops(const struct fw_nn_step *s, const struct fw_nn_tensor *output)
{
	uint64_t tokens = (uint64_t)(output->h * output->w);
	uint64_t pairs = times((uint64_t)output->n, times(tokens, tokens));

	return times(pairs, 4 * (uint64_t)output->c + 4 * (uint64_t)s->heads);
}

static void cost_step(const struct fw_nn_plan *plan, struct fw_nn_step *s)
{
	const struct fw_nn_tensor *input = &plan->tensors[s->input],
				  *output = &plan->tensors[s->output];
	uint64_t element = fw_nn_precision_bytes(plan->precision);
	uint64_t read = elements(input) + weight_elements(&s->weight) + weight_elements(&s->bias);

	if (s->second != FW_NN_NONE)
		read += elements(&plan->tensors[s->second]);
	s->flops = s->kind == FW_NN_STEP_ATTENTION ? attention_flops(s, output)
						   : times(elements(output), per_result(s, input));
	s->read_bytes = read * element;
	s->write_bytes = elements(output) * element;
}

/* Bytes of a constant, the first time that it is met. */
static fw_status cost_weight(struct fw_nn_plan *plan, struct fw_map *seen,
			     const struct fw_nn_weight *w, struct fw_error *err)
{
	bool is_new = false;

	if (!w->data)
		return FW_OK;
	if (!fw_map_at(seen, w->id, 0, &is_new))
		return fw_fail_nomem(err, sizeof(uint64_t));
	if (is_new)
		plan->weight_bytes += weight_elements(w) * fw_nn_precision_bytes(plan->precision);
	return FW_OK;
}

fw_status fw_nn_plan_cost(struct fw_nn_plan *plan, struct fw_error *err)
{
	struct fw_map seen = { 0 };
	fw_status status = FW_OK;

	for (uint32_t i = 0; i < plan->n_steps && !status; i++) {
		struct fw_nn_step *s = &plan->steps[i];

		cost_step(plan, s);
		plan->flops = plus(plan->flops, s->flops);
		status = cost_weight(plan, &seen, &s->weight, err);
		if (!status)
			status = cost_weight(plan, &seen, &s->bias, err);
	}
	fw_map_release(&seen);
	if (!status && plan->flops == UINT64_MAX)
		status = fw_fail(err, FW_ERR_UNSUPPORTED,
				 "the model has more operations than 64 bits can count");
	return status;
}
