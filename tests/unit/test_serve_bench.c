/* The measuring parts of the load generator: quantiles, arrivals, slopes, the order of images, drawn pictures. */
#include "serve/bench_arrivals.h"
#include "serve/bench_images.h"
#include "serve/bench_latency.h"
#include "serve/bench_watch.h"
#include "serve/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SAMPLES 20000

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* From 10 ns to 100 s, as many in each decade. */
static void fill(struct fw_latency *latency, int64_t *exact, size_t n, uint64_t seed)
{
	for (size_t i = 0; i < n; i++) {
		exact[i] = (int64_t)pow(10, 1 + 10 * fw_random_unit(&seed));
		fw_latency_add(latency, exact[i]);
	}
	qsort(exact, n, sizeof(*exact), ascending);
}

static void random_is_splitmix64(void **state)
{
	uint64_t seed = 1234567; /* the test vector of Rosetta Code's page of it */

	(void)state;
	assert_int_equal(fw_random_next(&seed), UINT64_C(6457827717110365317));
	assert_int_equal(fw_random_next(&seed), UINT64_C(3203168211198807973));
	assert_int_equal(fw_random_next(&seed), UINT64_C(9817491932198370423));
}

static void quantiles_are_within_a_hundredth_of_the_sorted_ones(void **state)
{
	struct fw_latency *latency = calloc(1, sizeof(*latency));
	int64_t *exact = calloc(SAMPLES, sizeof(*exact));

	(void)state;
	assert_true(latency && exact);
	fill(latency, exact, SAMPLES, 7);
	for (unsigned q = 1; q <= 1000; q++) {
		int64_t want = exact[((uint64_t)SAMPLES * q + 999) / 1000 - 1];
		int64_t got = fw_latency_quantile(latency, q);

		assert_true(llabs(got - want) * 100 <= want);
	}
	assert_int_equal(latency->max_ns, exact[SAMPLES - 1]);
	free(latency);
	free(exact);
}

static void small_times_are_exact(void **state)
{
	struct fw_latency latency = { 0 };

	(void)state;
	for (int64_t ns = 0; ns < 64; ns++)
		fw_latency_add(&latency, ns);
	for (unsigned q = 1; q <= 500; q++)
		assert_int_equal(fw_latency_quantile(&latency, q), (64 * q + 999) / 1000 - 1);
	assert_int_equal(fw_latency_mean(&latency), 31); /* 31.5 */
}

static void quantiles_of_too_few_are_unknown(void **state)
{
	struct fw_latency latency = { 0 };

	(void)state;
	assert_int_equal(fw_latency_quantile(&latency, 500), -1);
	assert_int_equal(fw_latency_mean(&latency), -1);
	for (int i = 1; i <= 1000; i++) {
		fw_latency_add(&latency, i);
		assert_int_equal(fw_latency_quantile(&latency, 500) >= 0, 1);
		assert_int_equal(fw_latency_quantile(&latency, 900) >= 0, i >= 10);
		assert_int_equal(fw_latency_quantile(&latency, 990) >= 0, i >= 100);
		assert_int_equal(fw_latency_quantile(&latency, 999) >= 0, i >= 1000);
	}
}

static void extremes_stay_in_bounds(void **state)
{
	struct fw_latency latency = { 0 };

	(void)state;
	fw_latency_add(&latency, -5);
	assert_int_equal(fw_latency_quantile(&latency, 500), 0);
	fw_latency_add(&latency, INT64_MAX);
	fw_latency_add(&latency, INT64_MAX);
	assert_int_equal(latency.max_ns, INT64_MAX);
	assert_int_equal(latency.buckets[FW_LATENCY_BUCKETS - 1], 2);
	/* Just below the end of the range: 2^43 - 1 ns. */
	latency = (struct fw_latency){ 0 };
	fw_latency_add(&latency, (INT64_C(1) << 43) - 1);
	assert_int_equal(latency.buckets[FW_LATENCY_BUCKETS - 1], 1);
	fw_latency_add(&latency, INT64_C(1) << 42);
	assert_int_equal(latency.buckets[FW_LATENCY_BUCKETS - FW_LATENCY_STEPS], 1);
}

static void merging_is_adding(void **state)
{
	struct fw_latency *parts = calloc(3, sizeof(*parts));

	(void)state;
	assert_non_null(parts);
	for (int64_t i = 1; i < 5000; i++) {
		fw_latency_add(&parts[i % 2], i * i);
		fw_latency_add(&parts[2], i * i);
	}
	fw_latency_merge(&parts[0], &parts[1]);
	assert_memory_equal(&parts[0], &parts[2], sizeof(parts[2]));
	free(parts);
}

