/*
 * Planes to the network's input on the CPU. Rows of RGB are made one at a time and only where the crop needs them;
 * resized along the row, then down the columns, with PIL's rounding to whole levels after each pass. Orientation is
 * only a matter of where a pixel is written.
 */
#include "pipeline/preprocess.h"

#include "pipeline/preprocess_axis.h"
#include "pipeline/preprocess_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sizes beyond these are no network's. */
#define MAX_SIDE  8192u
#define ALIGNMENT 64u

struct fw_preprocess_scratch {
	struct fw_preprocess preprocess;
	size_t cell_bytes;
	size_t total; /* bytes allocated */
	struct fw_axis x, y;
	struct fw_colour_tables tables;
	uint32_t row_room; /* pixels */
	fw_pixel *row;
	fw_pixel *resized_rows;     /* y.max_taps rows of crop pixels, row r at r % max_taps */
	const fw_pixel **row_order; /* max_taps */
	uint8_t *chroma[2];
	uint16_t *column_sums;
	float scale[3], shift[3]; /* out = level * scale + shift */
};

/* Where a pixel of the crop goes, in pixels: start + column * by_column + row * by_row. */
struct layout {
	ptrdiff_t start, by_column, by_row;
};

void fw_preprocess_init(struct fw_preprocess *preprocess)
{
	*preprocess = (struct fw_preprocess){
		.resize = 256,
		.crop = 224,
		/* Of ImageNet, as torchvision's pretrained models want them. */
		.mean = { 0.485f, 0.456f, 0.406f },
		.std = { 0.229f, 0.224f, 0.225f },
	};
}

static fw_status check_settings(const struct fw_preprocess *p, struct fw_error *err)
{
	if (p->resize < 2 || p->resize > MAX_SIDE || !p->crop || p->crop > MAX_SIDE)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "resize to %u and crop to %u: they must be from 2 and 1 to %u",
			       p->resize, p->crop, MAX_SIDE);
	for (int c = 0; c < 3; c++)
		if (!isfinite(p->mean[c]) || !isfinite(p->std[c]) || p->std[c] <= 0)
			return fw_fail(err, FW_ERR_ARGUMENT,
				       "mean %g and standard deviation %g of channel %d",
				       (double)p->mean[c], (double)p->std[c], c);
	return FW_OK;
}

