/* Images to planes: formats told apart, limits named, the orientation read from EXIF. */
#include "pipeline/image.h"
#include "pipeline/image_exif.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jpeglib.h>

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

/* A JPEG of a diagonal gradient, 4:2:0; the caller frees it. */
static uint8_t *make_jpeg(uint32_t width, uint32_t height, bool is_progressive, size_t *size)
{
	struct jpeg_compress_struct jpeg;
	struct jpeg_error_mgr errors;
	unsigned char *bytes = NULL;
	unsigned long n = 0;
	JSAMPROW row = malloc((size_t)width * 3);

	jpeg.err = jpeg_std_error(&errors);
	jpeg_create_compress(&jpeg);
	jpeg_mem_dest(&jpeg, &bytes, &n);
	jpeg.image_width = width;
	jpeg.image_height = height;
	jpeg.input_components = 3;
	jpeg.in_color_space = JCS_RGB;
	jpeg_set_defaults(&jpeg);
	if (is_progressive)
		jpeg_simple_progression(&jpeg);
	jpeg_start_compress(&jpeg, TRUE);
	while (jpeg.next_scanline < height) {
		for (uint32_t i = 0; i < width * 3; i++)
			row[i] = (uint8_t)(i * 2 + jpeg.next_scanline * 3);
		jpeg_write_scanlines(&jpeg, &row, 1);
	}
	jpeg_finish_compress(&jpeg);
	jpeg_destroy_compress(&jpeg);
	free(row);
	*size = n;
	return bytes;
}

/* Decodes under limits into a heap cell of exactly cell_bytes, so that the address sanitizer sees a write past it. */
static fw_status decode(const struct fw_image_limits *limits, const uint8_t *bytes, size_t size,
			size_t cell_bytes, struct fw_image *image, struct fw_error *err)
{
	struct fw_image_decoder *decoder;
	uint8_t *cell = malloc(cell_bytes);
	fw_status status;

	assert_non_null(cell);
	assert_int_equal(fw_image_decoder_open(limits, &decoder, NULL), FW_OK);
	status = fw_image_decode(decoder, bytes, size, cell, cell_bytes, image, err);
	fw_image_decoder_close(decoder);
	free(cell);
	return status;
}

static void describes_planes_at_their_own_resolution(void **state)
{
	struct fw_image_limits limits;
	struct fw_image image;
	size_t size;
	uint8_t *jpeg = make_jpeg(101, 67, false, &size);

	(void)state;
	fw_image_limits_init(&limits);
	/* 7 x 5 macroblocks of 16: luma 13 x 9 blocks in rows of 128 bytes, chroma 7 x 5 blocks in rows of 64. */
	size_t exact = 128 * 72 + 2 * 64 * 40;
	assert_int_equal(decode(&limits, jpeg, size, exact, &image, NULL), FW_OK);
	assert_int_equal(image.kind, FW_IMAGE_YCBCR);
	assert_int_equal(image.n_planes, 3);
	assert_int_equal(image.planes[0].width, 101);
	assert_int_equal(image.planes[1].width, 51);
	assert_int_equal(image.planes[2].height, 34);
	assert_int_equal(decode(&limits, jpeg, size, exact - 1, &image, NULL), FW_ERR_UNSUPPORTED);
	free(jpeg);
}

static void scales_down_while_the_short_side_is_kept(void **state)
{
	/* The short side 67 at 4/8 is 34, at 2/8 17, at 1/8 9. */
	static const struct {
		uint32_t least, num, height;
	} cases[] = { { 0, 8, 67 },  { 35, 8, 67 }, { 34, 4, 34 }, { 18, 4, 34 },
		      { 17, 2, 17 }, { 9, 1, 9 },   { 1, 1, 9 } };
	struct fw_image_limits limits;
	struct fw_image image;
	size_t size;
	uint8_t *jpeg = make_jpeg(101, 67, false, &size);

	(void)state;
	fw_image_limits_init(&limits);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		limits.min_short_side = limits.wanted_short_side = cases[i].least;
		assert_int_equal(decode(&limits, jpeg, size, 1 << 20, &image, NULL), FW_OK);
		assert_int_equal(image.scale_num * 8 / image.scale_den, cases[i].num);
		assert_int_equal(image.height, cases[i].height);
		assert_int_equal(image.source_height, 67);
	}
	free(jpeg);
}

static void is_reduced_only_as_far_as_the_cell_needs(void **state)
{
	/* 14336 bytes whole, see above. */
	static const struct {
		size_t cell_bytes;
		uint32_t least, num;
	} cases[] = { { 14336, 1, 8 }, { 14335, 1, 4 }, { 14335, 34, 4 } };
	struct fw_image_limits limits;
	struct fw_image image;
	size_t size;
	uint8_t *jpeg = make_jpeg(101, 67, false, &size);

	(void)state;
	fw_image_limits_init(&limits);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		limits.min_short_side = cases[i].least;
		assert_int_equal(decode(&limits, jpeg, size, cases[i].cell_bytes, &image, NULL),
				 FW_OK);
		assert_int_equal(image.scale_num * 8 / image.scale_den, cases[i].num);
	}
	limits.min_short_side = 35; /* half would be 34 */
	assert_int_equal(decode(&limits, jpeg, size, 14335, &image, NULL), FW_ERR_UNSUPPORTED);
	free(jpeg);
}

