#ifndef FW_PIPELINE_NVJPEG_LANE_H
#define FW_PIPELINE_NVJPEG_LANE_H
/*
 * JPEGs to planes in the GPU's memory by nvJPEG: by the hardware engine where the GPU has one, else by the GPU's kernels.
 * What nvJPEG fails at is decoded here by libjpeg and copied, one picture at a time: right, and slow.
 */
#include "gpu/cuda.h"
#include "pipeline/image.h"

struct fw_nvjpeg_lane; /* one thread at a time, in the context that was current when it was opened */

struct fw_nvjpeg_lane_options {
	const struct fw_cuda *cuda; /* outlives the lane */
	const char *library;        /* NULL: found; see fw_nvjpeg_open */
	bool avoids_hardware;       /* for comparisons */
	uint32_t max_batch;
	size_t cell_bytes;
	struct fw_image_limits limits; /* of what is decoded on the CPU */
	void *pinned; /* fw_nvjpeg_lane_pinned_bytes of page-locked memory, which outlives the lane */
};

size_t fw_nvjpeg_lane_pinned_bytes(uint32_t max_batch, size_t cell_bytes);

/* A JPEG that fw_nvjpeg_lane_takes took. */
struct fw_nvjpeg_picture {
	const uint8_t *bytes;
	uint64_t cell; /* of the GPU: cell_bytes, which nothing reads or writes meanwhile */
	struct fw_image *image; /* compressed_bytes is 0 afterwards */
	fw_status status;       /* set where it is damaged */
	struct fw_error *err;
};

/* FW_ERR_UNSUPPORTED: there is no nvJPEG, or it has no decoder for this GPU. */
fw_status fw_nvjpeg_lane_open(const struct fw_nvjpeg_lane_options *options,
			      struct fw_nvjpeg_lane **lane, struct fw_error *err);
void fw_nvjpeg_lane_close(struct fw_nvjpeg_lane *lane);

/*
 * Whether a JPEG is one for the lane: of a kind that nvJPEG decodes to the planes that libjpeg decodes, and whole in
 * cell_bytes. image then describes the planes to come, with compressed_bytes set. Needs no GPU; any thread.
 */
bool fw_nvjpeg_lane_takes(const void *bytes, size_t size, size_t cell_bytes,
			  struct fw_image *image);

/*
 * Returns when the planes are there. The hardware engine does not wait for what stream holds, so the cells must be idle when
 * this is called. An error is one of the GPU.
 */
fw_status fw_nvjpeg_lane_decode(struct fw_nvjpeg_lane *lane, struct fw_nvjpeg_picture *pictures,
				uint32_t n, void *stream, struct fw_error *err);

struct fw_nvjpeg_lane_counts {
	uint64_t decoded;     /* by nvJPEG */
	uint64_t unsupported; /* by the engine of this GPU; decoded by the CPU, as all below */
	uint64_t failed;      /* in a batch that nvJPEG refused */
	uint64_t left_out;    /* nvJPEG said that it had decoded them, but nothing was written */
};
void fw_nvjpeg_lane_count(const struct fw_nvjpeg_lane *lane, struct fw_nvjpeg_lane_counts *counts);

bool fw_nvjpeg_lane_is_hardware(const struct fw_nvjpeg_lane *lane);
/* One line for people: which decoder. */
const char *fw_nvjpeg_lane_kind(const struct fw_nvjpeg_lane *lane);

#endif
