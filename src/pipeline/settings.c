/* A configuration to values. */
#include "pipeline/settings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_THREADS    1024
#define MAX_SLOTS      (1u << 20)
#define MAX_MEMORY     (UINT64_C(1) << 40)
#define MAX_DECODE_S   3600.0
#define MAX_AUTOTUNE_S 3600.0
#define GPU_BATCH      64
#define CPU_BATCH      8

static fw_status check_count(const char *name, uint32_t value, uint32_t least, uint32_t most,
			     struct fw_error *err)
{
	if (value < least || value > most)
		return fw_fail(err, FW_ERR_ARGUMENT, "%s is %u: from %u to %u is possible", name,
			       value, least, most);
	return FW_OK;
}

static fw_status check_seconds(const char *name, double value, double most, struct fw_error *err)
{
	if (!(value >= 0 && value <= most))
		return fw_fail(err, FW_ERR_ARGUMENT, "%s is %g: from 0 to %g is possible", name,
			       value, most);
	return FW_OK;
}

static fw_status check_floats(const struct fw_pipeline_config *config, struct fw_error *err)
{
	fw_status status;

	for (int i = 0; i < 3; i++)
		if (!isfinite(config->mean[i]) || !isfinite(config->std[i]) || config->std[i] <= 0)
			return fw_fail(err, FW_ERR_ARGUMENT,
				       "mean %g and std %g of channel %d: finite, and std above 0, "
				       "is possible",
				       (double)config->mean[i], (double)config->std[i], i);
	status = check_seconds("max_decode_s", config->max_decode_s, MAX_DECODE_S, err);
	return status ? status
		      : check_seconds("autotune_s", config->autotune_s, MAX_AUTOTUNE_S, err);
}

/* One of a few words. */
struct choice {
	const char *name, *value;
	const char *words[3];
};

static fw_status check_word(const struct choice *choice, struct fw_error *err)
{
	if (!choice->value || !choice->value[0])
		return FW_OK;
	for (int i = 0; i < 3 && choice->words[i]; i++)
		if (!strcmp(choice->value, choice->words[i]))
			return FW_OK;
	return fw_fail(err, FW_ERR_ARGUMENT, "%s is '%.64s': there are %s, %s%s%s", choice->name,
		       choice->value, choice->words[0], choice->words[1],
		       choice->words[2] ? ", " : "", choice->words[2] ? choice->words[2] : "");
}

static fw_status check_words(const struct fw_pipeline_config *config, struct fw_error *err)
{
	const struct choice choices[] = {
		{ "engine", config->engine, { "onednn", "cudnn" } },
		{ "precision", config->precision, { "fp32", "fp16", "bf16" } },
		{ "memory", config->memory, { "pinned", "pageable" } },
		{ "copy", config->copy, { "async", "blocking" } },
		{ "decoder", config->decoder, { "cpu", "nvjpeg", "auto" } },
	};

	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		fw_status status = check_word(&choices[i], err);

		if (status)
			return status;
	}
	return FW_OK;
}

fw_status fw_settings_check(const struct fw_pipeline_config *config, struct fw_error *err)
{
	fw_status status;

	if (!config->model)
		return fw_fail(err, FW_ERR_ARGUMENT, "a pipeline needs a model");
	if ((status = check_words(config, err)) ||
	    (status = check_count("decode_threads", config->decode_threads, 0, MAX_THREADS, err)) ||
	    (status = check_count("workers", config->workers, 0, MAX_THREADS, err)) ||
	    (status = check_count("max_batch", config->max_batch, 0, FW_PIPELINE_MAX_BATCH, err)) ||
	    (status = check_count("slots", config->slots, 0, MAX_SLOTS, err)) ||
	    (status = check_count("top", config->top, 1, FW_PIPELINE_MAX_TOP, err)) ||
	    (status = check_floats(config, err)))
		return status;
	if (config->max_delay_ns < 0 || config->max_delay_ns > INT64_C(3600000000000))
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "max_delay_ns is %lld: from 0 to an hour is possible",
			       (long long)config->max_delay_ns);
	if (config->cell_bytes > UINT32_MAX || !config->decoder_bytes ||
	    config->decoder_bytes > MAX_MEMORY || !config->max_pixels)
		return fw_fail(
			err, FW_ERR_ARGUMENT,
			"max_pixels, cell_bytes (below 4 GiB) or decoder_bytes is out of range");
	return FW_OK;
}

