#ifndef FW_NN_CUDNN_WEIGHTS_H
#define FW_NN_CUDNN_WEIGHTS_H
/* Constants on the GPU, each once in each form, shared by plans and instances. One thread. Initialise with fw_nn_weights_init. */
#include "base/vec.h"
#include "nn/cudnn_gpu.h"

enum fw_nn_form {
	FW_NN_FORM_ROWS,     /* k x (r, s, c): cuDNN and products */
	FW_NN_FORM_CHANNELS, /* (r, s) x k: our depthwise kernels */
	FW_NN_FORM_VECTOR    /* k elements; without data: zeros */
};

struct fw_nn_weights {
	const struct fw_nn_gpu *gpu;
	enum fw_nn_precision precision;
	struct fw_vec uploads;
	size_t bytes;
};

void fw_nn_weights_init(struct fw_nn_weights *weights, const struct fw_nn_gpu *gpu,
			enum fw_nn_precision precision);
/* c: channels to write, of which those that the weight lacks are zero (the padded input). */
fw_status fw_nn_weights_get(struct fw_nn_weights *weights, const struct fw_nn_weight *weight,
			    enum fw_nn_form form, int64_t c, uint64_t *address,
			    struct fw_error *err);
void fw_nn_weights_release(struct fw_nn_weights *weights);

/* count floats in a type; to has room for them. Rounds to nearest even; too large is infinite. */
void fw_nn_narrow(enum fw_nn_precision precision, const float *from, size_t count, void *to);

#endif
