/*
 * write_jpeg WIDTH HEIGHT SAMPLING SPACE MODE: RGB on standard input becomes a JPEG on standard output. SAMPLING: the
 * factors of the first component, such as 2x1; SPACE: ycc, rgb, cmyk or grey (of the first channel); MODE: baseline,
 * progressive or restart. Pillow writes only three samplings and no RGB.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

static J_COLOR_SPACE space_of(const char *name)
{
	return !strcmp(name, "rgb")    ? JCS_RGB
	       : !strcmp(name, "cmyk") ? JCS_CMYK
	       : !strcmp(name, "grey") ? JCS_GRAYSCALE
				       : JCS_YCbCr;
}

static int read_row(unsigned char *row, unsigned width, J_COLOR_SPACE space)
{
	int bytes = space == JCS_CMYK ? 4 : space == JCS_GRAYSCALE ? 1 : 3;

	for (unsigned x = 0; x < width; x++, row += bytes) {
		unsigned char rgb[4] = { 0 };
		if (fread(rgb, 1, 3, stdin) != 3)
			return -1;
		memcpy(row, rgb, (size_t)bytes);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct jpeg_compress_struct jpeg;
	struct jpeg_error_mgr errors;

	if (argc != 6)
		return 2;
	J_COLOR_SPACE space = space_of(argv[4]);
	jpeg.err = jpeg_std_error(&errors);
	jpeg_create_compress(&jpeg);
	jpeg_stdio_dest(&jpeg, stdout);
	jpeg.image_width = (JDIMENSION)strtoul(argv[1], NULL, 10);
	jpeg.image_height = (JDIMENSION)strtoul(argv[2], NULL, 10);
	jpeg.input_components = space == JCS_CMYK ? 4 : space == JCS_GRAYSCALE ? 1 : 3;
	jpeg.in_color_space = space == JCS_YCbCr ? JCS_RGB : space;
	jpeg_set_defaults(&jpeg);
	jpeg_set_colorspace(&jpeg, space);
	jpeg_set_quality(&jpeg, 90, TRUE);
	jpeg.comp_info[0].h_samp_factor = argv[3][0] - '0';
	jpeg.comp_info[0].v_samp_factor = argv[3][2] - '0';
	if (!strcmp(argv[5], "progressive"))
		jpeg_simple_progression(&jpeg);
	if (!strcmp(argv[5], "restart"))
		jpeg.restart_interval = 3;
	jpeg_start_compress(&jpeg, TRUE);
	unsigned char *row = malloc((size_t)jpeg.image_width * 4);
	while (row && jpeg.next_scanline < jpeg.image_height)
		if (read_row(row, jpeg.image_width, space) ||
		    jpeg_write_scanlines(&jpeg, &row, 1) != 1)
			return 1;
	jpeg_finish_compress(&jpeg);
	jpeg_destroy_compress(&jpeg);
	free(row);
	return fclose(stdout) ? 1 : 0;
}
