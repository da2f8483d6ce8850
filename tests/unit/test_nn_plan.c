/* Plans of known networks: FLOPs from the literature, fused groups, memory by a brute-force check. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../nn/models.h"
#include "nn/plan.h"
#include "nn/roofline.h"

static struct build model;

static const struct fw_nn_plan_options usual = {
	.batch = 1, /* large networks; small ones are planned for two samples */
	.precision = FW_NN_FP16,
	.channel_multiple = 4,
	.concat_in_place = true,
	.residual_in_place = true,
	.fuse = true,
};

static struct fw_nn_plan make_plan(const struct fw_nn_plan_options *options)
{
	struct fw_nn_plan plan;
	struct fw_error err = { 0 };

	if (fw_nn_plan_make(&model.graph, options, &plan, &err))
		fail_msg("%s", err.message);
	return plan;
}

/* Multiply-adds of convolutions and products for one sample: what the literature counts. */
static uint64_t macs(const struct fw_nn_plan *plan)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < plan->n_steps; i++) {
		const struct fw_nn_step *s = &plan->steps[i];
		const struct fw_nn_tensor *t = &plan->tensors[s->output];

		if (s->kind == FW_NN_STEP_CONV || s->kind == FW_NN_STEP_GEMM)
			sum += (uint64_t)(t->h * t->w * t->c * s->weight.c * s->weight.r *
					  s->weight.s);
	}
	return sum;
}

static uint32_t count_kind(const struct fw_nn_plan *plan, enum fw_nn_step_kind kind)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->n_steps; i++)
		n += plan->steps[i].kind == kind;
	return n;
}

static uint32_t count_residuals(const struct fw_nn_plan *plan)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->n_steps; i++)
		n += plan->steps[i].kind == FW_NN_STEP_CONV && plan->steps[i].second != FW_NN_NONE;
	return n;
}

static uint32_t count_residuals_in_place(const struct fw_nn_plan *plan)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->n_steps; i++) {
		const struct fw_nn_step *s = &plan->steps[i];

		n += s->kind == FW_NN_STEP_CONV && s->second != FW_NN_NONE &&
		     plan->tensors[s->second].offset == plan->tensors[s->output].offset;
	}
	return n;
}

/*
 * Executes the plan on ownership instead of numbers: each element of the arena remembers the step that wrote it. A step
 * must find in its operands what their writers left, so no two tensors alive at once overlap.
 */
#define FROM_OUTSIDE (UINT32_MAX - 1)

struct arena_check {
	const struct fw_nn_plan *plan;
	uint32_t *owner;  /* of each element: the step that wrote it last; NONE: nobody */
	uint32_t *writer; /* of each tensor; NONE: a view, or a whole written in parts */
	size_t element;
};

static uint32_t *owner_of(struct arena_check *c, const struct fw_nn_tensor *t, int64_t pixel)
{
	uint64_t at = t->offset / c->element + (uint64_t)(pixel * t->pixel_stride);

	if ((at + (uint64_t)t->padded_c) * c->element > c->plan->arena_bytes)
		fail_msg("tensor %s reaches past the arena", t->name);
	return &c->owner[at];
}

static void own(struct arena_check *c, const struct fw_nn_tensor *t, uint32_t step)
{
	for (int64_t p = 0; p < t->n * t->h * t->w; p++) {
		uint32_t *owner = owner_of(c, t, p);

		for (int64_t k = 0; k < t->padded_c; k++)
			owner[k] = step;
	}
}

/* A whole or a view may be read if what it holds is of its own buffer. */
static bool is_of_buffer(const struct arena_check *c, uint32_t owner, uint32_t step,
			 uint32_t buffer)
{
	return owner == FROM_OUTSIDE ||
	       (owner < step && c->plan->tensors[c->plan->steps[owner].output].buffer == buffer);
}

