/* What counters measured, by hand. Times in the comments are milliseconds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ledger/counters.h"
#include "ledger_case.h"

#define MS 1000000

static struct ledger_case c;

static int begin(void **state)
{
	(void)state;
	case_open(&c);
	return 0;
}

static int end(void **state)
{
	(void)state;
	case_close(&c);
	return 0;
}

static void put(double start, double stop, const char *name, double value, const char *source)
{
	struct fw_trace_counters *t = &c.trace->counters;
	uint32_t row = fw_trace_add_counters(c.trace);

	t->start_ns[row] = (int64_t)(start * MS);
	t->time_ns[row] = (int64_t)(stop * MS);
	t->value[row] = value;
	t->device[row] = c.device;
	t->name[row] = case_text(&c, name);
	t->source[row] = case_text(&c, source);
}

static void run(const char *name, double start, double stop, int64_t stream)
{
	uint32_t op =
		case_kernel(&c, stream, (int64_t)(start * MS), (int64_t)(stop * MS), FW_CORR_NONE);

	c.trace->ops.name[op] = case_text(&c, name);
}

/* Kernels [0, 5) and [6, 9): 8 of the window's 9. */
static void run_two(void)
{
	run("first", 0, 5, 7);
	run("second", 6, 9, 7);
}

static void put_five(const char *source)
{
	put(0, 2, "sm_busy_percent", 100, source);
	put(2, 4, "sm_busy_percent", 90, source);
	put(4, 6, "sm_busy_percent", 50, source);
	put(6, 8, "sm_busy_percent", 70, source);
	put(8, 10, "sm_busy_percent", 20, source);
}

static void assert_near(double a, double b)
{
	if (!(a > b - 1e-9 && a < b + 1e-9))
		fail_msg("%.12g is not %.12g", a, b);
}

static const struct fw_kernel_row *row(const struct fw_device_ledger *d, const char *name)
{
	for (size_t i = 0; i < d->kernel_count; i++)
		if (!strcmp(fw_trace_text(c.trace, d->kernels[i].name), name))
			return &d->kernels[i];
	fail_msg("no kernel %s", name);
	return NULL;
}

static void the_window_weighs_samples_by_what_lies_in_it(void **state)
{
	const struct fw_device_ledger *d;
	const struct fw_counter_mean *mean;

	(void)state;
	run_two();
	put_five("pm-sampling");
	d = case_build(&c, NULL);
	mean = &d->measured[FW_COUNTER_SM_BUSY];
	assert_string_equal(fw_trace_text(c.trace, d->counter_source), "pm-sampling");
	/* (2 x 100 + 2 x 90 + 2 x 50 + 2 x 70 + 1 x 20) / 9 */
	assert_near(mean->value, 640.0 / 9);
	assert_int_equal(mean->samples, 5);
	assert_int_equal(mean->covered_ns, 9 * MS);
	/* Kernels ran 8 of the 9: the same 640 over 8. */
	assert_near(fw_counter_while_busy(d, FW_COUNTER_SM_BUSY), 80);
	assert_int_equal(d->measured[FW_COUNTER_TENSOR].samples, 0);
	assert_true(fw_counter_while_busy(d, FW_COUNTER_TENSOR) < 0);
}

/* Half of the SMs with half of their slots: 25 % of all slots, 50 % of those of the SMs that worked. */
static void achieved_occupancy_is_of_the_sms_that_worked(void **state)
{
	const struct fw_device_ledger *d;

	(void)state;
	run_two();
	put(1, 3, "sm_busy_percent", 50, "pm-sampling");
	put(1, 3, "warp_slots_percent", 25, "pm-sampling");
	d = case_build(&c, NULL);
	assert_near(fw_counter_occupancy(d->measured), 50);
	assert_near(fw_counter_occupancy(row(d, "first")->measured), 50);
	assert_true(fw_counter_occupancy(row(d, "second")->measured) < 0);
}

