/* Single nodes and short chains: what becomes of their attributes, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../nn/build.h"
#include "nn/planner.h"

static struct build model;
static struct fw_nn_plan plan;

static const struct fw_nn_plan_options usual = {
	.batch = 2,
	.channel_multiple = 1,
	.concat_in_place = true,
	.residual_in_place = true,
	.fuse = true,
};

static int setup(void **state)
{
	(void)state;
	build_start(&model, 65536);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fw_nn_plan_free(&plan);
	build_end(&model);
	return 0;
}

static void make(void)
{
	struct fw_error err = { 0 };

	if (fw_nn_plan_make(&model.graph, &usual, &plan, &err))
		fail_msg("%s", err.message);
}

/* The message says why; the plan is empty. */
static void refuses(const char *why)
{
	struct fw_error err = { 0 };

	assert_int_equal(fw_nn_plan_make(&model.graph, &usual, &plan, &err), FW_ERR_UNSUPPORTED);
	if (!strstr(err.message, why))
		fail_msg("'%s' does not say '%s'", err.message, why);
	assert_null(plan.steps);
}

static void ceil_mode_pads_behind(void **state)
{
	(void)state;
	/* SqueezeNet: 3 x 3 by 2 over 54: (54 - 3) / 2 + 1 = 26.5, rounded up 27; the last window ends at 26 x 2 + 3 = 55. */
	build_pool(&model, FW_NN_MAX_POOL, build_image(&model, 8, 54, 54), 3, 2, 0, true);
	make();
	assert_int_equal(plan.steps[0].window.pad_top, 0);
	assert_int_equal(plan.steps[0].window.pad_bottom, 1);
	assert_int_equal(plan.tensors[plan.steps[0].output].h, 27);
}

static void padding_that_is_not_counted_is_not_counted_with_ceil_mode(void **state)
{
	(void)state;
	/* All the padding there is comes from ceil_mode, which is never counted. */
	build_pool(&model, FW_NN_AVERAGE_POOL, build_image(&model, 8, 6, 6), 3, 2, 0, true);
	build_int(&model, "count_include_pad", 1);
	make();
	assert_int_equal(plan.steps[0].window.pad_bottom, 1); /* 2 x 2 + 3 - 6 */
	assert_false(plan.steps[0].window.counts_padding);
}

static void counted_padding_with_ceil_mode_is_refused(void **state)
{
	(void)state;
	build_pool(&model, FW_NN_AVERAGE_POOL, build_image(&model, 8, 7, 7), 3, 3, 1, true);
	build_int(&model, "count_include_pad", 1);
	make(); /* (7 + 2 - 3) / 3 + 1 = 3 without a rest: nothing is added */
	assert_true(plan.steps[0].window.counts_padding);
	fw_nn_plan_free(&plan);
	build_end(&model);
	build_start(&model, 65536);
	build_pool(&model, FW_NN_AVERAGE_POOL, build_image(&model, 8, 8, 8), 3, 2, 1, true);
	build_int(&model, "count_include_pad", 1);
	refuses("(AveragePool): ceil_mode together with count_include_pad");
}

static void same_upper_puts_the_odd_row_behind(void **state)
{
	const int64_t sizes[2] = { 3, 3 }, strides[2] = { 2, 2 };
	uint32_t x, w;

	(void)state;
	/* TensorFlow's MobileNet stem: 224 by 2 gives 112; 111 x 2 + 3 - 224 = 1 row of padding, behind. */
	x = build_image(&model, 3, 224, 224);
	w = build_floats(&model, 4, DIMS(8, 3, 3, 3), NULL);
	build_node(&model, FW_NN_CONV, 2, (const uint32_t[]){ x, w }, 4,
		   DIMS(FW_NN_BATCH, 8, 112, 112));
	build_ints(&model, "kernel_shape", 2, sizes);
	build_ints(&model, "strides", 2, strides);
	build_text(&model, "auto_pad", "SAME_UPPER");
	make();
	assert_int_equal(plan.steps[0].window.pad_top, 0);
	assert_int_equal(plan.steps[0].window.pad_left, 0);
	assert_int_equal(plan.steps[0].window.pad_bottom, 1);
	assert_int_equal(plan.steps[0].window.pad_right, 1);
}

