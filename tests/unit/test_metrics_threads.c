/* The name has "threads": the thread sanitizer runs it too. */
#include "base/str.h"
#include "metrics/openmetrics.h"
#include "openmetrics_check.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#define THREADS 4
#define ROUNDS  20000

static struct fw_counter counter;
static struct fw_gauge gauge;
static struct fw_histogram histogram;

static void *count(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		fw_counter_add(&counter, 2);
		fw_gauge_add(&gauge, 0.5);
		fw_histogram_observe(&histogram, i % 4);
	}
	return arg;
}

static void nothing_is_lost_between_threads(void **state)
{
	const double bounds[] = { 0, 1, 2 };
	pthread_t threads[THREADS];
	struct openmetrics_check check;
	struct fw_str text = { 0 };
	struct fw_openmetrics writer = { .out = &text };
	const struct fw_metric_family family = { "wait_seconds", FW_METRIC_HISTOGRAM, "seconds",
						 "Waiting." };

	(void)state;
	assert_true(fw_histogram_init(&histogram, bounds, 3));
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count, NULL), 0);
	for (int i = 0; i < 50; i++) { /* every text agrees with itself while others count */
		fw_str_clear(&text);
		fw_openmetrics_family(&writer, &family);
		fw_openmetrics_histogram(&writer, NULL, 0, &histogram);
		fw_openmetrics_end(&writer);
		assert_string_equal(openmetrics_check(&check, fw_str_text(&text)), "");
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(fw_counter_read(&counter), 2 * THREADS * ROUNDS);
	assert_true(fw_gauge_read(&gauge) == 0.5 * THREADS * ROUNDS);
	assert_int_equal(histogram.buckets[3], THREADS * ROUNDS / 4);
	fw_str_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(nothing_is_lost_between_threads) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
