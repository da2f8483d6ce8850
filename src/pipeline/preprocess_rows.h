#ifndef FW_PIPELINE_PREPROCESS_ROWS_H
#define FW_PIPELINE_PREPROCESS_ROWS_H
/*
 * One row of a decoded picture as RGB, the integers that libjpeg-turbo's own upsampling ("fancy", triangle) and colour
 * conversion give, held in floats: the same bytes as PIL decodes.
 */
#include "pipeline/image.h"

/* R, G, B and a fourth without meaning. Vectors of four are native to x86-64 and AArch64. */
typedef float fw_pixel __attribute__((vector_size(16)));
typedef int32_t fw_pixel_int __attribute__((vector_size(16)));

/* What one Cb and one Cr add to R, G, B, times 65536, rounding included. Immutable once made. */
struct fw_colour_tables {
	fw_pixel_int cb[256], cr[256];
};

void fw_colour_tables_init(struct fw_colour_tables *tables);

struct fw_row_reader {
	const uint8_t *cell;
	const struct fw_image *image;
	const struct fw_colour_tables *tables;
	uint32_t begin, end;   /* columns wanted */
	uint8_t *chroma[2];    /* each holds end - begin + 8 samples */
	uint16_t *column_sums; /* likewise */
};

/* Fills out[0 .. end - begin) with row y. */
void fw_row_read(const struct fw_row_reader *reader, uint32_t y, fw_pixel *out);

#endif
