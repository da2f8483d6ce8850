/*
 * The GPU's preprocessing, run in turns on the CPU: bit for bit what fw_preprocess_cpu gives, for every kind of picture. The
 * cells are as long as their planes, so that the address sanitizer sees any read beside them.
 */
#include "../pipeline/emulated_gpu.h"
#include "../pipeline/made_picture.h"
#include "pipeline/preprocess_gpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct setting {
	uint32_t resize, crop, pixel_stride, tile_rows;
	size_t cell_bytes;
};

static struct fw_preprocess preprocess_of(const struct setting *s)
{
	struct fw_preprocess preprocess;

	fw_preprocess_init(&preprocess);
	preprocess.resize = s->resize;
	preprocess.crop = s->crop;
	return preprocess;
}

static void emulate(const struct setting *s, const struct fw_gpu_picture *pictures, uint32_t n,
		    unsigned precision, void *input)
{
	const struct fw_preprocess preprocess = preprocess_of(s);
	struct fw_preprocess_args a = {
		.pictures = (uintptr_t)pictures,
		.input = (uintptr_t)input,
		.cell_bytes = s->cell_bytes,
		.resize = s->resize,
		.crop = s->crop,
		.tile_rows = s->tile_rows,
		.precision = precision,
		.pixel_stride = s->pixel_stride,
		.is_packed = s->pixel_stride == 4,
	};

	assert_int_equal(fw_preprocess_check(&preprocess, s->cell_bytes, &a.max_taps, NULL), FW_OK);
	assert_true(a.max_taps <= FW_TILE_MAX_TAPS);
	fw_preprocess_scale(&preprocess, a.scale, a.shift);
	assert_true(emulate_preprocess(&a, n));
}

/* Both ways; where the CPU refuses the picture, zeros are expected. */
static bool is_same(const struct setting *s, const uint8_t *cell, const struct fw_image *image)
{
	const struct fw_preprocess preprocess = preprocess_of(s);
	const struct fw_gpu_picture picture = { (uintptr_t)cell, *image, 1, 0 };
	size_t n = (size_t)s->crop * s->crop * s->pixel_stride;
	float *expected = calloc(n, sizeof(float)), *got = malloc(n * sizeof(float));
	struct fw_preprocess_scratch *scratch;
	fw_status status;
	bool is_equal;

	assert_non_null(expected);
	assert_non_null(got);
	memset(got, 0xa5, n * sizeof(float));
	assert_int_equal(fw_preprocess_open(&preprocess, s->cell_bytes, &scratch, NULL), FW_OK);
	status = fw_preprocess_cpu(scratch, cell, image, expected, s->pixel_stride, NULL);
	fw_preprocess_close(scratch);
	emulate(s, &picture, 1, 0, got);
	is_equal = !memcmp(expected, got, n * sizeof(float));
	free(expected);
	free(got);
	return is_equal && (status == FW_OK || status == FW_ERR_ARGUMENT);
}

static void check_wish(const struct setting *s, const struct made_wish *wish, uint64_t *state)
{
	struct fw_image image;
	size_t bytes = made_describe(wish, &image);
	uint8_t *cell = malloc(bytes);

	assert_non_null(cell);
	assert_true(bytes <= s->cell_bytes);
	made_draw(&image, state, cell);
	if (!is_same(s, cell, &image))
		fail_msg("%s, %u x %u at %u/8, orientation %u, to %u and %u in tiles of %u rows",
			 wish->kind->name, wish->source_width, wish->source_height, wish->scale,
			 wish->orientation, s->resize, s->crop, s->tile_rows);
	free(cell);
}

