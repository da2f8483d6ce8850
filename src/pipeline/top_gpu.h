#ifndef FW_PIPELINE_TOP_GPU_H
#define FW_PIPELINE_TOP_GPU_H
/* fw_top_classes on a GPU, for a batch at a time. */
#include "gpu/cuda.h"
#include "nn/engine.h"

#define FW_TOP_NO_CLASS                                                                            \
	UINT32_MAX /* in every answer of a row that has a score which is not finite */

struct fw_gpu_answer {
	uint32_t id;
	float probability;
};

struct fw_top_gpu; /* a module on the current context's GPU; immutable */
fw_status fw_top_gpu_open(const struct fw_cuda *cuda, struct fw_top_gpu **made,
			  struct fw_error *err);
void fw_top_gpu_close(struct fw_top_gpu *t);

/* What the scores are and how many of them are wanted. */
struct fw_top_gpu_rows {
	uint32_t n, classes;
	uint32_t top;           /* at most classes */
	bool are_probabilities; /* else softmax makes them so */
};

/*
 * Enqueues only, so that it can be captured. scores: as fw_nn_instance_io gives the output; answers: device address of n x
 * top struct fw_gpu_answer, the best first, equal scores by id.
 */
fw_status fw_top_gpu_launch(struct fw_top_gpu *t, const struct fw_nn_io *scores,
			    const struct fw_top_gpu_rows *rows, uint64_t answers, void *stream,
			    struct fw_error *err);

#endif
