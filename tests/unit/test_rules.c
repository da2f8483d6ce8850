#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "rules/call_groups.h"
#include "rules/copies.h"
#include "rules/host.h"
#include "rules/ranks.h"

#include "ledger_case.h"

/* The finding of that rule, or NULL. */
static const struct fw_finding *find(const struct fw_findings *findings, const char *id)
{
	const struct fw_finding *list = findings->list.data;

	for (size_t i = 0; i < findings->list.len; i++)
		if (!strcmp(list[i].id, id))
			return &list[i];
	return NULL;
}

static void every_rule_has_an_id_a_summary_and_a_page(void **state)
{
	size_t count;
	const struct fw_rule *const *rules = fw_rules(&count);

	(void)state;
	assert_true(count >= 6);
	for (size_t i = 0; i < count; i++) {
		assert_non_null(rules[i]->summary);
		assert_non_null(fw_rule_page(rules[i]->id));
		assert_int_equal(strspn(rules[i]->id, "abcdefghijklmnopqrstuvwxyz-"),
				 strlen(rules[i]->id));
	}
	assert_string_equal(rules[count - 1]->id, "no-problem");
	assert_null(fw_rule_page("no-such-rule"));
}

/*
 * Three kernels of 100 us; before the second and the third 60 us of loader wait and 40 us of operator, the
 * last 5 of which are the launch call. Of 500 us input costs 120, the operators 70 (the host works 400 us,
 * the GPU 300: less than the difference), launch latency 10.
 */
static void findings_are_ranked_by_cost(void **state)
{
	struct fw_findings findings;
	const struct fw_finding *list;
	struct ledger_case c;
	uint32_t thread;

	(void)state;
	case_open(&c);
	thread = case_thread(&c, "1");
	case_call(&c, thread, "cudaLaunchKernel", 0, 5000, 1);
	case_kernel(&c, 7, 0, 100000, 1);
	for (int64_t i = 1; i <= 2; i++) {
		int64_t t = i * 200000;

		case_range(&c, thread, FW_RANGE_INPUT, t - 100000, t - 40000);
		case_range(&c, thread, FW_RANGE_OPERATOR, t - 40000, t);
		case_call(&c, thread, "cudaLaunchKernel", t - 5000, t, i + 1);
		case_kernel(&c, 7, t, t + 100000, i + 1);
	}
	case_build(&c, NULL);
	assert_int_equal(fw_findings_build(c.ledger, &findings, NULL), FW_OK);
	list = findings.list.data;
	assert_int_equal(findings.list.len, 2);
	assert_string_equal(list[0].id, "input-bound");
	assert_int_equal(list[0].cost_ns, 120000);
	assert_true(list[0].share > 0.239 && list[0].share < 0.241);
	assert_string_equal(list[1].id, "host-bound");
	assert_int_equal(list[1].cost_ns, 70000);
	assert_string_equal(
		fw_verdict(c.ledger, &findings),
		"The GPU was busy 60 % of the window; it waited for the data loader 24 % "
		"of the time, and it waited for the host to issue work 14 %.");
	fw_findings_release(&findings);
	case_close(&c);
}

/* Two kernels of 1 ms, and 15 us (0.75 %) of operator between them: not worth reading, and no problem. */
static void small_costs_are_no_problem(void **state)
{
	struct fw_findings findings;
	struct ledger_case c;
	uint32_t thread;

	(void)state;
	case_open(&c);
	thread = case_thread(&c, "1");
	case_launch(&c, thread, 0, 5, 1000000, 1);
	case_range(&c, thread, FW_RANGE_OPERATOR, 1000000, 1015000);
	case_call(&c, thread, "cudaLaunchKernel", 1015000, 1015000, 2);
	case_kernel(&c, 7, 1015000, 2015000, 2);
	case_build(&c, NULL);
	assert_int_equal(fw_findings_build(c.ledger, &findings, NULL), FW_OK);
	assert_int_equal(findings.list.len, 1);
	assert_non_null(find(&findings, "no-problem"));
	assert_string_equal(
		fw_verdict(c.ledger, &findings),
		"The GPU was busy 99 % of the window; no single cause costs 5 % of it.");
	fw_findings_release(&findings);
	case_close(&c);
}

/* Without calls nothing can be said of the idle half: no finding, no all-clear, and each rule says why. */
static void missing_calls_are_said_and_are_no_all_clear(void **state)
{
	struct fw_findings findings;
	const struct fw_unable *unable;
	struct ledger_case c;

	(void)state;
	case_open(&c);
	case_kernel(&c, 7, 0, 1000, FW_CORR_NONE);
	case_kernel(&c, 7, 3000, 4000, FW_CORR_NONE);
	case_build(&c, NULL);
	assert_int_equal(fw_findings_build(c.ledger, &findings, NULL), FW_OK);
	assert_int_equal(findings.list.len, 0);
	assert_true(findings.unable.len >= 5);
	unable = findings.unable.data;
	for (size_t i = 0; i < findings.unable.len; i++) {
		assert_true(strlen(unable[i].lacks) > 0);
		assert_true(strlen(unable[i].capture) > 0);
	}
	assert_string_equal(
		fw_verdict(c.ledger, &findings),
		"The GPU was busy 50 % of the window; the trace does not show why it was "
		"idle 50 % of the time.");
	fw_findings_release(&findings);
	case_close(&c);
}

