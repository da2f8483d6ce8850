/* Images to planes: formats told apart, limits named, the orientation read from EXIF. */
#include "pipeline/image.h"
#include "pipeline/image_exif.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* TIFF 6.0, little-endian: header, a directory at 8 with one entry: tag 0x112, SHORT, 1 value: 6; no next one. */
static const uint8_t tiff[] = { 'I', 'I', 0x2a, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3,
				0,   1,   0,    0, 0, 6, 0, 0, 0, 0, 0,    0,    0 };
static const uint8_t big_endian[] = { 'M', 'M', 0, 0x2a, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0,
				      3,   0,   0, 0,    1, 0, 8, 0, 0, 0, 0,    0,    0 };

static void tells_formats_by_their_first_bytes(void **state)
{
	(void)state;
	assert_int_equal(fw_image_sniff("\xff\xd8\xff\xe0", 4), FW_IMAGE_JPEG);
	assert_int_equal(fw_image_sniff("\x89PNG\r\n\x1a\n", 8), FW_IMAGE_PNG);
	assert_int_equal(fw_image_sniff("\x89PNG\r\n\x1a\n", 7), FW_IMAGE_UNKNOWN);
	assert_int_equal(fw_image_sniff("GIF89a__", 8), FW_IMAGE_UNKNOWN);
	assert_int_equal(fw_image_sniff("", 0), FW_IMAGE_UNKNOWN);
}

static void reads_the_orientation_of_both_byte_orders(void **state)
{
	(void)state;
	assert_int_equal(fw_exif_orientation(tiff, sizeof(tiff)), 6);
	assert_int_equal(fw_exif_orientation(big_endian, sizeof(big_endian)), 8);
}

static void damaged_exif_is_a_picture_as_stored(void **state)
{
	uint8_t copy[sizeof(tiff)];

	(void)state;
	for (size_t size = 0; size < 22; size++)
		assert_int_equal(fw_exif_orientation(tiff, size), 1);
	memcpy(copy, tiff, sizeof(copy));
	copy[18] = 9; /* no such orientation */
	assert_int_equal(fw_exif_orientation(copy, sizeof(copy)), 1);
	memcpy(copy, tiff, sizeof(copy));
	copy[12] = 4; /* not a SHORT */
	assert_int_equal(fw_exif_orientation(copy, sizeof(copy)), 1);
	memcpy(copy, tiff, sizeof(copy));
	memset(copy + 4, 0xff, 4); /* the directory far past the end */
	assert_int_equal(fw_exif_orientation(copy, sizeof(copy)), 1);
}

static void refuses_what_is_no_image_and_what_is_cut(void **state)
{
	struct fw_image_limits limits;
	struct fw_image_decoder *decoder;
	struct fw_image image;
	struct fw_error err;
	uint8_t cell[64];

	(void)state;
	fw_image_limits_init(&limits);
	assert_int_equal(fw_image_decoder_open(&limits, &decoder, NULL), FW_OK);
	assert_int_equal(fw_image_decode(decoder, "GIF89a", 6, cell, sizeof(cell), &image, &err),
			 FW_ERR_FORMAT);
	assert_non_null(strstr(err.message, "not a JPEG"));
	assert_int_equal(
		fw_image_decode(decoder, "\xff\xd8\xff\xe0", 4, cell, sizeof(cell), &image, &err),
		FW_ERR_FORMAT);
	fw_image_decoder_close(decoder);
}

static void refuses_limits_without_meaning(void **state)
{
	struct fw_image_limits limits;
	struct fw_image_decoder *decoder;

	(void)state;
	fw_image_limits_init(&limits);
	limits.max_pixels = 0;
	assert_int_equal(fw_image_decoder_open(&limits, &decoder, NULL), FW_ERR_ARGUMENT);
	assert_null(decoder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_formats_by_their_first_bytes),
		cmocka_unit_test(reads_the_orientation_of_both_byte_orders),
		cmocka_unit_test(damaged_exif_is_a_picture_as_stored),
		cmocka_unit_test(refuses_what_is_no_image_and_what_is_cut),
		cmocka_unit_test(refuses_limits_without_meaning),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
