#include "top/growth.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define GIB (1024.0 * 1024 * 1024)

static struct fw_growth growth;
static struct fw_slope slope;

static int begin(void **state)
{
	(void)state;
	growth = (struct fw_growth){ 0 };
	return 0;
}

/* A pattern of -1, 0, 1 that no line follows. */
static double noise(int i)
{
	return (i * 7 + i * i * 3) % 3 - 1;
}

/* 1 MiB a second from 10 GiB with 2 MiB of noise. */
static void finds_a_leak_and_its_slope(void **state)
{
	(void)state;
	for (int s = 0; s < 300; s++)
		fw_growth_add(&growth, s, 10 * GIB + s * 1048576.0 + noise(s) * 2097152);
	assert_true(fw_growth_slope(&growth, &slope));
	assert_true(fabs(slope.bytes_per_second - 1048576) < 50000);
	assert_true(slope.window_s == 295); /* points 5 s apart */
}

static void noise_is_no_growth(void **state)
{
	(void)state;
	for (int s = 0; s < 600; s++)
		fw_growth_add(&growth, s, 10 * GIB + noise(s) * 0.2 * GIB);
	assert_false(fw_growth_slope(&growth, &slope));
}

static void a_short_window_says_nothing(void **state)
{
	(void)state;
	for (int s = 0; s < 59; s++)
		fw_growth_add(&growth, s, s * GIB);
	assert_false(fw_growth_slope(&growth, &slope));
}

/* A program that loaded its data for a minute and then stays is not one that leaks. */
static void what_rose_at_the_start_has_stopped(void **state)
{
	(void)state;
	for (int s = 0; s < 200; s++)
		fw_growth_add(&growth, s, s < 60 ? s * GIB / 10 : 6 * GIB);
	assert_false(fw_growth_slope(&growth, &slope));
}

static void growth_far_below_its_size_is_nothing(void **state)
{
	(void)state;
	for (int s = 0; s < 600; s++)
		fw_growth_add(&growth, s, 100 * GIB + s * 1000.0);
	assert_false(fw_growth_slope(&growth, &slope));
}

/* Day-long: 1e5 points, the window stays the last 128 of them and follows the newest slope. */
static void the_window_moves_on(void **state)
{
	(void)state;
	for (int i = 0; i < 100000; i++)
		fw_growth_add(&growth, i * 5.0, i < 99000 ? GIB : GIB + (i - 99000) * 5.0 * 1e6);
	assert_int_equal(growth.len, FW_GROWTH_POINTS);
	assert_true(fw_growth_slope(&growth, &slope));
	assert_true(fabs(slope.bytes_per_second - 1e6) < 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(finds_a_leak_and_its_slope, begin),
		cmocka_unit_test_setup(noise_is_no_growth, begin),
		cmocka_unit_test_setup(a_short_window_says_nothing, begin),
		cmocka_unit_test_setup(what_rose_at_the_start_has_stopped, begin),
		cmocka_unit_test_setup(growth_far_below_its_size_is_nothing, begin),
		cmocka_unit_test_setup(the_window_moves_on, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
