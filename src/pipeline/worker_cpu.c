/* A worker on the CPU: preprocessing, the network, the best classes, one after the other in its thread. */
#include "pipeline/classifier_parts.h"

#include "pipeline/tensor.h"
#include "pipeline/top.h"
#include "pipeline/warm_up.h"

#include <stdlib.h>
#include <string.h>

/* Sums of fp32 in another order, as engines choose it by the batch size: measured below 1e-5. */
#define WARM_UP_TOLERANCE 1e-3f

struct worker {
	const struct fw_classifier *classifier;
	struct fw_nn_instance *instance;
	struct fw_preprocess_scratch *scratch;
	float *scores; /* of a batch */
};

static void worker_close(void *worker)
{
	struct worker *w = worker;

	fw_preprocess_close(w->scratch);
	fw_nn_instance_close(w->instance);
	free(w->scores);
	free(w);
}

static size_t scores_bytes(const struct fw_classifier *c)
{
	return (size_t)c->max_batch * c->classes * sizeof(float);
}

static fw_status worker_open(void *user, void **worker, struct fw_error *err)
{
	struct fw_classifier *c = user;
	struct worker *made = calloc(1, sizeof(*made));
	fw_status status;

	if (!made)
		return fw_fail_nomem(err, sizeof(*made));
	made->classifier = c;
	made->scores = malloc(scores_bytes(c));
	status = made->scores ? FW_OK : fw_fail_nomem(err, scores_bytes(c));
	if (!status)
		status = fw_nn_instance_open(c->network, &made->instance, err);
	if (!status)
		status = fw_preprocess_open(&c->preprocess, c->cell_bytes, &made->scratch, err);
	if (status) {
		worker_close(made);
		return status;
	}
	c->cpu_scratch_bytes = fw_preprocess_bytes(made->scratch);
	*worker = made;
	return FW_OK;
}

/* Images of the batch into the network's input; zeros where one fails and where there is none. */
static void fill_input(struct worker *w, struct fw_flow_batch *batch, const struct fw_nn_io *input)
{
	size_t elements = (size_t)(input->h * input->w * input->pixel_stride);

	for (uint32_t i = 0; i < batch->size; i++) {
		float *to = (float *)input->data + i * elements;
		struct fw_flow_item *item = &batch->items[i];

		if (i < batch->n && item->image->kind == FW_IMAGE_TENSOR)
			fw_tensor_write(item->cell, item->image, to, (size_t)input->pixel_stride);
		else if (i < batch->n)
			item->status = fw_preprocess_cpu(w->scratch, item->cell, item->image, to,
							 (size_t)input->pixel_stride, item->err);
		if (i >= batch->n || item->status)
			memset(to, 0, elements * sizeof(*to));
	}
}

static fw_status run(void *worker, uint32_t size, float *scores, struct fw_error *err)
{
	struct worker *w = worker;
	fw_status status = fw_nn_instance_launch(w->instance, size, NULL, err);

	if (status || (status = fw_nn_instance_wait(w->instance, err)))
		return status;
	return fw_nn_instance_read(w->instance, size, scores, err);
}

static fw_status compute(void *worker, struct fw_flow_batch *batch, struct fw_error *err)
{
	struct worker *w = worker;
	const struct fw_classifier *c = w->classifier;
	struct fw_nn_io input;
	fw_status status = fw_nn_instance_io(w->instance, batch->size, &input, NULL, err);

	if (status)
		return status;
	fill_input(w, batch, &input);
	if ((status = run(w, batch->size, w->scores, err)))
		return status;
	for (uint32_t i = 0; i < batch->n; i++) {
		struct fw_flow_item *item = &batch->items[i];
		const struct fw_scores scores = {
			.scores = w->scores + (size_t)i * c->classes,
			.n = c->classes,
			.are_probabilities = c->ends_in_softmax,
		};

		item->count = c->top;
		if (!item->status)
			item->status = fw_top_classes(&scores, c->top, item->ids,
						      item->probabilities, item->err);
	}
	return FW_OK;
}

static fw_status fill_place(void *worker, uint32_t size, uint32_t place, const float *input,
			    struct fw_error *err)
{
	struct worker *w = worker;
	uint32_t side = w->classifier->preprocess.crop;
	size_t plane = (size_t)side * side;
	struct fw_nn_io io;
	fw_status status = fw_nn_instance_io(w->instance, size, &io, NULL, err);
	float *to = status ? NULL : (float *)io.data + place * plane * (size_t)io.pixel_stride;

	for (size_t i = 0; to && i < plane; i++)
		for (size_t c = 0; c < (size_t)io.pixel_stride; c++)
			to[i * (size_t)io.pixel_stride + c] = c < 3 ? input[c * plane + i] : 0;
	return status;
}

static fw_status warm_up(void *worker, struct fw_error *err)
{
	struct worker *w = worker;
	const struct fw_classifier *c = w->classifier;
	const struct fw_warm_up job = {
		.n_sizes = c->settings.n_sizes,
		.sizes = c->settings.sizes,
		.elements = (size_t)3 * c->preprocess.crop * c->preprocess.crop,
		.classes = c->classes,
		.fill = fill_place,
		.run = run,
		.user = w,
		.tolerance = WARM_UP_TOLERANCE,
	};

	return fw_warm_up_run(&job, err);
}

void fw_cpu_work(struct fw_classifier *c, struct fw_flow_work *work)
{
	work->worker_open = worker_open;
	work->worker_close = worker_close;
	work->compute = compute;
	work->warm_up = c->warms_up ? warm_up : NULL;
}

uint64_t fw_cpu_worker_bytes(const struct fw_classifier *c)
{
	return fw_nn_network_instance_bytes(c->network) + c->cpu_scratch_bytes + scores_bytes(c) +
	       sizeof(struct worker);
}
