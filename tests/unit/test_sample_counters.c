/* Which source a device's counters come from, and what they are. */
#include "fake_gpus.h"
#include "fake_pm.h"
#include "sample/devices.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct fw_devices *devices;
static struct fw_machine_sample sample;
static int64_t now_ns;

static int begin(void **state)
{
	now_ns = 0;
	return fake_gpus_begin(state) || fake_pm_begin(state) ||
	       fw_devices_open(&devices, FW_FAKE_NVML, NULL);
}

static int end(void **state)
{
	fw_devices_close(devices);
	return fake_gpus_end(state) | fake_pm_end(state);
}

static void want(enum fw_counter_source source, bool spares_pm)
{
	struct fw_devices_counters counters = { .source = source,
						.spares_pm = spares_pm,
						.cupti = FW_FAKE_PM_CUPTI,
						.interval_ns = 10000000 };

	assert_int_equal(fw_devices_set_counters(devices, &counters, NULL), FW_OK);
}

static void read_next(void)
{
	now_ns += 1000000000;
	fw_devices_read(devices, now_ns, &sample);
}

static struct fw_value value(enum fw_gpu_value id)
{
	return sample.gpus[0].values[id];
}

static void samples_are_averaged_by_their_length(void **state)
{
	(void)state;
	fake_gpus_are("");
	/* 10 % for 1 ms, 40 % for 3 ms: 130 / 4. A value that is impossible counts for nothing. */
	fake_pm_is("sample 1000000 2000000 10 200 1\nsample 2000000 5000000 40 30 1\n");
	want(FW_COUNTERS_AUTO, false);
	read_next();
	assert_int_equal(sample.gpus[0].source, FW_COUNTERS_PM);
	assert_string_equal(sample.gpus[0].why_source, "");
	assert_true(value(FW_GPU_SM_BUSY).number == 32.5);
	assert_string_equal(value(FW_GPU_SM_BUSY).note, "PM sampling");
	assert_true(value(FW_GPU_WARPS).number == 30);
	assert_false(fw_value_is_known(value(FW_GPU_FP16)));
	read_next(); /* no sample since */
	assert_false(fw_value_is_known(value(FW_GPU_SM_BUSY)));
	assert_string_equal(value(FW_GPU_SM_BUSY).note, "PM sampling: no sample yet");
}

static void an_overflow_is_unknown_and_passes(void **state)
{
	(void)state;
	fake_gpus_are("");
	fake_pm_is("sample 1000000 2000000 * 10\nsample 2000000 3000000 * 20\noverflow 0\n");
	want(FW_COUNTERS_PM, false);
	read_next();
	assert_false(fw_value_is_known(value(FW_GPU_SM_BUSY)));
	assert_non_null(strstr(value(FW_GPU_SM_BUSY).note, "ran over"));
	fake_pm_is("sample 0 0 * 0\nsample 0 0 * 0\nsample 5000000 6000000 * 20\n");
	read_next();
	assert_true(value(FW_GPU_SM_BUSY).number == 20);
}

static void refused_it_falls_back_to_gpm_and_says_so(void **state)
{
	(void)state;
	fake_gpus_are("*.gpm2 66\n");
	fake_pm_is("enable 35\n");
	want(FW_COUNTERS_AUTO, false);
	read_next();
	read_next();
	assert_int_equal(sample.gpus[0].source, FW_COUNTERS_GPM);
	assert_non_null(strstr(sample.gpus[0].why_source, "NVreg_RestrictProfilingToAdminUsers=0"));
	assert_true(value(FW_GPU_SM_BUSY).number == 66);
	/* Nobody waits for it again: the script would now permit it. */
	fake_pm_is("steady 1 * 5\n");
	read_next();
	assert_int_equal(sample.gpus[0].source, FW_COUNTERS_GPM);
}

static void asked_for_alone_it_has_no_substitute(void **state)
{
	(void)state;
	fake_gpus_are("*.gpm2 66\n");
	fake_pm_is("enable 35\n");
	want(FW_COUNTERS_PM, false);
	read_next();
	read_next();
	assert_int_equal(sample.gpus[0].source, FW_COUNTERS_NVML);
	assert_false(fw_value_is_known(value(FW_GPU_SM_BUSY)));
	assert_true(fw_value_is_known(value(FW_GPU_BUSY)));
}

static void a_sampler_that_breaks_down_is_replaced(void **state)
{
	(void)state;
	fake_gpus_are("*.gpm2 66\n");
	fake_pm_is("steady 1 * 5\ndecode 1 9\n");
	want(FW_COUNTERS_AUTO, false);
	read_next();
	assert_int_equal(sample.gpus[0].source, FW_COUNTERS_PM);
	read_next();
	assert_int_equal(sample.gpus[0].source, FW_COUNTERS_GPM);
	assert_non_null(strstr(sample.gpus[0].why_source, "the hardware failed"));
}

static void who_runs_for_days_takes_gpm_where_there_is_one(void **state)
{
	(void)state;
	fake_gpus_are("*.gpm2 66\n");
	fake_pm_is("sample 1000000 2000000 * 10\n");
	want(FW_COUNTERS_AUTO, true);
	read_next();
	assert_int_equal(sample.gpus[0].source, FW_COUNTERS_GPM);
	assert_string_equal(sample.gpus[0].why_source, "");
}

static void who_runs_for_days_samples_where_there_is_no_gpm(void **state)
{
	(void)state;
	fake_gpus_are("*.gpm 0\n");
	fake_pm_is("sample 1000000 2000000 * 10\n");
	want(FW_COUNTERS_AUTO, true);
	read_next();
	assert_int_equal(sample.gpus[0].source, FW_COUNTERS_PM);
	assert_true(value(FW_GPU_SM_BUSY).number == 10);
}

static void instances_of_mig_have_no_counters_here(void **state)
{
	(void)state;
	fake_gpus_are("*.mig 1\n");
	fake_pm_is("steady 1 * 5\n");
	want(FW_COUNTERS_AUTO, false);
	read_next();
	assert_int_equal(sample.gpus[0].source, FW_COUNTERS_NVML);
	assert_non_null(strstr(sample.gpus[0].why_source, "MIG"));
	assert_non_null(strstr(value(FW_GPU_SM_BUSY).note, "MIG"));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		CASE(samples_are_averaged_by_their_length),
		CASE(an_overflow_is_unknown_and_passes),
		CASE(refused_it_falls_back_to_gpm_and_says_so),
		CASE(asked_for_alone_it_has_no_substitute),
		CASE(a_sampler_that_breaks_down_is_replaced),
		CASE(who_runs_for_days_takes_gpm_where_there_is_one),
		CASE(who_runs_for_days_samples_where_there_is_no_gpm),
		CASE(instances_of_mig_have_no_counters_here),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
