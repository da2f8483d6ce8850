/* Bodies of requests: the budget that they share, what is too much, what is compressed; and base64. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>
#include <zlib.h>

#include "serve/base64.h"
#include "serve/body.h"

#define KIB ((size_t)1024)

static struct fw_bodies bodies;
static struct fw_error err;
static unsigned char zeros[1 << 20];

static int set_up(void **state)
{
	(void)state;
	return fw_bodies_open(&bodies, 4, 200 * KIB, 256 * KIB, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	assert_int_equal(atomic_load(&bodies.used), 0);
	fw_bodies_close(&bodies);
	return 0;
}

static void takes_from_the_budget_what_has_come(void **state)
{
	struct fw_body a, b;

	(void)state;
	fw_body_init(&a, &bodies, 0);
	fw_body_init(&b, &bodies, 3);
	assert_int_equal(atomic_load(&bodies.used), 0);
	assert_int_equal(fw_body_append(&a, "x", 1, &err), FW_OK);
	assert_int_equal(atomic_load(&bodies.used), 64 * KIB);
	assert_int_equal(fw_body_append(&a, zeros, 64 * KIB - 1, &err), FW_OK);
	assert_int_equal(atomic_load(&bodies.used), 64 * KIB);
	assert_int_equal(fw_body_append(&a, zeros, 1, &err), FW_OK);
	assert_int_equal(atomic_load(&bodies.used), 128 * KIB);
	assert_int_equal(fw_body_append(&b, zeros, 128 * KIB, &err), FW_OK);
	/* Nothing is left for either. */
	assert_int_equal(fw_body_append(&b, "x", 1, &err), FW_ERR_NOMEM);
	assert_int_equal(fw_body_status(FW_ERR_NOMEM), 503);
	assert_int_equal(fw_body_append(&a, zeros, 63 * KIB, &err), FW_OK);
	fw_body_release(&b);
	assert_int_equal(atomic_load(&bodies.used), 128 * KIB);
	assert_int_equal(a.bytes[0], 'x');
	assert_int_equal(a.size, 127 * KIB + 1);
	fw_body_release(&a);
	fw_body_release(&a);
}

static void refuses_more_than_one_may_be(void **state)
{
	struct fw_body body;

	(void)state;
	fw_body_init(&body, &bodies, 1);
	assert_int_equal(fw_body_append(&body, zeros, 200 * KIB, &err), FW_OK);
	assert_int_equal(fw_body_append(&body, "x", 1, &err), FW_ERR_UNSUPPORTED);
	assert_non_null(strstr(err.message, "larger than the 204800 bytes"));
	assert_int_equal(fw_body_append(&body, zeros, SIZE_MAX, &err), FW_ERR_UNSUPPORTED);
	assert_int_equal(fw_body_status(FW_ERR_UNSUPPORTED), 413);
	assert_int_equal(fw_body_resize(&body, 200 * KIB + 1, &err), FW_ERR_UNSUPPORTED);
	fw_body_release(&body);
}

static void refuses_more_space_than_there_is(void **state)
{
	struct fw_bodies many;

	(void)state;
	assert_int_equal(fw_bodies_open(&many, 1 << 16, (size_t)1 << 40, 1, &err), FW_ERR_ARGUMENT);
	assert_int_equal(fw_bodies_open(&many, 1, SIZE_MAX, 1, &err), FW_ERR_ARGUMENT);
}

/* By zlib itself; windowBits 15: zlib, 31: gzip. */
static size_t compress_to(unsigned char *to, size_t cap, const void *from, size_t size, int bits)
{
	z_stream z = { .next_in = (z_const Bytef *)(uintptr_t)from, .avail_in = (uInt)size };

	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_out = to;
	z.avail_out = (uInt)cap;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return cap - z.avail_out;
}

