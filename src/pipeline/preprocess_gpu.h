#ifndef FW_PIPELINE_PREPROCESS_GPU_H
#define FW_PIPELINE_PREPROCESS_GPU_H
/* fw_preprocess_cpu's sums on a GPU, for a batch at a time: planes in, the network's input out. */
#include "gpu/cuda.h"
#include "nn/engine.h"
#include "pipeline/preprocess.h"

/*
 * An image of a batch. Of kind FW_IMAGE_TENSOR: three planes of crop x crop floats, which are the input but for their order
 * (pipeline/tensor.h).
 */
struct fw_gpu_picture {
	uint64_t cell; /* device address of its planes */
	struct fw_image image;
	uint32_t is_present, pad;
};

struct fw_preprocess_gpu; /* scratch for max_batch pictures on the current context's GPU; immutable tables */
fw_status fw_preprocess_gpu_open(const struct fw_cuda *cuda, const struct fw_preprocess *preprocess,
				 uint32_t max_batch, size_t cell_bytes,
				 struct fw_preprocess_gpu **made, struct fw_error *err);
void fw_preprocess_gpu_close(struct fw_preprocess_gpu *p);
size_t fw_preprocess_gpu_bytes(const struct fw_preprocess_gpu *p); /* of device memory */

/*
 * Enqueues only, so that it can be captured. pictures: device address of n struct fw_gpu_picture; input: as
 * fw_nn_instance_io gives it. A picture that is not present, or does not make sense, becomes zeros.
 */
fw_status fw_preprocess_gpu_launch(struct fw_preprocess_gpu *p, uint64_t pictures, uint32_t n,
				   const struct fw_nn_io *input, void *stream,
				   struct fw_error *err);

/* Rows of the crop that a block makes; 0: as the batch asks for. For measurements. */
void fw_preprocess_gpu_set_tile(struct fw_preprocess_gpu *p, uint32_t rows);

#endif
