#include "trace/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void strings_are_kept_once(void **state)
{
	struct fw_trace *t;
	uint32_t first = 0;

	(void)state;
	assert_int_equal(fw_trace_create(&t, NULL), FW_OK);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 5000; i++) {
			char name[32];
			uint32_t id;

			snprintf(name, sizeof(name), "kernel_%d", i);
			id = fw_trace_intern(t, name, strlen(name), NULL);
			if (!i)
				first = first ? first : id;
			assert_string_equal(fw_trace_text(t, id), name);
		}
	assert_int_equal(fw_trace_intern(t, "kernel_0", 8, NULL), first);
	assert_int_equal(t->strings.entries.len, 5001);
	fw_trace_destroy(t);
}

static void rows_are_found_by_their_keys(void **state)
{
	struct fw_shape shape = { { 1, 2, 3 }, { 4, 5, 6 }, 32, -1, -1, 1024, 0 };
	struct fw_trace *t;
	uint32_t d0, s;

	(void)state;
	assert_int_equal(fw_trace_create(&t, NULL), FW_OK);
	d0 = fw_trace_device(t, 0, 0);
	assert_int_equal(fw_trace_device(t, 0, 0), d0);
	assert_int_not_equal(fw_trace_device(t, 1, 0), d0);
	assert_int_not_equal(fw_trace_stream(t, d0, 7), FW_NONE);
	assert_int_equal(t->devices.cc[d0], -1);
	s = fw_trace_shape(t, &shape);
	assert_int_equal(fw_trace_shape(t, &shape), s);
	shape.registers = 33;
	assert_int_not_equal(fw_trace_shape(t, &shape), s);
	assert_int_equal(t->shapes.len, 2);
	fw_trace_destroy(t);
}

static void sealing_starts_at_zero_and_names_blind_spots(void **state)
{
	struct fw_trace *t;
	uint32_t op;

	(void)state;
	assert_int_equal(fw_trace_create(&t, NULL), FW_OK);
	op = fw_trace_add_ops(t);
	t->ops.stream[op] = fw_trace_stream(t, fw_trace_device(t, 0, 0), 7);
	t->ops.start_ns[op] = 5000;
	t->ops.end_ns[op] = 6001;
	t->epoch_ns = 100;
	fw_trace_seal(t);
	assert_int_equal(t->ops.start_ns[op], 0);
	assert_int_equal(t->ops.end_ns[op], 1001);
	assert_int_equal(t->epoch_ns, 5100);
	assert_true(t->blind_spots & 1u << FW_BLIND_NO_CALLS);
	assert_false(t->blind_spots & 1u << FW_BLIND_NO_GPU_OPS);
	assert_false(t->blind_spots & 1u << FW_BLIND_QUANTISED);
	fw_trace_destroy(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_are_kept_once),
		cmocka_unit_test(rows_are_found_by_their_keys),
		cmocka_unit_test(sealing_starts_at_zero_and_names_blind_spots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
