/* Tensors through the flow: in at the decoding stage as they are, interleaved for the network. */
#include "pipeline/tensor.h"

#include <math.h>
#include <string.h>

#define CHANNELS 3u

size_t fw_tensor_bytes(uint32_t side)
{
	return CHANNELS * sizeof(float) * side * side;
}

/* An activation may make a zero of what is no number, and classes of nothing. */
static fw_status check_finite(const uint8_t *bytes, size_t count, struct fw_error *err)
{
	for (size_t i = 0; i < count; i++) {
		float value;

		memcpy(&value, bytes + i * sizeof(value), sizeof(value));
		if (!isfinite(value))
			return fw_fail(err, FW_ERR_ARGUMENT, "element %zu of the tensor is %g", i,
				       (double)value);
	}
	return FW_OK;
}

fw_status fw_tensor_take(const struct fw_flow_picture *picture, uint32_t side, struct fw_error *err)
{
	struct fw_image *image = picture->image;
	size_t bytes = fw_tensor_bytes(side);

	if (picture->size != bytes)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "a tensor of %zu bytes: 3 x %u x %u floats are %zu", picture->size,
			       side, side, bytes);
	if (picture->cell_bytes < bytes)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "a tensor of %zu bytes does not fit a cell of %zu", bytes,
			       picture->cell_bytes);
	memcpy(picture->cell, picture->bytes, bytes);
	*image = (struct fw_image){
		.kind = FW_IMAGE_TENSOR,
		.width = side,
		.height = side,
		.source_width = side,
		.source_height = side,
		.scale_num = 1,
		.scale_den = 1,
		.orientation = 1,
		.n_planes = CHANNELS,
	};
	for (uint32_t i = 0; i < CHANNELS; i++)
		image->planes[i] = (struct fw_image_plane){
			.width = side,
			.height = side,
			.stride = side * (uint32_t)sizeof(float),
			.offset = i * (uint32_t)(bytes / CHANNELS),
		};
	return check_finite(picture->cell, bytes / sizeof(float), err);
}

void fw_tensor_write(const uint8_t *cell, const struct fw_image *image, float *out,
		     size_t pixel_stride)
{
	size_t pixels = (size_t)image->width * image->height;

	for (uint32_t c = 0; c < CHANNELS; c++) {
		const uint8_t *plane = cell + image->planes[c].offset;

		for (size_t i = 0; i < pixels; i++)
			memcpy(out + i * pixel_stride + c, plane + i * sizeof(float),
			       sizeof(float));
	}
	for (size_t i = 0; i < pixels; i++)
		for (size_t c = CHANNELS; c < pixel_stride; c++)
			out[i * pixel_stride + c] = 0;
}
