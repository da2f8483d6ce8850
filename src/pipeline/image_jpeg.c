/*
 * JPEG to planes with libjpeg-turbo: entropy decoding and the inverse DCT only ("raw data"), scaled down in the DCT.
 * libjpeg reports errors by a call that must not return, hence setjmp; everything a jump may skip lives in struct reader.
 */
#include "pipeline/image_decoder.h"
#include "pipeline/image_exif.h"

#include <limits.h>
#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>
/* Only the list of jerror.h: its macros use functions that are banned here. */
#define JERROR_H
#define JMESSAGE(code, string) code,
enum jpeg_message {
#include <jerror.h>
	JPEG_MESSAGE_COUNT
};

/* The most rows of one component in a row of MCUs: a sampling factor of up to 4, blocks of 8. */
#define MAX_MCU_ROWS (MAX_SAMP_FACTOR * DCTSIZE)

struct reader {
	struct jpeg_decompress_struct jpeg;
	struct jpeg_error_mgr errors;
	struct jpeg_progress_mgr progress;
	struct fw_image_job *job;
	fw_status status; /* set before the jump where it is not libjpeg's own error */
	jmp_buf jump;
	uint32_t plane_rows[3]; /* whole blocks: at least the plane's height */
};

static struct reader *reader_of(j_common_ptr jpeg)
{
	return jpeg->client_data;
}

/* Codes of libjpeg for files that are sound but not within what it decodes. */
static bool is_unsupported(int code)
{
	switch (code) {
	case JERR_ARITH_NOTIMPL:
	case JERR_BAD_PRECISION:
	case JERR_CCIR601_NOTIMPL:
	case JERR_CONVERSION_NOTIMPL:
	case JERR_FRACT_SAMPLE_NOTIMPL:
	case JERR_NOT_COMPILED:
	case JERR_SOF_UNSUPPORTED: return true;
	default: return false;
	}
}

static void jump_out(j_common_ptr jpeg)
{
	struct reader *reader = reader_of(jpeg);
	struct fw_image_job *job = reader->job;
	char text[JMSG_LENGTH_MAX];

	if (reader->status == FW_OK) {
		size_t left = jpeg->is_decompressor && reader->jpeg.src
				      ? reader->jpeg.src->bytes_in_buffer
				      : 0;
		int code = jpeg->err->msg_code;

		jpeg->err->format_message(jpeg, text);
		if (code == JERR_NO_BACKING_STORE || code == JERR_OUT_OF_MEMORY)
			reader->status = fw_fail(
				job->err, FW_ERR_NOMEM,
				"the JPEG of %u x %u pixels needs more than %llu bytes to decode",
				job->image->source_width, job->image->source_height,
				(unsigned long long)job->limits->max_memory);
		else
			reader->status = fw_fail(
				job->err, is_unsupported(code) ? FW_ERR_UNSUPPORTED : FW_ERR_FORMAT,
				"JPEG, byte %zu of %zu: %s",
				left <= job->size ? job->size - left : job->size, job->size, text);
	}
	longjmp(reader->jump, 1);
}

/*
 * Warnings are damage: libjpeg goes on with grey or garbage. Harmless, because no sample depends on them: bytes between
 * two markers, an unknown minor version of JFIF, and a progressive file's parameters in a sequential scan.
 */
static void on_message(j_common_ptr jpeg, int level)
{
	int code = jpeg->err->msg_code;

	if (level >= 0)
		return;
	if (code == JWRN_EXTRANEOUS_DATA || code == JWRN_JFIF_MAJOR || code == JWRN_NOT_SEQUENTIAL)
		return;
	jump_out(jpeg);
}

static void print_nothing(j_common_ptr jpeg)
{
	(void)jpeg;
}

/* Called once a row of MCUs of every scan. */
static void on_progress(j_common_ptr jpeg)
{
	struct reader *reader = reader_of(jpeg);
	struct fw_image_job *job = reader->job;
	int scans = reader->jpeg.input_scan_number;

	if (scans > 0 && (uint32_t)scans > job->limits->max_scans) {
		reader->status = fw_fail(job->err, FW_ERR_UNSUPPORTED,
					 "the JPEG has more than %u scans", job->limits->max_scans);
		jump_out(jpeg);
	}
	if (fw_image_is_late(job)) {
		reader->status = fw_image_fail_late(job);
		jump_out(jpeg);
	}
}

