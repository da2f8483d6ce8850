/* Scores of one image to its likeliest classes. */
#include "pipeline/top.h"

#include <math.h>

/* Keeps ids[0 .. *count) sorted by score; id is larger than all in it. */
static void insert(const float *scores, uint32_t id, uint32_t top, uint32_t *ids, uint32_t *count)
{
	uint32_t at = *count;

	if (at == top) {
		if (!(scores[id] > scores[ids[top - 1]]))
			return;
		at--;
	} else {
		++*count;
	}
	for (; at && scores[id] > scores[ids[at - 1]]; at--)
		ids[at] = ids[at - 1];
	ids[at] = id;
}

fw_status fw_top_classes(const struct fw_scores *scores, uint32_t top, uint32_t *ids,
			 float *probabilities, struct fw_error *err)
{
	uint32_t count = 0;
	double sum = 0, most;

	for (uint32_t i = 0; i < scores->n; i++) {
		if (!isfinite(scores->scores[i]))
			return fw_fail(
				err, FW_ERR_FORMAT,
				"the network's score of class %u is %g, not a number to compare", i,
				(double)scores->scores[i]);
		insert(scores->scores, i, top, ids, &count);
	}
	most = scores->scores[ids[0]];
	for (uint32_t i = 0; i < scores->n; i++)
		sum += exp((double)scores->scores[i] - most);
	for (uint32_t i = 0; i < count; i++) {
		double score = scores->scores[ids[i]];

		probabilities[i] =
			(float)(scores->are_probabilities ? score : exp(score - most) / sum);
	}
	return FW_OK;
}
