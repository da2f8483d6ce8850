#ifndef FW_PIPELINE_SAMPLES_H
#define FW_PIPELINE_SAMPLES_H
/* Pictures of our own, the same on every machine, and what the CPU's engine makes of them: what a GPU is checked against. */
#include "pipeline/classifier_parts.h"

#define FW_SAMPLES 3u /* YCbCr with halved chroma and turned, interleaved RGB, grey */

struct fw_samples {
	uint8_t *cells; /* FW_SAMPLES of cell_bytes */
	size_t cell_bytes;
	struct fw_image images[FW_SAMPLES];
	float *scores; /* of the CPU's engine, a row for each; NULL: it cannot be asked, and that was said */
};

/* Bytes for `cells`; the caller's, as page-locked as the pipeline's own cells are. */
size_t fw_samples_bytes(const struct fw_classifier *c);

/* Fills what cells points to, and describes it. */
void fw_samples_make(const struct fw_classifier *c, uint8_t *cells, struct fw_samples *samples);

/* Asks the CPU's engine. */
fw_status fw_samples_score(const struct fw_classifier *c, struct fw_samples *samples,
			   struct fw_error *err);
/* All but the cells. */
void fw_samples_release(struct fw_samples *samples);

/* A batch of n samples over and over, in a prepared size; answers go to ids and probabilities, size x top. */
void fw_samples_batch(const struct fw_samples *samples, uint32_t n, struct fw_flow_batch *batch);

#endif
