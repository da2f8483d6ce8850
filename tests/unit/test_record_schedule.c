/* When a recording runs: every expected value is worked out by hand, in ms. */
#include "record/schedule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

struct point {
	int64_t at_ms;
	bool is_switched_on;
	enum fw_rec_wanted wanted;
	int64_t until_ms; /* -1: for good */
};

static void check(const struct fw_record_schedule *schedule, const struct point *points,
		  size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int64_t until = 0;
		enum fw_rec_wanted wanted = fw_record_schedule_at(schedule, points[i].at_ms * MS,
								  points[i].is_switched_on, &until);

		assert_int_equal(wanted, points[i].wanted);
		assert_int_equal(until,
				 points[i].until_ms < 0 ? INT64_MAX : points[i].until_ms * MS);
	}
}

#define CHECK(schedule, points) check(schedule, points, sizeof(points) / sizeof((points)[0]))

static void records_always_by_default(void **state)
{
	const struct fw_record_schedule schedule = { .delay_ns = 0 };
	const struct point points[] = { { 0, false, FW_REC_WANT_RECORD, -1 },
					{ 1000000, false, FW_REC_WANT_RECORD, -1 } };

	(void)state;
	CHECK(&schedule, points);
}

static void delays_and_ends(void **state)
{
	const struct fw_record_schedule schedule = { .delay_ns = 300 * MS,
						     .duration_ns = 500 * MS };
	const struct point points[] = {
		{ 0, false, FW_REC_WANT_PAUSE, 300 },    { 299, false, FW_REC_WANT_PAUSE, 300 },
		{ 300, false, FW_REC_WANT_RECORD, 800 }, { 799, false, FW_REC_WANT_RECORD, 800 },
		{ 800, false, FW_REC_WANT_STOP, -1 },    { 9999, false, FW_REC_WANT_STOP, -1 }
	};

	(void)state;
	CHECK(&schedule, points);
}

/* 100 of every 1000 ms, from 50 on, for 2050 ms: the last period is cut off in its recorded part. */
static void records_a_part_of_each_period(void **state)
{
	const struct fw_record_schedule schedule = { .delay_ns = 50 * MS,
						     .duration_ns = 2050 * MS,
						     .every_ns = 1000 * MS,
						     .for_ns = 100 * MS };
	const struct point points[] = {
		{ 50, false, FW_REC_WANT_RECORD, 150 },   { 149, false, FW_REC_WANT_RECORD, 150 },
		{ 150, false, FW_REC_WANT_PAUSE, 1050 },  { 1050, false, FW_REC_WANT_RECORD, 1150 },
		{ 1150, false, FW_REC_WANT_PAUSE, 2050 }, { 2060, false, FW_REC_WANT_RECORD, 2100 },
		{ 2100, false, FW_REC_WANT_STOP, -1 }
	};

	(void)state;
	CHECK(&schedule, points);
}

static void waits_for_the_signal(void **state)
{
	const struct fw_record_schedule schedule = { .by_signal = true, .duration_ns = 500 * MS };
	const struct point points[] = { { 0, false, FW_REC_WANT_PAUSE, 500 },
					{ 100, true, FW_REC_WANT_RECORD, 500 },
					{ 200, false, FW_REC_WANT_PAUSE, 500 },
					{ 500, true, FW_REC_WANT_STOP, -1 } };

	(void)state;
	CHECK(&schedule, points);
}

static void stands_the_longest_times(void **state)
{
	const struct fw_record_schedule schedule = { .delay_ns = INT64_MAX,
						     .duration_ns = INT64_MAX,
						     .every_ns = INT64_MAX,
						     .for_ns = INT64_MAX };
	const struct fw_record_schedule periods = { .every_ns = INT64_MAX, .for_ns = 1 };
	int64_t until;

	(void)state;
	assert_int_equal(fw_record_schedule_at(&schedule, 5, false, &until), FW_REC_WANT_PAUSE);
	assert_int_equal(until, INT64_MAX);
	assert_int_equal(fw_record_schedule_at(&periods, 5, false, &until), FW_REC_WANT_PAUSE);
	assert_int_equal(until, INT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_always_by_default),
		cmocka_unit_test(delays_and_ends),
		cmocka_unit_test(records_a_part_of_each_period),
		cmocka_unit_test(waits_for_the_signal),
		cmocka_unit_test(stands_the_longest_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
