/* The GPU of a classifier: its workers, opened, checked and timed before the flow starts. */
#include "pipeline/gpu_check.h"
#include "pipeline/gpu_timing.h"
#include "pipeline/nvjpeg_lane.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORKERS   16u
#define TUNED_WORKERS 3u /* that are tried where the configuration leaves their number open */
/*
 * With nvJPEG: two wait for it, which fills the seven engines of an H200 (35,700 images/s; one alone 16,300), while two
 * compute. The trials, whose images are decoded already, cannot tell.
 */
#define NVJPEG_WORKERS 4u
#define MAX_TRIALS     (2 * TUNED_WORKERS + 1)

struct fw_gpu_side {
	struct fw_gpu *gpu;
	struct fw_gpu_worker *workers[MAX_WORKERS];
	uint32_t n_workers, handed_out;
	uint32_t n_trials;
	struct fw_gpu_trial trials[MAX_TRIALS];
	const char *why_so_many; /* workers */
	double cores;            /* that the workers keep busy */
	uint64_t weight_bytes;
};

fw_status fw_gpu_side_open(struct fw_classifier *c, unsigned device, struct fw_error *err)
{
	struct fw_gpu_side *side = calloc(1, sizeof(*side));

	if (!side)
		return fw_fail_nomem(err, sizeof(*side));
	c->gpu = side;
	return fw_gpu_open(device, &side->gpu, err);
}

void fw_gpu_side_close(struct fw_gpu_side *side)
{
	if (!side)
		return;
	/* What was handed out, the flow has closed. */
	for (uint32_t i = side->handed_out; i < side->n_workers; i++)
		fw_gpu_worker_close(side->workers[i]);
	fw_gpu_close(side->gpu);
	free(side);
}

/* The flow's own cells and the samples'. */
static fw_status cells_take(void *user, size_t bytes, void **memory, struct fw_error *err)
{
	const struct fw_classifier *c = user;
	fw_status status;

	if (!c->settings.is_pageable) {
		status = fw_gpu_enter(c->gpu->gpu, err);
		return status ? status
			      : fw_gpu_pin(c->gpu->gpu, bytes, "decoded images", memory, err);
	}
	*memory = malloc(bytes);
	return *memory ? FW_OK : fw_fail_nomem(err, bytes);
}

static void cells_give(void *user, void *memory, size_t bytes)
{
	const struct fw_classifier *c = user;

	if (c->settings.is_pageable) {
		free(memory);
		return;
	}
	fw_gpu_enter(c->gpu->gpu, NULL);
	fw_gpu_unpin(c->gpu->gpu, memory, bytes);
}

static fw_status add_worker(struct fw_classifier *c, struct fw_samples *samples,
			    struct fw_error *err)
{
	struct fw_gpu_side *side = c->gpu;
	fw_status status;

	fw_classifier_progress(c, "preparing instance %u on the GPU", side->n_workers + 1);
	status = fw_gpu_worker_open(c, side->gpu, &side->workers[side->n_workers], err);
	if (status)
		return status;
	side->n_workers++;
	return fw_gpu_check_worker(c, side->workers[side->n_workers - 1], samples, err);
}

/* Those that were asked for, or as many as may be worth it and have room. */
static fw_status open_workers(struct fw_classifier *c, uint32_t wanted, struct fw_samples *samples,
			      struct fw_error *err)
{
	struct fw_gpu_side *side = c->gpu;
	uint32_t tried = c->settings.decoder == FW_DECODER_CPU ? TUNED_WORKERS : NVJPEG_WORKERS;
	uint32_t most = wanted ? wanted : tried;
	struct fw_error why = { .code = FW_OK };

	while (side->n_workers < most) {
		fw_status status = add_worker(c, samples, &why);

		if (status == FW_ERR_NOMEM && !wanted && side->n_workers) {
			fw_classifier_say(c, "no more than %u instances: %s", side->n_workers,
					  why.message);
			return FW_OK;
		}
		if (status) {
			if (err)
				*err = why;
			return status;
		}
	}
	return FW_OK;
}

