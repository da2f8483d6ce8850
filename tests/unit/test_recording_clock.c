/*
 * CUPTI's clock mapped onto CLOCK_MONOTONIC. Readings are 100 ms apart, 100 ns wide, and the second
 * clock gains 10 us on the first in each 100 ms (100 millionths): reading k is at C + k * 100 ms on the
 * one and M + k * (100 ms + 10 us) on the other.
 */
#include "trace/recording_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define C    INT64_C(1700000000000000000)
#define M    INT64_C(5000000000)
#define STEP INT64_C(100000000)
#define GAIN INT64_C(10000)
#define WIDE INT64_C(100)

static int64_t true_time(int64_t cupti)
{
	return M + (cupti - C) + (cupti - C) / (STEP / GAIN);
}

/* Reading k, late by `late`, its two readings `width` apart. */
static void add(struct fw_rec_mapping *m, int k, int64_t late, int64_t width)
{
	int64_t middle = true_time(C + k * STEP) + late;

	assert_true(fw_rec_mapping_add(m, (uint64_t)(C + k * STEP), middle - width / 2,
				       middle + width / 2));
}

static void assert_near(int64_t value, int64_t expected, int64_t within)
{
	if (value < expected - within || value > expected + within)
		fail_msg("%lld is not within %lld of %lld", (long long)value, (long long)within,
			 (long long)expected);
}

static void follows_a_rate_between_and_beyond_readings(void **state)
{
	struct fw_rec_mapping m = FW_REC_MAPPING;

	(void)state;
	for (int k = 0; k <= 10; k++)
		add(&m, k, 0, WIDE);
	assert_true(fw_rec_mapping_settle(&m));
	assert_int_equal(m.error_ns, WIDE / 2);
	assert_int_equal(m.ignored, 0);
	for (int64_t t = -3 * STEP; t < 14 * STEP; t += STEP / 7)
		assert_near(fw_rec_map(&m, C + t), true_time(C + t), 1);
	/* The order of the questions does not matter. */
	assert_near(fw_rec_map(&m, C), M, 0);
	fw_rec_mapping_release(&m);
}

static void takes_one_reading_as_an_offset(void **state)
{
	struct fw_rec_mapping m = FW_REC_MAPPING;

	(void)state;
	add(&m, 0, 0, WIDE);
	assert_true(fw_rec_mapping_settle(&m));
	assert_int_equal(fw_rec_map(&m, C + 12345), M + 12345);
	assert_int_equal(fw_rec_map(&m, C - 12345), M - 12345);
	fw_rec_mapping_release(&m);
}

/* Ten readings of which number `at` is late. */
static struct fw_rec_mapping with_a_late_one(int at, int64_t late, int64_t width)
{
	struct fw_rec_mapping m = FW_REC_MAPPING;

	for (int k = 0; k < 10; k++)
		add(&m, k, k == at ? late : 0, k == at ? width : WIDE);
	assert_true(fw_rec_mapping_settle(&m));
	return m;
}

static void ignores_a_reading_that_does_not_fit(void **state)
{
	/* The core lost between the readings; off by a little, in the middle; by a lot, at the ends. */
	static const struct {
		int at;
		int64_t late, width;
	} cases[] = {
		{ 4, 900000, 2000000 },  { 4, 50000, WIDE },      { 1, -50000, WIDE },
		{ 0, 1000000000, WIDE }, { 9, 1000000000, WIDE }, { 5, -4000000000, WIDE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fw_rec_mapping m =
			with_a_late_one(cases[i].at, cases[i].late, cases[i].width);

		assert_int_equal(m.ignored, 1);
		assert_int_equal(m.error_ns, WIDE / 2);
		for (int64_t t = 0; t < 9 * STEP; t += STEP / 3)
			assert_near(fw_rec_map(&m, C + t), true_time(C + t), 1);
		fw_rec_mapping_release(&m);
	}
}

static void states_the_error_of_readings_that_wander(void **state)
{
	struct fw_rec_mapping m = with_a_late_one(4, 3000, WIDE);

	(void)state;
	/*
	 * 3 us late: within what is allowed, so it stays. Its neighbours are off by half of that, and a step
	 * beside it would look the same: 3 + 1.5 us.
	 */
	assert_int_equal(m.ignored, 0);
	assert_near(m.error_ns, 4500 + WIDE / 2, 1);
	fw_rec_mapping_release(&m);
}

static void keeps_both_sides_of_a_step_of_the_clock(void **state)
{
	struct fw_rec_mapping m = FW_REC_MAPPING;
	int64_t second = 1000000000;

	(void)state;
	for (int k = 0; k < 10; k++)
		add(&m, k, k < 5 ? 0 : second, WIDE);
	assert_true(fw_rec_mapping_settle(&m));
	assert_int_equal(m.ignored, 0);
	assert_near(fw_rec_map(&m, C + 2 * STEP), true_time(C + 2 * STEP), 1);
	assert_near(fw_rec_map(&m, C + 7 * STEP), true_time(C + 7 * STEP) + second, 1);
	/* Readings 4 and 5 are each half a second off the line through their neighbours. */
	assert_near(m.error_ns, second, 1000);
	fw_rec_mapping_release(&m);
}

/* Wherever between two readings the clock stepped: no time is further off than stated. */
static void states_no_less_than_a_step_makes(void **state)
{
	int64_t step = 50000000;

	(void)state;
	/* At the ends one reading on the other side is a stray one, which is ignored and counted. */
	for (int at = 2; at < 9; at++) {
		struct fw_rec_mapping m = FW_REC_MAPPING;

		for (int k = 0; k < 10; k++)
			add(&m, k, k < at ? 0 : step, WIDE);
		assert_true(fw_rec_mapping_settle(&m));
		/* Right after reading at - 1, before the step and after it. */
		assert_true(llabs(fw_rec_map(&m, C + (at - 1) * STEP + 1000) -
				  true_time(C + (at - 1) * STEP + 1000) - step) <=
			    m.error_ns + 1000);
		assert_true(m.error_ns < 2 * step);
		fw_rec_mapping_release(&m);
	}
}

static void refuses_readings_that_cannot_be(void **state)
{
	struct fw_rec_mapping m = FW_REC_MAPPING;

	(void)state;
	assert_false(fw_rec_mapping_settle(&m));
	assert_true(fw_rec_mapping_add(&m, 0, M, M));
	assert_true(fw_rec_mapping_add(&m, C, M + 1, M));
	assert_true(fw_rec_mapping_add(&m, C, -1, M));
	assert_true(fw_rec_mapping_add(&m, UINT64_MAX, M, M));
	assert_true(fw_rec_mapping_add(&m, C, M, INT64_MAX));
	assert_int_equal(m.ignored, 5);
	assert_false(fw_rec_mapping_settle(&m));
	assert_int_equal(m.error_ns, -1);
	fw_rec_mapping_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_a_rate_between_and_beyond_readings),
		cmocka_unit_test(takes_one_reading_as_an_offset),
		cmocka_unit_test(ignores_a_reading_that_does_not_fit),
		cmocka_unit_test(states_the_error_of_readings_that_wander),
		cmocka_unit_test(states_no_less_than_a_step_makes),
		cmocka_unit_test(keeps_both_sides_of_a_step_of_the_clock),
		cmocka_unit_test(refuses_readings_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
