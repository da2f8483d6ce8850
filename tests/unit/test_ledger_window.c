/* Which window a device gets: given, from steps, from the kernels' pattern, or the whole trace. */
#include "made_trace.h"

#include <stdio.h>
#include <stdlib.h>

static struct fw_ledger *ledger_with(struct fw_trace *t, struct fw_ledger_options options)
{
	struct fw_ledger *ledger;
	struct fw_error err = { 0 };

	fw_trace_seal(t);
	if (fw_ledger_build(t, &options, &ledger, &err))
		fail_msg("%s", err.message);
	return ledger;
}

static void expect_window(const struct fw_ledger *l, struct fw_window want)
{
	const struct fw_window *got = &l->devices[0].window;

	if (got->start_ns != want.start_ns * US || got->end_ns != want.end_ns * US)
		fail_msg("window [%lld, %lld) ns, expected [%lld, %lld) us",
			 (long long)got->start_ns, (long long)got->end_ns, (long long)want.start_ns,
			 (long long)want.end_ns);
	assert_int_equal(got->source, want.source);
	assert_int_equal(got->steps, want.steps);
	assert_int_equal(got->dropped_steps, want.dropped_steps);
}

static void expect_default_window(struct fw_trace *t, struct fw_window want)
{
	struct fw_ledger *l = ledger_with(t, (struct fw_ledger_options){ 0 });

	expect_window(l, want);
	made_destroy(l);
}

/* A call at the time, and its kernel 50 later for 300. */
static void launch(struct fw_trace *t, int64_t at, const char *name, const char *process)
{
	static int64_t id = 1;

	made_call(t, (struct made_call){ at, at + 10, ++id, .process = process });
	made_op(t, (struct made_op){ at + 50, at + 350, id, name });
}

/* Annotated steps of the given lengths, from 1000 on, each launching a kernel 100 after it begins. */
static struct fw_trace *annotated(const int64_t *lengths, int count, const char *process)
{
	struct fw_trace *t = made_trace();
	int64_t at = 1000;

	launch(t, 100, "setup", process);
	for (int i = 0; i < count; i++) {
		char name[32];

		snprintf(name, sizeof(name), "ProfilerStep#%d", i);
		made_range(t, (struct made_range){ at, at + lengths[i], FW_RANGE_STEP, name,
						   process });
		launch(t, at + 100, "kernel", process);
		at += lengths[i];
	}
	launch(t, at + 100, "after", process);
	return t;
}

static void annotated_steps_without_their_warm_up(void **state)
{
	/* Median of the last three is 1000: 2000 and 1201 are warm-up, and so no later one is. */
	static const int64_t lengths[] = { 2000, 1201, 1000, 1000, 5000, 1000 };

	(void)state;
	/* Steps start at 1000 3000 4201 5201 6201 11201; kernels 150 after that, for 300. */
	expect_default_window(annotated(lengths, 6, "1"),
			      (struct fw_window){ 4351, 11651, FW_WINDOW_STEPS, 4, 2 });
}

static void a_step_of_just_1_2_medians_is_steady(void **state)
{
	static const int64_t lengths[] = { 1200, 1000, 1000 };

	(void)state;
	expect_default_window(annotated(lengths, 3, "1"),
			      (struct fw_window){ 1150, 3650, FW_WINDOW_STEPS, 3, 0 });
}

static void two_steps_are_no_steady_state(void **state)
{
	static const int64_t lengths[] = { 1000, 1000 };

	(void)state;
	/* Setup's kernel starts at 150, the one after the steps ends at 3450. */
	expect_default_window(annotated(lengths, 2, "1"),
			      (struct fw_window){ 150, 3450, FW_WINDOW_FALLBACK, -1, 0 });
}

static void an_operation_belongs_to_the_step_of_its_launch(void **state)
{
	static const int64_t lengths[] = { 2000, 1000, 1000, 1000 };
	struct fw_trace *t = annotated(lengths, 4, "1");

	(void)state;
	/* Launched in the warm-up step, it runs in the first steady one; the other way round is no matter. */
	made_call(t, (struct made_call){ 2900, 2950, 900 });
	made_op(t, (struct made_op){ 3050, 3100, 900, .stream = 1 });
	made_call(t, (struct made_call){ 5950, 5960, 901, .thread = "backward" });
	made_op(t, (struct made_op){ 7000, 7100, 901, .stream = 1 });
	expect_default_window(t, (struct fw_window){ 3150, 7100, FW_WINDOW_STEPS, 3, 1 });
}

