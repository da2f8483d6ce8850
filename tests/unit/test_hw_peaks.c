/* Peak rates by the names that people and drivers use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hw/peaks.h"

static void every_row_is_a_known_chip_with_sensible_rates(void **state)
{
	size_t n;
	const struct fw_hw_peak *all = fw_hw_peaks_all(&n), *found;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(fw_hw_peak_find(all[i].name, &found, NULL), FW_OK);
		assert_ptr_equal(found, &all[i]);
		assert_true(found->tensor_tflops > found->fp32_tflops && found->gb_s >= 300);
	}
}

static void a_driver_name_finds_the_row(void **state)
{
	const struct fw_hw_peak *found;

	(void)state;
	assert_int_equal(fw_hw_peak_find("NVIDIA H200", &found, NULL), FW_OK);
	/* NVIDIA's data sheet: 1,979 teraFLOPS with sparsity, half of it without; 4.8 TB/s. */
	assert_true(found->tensor_tflops > 989 && found->tensor_tflops < 990 &&
		    found->gb_s == 4800);
}

static void a_chip_without_peaks_is_refused_with_the_list(void **state)
{
	const struct fw_hw_peak *found;
	struct fw_error err;

	(void)state;
	assert_int_equal(fw_hw_peak_find("GTX 750", &found, &err), FW_ERR_UNSUPPORTED);
	assert_non_null(strstr(err.message, "H200"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_a_known_chip_with_sensible_rates),
		cmocka_unit_test(a_driver_name_finds_the_row),
		cmocka_unit_test(a_chip_without_peaks_is_refused_with_the_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