static void every_kind_and_orientation_equals_the_cpu(void **state)
{
	static const struct setting settings[] = {
		{ 16, 14, 3, 2, 4 << 20 },
		{ 8, 11, 4, 5, 4 << 20 }, /* black around it */
		{ 37, 29, 5, 64, 4 << 20 },
	};
	static const uint32_t sizes[][2] = { { 1, 1 },   { 1, 6 },   { 5, 1 },
					     { 2, 3 },   { 6, 5 },   { 17, 40 },
					     { 41, 18 }, { 64, 48 }, { 99, 131 } };
	uint64_t random = 1;

	(void)state;
	for (size_t k = 0; k < MADE_KINDS; k++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			for (uint32_t o = 1; o <= 8; o++) {
				const struct made_wish wish = {
					.kind = &made_kinds[k],
					.source_width = sizes[i][0],
					.source_height = sizes[i][1],
					.scale = o % 3 ? 8 : 4,
					.orientation = o,
				};
				check_wish(&settings[(i + o + k) % 3], &wish, &random);
			}
}

static void scaled_decodes_equal_the_cpu(void **state)
{
	static const struct setting setting = { 32, 28, 4, 8, 4 << 20 };
	uint64_t random = 2;

	(void)state;
	for (uint32_t i = 0; i < 40; i++) {
		const struct made_wish wish = {
			.kind = &made_kinds[i % MADE_KINDS],
			.source_width = 1 + made_random(&random) % 300,
			.source_height = 1 + made_random(&random) % 300,
			.scale = 1u << i % 4,
			.orientation = 1 + i % 8,
		};
		check_wish(&setting, &wish, &random);
	}
}

static void a_photograph_equals_the_cpu(void **state)
{
	static const struct setting setting = { 256, 224, 4, 8, 4 << 20 };
	const struct made_wish wish = { &made_kinds[2], 500, 375, 8, 6 };
	uint64_t random = 3;

	(void)state;
	check_wish(&setting, &wish, &random);
}

/* Pictures so large that a block must take its rows and columns in parts, up to one pixel at a time. */
static void parts_of_tiles_equal_the_cpu(void **state)
{
	static const struct setting settings[] = {
		{ 32, 28, 4, 28, 4 << 20 },
		{ 2, 3, 3, 3, 260000 }, /* up to 1023 weights for each pixel */
		{ 8, 8, 3, 8, 4 << 20 },
	};
	const struct made_wish wishes[] = {
		{ &made_kinds[2], 1200, 900, 8, 1 },
		{ &made_kinds[8], 499, 499, 8, 3 },
		{ &made_kinds[2], 200000, 10, 8, 1 },
		{ &made_kinds[10], 10, 30000, 8, 5 },
	};
	uint64_t random = 4;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		check_wish(&settings[i < 2 ? i : 2], &wishes[i], &random);
}

static void damaged_descriptions_read_nothing_else(void **state)
{
	uint64_t random = 5;

	(void)state;
	for (uint32_t i = 0; i < 1500; i++) {
		struct setting setting = { 8, 7, 3, 4, 0 };
		const struct made_wish wish = {
			.kind = &made_kinds[i % MADE_KINDS],
			.source_width = 1 + made_random(&random) % 40,
			.source_height = 1 + made_random(&random) % 40,
			.scale = 8,
			.orientation = 1 + i % 8,
		};
		struct fw_image image;
		uint8_t *cell;

		setting.cell_bytes = made_describe(&wish, &image);
		cell = malloc(setting.cell_bytes);
		assert_non_null(cell);
		made_draw(&image, &random, cell);
		for (uint32_t faults = made_random(&random) % 3; faults; faults--)
			made_damage(&image, &random);
		if (!is_same(&setting, cell, &image))
			fail_msg("damaged description %u", i);
		free(cell);
	}
}

static void halves_and_bfloats_are_the_floats_rounded(void **state)
{
	static const struct {
		float value;
		unsigned half, bfloat;
	} known[] = {
		/* By hand from IEEE 754; 0x1p-24 is the least half, 65504 the largest, 65520 rounds up. */
		{ 0, 0, 0 },
		{ 1, 0x3c00, 0x3f80 },
		{ -2, 0xc000, 0xc000 },
		{ 65504, 0x7bff, 0x4780 },
		{ 65519, 0x7bff, 0x4780 },
		{ 65520, 0x7c00, 0x4780 },
		{ 0x1p-24f, 1, 0x3380 },
		{ 0x1p-25f, 0, 0x3300 },
		{ 0x1.8p-25f, 1, 0x3340 },
		{ 0x1.ff8p-15f, 0x03ff, 0x3880 },
		{ 0x1.002p0f, 0x3c00, 0x3f80 },
		{ 0x1.006p0f, 0x3c02, 0x3f80 },
		{ 0x1.01p0f, 0x3c04, 0x3f80 },
		{ 0x1.03p0f, 0x3c0c, 0x3f82 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		assert_int_equal(fw_half_of(known[i].value), known[i].half);
		assert_int_equal(fw_bfloat_of(known[i].value), known[i].bfloat);
	}
	for (unsigned half = 0; half < 0x7c00; half++) {
		assert_int_equal(fw_half_of(fw_half_value(half)), half);
		assert_int_equal(fw_half_of(-fw_half_value(half)), half | 0x8000);
	}
}

/* A batch of one picture, one that is absent, one without sense, in each type and with room around each pixel. */
static void a_batch_is_written_in_the_networks_type(void **state)
{
	static const struct setting base = { 16, 14, 4, 4, 4 << 20 };
	const struct made_wish wish = { &made_kinds[2], 40, 30, 8, 7 };
	enum { PIXELS = 14 * 14 };
	struct fw_gpu_picture pictures[3];
	uint64_t random = 6;
	struct fw_image image;
	uint8_t *cell = malloc(made_describe(&wish, &image));

	(void)state;
	assert_non_null(cell);
	made_draw(&image, &random, cell);
	for (int i = 0; i < 3; i++)
		pictures[i] = (struct fw_gpu_picture){ (uintptr_t)cell, image, i != 1, 0 };
	pictures[2].image.orientation = 0;
	for (uint32_t stride = 3; stride <= 8; stride++) {
		struct setting setting = base;
		size_t n = (size_t)3 * PIXELS * stride;
		float *floats = malloc(n * sizeof(float));

		setting.pixel_stride = stride;
		assert_non_null(floats);
		emulate(&setting, pictures, 3, 0, floats);
		for (size_t i = n / 3; i < n; i++)
			assert_true(floats[i] == 0);
		for (unsigned precision = 1; precision <= 2; precision++) {
			uint16_t *got = malloc(n * sizeof(*got));

			assert_non_null(got);
			emulate(&setting, pictures, 3, precision, got);
			for (size_t i = 0; i < n; i++)
				assert_int_equal(got[i], fw_narrow(floats[i], precision));
			free(got);
		}
		free(floats);
	}
	free(cell);
}

static void a_tensor_is_taken_as_it_is(void **state)
{
	static const struct setting setting = { 8, 5, 4, 2, 300 };
	enum { PIXELS = 5 * 5 };
	float *cell = malloc(3 * PIXELS * sizeof(float)), out[PIXELS * 4];
	struct fw_gpu_picture picture = {
		.cell = (uintptr_t)cell,
		.image = { .kind = FW_IMAGE_TENSOR, .width = 5, .height = 5, .n_planes = 3 },
		.is_present = 1,
	};

	(void)state;
	assert_non_null(cell);
	for (int i = 0; i < 3 * PIXELS; i++)
		cell[i] = (float)i - 7.5f;
	for (uint32_t i = 0; i < 3; i++)
		picture.image.planes[i] = (struct fw_image_plane){ 5, 5, 20, i * 100 };
	emulate(&setting, &picture, 1, 0, out);
	for (int i = 0; i < PIXELS; i++) {
		assert_true(out[4 * i] == cell[i] && out[4 * i + 1] == cell[PIXELS + i] &&
			    out[4 * i + 2] == cell[2 * PIXELS + i] && out[4 * i + 3] == 0);
	}
	picture.image.planes[2].offset = 204; /* would end past the cell */
	emulate(&setting, &picture, 1, 0, out);
	for (int i = 0; i < PIXELS * 4; i++)
		assert_true(out[i] == 0);
	free(cell);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_and_orientation_equals_the_cpu),
		cmocka_unit_test(scaled_decodes_equal_the_cpu),
		cmocka_unit_test(a_photograph_equals_the_cpu),
		cmocka_unit_test(parts_of_tiles_equal_the_cpu),
		cmocka_unit_test(damaged_descriptions_read_nothing_else),
		cmocka_unit_test(halves_and_bfloats_are_the_floats_rounded),
		cmocka_unit_test(a_batch_is_written_in_the_networks_type),
		cmocka_unit_test(a_tensor_is_taken_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
