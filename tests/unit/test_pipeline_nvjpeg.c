/* Which JPEGs the lane takes, and what it does where nvJPEG fails; with a stand-in that decodes into the host's memory. */
#include "../fake/nvjpeg.h"
#include "../pipeline/made_jpeg.h"
#include "pipeline/jpeg_header.h"
#include "pipeline/nvjpeg_lane.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { BATCH = 4, CELL_BYTES = 1 << 18 };

static struct fake_nvjpeg_script *script;

/* The driver's calls that the lane makes, on the host's memory. */
static int set(uint64_t address, unsigned char value, size_t bytes, void *stream)
{
	(void)stream;
	memset((void *)(uintptr_t)address, value, bytes);
	return 0;
}
static int to_host(void *memory, uint64_t address, size_t bytes, void *stream)
{
	(void)stream;
	memcpy(memory, (void *)(uintptr_t)address, bytes);
	return 0;
}
static int to_device(uint64_t address, const void *memory, size_t bytes, void *stream)
{
	(void)stream;
	memcpy((void *)(uintptr_t)address, memory, bytes);
	return 0;
}
static int synchronize(void *stream)
{
	(void)stream;
	return 0;
}

static const struct fw_cuda cuda = {
	.memset_async = set,
	.memcpy_device_to_host_async = to_host,
	.memcpy_host_to_device_async = to_device,
	.stream_synchronize = synchronize,
};

static const struct made_jpeg plain = {
	.width = 100, .height = 70, .h = 2, .v = 2, .quality = 90, .seed = 1
};

static bool takes(const struct made_jpeg *wish, struct fw_image *image)
{
	size_t size;
	uint8_t *bytes = made_jpeg_write(wish, &size);
	bool is_taken = fw_nvjpeg_lane_takes(bytes, size, CELL_BYTES, image);

	assert_true(!is_taken || image->compressed_bytes == size);
	free(bytes);
	return is_taken;
}

static void takes_baseline_of_the_usual_samplings(void **state)
{
	static const struct {
		int h, v;
		uint32_t chroma_width, chroma_height;
	} rows[] = { { 1, 1, 101, 71 }, { 2, 1, 51, 71 }, { 2, 2, 51, 36 }, { 1, 2, 101, 36 } };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct made_jpeg wish = plain;
		struct fw_image image;

		wish.width = 101;
		wish.height = 71;
		wish.h = rows[i].h;
		wish.v = rows[i].v;
		wish.restart_interval = i % 2 ? 3 : 0;
		assert_true(takes(&wish, &image));
		assert_int_equal(image.kind, FW_IMAGE_YCBCR);
		assert_int_equal(image.n_planes, 3);
		assert_int_equal(image.planes[2].width, rows[i].chroma_width);
		assert_int_equal(image.planes[2].height, rows[i].chroma_height);
	}
}

static void leaves_the_rest_to_the_cpu(void **state)
{
	struct made_jpeg wishes[6];
	struct fw_image image;

	(void)state;
	for (size_t i = 0; i < 6; i++)
		wishes[i] = plain;
	wishes[0].is_progressive = true;
	wishes[1].is_rgb = true;
	wishes[1].h = wishes[1].v = 1;
	wishes[2].h = 4;
	wishes[2].v = 1;
	wishes[3].width = 63; /* no room for a mark */
	wishes[4].width = 600;
	wishes[4].height = 600; /* not in its cell */
	wishes[5].is_grey = true;
	wishes[5].h = wishes[5].v = 1;
	for (size_t i = 0; i < 5; i++)
		assert_false(takes(&wishes[i], &image));
	assert_true(takes(&wishes[5], &image));
	assert_int_equal(image.kind, FW_IMAGE_GREY);
}

/*
 * Nothing that is cut anywhere is taken, nor with an end marker put behind it if a restart marker is missing; what follows
 * the end marker is no part of it.
 */
static void a_cut_file_is_not_taken(void **state)
{
	struct made_jpeg wish = plain;
	struct fw_jpeg_header header;
	uint8_t *bytes, *cut;
	size_t size, last = 0;

	(void)state;
	wish.restart_interval = 4;
	bytes = made_jpeg_write(&wish, &size);
	for (size_t n = 0; n + 1 < size; n++)
		if (bytes[n] == 0xff && bytes[n + 1] >= 0xd0 && bytes[n + 1] <= 0xd7)
			last = n;
	assert_true(last > 0);
	for (size_t n = 0; n < size; n++) {
		cut = malloc(n ? n : 1); /* exactly as long, for the address sanitizer */
		assert_non_null(cut);
		memcpy(cut, bytes, n);
		assert_false(fw_jpeg_header_read(cut, n, &header));
		if (n > 2 && n < last + 4) {
			cut[n - 2] = 0xff;
			cut[n - 1] = 0xd9;
			assert_false(fw_jpeg_header_read(cut, n, &header));
		}
		free(cut);
	}
	cut = malloc(size + 3);
	assert_non_null(cut);
	memcpy(cut, bytes, size);
	memset(cut + size, 0, 3);
	assert_true(fw_jpeg_header_read(cut, size + 3, &header));
	assert_int_equal(header.size, size);
	free(cut);
	free(bytes);
}

