/*
 * Which driver runs which CUDA. Expected values: CUDA Toolkit Release Notes, table "CUDA Toolkit and
 * Corresponding Driver Versions", Linux:
 *   13.1 GA 590.44.01   13.0 GA 580.65.06   12.9 GA 575.51.03   12.8 GA 570.26      12.6 GA 560.28.03
 *   12.4 GA 550.54.14   12.3 GA 545.23.06   12.2 GA 535.54.03   12.0 GA 525.60.13   11.8 GA 520.61.05
 *   11.4 GA 470.42.01   11.1 GA 455.23      11.0.2 GA 450.51.05
 * and "Minimum Required Driver Version for CUDA Minor Version Compatibility": 13.x >= 580,
 * 12.x >= 525.60.13, 11.x >= 450.80.02.
 */
#include "hw/cuda_versions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static enum fw_cuda_fit fit(unsigned cuda, const char *driver)
{
	struct fw_driver_version version;

	assert_true(fw_driver_version_parse(driver, &version));
	return fw_hw_cuda_fit(cuda, &version);
}

static void the_native_driver_and_newer_have_all(void **state)
{
	(void)state;
	assert_int_equal(fit(131, "590.44.01"), FW_CUDA_FIT_NATIVE);
	assert_int_equal(fit(130, "580.65.06"), FW_CUDA_FIT_NATIVE);
	assert_int_equal(fit(130, "580.159.04"), FW_CUDA_FIT_NATIVE);
	assert_int_equal(fit(128, "570.26"), FW_CUDA_FIT_NATIVE);
	assert_int_equal(fit(128, "570.124.06"), FW_CUDA_FIT_NATIVE);
	assert_int_equal(fit(124, "550.54.14"), FW_CUDA_FIT_NATIVE);
	assert_int_equal(fit(120, "525.60.13"), FW_CUDA_FIT_NATIVE);
	assert_int_equal(fit(118, "580.65.06"), FW_CUDA_FIT_NATIVE);
	assert_int_equal(fit(110, "450.51.05"), FW_CUDA_FIT_NATIVE);
}

static void within_a_major_version_an_older_driver_has_a_part(void **state)
{
	(void)state;
	/* The article's pair: 535.104.05 is the driver of 12.2, and 12.3 runs on it in part. */
	assert_int_equal(fit(123, "535.104.05"), FW_CUDA_FIT_MINOR);
	assert_int_equal(fit(128, "525.60.13"), FW_CUDA_FIT_MINOR);
	assert_int_equal(fit(128, "550.54.14"), FW_CUDA_FIT_MINOR);
	assert_int_equal(fit(131, "580.65.06"), FW_CUDA_FIT_MINOR);
	assert_int_equal(fit(118, "450.80.02"), FW_CUDA_FIT_MINOR);
}

static void below_the_floor_only_cuda_compat_helps_or_nothing(void **state)
{
	(void)state;
	assert_int_equal(fit(128, "525.60.12"), FW_CUDA_FIT_TOO_OLD);
	assert_int_equal(fit(120, "520.61.05"), FW_CUDA_FIT_TOO_OLD);
	assert_int_equal(fit(118, "450.80.01"), FW_CUDA_FIT_TOO_OLD);
	assert_int_equal(fit(130, "560.35.05"), FW_CUDA_FIT_TOO_OLD);
	/* Branches that NVIDIA_REQUIRE_CUDA of NVIDIA's images admits. */
	assert_int_equal(fit(130, "535.104.05"), FW_CUDA_FIT_FORWARD);
	assert_int_equal(fit(131, "570.124.06"), FW_CUDA_FIT_FORWARD);
	assert_int_equal(fit(128, "470.256.02"), FW_CUDA_FIT_FORWARD);
}

static void a_version_that_is_not_in_the_table_is_unknown(void **state)
{
	(void)state;
	assert_int_equal(fit(127, "570.26"), FW_CUDA_FIT_UNKNOWN);
	assert_int_equal(fit(140, "999.99"), FW_CUDA_FIT_UNKNOWN);
	assert_null(fw_hw_cuda_native_driver(127));
	assert_string_equal(fw_hw_cuda_floor_driver(127), "525.60.13");
	assert_null(fw_hw_cuda_floor_driver(140));
}

static void versions_have_two_parts_at_least(void **state)
{
	struct fw_driver_version version;

	(void)state;
	assert_true(fw_driver_version_parse("525.60.13 and more", &version));
	assert_int_equal(version.part[2], 13);
	assert_true(fw_driver_version_parse("570.26", &version));
	assert_int_equal(version.part[2], 0);
	assert_false(fw_driver_version_parse("570", &version));
	assert_false(fw_driver_version_parse("", &version));
	assert_false(fw_driver_version_parse("x570.26", &version));
	assert_false(fw_driver_version_parse("9999999999.1", &version));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_native_driver_and_newer_have_all),
		cmocka_unit_test(within_a_major_version_an_older_driver_has_a_part),
		cmocka_unit_test(below_the_floor_only_cuda_compat_helps_or_nothing),
		cmocka_unit_test(a_version_that_is_not_in_the_table_is_unknown),
		cmocka_unit_test(versions_have_two_parts_at_least),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
