#include "tune/race.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/*
 * Ranks of the 95 % interval of a median, from tables of the sign test (two-sided 5 %: the critical value plus one): n = 5
 * none, 6 to 8 1, 9 to 11 2, 12 to 14 3, 15 and 16 4, 20 6, 25 8, 50 18.
 */
static void ranks_are_those_of_the_tables(void **state)
{
	static const uint32_t ranks[][2] = { { 0, 0 },  { 1, 0 },  { 5, 0 },  { 6, 1 },  { 8, 1 },
					     { 9, 2 },  { 11, 2 }, { 12, 3 }, { 14, 3 }, { 15, 4 },
					     { 16, 4 }, { 20, 6 }, { 25, 8 }, { 50, 18 } };

	(void)state;
	for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++)
		assert_int_equal(fw_tune_median_rank(ranks[i][0]), ranks[i][1]);
	assert_in_range(fw_tune_median_rank(2000), 950,
			957); /* (2000 - 1.96 * sqrt(2000)) / 2 = 956 */
}

static struct fw_tune_result result_of(const double *samples, uint32_t n)
{
	struct fw_tune_result result = { .n_samples = n };

	for (uint32_t i = 0; i < n; i++)
		result.samples_s[i] = samples[i];
	fw_tune_summarize(&result);
	return result;
}

static void interval_is_between_order_statistics(void **state)
{
	static const double samples[] = { 9, 1, 8, 2, 7, 3, 6, 4, 5 };
	struct fw_tune_result nine = result_of(samples, 9), four = result_of(samples, 4);

	(void)state;
	assert_true(nine.median_s == 5 && nine.low_s == 2 && nine.high_s == 8);
	assert_true(four.median_s == 5 && four.low_s == -1 && four.high_s == -1);
	assert_true(result_of(samples, 0).median_s == -1);
}

static void overlap_makes_equal(void **state)
{
	static const double a[] = { 100, 101, 102, 103, 104, 105, 106, 107, 108 };
	static const double b[] = { 106, 107, 108, 109, 110, 111, 112, 113, 114 };
	static const double c[] = { 120, 121, 122, 123, 124, 125, 126, 127, 128 };
	static const double near[] = { 104.4, 104.4, 104.4, 104.4, 104.4, 104.4 };
	static const double still[] = { 104, 104, 104, 104, 104, 104 };
	struct fw_tune_result best = result_of(a, 9), other = result_of(b, 9),
			      far = result_of(c, 9);
	struct fw_tune_result exact = result_of(still, 6), half = result_of(near, 6);

	(void)state;
	assert_true(fw_tune_is_equal(&best, &best));
	assert_true(fw_tune_is_equal(&other, &best)); /* 107 to 113 and 101 to 107 */
	assert_false(fw_tune_is_equal(&far, &best));
	assert_true(fw_tune_is_equal(&half, &exact)); /* 0.38 % apart: never told apart */
	other = result_of(b, 3); /* 106, 107, 108: 105 to 109 with twice the spread */
	assert_true(fw_tune_is_equal(&other, &best));
	other = result_of(c, 3);
	assert_false(fw_tune_is_equal(&other, &best));
}

static void gain_has_the_widest_interval(void **state)
{
	static const double slow[] = { 20, 21, 22, 23, 24, 25 }, fast[] = { 9, 10, 10, 10, 10, 11 };
	struct fw_tune_result a = result_of(slow, 6), b = result_of(fast, 6);
	struct fw_tune_gain gain = fw_tune_gain_of(&a, &b);

	(void)state;
	assert_true(gain.ratio == 2.25); /* 22.5 / 10 */
	assert_true(gain.low == 20. / 11 && gain.high == 25. / 9);
	b = result_of(fast, 3);
	assert_true(fw_tune_gain_of(&a, &b).low == -1);
}

static void cost_is_what_a_block_holds(void **state)
{
	const struct fw_tune_result result = { .registers = 32,
					       .static_smem = 100,
					       .dynamic_smem = 28 };

	(void)state;
	assert_int_equal(fw_tune_block_bytes(&result, 256), 32 * 4 * 256 + 128);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(ranks_are_those_of_the_tables),
					    cmocka_unit_test(interval_is_between_order_statistics),
					    cmocka_unit_test(overlap_makes_equal),
					    cmocka_unit_test(gain_has_the_widest_interval),
					    cmocka_unit_test(cost_is_what_a_block_holds) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
