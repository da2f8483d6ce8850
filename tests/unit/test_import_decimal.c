#include "import/decimal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void reads(const char *text, int scale, int64_t expected)
{
	int64_t value = -77;

	if (fw_decimal_parse(text, strlen(text), scale, &value) != FW_DECIMAL_OK)
		fail_msg("%s is refused", text);
	if (value != expected)
		fail_msg("%s gives %lld, expected %lld", text, (long long)value,
			 (long long)expected);
}

static void refuses(const char *text, enum fw_decimal_result why)
{
	int64_t value = -77;

	if (fw_decimal_parse(text, strlen(text), 3, &value) != why || value != -77)
		fail_msg("%s is not refused as expected", text);
}

static void microseconds_become_nanoseconds_exactly(void **state)
{
	(void)state;
	reads("0", 3, 0);
	reads("5181815573169.072", 3, INT64_C(5181815573169072));
	reads("1669783687464181", 3, INT64_C(1669783687464181000));
	/* A double has 0.25 us here. */
	reads("1709000000123456.789", 3, INT64_C(1709000000123456789));
	reads("-0.001", 3, -1);
	reads("1.5e3", 3, 1500000);
	reads("12e-1", 3, 1200);
	reads("1E+2", 3, 100000);
	reads("0.0000000000000000000000000000000000000000001e43", 3, 1000);
	reads("00007", 0, 7);
	reads(".5", 3, 500);
	reads("5.", 3, 5000);
}

static void halves_go_to_the_even_neighbour(void **state)
{
	(void)state;
	reads("0.0005", 3, 0);
	reads("0.0015", 3, 2);
	reads("0.0025", 3, 2);
	reads("-0.0015", 3, -2);
	reads("0.00250000000000000000000000000000001", 3, 3);
	reads("0.0024999999999999999999999999999999", 3, 2);
	reads("1234.56789", 3, 1234568);
	reads("5e-4", 3, 0);
	reads("5e-5", 3, 0);
	reads("9.9995", 3, 10000);
	reads("2.5", 0, 2);
	reads("3.5", 0, 4);
}

static void what_is_no_number_is_refused(void **state)
{
	static const char *const texts[] = {
		"",    "-",    "NaN", "inf", "N/A",   "1.2.3", "1e",
		"1e+", "0x10", "12a", "1 2", "1e2.0", ".",     "true"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		refuses(texts[i], FW_DECIMAL_NOT_A_NUMBER);
}

static void values_beyond_the_bound_are_refused(void **state)
{
	(void)state;
	/* 2^61 = 2305843009213693952 */
	reads("2305843009213693.952", 3, INT64_C(1) << 61);
	reads("-2305843009213693.952", 3, -(INT64_C(1) << 61));
	refuses("2305843009213693.953", FW_DECIMAL_OUT_OF_RANGE);
	refuses("2305843009213693.9525000001", FW_DECIMAL_OUT_OF_RANGE);
	refuses("18446744073709551615", FW_DECIMAL_OUT_OF_RANGE);
	refuses("1e99999999999999999999", FW_DECIMAL_OUT_OF_RANGE);
	reads("0e99999999999999999999", 3, 0);
	reads("1e-99999999999999999999", 3, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(microseconds_become_nanoseconds_exactly),
		cmocka_unit_test(halves_go_to_the_even_neighbour),
		cmocka_unit_test(what_is_no_number_is_refused),
		cmocka_unit_test(values_beyond_the_bound_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
