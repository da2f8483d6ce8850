/* Planes to rows of RGB: chroma upsampling and the colour conversion of JFIF, in libjpeg-turbo's integers. */
#include "pipeline/preprocess_rows.h"

/* The ratio of a plane to the picture along one axis; more than one answer only where all give the same samples. */
static uint32_t ratio_of(uint32_t full, uint32_t part)
{
	for (uint32_t ratio = 1; ratio < 4; ratio *= 2)
		if (((uint64_t)full + ratio - 1) / ratio == part)
			return ratio;
	return 4;
}

void fw_colour_tables_init(struct fw_colour_tables *tables)
{
	/* 1.402, 0.71414, 0.34414 and 1.772 of JFIF, times 65536, as libjpeg rounds them. */
	for (int32_t i = 0; i < 256; i++) {
		int32_t x = i - 128;
		tables->cr[i] = (fw_pixel_int){ 91881 * x + 32768, -46802 * x + 32768, 0, 0 };
		tables->cb[i] = (fw_pixel_int){ 0, -22554 * x, 116130 * x + 32768, 0 };
	}
}

/*
 * Twice as many samples of [begin, end) of a row of n: three quarters of the nearer and one of the farther neighbour. A
 * sample at the picture's edge is its own neighbour.
 */
static inline void widen(const uint16_t *restrict sums, uint32_t n, uint16_t even, uint16_t odd,
			 uint8_t *restrict out)
{
	/* Sixteen bits hold 4 x 4 x 255. sums[0] is the left neighbour of the first. */
	for (uint32_t i = 0; i < n; i++) {
		uint16_t here = (uint16_t)(3 * sums[i + 1]);
		uint16_t left = (uint16_t)(here + sums[i] + even);
		uint16_t right = (uint16_t)(here + sums[i + 2] + odd);
		out[2 * i] = (uint8_t)(left >> (even == 8 ? 4 : 2));
		out[2 * i + 1] = (uint8_t)(right >> (even == 8 ? 4 : 2));
	}
}

static const uint8_t *row_of(const struct fw_row_reader *reader, const struct fw_image_plane *plane,
			     uint32_t y)
{
	if (y >= plane->height)
		y = plane->height - 1;
	return reader->cell + plane->offset + (size_t)y * plane->stride;
}

/* The row farther from output row y where two output rows share one of the plane. */
static const uint8_t *other_row_of(const struct fw_row_reader *reader,
				   const struct fw_image_plane *plane, uint32_t y)
{
	uint32_t row = y / 2;

	if (y % 2)
		return row_of(reader, plane, row + 1);
	return row_of(reader, plane, row ? row - 1 : 0);
}

static const uint8_t *widen_row(const struct fw_row_reader *reader,
				const struct fw_image_plane *plane, uint32_t y, bool is_2_rows,
				uint8_t *out)
{
	const uint8_t *near = row_of(reader, plane, is_2_rows ? y / 2 : y);
	uint32_t begin = reader->begin / 2, end = (reader->end + 1) / 2;
	uint16_t *sums = reader->column_sums + 1;

	if (is_2_rows) {
		const uint8_t *far = other_row_of(reader, plane, y);
		for (uint32_t c = begin; c < end; c++)
			sums[c - begin] = (uint16_t)(3 * near[c] + far[c]);
		uint32_t left = begin ? begin - 1 : 0, right = end < plane->width ? end : end - 1;
		sums[-1] = (uint16_t)(3 * near[left] + far[left]);
		sums[end - begin] = (uint16_t)(3 * near[right] + far[right]);
		widen(reader->column_sums, end - begin, 8, 7, out); /* sums are 4 samples */
	} else {
		for (uint32_t c = begin; c < end; c++)
			sums[c - begin] = near[c];
		sums[-1] = near[begin ? begin - 1 : 0];
		sums[end - begin] = near[end < plane->width ? end : end - 1];
		widen(reader->column_sums, end - begin, 1, 2, out);
	}
	return out + reader->begin % 2;
}

/* Samples [begin, end) of row y of a plane, at the picture's resolution. libjpeg chooses in the same way. */
static const uint8_t *upsample(const struct fw_row_reader *reader,
			       const struct fw_image_plane *plane, uint32_t y, uint8_t *out)
{
	uint32_t h = ratio_of(reader->image->width, plane->width);
	uint32_t v = ratio_of(reader->image->height, plane->height);
	uint32_t begin = reader->begin, end = reader->end;
	const uint8_t *near = row_of(reader, plane, y / v);

	if (h == 1 && v == 1)
		return near + begin;
	if (h == 2 && v <= 2 && plane->width > 2)
		return widen_row(reader, plane, y, v == 2, out);
	if (h == 1 && v == 2) {
		const uint8_t *far = other_row_of(reader, plane, y);
		uint32_t bias = y % 2 ? 2 : 1;
		for (uint32_t x = begin; x < end; x++)
			out[x - begin] = (uint8_t)((3u * near[x] + far[x] + bias) >> 2);
		return out;
	}
	for (uint32_t x = begin; x < end; x++)
		out[x - begin] = near[x / h];
	return out;
}

static void convert_ycbcr(const struct fw_row_reader *reader, uint32_t y, fw_pixel *out)
{
	const struct fw_image_plane *planes = reader->image->planes;
	const struct fw_colour_tables *tables = reader->tables;
	const uint8_t *luma = row_of(reader, &planes[0], y) + reader->begin;
	const uint8_t *cb = upsample(reader, &planes[1], y, reader->chroma[0]);
	const uint8_t *cr = upsample(reader, &planes[2], y, reader->chroma[1]);

	for (uint32_t x = 0; x < reader->end - reader->begin; x++) {
		int32_t l = luma[x] << 16;
		fw_pixel_int rgb = { l, l, l, l };
		rgb = (rgb + tables->cb[cb[x]] + tables->cr[cr[x]]) >> 16;
		rgb &= ~(rgb >> 31); /* not below 0 */
		fw_pixel_int over = rgb > 255;
		rgb = (rgb & ~over) | (over & 255);
		out[x] = __builtin_convertvector(rgb, fw_pixel);
	}
}

static void convert_rgb_planes(const struct fw_row_reader *reader, uint32_t y, fw_pixel *out)
{
	const struct fw_image_plane *planes = reader->image->planes;
	const uint8_t *r = row_of(reader, &planes[0], y) + reader->begin;
	const uint8_t *g = upsample(reader, &planes[1], y, reader->chroma[0]);
	const uint8_t *b = upsample(reader, &planes[2], y, reader->chroma[1]);

	for (uint32_t x = 0; x < reader->end - reader->begin; x++)
		out[x] = (fw_pixel){ r[x], g[x], b[x], 0 };
}

void fw_row_read(const struct fw_row_reader *reader, uint32_t y, fw_pixel *out)
{
	const struct fw_image *image = reader->image;
	const uint8_t *row = row_of(reader, &image->planes[0], y);
	uint32_t n = reader->end - reader->begin;

	if (image->kind == FW_IMAGE_YCBCR) {
		convert_ycbcr(reader, y, out);
	} else if (image->kind == FW_IMAGE_GREY) {
		for (uint32_t x = 0; x < n; x++) {
			float l = row[reader->begin + x];
			out[x] = (fw_pixel){ l, l, l, 0 };
		}
	} else if (image->n_planes == 1) {
		row += (size_t)reader->begin * 3;
		for (uint32_t x = 0; x < n; x++, row += 3)
			out[x] = (fw_pixel){ row[0], row[1], row[2], 0 };
	} else {
		convert_rgb_planes(reader, y, out);
	}
}