static fw_status time_workers(struct fw_classifier *c, uint32_t n, uint32_t size, bool spins,
			      const struct fw_samples *samples, struct fw_error *err)
{
	struct fw_gpu_side *side = c->gpu;
	struct fw_gpu_trial *trial = &side->trials[side->n_trials];
	fw_status status;

	*trial = (struct fw_gpu_trial){ .workers = n, .size = size, .spins = spins };
	status = fw_gpu_time(c, side->workers, samples, trial, err);
	side->n_trials += !status;
	return status;
}

/* All numbers of workers with the largest batch, and with single images; all of them where that is not the question. */
static fw_status time_all(struct fw_classifier *c, bool is_open, const struct fw_samples *samples,
			  struct fw_error *err)
{
	const uint32_t n = c->gpu->n_workers;
	fw_status status = FW_OK;

	fw_classifier_progress(c, "timing %u instances on the GPU", n);
	for (uint32_t k = is_open ? 1 : n; k <= n && !status; k++) {
		status = time_workers(c, k, c->max_batch, false, samples, err);
		if (!status && c->max_batch > 1)
			status = time_workers(c, k, 1, false, samples, err);
	}
	return status ? status : time_workers(c, 1, 1, true, samples, err);
}

static void choose(struct fw_classifier *c, bool is_wanted, bool is_open)
{
	struct fw_gpu_side *side = c->gpu;
	uint32_t best = fw_gpu_fewest(side->trials, side->n_trials, c->max_batch);

	side->why_so_many = is_wanted ? "as was asked for"
			    : is_open
				    ? "the fewest within 3 % of the fastest with the largest batch"
				    : "so that nvJPEG and the network are busy at once";
	while (is_open && side->n_workers > best)
		fw_gpu_worker_close(side->workers[--side->n_workers]);
	for (uint32_t i = 0; i < side->n_trials; i++)
		if (side->trials[i].size == c->max_batch && !side->trials[i].spins &&
		    side->trials[i].workers == side->n_workers)
			side->cores = side->trials[i].cores;
}

static fw_status start(struct fw_classifier *c, uint32_t workers, struct fw_samples *samples,
		       struct fw_error *err)
{
	struct fw_gpu_side *side = c->gpu;
	/* Their number is to be found by trying. */
	bool is_open = !workers && c->settings.decoder == FW_DECODER_CPU;
	uint64_t instance;
	fw_status status = fw_samples_score(c, samples, err);

	if (!status)
		status = open_workers(c, workers, samples, err);
	if (!status)
		status = time_all(c, is_open, samples, err);
	if (status)
		return status;
	choose(c, workers > 0, is_open);
	fw_nn_network_gpu_bytes(c->network, &side->weight_bytes, &instance);
	/* The copies of the checks are not the service's. */
	atomic_store(&side->gpu->copies, 0);
	atomic_store(&side->gpu->copied_bytes, 0);
	return FW_OK;
}

/* Whether there is the nvJPEG that was asked for; "auto" does without, and says so. */
static fw_status choose_decoder(struct fw_classifier *c, struct fw_error *err)
{
	uint8_t pinned[1024]; /* for a lane that is only asked what it is */
	struct fw_nvjpeg_lane_options options = {
		.cuda = &c->gpu->gpu->cuda,
		.max_batch = 1,
		.cell_bytes = 64,
		.limits = c->limits,
		.pinned = pinned,
	};
	bool is_auto = c->settings.decoder == FW_DECODER_AUTO;
	struct fw_error why = { .code = FW_OK };
	struct fw_nvjpeg_lane *lane = NULL;
	fw_status status;

	if (c->settings.decoder == FW_DECODER_CPU)
		return FW_OK;
	status = fw_gpu_enter(c->gpu->gpu, err);
	if (status)
		return status;
	status = fw_nvjpeg_lane_open(&options, &lane, &why);
	if (status && !is_auto) {
		if (err)
			*err = why;
		return status;
	}
	if (is_auto && (status || !fw_nvjpeg_lane_is_hardware(lane))) {
		c->settings.decoder = FW_DECODER_CPU;
		fw_classifier_say(c, "the CPU decodes: %s",
				  status ? why.message : "this GPU has no JPEG engine");
	} else {
		fw_classifier_say(c, "JPEGs are decoded by %s", fw_nvjpeg_lane_kind(lane));
	}
	fw_nvjpeg_lane_close(lane);
	return FW_OK;
}

