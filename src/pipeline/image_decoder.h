#ifndef FW_PIPELINE_IMAGE_DECODER_H
#define FW_PIPELINE_IMAGE_DECODER_H
/* What the decoders of the formats share: one job, its clock, and the carving of planes out of its cell. */
#include "pipeline/image.h"

struct fw_image_job {
	const struct fw_image_limits *limits;
	const uint8_t *bytes;
	size_t size;
	uint8_t *cell;
	size_t cell_bytes;
	size_t cell_used;
	int64_t deadline_ns; /* of this thread's CPU time; 0: none */
	struct fw_image *image;
	struct fw_error *err;
};

/* Whether the job's time is over. */
bool fw_image_is_late(const struct fw_image_job *job);

/* The failure for a job that is late. */
fw_status fw_image_fail_late(const struct fw_image_job *job);

/* Checks a header's size against the limits and notes it in the image. */
fw_status fw_image_set_source(struct fw_image_job *job, uint32_t width, uint32_t height);

/*
 * Whether to reduce the picture by another step, to `next` samples on its short side, when it takes `bytes` of the cell now.
 */
bool fw_image_wants_less(const struct fw_image_job *job, uint64_t bytes, uint64_t next);

/* What fw_image_add_plane takes of the cell. */
uint64_t fw_image_plane_bytes(uint32_t row_bytes, uint32_t rows);

/* Carves the next plane: rows of row_bytes, each row starting on a multiple of 32 bytes. */
fw_status fw_image_add_plane(struct fw_image_job *job, uint32_t row_bytes, uint32_t rows,
			     struct fw_image_plane **plane);

fw_status fw_image_decode_jpeg(struct fw_image_job *job);
fw_status fw_image_decode_png(struct fw_image_job *job);

#endif