static void check_read(struct arena_check *c, uint32_t tensor, uint32_t step)
{
	const struct fw_nn_tensor *t = &c->plan->tensors[tensor];

	assert_true(t->first_step <= step && t->last_step >= step);
	for (int64_t p = 0; p < t->n * t->h * t->w; p++) {
		const uint32_t *owner = owner_of(c, t, p);

		for (int64_t k = 0; k < t->c; k++)
			if (c->writer[tensor] == FW_NN_NONE
				    ? !is_of_buffer(c, owner[k], step, t->buffer)
				    : owner[k] != c->writer[tensor])
				fail_msg("step %u reads %s, over which step %u wrote", step,
					 t->name, owner[k]);
	}
}

static void check_memory(const struct fw_nn_plan *plan)
{
	struct arena_check c = { .plan = plan, .element = fw_nn_precision_bytes(plan->precision) };

	c.owner = malloc(plan->arena_bytes / c.element * sizeof(*c.owner));
	c.writer = malloc(plan->n_tensors * sizeof(*c.writer));
	memset(c.owner, 0xff, plan->arena_bytes / c.element * sizeof(*c.owner));
	memset(c.writer, 0xff, plan->n_tensors * sizeof(*c.writer));
	own(&c, &plan->tensors[plan->input], FROM_OUTSIDE);
	c.writer[plan->input] = FROM_OUTSIDE;
	for (uint32_t i = 0; i < plan->n_steps; i++) {
		const struct fw_nn_step *s = &plan->steps[i];

		check_read(&c, s->input, i);
		if (s->second != FW_NN_NONE)
			check_read(&c, s->second, i);
		own(&c, &plan->tensors[s->output], i);
		c.writer[s->output] = i;
	}
	check_read(&c, plan->output, plan->n_steps - 1);
	check_read(&c, plan->input,
		   plan->n_steps - 1); /* it survives, so that a batch can run again */
	free(c.owner);
	free(c.writer);
}

/* The most bytes that live at once: no arena can be smaller. */
static uint64_t lower_bound(const struct fw_nn_plan *plan)
{
	uint64_t most = 0;

	for (uint32_t step = 0; step < plan->n_steps; step++) {
		uint64_t live = 0;

		for (uint32_t b = 0; b < plan->n_tensors; b++) {
			uint64_t bytes = 0;
			uint32_t first = UINT32_MAX, last = 0;

			for (uint32_t t = 0; t < plan->n_tensors; t++) {
				const struct fw_nn_tensor *x = &plan->tensors[t];

				if (x->buffer != b)
					continue;
				first = x->first_step < first ? x->first_step : first;
				last = x->last_step > last ? x->last_step : last;
				bytes = x->bytes > bytes ? x->bytes : bytes;
			}
			live += bytes && first <= step && last >= step ? bytes : 0;
		}
		most = live > most ? live : most;
	}
	return most;
}

/* Every node belongs to a step, and to one only unless it is a copy's. */
static void check_nodes(const struct fw_nn_plan *plan)
{
	for (uint32_t n = 0; n < plan->graph->n_nodes; n++) {
		uint32_t owners = 0;

		for (uint32_t i = 0; i < plan->n_steps; i++)
			for (uint32_t k = 0; k < plan->steps[i].n_nodes; k++)
				owners += plan->steps[i].nodes[k] == n;
		assert_true(owners >= 1);
	}
	for (uint32_t i = 0; i < plan->n_steps; i++)
		assert_true(plan->steps[i].n_nodes > 0);
}

static void check_all(const struct fw_nn_plan *plan)
{
	check_nodes(plan);
	check_memory(plan);
}