static fw_status choose_kind(struct reader *reader)
{
	static const char *const names[] = { "unknown", "grey", "RGB", "YCbCr", "CMYK", "YCCK" };
	struct jpeg_decompress_struct *jpeg = &reader->jpeg;
	struct fw_image *image = reader->job->image;
	unsigned space = (unsigned)jpeg->jpeg_color_space;

	if (space == JCS_GRAYSCALE && jpeg->num_components == 1)
		image->kind = FW_IMAGE_GREY;
	else if (space == JCS_YCbCr && jpeg->num_components == 3)
		image->kind = FW_IMAGE_YCBCR;
	else if (space == JCS_RGB && jpeg->num_components == 3)
		image->kind = FW_IMAGE_RGB;
	else
		return fw_fail(reader->job->err, FW_ERR_UNSUPPORTED,
			       "the JPEG's colours are %s with %d components; grey, YCbCr and RGB "
			       "are read: convert it to one of them",
			       space < sizeof(names) / sizeof(names[0]) ? names[space] : names[0],
			       jpeg->num_components);
	jpeg->out_color_space = jpeg->jpeg_color_space;
	return FW_OK;
}

/* After jpeg_calc_output_dimensions. */
static uint64_t planes_bytes(const struct jpeg_decompress_struct *jpeg)
{
	uint64_t bytes = 0;

	for (int i = 0; i < jpeg->num_components; i++) {
		const jpeg_component_info *component = &jpeg->comp_info[i];
		uint32_t block = (uint32_t)component->DCT_scaled_size;
		bytes += fw_image_plane_bytes(component->width_in_blocks * block,
					      component->height_in_blocks * block);
	}
	return bytes;
}

/* One of 1, 1/2, 1/4 and 1/8: the scales that libjpeg-turbo has vector code for. */
static void choose_scale(struct reader *reader)
{
	struct jpeg_decompress_struct *jpeg = &reader->jpeg;
	uint64_t shorter =
		jpeg->image_width < jpeg->image_height ? jpeg->image_width : jpeg->image_height;

	jpeg->scale_denom = 8;
	for (jpeg->scale_num = 8;; jpeg->scale_num /= 2) {
		uint64_t next = (shorter * (jpeg->scale_num / 2) + 7) / 8;
		jpeg_calc_output_dimensions(jpeg);
		if (jpeg->scale_num == 1 ||
		    !fw_image_wants_less(reader->job, planes_bytes(jpeg), next))
			return;
	}
}

/* Chroma may be sampled once for 1, 2 or 4 luma samples each way; the first component must be the full picture. */
static bool is_sampling_known(const struct jpeg_decompress_struct *jpeg)
{
	int max_h = jpeg->max_h_samp_factor * jpeg->min_DCT_scaled_size;
	int max_v = jpeg->max_v_samp_factor * jpeg->min_DCT_scaled_size;

	for (int i = 0; i < jpeg->num_components; i++) {
		const jpeg_component_info *component = &jpeg->comp_info[i];
		int h = component->h_samp_factor * component->DCT_scaled_size;
		int v = component->v_samp_factor * component->DCT_scaled_size;
		if (max_h % h || max_v % v)
			return false;
		int ratio_h = max_h / h, ratio_v = max_v / v;
		if (ratio_h == 3 || ratio_v == 3 || ratio_h > 4 || ratio_v > 4)
			return false;
		if (i == 0 && (ratio_h != 1 || ratio_v != 1))
			return false;
	}
	return true;
}

static fw_status lay_out_planes(struct reader *reader)
{
	struct jpeg_decompress_struct *jpeg = &reader->jpeg;
	struct fw_image_job *job = reader->job;

	if (!is_sampling_known(jpeg))
		return fw_fail(job->err, FW_ERR_UNSUPPORTED,
			       "the JPEG's chroma subsampling is none that is known");
	job->image->width = jpeg->output_width;
	job->image->height = jpeg->output_height;
	job->image->scale_num = jpeg->scale_num;
	job->image->scale_den = jpeg->scale_denom;
	for (int i = 0; i < jpeg->num_components; i++) {
		const jpeg_component_info *component = &jpeg->comp_info[i];
		uint32_t block = (uint32_t)component->DCT_scaled_size;
		struct fw_image_plane *plane;
		/* libjpeg writes whole blocks, past the picture's edge. */
		reader->plane_rows[i] = component->height_in_blocks * block;
		fw_status status = fw_image_add_plane(job, component->width_in_blocks * block,
						      reader->plane_rows[i], &plane);
		if (status != FW_OK)
			return status;
		plane->width = component->downsampled_width;
		plane->height = component->downsampled_height;
	}
	return FW_OK;
}