/* Exponential gaps of mean m: their deviation is m, and e^-1 of them are longer than m. */
static void arrivals_are_a_poisson_process(void **state)
{
	const double rate = 250, mean_ns = 1e9 / rate;
	const int n = 200000; /* the mean's own deviation is 0.22 % */
	struct fw_bench_arrivals arrivals, again;
	double sum = 0, squares = 0;
	int64_t before = 1000;
	int longer = 0;

	(void)state;
	fw_bench_arrivals_init(&arrivals, before, rate, 3);
	fw_bench_arrivals_init(&again, before, rate, 3);
	for (int i = 0; i < n; i++) {
		int64_t at = fw_bench_arrivals_next(&arrivals), gap = at - before;

		assert_int_equal(at, fw_bench_arrivals_next(&again));
		assert_true(gap >= 0);
		sum += (double)gap;
		squares += (double)gap * (double)gap;
		longer += (double)gap > mean_ns;
		before = at;
	}
	assert_true(fabs(sum / n / mean_ns - 1) < 0.01);
	assert_true(fabs(sqrt(squares / n - sum / n * (sum / n)) / mean_ns - 1) < 0.015);
	assert_true(fabs((double)longer / n - exp(-1)) < 0.005);
	/* One in more years than nanoseconds can count. */
	fw_bench_arrivals_init(&arrivals, 1000, 1e-300, 3);
	assert_int_equal(fw_bench_arrivals_next(&arrivals), INT64_C(1000000000000001000));
}

static void slope_is_that_of_least_squares(void **state)
{
	/* By hand: t 0, 1, 2, 3 min, y 10, 12, 11, 15 MB: means 1.5 and 12, 7 / 5 = 1.4 MB a minute. */
	const struct fw_bench_rss samples[] = { { 5, 10000000 },
						{ 60000000005, 12000000 },
						{ 120000000005, 11000000 },
						{ 180000000005, 15000000 } };
	const struct fw_bench_rss at_once[] = { { 5, 1 }, { 5, 2 }, { 5, 3 } };
	double slope;

	(void)state;
	assert_true(fw_bench_rss_slope(samples, 4, &slope));
	assert_true(fabs(slope - 1400000) < 1);
	assert_false(fw_bench_rss_slope(samples, 2, &slope));
	assert_false(fw_bench_rss_slope(at_once, 3, &slope));
	assert_true(fw_bench_rss_now() > 100000);
}

static void pictures_are_the_same_for_a_seed(void **state)
{
	const uint64_t seeds[] = { 1, 1, 2 };
	struct fw_bench_images sets[3];
	const struct fw_bench_image *images[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		const struct fw_bench_picture picture = { 33, 17, seeds[i] };
		struct fw_error err;

		sets[i] = (struct fw_bench_images){ .images = FW_VEC(struct fw_bench_image) };
		assert_int_equal(fw_bench_images_draw(&sets[i], &picture, 5, 1 << 20, &err), 0);
		assert_int_equal(sets[i].images.len, 5);
		images[i] = sets[i].images.data;
		assert_memory_equal(images[i][0].bytes, "\xff\xd8\xff", 3); /* a JPEG's start */
		assert_int_not_equal(
			fw_bench_images_draw(&sets[i], &picture, 5, sets[i].bytes, &err), 0);
		images[i] = sets[i].images.data;
	}
	assert_int_equal(images[0][4].size, images[1][4].size);
	assert_memory_equal(images[0][4].bytes, images[1][4].bytes, images[0][4].size);
	assert_true(images[0][4].size != images[2][4].size ||
		    memcmp(images[0][4].bytes, images[2][4].bytes, images[0][4].size));
	for (int i = 0; i < 3; i++)
		fw_bench_images_release(&sets[i]);
}

static void every_image_has_its_turn(void **state)
{
	const struct fw_bench_picture picture = { 8, 8, 1 };
	struct fw_bench_images set = { .images = FW_VEC(struct fw_bench_image) };
	unsigned seen[20] = { 0 };
	struct fw_error err;
	bool is_moved = false;

	(void)state;
	assert_int_not_equal(fw_bench_images_shuffle(&set, 1, &err), 0);
	assert_int_equal(fw_bench_images_draw(&set, &picture, 20, 1 << 20, &err), 0);
	assert_int_equal(fw_bench_images_shuffle(&set, 1, &err), 0);
	for (uint64_t turn = 0; turn < 40; turn++) {
		const struct fw_bench_image *first = set.images.data;

		seen[fw_bench_images_at(&set, turn) - first]++;
		is_moved = is_moved || fw_bench_images_at(&set, turn) != &first[turn % 20];
	}
	for (int i = 0; i < 20; i++)
		assert_int_equal(seen[i], 2);
	assert_true(is_moved);
	fw_bench_images_release(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_is_splitmix64),
		cmocka_unit_test(quantiles_are_within_a_hundredth_of_the_sorted_ones),
		cmocka_unit_test(small_times_are_exact),
		cmocka_unit_test(quantiles_of_too_few_are_unknown),
		cmocka_unit_test(extremes_stay_in_bounds),
		cmocka_unit_test(merging_is_adding),
		cmocka_unit_test(arrivals_are_a_poisson_process),
		cmocka_unit_test(slope_is_that_of_least_squares),
		cmocka_unit_test(pictures_are_the_same_for_a_seed),
		cmocka_unit_test(every_image_has_its_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
