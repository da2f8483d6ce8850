/* The CRC of a recording's chunks is that of zlib, at every alignment and length, in one piece and in two. */
#include "trace/recording_write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>
#include <zlib.h>

static void equals_zlib(void **state)
{
	uint8_t bytes[600];

	(void)state;
	srand(1);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)rand();
	for (size_t from = 0; from < 9; from++)
		for (size_t size = 0; size + from <= sizeof(bytes); size++) {
			uint32_t whole = fw_rec_crc(0, bytes + from, size);
			uint32_t half = fw_rec_crc(0, bytes + from, size / 3);

			assert_int_equal(whole, crc32(0, bytes + from, (uInt)size));
			assert_int_equal(fw_rec_crc(half, bytes + from + size / 3, size - size / 3),
					 whole);
		}
	/* The check value of CRC-32/ISO-HDLC. */
	assert_int_equal(fw_rec_crc(0, "123456789", 9), 0xcbf43926);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(equals_zlib) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
