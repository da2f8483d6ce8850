#ifndef FW_PIPELINE_IMAGE_H
#define FW_PIPELINE_IMAGE_H
/*
 * Compressed image in, planes out, into memory that the caller gave: a cell of a pinned slab, or of the heap. JPEG is
 * decoded as far as the entropy coding and the inverse DCT go (libjpeg-turbo's raw data: Y, Cb, Cr at their own
 * resolution, scaled down in the DCT where the limits say so); colour, resize, crop and
 * normalisation are left to fw_preprocess_cpu or to a GPU kernel that does the same sums. PNG gives RGB, reduced by a
 * whole factor (means of k x k pixels) under the same rule; alpha is dropped, as PIL's convert("RGB") does.
 */
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fw_image_format { FW_IMAGE_UNKNOWN, FW_IMAGE_JPEG, FW_IMAGE_PNG };
/* TENSOR: no picture, the network's own input: see pipeline/tensor.h. */
enum fw_image_kind { FW_IMAGE_YCBCR, FW_IMAGE_GREY, FW_IMAGE_RGB, FW_IMAGE_TENSOR };

struct fw_image_limits {
	uint64_t max_pixels; /* of the header's width x height; default 100 million */
	uint32_t max_scans;  /* of a progressive JPEG; default 100 */
	double max_seconds;  /* of CPU time for one image; default 2; 0: none */
	uint64_t max_memory; /* of the decoder beside the cell, bytes; default 256 MiB */
	/*
	 * A picture is reduced only where its cell is too small for it or more than wanted_short_side would remain, and
	 * never below min_short_side. 0: never reduced; only where the cell is too small. What reducing costs in exactness:
	 * docs/design/images.md.
	 */
	uint32_t min_short_side, wanted_short_side;
};

struct fw_image_plane {
	uint32_t width, height, stride; /* samples, samples, bytes */
	uint32_t offset;                /* from the cell's start, bytes */
};

/* What lies in a cell. Plain data: copied to the GPU beside the samples. */
struct fw_image {
	uint32_t kind;                        /* enum fw_image_kind */
	uint32_t width, height;               /* of the picture as decoded, before orientation */
	uint32_t source_width, source_height; /* as the header says */
	/* One pixel of the source is scale_num / scale_den of one decoded; the last may stick out past the source. */
	uint32_t scale_num, scale_den;
	uint32_t orientation; /* EXIF 1 to 8 */
	uint32_t n_planes;
	/* Not 0: the planes are to come; at the cell's start lie so many bytes of a JPEG (pipeline/nvjpeg_lane.h). */
	uint32_t compressed_bytes;
	/* RGB: one plane of 3-byte pixels (PNG), or three planes (JPEG). The first is width x height; chroma may be less. */
	struct fw_image_plane planes[3];
};

void fw_image_limits_init(struct fw_image_limits *limits);

/* The format by its first bytes. */
enum fw_image_format fw_image_sniff(const void *bytes, size_t size);

struct fw_image_decoder; /* reusable, one thread at a time; memory bounded by the limits */
fw_status fw_image_decoder_open(const struct fw_image_limits *limits,
				struct fw_image_decoder **decoder, struct fw_error *err);
void fw_image_decoder_close(struct fw_image_decoder *decoder);

/*
 * FW_ERR_FORMAT: not an image, truncated or corrupt (the offset where known); FW_ERR_UNSUPPORTED: colour space, depth or
 * format; FW_ERR_LIMIT-like cases (too many pixels, scans, seconds; the planes do not fit cell_bytes) say the limit and
 * the value. cell is untouched beyond cell_bytes in every case.
 */
fw_status fw_image_decode(struct fw_image_decoder *decoder, const void *bytes, size_t size,
			  uint8_t *cell, size_t cell_bytes, struct fw_image *image,
			  struct fw_error *err);

/*
 * A cell that holds every picture that the scaled decode to this short side can give, up to a source whose short side is
 * 16 times min_short_side; aspect: longest over shortest.
 */
size_t fw_image_cell_bytes(uint32_t min_short_side, double max_aspect);

#endif
