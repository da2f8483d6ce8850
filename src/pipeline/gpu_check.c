/* A worker's first batches. */
#include "pipeline/gpu_check.h"

#include "pipeline/top.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sums and exponentials of fp32 in another order. */
#define PROBABILITY_TOLERANCE 1e-3f

fw_status fw_sample_run_open(const struct fw_classifier *c, struct fw_sample_run **run,
			     struct fw_error *err)
{
	size_t answers = (size_t)c->max_batch * c->top;
	struct fw_sample_run *made = calloc(1, sizeof(*made));

	*run = made;
	if (!made)
		return fw_fail_nomem(err, sizeof(*made));
	made->ids = calloc(answers, sizeof(*made->ids));
	made->probabilities = calloc(answers, sizeof(*made->probabilities));
	if (!made->ids || !made->probabilities)
		return fw_fail_nomem(err, answers * sizeof(*made->ids));
	for (uint32_t i = 0; i < c->max_batch; i++) {
		made->batch.items[i].ids = made->ids + (size_t)i * c->top;
		made->batch.items[i].probabilities = made->probabilities + (size_t)i * c->top;
		made->batch.items[i].err = &made->err;
	}
	return FW_OK;
}

void fw_sample_run_close(struct fw_sample_run *run)
{
	if (!run)
		return;
	free(run->ids);
	free(run->probabilities);
	free(run);
}

fw_status fw_sample_run_compute(struct fw_sample_run *run, struct fw_gpu_worker *worker,
				const struct fw_samples *samples, uint32_t n, uint32_t size,
				struct fw_error *err)
{
	fw_status status;

	fw_samples_batch(samples, n, &run->batch);
	run->batch.size = size;
	status = fw_gpu_worker_compute(worker, &run->batch, err);
	for (uint32_t i = 0; i < n && !status; i++)
		if (run->batch.items[i].status)
			status = fw_fail(err, FW_ERR_INTERNAL,
					 "warm-up: image %u of a batch of %u: %s", i, size,
					 run->err.message);
	return status;
}

float fw_gpu_tolerance(enum fw_nn_precision precision, bool are_probabilities)
{
	/* Several times what deep networks of random weights showed; a level of 255 by another rounding is in it. */
	static const float scores[] = {
		[FW_NN_FP32] = 5e-3f, [FW_NN_FP16] = 3e-2f, [FW_NN_BFLOAT16] = 0.15f
	};
	/* A probability changes by as many e-folds as the score did in units: scores reach 10. */
	float tolerance = scores[precision] * (are_probabilities ? 10 : 1);

	return tolerance < 0.5f ? tolerance : 0.5f;
}

static fw_status check_finite(const struct fw_classifier *c, const float *row, uint32_t place,
			      uint32_t size, struct fw_error *err)
{
	for (uint32_t i = 0; i < c->classes; i++)
		if (!isfinite(row[i]))
			return fw_fail(err, FW_ERR_INTERNAL,
				       "warm-up: image %u of a batch of %u has the score %g for "
				       "class %u",
				       place, size, (double)row[i], i);
	return FW_OK;
}

static fw_status check_row(const struct fw_classifier *c, const float *row, const float *want,
			   uint32_t place, uint32_t size, struct fw_error *err)
{
	float tolerance = fw_gpu_tolerance(c->settings.precision, c->ends_in_softmax), largest = 0;

	for (uint32_t i = 0; i < c->classes; i++)
		largest = fmaxf(largest, fabsf(want[i]));
	for (uint32_t i = 0; i < c->classes; i++)
		if (!(fabsf(row[i] - want[i]) <= tolerance * largest))
			return fw_fail(err, FW_ERR_INTERNAL,
				       "warm-up: image %u of a batch of %u has the score %g for "
				       "class %u on the GPU, but %g is right (the row's largest is "
				       "%g)",
				       place, size, (double)row[i], i, (double)want[i],
				       (double)largest);
	return FW_OK;
}