static void resnet50_is_54_convolutions_and_products(void **state)
{
	struct fw_nn_plan plan;

	(void)state;
	model_resnet50(&model);
	plan = make_plan(&usual);
	/* torchvision's table of ResNet50_Weights: 4.089 GFLOPS (multiply-adds). */
	assert_int_equal(macs(&plan) / 1000000, 4089);
	/* 25,557,032 parameters (same table) without the 2 x 26,560 scales and shifts of batch norms that folding leaves one of. */
	assert_int_equal(plan.weight_bytes, 2 * (25557032 - 26560));
	assert_int_equal(count_kind(&plan, FW_NN_STEP_CONV), 53);
	assert_int_equal(count_kind(&plan, FW_NN_STEP_GEMM), 1);
	assert_int_equal(count_kind(&plan, FW_NN_STEP_ELEMENTWISE), 0);
	assert_int_equal(count_kind(&plan, FW_NN_STEP_COPY), 0);
	assert_int_equal(plan.n_steps, 53 + 1 + 2); /* and the two pools */
	assert_int_equal(count_residuals(&plan), 16);
	assert_int_equal(count_residuals_in_place(&plan),
			 16); /* results in place of results in place too */
	assert_int_equal(plan.tensors[plan.input].padded_c, 4);
	assert_int_equal(plan.tensors[plan.output].c, 1000);
	/* 2 x 4.089 G, and less than 1 % for biases, residuals, activations and pools. */
	assert_in_range(plan.flops, 8178000000, 8178000000 * 101 / 100);
	check_all(&plan);
	assert_true(plan.arena_bytes >= lower_bound(&plan));
	assert_true(plan.arena_bytes <= lower_bound(&plan) * 12 / 10);
	fw_nn_plan_free(&plan);
	build_end(&model);
}

static void without_fusing_each_node_is_a_step(void **state)
{
	struct fw_nn_plan_options options = usual;
	struct fw_nn_plan plan;

	(void)state;
	options.fuse = false;
	model_resnet50(&model);
	plan = make_plan(&options);
	assert_int_equal(plan.n_steps, model.graph.n_nodes - 1); /* Flatten moves nothing */
	assert_int_equal(count_residuals(&plan), 0);
	check_all(&plan);
	fw_nn_plan_free(&plan);
	build_end(&model);
}

static void vgg16_reads_the_map_as_rows(void **state)
{
	struct fw_nn_plan plan;
	const struct fw_nn_step *fc = NULL;

	(void)state;
	model_vgg16(&model);
	plan = make_plan(&usual);
	assert_int_equal(macs(&plan) / 10000000, 1547);        /* torchvision: 15.47 */
	assert_int_equal(plan.weight_bytes, 2 * 138357544ull); /* parameters, same table */
	for (uint32_t i = plan.n_steps; i-- > 0;)
		if (plan.steps[i].kind == FW_NN_STEP_GEMM)
			fc = &plan.steps[i];
	assert_int_equal(fc->weight.c, 512);
	assert_int_equal(fc->weight.r, 7);
	assert_int_equal(fc->weight.s, 7);
	assert_int_equal(plan.tensors[fc->input].pixel_stride, 512);
	assert_int_equal(count_kind(&plan, FW_NN_STEP_COPY), 0);
	check_all(&plan);
	assert_true(plan.arena_bytes <= lower_bound(&plan) * 12 / 10);
	fw_nn_plan_free(&plan);
	build_end(&model);
}

static void squeezenet_concatenates_in_place(void **state)
{
	struct fw_nn_plan_options options = usual;
	struct fw_nn_plan plan;

	(void)state;
	model_squeezenet(&model);
	plan = make_plan(&options);
	assert_int_equal(count_kind(&plan, FW_NN_STEP_CONV), 26);
	assert_int_equal(count_kind(&plan, FW_NN_STEP_COPY), 0);
	assert_int_equal(plan.n_steps, 26 + 3 + 1);
	check_all(&plan);
	fw_nn_plan_free(&plan);
	options.concat_in_place = false;
	plan = make_plan(&options);
	assert_int_equal(count_kind(&plan, FW_NN_STEP_COPY), 16);
	check_all(&plan);
	fw_nn_plan_free(&plan);
	build_end(&model);
}