struct batch {
	uint8_t *bytes[BATCH], *cells[BATCH], *expected[BATCH];
	size_t sizes[BATCH];
	struct fw_image images[BATCH], planes[BATCH];
	struct fw_nvjpeg_picture pictures[BATCH];
	struct fw_error errors[BATCH];
	struct fw_nvjpeg_lane_counts counts;
};

/* Pictures of width 100, 101, 102, 103, and what libjpeg makes of them. */
static void batch_make(struct batch *b, const struct fw_image_limits *limits)
{
	struct fw_image_decoder *decoder;

	memset(b, 0, sizeof(*b));
	assert_int_equal(fw_image_decoder_open(limits, &decoder, NULL), FW_OK);
	for (uint32_t i = 0; i < BATCH; i++) {
		struct made_jpeg wish = plain;

		wish.width += i;
		wish.seed = i;
		b->bytes[i] = made_jpeg_write(&wish, &b->sizes[i]);
		b->cells[i] = calloc(1, CELL_BYTES);
		b->expected[i] = calloc(1, CELL_BYTES);
		assert_non_null(b->cells[i]);
		assert_non_null(b->expected[i]);
		assert_int_equal(fw_image_decode(decoder, b->bytes[i], b->sizes[i], b->expected[i],
						 CELL_BYTES, &b->planes[i], NULL),
				 FW_OK);
		assert_true(
			fw_nvjpeg_lane_takes(b->bytes[i], b->sizes[i], CELL_BYTES, &b->images[i]));
		b->pictures[i] = (struct fw_nvjpeg_picture){ .bytes = b->bytes[i],
							     .cell = (uintptr_t)b->cells[i],
							     .image = &b->images[i],
							     .err = &b->errors[i] };
	}
	fw_image_decoder_close(decoder);
}

static void batch_free(struct batch *b)
{
	for (uint32_t i = 0; i < BATCH; i++) {
		free(b->bytes[i]);
		free(b->cells[i]);
		free(b->expected[i]);
	}
}

static bool is_decoded(const struct batch *b, uint32_t i)
{
	if (b->pictures[i].status || b->images[i].compressed_bytes)
		return false;
	for (uint32_t c = 0; c < 3; c++) {
		const struct fw_image_plane *got = &b->images[i].planes[c];
		const struct fw_image_plane *wanted = &b->planes[i].planes[c];

		assert_int_equal(got->width, wanted->width);
		assert_int_equal(got->height, wanted->height);
		for (uint32_t y = 0; y < got->height; y++)
			if (memcmp(b->cells[i] + got->offset + (size_t)y * got->stride,
				   b->expected[i] + wanted->offset + (size_t)y * wanted->stride,
				   got->width))
				return false;
	}
	return true;
}

/* Two batches in one lane, the second of fewer; the script may let both meet the same trouble. */
static void run(struct batch *b, uint32_t damaged)
{
	struct fw_nvjpeg_lane_options options = { .cuda = &cuda,
						  .library = FW_FAKE_NVJPEG,
						  .max_batch = BATCH,
						  .cell_bytes = CELL_BYTES };
	struct fw_nvjpeg_lane *lane;
	struct fw_error err = { 0 };

	fw_image_limits_init(&options.limits);
	options.pinned = malloc(fw_nvjpeg_lane_pinned_bytes(BATCH, CELL_BYTES));
	assert_non_null(options.pinned);
	batch_make(b, &options.limits);
	for (size_t i = 0; damaged < BATCH && i < 20; i++) /* ones only: no Huffman code */
		memcpy(b->bytes[damaged] + b->sizes[damaged] / 2 + 2 * i, "\xff", 2);
	assert_int_equal(fw_nvjpeg_lane_open(&options, &lane, &err), FW_OK);
	assert_int_equal(fw_nvjpeg_lane_decode(lane, b->pictures, BATCH, NULL, &err), FW_OK);
	for (uint32_t i = 0; i < BATCH; i++) {
		if (i == damaged)
			assert_int_equal(b->pictures[i].status, FW_ERR_FORMAT);
		else
			assert_true(is_decoded(b, i));
	}
	assert_true(fw_nvjpeg_lane_takes(b->bytes[3], b->sizes[3], CELL_BYTES, &b->images[3]));
	memset(b->cells[3], 0, CELL_BYTES);
	assert_int_equal(fw_nvjpeg_lane_decode(lane, b->pictures + 3, 1, NULL, &err), FW_OK);
	assert_true(is_decoded(b, 3));
	fw_nvjpeg_lane_count(lane, &b->counts);
	fw_nvjpeg_lane_close(lane);
	free(options.pinned);
	batch_free(b);
}