static void expect_refusal(const struct fw_image_limits *limits, bool is_progressive,
			   fw_status status, const char *words)
{
	struct fw_image image;
	struct fw_error err;
	size_t size;
	uint8_t *jpeg = make_jpeg(320, 240, is_progressive, &size);

	assert_int_equal(decode(limits, jpeg, size, 1 << 20, &image, &err), status);
	assert_non_null(strstr(err.message, words));
	free(jpeg);
}

static void names_the_limit_that_was_reached(void **state)
{
	struct fw_image_limits limits;

	(void)state;
	fw_image_limits_init(&limits);
	limits.max_pixels = 320 * 240 - 1;
	expect_refusal(&limits, false, FW_ERR_UNSUPPORTED, "320 x 240 pixels; the limit is 76799");
	fw_image_limits_init(&limits);
	limits.max_scans = 3;
	expect_refusal(&limits, true, FW_ERR_UNSUPPORTED, "more than 3 scans");
	fw_image_limits_init(&limits);
	limits.max_seconds = 1e-9;
	expect_refusal(&limits, true, FW_ERR_UNSUPPORTED, "more than 1e-09 s");
	fw_image_limits_init(&limits);
	limits.max_memory = 100 * 1000; /* the coefficients alone are 320 x 240 x 1.5 x 2 bytes */
	expect_refusal(&limits, true, FW_ERR_NOMEM, "more than 100000 bytes");
}

static void every_truncation_is_an_error(void **state)
{
	struct fw_image_limits limits;
	struct fw_image image;

	(void)state;
	fw_image_limits_init(&limits);
	for (int is_progressive = 0; is_progressive < 2; is_progressive++) {
		size_t size;
		uint8_t *jpeg = make_jpeg(40, 24, is_progressive, &size);
		for (size_t cut = 0; cut < size; cut++) {
			uint8_t *part = malloc(cut ? cut : 1);
			assert_non_null(part);
			memcpy(part, jpeg, cut);
			assert_int_equal(decode(&limits, part, cut, 1 << 16, &image, NULL),
					 FW_ERR_FORMAT);
			free(part);
		}
		free(jpeg);
	}
}

static void no_flipped_bit_does_harm(void **state)
{
	struct fw_image_limits limits;
	struct fw_image image;

	(void)state;
	fw_image_limits_init(&limits);
	limits.max_pixels = 1 << 20;
	for (int is_progressive = 0; is_progressive < 2; is_progressive++) {
		size_t size;
		uint8_t *jpeg = make_jpeg(40, 24, is_progressive, &size);
		for (size_t bit = 0; bit < size * 8; bit += 3) {
			jpeg[bit / 8] ^= (uint8_t)(1 << bit % 8);
			(void)decode(&limits, jpeg, size, 1 << 16, &image, NULL);
			jpeg[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		assert_int_equal(decode(&limits, jpeg, size, 1 << 16, &image, NULL), FW_OK);
		free(jpeg);
	}
}

static void a_cell_holds_what_its_formula_says(void **state)
{
	struct fw_image_limits limits;
	struct fw_image image;
	size_t size;
	uint8_t *jpeg = make_jpeg(300, 127, false, &size);

	(void)state;
	fw_image_limits_init(&limits);
	limits.min_short_side = 64; /* 127 at 4/8 is 64; one less would be kept whole */
	assert_int_equal(
		decode(&limits, jpeg, size, fw_image_cell_bytes(64, 300.0 / 127), &image, NULL),
		FW_OK);
	limits.min_short_side = 65;
	assert_int_equal(
		decode(&limits, jpeg, size, fw_image_cell_bytes(65, 300.0 / 127), &image, NULL),
		FW_OK);
	free(jpeg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_formats_by_their_first_bytes),
		cmocka_unit_test(reads_the_orientation_of_both_byte_orders),
		cmocka_unit_test(damaged_exif_is_a_picture_as_stored),
		cmocka_unit_test(refuses_what_is_no_image_and_what_is_cut),
		cmocka_unit_test(refuses_limits_without_meaning),
		cmocka_unit_test(describes_planes_at_their_own_resolution),
		cmocka_unit_test(scales_down_while_the_short_side_is_kept),
		cmocka_unit_test(is_reduced_only_as_far_as_the_cell_needs),
		cmocka_unit_test(names_the_limit_that_was_reached),
		cmocka_unit_test(every_truncation_is_an_error),
		cmocka_unit_test(no_flipped_bit_does_harm),
		cmocka_unit_test(a_cell_holds_what_its_formula_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
