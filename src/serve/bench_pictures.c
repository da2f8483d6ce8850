/*
 * Pictures that no file holds: what a decoder finds in photographs, smooth ground, edges and grain, from a seed. libjpeg
 * reports errors by a call that must not return, hence setjmp; what a jump may skip lives in struct writer.
 */
#include "serve/bench_images.h"
#include "serve/random.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

#define BLOBS   12
#define QUALITY 90
#define GRAIN   24 /* levels; makes 500 x 375 pixels about 60 KB, as photographs of that size are */

struct blob {
	int64_t x, y, radius2;
	int colour[3];
};

struct writer {
	struct jpeg_compress_struct jpeg;
	struct jpeg_error_mgr errors;
	jmp_buf jump;
	struct blob blobs[BLOBS];
	uint64_t random;
	unsigned char *row;
	unsigned char *bytes; /* libjpeg's, until it is done */
	unsigned long size;
	char text[JMSG_LENGTH_MAX];
};

static void jump_out(j_common_ptr jpeg)
{
	struct writer *writer = jpeg->client_data;

	jpeg->err->format_message(jpeg, writer->text);
	longjmp(writer->jump, 1);
}

static void draw_blobs(struct writer *writer, const struct fw_bench_picture *picture)
{
	uint64_t least = picture->width < picture->height ? picture->width : picture->height;

	for (int i = 0; i < BLOBS; i++) {
		struct blob *blob = &writer->blobs[i];
		int64_t radius =
			(int64_t)(least / 16 + fw_random_below(&writer->random, least / 4 + 1));

		blob->x = (int64_t)fw_random_below(&writer->random, picture->width);
		blob->y = (int64_t)fw_random_below(&writer->random, picture->height);
		blob->radius2 = radius * radius;
		for (int c = 0; c < 3; c++)
			blob->colour[c] = (int)fw_random_below(&writer->random, 256);
	}
}

static unsigned char clamp(int level)
{
	return level < 0 ? 0 : level > 255 ? 255 : (unsigned char)level;
}

/* The last blob that covers the pixel, else a slope of colour; grain on both. */
static void draw_row(struct writer *writer, const struct fw_bench_picture *picture, int64_t y)
{
	for (int64_t x = 0; x < picture->width; x++) {
		unsigned char *pixel = writer->row + 3 * x;
		uint64_t noise = fw_random_next(&writer->random);
		const int ground[3] = { (int)(x * 255 / picture->width),
					(int)(y * 255 / picture->height), 128 };
		const int *colour = ground;

		for (int i = 0; i < BLOBS; i++) {
			const struct blob *blob = &writer->blobs[i];
			int64_t dx = x - blob->x, dy = y - blob->y;

			if (dx * dx + dy * dy < blob->radius2)
				colour = blob->colour;
		}
		for (int c = 0; c < 3; c++, noise >>= 16)
			pixel[c] = clamp(colour[c] + (int)(noise % GRAIN) - GRAIN / 2);
	}
}

/* Everything that libjpeg may jump out of. False: text says why. */
static bool compress(struct writer *writer, const struct fw_bench_picture *picture)
{
	struct jpeg_compress_struct *jpeg = &writer->jpeg;

	if (setjmp(writer->jump))
		return false;
	jpeg_create_compress(jpeg);
	jpeg_mem_dest(jpeg, &writer->bytes, &writer->size);
	jpeg->image_width = picture->width;
	jpeg->image_height = picture->height;
	jpeg->input_components = 3;
	jpeg->in_color_space = JCS_RGB;
	jpeg_set_defaults(jpeg);
	jpeg_set_quality(jpeg, QUALITY, TRUE);
	jpeg_start_compress(jpeg, TRUE);
	while (jpeg->next_scanline < jpeg->image_height) {
		draw_row(writer, picture, jpeg->next_scanline);
		jpeg_write_scanlines(jpeg, &writer->row, 1);
	}
	jpeg_finish_compress(jpeg);
	return true;
}

static fw_status draw(struct writer *writer, const struct fw_bench_picture *picture,
		      struct fw_error *err)
{
	bool is_done;

	writer->bytes = NULL;
	writer->size = 0;
	writer->jpeg.err = jpeg_std_error(&writer->errors);
	writer->errors.error_exit = jump_out;
	writer->jpeg.client_data = writer;
	draw_blobs(writer, picture);
	is_done = compress(writer, picture);
	jpeg_destroy_compress(&writer->jpeg);
	if (!is_done) {
		free(writer->bytes);
		return fw_fail(err, FW_ERR_NOMEM,
			       "cannot draw a JPEG of %" PRIu32 " x %" PRIu32 ": %s",
			       picture->width, picture->height, writer->text);
	}
	return FW_OK;
}

static fw_status draw_all(struct fw_bench_images *images, struct writer *writer,
			  const struct fw_bench_picture *picture, const uint64_t limits[2],
			  struct fw_error *err)
{
	for (uint64_t i = 0; i < limits[0]; i++) {
		struct fw_bench_image *image;
		fw_status status = draw(writer, picture, err);

		if (status)
			return status;
		image = fw_vec_push(&images->images);
		if (image)
			*image = (struct fw_bench_image){ writer->bytes, writer->size };
		else
			free(writer->bytes);
		images->bytes += writer->size;
		if (!image)
			return fw_fail_nomem(err, images->images.len * sizeof(*image));
		if (images->bytes > limits[1])
			return fw_fail(err, FW_ERR_ARGUMENT,
				       "the drawn images take more than %" PRIu64
				       " bytes of memory: ask for fewer, or a larger --max-input",
				       limits[1]);
	}
	return FW_OK;
}

fw_status fw_bench_images_draw(struct fw_bench_images *images,
			       const struct fw_bench_picture *picture, uint32_t count,
			       uint64_t most, struct fw_error *err)
{
	const uint64_t limits[2] = { count, most };
	struct writer *writer = calloc(1, sizeof(*writer));
	fw_status status;

	if (!writer)
		return fw_fail_nomem(err, sizeof(*writer));
	writer->random = picture->seed;
	writer->row = malloc((size_t)picture->width * 3);
	if (writer->row)
		status = draw_all(images, writer, picture, limits, err);
	else
		status = fw_fail_nomem(err, (size_t)picture->width * 3);
	free(writer->row);
	free(writer);
	return status;
}
