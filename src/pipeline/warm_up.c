/* Runs a network before it is needed, and compares its batch sizes with each other or with another engine. */
#include "pipeline/warm_up.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RUNS 2

void fw_warm_up_input(uint32_t number, size_t elements, float *to)
{
	uint64_t state = number + 1;

	for (size_t i = 0; i < elements; i++) {
		/* splitmix64 */
		uint64_t x = state += 0x9e3779b97f4a7c15u;

		x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
		x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
		x ^= x >> 31;
		to[i] = (float)(x >> 40) * (4.0f / 16777216.0f) - 2.0f; /* -2 .. 2 */
	}
}

/* Row `place` of a batch against the reference of its input. */
static fw_status check_row(const struct fw_warm_up *w, uint32_t size, uint32_t place,
			   const float *row, const float *want, struct fw_error *err)
{
	float largest = 0;

	for (uint32_t i = 0; i < w->classes; i++) {
		if (!isfinite(row[i]))
			return fw_fail(err, FW_ERR_INTERNAL,
				       "warm-up: image %u of a batch of %u has the score %g for "
				       "class %u",
				       place, size, (double)row[i], i);
		largest = fmaxf(largest, fabsf(want[i]));
	}
	for (uint32_t i = 0; i < w->classes; i++)
		if (!(fabsf(row[i] - want[i]) <= w->tolerance * largest))
			return fw_fail(err, FW_ERR_INTERNAL,
				       "warm-up: image %u of a batch of %u has the score %g for "
				       "class %u, but %s gives %g",
				       place, size, (double)row[i], i,
				       w->reference ? "the other engine" : "a batch of one",
				       (double)want[i]);
	return FW_OK;
}

static fw_status check_batch(const struct fw_warm_up *w, uint32_t size, const float *scores,
			     const float *reference, struct fw_error *err)
{
	fw_status status = FW_OK;

	for (uint32_t i = 0; i < size && !status; i++)
		status = check_row(w, size, i, scores + (size_t)i * w->classes,
				   reference + (size_t)(i % FW_WARM_UP_INPUTS) * w->classes, err);
	return status;
}

/* A batch with these inputs over and over. */
static fw_status run_batch(const struct fw_warm_up *w, uint32_t size, const float *inputs,
			   float *scores, struct fw_error *err)
{
	fw_status status = FW_OK;

	for (uint32_t i = 0; i < size && !status; i++)
		status = w->fill(w->user, size, i, inputs + i % FW_WARM_UP_INPUTS * w->elements,
				 err);
	return status ? status : w->run(w->user, size, scores, err);
}

/* reference: FW_WARM_UP_INPUTS rows, filled from batches of one where there is no other. */
static fw_status run_all(const struct fw_warm_up *w, const float *inputs, float *scores,
			 float *reference, struct fw_error *err)
{
	fw_status status = FW_OK;

	if (w->reference)
		memcpy(reference, w->reference,
		       FW_WARM_UP_INPUTS * sizeof(*reference) * w->classes);
	for (uint32_t i = 0; i < FW_WARM_UP_INPUTS && !w->reference && !status; i++)
		status = run_batch(w, 1, &inputs[i * w->elements],
				   reference + (size_t)i * w->classes, err);
	/* Nothing can be compared with what is not finite. */
	for (uint32_t i = 0; i < FW_WARM_UP_INPUTS && !status; i++)
		status = check_row(w, 1, 0, reference + (size_t)i * w->classes,
				   reference + (size_t)i * w->classes, err);
	for (uint32_t i = 0; i < w->n_sizes * RUNS && !status; i++) {
		uint32_t size = w->sizes[i / RUNS];

		status = run_batch(w, size, inputs, scores, err);
		if (!status)
			status = check_batch(w, size, scores, reference, err);
	}
	return status;
}

fw_status fw_warm_up_run(const struct fw_warm_up *w, struct fw_error *err)
{
	uint32_t most = w->sizes[w->n_sizes - 1];
	size_t rows = (size_t)most + FW_WARM_UP_INPUTS;
	float *inputs = calloc(FW_WARM_UP_INPUTS * w->elements, sizeof(*inputs));
	float *scores = calloc(rows * w->classes, sizeof(*scores));
	fw_status status;

	if (!inputs || !scores) {
		status = fw_fail_nomem(err, (FW_WARM_UP_INPUTS * w->elements + rows * w->classes) *
						    sizeof(float));
	} else {
		for (uint32_t i = 0; i < FW_WARM_UP_INPUTS; i++)
			fw_warm_up_input(i, w->elements, inputs + i * w->elements);
		status = run_all(w, inputs, scores, scores + (size_t)most * w->classes, err);
	}
	free(inputs);
	free(scores);
	return status;
}
