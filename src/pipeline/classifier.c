/* Compressed images to classes with an engine of src/nn on the CPU. */
#include "pipeline/classifier.h"

#include "nn/engine.h"
#include "pipeline/preprocess.h"
#include "pipeline/tensor.h"
#include "pipeline/top.h"
#include "pipeline/warm_up.h"

#include <stdlib.h>
#include <string.h>

/* The longest JPEG that every cell holds: long side over short side. */
#define MAX_ASPECT     4.0
#define MIN_CELL_BYTES (UINT64_C(4) << 20)
/* A side of the network's input, far above any classifier's. */
#define MAX_SIDE 4096
/* Sums of fp32 in another order, as engines choose it by the batch size: measured below 1e-5. */
#define WARM_UP_TOLERANCE 1e-3f

struct fw_classifier {
	struct fw_nn_graph graph;
	struct fw_nn_engine *engine;
	struct fw_nn_network *network;
	struct fw_preprocess preprocess;
	struct fw_image_limits limits;
	size_t cell_bytes;
	int64_t max_batch;
	uint32_t classes, top;
	uint64_t scratch_bytes; /* of a worker, known when the first is open */
	bool has_graph, ends_in_softmax, warms_up;
	struct fw_pipeline_settings settings;
};

struct decoder {
	const struct fw_classifier *classifier;
	struct fw_image_decoder *image;
};

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
	c->scratch_bytes = fw_preprocess_bytes(made->scratch);
	*worker = made;
	return FW_OK;
}

static fw_status decoder_open(void *user, void **decoder, struct fw_error *err)
{
	const struct fw_classifier *c = user;
	struct decoder *made = calloc(1, sizeof(*made));
	fw_status status;

	if (!made)
		return fw_fail_nomem(err, sizeof(*made));
	made->classifier = c;
	status = fw_image_decoder_open(&c->limits, &made->image, err);
	if (status) {
		free(made);
		return status;
	}
	*decoder = made;
	return FW_OK;
}

static void decoder_close(void *decoder)
{
	struct decoder *d = decoder;

	fw_image_decoder_close(d->image);
	free(d);
}

static fw_status decode(void *decoder, const struct fw_flow_picture *picture, struct fw_error *err)
{
	struct decoder *d = decoder;

	if (picture->is_tensor)
		return fw_tensor_take(picture, d->classifier->preprocess.crop, err);
	return fw_image_decode(d->image, picture->bytes, picture->size, picture->cell,
			       picture->cell_bytes, picture->image, err);
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

		item->count = c->top < c->classes ? c->top : c->classes;
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

void fw_classifier_work(struct fw_classifier *classifier, struct fw_flow_work *work)
{
	*work = (struct fw_flow_work){
		.user = classifier,
		.decoder_open = decoder_open,
		.decoder_close = decoder_close,
		.decode = decode,
		.worker_open = worker_open,
		.worker_close = worker_close,
		.compute = compute,
		.warm_up = classifier->warms_up ? warm_up : NULL,
	};
}

static bool ends_in_softmax(const struct fw_nn_graph *graph)
{
	uint32_t producer = graph->values[graph->outputs[0]].producer;

	return producer != FW_NN_NONE && graph->nodes[producer].op == FW_NN_SOFTMAX;
}

static void tell(const struct fw_pipeline_config *config, const char *what, const char *of)
{
	char text[512];

	if (!config->progress)
		return;
	snprintf(text, sizeof(text), "%s%s", what, of);
	config->progress(config->progress_user, text);
}

/* The engine that was asked for, else the one that this machine has; it decides what the settings mean. */
static fw_status open_engine(struct fw_classifier *c, const struct fw_pipeline_config *config,
			     struct fw_error *err)
{
	const char *name = config->engine && config->engine[0] ? config->engine : "onednn";
	const struct fw_nn_engine_options engine = { .name = name };
	fw_status status;

	if (!strcmp(name, "cudnn"))
		return fw_fail(
			err, FW_ERR_UNSUPPORTED,
			"the GPU path of the pipeline is not built yet: use --engine onednn");
	status = fw_settings_resolve(config, false, &c->settings, err);
	return status ? status : fw_nn_engine_open(&engine, &c->engine, err);
}

static fw_status load(struct fw_classifier *c, const struct fw_pipeline_config *config,
		      struct fw_error *err)
{
	const struct fw_pipeline_settings *s = &c->settings;
	/* A model for batches of a fixed size is taken as one of any size, unless that is not needed. */
	const struct fw_nn_read_options read = { .dynamic = s->n_sizes > 1 };
	int64_t batches[FW_PIPELINE_MAX_BATCH];
	const struct fw_nn_network_options network = {
		.precision = s->precision,
		.n_batches = s->n_sizes,
		.batches = batches,
		.fuse = s->fuse,
	};
	fw_status status;

	for (uint32_t i = 0; i < s->n_sizes; i++)
		batches[i] = s->sizes[i];
	c->max_batch = batches[s->n_sizes - 1];
	tell(config, "reading ", config->model);
	status = fw_nn_onnx_read(config->model, &read, &c->graph, err);
	if (status)
		return status;
	c->has_graph = true;
	tell(config, "planning for the engine ", s->is_gpu ? "cudnn" : "onednn");
	if ((status = fw_nn_fold(&c->graph, err)))
		return status;
	return fw_nn_network_load(c->engine, &c->graph, &network, &c->network, err);
}

/* The model is one that classifies images. */
static fw_status check_model(struct fw_classifier *c, const char *path, struct fw_error *err)
{
	const struct fw_nn_plan *plan = fw_nn_network_plan(c->network, c->max_batch);
	const struct fw_nn_tensor *in = &plan->tensors[plan->input];
	const struct fw_nn_tensor *out = &plan->tensors[plan->output];
	int64_t classes = out->h * out->w * out->c;

	if (in->n != plan->batch || in->c != 3 || in->h != in->w || in->h < 1 || in->h > MAX_SIDE)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "%s: takes %lld x %lld x %lld (channels, height, width), not square "
			       "images of 3 channels",
			       path, (long long)in->c, (long long)in->h, (long long)in->w);
	if (out->n != plan->batch || classes < 1 || classes > INT32_MAX / FW_PIPELINE_MAX_BATCH)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "%s: gives %lld x %lld values, not one row of scores an image", path,
			       (long long)out->n, (long long)classes);
	c->classes = (uint32_t)classes;
	c->ends_in_softmax = ends_in_softmax(&c->graph);
	return FW_OK;
}

