#include "gpu/cuda.h"
#include "gpu/loader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct table {
	double (*cosine)(double);
	void (*absent)(void);
};

static void a_missing_library_is_named(void **state)
{
	struct fw_error err;
	void *handle;

	(void)state;
	assert_int_equal(fw_symbols_load("libfw-none.so.1", NULL, 0, NULL, &handle, &err),
			 FW_ERR_UNSUPPORTED);
	assert_non_null(strstr(err.message, "libfw-none.so.1"));
	assert_null(handle);
	fw_symbols_unload(handle);
}

static void a_missing_symbol_is_named_unless_optional(void **state)
{
	struct fw_symbol symbols[] = {
		{ "cos", offsetof(struct table, cosine), true },
		{ "fw_no_such_symbol", offsetof(struct table, absent), true },
	};
	struct table table = { 0 };
	struct fw_error err;
	void *handle;

	(void)state;
	assert_int_equal(fw_symbols_load("libm.so.6", symbols, 2, &table, &handle, &err),
			 FW_ERR_UNSUPPORTED);
	assert_string_equal(err.message, "libm.so.6: symbol fw_no_such_symbol is missing");
	assert_null(handle);

	symbols[1].required = false;
	assert_int_equal(fw_symbols_load("libm.so.6", symbols, 2, &table, &handle, &err), FW_OK);
	assert_null(table.absent);
	assert_true(table.cosine(0) == 1.0);
	fw_symbols_unload(handle);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_missing_library_is_named),
		cmocka_unit_test(a_missing_symbol_is_named_unless_optional),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
