#include "base/arena.h"
#include "base/demangle.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json_writer.h"
#include "base/map.h"
#include "base/utf8.h"
#include "base/vec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void error_is_filled_and_cut(void **state)
{
	struct fw_error err;
	char long_text[600];

	(void)state;
	assert_int_equal(fw_fail(&err, FW_ERR_FORMAT, "at %d", 7), FW_ERR_FORMAT);
	assert_string_equal(err.message, "at 7");
	fw_error_prefix(&err, "file %s", "a");
	assert_string_equal(err.message, "file a: at 7");
	assert_int_equal(fw_fail(NULL, FW_ERR_IO, "x"), FW_ERR_IO);
	/* Escape sequences in names of files stay without effect; letters stay. */
	fw_fail(&err, FW_ERR_IO, "a\033[31m\xc2\x9b\x7f\n\xc3\xa9\xc2\xb5");
	assert_string_equal(err.message, "a?[31m????\xc3\xa9\xc2\xb5");
	fw_error_prefix(&err, "b\r");
	assert_string_equal(err.message, "b?: a?[31m????\xc3\xa9\xc2\xb5");
	memset(long_text, 'a', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	fw_fail(&err, FW_ERR_IO, "%s", long_text);
	assert_string_equal(err.message + sizeof(err.message) - 5, "a...");
}

static void arena_aligns_and_zeroes(void **state)
{
	struct fw_arena arena = { 0 };
	unsigned char *a = fw_arena_alloc(&arena, 3), *b = fw_arena_alloc(&arena, 100000);

	(void)state;
	assert_non_null(a);
	assert_int_equal((uintptr_t)b % _Alignof(max_align_t), 0);
	assert_int_equal(a[0] | a[2] | b[0] | b[99999], 0);
	assert_null(fw_arena_array(&arena, SIZE_MAX / 2, 3));
	assert_string_equal(fw_arena_printf(&arena, "%s-%d", "x", 5), "x-5");
	fw_arena_release(&arena);
	assert_int_equal(arena.bytes, 0);
}

static void arena_moves_large_blocks_to_files(void **state)
{
	struct fw_arena arena = { .spill_after = 4 << 20 };
	unsigned char *blocks[8];

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		blocks[i] = fw_arena_alloc(&arena, 2 << 20);
		assert_non_null(blocks[i]);
		for (size_t at = 0; at < 2 << 20; at += 4096)
			assert_int_equal(blocks[i][at], 0);
		memset(blocks[i], (int)i, 2 << 20);
	}
	assert_true(arena.bytes <= 4 << 20);
	assert_int_equal(blocks[7][(2 << 20) - 1], 7);
	assert_int_equal(blocks[3][0], 3);
	fw_arena_release(&arena);
}

static void map_keeps_every_key(void **state)
{
	struct fw_map map = { 0 };
	bool inserted;

	(void)state;
	for (uint64_t i = 0; i < 10000; i++)
		*fw_map_at(&map, i, i * 7, &inserted) = i + 1;
	for (uint64_t i = 0; i < 10000; i++) {
		uint64_t *v = fw_map_find(&map, i, i * 7);

		assert_non_null(v);
		assert_int_equal(*v, i + 1);
		assert_null(fw_map_find(&map, i, i * 7 + 1));
	}
	fw_map_at(&map, 3, 21, &inserted);
	assert_false(inserted);
	fw_map_release(&map);
}

static void json_is_valid_whatever_the_bytes(void **state)
{
	struct fw_str out = { 0 };
	struct fw_json json = { .out = &out };

	(void)state;
	fw_json_begin_object(&json, NULL);
	fw_json_string(&json, "a\"b", "\x01\xff\xc3\xa9\\\xc2\x9b");
	fw_json_begin_array(&json, "n");
	fw_json_int(&json, NULL, INT64_MIN);
	fw_json_uint(&json, NULL, UINT64_MAX);
	fw_json_double(&json, NULL, 0.5);
	fw_json_double(&json, NULL, 1.0 / 0.0);
	fw_json_null(&json, NULL);
	fw_json_bool(&json, NULL, true);
	fw_json_end_array(&json);
	fw_json_begin_object(&json, "empty");
	fw_json_end_object(&json);
	fw_json_end_object(&json);
	assert_string_equal(
		fw_str_text(&out),
		"{\"a\\\"b\":\"\\u0001\\ufffd\xc3\xa9\\\\\\u009b\",\"n\":[-9223372036854775808,"
		"18446744073709551615,0.5,null,null,true],\"empty\":{}}");
	fw_str_release(&out);
}

