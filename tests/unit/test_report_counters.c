/* What the report and the rules say of counters, from a trace put together by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ledger_case.h"
#include "report/report.h"

#define MS 1000000

static struct ledger_case c;
static struct fw_report report;
static struct fw_str text;

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

/*
 * An H200 runs a kernel of 66 blocks, half of its 132 SMs, for 100 ms, in steps of 30 ms. Samples of
 * 5 ms: `first` in the first step, `second` afterwards.
 */
static void make(double first, double second, const char *source)
{
	const struct fw_shape half = { { 66, 1, 1 }, { 1024, 1, 1 }, 32, 0, 0, 0, 0 };
	uint32_t thread, op;

	case_open(&c);
	c.trace->devices.cc[c.device] = 90;
	c.trace->devices.sms[c.device] = 132;
	c.trace->devices.name[c.device] = case_text(&c, "NVIDIA H200");
	thread = case_thread(&c, "1");
	for (int i = 0; i < 4; i++)
		case_range(&c, thread, FW_RANGE_STEP, i * 30 * MS, (i * 30 + 29) * MS);
	case_call(&c, thread, "cudaLaunchKernel", 0, 5, 1);
	op = case_kernel(&c, 7, 0, 100 * MS, 1);
	c.trace->ops.detail[op] = fw_trace_shape(c.trace, &half);
	for (int i = 0; i < 20; i++) {
		put(i * 5, i * 5 + 5, "sm_busy_percent", i < 6 ? first : second, source);
		put(i * 5, i * 5 + 5, "warp_slots_percent", 12.5, source);
		put(i * 5, i * 5 + 5, "dram_percent", 3, source);
		put(i * 5, i * 5 + 5, "tensor_percent", 0.03, source);
		put(i * 5, i * 5 + 5, "fp32_percent", 0, source);
	}
}

static void open_report(void)
{
	struct fw_report_style style = { .struct_size = sizeof(style), .columns = 100 };

	case_build(&c, NULL);
	report = (struct fw_report){ .trace = c.trace, .ledger = c.ledger };
	assert_int_equal(fw_findings_build(c.ledger, &report.findings, NULL), FW_OK);
	report.verdict = fw_verdict(c.ledger, &report.findings);
	text = (struct fw_str){ 0 };
	fw_write_text(&report, &style, &text);
	fw_write_json(&report, &style, &text);
	assert_false(text.failed);
}

static void close_report(void)
{
	fw_str_release(&text);
	fw_findings_release(&report.findings);
	case_close(&c);
}

static void expect(const char *what)
{
	if (!strstr(fw_str_text(&text), what))
		fail_msg("no \"%s\" in:\n%s", what, fw_str_text(&text));
}

static void expect_not(const char *what)
{
	if (strstr(fw_str_text(&text), what))
		fail_msg("\"%s\" in:\n%s", what, fw_str_text(&text));
}

static void means_of_window_kernels_and_steps_are_shown(void **state)
{
	(void)state;
	/* 6 samples of 90 and 14 of 40: 55. Steps [0, 30), [30, 60), [60, 90): 90, 40, 40. */
	make(90, 40, "pm-sampling");
	open_report();
	expect("What the counters measured (PM sampling, 20 samples, 100 % of the window)");
	expect("SMs busy              55.0 %    55.0 %    40.0 %    40.0 %    90.0 %");
	expect("warp slots            12.5 %    12.5 %    12.5 %    12.5 %    12.5 %");
	expect("device memory          3.0 %               3.0 %     3.0 %     3.0 %");
	/* The kernel runs [0, 100), and the first and the last sample touch its ends: 5 x 90, 13 x 40. */
	expect("tensor pipes          <0.1 %    <0.1 %");
	expect("       18  23.2 %  53.9 %  12.5 %  <0.1 %   0.0 %   3.0 %  kernel"); /* 12.5 / 53.9 */
	expect("achieved occupancy    22.7 %");                                      /* 12.5 / 55 */
	expect("\"achieved_occupancy_percent\": 22.7");
	expect("\"source\": \"pm-sampling\"");
	expect("\"covered_ns\": 100000000");
	expect("\"least\": 40");
	close_report();
}

static void of_gpm_no_kernel_is_shown(void **state)
{
	(void)state;
	make(90, 40, "gpm");
	open_report();
	expect("What the counters measured (GPM, 20 samples");
	expect_not("kernel, alone");
	close_report();
}

static void without_samples_nothing_is_shown(void **state)
{
	(void)state;
	make(90, 40, "");
	open_report();
	expect_not("What the counters measured");
	expect_not("measured (");
	expect("\"counters\": null");
	close_report();
}

static const struct fw_finding *finding(const char *id)
{
	const struct fw_finding *list = report.findings.list.data;

	for (size_t i = 0; i < report.findings.list.len; i++)
		if (!strcmp(list[i].id, id))
			return &list[i];
	fail_msg("no finding %s", id);
	return NULL;
}

static void a_model_costs_no_more_than_was_measured(void **state)
{
	(void)state;
	/* The model: half of the SMs empty, 50 of 100 ms. Measured: 80 % had work, so 20 ms. */
	make(80, 80, "pm-sampling");
	open_report();
	assert_int_equal(finding("low-fill")->cost_ns, 20 * MS);
	expect("Kernels leave SMs without work (measured)");
	expect("SMs busy 80.0 % (80.0 % while kernels ran), warp slots 12.5 %, tensor pipes <0.1 "
	       "%,");
	expect("measured SMs busy 80.0 %, warp slots 12.5 %");
	close_report();
}

static void a_measurement_that_agrees_leaves_the_model(void **state)
{
	(void)state;
	make(45, 45, "pm-sampling");
	open_report();
	assert_int_equal(finding("low-fill")->cost_ns, 50 * MS);
	expect("Kernels leave SMs without work (a model)");
	close_report();
}

static void no_problem_says_what_was_measured(void **state)
{
	(void)state;
	make(99.9, 99.9, "gpm");
	open_report();
	expect("measured (GPM, 20 samples)");
	assert_non_null(finding("no-problem"));
	close_report();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(means_of_window_kernels_and_steps_are_shown),
		cmocka_unit_test(of_gpm_no_kernel_is_shown),
		cmocka_unit_test(without_samples_nothing_is_shown),
		cmocka_unit_test(a_model_costs_no_more_than_was_measured),
		cmocka_unit_test(a_measurement_that_agrees_leaves_the_model),
		cmocka_unit_test(no_problem_says_what_was_measured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