static void a_chain_of_constants_is_one_scale_and_shift(void **state)
{
	static const float by[] = { 2, 4 }, plus[] = { 1, -1 };
	uint32_t x = build_image(&model, 2, 4, 4);

	(void)state;
	/* relu((5 - (x * by + plus) / 2)) = relu(-by / 2 x + 5 - plus / 2) */
	x = build_same(&model, FW_NN_MUL, x, build_floats(&model, 4, DIMS(1, 2, 1, 1), by));
	x = build_same(&model, FW_NN_ADD, x, build_floats(&model, 3, DIMS(2, 1, 1), plus));
	x = build_same(&model, FW_NN_DIV, x, build_scalar(&model, 2));
	x = build_node(&model, FW_NN_SUB, 2, (const uint32_t[]){ build_scalar(&model, 5), x }, 4,
		       build_dims(&model, x));
	build_relu(&model, x);
	make();
	assert_int_equal(plan.n_steps, 1 + 1); /* a map as output is copied */
	assert_int_equal(plan.steps[0].n_nodes, 5);
	assert_int_equal(plan.steps[0].kind, FW_NN_STEP_CONV);
	assert_int_equal(plan.steps[0].window.groups, 2);
	assert_int_equal(plan.steps[0].act.kind, FW_NN_ACT_CLAMP);
	assert_true(plan.steps[0].weight.data[0] == -1 && plan.steps[0].weight.data[1] == -2);
	assert_true(plan.steps[0].bias.data[0] == 4.5f && plan.steps[0].bias.data[1] == 5.5f);
}

static void a_bias_along_the_width_is_no_bias_of_channels(void **state)
{
	uint32_t x = build_image(&model, 4, 4, 4);

	(void)state;
	build_same(&model, FW_NN_ADD, x,
		   build_floats(&model, 1, DIMS(4), NULL)); /* of the last dimension */
	refuses("(Add): its constant is not one fp32 number or one a channel");
}

static void a_result_that_is_used_twice_keeps_its_own_activation(void **state)
{
	uint32_t x = build_conv(&model, build_image(&model, 8, 4, 4), 8, 1, 1, 1), y;

	(void)state;
	y = build_relu(&model, x);
	build_same(&model, FW_NN_ADD, x, y); /* x is needed as it is */
	make();
	assert_int_equal(plan.n_steps, 3 + 1);
	assert_int_equal(plan.steps[0].act.kind, FW_NN_ACT_NONE);
	assert_int_equal(plan.steps[1].kind, FW_NN_STEP_ELEMENTWISE);
	assert_int_not_equal(plan.tensors[plan.steps[1].output].buffer,
			     plan.tensors[plan.steps[0].output].buffer);
}

static void an_elementwise_result_lies_over_its_operand(void **state)
{
	uint32_t x =
		build_pool(&model, FW_NN_MAX_POOL, build_image(&model, 8, 8, 8), 2, 2, 0, false);

	(void)state;
	build_pool(&model, FW_NN_MAX_POOL, build_relu(&model, x), 2, 2, 0, false);
	make();
	assert_int_equal(plan.tensors[plan.steps[1].output].buffer,
			 plan.tensors[plan.steps[1].input].buffer);
	/* but not over the input of the plan */
	fw_nn_plan_free(&plan);
	build_end(&model);
	build_start(&model, 65536);
	build_relu(&model, build_image(&model, 8, 8, 8));
	make();
	assert_int_not_equal(plan.tensors[plan.steps[0].output].buffer,
			     plan.tensors[plan.steps[0].input].buffer);
}

static void a_map_as_output_is_copied_into_onnx_order(void **state)
{
	(void)state;
	build_conv(&model, build_image(&model, 3, 4, 4), 8, 3, 1, 1);
	make();
	assert_int_equal(plan.n_steps, 2);
	assert_int_equal(plan.steps[1].kind, FW_NN_STEP_COPY);
	assert_int_equal(plan.tensors[plan.output].c, 8 * 4 * 4);
	assert_int_equal(plan.tensors[plan.output].h, 1);
}

static void an_unaligned_part_is_copied(void **state)
{
	uint32_t x = build_image(&model, 3, 4, 4), parts[2];

	(void)state;
	/* fp32: 3 channels are 12 bytes, so the second part would begin where no 16-byte access is. */
	parts[0] = build_conv(&model, x, 3, 1, 1, 1);
	parts[1] = build_conv(&model, x, 5, 1, 1, 1);
	build_flatten(&model, build_mean(&model, build_concat(&model, 2, parts)));
	make();
	assert_int_equal(plan.n_steps, 2 + 1 + 1);
	assert_int_equal(plan.steps[2].kind, FW_NN_STEP_COPY);
	assert_non_null(plan.steps[2].fallback);
}