static void occupancy_of_other_times_is_unknown(void **state)
{
	(void)state;
	run_two();
	put(1, 3, "sm_busy_percent", 50, "pm-sampling");
	put(1, 2, "warp_slots_percent", 25, "pm-sampling");
	assert_true(fw_counter_occupancy(case_build(&c, NULL)->measured) < 0);
}

static void a_stretch_has_the_mean_of_its_parts(void **state)
{
	struct fw_counter_mean mean;
	const struct fw_device_ledger *d;

	(void)state;
	run_two();
	put_five("pm-sampling");
	d = case_build(&c, NULL);
	/* [3, 7): 1 x 90 + 2 x 50 + 1 x 70 */
	mean = fw_counter_over(c.ledger, d, FW_COUNTER_SM_BUSY, 3 * MS, 7 * MS);
	assert_near(mean.value, 65);
	assert_int_equal(mean.samples, 3);
	mean = fw_counter_over(c.ledger, d, FW_COUNTER_SM_BUSY, 10 * MS, 12 * MS);
	assert_int_equal(mean.samples, 0);
	mean = fw_counter_over(c.ledger, d, FW_COUNTER_SM_BUSY, 5 * MS, 5 * MS);
	assert_int_equal(mean.samples, 0);
}

static void a_kernel_has_the_samples_wholly_inside_it(void **state)
{
	const struct fw_device_ledger *d;
	const struct fw_counter_mean *mean;

	(void)state;
	run_two();
	put_five("pm-sampling");
	put(6.01, 6.5, "tensor_percent", 99, "pm-sampling"); /* within 0.02 of the beginning */
	put(6.5, 7.5, "tensor_percent", 30, "pm-sampling");
	put(7.5, 7.75, "tensor_percent", 10, "pm-sampling");
	d = case_build(&c, NULL);
	mean = row(d, "first")->measured;
	assert_int_equal(mean[FW_COUNTER_SM_BUSY].samples, 1); /* [2, 4) */
	assert_near(mean[FW_COUNTER_SM_BUSY].value, 90);
	assert_int_equal(mean[FW_COUNTER_SM_BUSY].covered_ns, 2 * MS);
	mean = row(d, "second")->measured;
	assert_int_equal(mean[FW_COUNTER_SM_BUSY].samples, 0);
	assert_int_equal(mean[FW_COUNTER_TENSOR].samples, 2);
	assert_near(mean[FW_COUNTER_TENSOR].value, (30 + 10 * 0.25) / 1.25);
}

static void samples_beside_another_kernel_count_for_none(void **state)
{
	const struct fw_device_ledger *d;

	(void)state;
	run("first", 0, 10, 7);
	run("second", 3, 5, 8);
	put(1, 2, "sm_busy_percent", 40, "pm-sampling");
	put(2, 4, "sm_busy_percent", 99, "pm-sampling"); /* the second begins in it */
	put(4, 4.5, "sm_busy_percent", 99, "pm-sampling");
	put(6, 7, "sm_busy_percent", 60, "pm-sampling");
	d = case_build(&c, NULL);
	assert_int_equal(row(d, "first")->measured[FW_COUNTER_SM_BUSY].samples, 2);
	assert_near(row(d, "first")->measured[FW_COUNTER_SM_BUSY].value, 50);
	assert_int_equal(row(d, "second")->measured[FW_COUNTER_SM_BUSY].samples, 0);
}

static void launches_that_touch_are_one_stretch(void **state)
{
	const struct fw_device_ledger *d;

	(void)state;
	run("same", 0, 1, 7);
	run("same", 1, 2, 7);
	run("same", 2.5, 3.5, 7);
	put(0.5, 1.5, "sm_busy_percent", 40, "pm-sampling");
	put(1.5, 2.7, "sm_busy_percent", 99, "pm-sampling"); /* over the gap */
	d = case_build(&c, NULL);
	assert_int_equal(row(d, "same")->measured[FW_COUNTER_SM_BUSY].samples, 1);
	assert_near(row(d, "same")->measured[FW_COUNTER_SM_BUSY].value, 40);
}

