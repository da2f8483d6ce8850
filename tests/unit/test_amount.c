/* Times, bytes and rates as people read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/amount.h"

struct row {
	int64_t value;
	const char *text;
};

static void times_have_the_unit_that_reads_best(void **state)
{
	static const struct row rows[] = {
		{ -1, "unknown" },         { 0, "0" },
		{ 999, "999 ns" },         { 1000, "1.00 us" },
		{ 9994, "9.99 us" },       { 9995, "10 us" },
		{ 999499, "999 us" },      { 999500, "1.00 ms" },
		{ 9994999, "9.99 ms" },    { 9995000, "10.0 ms" },
		{ 976400000, "976.4 ms" }, { 9999949999, "9999.9 ms" },
		{ 9999950000, "10.00 s" }, { 12345678901, "12.35 s" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(fw_amount_time(rows[i].value).text, rows[i].text);
}

static void bytes_never_need_an_exponent(void **state)
{
	static const struct row rows[] = {
		{ -1, "unknown" },
		{ 0, "0 B" },
		{ 104, "104 B" },
		{ 999, "999 B" },
		{ 1000, "1.00 kB" },
		{ 12345, "12.3 kB" },
		{ 963000000, "963 MB" },
		{ 999499999, "999 MB" },
		{ 999500000, "1.00 GB" },
		{ 1970000000, "1.97 GB" },
		{ INT64_C(80000000000), "80.0 GB" },
		{ INT64_C(5000000000000000), "5000 TB" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(fw_amount_bytes(rows[i].value).text, rows[i].text);
}

static void rates_are_bytes_in_a_second(void **state)
{
	(void)state;
	/* 963 MB in 17.5 ms: 55.03 GB/s; 104 B in 42 us: 2.476 MB/s; 1 B in 2 s. */
	assert_string_equal(fw_amount_rate(963000000, 17500000).text, "55.0 GB/s");
	assert_string_equal(fw_amount_rate(104, 42000).text, "2.48 MB/s");
	assert_string_equal(fw_amount_rate(1, 2000000000).text, "0.50 B/s");
	assert_string_equal(fw_amount_rate(-1, 1).text, "unknown");
	assert_string_equal(fw_amount_rate(1, 0).text, "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_have_the_unit_that_reads_best),
		cmocka_unit_test(bytes_never_need_an_exponent),
		cmocka_unit_test(rates_are_bytes_in_a_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