static void mobilenetv2_fuses_the_clipping(void **state)
{
	struct fw_nn_plan plan;

	(void)state;
	model_mobilenetv2(&model);
	plan = make_plan(&usual);
	assert_int_equal(macs(&plan) / 1000000, 300); /* torchvision: 0.301; paper: 300 M */
	assert_int_equal(plan.n_steps, 52 + 1 + 1);
	assert_int_equal(count_residuals(&plan), 10);
	assert_int_equal(plan.steps[0].act.kind, FW_NN_ACT_CLAMP);
	assert_true(plan.steps[0].act.low == 0 && plan.steps[0].act.high == 6);
	check_all(&plan);
	fw_nn_plan_free(&plan);
	build_end(&model);
}

static void a_dense_block_is_one_buffer(void **state)
{
	struct fw_nn_plan_options options = usual;
	struct fw_nn_plan plan;

	(void)state;
	model_dense(&model, 6);
	options.batch = 2;
	plan = make_plan(&options);
	assert_int_equal(count_kind(&plan, FW_NN_STEP_COPY), 0);
	assert_int_equal(count_kind(&plan, FW_NN_STEP_ELEMENTWISE), 0);
	/* stem; scale, 1x1 and 3x3 of each layer; transition, pool, product */
	assert_int_equal(plan.n_steps, 1 + 6 * 3 + 3);
	check_all(&plan);
	fw_nn_plan_free(&plan);
	build_end(&model);
}

static void squeeze_and_excite_multiplies_by_one_pixel(void **state)
{
	struct fw_nn_plan_options options = usual;
	struct fw_nn_plan plan;

	(void)state;
	model_squeeze_excite(&model);
	options.batch = 2;
	plan = make_plan(&options);
	assert_int_equal(plan.n_steps, 8);
	assert_int_equal(plan.steps[0].act.kind, FW_NN_ACT_SWISH);
	assert_int_equal(plan.steps[3].act.kind, FW_NN_ACT_SIGMOID);
	assert_int_equal(plan.steps[4].kind, FW_NN_STEP_ELEMENTWISE);
	assert_int_equal(plan.steps[4].elementwise, FW_NN_ELEMENTWISE_MUL);
	assert_int_equal(plan.tensors[plan.steps[4].second].h, 1);
	check_all(&plan);
	fw_nn_plan_free(&plan);
	build_end(&model);
}

static void the_roofline_is_flops_or_bytes_at_the_peak(void **state)
{
	const struct fw_hw_peak peak = { "H200", "", 50, 1000, 5000, 'S' };
	struct fw_nn_plan plan = { .precision = FW_NN_FP16 };
	struct fw_nn_step step = { .kind = FW_NN_STEP_CONV,
				   .weight.c = 64,
				   .flops = 4000000000,
				   .read_bytes = 6000000,
				   .write_bytes = 4000000 };
	struct fw_nn_roofline r = fw_nn_step_roofline(&plan, &step, &peak);

	(void)state;
	/* 4 GFLOP at 1,000 TFLOP/s: 4 us; 10 MB at 5 TB/s: 2 us. */
	assert_in_range((uint64_t)(r.compute_s * 1e12), 3999999, 4000001);
	assert_in_range((uint64_t)(r.memory_s * 1e12), 1999999, 2000001);
	assert_false(r.is_memory_bound);
	/* Depthwise: no tensor cores, 4 GFLOP at 50 TFLOP/s: 80 us. */
	step.weight.c = 1;
	assert_in_range((uint64_t)(fw_nn_step_roofline(&plan, &step, &peak).bound_s * 1e12),
			79999999, 80000001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resnet50_is_54_convolutions_and_products),
		cmocka_unit_test(without_fusing_each_node_is_a_step),
		cmocka_unit_test(vgg16_reads_the_map_as_rows),
		cmocka_unit_test(squeezenet_concatenates_in_place),
		cmocka_unit_test(mobilenetv2_fuses_the_clipping),
		cmocka_unit_test(a_dense_block_is_one_buffer),
		cmocka_unit_test(squeeze_and_excite_multiplies_by_one_pixel),
		cmocka_unit_test(the_roofline_is_flops_or_bytes_at_the_peak),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
