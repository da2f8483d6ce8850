#include "trace/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Rows with a value that tells which they are, in two tables that grow by turns. */
static void fill(struct fw_trace *t, uint32_t rows)
{
	for (uint32_t i = 0; i < rows; i++) {
		uint32_t op = fw_trace_add_ops(t), range = fw_trace_add_ranges(t);

		assert_int_equal(op, i);
		assert_int_equal(range, i);
		assert_int_equal(t->ops.corr[op], 0);
		assert_int_equal(t->ranges.kind[range], 0);
		t->ops.corr[op] = (int64_t)i * 3;
		t->ops.owner[op] = (uint8_t)i;
		t->ranges.kind[range] = (uint8_t)(i * 7);
	}
}

static void columns_past_the_limit_lie_in_files_and_keep_their_rows(void **state)
{
	const uint32_t rows = 200000;
	struct fw_trace *t;

	(void)state;
	assert_int_equal(fw_trace_create(&t, NULL), FW_OK);
	fw_trace_limit_memory(t, 1 << 20);
	fill(t, rows);
	assert_true(t->columns.used <= 1 << 20);
	assert_true(t->columns.spilled.len > 0);
	for (uint32_t i = 0; i < rows; i++) {
		assert_int_equal(t->ops.corr[i], (int64_t)i * 3);
		assert_int_equal(t->ops.owner[i], (uint8_t)i);
		assert_int_equal(t->ranges.kind[i], (uint8_t)(i * 7));
	}
	fw_trace_destroy(t);
}

static void a_folder_that_takes_no_file_is_a_clean_error(void **state)
{
	struct fw_error err = { FW_OK, "" };
	struct fw_trace *t;
	uint32_t row = 0;

	(void)state;
	assert_int_equal(setenv("TMPDIR", "/nonexistent/folder", 1), 0);
	assert_int_equal(fw_trace_create(&t, NULL), FW_OK);
	fw_trace_limit_memory(t, 1 << 20);
	for (uint32_t i = 0; i < 200000 && row != FW_NONE; i++)
		row = fw_trace_add_ops(t);
	assert_int_equal(row, FW_NONE);
	assert_int_equal(fw_trace_fail_growth(t, &err), FW_ERR_IO);
	assert_non_null(strstr(err.message, "/nonexistent/folder: No such file"));
	fw_trace_destroy(t);
	unsetenv("TMPDIR");
}

static void filtering_closes_the_gaps(void **state)
{
	const uint8_t drop[] = { 0, 1, 0, 1, 1, 0 };
	struct fw_trace *t;

	(void)state;
	assert_int_equal(fw_trace_create(&t, NULL), FW_OK);
	fill(t, 8);
	fw_trace_filter_ops(t, 2, drop);
	assert_int_equal(t->ops.len, 5);
	assert_int_equal(t->ops.corr[1], 3);
	assert_int_equal(t->ops.corr[2], 6);
	assert_int_equal(t->ops.corr[3], 12);
	assert_int_equal(t->ops.owner[4], 7);
	fw_trace_destroy(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_are_kept_once),
		cmocka_unit_test(rows_are_found_by_their_keys),
		cmocka_unit_test(columns_past_the_limit_lie_in_files_and_keep_their_rows),
		cmocka_unit_test(a_folder_that_takes_no_file_is_a_clean_error),
		cmocka_unit_test(filtering_closes_the_gaps),
		cmocka_unit_test(sealing_starts_at_zero_and_names_blind_spots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
