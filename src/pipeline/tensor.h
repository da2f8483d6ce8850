#ifndef FW_PIPELINE_TENSOR_H
#define FW_PIPELINE_TENSOR_H
/*
 * The network's own input instead of an image: 3 planes of side x side floats in a cell, in ONNX's order, at the offsets
 * that the image's planes tell.
 */
#include "pipeline/flow.h"

/* What a cell needs for one. */
size_t fw_tensor_bytes(uint32_t side);

/* Copies it into its cell and describes it. FW_ERR_ARGUMENT: not of that size, or a number that is not finite. */
fw_status fw_tensor_take(const struct fw_flow_picture *picture, uint32_t side,
			 struct fw_error *err);

/* out: as fw_preprocess_cpu's. */
void fw_tensor_write(const uint8_t *cell, const struct fw_image *image, float *out,
		     size_t pixel_stride);

#endif
