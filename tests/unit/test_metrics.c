#include "metrics/openmetrics.h"
#include "openmetrics_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static struct fw_str text;
static struct openmetrics_check check;

static int clear(void **state)
{
	(void)state;
	fw_str_release(&text);
	return 0;
}

/* The lines are those that the standard's own examples have. */
static void writes_each_type(void **state)
{
	const struct fw_metric_family info = { "build", FW_METRIC_INFO, NULL, "The build." };
	const struct fw_metric_family gauge = { "load_ratio", FW_METRIC_GAUGE, "ratio", "Load." };
	const struct fw_metric_family counter = { "reads", FW_METRIC_COUNTER, NULL, "Reads." };
	const struct fw_metric_label label = { "gpu", "0" };
	struct fw_openmetrics writer = { .out = &text };

	(void)state;
	fw_openmetrics_family(&writer, &info);
	fw_openmetrics_value(&writer, &label, 1, 1);
	fw_openmetrics_family(&writer, &gauge);
	fw_openmetrics_value(&writer, &label, 1, 0.1);
	fw_openmetrics_family(&writer, &counter);
	fw_openmetrics_count(&writer, NULL, 0, UINT64_MAX);
	fw_openmetrics_end(&writer);
	assert_string_equal(fw_str_text(&text), "# TYPE build info\n"
						"# HELP build The build.\n"
						"build_info{gpu=\"0\"} 1\n"
						"# TYPE load_ratio gauge\n"
						"# UNIT load_ratio ratio\n"
						"# HELP load_ratio Load.\n"
						"load_ratio{gpu=\"0\"} 0.1\n"
						"# TYPE reads counter\n"
						"# HELP reads Reads.\n"
						"reads_total 18446744073709551615\n"
						"# EOF\n");
	assert_string_equal(openmetrics_check(&check, fw_str_text(&text)), "");
}

static void escapes_labels_and_replaces_bytes_that_are_not_utf8(void **state)
{
	const struct fw_metric_family gauge = { "a", FW_METRIC_GAUGE, NULL, "Say \"a\\b\"\nnow." };
	const struct fw_metric_label label = { "name", "a\\b\"c\nd\xff\xc3\xa9" };
	struct fw_openmetrics writer = { .out = &text };

	(void)state;
	fw_openmetrics_family(&writer, &gauge);
	fw_openmetrics_value(&writer, &label, 1, 1e300);
	fw_openmetrics_end(&writer);
	assert_string_equal(fw_str_text(&text),
			    "# TYPE a gauge\n"
			    "# HELP a Say \\\"a\\\\b\\\"\\nnow.\n"
			    "a{name=\"a\\\\b\\\"c\\nd\xEF\xBF\xBD\xC3\xA9\"} 1e+300\n"
			    "# EOF\n");
	assert_string_equal(openmetrics_check(&check, fw_str_text(&text)), "");
}

/* 0.5 <= 1; 1 is inside "le 1"; 3 <= 5; 7 is above: 2, 3, 4 of 4, sum 11.5. */
static void sums_up_buckets(void **state)
{
	const double bounds[] = { 1, 5 };
	const struct fw_metric_family family = { "wait_seconds", FW_METRIC_HISTOGRAM, "seconds",
						 "Wait." };
	struct fw_histogram histogram;
	struct fw_openmetrics writer = { .out = &text };

	(void)state;
	assert_true(fw_histogram_init(&histogram, bounds, 2));
	fw_histogram_observe(&histogram, 0.5);
	fw_histogram_observe(&histogram, 1);
	fw_histogram_observe(&histogram, 3);
	fw_histogram_observe(&histogram, 7);
	fw_histogram_observe(&histogram, NAN);
	fw_openmetrics_family(&writer, &family);
	fw_openmetrics_histogram(&writer, NULL, 0, &histogram);
	fw_openmetrics_end(&writer);
	assert_non_null(strstr(fw_str_text(&text), "wait_seconds_bucket{le=\"1.0\"} 2\n"
						   "wait_seconds_bucket{le=\"5.0\"} 3\n"
						   "wait_seconds_bucket{le=\"+Inf\"} 4\n"
						   "wait_seconds_count 4\n"
						   "wait_seconds_sum 11.5\n"));
	assert_string_equal(openmetrics_check(&check, fw_str_text(&text)), "");
}

static void refuses_bounds_that_do_not_ascend(void **state)
{
	const double equal[] = { 1, 1 }, infinite[] = { 1, INFINITY }, fine[] = { -1, 1 };
	struct fw_histogram histogram;

	(void)state;
	assert_false(fw_histogram_init(&histogram, equal, 2));
	assert_false(fw_histogram_init(&histogram, infinite, 2));
	assert_false(fw_histogram_init(&histogram, fine, 0));
	assert_false(fw_histogram_init(&histogram, fine, FW_HISTOGRAM_BOUNDS_MAX + 1));
	assert_true(fw_histogram_init(&histogram, fine, 2));
}

/* The reader above is worth something only if it refuses what is wrong. */
static void the_strict_reader_finds_faults(void **state)
{
	static const char *const wrong[] = {
		"# TYPE a gauge\na 1\n",
		"# TYPE a gauge\na 1\n# EOF",
		"# TYPE a gauge\na 1\n# EOF\na 2\n",
		"# TYPE a gauge\na 1\na 2\n# EOF\n",
		"# TYPE a gauge\na{x=\"1\"} 1\na{x=\"1\"} 2\n# EOF\n",
		"# TYPE a gauge\nb 1\n# EOF\n",
		"# TYPE a gauge\na{x=\"\\q\"} 1\n# EOF\n",
		"# TYPE a gauge\na{x=\"} 1\n# EOF\n",
		"# TYPE a gauge\na{x=1} 1\n# EOF\n",
		"# TYPE a gauge\na one\n# EOF\n",
		"# TYPE a gauge\na_total 1\n# EOF\n",
		"# TYPE a gauge\n# UNIT a bytes\na 1\n# EOF\n",
		"# TYPE a counter\na 1\n# EOF\n",
		"# TYPE a counter\na_total -1\n# EOF\n",
		"# TYPE a gauge\na 1\n# TYPE a gauge\n# EOF\n",
		"# TYPE a histogram\na_bucket{le=\"1.0\"} 2\na_bucket{le=\"+Inf\"} 1\n# EOF\n",
		"# TYPE a histogram\na_bucket{le=\"1.0\"} 2\na_count 2\n# EOF\n",
		"a 1\n# EOF\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_string_not_equal(openmetrics_check(&check, wrong[i]), "");
	assert_string_equal(openmetrics_check(&check, "# TYPE a gauge\na{x=\"1\"} 1\n# EOF\n"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(writes_each_type, clear),
		cmocka_unit_test_teardown(escapes_labels_and_replaces_bytes_that_are_not_utf8,
					  clear),
		cmocka_unit_test_teardown(sums_up_buckets, clear),
		cmocka_unit_test_teardown(refuses_bounds_that_do_not_ascend, clear),
		cmocka_unit_test(the_strict_reader_finds_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