static fw_status read_planes(struct reader *reader)
{
	struct jpeg_decompress_struct *jpeg = &reader->jpeg;
	struct fw_image *image = reader->job->image;
	JSAMPROW rows[3][MAX_MCU_ROWS];
	JSAMPARRAY planes[3] = { rows[0], rows[1], rows[2] };
	JDIMENSION lines = (JDIMENSION)(jpeg->max_v_samp_factor * jpeg->min_DCT_scaled_size);

	for (uint32_t mcu_row = 0; jpeg->output_scanline < jpeg->output_height; mcu_row++) {
		for (uint32_t i = 0; i < image->n_planes; i++) {
			const struct fw_image_plane *plane = &image->planes[i];
			uint32_t n = (uint32_t)(jpeg->comp_info[i].v_samp_factor *
						jpeg->comp_info[i].DCT_scaled_size);
			for (uint32_t r = 0; r < n; r++) {
				uint64_t row = (uint64_t)mcu_row * n + r;
				if (row >= reader->plane_rows[i])
					row = reader->plane_rows[i] - 1; /* not written */
				rows[i][r] =
					reader->job->cell + plane->offset + row * plane->stride;
			}
		}
		if (jpeg_read_raw_data(jpeg, planes, lines) != lines)
			return fw_fail(reader->job->err, FW_ERR_FORMAT,
				       "the JPEG ends at line %u of %u", jpeg->output_scanline,
				       jpeg->output_height);
	}
	return FW_OK;
}

static fw_status decode(struct reader *reader)
{
	struct jpeg_decompress_struct *jpeg = &reader->jpeg;
	struct fw_image_job *job = reader->job;
	fw_status status;

	jpeg_mem_src(jpeg, job->bytes, job->size);
	jpeg_read_header(jpeg, TRUE);
	status = fw_image_set_source(job, jpeg->image_width, jpeg->image_height);
	if (status != FW_OK)
		return status;
	status = choose_kind(reader);
	if (status != FW_OK)
		return status;
	jpeg->raw_data_out = TRUE;
	choose_scale(reader);
	status = lay_out_planes(reader);
	if (status != FW_OK)
		return status;
	jpeg_start_decompress(jpeg);
	status = read_planes(reader);
	if (status != FW_OK)
		return status;
	/* Reads up to the end marker, so that a file cut after its last block is seen too. */
	jpeg_finish_decompress(jpeg);
	job->image->orientation = fw_exif_orientation_of_jpeg(job->bytes, job->size);
	return FW_OK;
}

/* The only frame with a setjmp: it changes no variable of its own after it. */
static fw_status decode_or_jump(struct reader *reader)
{
	struct jpeg_decompress_struct *jpeg = &reader->jpeg;
	uint64_t most = reader->job->limits->max_memory;

	if (setjmp(reader->jump))
		return reader->status;
	/* A fresh object for every picture: one kept would lend its tables to a file that has none. */
	jpeg_create_decompress(jpeg);
	jpeg->progress = &reader->progress;
	jpeg->mem->max_memory_to_use = most < LONG_MAX ? (long)most : LONG_MAX;
	return decode(reader);
}

fw_status fw_image_decode_jpeg(struct fw_image_job *job)
{
	struct reader reader = { .job = job };
	fw_status status;

	reader.jpeg.err = jpeg_std_error(&reader.errors);
	reader.jpeg.client_data = &reader;
	reader.errors.error_exit = jump_out;
	reader.errors.emit_message = on_message;
	reader.errors.output_message = print_nothing;
	reader.progress.progress_monitor = on_progress;
	status = decode_or_jump(&reader);
	jpeg_destroy_decompress(&reader.jpeg);
	return status;
}