static void the_better_source_counts_alone(void **state)
{
	const struct fw_device_ledger *d;

	(void)state;
	run_two();
	put(0, 9, "sm_busy_percent", 5, "gpm");
	put_five("pm-sampling");
	put(0, 9, "power_watts", 300, "nvml");
	d = case_build(&c, NULL);
	assert_near(d->measured[FW_COUNTER_SM_BUSY].value, 640.0 / 9);
	assert_true(fw_counters_are_fine(c.ledger, d));
}

static void gpm_tells_nothing_of_kernels(void **state)
{
	const struct fw_device_ledger *d;

	(void)state;
	run_two();
	put_five("gpm");
	d = case_build(&c, NULL);
	assert_near(d->measured[FW_COUNTER_SM_BUSY].value, 640.0 / 9);
	assert_int_equal(row(d, "first")->measured[FW_COUNTER_SM_BUSY].samples, 0);
	assert_false(fw_counters_are_fine(c.ledger, d));
}

/* A device with GPM beside one with PM samples, and samples of a third that ran nothing. */
static void each_device_has_its_own(void **state)
{
	uint32_t first = c.device, op;
	const struct fw_device_ledger *d;

	(void)state;
	run_two();
	put_five("pm-sampling");
	c.device = fw_trace_device(c.trace, 0, 1);
	op = case_kernel(&c, 7, 0, 4 * MS, FW_CORR_NONE);
	c.trace->ops.name[op] = case_text(&c, "other");
	put(0, 4, "sm_busy_percent", 25, "gpm");
	c.device = fw_trace_device(c.trace, 0, 2);
	put(0, 4, "sm_busy_percent", 99, "pm-sampling");
	c.device = first;
	d = case_build(&c, NULL);
	assert_int_equal(c.ledger->device_count, 2);
	assert_near(d[0].measured[FW_COUNTER_SM_BUSY].value, 640.0 / 9);
	assert_near(d[1].measured[FW_COUNTER_SM_BUSY].value, 25);
	assert_string_equal(fw_trace_text(c.trace, d[1].counter_source), "gpm");
}

static void what_cannot_be_is_left_out(void **state)
{
	const struct fw_device_ledger *d;

	(void)state;
	run_two();
	put(0, 2, "sm_busy_percent", 80, "pm-sampling");
	put(1, 3, "sm_busy_percent", 10, "pm-sampling"); /* overlaps */
	put(3, 4, "sm_busy_percent", 7219, "pm-sampling");
	put(5, 4, "sm_busy_percent", 10, "pm-sampling");
	put(4, 4, "sm_busy_percent", 10, "pm-sampling"); /* an instant covers nothing */
	put(4, 6, "sm_busy_percent", 40, "");
	d = case_build(&c, NULL);
	assert_int_equal(d->measured[FW_COUNTER_SM_BUSY].samples, 1);
	assert_near(d->measured[FW_COUNTER_SM_BUSY].value, 80);
	/* 2 of 9 do not stand for the rest. */
	assert_true(fw_counter_while_busy(d, FW_COUNTER_SM_BUSY) < 0);
}

static void without_counters_all_is_unknown(void **state)
{
	const struct fw_device_ledger *d;

	(void)state;
	run_two();
	put(0, 9, "GPU 0 Counters", 5, "");
	d = case_build(&c, NULL);
	assert_int_equal(d->counter_source, 0);
	assert_int_equal(d->measured[FW_COUNTER_SM_BUSY].samples, 0);
	assert_false(fw_counters_are_fine(c.ledger, d));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		CASE(the_window_weighs_samples_by_what_lies_in_it),
		CASE(achieved_occupancy_is_of_the_sms_that_worked),
		CASE(occupancy_of_other_times_is_unknown),
		CASE(a_stretch_has_the_mean_of_its_parts),
		CASE(a_kernel_has_the_samples_wholly_inside_it),
		CASE(samples_beside_another_kernel_count_for_none),
		CASE(launches_that_touch_are_one_stretch),
		CASE(the_better_source_counts_alone),
		CASE(gpm_tells_nothing_of_kernels),
		CASE(each_device_has_its_own),
		CASE(what_cannot_be_is_left_out),
		CASE(without_counters_all_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
