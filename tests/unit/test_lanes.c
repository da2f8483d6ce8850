/* Slices laid into lanes within which they nest. */
#include "report/lanes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* By hand: b nests in a; c crosses a's end, so it needs a lane of its own; d starts where a ends. */
static void test_crossing_slices_take_another_lane(void **state)
{
	struct fw_lanes lanes = { 0 };

	(void)state;
	assert_int_equal(fw_lanes_take(&lanes, 0, 100), 0);   /* a */
	assert_int_equal(fw_lanes_take(&lanes, 10, 100), 0);  /* b */
	assert_int_equal(fw_lanes_take(&lanes, 90, 110), 1);  /* c */
	assert_int_equal(fw_lanes_take(&lanes, 100, 300), 0); /* d */
	assert_int_equal(lanes.used, 2);
	assert_int_equal(lanes.misplaced, 0);
	fw_lanes_release(&lanes);
}

/* Each ends after the one before: none nests in another. */
static void test_what_finds_no_lane_is_counted(void **state)
{
	struct fw_lanes lanes = { 0 };

	(void)state;
	for (unsigned i = 0; i < FW_LANES; i++)
		assert_int_equal(fw_lanes_take(&lanes, i, 100 + i), i);
	assert_int_equal(fw_lanes_take(&lanes, FW_LANES, 200), FW_LANES - 1);
	assert_int_equal(lanes.misplaced, 1);
	fw_lanes_release(&lanes);
	assert_int_equal(fw_lanes_take(&lanes, 0, 1), 0);
	fw_lanes_release(&lanes);
}

static void test_slices_of_no_length_own_nothing(void **state)
{
	struct fw_lanes lanes = { 0 };

	(void)state;
	assert_int_equal(fw_lanes_take(&lanes, 5, 5), 0);
	assert_int_equal(fw_lanes_take(&lanes, 5, 5), 0);
	assert_int_equal(fw_lanes_take(&lanes, 5, 9), 0);
	fw_lanes_release(&lanes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crossing_slices_take_another_lane),
		cmocka_unit_test(test_what_finds_no_lane_is_counted),
		cmocka_unit_test(test_slices_of_no_length_own_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