static void weights_that_are_computed_are_refused(void **state)
{
	uint32_t x = build_image(&model, 8, 1, 1);

	(void)state;
	build_node(&model, FW_NN_CONV, 2, (const uint32_t[]){ x, x }, 4,
		   DIMS(FW_NN_BATCH, FW_NN_BATCH, 1, 1));
	refuses("(Conv): its weight is not an fp32 constant");
}

static void groups_that_do_not_fit_are_refused(void **state)
{
	(void)state;
	build_conv(&model, build_image(&model, 8, 4, 4), 8, 1, 1, 2);
	model.nodes[0].attrs = NULL; /* now the weight is for 4 channels, without groups */
	model.nodes[0].n_attrs = 0;
	refuses("channels");
}

static void two_outputs_are_refused(void **state)
{
	(void)state;
	build_relu(&model, build_image(&model, 8, 4, 4));
	model.graph.n_outputs = 2;
	refuses("2 outputs");
}

static void rows_of_a_weight_come_in_the_order_of_channels_last(void **state)
{
	/* K 2, C 2, 1 x 2 pixels: element k c s is 100 k + 10 c + s. */
	static const float data[] = { 0, 1, 10, 11, 100, 101, 110, 111 };
	/* The same as C x K: rows are elements c s, columns k. */
	static const float turned[] = { 0, 100, 1, 101, 10, 110, 11, 111 };
	static const float want[] = { 100, 110, 101, 111 };
	struct fw_nn_weight w = { .data = data, .k = 2, .c = 2, .r = 1, .s = 2 };
	float got[4];

	(void)state;
	fw_nn_weight_rows(&w, 1, 1, got);
	assert_memory_equal(got, want, sizeof(want));
	w.data = turned;
	w.transposed = true;
	fw_nn_weight_rows(&w, 1, 1, got);
	assert_memory_equal(got, want, sizeof(want));
}

static void attention_counts_pairs_of_tokens(void **state)
{
	/*
	 * ViT-B/16: 197 tokens, 12 heads of 64. 12 layers x 2 x 197^2 x 768 multiply-adds are 715 M, what torchvision's 17.564 G
	 * have beyond the 16.85 G of its products; the softmax adds 4 x 197^2 x 12 operations a layer.
	 */
	struct fw_nn_tensor tensors[] = {
		{ .n = 1, .h = 197, .w = 1, .c = 3 * 768 },
		{ .n = 1, .h = 197, .w = 1, .c = 768 },
	};
	struct fw_nn_step step = {
		.kind = FW_NN_STEP_ATTENTION, .second = FW_NN_NONE, .output = 1, .heads = 12
	};
	struct fw_nn_plan made = {
		.n_tensors = 2, .n_steps = 1, .tensors = tensors, .steps = &step
	};

	(void)state;
	assert_int_equal(fw_nn_plan_cost(&made, NULL), FW_OK);
	assert_int_equal(step.flops, 2 * 2 * 197 * 197 * 768 + 4 * 197 * 197 * 12);
	assert_int_equal(step.read_bytes, 197 * 3 * 768 * 4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(ceil_mode_pads_behind),
		TEST(padding_that_is_not_counted_is_not_counted_with_ceil_mode),
		TEST(counted_padding_with_ceil_mode_is_refused),
		TEST(same_upper_puts_the_odd_row_behind),
		TEST(a_chain_of_constants_is_one_scale_and_shift),
		TEST(a_bias_along_the_width_is_no_bias_of_channels),
		TEST(a_result_that_is_used_twice_keeps_its_own_activation),
		TEST(an_elementwise_result_lies_over_its_operand),
		TEST(a_map_as_output_is_copied_into_onnx_order),
		TEST(an_unaligned_part_is_copied),
		TEST(weights_that_are_computed_are_refused),
		TEST(groups_that_do_not_fit_are_refused),
		TEST(two_outputs_are_refused),
		TEST(attention_counts_pairs_of_tokens),
		TEST(rows_of_a_weight_come_in_the_order_of_channels_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
