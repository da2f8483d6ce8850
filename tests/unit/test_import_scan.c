/* The quick inner loops do what their plain twins do, on random text and on real traces. */
#include "import/scan.h"
#include "import/source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define PADDING 64

static uint64_t random_state = 88172645463325252u;

static uint32_t next_random(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32) % below;
}

static void compare_at(const char *text, size_t at, size_t len)
{
	const char *p = text + at, *end = text + len;
	bool quick = false, plain = false;

	assert_ptr_equal(fw_scan_string(p, &quick), fw_scan_string_plain(p, &plain));
	assert_int_equal(quick, plain);
	assert_ptr_equal(fw_scan_space(p), fw_scan_space_plain(p));
	assert_int_equal(fw_scan_short(p), fw_scan_short_plain(p));
	for (int is_object = 0; is_object < 2 && at; is_object++)
		assert_ptr_equal(fw_scan_closing(p, end, is_object),
				 fw_scan_closing_plain(p, end, is_object));
}

/* Text of the bytes that matter, now and then others; it starts with a bracket, and zeros follow. */
static void fill(char *text, size_t len, const char *bytes)
{
	memset(text, 0, len + PADDING);
	for (size_t i = 0; i < len; i++)
		text[i] = next_random(40) ? bytes[next_random((uint32_t)strlen(bytes))]
					  : (char)next_random(256);
	text[0] = '{';
}

static void random_text_gives_the_same(void **state)
{
	/* From bracket soup to mostly sound objects. */
	static const char *const kinds[] = { "{}[]\":, \n", "\"\"\":,a",      "aaaaaaaaaaaaaaaa\"",
					     "  \n\t\r",    "{}[]\":,\\\x01", "[1,2],[]",
					     "{:{}}" };

	(void)state;
	for (int round = 0; round < 4000; round++) {
		size_t len = 1 + next_random(300);
		/* Exactly as long as allowed, so that the sanitizer sees any read past the padding. */
		char *text = malloc(len + PADDING);

		assert_non_null(text);
		fill(text, len, kinds[next_random(7)]);
		for (int i = 0; i < 8; i++)
			compare_at(text, next_random((uint32_t)len), len);
		free(text);
	}
}

/* The comma before an item but the first, and the key of one in an object. */
static size_t put_key(char *p, size_t i, bool is_object)
{
	size_t n = 0;

	if (i)
		p[n++] = ',';
	if (next_random(2))
		p[n++] = '\n';
	if (is_object) {
		memcpy(p + n, "\"key\": ", 7);
		n += 7;
	}
	return n;
}

/* A random container that is well-formed: both find its end, or both have doubts. */
static size_t put_value(char *p, int depth)
{
	static const char *const leaves[] = { "1",    "-2.5",   "\"a b\"",  "\"\"",
					      "null", "\"[{\"", "\"x,y:z\"" };
	const char *leaf = leaves[next_random(7)];
	size_t n = 0, items = next_random(4);
	bool is_object = next_random(2);

	if (!depth || !next_random(3)) {
		memcpy(p, leaf, strlen(leaf));
		return strlen(leaf);
	}
	p[n++] = is_object ? '{' : '[';
	for (size_t i = 0; i < items; i++) {
		n += put_key(p + n, i, is_object);
		n += put_value(p + n, depth - 1);
	}
	p[n++] = is_object ? '}' : ']';
	return n;
}

static void sound_containers_end_where_they_end(void **state)
{
	char *text = malloc(1 << 16);
	size_t found = 0;

	(void)state;
	assert_non_null(text);
	for (int round = 0; round < 4000; round++) {
		size_t len;

		text[0] = '{';
		text[1] = '"';
		text[2] = 'k';
		text[3] = '"';
		text[4] = ':';
		len = 5 + put_value(text + 5, 4);
		text[len++] = '}';
		memset(text + len, 0, PADDING);
		assert_ptr_equal(fw_scan_closing(text + 1, text + len, true), text + len);
		compare_at(text, 1, len);
		found++;
	}
	assert_int_equal(found, 4000);
	free(text);
}

static char *read_all(const char *path, size_t *len)
{
	const size_t cap = 64 << 20;
	struct fw_source *source;
	char *text = malloc(cap + PADDING);
	size_t got = 1;

	*len = 0;
	assert_non_null(text);
	assert_int_equal(fw_source_open(&source, path, NULL), FW_OK);
	while (got && *len < cap) {
		assert_int_equal(fw_source_read(source, text + *len, cap - *len, &got, NULL),
				 FW_OK);
		*len += got;
	}
	fw_source_close(source);
	memset(text + *len, 0, PADDING);
	return text;
}

/* Every place behind an opening bracket, a quote or a line; the first bytes have a bracket. */
static void real_traces_give_the_same(void **state)
{
	static const char *const files[] = {
		"h200/before.json.gz",
		"TraceLens/h100__gaunernst_bert-small-uncased__1016001.json.gz",
		"kineto-tb/resnet50_profiler_api_num_workers_4.pt.trace.json.gz",
		"synthetic/bad_escape.json",
	};

	(void)state;
	if (access(FW_CORPUS "/groundtruth_all.tsv", R_OK)) {
		puts("no corpus at " FW_CORPUS);
		skip();
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char path[4096];
		size_t len, end;
		char *text;

		snprintf(path, sizeof(path), FW_CORPUS "/traces/%s", files[i]);
		text = read_all(path, &len);
		end = len < 1 << 20 ? len : 1 << 20;
		for (size_t at = 16; at < end; at++)
			if (strchr("{[\"\n", text[at - 1]) && text[at - 1])
				compare_at(text, at, at + 4096 < len ? at + 4096 : len);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_text_gives_the_same),
		cmocka_unit_test(sound_containers_end_where_they_end),
		cmocka_unit_test(real_traces_give_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
