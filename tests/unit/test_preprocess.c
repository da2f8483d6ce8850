/* Preprocessing of small cells drawn here; whole pictures are compared with Pillow's in tests/pipeline. */
#include "pipeline/preprocess.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SIDE = 8, CELL_BYTES = SIDE * SIDE };

/* A grey picture of SIDE x SIDE in a cell without anything beside it. */
static struct fw_image grey_image(void)
{
	return (struct fw_image){ .kind = FW_IMAGE_GREY,
				  .width = SIDE,
				  .height = SIDE,
				  .source_width = SIDE,
				  .source_height = SIDE,
				  .scale_num = 8,
				  .scale_den = 8,
				  .orientation = 1,
				  .n_planes = 1,
				  .planes = { { SIDE, SIDE, SIDE, 0 } } };
}

static fw_status run(uint32_t resize, uint32_t crop, const struct fw_image *image,
		     const uint8_t *cell, float *out)
{
	struct fw_preprocess_scratch *scratch;
	struct fw_preprocess preprocess;
	fw_status status;

	fw_preprocess_init(&preprocess);
	preprocess.resize = resize;
	preprocess.crop = crop;
	assert_int_equal(fw_preprocess_open(&preprocess, CELL_BYTES, &scratch, NULL), FW_OK);
	status = fw_preprocess_cpu(scratch, cell, image, out, 4, NULL);
	fw_preprocess_close(scratch);
	return status;
}

static void normalises_each_channel_and_clears_the_rest(void **state)
{
	struct fw_image image = grey_image();
	uint8_t cell[CELL_BYTES];
	float out[4 * 4 * 4];

	(void)state;
	memset(cell, 128, sizeof(cell));
	assert_int_equal(run(4, 4, &image, cell, out), FW_OK);
	for (int i = 0; i < 16; i++) {
		/* (128 / 255 - 0.485) / 0.229 and so on, by hand */
		assert_float_equal(out[4 * i], 0.07406f, 1e-4f);
		assert_float_equal(out[4 * i + 1], 0.20518f, 1e-4f);
		assert_float_equal(out[4 * i + 2], 0.42649f, 1e-4f);
		assert_float_equal(out[4 * i + 3], 0, 0);
	}
}

static void halves_with_the_weights_of_a_triangle(void **state)
{
	struct fw_image image = grey_image();
	uint8_t cell[CELL_BYTES] = { 0 };
	float out[4 * 4 * 4];

	(void)state;
	for (int y = 0; y < SIDE; y++)
		cell[y * SIDE + 3] = 200;
	assert_int_equal(run(4, 4, &image, cell, out), FW_OK);
	/* Column 3 lies half a sample right of the middle of resized column 1 (3/8 of 200) and 1.5 left of column 2's. */
	float levels[4] = { 0, 75, 25, 0 };
	for (int x = 0; x < 4; x++)
		assert_float_equal((out[4 * (8 + x)] * 0.229f + 0.485f) * 255, levels[x], 0.01f);
}

static void a_crop_larger_than_the_picture_is_black_around(void **state)
{
	struct fw_image image = grey_image();
	uint8_t cell[CELL_BYTES];
	float out[11 * 11 * 4];

	(void)state;
	memset(cell, 255, sizeof(cell));
	assert_int_equal(run(8, 11, &image, cell, out), FW_OK);
	/* torchvision: (11 - 8) / 2 = 1 before and 2 after. */
	for (int y = 0; y < 11; y++)
		for (int x = 0; x < 11; x++) {
			bool is_inside = x >= 1 && x < 9 && y >= 1 && y < 9;
			float level = (out[4 * (y * 11 + x)] * 0.229f + 0.485f) * 255;
			assert_float_equal(level, is_inside ? 255 : 0, 0.01f);
		}
}

static void refuses_a_damaged_description(void **state)
{
	uint8_t cell[CELL_BYTES] = { 0 };
	float out[4 * 4 * 4];
	struct fw_image images[9];

	(void)state;
	for (size_t i = 0; i < 9; i++)
		images[i] = grey_image();
	images[0].orientation = 9;
	images[1].planes[0].offset = 1; /* the last sample would lie past the cell */
	images[2].planes[0].stride = SIDE - 1;
	images[3].kind = FW_IMAGE_YCBCR; /* with one plane */
	images[4].source_width = 0;
	images[5].scale_num = 4; /* 8 samples are not 4/8 of 8 */
	images[6].width = images[6].planes[0].width = 1 << 30;
	images[7].planes[0].height = SIDE + 1;
	images[8].scale_den = 0;
	for (size_t i = 0; i < 9; i++)
		assert_int_equal(run(4, 4, &images[i], cell, out), FW_ERR_ARGUMENT);
}

static void refuses_settings_without_meaning(void **state)
{
	struct fw_preprocess_scratch *scratch;
	struct fw_preprocess preprocess;

	(void)state;
	fw_preprocess_init(&preprocess);
	preprocess.resize = 1;
	assert_int_equal(fw_preprocess_open(&preprocess, 64, &scratch, NULL), FW_ERR_ARGUMENT);
	assert_null(scratch);
	fw_preprocess_init(&preprocess);
	preprocess.std[2] = 0;
	assert_int_equal(fw_preprocess_open(&preprocess, 64, &scratch, NULL), FW_ERR_ARGUMENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(normalises_each_channel_and_clears_the_rest),
		cmocka_unit_test(halves_with_the_weights_of_a_triangle),
		cmocka_unit_test(a_crop_larger_than_the_picture_is_black_around),
		cmocka_unit_test(refuses_a_damaged_description),
		cmocka_unit_test(refuses_settings_without_meaning),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