fw_status fw_gpu_side_start(struct fw_classifier *c, uint32_t workers, struct fw_error *err)
{
	size_t bytes = fw_samples_bytes(c);
	struct fw_samples samples;
	void *cells = NULL;
	fw_status status;

	if (workers > MAX_WORKERS)
		return fw_fail(err, FW_ERR_ARGUMENT, "workers is %u: at most %u on a GPU", workers,
			       MAX_WORKERS);
	status = choose_decoder(c, err);
	if (status || (status = cells_take(c, bytes, &cells, err)))
		return status;
	fw_samples_make(c, cells, &samples);
	status = start(c, workers, &samples, err);
	fw_samples_release(&samples);
	cells_give(c, cells, bytes);
	return status;
}

static fw_status worker_open(void *user, void **worker, struct fw_error *err)
{
	struct fw_classifier *c = user;
	struct fw_gpu_side *side = c->gpu;

	if (side->handed_out == side->n_workers)
		return fw_fail(err, FW_ERR_INTERNAL, "no more than %u workers were prepared",
			       side->n_workers);
	*worker = side->workers[side->handed_out++];
	return FW_OK;
}

static void worker_close(void *worker)
{
	fw_gpu_worker_close(worker);
}

static fw_status compute(void *worker, struct fw_flow_batch *batch, struct fw_error *err)
{
	return fw_gpu_worker_compute(worker, batch, err);
}

void fw_gpu_work(struct fw_flow_work *work)
{
	work->worker_open = worker_open;
	work->worker_close = worker_close;
	work->compute = compute;
	work->warm_up = NULL; /* fw_gpu_side_start did it */
	work->cells_take = cells_take;
	work->cells_give = cells_give;
}

uint32_t fw_gpu_side_workers(const struct fw_gpu_side *side)
{
	return side->n_workers;
}

uint32_t fw_gpu_side_cores(const struct fw_gpu_side *side)
{
	return side->cores > 1 ? (uint32_t)ceil(side->cores) : 1;
}

bool fw_gpu_side_wants_jpegs(const struct fw_classifier *c)
{
	const struct fw_gpu_side *side = c->gpu;

	if (c->settings.decoder == FW_DECODER_AUTO)
		return atomic_load_explicit(&side->gpu->nvjpeg_busy, memory_order_relaxed) <
		       side->n_workers;
	return c->settings.decoder == FW_DECODER_NVJPEG;
}

int fw_gpu_side_numa_node(const struct fw_gpu_side *side)
{
	return fw_gpu_numa_node(side->gpu);
}

void fw_gpu_side_add_stats(const struct fw_gpu_side *side, struct fw_pipeline_stats *stats)
{
	struct fw_gpu *gpu = side->gpu;

	snprintf(stats->gpu, sizeof(stats->gpu), "%s", gpu->name);
	stats->pinned_bytes = atomic_load(&gpu->pinned_bytes);
	stats->device_bytes = atomic_load(&gpu->device_bytes) + side->weight_bytes;
	stats->copies = atomic_load(&gpu->copies);
	stats->copied_bytes = atomic_load(&gpu->copied_bytes);
	stats->nvjpeg_decoded = atomic_load(&gpu->nvjpeg_decoded);
	stats->nvjpeg_returned = atomic_load(&gpu->nvjpeg_returned);
	stats->engine_failed = atomic_load(&gpu->is_failed);
	pthread_mutex_lock(&gpu->lock);
	memcpy(stats->failure, gpu->failure, sizeof(stats->failure));
	pthread_mutex_unlock(&gpu->lock);
}

void fw_gpu_side_explain(const struct fw_gpu_side *side, void (*line)(void *user, const char *text),
			 void *user)
{
	char text[160];

	line(user, "workers  batch   images/s   ms/batch  cores busy  waits");
	for (uint32_t i = 0; i < side->n_trials; i++) {
		const struct fw_gpu_trial *t = &side->trials[i];

		snprintf(text, sizeof(text), "%7u  %5u  %9.1f  %9.3f  %10.2f  %s", t->workers,
			 t->size, t->images_s, t->batch_ms, t->cores,
			 t->spins ? "spinning (not used)" : "asleep");
		line(user, text);
	}
	snprintf(text, sizeof(text), "workers: %u, %s", side->n_workers, side->why_so_many);
	line(user, text);
}