static void steps_marked_twice_count_once(void **state)
{
	static const int64_t lengths[] = { 1000, 1000, 1000 };
	struct fw_trace *t = annotated(lengths, 3, "1");

	(void)state;
	for (int64_t at = 1000; at < 4000; at += 1000) {
		made_range(t, (struct made_range){ at, at + 999, FW_RANGE_STEP, "ProfilerStep#" });
		made_range(t, (struct made_range){ at, at + 999, FW_RANGE_STEP, "ProfilerStep#",
						   .thread = "other" });
	}
	expect_default_window(t, (struct fw_window){ 1150, 3450, FW_WINDOW_STEPS, 3, 0 });
}

static void windows_of_several_processes_are_united(void **state)
{
	static const int64_t lengths[] = { 1000, 1000, 1000 };
	struct fw_trace *t = annotated(lengths, 3, "1");

	(void)state;
	for (int64_t at = 2000; at < 8000; at += 1500) {
		made_range(t, (struct made_range){ at, at + 1500, FW_RANGE_STEP, "ProfilerStep#",
						   "2" });
		launch(t, at + 100, "kernel", "2");
	}
	/* 1150 to 3450, and 2150 to 6500 + 100 + 350. */
	expect_default_window(t, (struct fw_window){ 1150, 6950, FW_WINDOW_STEPS, 7, 0 });
}

/* Kernels launched 400 apart from 1000 on, named by the letters. */
static struct fw_trace *sequence(const char *letters, bool has_calls)
{
	struct fw_trace *t = made_trace();

	for (int64_t i = 0; letters[i]; i++) {
		char name[2] = { letters[i], '\0' };

		if (has_calls)
			launch(t, 1000 + 400 * i, name, "1");
		else
			made_op(t,
				(struct made_op){ 1050 + 400 * i, 1350 + 400 * i, .name = name });
	}
	return t;
}

static void repeating_kernels_are_steps(void **state)
{
	(void)state;
	/*
	 * a occurs once a step and begins it; the last step is not whole, and its a (number 22 from
	 * 0) ends the window: 1050 + 400 x 22. The first a is number 2.
	 */
	expect_default_window(sequence("xyabbcabbcabbcabbcabbcab", true),
			      (struct fw_window){ 1850, 9850, FW_WINDOW_PATTERN, 5, 0 });
	/* The last one is whole: it ends with the last kernel, number 13. */
	expect_default_window(sequence("xyabbcabbcabbc", true),
			      (struct fw_window){ 1850, 6550, FW_WINDOW_PATTERN, 3, 0 });
	/* Without calls the order on the GPU stands in. */
	expect_default_window(sequence("xyabbcabbcabbc", false),
			      (struct fw_window){ 1850, 6550, FW_WINDOW_PATTERN, 3, 0 });
}

static void leading_steps_with_other_kernels_are_left_out(void **state)
{
	(void)state;
	/* The first a begins a segment of six kernels, where the others have four. */
	expect_default_window(sequence("abbctuabbcabbcabbcabbcabbcabbc", true),
			      (struct fw_window){ 3450, 12950, FW_WINDOW_PATTERN, 6, 0 });
}

static void a_kernel_every_other_step_does_not_double_the_step(void **state)
{
	(void)state;
	/* l is logged every second step of ten kernels; 10 of 11 kernels are the same. */
	expect_default_window(
		sequence("abbbbbbbbcabbbbbbbbclabbbbbbbbcabbbbbbbbclabbbbbbbbcabbbbbbbbcl", true),
		(struct fw_window){ 1050, 1350 + 400 * 62, FW_WINDOW_PATTERN, 6, 0 });
}

static void layers_are_not_steps(void **state)
{
	(void)state;
	/* Two steps of twenty layers: more than a quarter lies before the last step's layers. */
	expect_default_window(
		sequence("ellllllllllllllllllllhellllllllllllllllllllh", true),
		(struct fw_window){ 1050, 1350 + 400 * 43, FW_WINDOW_FALLBACK, -1, 0 });
}

