#ifndef FW_TESTS_MADE_JPEG_H
#define FW_TESTS_MADE_JPEG_H
/* JPEGs of every sampling, written by libjpeg. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

struct made_jpeg {
	uint32_t width, height;
	int h, v; /* of the luma */
	bool is_grey, is_rgb, is_progressive;
	uint32_t restart_interval; /* MCUs */
	int quality;
	uint32_t seed;
};

/* Waves, a slope, and some noise. */
static inline uint8_t made_level(const struct made_jpeg *wish, uint32_t x, uint32_t y, uint32_t c)
{
	uint32_t noise = (x * 2654435761u ^ y * 2246822519u ^ (c + wish->seed) * 3266489917u) >> 29;

	return (uint8_t)((x * (c + 1) + y * (3 - c) + ((x / 16 + y / 24 + wish->seed) % 2) * 90) /
				 2 +
			 noise);
}

/* The caller frees it. */
static inline uint8_t *made_jpeg_write(const struct made_jpeg *wish, size_t *size)
{
	struct jpeg_compress_struct jpeg;
	struct jpeg_error_mgr errors;
	unsigned char *bytes = NULL;
	unsigned long n = 0;
	uint32_t channels = wish->is_grey ? 1 : 3;
	JSAMPROW row = malloc((size_t)wish->width * channels);

	if (!row)
		abort();
	jpeg.err = jpeg_std_error(&errors);
	jpeg_create_compress(&jpeg);
	jpeg_mem_dest(&jpeg, &bytes, &n);
	jpeg.image_width = wish->width;
	jpeg.image_height = wish->height;
	jpeg.input_components = (int)channels;
	jpeg.in_color_space = wish->is_grey ? JCS_GRAYSCALE : JCS_RGB;
	jpeg_set_defaults(&jpeg);
	if (wish->is_rgb)
		jpeg_set_colorspace(&jpeg, JCS_RGB);
	jpeg_set_quality(&jpeg, wish->quality, TRUE);
	jpeg.comp_info[0].h_samp_factor = wish->h;
	jpeg.comp_info[0].v_samp_factor = wish->v;
	jpeg.restart_interval = wish->restart_interval;
	if (wish->is_progressive)
		jpeg_simple_progression(&jpeg);
	jpeg_start_compress(&jpeg, TRUE);
	while (jpeg.next_scanline < wish->height) {
		for (uint32_t i = 0; i < wish->width * channels; i++)
			row[i] = made_level(wish, i / channels, jpeg.next_scanline, i % channels);
		jpeg_write_scanlines(&jpeg, &row, 1);
	}
	jpeg_finish_compress(&jpeg);
	jpeg_destroy_compress(&jpeg);
	free(row);
	*size = n;
	return bytes;
}

#endif
