#include "fake_pm.h"
#include "sample/pm.h"
#include "sample/pm_metrics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define UUID "GPU-00000000-0000-0000-0000-000000000000"

static struct fw_pm_library *library;
static struct fw_pm *pm;
static struct fw_error error;
static struct fw_pm_read result;
static struct fw_pm_sample taken[1024];
static size_t taken_count;
static int64_t began_mono;

static void take(void *arg, const struct fw_pm_sample *sample)
{
	(void)arg;
	assert_true(taken_count < 1024);
	taken[taken_count++] = *sample;
}

static int64_t now_mono(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int begin(void **state)
{
	taken_count = 0;
	began_mono = now_mono();
	memset(&error, 0, sizeof(error));
	if (fake_pm_begin(state))
		return -1;
	return fw_pm_library_open(&library, FW_FAKE_PM_CUPTI, NULL);
}

static int end(void **state)
{
	fw_pm_close(pm);
	pm = NULL;
	fw_pm_library_close(library);
	return fake_pm_end(state);
}

static fw_status open_with(uint32_t batch, const char *script)
{
	struct fw_pm_options options = { .interval_ns = 1000000, .batch = batch };

	fake_pm_is(script);
	return fw_pm_open(&pm, library, UUID, &options, &error);
}

static fw_status read_all(void)
{
	return fw_pm_read(pm, take, NULL, &result, &error);
}

static bool has(enum fw_gpu_value value)
{
	size_t count;
	const enum fw_gpu_value *values = fw_pm_values(pm, &count);

	for (size_t i = 0; i < count; i++)
		if (values[i] == value)
			return true;
	return false;
}

static void samples_come_with_their_own_times(void **state)
{
	(void)state;
	assert_int_equal(open_with(0, "sample 1000 2000 50 25 12.5\nsample 2000 4200 100 50 0\n"),
			 FW_OK);
	assert_int_equal(read_all(), FW_OK);
	assert_int_equal(taken_count, 2);
	/* The first of all, which reaches back to before the start, is not among them. */
	assert_int_equal(taken[0].end_mono - taken[0].start_mono, 1000);
	assert_int_equal(taken[1].start_mono - taken[0].end_mono, 0);
	assert_int_equal(taken[1].end_mono - taken[1].start_mono, 2200);
	/* In the clock of the script 2 us after 100 ms before the start. */
	assert_true(taken[0].end_mono > began_mono - 101000000);
	assert_true(taken[0].end_mono < now_mono() - 90000000);
	assert_true(taken[0].values[0] == 50 && taken[0].values[1] == 25);
	assert_true(taken[0].values[2] == 12.5);
	assert_int_equal(result.samples, 2);
	assert_true(result.clock.after_mono >= result.clock.before_mono);
	assert_int_equal(read_all(), FW_OK); /* nothing new */
	assert_int_equal(result.samples, 0);
}

static void more_samples_than_fit_at_once_are_all_read(void **state)
{
	char script[8192] = "";
	size_t length = 0;

	(void)state;
	for (int i = 1; i <= 100; i++)
		length += (size_t)snprintf(script + length, sizeof(script) - length,
					   "sample %d %d * 1\n", i * 10, i * 10 + 10);
	assert_int_equal(open_with(7, script), FW_OK);
	assert_int_equal(read_all(), FW_OK);
	assert_int_equal(taken_count, 100);
	assert_int_equal(taken[99].end_mono - taken[0].start_mono, 1000);
}

static void impossible_values_are_not_numbers(void **state)
{
	(void)state;
	/* 7219 % was seen on an H200; 100.4 is a counter that overshoots a little. */
	assert_int_equal(open_with(0, "sample 10 20 7219 -1 nan 100.4\n"
				      "sample 20 30 0 0 0 0 0 9e15 5e10\n"),
			 FW_OK);
	assert_int_equal(read_all(), FW_OK);
	assert_int_equal(taken_count, 2);
	assert_true(isnan(taken[0].values[0]) && isnan(taken[0].values[1]));
	assert_true(isnan(taken[0].values[2]));
	assert_true(taken[0].values[3] == 100);
	assert_true(isnan(taken[1].values[5])); /* PCIe, 9 petabytes a second */
	assert_true(taken[1].values[6] == 5e10);
	assert_int_equal(result.wild, 4);
}

static void samples_with_impossible_times_are_dropped(void **state)
{
	(void)state;
	assert_int_equal(open_with(0, "sample 100 200 * 1\nsample 300 300 * 2\n"
				      "sample 150 250 * 3\nsample 0 400 * 4\n"
				      "sample 200 300000000000 * 5\nsample 200 300 * 6\n"),
			 FW_OK);
	assert_int_equal(read_all(), FW_OK);
	assert_int_equal(taken_count, 2);
	assert_true(taken[0].values[0] == 1 && taken[1].values[0] == 6);
	assert_int_equal(result.dropped, 4);
}

static void after_an_overflow_it_goes_on(void **state)
{
	(void)state;
	assert_int_equal(open_with(0, "sample 10 20 * 1\noverflow 0\ndecode 1 8\n"), FW_OK);
	assert_int_equal(read_all(), FW_OK);
	assert_int_equal(taken_count, 1);
	assert_int_equal(result.overflows, 1);
	assert_int_equal(read_all(), FW_OK); /* CUPTI's out-of-memory says the same */
	assert_int_equal(result.overflows, 1);
	fake_pm_is("sample 10 20 * 1\nsample 50000000 60000000 * 2\n");
	assert_int_equal(read_all(), FW_OK);
	assert_int_equal(taken_count, 2);
	assert_int_equal(result.overflows, 0);
	fake_pm_is("overflow 3\nenable 35\n"); /* somebody took the counters meanwhile */
	assert_int_equal(read_all(), FW_ERR_UNSUPPORTED);
	assert_int_equal(read_all(), FW_ERR_UNSUPPORTED);
	assert_non_null(strstr(error.message, "broke down before"));
}

static void samples_of_another_clock_are_refused(void **state)
{
	(void)state;
	assert_int_equal(open_with(0, "astray 5000000000\nsample 10 20 * 1\n"), FW_OK);
	assert_int_equal(read_all(), FW_ERR_UNSUPPORTED);
	assert_non_null(strstr(error.message, "not in CUPTI's clock"));
	fw_pm_close(pm);
	assert_int_equal(open_with(0, "astray -5000000000\nsample 10 20 * 1\nsample 20 30 * 1\n"),
			 FW_OK);
	assert_int_equal(read_all(), FW_ERR_UNSUPPORTED);
}

static void a_lost_device_ends_the_sampling(void **state)
{
	(void)state;
	assert_int_equal(open_with(0, "decode 0 9\n"), FW_OK);
	assert_int_equal(read_all(), FW_ERR_UNSUPPORTED);
	assert_non_null(strstr(error.message, "cuptiPmSamplingDecodeData: the hardware failed"));
}

static void every_obstacle_is_named(void **state)
{
	static const struct {
		const char *script, *message;
	} cases[] = {
		{ "enable 35\n", "NVreg_RestrictProfilingToAdminUsers=0" },
		{ "availability 35\n", "ERR_NVGPUCTRPERM" },
		{ "enable 7\n", "another program" },
		{ "enable 26\n", "another program" },
		{ "enable 43\n", "not supported on a MIG device (43)" },
		{ "chip 33\n", "virtual GPU" },
		{ "host 46\n", "chip GH100" },
		{ "config 27\n", "cuptiPmSamplingSetConfig: not supported on this GPU (27)" },
		{ "start 999\n", "cuptiPmSamplingStart" },
		{ "data 8\n", "cuptiPmSamplingGetCounterDataSize" },
		{ "first_uuid 1\n", "CUDA_VISIBLE_DEVICES" },
		{ "metric sm__ 0\nmetric dram 0\nmetric pcie 0\nmetric nvl 0\n",
		  "none of our metrics fits one pass: unknown metric (17)" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(open_with(0, cases[i].script), FW_ERR_UNSUPPORTED);
		assert_null(pm);
		if (!strstr(error.message, cases[i].message))
			fail_msg("%s: %s", cases[i].script, error.message);
	}
}

static void metrics_of_several_passes_are_left_out(void **state)
{
	(void)state;
	assert_int_equal(open_with(0, "metric pipe_tensor_cycles_active_realtime 2\n"
				      "metric TriageCompute 0\nmetric pcie__read 3\n"),
			 FW_OK);
	assert_true(has(FW_GPU_SM_BUSY) && has(FW_GPU_WARPS) && has(FW_GPU_DRAM));
	assert_true(has(FW_GPU_TENSOR)); /* its second metric */
	assert_true(has(FW_GPU_FP32));
	assert_false(has(FW_GPU_PCIE_RX) || has(FW_GPU_FP64));
	assert_true(has(FW_GPU_PCIE_TX));
}

static void the_first_metrics_count_most(void **state)
{
	size_t count;

	(void)state;
	assert_int_equal(open_with(0, "most 3\n"), FW_OK);
	fw_pm_values(pm, &count);
	assert_int_equal(count, 3);
	assert_true(has(FW_GPU_SM_BUSY) && has(FW_GPU_WARPS) && has(FW_GPU_TENSOR));
}

static void chips_without_a_timed_trigger_use_the_clock(void **state)
{
	(void)state;
	assert_int_equal(open_with(0, "no_time_trigger 1\nsample 5 6 * 7\n"), FW_OK);
	assert_int_equal(read_all(), FW_OK);
	assert_int_equal(taken_count, 1);
}

static void a_library_that_cannot_start_says_why(void **state)
{
	struct fw_pm_library *other = NULL;

	(void)state;
	fake_pm_is("initialize 15\n");
	assert_int_equal(fw_pm_library_open(&other, FW_FAKE_PM_CUPTI, &error), FW_ERR_UNSUPPORTED);
	assert_non_null(strstr(error.message, "cuptiProfilerInitialize: CUPTI could not start"));
	fake_pm_is("cuInit 100\n");
	assert_int_equal(fw_pm_library_open(&other, FW_FAKE_PM_CUPTI, &error), FW_ERR_UNSUPPORTED);
	assert_non_null(strstr(error.message, "cuInit: CUDA_ERROR_NO_DEVICE (100)"));
	fake_pm_is("");
	assert_int_equal(fw_pm_library_open(&other, "/nowhere/libcupti.so.13", &error),
			 FW_ERR_UNSUPPORTED);
	assert_int_equal(fw_pm_library_open(&other, FW_FAKE_PM_CUDA, &error), FW_ERR_UNSUPPORTED);
	assert_non_null(strstr(error.message, "symbol cuptiGetVersion is missing"));
	assert_null(other);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		CASE(samples_come_with_their_own_times),
		CASE(more_samples_than_fit_at_once_are_all_read),
		CASE(impossible_values_are_not_numbers),
		CASE(samples_with_impossible_times_are_dropped),
		CASE(after_an_overflow_it_goes_on),
		CASE(samples_of_another_clock_are_refused),
		CASE(a_lost_device_ends_the_sampling),
		CASE(every_obstacle_is_named),
		CASE(metrics_of_several_passes_are_left_out),
		CASE(the_first_metrics_count_most),
		CASE(chips_without_a_timed_trigger_use_the_clock),
		CASE(a_library_that_cannot_start_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
