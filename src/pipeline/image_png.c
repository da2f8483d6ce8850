/* PNG to one plane of RGB with libspng, row by row, reduced on the way: means of k x k pixels. */
#include "pipeline/image_decoder.h"
#include "pipeline/image_exif.h"

#include <stdlib.h>

#include <spng.h>

/* As wide and high as a JPEG can be: bounds libspng's two rows of up to 8 bytes a pixel. */
#define MAX_SIDE 65535
/* Text, profiles and other chunks beside the picture are limited to this together. */
#define MAX_CHUNK_BYTES     ((size_t)1 << 20)
#define ROWS_BETWEEN_CLOCKS 16
/* 4096 x 4096 samples of 255, and half as many again for rounding, stay below 2^32. */
#define MAX_FACTOR 4096u

struct reduction {
	uint32_t factor;
	uint32_t width;  /* of the source */
	uint8_t *row;    /* one row of the source, RGB */
	uint32_t *sums;  /* of the rows so far, for each sample of the reduced row */
	uint32_t n_rows; /* in sums */
};

static fw_status fail_png(const struct fw_image_job *job, int code)
{
	fw_status status = FW_ERR_FORMAT;

	if (code == SPNG_EMEM)
		status = FW_ERR_NOMEM;
	else if (code == SPNG_EUSER_WIDTH || code == SPNG_EUSER_HEIGHT ||
		 code == SPNG_ECHUNK_LIMITS)
		status = FW_ERR_UNSUPPORTED;
	return fw_fail(job->err, status, "PNG: %s (libspng %d)", spng_strerror(code), code);
}

static uint32_t choose_factor(const struct fw_image_job *job)
{
	uint32_t width = job->image->source_width, height = job->image->source_height;
	uint32_t shorter = width < height ? width : height, factor = 1;

	while (factor < MAX_FACTOR &&
	       fw_image_wants_less(job,
				   fw_image_plane_bytes((width + factor - 1) / factor * 3,
							(height + factor - 1) / factor),
				   shorter / (factor + 1)))
		factor++;
	return factor;
}

static void add_row(struct reduction *r)
{
	const uint8_t *in = r->row;
	uint32_t *out = r->sums;

	for (uint32_t x = 0; x < r->width; x += r->factor, out += 3) {
		uint32_t n = r->width - x < r->factor ? r->width - x : r->factor;
		for (uint32_t i = 0; i < n; i++, in += 3) {
			out[0] += in[0];
			out[1] += in[1];
			out[2] += in[2];
		}
	}
	r->n_rows++;
}

static void emit_row(struct reduction *r, uint8_t *out)
{
	uint32_t *in = r->sums;

	for (uint32_t x = 0; x < r->width; x += r->factor, in += 3, out += 3) {
		uint32_t n = r->width - x < r->factor ? r->width - x : r->factor;
		n *= r->n_rows;
		for (uint32_t i = 0; i < 3; i++) {
			out[i] = (uint8_t)((in[i] + n / 2) / n);
			in[i] = 0;
		}
	}
	r->n_rows = 0;
}

static fw_status read_rows(struct fw_image_job *job, spng_ctx *png, struct reduction *r,
			   const struct fw_image_plane *plane)
{
	struct fw_image *image = job->image;
	size_t row_bytes = (size_t)image->source_width * 3;
	uint8_t *out = job->cell + plane->offset;

	for (uint32_t y = 0; y < image->source_height; y++) {
		bool is_last = y + 1 == image->source_height;
		uint8_t *to = r->factor > 1 ? r->row : out;
		int code = spng_decode_row(png, to, row_bytes);
		if (code && !(code == SPNG_EOI && is_last))
			return fail_png(job, code);
		if (r->factor > 1)
			add_row(r);
		if (r->factor > 1 && (r->n_rows == r->factor || is_last))
			emit_row(r, out);
		if (r->factor == 1 || !r->n_rows)
			out += plane->stride;
		if (y % ROWS_BETWEEN_CLOCKS == 0 && fw_image_is_late(job))
			return fw_image_fail_late(job);
	}
	return FW_OK;
}

