/* The likeliest classes of a row of scores. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>

#include "pipeline/top.h"

static void softmax_of_the_best(void **state)
{
	/* e^0 : e^1 : e^2 : e^2 = 1 : 2.718282 : 7.389056 : 7.389056, sum 18.496394 */
	const float values[] = { 1, 2, 0, 2 };
	const struct fw_scores scores = { .scores = values, .n = 4 };
	uint32_t ids[3];
	float p[3];

	(void)state;
	assert_int_equal(fw_top_classes(&scores, 3, ids, p, NULL), FW_OK);
	assert_int_equal(ids[0], 1); /* of equals the smaller id */
	assert_int_equal(ids[1], 3);
	assert_int_equal(ids[2], 0);
	assert_true(fabsf(p[0] - 0.399486f) < 1e-6f && fabsf(p[1] - 0.399486f) < 1e-6f);
	assert_true(fabsf(p[2] - 0.146963f) < 1e-6f);
}

static void large_scores_do_not_overflow(void **state)
{
	const float values[] = { -3e38f, 3e38f };
	const struct fw_scores scores = { .scores = values, .n = 2 };
	uint32_t ids[5];
	float p[5];

	(void)state;
	assert_int_equal(fw_top_classes(&scores, 5, ids, p, NULL), FW_OK); /* more than there are */
	assert_int_equal(ids[0], 1);
	assert_true(p[0] == 1 && p[1] == 0);
}

static void probabilities_stay_as_they_are(void **state)
{
	const float values[] = { 0.25f, 0.75f };
	const struct fw_scores scores = { .scores = values, .n = 2, .are_probabilities = true };
	uint32_t id;
	float p;

	(void)state;
	assert_int_equal(fw_top_classes(&scores, 1, &id, &p, NULL), FW_OK);
	assert_true(id == 1 && p == 0.75f);
}

static void no_class_is_best_among_what_is_no_number(void **state)
{
	const float all[][3] = { { 1, NAN, 2 }, { INFINITY, 0, 0 }, { 0, 0, -INFINITY } };
	uint32_t ids[3];
	float p[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		const struct fw_scores scores = { .scores = all[i], .n = 3 };

		assert_int_equal(fw_top_classes(&scores, 3, ids, p, NULL), FW_ERR_FORMAT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(softmax_of_the_best),
		cmocka_unit_test(large_scores_do_not_overflow),
		cmocka_unit_test(probabilities_stay_as_they_are),
		cmocka_unit_test(no_class_is_best_among_what_is_no_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
