/* Compressed images to classes with an engine of src/nn. */
#include "pipeline/classifier.h"

#include "pipeline/classifier_parts.h"
#include "pipeline/cores.h"
#include "pipeline/nvjpeg_lane.h"
#include "pipeline/tensor.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* The longest JPEG that every cell holds: long side over short side. */
#define MAX_ASPECT     4.0
#define MIN_CELL_BYTES (UINT64_C(4) << 20)
/* A side of the network's input, far above any classifier's. */
#define MAX_SIDE 4096

struct decoder {
	const struct fw_classifier *classifier;
	struct fw_image_decoder *image;
	bool is_placed; /* its thread runs near the GPU */
};

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

/* The JPEG itself into its cell, for a worker to decode on the GPU. False: it is not for that. */
static bool leave_to_gpu(const struct fw_classifier *c, const struct fw_flow_picture *picture)
{
	struct fw_image *image = picture->image;

	if (c->settings.decoder == FW_DECODER_CPU || !fw_gpu_side_wants_jpegs(c) ||
	    !fw_nvjpeg_lane_takes(picture->bytes, picture->size, picture->cell_bytes, image) ||
	    (uint64_t)image->width * image->height > c->limits.max_pixels)
		return false;
	memcpy(picture->cell, picture->bytes, image->compressed_bytes);
	return true;
}

static fw_status decode(void *decoder, const struct fw_flow_picture *picture, struct fw_error *err)
{
	struct decoder *d = decoder;

	if (!d->is_placed && d->classifier->cores.node >= 0)
		sched_setaffinity(0, sizeof(d->classifier->cores.set), &d->classifier->cores.set);
	d->is_placed = true;
	if (picture->is_tensor)
		return fw_tensor_take(picture, d->classifier->preprocess.crop, err);
	if (leave_to_gpu(d->classifier, picture))
		return FW_OK;
	return fw_image_decode(d->image, picture->bytes, picture->size, picture->cell,
			       picture->cell_bytes, picture->image, err);
}

void fw_classifier_work(struct fw_classifier *classifier, struct fw_flow_work *work)
{
	*work = (struct fw_flow_work){
		.user = classifier,
		.decoder_open = decoder_open,
		.decoder_close = decoder_close,
		.decode = decode,
	};
	if (classifier->settings.is_gpu)
		fw_gpu_work(work);
	else
		fw_cpu_work(classifier, work);
}

static bool ends_in_softmax(const struct fw_nn_graph *graph)
{
	uint32_t producer = graph->values[graph->outputs[0]].producer;

	return producer != FW_NN_NONE && graph->nodes[producer].op == FW_NN_SOFTMAX;
}

static void tell(void (*to)(void *user, const char *text), void *user, const char *fmt,
		 va_list args)
{
	char text[512];

	if (!to)
		return;
	vsnprintf(text, sizeof(text), fmt, args);
	to(user, text);
}

void fw_classifier_progress(const struct fw_classifier *c, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	tell(c->progress, c->progress_user, fmt, args);
	va_end(args);
}

void fw_classifier_say(const struct fw_classifier *c, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	tell(c->say, c->say_user, fmt, args);
	va_end(args);
}

static fw_status open_gpu(struct fw_classifier *c, const struct fw_pipeline_config *config,
			  struct fw_error *err)
{
	const struct fw_nn_engine_options engine = {
		.name = "cudnn",
		.device = config->device,
		.cache_dir = config->cache_dir,
		.autotune_s = config->autotune_s,
		.say = config->say,
		.user = config->say_user,
	};
	fw_status status = fw_nn_engine_open(&engine, &c->engine, err);

	if (!status)
		status = fw_gpu_side_open(c, config->device, err);
	return status ? status : fw_settings_resolve(config, true, &c->settings, err);
}

/* The engine that was asked for, else the one that this machine has; it decides what the settings mean. */
static fw_status open_engine(struct fw_classifier *c, const struct fw_pipeline_config *config,
			     struct fw_error *err)
{
	const struct fw_nn_engine_options cpu = { .name = "onednn" };
	bool is_named = config->engine && config->engine[0];
	struct fw_error why = { .code = FW_OK };
	fw_status status;

