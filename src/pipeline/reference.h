#ifndef FW_PIPELINE_REFERENCE_H
#define FW_PIPELINE_REFERENCE_H
/* The CPU's engine, to ask what is right. It is made ready in a thread of its own while the GPU's engine chooses. */
#include "nn/engine.h"
#include "pipeline/preprocess.h"

struct fw_reference;

/* graph must outlive it, and is only read. */
fw_status fw_reference_start(const struct fw_nn_graph *graph, struct fw_reference **reference,
			     struct fw_error *err);
/* Waits until it is ready. FW_ERR_UNSUPPORTED: this build has no such engine, or it cannot run the model. */
fw_status fw_reference_wait(struct fw_reference *reference, struct fw_error *err);

/* A picture in a cell to scores. It is ready. */
struct fw_reference_picture {
	const struct fw_preprocess *preprocess;
	const uint8_t *cell;
	size_t cell_bytes;
	const struct fw_image *image;
};
fw_status fw_reference_score(struct fw_reference *reference,
			     const struct fw_reference_picture *picture, float *scores,
			     struct fw_error *err);

/* Ready or not. NULL is accepted. */
void fw_reference_close(struct fw_reference *reference);

#endif