static void check_counts(const struct batch *b, uint64_t decoded, uint64_t unsupported,
			 uint64_t failed, uint64_t left_out)
{
	assert_int_equal(b->counts.decoded, decoded);
	assert_int_equal(b->counts.unsupported, unsupported);
	assert_int_equal(b->counts.failed, failed);
	assert_int_equal(b->counts.left_out, left_out);
}

static void decodes_batches_by_hardware(void **state)
{
	struct batch b;

	(void)state;
	run(&b, BATCH);
	check_counts(&b, 5, 0, 0, 0);
	assert_int_equal(script->backend, 3);
	assert_int_equal(script->batches, 2);
	assert_int_equal(script->last_batch, 1);
}

static void decodes_without_hardware_too(void **state)
{
	struct batch b;

	(void)state;
	script->lacks_hardware = 1;
	run(&b, BATCH);
	check_counts(&b, 5, 0, 0, 0);
	assert_int_equal(script->backend, 2);
}

static void what_the_engine_refuses_is_decoded_here(void **state)
{
	struct batch b;

	(void)state;
	script->refuses_width = 101;
	run(&b, BATCH);
	check_counts(&b, 4, 1, 0, 0);
}

static void a_batch_that_fails_is_decoded_here(void **state)
{
	struct batch b;

	(void)state;
	script->fails_width = 102;
	run(&b, BATCH);
	check_counts(&b, 1, 0, 4, 0);
}

static void a_picture_that_was_left_out_is_noticed(void **state)
{
	struct batch b;

	(void)state;
	script->skips_width = 100;
	run(&b, BATCH);
	check_counts(&b, 4, 0, 0, 1);
}

static void a_damaged_picture_fails_alone(void **state)
{
	struct batch b;

	(void)state;
	run(&b, 2);
	check_counts(&b, 1, 0, 4, 0);
}

static void says_that_there_is_no_nvjpeg(void **state)
{
	uint8_t pinned[128];
	const struct fw_nvjpeg_lane_options options = { .cuda = &cuda,
							.library = "libnvjpeg.so.none",
							.max_batch = 1,
							.cell_bytes = 64,
							.pinned = pinned };
	struct fw_nvjpeg_lane *lane;
	struct fw_error err = { 0 };

	(void)state;
	assert_int_equal(fw_nvjpeg_lane_open(&options, &lane, &err), FW_ERR_UNSUPPORTED);
	assert_null(lane);
	assert_non_null(strstr(err.message, "nvJPEG was not found"));
}

static int reset(void **state)
{
	(void)state;
	*script = (struct fake_nvjpeg_script){ 0 };
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_baseline_of_the_usual_samplings),
		cmocka_unit_test(leaves_the_rest_to_the_cpu),
		cmocka_unit_test(a_cut_file_is_not_taken),
		cmocka_unit_test(says_that_there_is_no_nvjpeg),
		cmocka_unit_test_setup(decodes_batches_by_hardware, reset),
		cmocka_unit_test_setup(decodes_without_hardware_too, reset),
		cmocka_unit_test_setup(what_the_engine_refuses_is_decoded_here, reset),
		cmocka_unit_test_setup(a_batch_that_fails_is_decoded_here, reset),
		cmocka_unit_test_setup(a_picture_that_was_left_out_is_noticed, reset),
		cmocka_unit_test_setup(a_damaged_picture_fails_alone, reset),
	};
	void *library = dlopen(FW_FAKE_NVJPEG, RTLD_NOW);
	void *symbol = library ? dlsym(library, "fake_nvjpeg") : NULL;
	struct fake_nvjpeg_script *(*get)(void);
	int result;

	if (!symbol)
		return 1;
	memcpy(&get, &symbol, sizeof(get));
	script = get();
	result = cmocka_run_group_tests(tests, NULL, NULL);
	dlclose(library);
	return result;
}
