/* The public handle: a flow with a classifier in it. */
#include "fullwarp/pipeline.h"

#include "pipeline/classifier.h"
#include "pipeline/flow.h"
#include "pipeline/settings.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CELLS (1u << 16)

struct fw_pipeline {
	struct fw_classifier *classifier;
	struct fw_flow *flow;
};

void fw_pipeline_config_init(struct fw_pipeline_config *config)
{
	*config = (struct fw_pipeline_config){
		.struct_size = sizeof(*config),
		.autotune_s = 2,
		.fuse = 1,
		.graph = 1,
		.top = 5,
		.mean = { 0.485f, 0.456f, 0.406f }, /* torchvision's ImageNet weights */
		.std = { 0.229f, 0.224f, 0.225f },
		.max_pixels = 100000000,
		.max_decode_s = 2,
		.decoder_bytes = UINT64_C(256) << 20,
	};
}

void fw_pipeline_request_init(struct fw_pipeline_request *request)
{
	*request = (struct fw_pipeline_request){ .struct_size = sizeof(*request), .is_waiting = 1 };
}

void fw_pipeline_stats_init(struct fw_pipeline_stats *stats)
{
	*stats = (struct fw_pipeline_stats){ .struct_size = sizeof(*stats) };
}

static fw_status check_size(size_t given, size_t known, const char *what, struct fw_error *err)
{
	if (given != known)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "%s: struct_size is %zu, this library (%s) knows %zu", what, given,
			       fw_version(), known);
	return FW_OK;
}

/* What the config leaves open. */
static fw_status choose(const struct fw_pipeline_config *config,
			const struct fw_classifier *classifier, struct fw_flow_options *options,
			struct fw_error *err)
{
	const struct fw_pipeline_settings *settings = fw_classifier_settings(classifier);
	uint32_t most = settings->sizes[settings->n_sizes - 1];
	uint64_t cells;

	*options = (struct fw_flow_options){
		.decode_threads = config->decode_threads,
		.workers = config->workers,
		.top = config->top,
		.cell_bytes = fw_classifier_cell_bytes(classifier),
		.max_delay_ns = config->max_delay_ns,
		.progress = config->progress,
		.progress_user = config->progress_user,
		.n_sizes = settings->n_sizes,
	};
	memcpy(options->sizes, settings->sizes, sizeof(options->sizes));
	fw_classifier_choose(classifier, options);
	/* Every worker computes a batch, another one gathers, every decoder has one in hand. */
	cells = (options->workers + UINT64_C(1)) * most + options->decode_threads;
	if (config->slots && cells > config->slots)
		cells = config->slots;
	if (cells > MAX_CELLS)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "%u workers of %u images need %llu cells: at most %u are possible",
			       options->workers, most, (unsigned long long)cells, MAX_CELLS);
	options->cells = (uint32_t)cells;
	options->slots = config->slots ? config->slots : 2 * options->cells;
	return FW_OK;
}

fw_status fw_pipeline_create(const struct fw_pipeline_config *config, struct fw_pipeline **pipeline,
			     struct fw_error *err)
{
	struct fw_flow_options options;
	struct fw_flow_work work;
	struct fw_pipeline *made;
	fw_status status = check_size(config->struct_size, sizeof(*config), "pipeline config", err);

	if (status || (status = fw_settings_check(config, err)))
		return status;
	made = calloc(1, sizeof(*made));
	if (!made)
		return fw_fail_nomem(err, sizeof(*made));
	status = fw_classifier_open(config, &made->classifier, err);
	if (!status)
		status = choose(config, made->classifier, &options, err);
	if (!status) {
		fw_classifier_work(made->classifier, &work);
		status = fw_flow_create(&options, &work, &made->flow, err);
	}
	if (status) {
		fw_pipeline_destroy(made);
		return status;
	}
	*pipeline = made;
	return FW_OK;
}

fw_status fw_pipeline_submit(struct fw_pipeline *pipeline,
			     const struct fw_pipeline_request *request, struct fw_error *err)
{
	fw_status status =
		check_size(request->struct_size, sizeof(*request), "pipeline request", err);

	if (status)
		return status;
	if (!request->callback || (!request->bytes && request->size) || request->timeout_ns < 0)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "a request needs a callback, bytes, and no negative timeout");
	return fw_flow_submit(pipeline->flow, request, err);
}

int fw_pipeline_wait(struct fw_pipeline *pipeline, int64_t timeout_ns)
{
	return fw_flow_wait(pipeline->flow, timeout_ns);
}

void fw_pipeline_drain(struct fw_pipeline *pipeline)
{
	fw_flow_drain(pipeline->flow);
}

fw_status fw_pipeline_get_stats(struct fw_pipeline *pipeline, struct fw_pipeline_stats *stats,
				struct fw_error *err)
{
	fw_status status = check_size(stats->struct_size, sizeof(*stats), "pipeline stats", err);

	if (status)
		return status;
	fw_flow_get_stats(pipeline->flow, stats);
	fw_classifier_add_stats(pipeline->classifier, stats);
	stats->memory_bytes =
		stats->slot_bytes + stats->cell_bytes + stats->worker_bytes + stats->decoder_bytes;
	return FW_OK;
}

fw_status fw_pipeline_explain(struct fw_pipeline *pipeline,
			      void (*line)(void *user, const char *text), void *user,
			      struct fw_error *err)
{
	struct fw_pipeline_stats stats;
	fw_status status;

	fw_pipeline_stats_init(&stats);
	status = fw_pipeline_get_stats(pipeline, &stats, err);
	if (!status)
		fw_classifier_explain(pipeline->classifier, &stats, line, user);
	return status;
}

void fw_pipeline_destroy(struct fw_pipeline *pipeline)
{
	if (!pipeline)
		return;
	fw_flow_destroy(pipeline->flow);
	fw_classifier_close(pipeline->classifier);
	free(pipeline);
}

const char *fw_pipeline_stage_name(enum fw_pipeline_stage stage)
{
	static const char *const names[] = { "queue", "decode", "batch", "compute", "answer" };

	return (unsigned)stage < sizeof(names) / sizeof(names[0]) ? names[stage] : NULL;
}
