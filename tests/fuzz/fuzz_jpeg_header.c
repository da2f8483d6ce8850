/* The markers of a JPEG, as the decoder on the GPU is told them: what is taken fits its cell and makes sense. */
#include "pipeline/nvjpeg_lane.h"
#include "pipeline/preprocess.h"

#include <stdlib.h>

/* A cell that some of the pictures do not fit. */
#define CELL_BYTES ((size_t)1 << 14)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void preprocess_planes(const struct fw_image *image)
{
	const struct fw_preprocess settings = { .resize = 8, .crop = 7, .std = { 1, 1, 1 } };
	struct fw_preprocess_scratch *scratch = NULL;
	uint8_t *cell = calloc(1, CELL_BYTES);
	float *out = malloc(7 * 7 * 3 * sizeof(*out));

	if (!cell || !out || fw_preprocess_open(&settings, CELL_BYTES, &scratch, NULL) ||
	    fw_preprocess_cpu(scratch, cell, image, out, 3, NULL))
		abort();
	fw_preprocess_close(scratch);
	free(cell);
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fw_image image;

	if (!fw_nvjpeg_lane_takes(data, size, CELL_BYTES, &image))
		return 0;
	if (!image.compressed_bytes || image.compressed_bytes > size)
		abort();
	image.compressed_bytes = 0;
	preprocess_planes(&image);
	return 0;
}
