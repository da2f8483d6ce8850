/* Bytes of an image to planes in a cell: tells the format, keeps the limits, hands over to the format's decoder. */
#include "pipeline/image.h"

#include "pipeline/image_decoder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Rows start on a multiple of this, so that loops over a row may use whole vectors. */
#define ROW_ALIGNMENT 32u

struct fw_image_decoder {
	struct fw_image_limits limits;
};

void fw_image_limits_init(struct fw_image_limits *limits)
{
	*limits = (struct fw_image_limits){
		.max_pixels = 100 * 1000 * 1000,
		.max_scans = 100,
		.max_seconds = 2,
		.max_memory = (uint64_t)256 << 20,
	};
}

enum fw_image_format fw_image_sniff(const void *bytes, size_t size)
{
	static const uint8_t jpeg[3] = { 0xff, 0xd8, 0xff };
	static const uint8_t png[8] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };

	if (size >= sizeof(jpeg) && !memcmp(bytes, jpeg, sizeof(jpeg)))
		return FW_IMAGE_JPEG;
	if (size >= sizeof(png) && !memcmp(bytes, png, sizeof(png)))
		return FW_IMAGE_PNG;
	return FW_IMAGE_UNKNOWN;
}

fw_status fw_image_decoder_open(const struct fw_image_limits *limits,
				struct fw_image_decoder **decoder, struct fw_error *err)
{
	*decoder = NULL;
	if (!limits->max_pixels || !limits->max_scans || !limits->max_memory)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "the limits on pixels, scans and memory of an image must not be 0");
	if (!(limits->max_seconds >= 0 && limits->max_seconds <= 3600))
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "the limit on seconds for an image must be from 0 to 3600, not %g",
			       limits->max_seconds);
	*decoder = malloc(sizeof(**decoder));
	if (!*decoder)
		return fw_fail_nomem(err, sizeof(**decoder));
	(*decoder)->limits = *limits;
	return FW_OK;
}

void fw_image_decoder_close(struct fw_image_decoder *decoder)
{
	free(decoder);
}

static int64_t thread_cpu_ns(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now))
		return 0;
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool fw_image_is_late(const struct fw_image_job *job)
{
	return job->deadline_ns && thread_cpu_ns() > job->deadline_ns;
}

fw_status fw_image_fail_late(const struct fw_image_job *job)
{
	return fw_fail(job->err, FW_ERR_UNSUPPORTED,
		       "the image of %u x %u pixels took more than %g s of CPU time to decode",
		       job->image->source_width, job->image->source_height,
		       job->limits->max_seconds);
}

fw_status fw_image_set_source(struct fw_image_job *job, uint32_t width, uint32_t height)
{
	if (!width || !height)
		return fw_fail(job->err, FW_ERR_FORMAT, "the image has %u x %u pixels", width,
			       height);
	if ((uint64_t)width * height > job->limits->max_pixels)
		return fw_fail(job->err, FW_ERR_UNSUPPORTED,
			       "the image has %u x %u pixels; the limit is %llu pixels", width,
			       height, (unsigned long long)job->limits->max_pixels);
	job->image->source_width = width;
	job->image->source_height = height;
	return FW_OK;
}

bool fw_image_wants_less(const struct fw_image_job *job, uint64_t bytes, uint64_t next)
{
	const struct fw_image_limits *limits = job->limits;
	bool is_large = limits->wanted_short_side && next >= limits->wanted_short_side;

	return limits->min_short_side && next >= limits->min_short_side &&
	       (is_large || bytes > job->cell_bytes);
}

static uint64_t stride_of(uint32_t row_bytes)
{
	return ((uint64_t)row_bytes + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
}

uint64_t fw_image_plane_bytes(uint32_t row_bytes, uint32_t rows)
{
	return stride_of(row_bytes) * rows;
}

fw_status fw_image_add_plane(struct fw_image_job *job, uint32_t row_bytes, uint32_t rows,
			     struct fw_image_plane **plane)
{
	uint64_t stride = stride_of(row_bytes), bytes = fw_image_plane_bytes(row_bytes, rows);

	if (bytes > job->cell_bytes - job->cell_used || bytes > UINT32_MAX - job->cell_used)
		return fw_fail(job->err, FW_ERR_UNSUPPORTED,
			       "the image, decoded to %u x %u pixels, does not fit the %zu bytes "
			       "that one image may have",
			       job->image->width, job->image->height, job->cell_bytes);
	*plane = &job->image->planes[job->image->n_planes++];
	(*plane)->stride = (uint32_t)stride;
	(*plane)->offset = (uint32_t)job->cell_used;
	job->cell_used += bytes;
	return FW_OK;
}

fw_status fw_image_decode(struct fw_image_decoder *decoder, const void *bytes, size_t size,
			  uint8_t *cell, size_t cell_bytes, struct fw_image *image,
			  struct fw_error *err)
{
	struct fw_image_job job = {
		.limits = &decoder->limits,
		.bytes = bytes,
		.size = size,
		.cell = cell,
		.cell_bytes = cell_bytes,
		.image = image,
		.err = err,
	};

	memset(image, 0, sizeof(*image));
	image->orientation = 1;
	if (decoder->limits.max_seconds > 0)
		job.deadline_ns = thread_cpu_ns() + (int64_t)(decoder->limits.max_seconds * 1e9);
	switch (fw_image_sniff(bytes, size)) {
	case FW_IMAGE_JPEG: return fw_image_decode_jpeg(&job);
	case FW_IMAGE_PNG:
#if FW_PIPELINE_WITH_PNG
		return fw_image_decode_png(&job);
#else
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "PNG images need a build with libspng (package libspng-dev)");
#endif
	case FW_IMAGE_UNKNOWN: break;
	}
	return fw_fail(err, FW_ERR_FORMAT, "not a JPEG%s image",
		       FW_PIPELINE_WITH_PNG ? " or PNG" : "");
}

size_t fw_image_cell_bytes(uint32_t min_short_side, double max_aspect)
{
	/* Scales are 1/8, 1/4, 1/2 and 1, so that the short side is less than twice the wanted; blocks are of up to 32. */
	double shorter = 2.0 * (min_short_side ? min_short_side : 1) + ROW_ALIGNMENT;
	double longer =
		ceil(2.0 * (min_short_side ? min_short_side : 1) * max_aspect) + ROW_ALIGNMENT;
	double bytes = 3 * shorter * longer;

	return bytes < (double)UINT32_MAX ? (size_t)bytes : UINT32_MAX;
}
