/* The choice of an engine by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nn/engine.h"

static void an_unknown_name_is_refused(void **state)
{
	struct fw_nn_engine_options options = { .name = "tensorrt" };
	struct fw_nn_engine *engine = NULL;
	struct fw_error err;

	(void)state;
	assert_int_equal(fw_nn_engine_open(&options, &engine, &err), FW_ERR_ARGUMENT);
	assert_non_null(strstr(err.message, "tensorrt"));
	assert_null(engine);
	assert_false(fw_nn_engine_is_built_in("tensorrt"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unknown_name_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