/* The answers are the best of the scores: so where scores are right, the likeliest class is, if it leads clearly. */
static fw_status check_answer(const struct fw_classifier *c, const struct fw_flow_item *item,
			      const float *row, uint32_t place, struct fw_error *err)
{
	const struct fw_scores scores = {
		.scores = row,
		.n = c->classes,
		.are_probabilities = c->ends_in_softmax,
	};
	float probabilities[FW_PIPELINE_MAX_TOP];
	uint32_t ids[FW_PIPELINE_MAX_TOP];
	fw_status status = fw_top_classes(&scores, c->top, ids, probabilities, err);

	for (uint32_t i = 0; i < c->top && !status; i++)
		if (item->ids[i] != ids[i] ||
		    !(fabsf(item->probabilities[i] - probabilities[i]) <= PROBABILITY_TOLERANCE))
			status = fw_fail(err, FW_ERR_INTERNAL,
					 "warm-up: image %u has class %u at rank %u with %g on the "
					 "GPU, but its scores say class %u with %g",
					 place, item->ids[i], i, (double)item->probabilities[i],
					 ids[i], (double)probabilities[i]);
	return status;
}

struct check {
	const struct fw_classifier *c;
	struct fw_gpu_worker *worker;
	struct fw_samples *samples;
	struct fw_sample_run *run;
	float *scores; /* of a batch */
};

static fw_status check_batch(struct check *check, uint32_t n, uint32_t size, struct fw_error *err)
{
	const struct fw_classifier *c = check->c;
	fw_status status =
		fw_sample_run_compute(check->run, check->worker, check->samples, n, size, err);

	if (!status)
		status = fw_gpu_worker_scores(check->worker, size, check->scores, err);
	for (uint32_t i = 0; i < size && !status; i++) {
		const float *row = check->scores + (size_t)i * c->classes;

		status = check_finite(c, row, i, size, err);
		if (status || i >= n)
			continue;
		status = check_row(c, row,
				   check->samples->scores + (size_t)(i % FW_SAMPLES) * c->classes,
				   i, size, err);
		if (!status)
			status = check_answer(c, &check->run->batch.items[i], row, i, err);
	}
	return status;
}

/* Where the CPU cannot be asked: batches of one are the reference. */
static fw_status take_reference(struct check *check, struct fw_error *err)
{
	const struct fw_classifier *c = check->c;
	size_t row = c->classes;
	fw_status status = FW_OK;

	check->samples->scores = calloc(FW_SAMPLES * row, sizeof(float));
	if (!check->samples->scores)
		return fw_fail_nomem(err, FW_SAMPLES * row * sizeof(float));
	for (uint32_t i = 0; i < FW_SAMPLES && !status; i++) {
		struct fw_samples one = *check->samples;

		one.cells += i * one.cell_bytes;
		one.images[0] = one.images[i];
		status = fw_sample_run_compute(check->run, check->worker, &one, 1, 1, err);
		if (!status)
			status = fw_gpu_worker_scores(check->worker, 1,
						      check->samples->scores + i * row, err);
	}
	return status;
}

fw_status fw_gpu_check_worker(const struct fw_classifier *c, struct fw_gpu_worker *worker,
			      struct fw_samples *samples, struct fw_error *err)
{
	const struct fw_pipeline_settings *s = &c->settings;
	size_t scores = (size_t)c->max_batch * c->classes;
	struct check check = {
		.c = c,
		.worker = worker,
		.samples = samples,
		.scores = calloc(scores, sizeof(float)),
	};
	fw_status status = check.scores ? FW_OK : fw_fail_nomem(err, scores * sizeof(float));

	if (!status)
		status = fw_sample_run_open(c, &check.run, err);
	if (!status && !samples->scores)
		status = take_reference(&check, err);
	for (uint32_t i = 0; i < s->n_sizes && !status; i++) {
		uint32_t size = s->sizes[i];

		status = check_batch(&check, size, size, err);
		if (!status) /* with places that are empty, as in the service */
			status = check_batch(&check, size - size / 4, size, err);
	}
	fw_sample_run_close(check.run);
	free(check.scores);
	return status;
}