static bool is_word(const char *value, const char *word)
{
	return value && !strcmp(value, word);
}

/* What has a meaning on a GPU only must not be thought to have one here. */
static fw_status check_cpu(const struct fw_pipeline_config *config, struct fw_error *err)
{
	const char *name = NULL;

	if (config->device)
		name = "device";
	else if (config->precision && config->precision[0] && strcmp(config->precision, "fp32"))
		name = "precision";
	else if (config->cache_dir)
		name = "cache_dir";
	else if (is_word(config->memory, "pinned"))
		name = "memory";
	else if (config->copy && config->copy[0])
		name = "copy";
	else if (!config->graph)
		name = "graph";
	else if (is_word(config->decoder, "nvjpeg"))
		name = "decoder";
	if (!name)
		return FW_OK;
	return fw_fail(
		err, FW_ERR_ARGUMENT,
		"%s: the engine onednn computes on the CPU, in fp32 and in ordinary memory, "
		"and does not copy to a GPU: leave %s at its default, or use the engine cudnn",
		name, name);
}

static enum fw_nn_precision precision_of(const char *word, enum fw_nn_precision otherwise)
{
	static const enum fw_nn_precision all[] = { FW_NN_FP32, FW_NN_FP16, FW_NN_BFLOAT16 };

	for (int i = 0; i < 3; i++)
		if (is_word(word, fw_nn_precision_name(all[i])))
			return all[i];
	return otherwise;
}

fw_status fw_settings_resolve(const struct fw_pipeline_config *config, bool is_gpu,
			      struct fw_pipeline_settings *settings, struct fw_error *err)
{
	uint32_t most = config->max_batch ? config->max_batch : is_gpu ? GPU_BATCH : CPU_BATCH;
	fw_status status = is_gpu ? FW_OK : check_cpu(config, err);

	if (status)
		return status;
	*settings = (struct fw_pipeline_settings){
		.is_gpu = is_gpu,
		.precision = precision_of(config->precision, is_gpu ? FW_NN_FP16 : FW_NN_FP32),
		.is_pageable = !is_gpu || is_word(config->memory, "pageable"),
		.is_blocking = is_word(config->copy, "blocking"),
		.fuse = config->fuse,
		.graph = is_gpu && config->graph,
		.decoder = is_word(config->decoder, "nvjpeg")           ? FW_DECODER_NVJPEG
			   : is_gpu && is_word(config->decoder, "auto") ? FW_DECODER_AUTO
									: FW_DECODER_CPU,
	};
	for (uint32_t size = 1; size < most; size *= 2)
		settings->sizes[settings->n_sizes++] = size;
	settings->sizes[settings->n_sizes++] = most;
	return FW_OK;
}

void fw_settings_tell(const struct fw_pipeline_settings *settings, struct fw_pipeline_stats *stats)
{
	const struct fw_pipeline_settings *s = settings;

	snprintf(stats->engine, sizeof(stats->engine), "%s", s->is_gpu ? "cudnn" : "onednn");
	snprintf(stats->precision, sizeof(stats->precision), "%s",
		 fw_nn_precision_name(s->precision));
	snprintf(stats->memory, sizeof(stats->memory), "%s",
		 s->is_pageable ? "pageable" : "pinned");
	snprintf(stats->copy, sizeof(stats->copy), "%s",
		 !s->is_gpu       ? ""
		 : s->is_blocking ? "blocking"
				  : "async");
	snprintf(stats->decoder, sizeof(stats->decoder), "%s",
		 s->decoder == FW_DECODER_NVJPEG ? "nvjpeg"
		 : s->decoder == FW_DECODER_AUTO ? "auto"
						 : "cpu");
}
