/*
 * preprocess_image MIN_SHORT_SIDE RESIZE CROP REPEAT FILE...: decodes and preprocesses each file with the default limits
 * and writes one line of text about it and then, where that is "ok", crop x crop x 3 floats. REPEAT above 1 measures: the
 * least microseconds of decoding and of preprocessing are in the line, and no floats follow.
 */
#include "pipeline/image.h"
#include "pipeline/preprocess.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CELL_BYTES ((size_t)64 << 20)

struct stages {
	struct fw_image_decoder *decoder;
	struct fw_preprocess_scratch *scratch;
	uint8_t *cell;
	float *out;
	uint32_t crop;
	long repeat;
};

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static uint8_t *read_all(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *bytes = NULL;
	long end;

	*size = 0;
	if (f && !fseek(f, 0, SEEK_END) && (end = ftell(f)) >= 0 && !fseek(f, 0, SEEK_SET)) {
		/* Exactly as many bytes as the file has, so that the address sanitizer sees any read past it. */
		bytes = malloc(end ? (size_t)end : 1);
		if (bytes)
			*size = fread(bytes, 1, (size_t)end, f);
	}
	if (f)
		fclose(f);
	return bytes;
}

static void run_one(const struct stages *s, const char *path)
{
	double decode_us = 1e30, preprocess_us = 1e30;
	struct fw_error err = { 0 };
	struct fw_image image = { 0 };
	fw_status status = FW_OK;
	size_t size;
	uint8_t *bytes = read_all(path, &size);

	for (long i = 0; bytes && i < s->repeat && status == FW_OK; i++) {
		double start = now_us(), middle;
		status =
			fw_image_decode(s->decoder, bytes, size, s->cell, CELL_BYTES, &image, &err);
		middle = now_us();
		if (status == FW_OK)
			status = fw_preprocess_cpu(s->scratch, s->cell, &image, s->out, 3, &err);
		double end = now_us();
		decode_us = middle - start < decode_us ? middle - start : decode_us;
		preprocess_us = end - middle < preprocess_us ? end - middle : preprocess_us;
	}
	if (!bytes || status != FW_OK)
		printf("error %d %s\n", (int)status, bytes ? err.message : "cannot be read");
	else
		printf("ok %u x %u, orientation %u, %.1f us, %.1f us\n", image.width, image.height,
		       image.orientation, s->repeat > 1 ? decode_us : 0,
		       s->repeat > 1 ? preprocess_us : 0);
	if (bytes && status == FW_OK && s->repeat == 1)
		fwrite(s->out, sizeof(float), (size_t)s->crop * s->crop * 3, stdout);
	free(bytes);
}

int main(int argc, char **argv)
{
	struct fw_preprocess preprocess;
	struct fw_image_limits limits;
	struct stages s = { 0 };
	struct fw_error err;

	if (argc < 6)
		return 2;
	fw_image_limits_init(&limits);
	fw_preprocess_init(&preprocess);
	limits.max_seconds = 60; /* sanitizers */
	limits.min_short_side = limits.wanted_short_side = (uint32_t)strtoul(argv[1], NULL, 10);
	preprocess.resize = (uint32_t)strtoul(argv[2], NULL, 10);
	preprocess.crop = s.crop = (uint32_t)strtoul(argv[3], NULL, 10);
	s.repeat = strtol(argv[4], NULL, 10);
	s.cell = malloc(CELL_BYTES);
	s.out = calloc((size_t)s.crop * s.crop * 3, sizeof(float));
	if (!s.cell || !s.out || fw_image_decoder_open(&limits, &s.decoder, &err) != FW_OK ||
	    fw_preprocess_open(&preprocess, CELL_BYTES, &s.scratch, &err) != FW_OK)
		return 1;
	for (int i = 5; i < argc; i++)
		run_one(&s, argv[i]);
	fw_preprocess_close(s.scratch);
	fw_image_decoder_close(s.decoder);
	free(s.cell);
	free(s.out);
	return 0;
}