/* Two devices that meet in collectives: a verdict of both, and who comes last is told by the shortest time. */
static void ranks_are_matched_by_name_and_order(void **state)
{
	struct fw_findings findings = { 0 };
	const struct fw_ranks *ranks;
	struct ledger_case c;
	uint32_t other;

	(void)state;
	case_open(&c);
	other = fw_trace_device(c.trace, 0, 1);
	for (int64_t i = 0; i < 3; i++) {
		uint32_t early = case_kernel(&c, 7, i * 1000, i * 1000 + 500, FW_CORR_NONE);
		uint32_t late = case_kernel(&c, 7, i * 1000 + 400, i * 1000 + 500, FW_CORR_NONE);

		c.trace->ops.stream[late] = fw_trace_stream(c.trace, other, 7);
		c.trace->ops.owner[early] = c.trace->ops.owner[late] = FW_CLASS_COLLECTIVE;
	}
	case_build(&c, NULL);
	assert_int_equal(c.ledger->device_count, 2);
	ranks = fw_ranks_of(c.ledger, &findings);
	assert_non_null(ranks);
	assert_true(ranks->is_matched);
	/* The last collective ends the window, and is in it: 3 x 400 ns. */
	assert_int_equal(ranks->of_device[0].waited_ns, 1200);
	assert_int_equal(ranks->of_device[0].late, 0);
	assert_int_equal(ranks->of_device[1].late, 3);
	assert_int_equal(ranks->of_device[1].caused_ns, 1200);
	fw_findings_release(&findings);
	case_close(&c);
}

static void operators_are_found_around_a_time(void **state)
{
	struct fw_findings findings = { 0 };
	const struct fw_host *host;
	uint32_t thread, outer, inner;
	struct ledger_case c;

	(void)state;
	case_open(&c);
	thread = case_thread(&c, "1");
	case_launch(&c, thread, 0, 5, 100, 1);
	outer = case_range(&c, thread, FW_RANGE_OPERATOR, 10, 90);
	inner = case_range(&c, thread, FW_RANGE_OPERATOR, 20, 40);
	case_range(&c, thread, FW_RANGE_OPERATOR, 45, 50);
	case_range(&c, thread, FW_RANGE_OTHER, 0, 1000);
	case_range(&c, case_thread(&c, "2"), FW_RANGE_OPERATOR, 0, 1000);
	case_build(&c, NULL);
	host = fw_host_of(c.ledger, &findings);
	assert_non_null(host);
	assert_int_equal(fw_host_operator(host, thread, 25), inner);
	assert_int_equal(fw_host_outer_operator(host, thread, 25), outer);
	assert_int_equal(fw_host_operator(host, thread, 60), outer);
	assert_int_equal(fw_host_operator(host, thread, 40), outer);
	assert_int_equal(fw_host_operator(host, thread, 90), FW_NONE);
	assert_int_equal(fw_host_operator(host, thread, 5), FW_NONE);
	fw_findings_release(&findings);
	case_close(&c);
}

/* A copy call, the driver's record of it inside, then the framework's wait; and a wait of the program's own. */
static void a_wait_right_after_a_copy_belongs_to_it(void **state)
{
	struct fw_findings findings = { 0 };
	uint32_t thread, copy, driver, wait, later;
	const struct fw_host *host;
	struct ledger_case c;

	(void)state;
	case_open(&c);
	thread = case_thread(&c, "1");
	copy = case_call(&c, thread, "cudaMemcpyAsync", 0, 1000, 1);
	driver = case_call(&c, thread, "cuMemcpyHtoDAsync_v2", 100, 900, 1);
	case_copy(&c, 7, 200, 900, 1);
	wait = case_call(&c, thread, "cudaStreamSynchronize", 1500, 2000, 2);
	later = case_call(&c, thread, "cudaStreamSynchronize", 50000, 60000, 3);
	case_launch(&c, thread, 70000, 70010, 80000, 4);
	case_build(&c, NULL);
	host = fw_host_of(c.ledger, &findings);
	assert_non_null(host);
	assert_true(fw_host_is_repeat(host, driver));
	assert_false(fw_host_is_repeat(host, copy));
	assert_int_equal(fw_copy_sync(c.ledger, host, copy), wait);
	assert_int_equal(fw_sync_copy(c.ledger, host, wait), copy);
	assert_int_equal(fw_sync_copy(c.ledger, host, later), FW_NONE);
	assert_int_equal(fw_copy_bytes(c.ledger, host, copy), 4096);
	fw_findings_release(&findings);
	case_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_rule_has_an_id_a_summary_and_a_page),
		cmocka_unit_test(findings_are_ranked_by_cost),
		cmocka_unit_test(small_costs_are_no_problem),
		cmocka_unit_test(missing_calls_are_said_and_are_no_all_clear),
		cmocka_unit_test(ranks_are_matched_by_name_and_order),
		cmocka_unit_test(operators_are_found_around_a_time),
		cmocka_unit_test(a_wait_right_after_a_copy_belongs_to_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