static void *allocate(size_t n, size_t each, size_t *total)
{
	size_t bytes = (n * each + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	void *memory;

	*total += bytes;
	if (posix_memalign(&memory, ALIGNMENT, bytes ? bytes : ALIGNMENT))
		return NULL;
	return memory;
}

static bool allocate_axis(struct fw_axis *axis, uint32_t crop, uint32_t max_taps, size_t *total)
{
	axis->max_taps = max_taps;
	axis->first = allocate(crop, sizeof(*axis->first), total);
	axis->weights = allocate((size_t)crop * max_taps, sizeof(*axis->weights), total);
	return axis->first && axis->weights;
}

/*
 * Decoded pixels for one resized one, at most. The short side of a picture in a cell is at most the root of the cell's
 * bytes; the long side is scaled by up to resize / (resize - 1) more, since torchvision rounds its length down.
 */
static double max_scale(const struct fw_preprocess *preprocess, size_t cell_bytes)
{
	return (sqrt((double)cell_bytes) + 1) / (preprocess->resize - 1.0);
}

fw_status fw_preprocess_check(const struct fw_preprocess *preprocess, size_t cell_bytes,
			      uint32_t *max_taps, struct fw_error *err)
{
	fw_status status = check_settings(preprocess, err);

	if (status != FW_OK)
		return status;
	if (!cell_bytes || cell_bytes > UINT32_MAX)
		return fw_fail(err, FW_ERR_ARGUMENT, "cells of %zu bytes", cell_bytes);
	*max_taps = fw_axis_max_taps(max_scale(preprocess, cell_bytes));
	return FW_OK;
}

void fw_preprocess_scale(const struct fw_preprocess *preprocess, float scale[3], float shift[3])
{
	for (int c = 0; c < 3; c++) {
		scale[c] = 1 / (255 * preprocess->std[c]);
		shift[c] = -preprocess->mean[c] / preprocess->std[c];
	}
}

static bool allocate_all(struct fw_preprocess_scratch *s, size_t *total)
{
	uint32_t crop = s->preprocess.crop;
	double scale = max_scale(&s->preprocess, s->cell_bytes);
	uint32_t max_taps = fw_axis_max_taps(scale);
	bool has_axes = allocate_axis(&s->x, crop, max_taps, total);

	has_axes = allocate_axis(&s->y, crop, max_taps, total) && has_axes;
	s->row_room = (uint32_t)(crop * fmax(scale, 1)) + max_taps + 2;
	s->row = allocate(s->row_room, sizeof(*s->row), total);
	s->resized_rows = allocate((size_t)max_taps * crop, sizeof(*s->resized_rows), total);
	s->row_order = allocate(max_taps, sizeof(*s->row_order), total);
	s->chroma[0] = allocate((size_t)s->row_room + 8, 1, total);
	s->chroma[1] = allocate((size_t)s->row_room + 8, 1, total);
	s->column_sums = allocate((size_t)s->row_room + 8, sizeof(*s->column_sums), total);
	return has_axes && s->row && s->resized_rows && s->row_order && s->chroma[0] &&
	       s->chroma[1] && s->column_sums;
}

fw_status fw_preprocess_open(const struct fw_preprocess *preprocess, size_t cell_bytes,
			     struct fw_preprocess_scratch **scratch, struct fw_error *err)
{
	struct fw_preprocess_scratch *s;
	size_t total = 0;
	uint32_t max_taps;
	fw_status status = fw_preprocess_check(preprocess, cell_bytes, &max_taps, err);

	*scratch = NULL;
	if (status != FW_OK)
		return status;
	s = allocate(1, sizeof(*s), &total);
	if (!s)
		return fw_fail_nomem(err, total);
	memset(s, 0, sizeof(*s));
	s->preprocess = *preprocess;
	s->cell_bytes = cell_bytes;
	if (!allocate_all(s, &total)) {
		fw_preprocess_close(s);
		return fw_fail_nomem(err, total);
	}
	fw_colour_tables_init(&s->tables);
	fw_preprocess_scale(preprocess, s->scale, s->shift);
	s->total = total;
	*scratch = s;
	return FW_OK;
}

size_t fw_preprocess_bytes(const struct fw_preprocess_scratch *s)
{
	return s->total;
}

void fw_preprocess_close(struct fw_preprocess_scratch *s)
{
	if (!s)
		return;
	free(s->x.first);
	free(s->x.weights);
	free(s->y.first);
	free(s->y.weights);
	free(s->row);
	free(s->resized_rows);
	free(s->row_order);
	free(s->chroma[0]);
	free(s->chroma[1]);
	free(s->column_sums);
	free(s);
}

static bool is_part_of(uint32_t full, uint32_t part)
{
	for (uint32_t ratio = 1; ratio <= 4; ratio *= 2)
		if (((uint64_t)full + ratio - 1) / ratio == part)
			return true;
	return false;
}

static bool is_scale_sound(uint32_t source, uint32_t num, uint32_t den, uint32_t decoded)
{
	return source && num && den && ((uint64_t)source * num + den - 1) / den == decoded;
}

/* The description comes from another stage, perhaps another process: nothing outside the cell is read. */
static bool is_image_sound(const struct fw_image *image, size_t cell_bytes)
{
	bool is_interleaved = image->kind == FW_IMAGE_RGB && image->n_planes == 1;
	uint32_t wanted = image->kind == FW_IMAGE_GREY || is_interleaved ? 1 : 3;

	if (image->kind > FW_IMAGE_RGB || image->compressed_bytes || image->n_planes != wanted ||
	    !image->width || !image->height || image->orientation < 1 || image->orientation > 8 ||
	    !is_scale_sound(image->source_width, image->scale_num, image->scale_den,
			    image->width) ||
	    !is_scale_sound(image->source_height, image->scale_num, image->scale_den,
			    image->height))
		return false;
	for (uint32_t i = 0; i < wanted; i++) {
		const struct fw_image_plane *plane = &image->planes[i];
		uint64_t row_bytes = (uint64_t)plane->width * (is_interleaved ? 3 : 1);
		if (row_bytes > plane->stride ||
		    plane->offset + (uint64_t)plane->stride * plane->height > cell_bytes)
			return false;
		if (!is_part_of(image->width, plane->width) ||
		    !is_part_of(image->height, plane->height))
			return false;
	}
	return image->planes[0].width == image->width && image->planes[0].height == image->height;
}

static uint64_t resized_length(uint32_t length, uint32_t other, uint32_t resize)
{
	/* torchvision: int(size * long / short) for the longer side. */
	return length <= other ? resize : (uint64_t)resize * length / other;
}

static fw_status plan(struct fw_preprocess_scratch *s, const struct fw_image *image,
		      struct layout *layout, struct fw_error *err)
{
	const struct fw_preprocess *p = &s->preprocess;
	uint32_t o = image->orientation;
	uint32_t width = image->source_width, height = image->source_height;
	double ratio = (double)image->scale_num / image->scale_den;
	struct fw_axis_lengths along = { .source = width * ratio,
					 .decoded = image->width,
					 .resized = resized_length(width, height, p->resize),
					 .is_mirrored = o == 2 || o == 3 || o == 7 || o == 8 };
	struct fw_axis_lengths down = { .source = height * ratio,
					.decoded = image->height,
					.resized = resized_length(height, width, p->resize),
					.is_mirrored = o == 3 || o == 4 || o == 6 || o == 7 };
	fw_status status = fw_axis_plan(&s->x, &along, p->crop, err);

	if (status == FW_OK)
		status = fw_axis_plan(&s->y, &down, p->crop, err);
	if (status != FW_OK)
		return status;
	/* From orientation 5 on, the picture's rows are the crop's columns. */
	ptrdiff_t x_unit = o < 5 ? 1 : (ptrdiff_t)p->crop;
	ptrdiff_t y_unit = o < 5 ? (ptrdiff_t)p->crop : 1;
	layout->start = (ptrdiff_t)s->x.position * x_unit + (ptrdiff_t)s->y.position * y_unit;
	layout->by_column = s->x.step * x_unit;
	layout->by_row = s->y.step * y_unit;
	return FW_OK;
}

/* Levels are never below 0, so cutting the fraction rounds half up, as PIL does. */
static inline fw_pixel round_levels(fw_pixel levels)
{
	return __builtin_convertvector(__builtin_convertvector(levels + 0.5f, fw_pixel_int),
				       fw_pixel);
}

static void resize_row(const struct fw_axis *axis, const fw_pixel *row, fw_pixel *out)
{
	for (uint32_t i = 0; i < axis->n_pixels; i++) {
		const float *weights = axis->weights + (size_t)i * axis->max_taps;
		const fw_pixel *in = row + (axis->first[i] - axis->begin);
		fw_pixel sum = { 0 };

		for (uint32_t t = 0; t < axis->n_taps; t++)
			sum += in[t] * weights[t];
		out[i] = round_levels(sum);
	}
}

/* One row of the crop out of the resized rows that it is made of, normalised. */
static void write_row(const struct fw_preprocess_scratch *s, uint32_t j, float *out,
		      ptrdiff_t stride)
{
	const float *weights = s->y.weights + (size_t)j * s->y.max_taps;
	const fw_pixel scale = { s->scale[0], s->scale[1], s->scale[2], 0 };
	const fw_pixel shift = { s->shift[0], s->shift[1], s->shift[2], 0 };

	for (uint32_t t = 0; t < s->y.n_taps; t++)
		s->row_order[t] = s->resized_rows + (size_t)((s->y.first[j] + t) % s->y.max_taps) *
							    s->preprocess.crop;
	for (uint32_t i = 0; i < s->x.n_pixels; i++, out += stride) {
		fw_pixel sum = { 0 };

		for (uint32_t t = 0; t < s->y.n_taps; t++)
			sum += s->row_order[t][i] * weights[t];
		sum = round_levels(sum) * scale + shift;
		out[0] = sum[0];
		out[1] = sum[1];
		out[2] = sum[2];
	}
}

/* Every pixel, where the crop is larger than the picture (black) or a pixel has more than three floats. */
static void fill(const struct fw_preprocess_scratch *s, float *out, size_t pixel_stride)
{
	uint32_t crop = s->preprocess.crop;
	bool is_padded = s->x.n_pixels < crop || s->y.n_pixels < crop;

	if (!is_padded && pixel_stride == 3)
		return;
	for (size_t i = 0; i < (size_t)crop * crop; i++, out += pixel_stride) {
		memcpy(out, s->shift, sizeof(s->shift));
		for (size_t c = 3; c < pixel_stride; c++)
			out[c] = 0;
	}
}

fw_status fw_preprocess_cpu(struct fw_preprocess_scratch *s, const uint8_t *cell,
			    const struct fw_image *image, float *out, size_t pixel_stride,
			    struct fw_error *err)
{
	struct layout layout;
	fw_status status;

	if (pixel_stride < 3 || pixel_stride > 64)
		return fw_fail(err, FW_ERR_ARGUMENT, "pixels of %zu floats", pixel_stride);
	if (!is_image_sound(image, s->cell_bytes))
		return fw_fail(err, FW_ERR_ARGUMENT, "the description of the image is damaged");
	status = plan(s, image, &layout, err);
	if (status != FW_OK)
		return status;
	if (s->x.end - s->x.begin > s->row_room)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "the crop needs %u columns of the picture; there is room for %u",
			       s->x.end - s->x.begin, s->row_room);

	struct fw_row_reader reader = { .cell = cell,
					.image = image,
					.tables = &s->tables,
					.begin = s->x.begin,
					.end = s->x.end,
					.chroma = { s->chroma[0], s->chroma[1] },
					.column_sums = s->column_sums };
	uint32_t next = s->y.begin;
	fill(s, out, pixel_stride);
	for (uint32_t j = 0; j < s->y.n_pixels; j++) {
		for (; next < s->y.first[j] + s->y.n_taps; next++) {
			fw_row_read(&reader, next, s->row);
			resize_row(&s->x, s->row,
				   s->resized_rows +
					   (size_t)(next % s->y.max_taps) * s->preprocess.crop);
		}
		write_row(s, j,
			  out + (layout.start + (ptrdiff_t)j * layout.by_row) *
					  (ptrdiff_t)pixel_stride,
			  layout.by_column * (ptrdiff_t)pixel_stride);
	}
	return FW_OK;
}