/* ESC, DEL, U+009B (a C1 control that begins a sequence), U+202E (right to left). */
static void utf8_tells_what_a_terminal_must_not_get(void **state)
{
	(void)state;
	assert_int_equal(fw_utf8_printable("\x1b", 1), 0);
	assert_int_equal(fw_utf8_printable("\n", 1), 0);
	assert_int_equal(fw_utf8_printable("\x7f", 1), 0);
	assert_int_equal(fw_utf8_printable("\xc2\x9b", 2), 0);
	assert_int_equal(fw_utf8_printable("\xe2\x80\xae", 3), 0);
	assert_int_equal(fw_utf8_printable("\xff", 1), 0);
	assert_int_equal(fw_utf8_printable("a", 1), 1);
	assert_int_equal(fw_utf8_printable("\xc2\xa0", 2), 2);
	assert_int_equal(fw_utf8_printable("\xe4\xbd\xa0", 3), 3);
}

static void utf8_refuses_what_rfc3629_refuses(void **state)
{
	(void)state;
	assert_int_equal(fw_utf8_length("\xc0\x80", 2), 0);         /* overlong NUL */
	assert_int_equal(fw_utf8_length("\xed\xa0\x80", 3), 0);     /* surrogate */
	assert_int_equal(fw_utf8_length("\xf4\x90\x80\x80", 4), 0); /* past U+10FFFF */
	assert_int_equal(fw_utf8_length("\xe4\xb8", 2), 0);         /* cut */
	assert_int_equal(fw_utf8_length("\xe4\xb8\xad", 3), 3);
	assert_int_equal(fw_utf8_width("a\xe4\xb8\xad", 4), 3);
	assert_int_equal(fw_utf8_cut("\xe4\xb8\xad\xe4\xb8\xad", 6, 3), 3);
}

static void demangles_static_internal_names(void **state)
{
	struct fw_arena arena = { 0 };

	(void)state;
	assert_string_equal(fw_demangle(&arena, "_Z3addPfi"), "add(float*, int)");
	assert_string_equal(fw_demangle(&arena, "plain"), "plain");
	assert_string_equal(fw_demangle(&arena, "_Zgarbage"), "_Zgarbage");
	/* 28 characters, as occupancy.md section 3.5 describes them */
	assert_string_equal(
		fw_demangle(&arena, "__nv_static_28__aaaaaaaaaaaaaaaaaaaaaaaaaaaa__Z3addPfi"),
		"add(float*, int)");
	assert_string_equal(fw_demangle(&arena, "__nv_static_99__a"), "__nv_static_99__a");
	fw_arena_release(&arena);
}

static void file_refuses_what_is_no_file(void **state)
{
	struct fw_file file;
	struct fw_error err;

	(void)state;
	assert_int_equal(fw_file_open(&file, "/nonexistent/x", &err), FW_ERR_IO);
	assert_string_equal(err.message, "/nonexistent/x: No such file or directory");
	assert_int_equal(fw_file_open(&file, "/", &err), FW_ERR_UNSUPPORTED);
	assert_int_equal(fw_file_open(&file, FW_SOURCE "/CMakeLists.txt", &err), FW_OK);
	assert_memory_equal(file.data, "cmake_minimum", 13);
	fw_file_close(&file);
	fw_file_close(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(error_is_filled_and_cut),
		cmocka_unit_test(arena_aligns_and_zeroes),
		cmocka_unit_test(arena_moves_large_blocks_to_files),
		cmocka_unit_test(map_keeps_every_key),
		cmocka_unit_test(json_is_valid_whatever_the_bytes),
		cmocka_unit_test(utf8_refuses_what_rfc3629_refuses),
		cmocka_unit_test(utf8_tells_what_a_terminal_must_not_get),
		cmocka_unit_test(demangles_static_internal_names),
		cmocka_unit_test(file_refuses_what_is_no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
