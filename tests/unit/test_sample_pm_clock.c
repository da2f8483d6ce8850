#include "sample/pm_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define S INT64_C(1000000000)

/* The GPU's clock is 5 s ahead; a sample ends every 2 ms and waits `late` before a reading can see it. */
static struct fw_pm_clock_pair reading_at(int64_t mono, int64_t late)
{
	int64_t end = (mono - late) / 2000000 * 2000000;

	return (struct fw_pm_clock_pair){ mono - 1000, mono, (uint64_t)(end + 5 * S) };
}

static void the_youngest_sample_bounds_the_offset(void **state)
{
	struct fw_pm_clock clock = { 0 };
	struct fw_pm_clock_pair ended;
	int64_t mono = 0;

	(void)state;
	assert_false(fw_pm_clock_mono(&clock, 1, &mono));
	for (int64_t t = 10 * S; t < 11 * S; t += 50 * 1000000 + 37000) {
		struct fw_pm_clock_pair reading = reading_at(t, 30000);

		assert_false(fw_pm_clock_add(&clock, &reading, &ended));
	}
	/* Readings lie 0, 37, 74... us after a sample's end, which shows 30 us later: the second is best. */
	assert_true(fw_pm_clock_mono(&clock, (uint64_t)(15 * S), &mono));
	assert_int_equal(mono, 10 * S + 37000);
}

static void each_second_gives_its_best_pair(void **state)
{
	struct fw_pm_clock clock = { 0 };
	struct fw_pm_clock_pair ended = { 0 };
	unsigned windows = 0;

	(void)state;
	for (int64_t t = 10 * S; t <= 13 * S; t += 100 * 1000000) {
		/* One reading in ten is 1 us after a sample's end, the others 900 us. */
		int64_t mono = t + (t / (100 * 1000000) % 10 == 5 ? 1000 : 900000);
		struct fw_pm_clock_pair reading = reading_at(mono, 0);

		if (fw_pm_clock_add(&clock, &reading, &ended)) {
			windows++;
			assert_int_equal(ended.told_mono - (int64_t)ended.device_ns, 1000 - 5 * S);
		}
	}
	assert_int_equal(windows, 2 + 1);
}

static void old_windows_are_forgotten(void **state)
{
	struct fw_pm_clock clock = { 0 };
	struct fw_pm_clock_pair ended;
	int64_t mono;

	(void)state;
	/* The offset grows by 100 us a second: the least of the last four windows counts. */
	for (int64_t i = 0; i < 10; i++) {
		struct fw_pm_clock_pair reading = { 10 * S + i * S, 10 * S + i * S,
						    (uint64_t)(15 * S + i * S - i * 100000) };

		fw_pm_clock_add(&clock, &reading, &ended);
	}
	assert_true(fw_pm_clock_mono(&clock, 0, &mono));
	assert_int_equal(mono, -5 * S + 6 * 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_youngest_sample_bounds_the_offset),
		cmocka_unit_test(each_second_gives_its_best_pair),
		cmocka_unit_test(old_windows_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