/* Interlaced rows come several times and out of order, so they are only read where no reduction is needed. */
static fw_status read_interlaced(struct fw_image_job *job, spng_ctx *png,
				 const struct fw_image_plane *plane)
{
	size_t row_bytes = (size_t)job->image->source_width * 3;
	struct spng_row_info info;
	int code;

	do {
		code = spng_get_row_info(png, &info);
		if (code)
			break;
		if (info.row_num >= job->image->source_height)
			return fail_png(job, SPNG_EINTERNAL);
		code = spng_decode_row(
			png, job->cell + plane->offset + (size_t)info.row_num * plane->stride,
			row_bytes);
		if (info.row_num % ROWS_BETWEEN_CLOCKS == 0 && fw_image_is_late(job))
			return fw_image_fail_late(job);
	} while (!code);
	return code == SPNG_EOI ? FW_OK : fail_png(job, code);
}

static fw_status read_reduced(struct fw_image_job *job, spng_ctx *png, uint32_t factor,
			      const struct fw_image_plane *plane)
{
	size_t row_bytes = (size_t)job->image->source_width * 3;
	size_t sums_bytes = (size_t)plane->width * 3 * sizeof(uint32_t);
	struct reduction reduction = {
		.factor = factor,
		.width = job->image->source_width,
		.row = factor > 1 ? malloc(row_bytes) : NULL,
		.sums = factor > 1 ? calloc(1, sums_bytes) : NULL,
	};
	fw_status status;

	if (factor > 1 && (!reduction.row || !reduction.sums))
		status = fw_fail_nomem(job->err, row_bytes + sums_bytes);
	else
		status = read_rows(job, png, &reduction, plane);
	free(reduction.row);
	free(reduction.sums);
	return status;
}

static fw_status lay_out(struct fw_image_job *job, uint32_t factor, struct fw_image_plane **plane)
{
	struct fw_image *image = job->image;
	fw_status status;

	image->kind = FW_IMAGE_RGB;
	image->scale_num = 1;
	image->scale_den = factor;
	image->width = (image->source_width + factor - 1) / factor;
	image->height = (image->source_height + factor - 1) / factor;
	status = fw_image_add_plane(job, image->width * 3, image->height, plane);
	if (status != FW_OK)
		return status;
	(*plane)->width = image->width;
	(*plane)->height = image->height;
	return FW_OK;
}

static fw_status set_up(struct fw_image_job *job, spng_ctx *png)
{
	int code = spng_set_png_buffer(png, job->bytes, job->size);

	if (!code)
		code = spng_set_crc_action(png, SPNG_CRC_ERROR, SPNG_CRC_ERROR);
	if (!code)
		code = spng_set_image_limits(png, MAX_SIDE, MAX_SIDE);
	if (!code)
		code = spng_set_chunk_limits(png, MAX_CHUNK_BYTES, MAX_CHUNK_BYTES);
	return code ? fail_png(job, code) : FW_OK;
}

static fw_status decode(struct fw_image_job *job, spng_ctx *png)
{
	struct fw_image_plane *plane;
	struct spng_ihdr header;
	struct spng_exif exif;
	fw_status status;
	uint32_t factor;
	int code = spng_get_ihdr(png, &header);

	if (code)
		return fail_png(job, code);
	status = fw_image_set_source(job, header.width, header.height);
	if (status != FW_OK)
		return status;
	factor = header.interlace_method ? 1 : choose_factor(job);
	status = lay_out(job, factor, &plane);
	if (status != FW_OK)
		return status;
	code = spng_decode_image(png, NULL, 0, SPNG_FMT_RGB8, SPNG_DECODE_PROGRESSIVE);
	if (code)
		return fail_png(job, code);
	status = header.interlace_method ? read_interlaced(job, png, plane)
					 : read_reduced(job, png, factor, plane);
	if (status != FW_OK)
		return status;
	code = spng_decode_chunks(
		png); /* up to IEND, so that a file cut after its last row is seen */
	if (code)
		return fail_png(job, code);
	if (!spng_get_exif(png, &exif))
		job->image->orientation =
			fw_exif_orientation((const uint8_t *)exif.data, exif.length);
	return FW_OK;
}

fw_status fw_image_decode_png(struct fw_image_job *job)
{
	spng_ctx *png = spng_ctx_new(0);
	fw_status status;

	if (!png)
		return fw_fail(job->err, FW_ERR_NOMEM, "PNG: out of memory");
	status = set_up(job, png);
	if (status == FW_OK)
		status = decode(job, png);
	spng_ctx_free(png);
	return status;
}