	if (!is_named || !strcmp(config->engine, "cudnn")) {
		status = open_gpu(c, config, &why);
		if (!status || is_named || status != FW_ERR_UNSUPPORTED) {
			if (status && err)
				*err = why;
			return status;
		}
		fw_classifier_say(c, "the CPU computes (engine onednn), since no GPU can: %s",
				  why.message);
	}
	status = fw_settings_resolve(config, false, &c->settings, err);
	return status ? status : fw_nn_engine_open(&cpu, &c->engine, err);
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
	c->max_batch = s->sizes[s->n_sizes - 1];
	fw_classifier_progress(c, "reading %s", config->model);
	status = fw_nn_onnx_read(config->model, &read, &c->graph, err);
	if (status)
		return status;
	c->has_graph = true;
	fw_classifier_progress(c, "planning for the engine %s", s->is_gpu ? "cudnn" : "onednn");
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
	if (c->top > c->classes)
		c->top = c->classes;
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
	made->progress = config->progress;
	made->progress_user = config->progress_user;
	made->say = config->say;
	made->say_user = config->say_user;
	if ((status = open_engine(made, config, err)) || (status = load(made, config, err)) ||
	    (status = check_model(made, config->model, err)) ||
	    (status = set_preprocess(made, config, err)) ||
	    (made->settings.is_gpu && (status = fw_gpu_side_start(made, config->workers, err)))) {
		fw_classifier_close(made);
		return status;
	}
	fw_cores_look(made->gpu ? fw_gpu_side_numa_node(made->gpu) : -1, &made->cores);
	*classifier = made;
	return FW_OK;
}

void fw_classifier_close(struct fw_classifier *classifier)
{
	if (!classifier)
		return;
	fw_gpu_side_close(classifier->gpu);
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

/* The GPU's were measured. On the CPU the network takes far more time than decoding does. */
void fw_classifier_choose(const struct fw_classifier *c, struct fw_flow_options *options)
{
	uint32_t cores = c->cores.count;

	if (c->gpu) {
		uint32_t busy = fw_gpu_side_cores(c->gpu);

		options->workers = fw_gpu_side_workers(c->gpu);
		if (!options->decode_threads)
			options->decode_threads = cores > busy ? cores - busy : 1;
		return;
	}
	if (!options->workers)
		options->workers = cores;
	if (!options->decode_threads)
		options->decode_threads = (cores + 3) / 4;
}

static void explain_cores(const struct fw_classifier *c, const struct fw_pipeline_stats *stats,
			  void (*line)(void *user, const char *text), void *user)
{
	char text[256], quota[48] = "no quota known", node[32] = "";

	if (c->cores.quota > 0)
		snprintf(quota, sizeof(quota), "a quota of %.2f cores", c->cores.quota);
	if (c->cores.node >= 0)
		snprintf(node, sizeof(node), ", of node %d", c->cores.node);
	snprintf(text, sizeof(text),
		 "decoding threads: %u; cores that count: %u (%u allowed%s, %s)",
		 stats->decode_threads, c->cores.count, c->cores.allowed, node, quota);
	line(user, text);
}

void fw_classifier_explain(const struct fw_classifier *c, const struct fw_pipeline_stats *stats,
			   void (*line)(void *user, const char *text), void *user)
{
	char text[256];

	snprintf(text, sizeof(text), "engine %s%s%s, %s, batches of up to %u, memory %s",
		 stats->engine, c->gpu ? " on " : "", stats->gpu, stats->precision, c->max_batch,
		 stats->memory);
	line(user, text);
	if (c->gpu) {
		fw_gpu_side_explain(c->gpu, line, user);
	} else {
		snprintf(text, sizeof(text), "workers: %u", stats->workers);
		line(user, text);
	}
	explain_cores(c, stats, line, user);
}

size_t fw_classifier_cell_bytes(const struct fw_classifier *classifier)
{
	return classifier->cell_bytes;
}

void fw_classifier_add_stats(const struct fw_classifier *classifier,
			     struct fw_pipeline_stats *stats)
{
	const struct fw_classifier *c = classifier;

	fw_settings_tell(&c->settings, stats);
	stats->classes = c->classes;
	stats->resize = c->preprocess.resize;
	stats->crop = c->preprocess.crop;
	stats->weight_bytes = fw_nn_network_plan(c->network, c->max_batch)->weight_bytes;
	if (c->gpu)
		fw_gpu_side_add_stats(c->gpu, stats);
	stats->worker_bytes =
		stats->workers * (c->gpu ? fw_gpu_worker_host_bytes(c) : fw_cpu_worker_bytes(c));
	stats->decoder_bytes = stats->decode_threads * c->limits.max_memory;
}