/* The status of a body that comes in pieces of `piece` bytes; *size: what came out. */
static fw_status inflate_in_pieces(const unsigned char *bytes, size_t len, size_t piece,
				   size_t *size)
{
	struct fw_body body;
	fw_status status;

	fw_body_init(&body, &bodies, 2);
	status = fw_body_compressed(&body, &err);
	for (size_t at = 0; at < len && !status; at += piece)
		status = fw_body_append(&body, bytes + at, len - at < piece ? len - at : piece,
					&err);
	if (!status)
		status = fw_body_end(&body, &err);
	*size = body.size;
	fw_body_release(&body);
	return status;
}

static void inflates_whatever_the_pieces(void **state)
{
	static const size_t pieces[] = { 1, 7, 100, SIZE_MAX / 2 };
	unsigned char packed[4096];

	(void)state;
	for (int bits = 15; bits <= 31; bits += 16) {
		for (size_t i = 0; i < 4; i++) {
			size_t n = compress_to(packed, sizeof(packed), zeros, 200 * KIB, bits),
			       size;

			/* To the last byte that is allowed, and one more. */
			assert_int_equal(inflate_in_pieces(packed, n, pieces[i], &size), FW_OK);
			assert_int_equal(size, 200 * KIB);
			n = compress_to(packed, sizeof(packed), zeros, 200 * KIB + 1, bits);
			assert_int_equal(inflate_in_pieces(packed, n, pieces[i], &size),
					 FW_ERR_UNSUPPORTED);
			n = compress_to(packed, sizeof(packed), zeros, sizeof(zeros), bits);
			assert_int_equal(inflate_in_pieces(packed, n, pieces[i], &size),
					 FW_ERR_UNSUPPORTED);
			assert_true(size <= 200 * KIB);
			n = compress_to(packed, sizeof(packed), "text", 4, bits);
			assert_int_equal(inflate_in_pieces(packed, n, pieces[i], &size), FW_OK);
			assert_int_equal(size, 4);
			assert_int_equal(inflate_in_pieces(packed, n - 1, pieces[i], &size),
					 FW_ERR_FORMAT);
			packed[n] = 0;
			assert_int_equal(inflate_in_pieces(packed, n + 1, pieces[i], &size),
					 FW_ERR_FORMAT);
			packed[n - 1] ^= 1; /* of the checksum or the length */
			assert_int_equal(inflate_in_pieces(packed, n, pieces[i], &size),
					 FW_ERR_FORMAT);
			assert_int_equal(inflate_in_pieces((const unsigned char *)"plain", 5,
							   pieces[i], &size),
					 FW_ERR_FORMAT);
			assert_int_equal(inflate_in_pieces(packed, 0, pieces[i], &size),
					 FW_ERR_FORMAT);
		}
	}
}

/* RFC 4648, section 10, and what is no base64. */
static void reads_base64(void **state)
{
	static const char *const rows[][2] = {
		{ "", "" },
		{ "Zg==", "f" },
		{ "Zm8=", "fo" },
		{ "Zm9v", "foo" },
		{ "Zm9vYg==", "foob" },
		{ "Zm9vYmE=", "fooba" },
		{ "Zm9vYmFy", "foobar" },
		{ "Zg", "f" },
		{ "Zm9vYmE", "fooba" },
	};
	static const char *const wrong[] = { "Z",    "Zm9vY", "Zg=",    "Z===", "=",
					     "====", "Zm 9v", "Zm9v\n", "Zm9-", "Zg==Zg==" };
	char text[32];
	size_t size;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(text, sizeof(text), "%s", rows[i][0]);
		/* Where it lies. */
		assert_true(fw_base64_decode(text, strlen(text), (unsigned char *)text, &size));
		assert_int_equal(size, strlen(rows[i][1]));
		assert_memory_equal(text, rows[i][1], size);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(text, sizeof(text), "%s", wrong[i]);
		assert_false(fw_base64_decode(text, strlen(text), (unsigned char *)text, &size));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(takes_from_the_budget_what_has_come, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(refuses_more_than_one_may_be, set_up, tear_down),
		cmocka_unit_test(refuses_more_space_than_there_is),
		cmocka_unit_test_setup_teardown(inflates_whatever_the_pieces, set_up, tear_down),
		cmocka_unit_test(reads_base64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
