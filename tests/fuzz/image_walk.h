#ifndef FW_TESTS_FUZZ_IMAGE_WALK_H
#define FW_TESTS_FUZZ_IMAGE_WALK_H
/* Decodes hostile bytes into a cell of exactly the size named, under small limits, and preprocesses what comes out. */
#include "pipeline/image.h"
#include "pipeline/preprocess.h"

#include <stdlib.h>

enum { WALK_CELL_BYTES = 1 << 20, WALK_CROP = 24 };

static void decode_and_preprocess(const uint8_t *data, size_t size, uint32_t min_short_side)
{
	const struct fw_preprocess preprocess = { 32, WALK_CROP, { 0, 0, 0 }, { 1, 1, 1 } };
	struct fw_preprocess_scratch *scratch = NULL;
	struct fw_image_decoder *decoder = NULL;
	struct fw_image_limits limits;
	struct fw_image image;
	uint8_t *cell = malloc(WALK_CELL_BYTES);
	float *out = malloc(sizeof(float) * WALK_CROP * WALK_CROP * 4);

	fw_image_limits_init(&limits);
	limits.max_pixels = 1000 * 1000;
	limits.max_scans = 20;
	limits.max_seconds = 1;
	limits.max_memory = 8 << 20;
	limits.min_short_side = limits.wanted_short_side = min_short_side;
	if (cell && out && fw_image_decoder_open(&limits, &decoder, NULL) == FW_OK &&
	    fw_preprocess_open(&preprocess, WALK_CELL_BYTES, &scratch, NULL) == FW_OK &&
	    fw_image_decode(decoder, data, size, cell, WALK_CELL_BYTES, &image, NULL) == FW_OK &&
	    fw_preprocess_cpu(scratch, cell, &image, out, 4, NULL) != FW_OK)
		abort(); /* what the decoder gives must be a picture */
	fw_preprocess_close(scratch);
	fw_image_decoder_close(decoder);
	free(cell);
	free(out);
}

#endif
