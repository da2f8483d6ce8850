/* A libnvjpeg without a GPU; see nvjpeg.h. */
#include "nvjpeg.h"

#include "gpu/nvjpeg.h"
#include "pipeline/jpeg_header.h"

#include <stdlib.h>
#include <string.h>

#define EXPORT     __attribute__((visibility("default")))
#define CELL_BYTES ((size_t)16 << 20)

enum { SUCCESS, NOT_INITIALIZED, INVALID, BAD_JPEG, NOT_SUPPORTED, ARCH_MISMATCH = 7 };

static struct fake_nvjpeg_script script;

struct state {
	int batch;
};

struct header {
	int width;
};

EXPORT struct fake_nvjpeg_script *fake_nvjpeg(void)
{
	return &script;
}

EXPORT int nvjpegGetProperty(int type, int *value)
{
	*value = type ? 0 : 13;
	return SUCCESS;
}

EXPORT int nvjpegCreateEx(int backend, void *device, void *pinned, unsigned flags, void **handle)
{
	(void)device;
	(void)pinned;
	(void)flags;
	if (backend == FW_NVJPEG_HARDWARE && script.lacks_hardware)
		return ARCH_MISMATCH;
	script.backend = backend;
	*handle = malloc(1);
	return SUCCESS;
}

EXPORT int nvjpegDestroy(void *handle)
{
	free(handle);
	return SUCCESS;
}

EXPORT int nvjpegJpegStateCreate(void *handle, void **state)
{
	(void)handle;
	*state = calloc(1, sizeof(struct state));
	return SUCCESS;
}

EXPORT int nvjpegJpegStateDestroy(void *state)
{
	free(state);
	return SUCCESS;
}

EXPORT int nvjpegJpegStreamCreate(void *handle, void **stream)
{
	(void)handle;
	*stream = calloc(1, sizeof(struct header));
	return SUCCESS;
}

EXPORT int nvjpegJpegStreamDestroy(void *stream)
{
	free(stream);
	return SUCCESS;
}

/* Decodes into *cell, which the caller frees. */
static int decode(const unsigned char *bytes, size_t size, uint8_t **cell, struct fw_image *image)
{
	struct fw_image_decoder *decoder;
	struct fw_image_limits limits;
	fw_status status;

	fw_image_limits_init(&limits);
	*cell = malloc(CELL_BYTES);
	if (!*cell || fw_image_decoder_open(&limits, &decoder, NULL))
		abort();
	status = fw_image_decode(decoder, bytes, size, *cell, CELL_BYTES, image, NULL);
	fw_image_decoder_close(decoder);
	return status ? BAD_JPEG : SUCCESS;
}

EXPORT int nvjpegJpegStreamParseHeader(void *handle, const unsigned char *bytes, size_t size,
				       void *stream)
{
	struct header *header = stream;
	struct fw_jpeg_header read;

	(void)handle;
	if (!fw_jpeg_header_read(bytes, size, &read))
		return BAD_JPEG;
	header->width = (int)read.width;
	return SUCCESS;
}

EXPORT int nvjpegDecodeBatchedSupported(void *handle, void *stream, int *is_supported)
{
	const struct header *header = stream;

	(void)handle;
	*is_supported = header->width == script.refuses_width;
	return SUCCESS;
}

EXPORT int nvjpegDecodeBatchedInitialize(void *handle, void *state, int batch, int threads,
					 int format)
{
	(void)handle;
	((struct state *)state)->batch = batch;
	return threads >= 1 && format == FW_NVJPEG_OUTPUT_YUV ? SUCCESS : INVALID;
}

static int decode_to(const unsigned char *bytes, size_t size, const struct fw_nvjpeg_image *to)
{
	struct fw_image image;
	uint8_t *cell;
	int result = decode(bytes, size, &cell, &image);

	if (!result && (int)image.width == script.fails_width)
		result = BAD_JPEG;
	for (uint32_t i = 0; !result && i < image.n_planes; i++) {
		const struct fw_image_plane *plane = &image.planes[i];

		if ((int)image.width == script.skips_width || script.writes_nothing)
			break;
		for (uint32_t y = 0; y < plane->height; y++)
			memcpy(to->channel[i] + y * to->pitch[i],
			       cell + plane->offset + (size_t)y * plane->stride, plane->width);
	}
	free(cell);
	return result;
}

/* How many pictures a state is for is known only to the state. */
EXPORT int nvjpegDecodeBatched(void *handle, void *state, const unsigned char *const *bytes,
			       const size_t *sizes, struct fw_nvjpeg_image *images, void *stream)
{
	struct state *s = state;
	int result = s->batch ? SUCCESS : NOT_INITIALIZED;

	(void)handle;
	(void)stream;
	script.batches++;
	script.last_batch = s->batch;
	for (int i = 0; i < s->batch && !result; i++)
		result = decode_to(bytes[i], sizes[i], &images[i]);
	if (result)
		s->batch = 0;
	return result;
}
