#ifndef FW_PIPELINE_WARM_UP_H
#define FW_PIPELINE_WARM_UP_H
/*
 * A network's first runs: every prepared batch size twice, on inputs of our own, and a check of what comes out. A few
 * inputs are repeated through each batch, so that every place of every size has a row that it must agree with.
 */
#include "base/error.h"

#include <stdint.h>

#define FW_WARM_UP_INPUTS 3

struct fw_warm_up {
	uint32_t n_sizes;
	const uint32_t *sizes; /* ascending; the first is 1 */
	size_t elements;       /* of one input */
	uint32_t classes;
	/* Makes an input, 3 planes in ONNX's order, the one at a place of the next batch of this size. */
	fw_status (*fill)(void *user, uint32_t size, uint32_t place, const float *input,
			  struct fw_error *err);
	/* Runs that batch; size x classes scores. */
	fw_status (*run)(void *user, uint32_t size, float *scores, struct fw_error *err);
	void *user;
	/* FW_WARM_UP_INPUTS rows from another engine; NULL: what batches of one give. */
	const float *reference;
	float tolerance; /* how far a score may be from the reference, as a share of the row's largest */
};

/* Input `number` of them: values as normalised pixels have them, the same on every machine. */
void fw_warm_up_input(uint32_t number, size_t elements, float *to);

/* FW_ERR_INTERNAL: a score is not finite, or not the reference's. */
fw_status fw_warm_up_run(const struct fw_warm_up *warm_up, struct fw_error *err);

#endif
