#ifndef FW_PIPELINE_TOP_H
#define FW_PIPELINE_TOP_H
/* Scores of one image to its likeliest classes. */
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct fw_scores {
	const float *scores;
	uint32_t n;
	bool are_probabilities; /* else softmax makes them so */
};

/*
 * The `top` (at most n) likeliest, the best first; equal ones by id. FW_ERR_FORMAT: a score is not a finite number, so
 * that no class is more likely than another.
 */
fw_status fw_top_classes(const struct fw_scores *scores, uint32_t top, uint32_t *ids,
			 float *probabilities, struct fw_error *err);

#endif
