/* The smoke test on a stand-in for libcuda: what it says of errors, hangs, crashes and slow copies. */
#include "doctor/check.h"
#include "doctor/smoke_measure.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static struct fw_cuda cuda;

/* The loader takes a library that is open already, by its soname. */
static int open_fake(void **state)
{
	(void)state;
	return dlopen(FW_FAKE_SMOKE_CUDA, RTLD_NOW) && !fw_cuda_open(&cuda, NULL) ? 0 : -1;
}

static int close_fake(void **state)
{
	(void)state;
	fw_cuda_close(&cuda);
	return 0;
}

static struct fw_smoke run(const char *script, int timeout_ms)
{
	struct fw_smoke smoke;

	if (script)
		setenv("FW_FAKE_SMOKE", script, 1);
	else
		unsetenv("FW_FAKE_SMOKE");
	fw_smoke_measure(&cuda, timeout_ms, &smoke);
	return smoke;
}

static void measures_what_works(void **state)
{
	struct fw_smoke smoke = run(NULL, 30000);

	(void)state;
	assert_string_equal(smoke.failed, "");
	assert_true(smoke.pageable_gb_s > 0 && smoke.pinned_gb_s > 0 && smoke.launch_us > 0);
}

/* 64 MiB in 50 ms are 1.34 GB/s; a loaded machine makes it less. */
static void measures_slow_copies(void **state)
{
	struct fw_smoke smoke = run("cuMemcpyHtoD_v2 slow 50", 60000);

	(void)state;
	assert_string_equal(smoke.failed, "");
	assert_true(smoke.pageable_gb_s > 0.3 && smoke.pageable_gb_s < 1.35);
	assert_true(smoke.pinned_gb_s > 0.3 && smoke.pinned_gb_s < 1.35);
}

static void names_the_call_and_the_error(void **state)
{
	static const struct {
		const char *script, *call, *error;
	} cases[] = {
		{ "cuInit fail 100", "cuInit", "CUDA_ERROR_NO_DEVICE (100)" },
		{ "cuDeviceGet fail 100", "cuDeviceGet", "CUDA_ERROR_NO_DEVICE" },
		{ "cuDevicePrimaryCtxRetain fail 2", "Retain", "CUDA_ERROR_OUT_OF_MEMORY (2)" },
		{ "cuCtxSetCurrent fail 999", "cuCtxSetCurrent", "999" },
		{ "cuMemAlloc_v2 fail 2", "cuMemAlloc of 64 MiB", "OUT_OF_MEMORY" },
		{ "cuMemAllocHost_v2 fail 2", "cuMemAllocHost", "OUT_OF_MEMORY" },
		{ "cuMemcpyHtoD_v2 fail 719", "cuMemcpyHtoD", "719" },
		{ "cuCtxSynchronize fail 700", "cuCtxSynchronize after a copy", "700" },
		{ "cuModuleLoadData fail 222", "PTX", "222" },
		{ "cuModuleGetFunction fail 500", "cuModuleGetFunction", "500" },
		{ "cuLaunchKernel fail 719", "cuLaunchKernel", "719" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fw_smoke smoke = run(cases[i].script, 30000);

		assert_non_null(strstr(smoke.failed, cases[i].call));
		assert_non_null(strstr(smoke.failed, cases[i].error));
	}
}

static void survives_a_driver_that_hangs(void **state)
{
	struct timespec start, end;
	struct fw_smoke smoke;

	(void)state;
	clock_gettime(CLOCK_MONOTONIC, &start);
	smoke = run("cuDevicePrimaryCtxRetain hang 0", 1000);
	clock_gettime(CLOCK_MONOTONIC, &end);
	assert_string_equal(smoke.failed, "the driver did not answer within 1 s");
	assert_in_range(end.tv_sec - start.tv_sec, 0, 10);
}

static void survives_a_driver_that_crashes(void **state)
{
	struct fw_smoke smoke = run("cuLaunchKernel crash 0", 30000);

	(void)state;
	assert_string_equal(smoke.failed,
			    "the process that tried it died in the driver (signal 9)");
}

static void check_says_problem_and_fix(void **state)
{
	struct fw_doctor_result result;
	struct fw_host host;

	(void)state;
	assert_int_equal(fw_host_open(&host, "/", NULL), FW_OK);
	result = (struct fw_doctor_result){ .host = &host };
	setenv("FW_FAKE_SMOKE", "cuInit fail 100", 1);
	fw_check_smoke(&host, &result);
	assert_int_equal(result.status, FW_DOCTOR_PROBLEM);
	assert_non_null(strstr(result.message, "cuInit: CUDA_ERROR_NO_DEVICE"));
	unsetenv("FW_FAKE_SMOKE");
	fw_check_smoke(&host, &result);
	assert_int_equal(result.status, FW_DOCTOR_OK);
	assert_non_null(strstr(result.message, "GB/s pinned"));
	fw_host_close(&host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(measures_what_works),
		cmocka_unit_test(measures_slow_copies),
		cmocka_unit_test(names_the_call_and_the_error),
		cmocka_unit_test(survives_a_driver_that_hangs),
		cmocka_unit_test(survives_a_driver_that_crashes),
		cmocka_unit_test(check_says_problem_and_fix),
	};

	return cmocka_run_group_tests(tests, open_fake, close_fake);
}
