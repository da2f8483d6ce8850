/* The GPU's choice of the best classes, run in turns on the CPU, against fw_top_classes. */
#include "../pipeline/emulated_gpu.h"
#include "../pipeline/made_picture.h"
#include "pipeline/top.h"
#include "pipeline/top_gpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MOST = 4000, TOP = 100 };

static void check_row(const float *scores, uint32_t classes, uint32_t top, bool are_probabilities)
{
	const struct fw_scores row = { scores, classes, are_probabilities };
	struct fw_gpu_answer answers[TOP];
	const struct fw_top_args a = {
		.scores = (uintptr_t)scores,
		.answers = (uintptr_t)answers,
		.row_step = classes,
		.classes = classes,
		.top = top,
		.pixels = 1,
		.pixel_stride = classes,
		.are_probabilities = are_probabilities,
	};
	float probabilities[TOP];
	uint32_t ids[TOP];
	fw_status status = fw_top_classes(&row, top, ids, probabilities, NULL);

	emulate_top(&a, 0);
	for (uint32_t i = 0; i < top; i++) {
		if (status != FW_OK) {
			assert_int_equal(answers[i].id, FW_TOP_NO_CLASS);
			continue;
		}
		assert_int_equal(answers[i].id, ids[i]);
		assert_float_equal(answers[i].probability, probabilities[i],
				   1e-5f * probabilities[i]);
	}
}

/* style 0: all different; 1: many equal, both zeros; 2: probabilities */
static void fill(float *scores, uint32_t n, uint32_t style, uint64_t *random)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t r = made_random(random);

		scores[i] = style == 0   ? ((float)(r % 2000000) - 1e6f) / 5e4f
			    : style == 1 ? (float)((int)(r % 5) - 2) * (r & 32 ? 1.0f : -1.0f)
					 : (float)(r % 1000) / 1000.0f / (float)n;
	}
}

static void finds_the_classes_that_the_cpu_finds(void **state)
{
	static const uint32_t classes[] = { 2, 3, 100, 255, 256, 257, 1000, MOST };
	static float scores[MOST];
	uint64_t random = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		for (uint32_t style = 0; style < 3; style++) {
			fill(scores, classes[i], style, &random);
			for (uint32_t top = 1; top <= TOP && top <= classes[i];
			     top = top < 5 ? 5 : top * 4 + 20)
				check_row(scores, classes[i], top, style == 2);
		}
}

static void a_score_that_is_no_number_leaves_no_class(void **state)
{
	static float scores[1000];
	const float bad[] = { NAN, -NAN, INFINITY, -INFINITY };
	uint64_t random = 2;

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		fill(scores, 1000, 0, &random);
		scores[i * 333] = bad[i];
		check_row(scores, 1000, 5, i % 2);
	}
}

/* Class k of an output of 2 x 3 pixels with 4 channels, each pixel 8 elements wide, is channel k / 6 of pixel k % 6. */
static void classes_stand_in_the_models_order(void **state)
{
	uint16_t scores[2 * 6 * 8] = { 0 };
	struct fw_gpu_answer answers[2 * 3];
	const struct fw_top_args a = {
		.scores = (uintptr_t)scores,
		.answers = (uintptr_t)answers,
		.row_step = 6 * 8,
		.classes = 24,
		.top = 3,
		.pixels = 6,
		.pixel_stride = 8,
		.precision = FW_NN_FP16,
		.are_probabilities = true,
	};

	(void)state;
	scores[6 * 8 + 4 * 8 + 2] = 0x3800; /* 0.5: class 2 * 6 + 4 of the second image */
	scores[6 * 8 + 0 * 8 + 3] = 0x3400; /* 0.25: class 18 */
	scores[6 * 8 + 1 * 8 + 7] = 0x3c00; /* beside the channels */
	for (unsigned row = 0; row < 2; row++)
		emulate_top(&a, row);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(answers[i].id, i);
	assert_int_equal(answers[3].id, 16);
	assert_int_equal(answers[4].id, 18);
	assert_int_equal(answers[5].id, 0);
	assert_true(answers[3].probability == 0.5f && answers[4].probability == 0.25f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_classes_that_the_cpu_finds),
		cmocka_unit_test(a_score_that_is_no_number_leaves_no_class),
		cmocka_unit_test(classes_stand_in_the_models_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