static fw_status set_preprocess(struct fw_classifier *c, const struct fw_pipeline_config *config,
				struct fw_error *err)
{
	const struct fw_nn_plan *plan = fw_nn_network_plan(c->network, c->max_batch);
	uint32_t side = (uint32_t)plan->tensors[plan->input].h;
	uint32_t crop = config->crop ? config->crop : side;
	/* 8 / 7 as 256 to 224, rounded. */
	uint32_t resize = config->resize ? config->resize : (crop * 8 + 3) / 7;

	if (crop != side)
		return fw_fail(err, FW_ERR_ARGUMENT, "crop is %u, but the model takes %u x %u",
			       crop, side, side);
	if (resize < crop || resize > MAX_SIDE * 2)
		return fw_fail(err, FW_ERR_ARGUMENT, "resize is %u: from %u to %u is possible",
			       resize, crop, MAX_SIDE * 2);
	fw_preprocess_init(&c->preprocess);
	c->preprocess.resize = resize;
	c->preprocess.crop = crop;
	memcpy(c->preprocess.mean, config->mean, sizeof(config->mean));
	memcpy(c->preprocess.std, config->std, sizeof(config->std));
	fw_image_limits_init(&c->limits);
	c->limits.max_pixels = config->max_pixels;
	c->limits.max_seconds = config->max_decode_s;
	c->limits.max_memory = config->decoder_bytes;
	c->limits.min_short_side = resize;
	c->cell_bytes = config->cell_bytes;
	if (!c->cell_bytes) {
		c->cell_bytes = fw_image_cell_bytes(resize, MAX_ASPECT);
		if (c->cell_bytes < MIN_CELL_BYTES)
			c->cell_bytes = MIN_CELL_BYTES;
		if (c->cell_bytes < fw_tensor_bytes(crop))
			c->cell_bytes = fw_tensor_bytes(crop);
	}
	return FW_OK;
}

fw_status fw_classifier_open(const struct fw_pipeline_config *config,
			     struct fw_classifier **classifier, struct fw_error *err)
{
	struct fw_classifier *made = calloc(1, sizeof(*made));
	fw_status status;

	if (!made)
		return fw_fail_nomem(err, sizeof(*made));
	made->warms_up = config->warm_up;
	made->top = config->top;
	if ((status = open_engine(made, config, err)) || (status = load(made, config, err)) ||
	    (status = check_model(made, config->model, err)) ||
	    (status = set_preprocess(made, config, err))) {
		fw_classifier_close(made);
		return status;
	}
	*classifier = made;
	return FW_OK;
}

void fw_classifier_close(struct fw_classifier *classifier)
{
	if (!classifier)
		return;
	fw_nn_network_free(classifier->network);
	fw_nn_engine_close(classifier->engine);
	if (classifier->has_graph)
		fw_nn_graph_free(&classifier->graph);
	free(classifier);
}

const struct fw_pipeline_settings *fw_classifier_settings(const struct fw_classifier *classifier)
{
	return &classifier->settings;
}

size_t fw_classifier_cell_bytes(const struct fw_classifier *classifier)
{
	return classifier->cell_bytes;
}

void fw_classifier_add_stats(const struct fw_classifier *classifier,
			     struct fw_pipeline_stats *stats)
{
	const struct fw_classifier *c = classifier;
	uint64_t instance = fw_nn_network_instance_bytes(c->network);

	fw_settings_tell(&c->settings, stats);
	stats->classes = c->classes;
	stats->resize = c->preprocess.resize;
	stats->crop = c->preprocess.crop;
	stats->weight_bytes = fw_nn_network_plan(c->network, c->max_batch)->weight_bytes;
	stats->worker_bytes = stats->workers * (instance + c->scratch_bytes + scores_bytes(c) +
						sizeof(struct worker));
	stats->decoder_bytes = stats->decode_threads * c->limits.max_memory;
}