static void an_irregular_sequence_gives_the_whole_trace(void **state)
{
	(void)state;
	expect_default_window(
		sequence("abcdabbbbdcccabdbadccc", true),
		(struct fw_window){ 1050, 1350 + 400 * 21, FW_WINDOW_FALLBACK, -1, 0 });
}

/* Kernels 100-200 and 1000-1100; all between is unrecorded but the call 990-1000. */
static struct fw_trace *two_kernels(void)
{
	struct fw_trace *t = made_trace();

	made_call(t, (struct made_call){ 90, 95, 1 });
	made_op(t, (struct made_op){ 100, 200, 1 });
	made_call(t, (struct made_call){ 990, 1000, 2 });
	made_op(t, (struct made_op){ 1000, 1100, 2 });
	return t;
}

static struct fw_ledger *ledger_of_window(int64_t start, int64_t end)
{
	struct fw_ledger_options options = { .has_window = true,
					     .window_start_ns = start * US,
					     .window_end_ns = end * US };

	return ledger_with(two_kernels(), options);
}

static void a_given_window_cuts_gaps_and_operations(void **state)
{
	struct fw_ledger *l = ledger_of_window(150, 995);

	(void)state;
	/* The gap's end lies outside, and still says what was waited for. */
	expect_window(l, (struct fw_window){ 150, 995, FW_WINDOW_USER, -1, 0 });
	assert_int_equal(l->devices[0].ns[FW_CLASS_COMPUTE], 50 * US);
	assert_int_equal(l->devices[0].ns[FW_CLASS_HOST_UNRECORDED], 790 * US);
	assert_int_equal(l->devices[0].ns[FW_CLASS_LAUNCH_LATENCY], 5 * US);
	assert_int_equal(l->devices[0].kernel_busy_ns, 50 * US);
	/* What the whole trace had stays in the totals. */
	assert_int_equal(l->devices[0].totals.kernel_busy_ns, 200 * US);
	made_destroy(l);
}

static void time_outside_all_operations_is_unknown(void **state)
{
	struct fw_ledger *l = ledger_of_window(-50, 1200);
	const struct fw_device_ledger *d = &l->devices[0];

	(void)state;
	assert_int_equal(d->ns[FW_CLASS_UNKNOWN], (150 + 100) * US);
	assert_int_equal(d->idle[0].start_ns, -50 * US);
	assert_int_equal(d->idle[d->idle_count - 1].next_op, FW_NONE);
	made_destroy(l);
	l = ledger_of_window(2000, 2100);
	assert_int_equal(l->devices[0].ns[FW_CLASS_UNKNOWN], 100 * US);
	made_destroy(l);
	l = ledger_of_window(10, 20);
	assert_int_equal(l->devices[0].ns[FW_CLASS_UNKNOWN], 10 * US);
	made_destroy(l);
}

static void an_empty_or_reversed_window_is_refused(void **state)
{
	struct fw_ledger_options options = { .has_window = true,
					     .window_start_ns = 5000,
					     .window_end_ns = 5000 };
	struct fw_trace *t = two_kernels();
	struct fw_error err = { 0 };
	struct fw_ledger *l;

	(void)state;
	fw_trace_seal(t);
	assert_int_equal(fw_ledger_build(t, &options, &l, &err), FW_ERR_ARGUMENT);
	assert_null(l);
	assert_string_equal(err.message,
			    "window: it ends at 5000 ns, not after its start, 5000 ns");
	fw_trace_destroy(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(annotated_steps_without_their_warm_up),
		cmocka_unit_test(a_step_of_just_1_2_medians_is_steady),
		cmocka_unit_test(two_steps_are_no_steady_state),
		cmocka_unit_test(an_operation_belongs_to_the_step_of_its_launch),
		cmocka_unit_test(steps_marked_twice_count_once),
		cmocka_unit_test(windows_of_several_processes_are_united),
		cmocka_unit_test(repeating_kernels_are_steps),
		cmocka_unit_test(leading_steps_with_other_kernels_are_left_out),
		cmocka_unit_test(a_kernel_every_other_step_does_not_double_the_step),
		cmocka_unit_test(layers_are_not_steps),
		cmocka_unit_test(an_irregular_sequence_gives_the_whole_trace),
		cmocka_unit_test(a_given_window_cuts_gaps_and_operations),
		cmocka_unit_test(time_outside_all_operations_is_unknown),
		cmocka_unit_test(an_empty_or_reversed_window_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
