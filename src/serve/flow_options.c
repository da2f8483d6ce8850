/* The switches of the pipeline on the command line. */
#include "serve/flow_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS    1024
#define MAX_DEVICE     1023
#define MAX_AUTOTUNE_S 3600

/* False: not a number up to most. What was not typed stays as it is. */
static bool read_count(const char *text, uint64_t most, uint32_t *to)
{
	uint64_t value;

	if (!text)
		return true;
	if (!fw_parse_count(text, 0, most, &value))
		return false;
	*to = (uint32_t)value;
	return true;
}

static bool read_switch(const char *text, int *to)
{
	if (!text)
		return true;
	*to = !strcmp(text, "on");
	return *to || !strcmp(text, "off");
}

static bool read_seconds(const char *text, double *to)
{
	char *end;

	if (!text)
		return true;
	errno = 0;
	*to = strtod(text, &end);
	return !errno && end != text && !*end && *to >= 0 && *to <= MAX_AUTOTUNE_S;
}

static bool read_preset(const char *text, struct fw_pipeline_config *config)
{
	if (!text || !strcmp(text, "after"))
		return true;
	if (strcmp(text, "before"))
		return false;
	/* What a plain loop in PyTorch does. */
	config->memory = "pageable";
	config->copy = "blocking";
	config->precision = "fp32";
	config->fuse = config->graph = 0;
	config->workers = config->decode_threads = 1;
	config->max_batch = 64;
	return true;
}

int fw_flow_options_read(const struct fw_usage *usage, const struct fw_flow_args *args,
			 struct fw_pipeline_config *config)
{
	if (!read_preset(args->preset, config))
		return fw_usage_error(usage, "--preset is before or after");
	if (!read_count(args->device, MAX_DEVICE, &config->device))
		return fw_usage_error(usage, "--device takes a number");
	if (!read_count(args->batch, FW_PIPELINE_MAX_BATCH, &config->max_batch))
		return fw_usage_error(usage, "--batch takes a number from 1 to %d",
				      FW_PIPELINE_MAX_BATCH);
	if (!read_count(args->workers, MAX_THREADS, &config->workers) ||
	    !read_count(args->streams, MAX_THREADS, &config->workers) ||
	    !read_count(args->decode_threads, MAX_THREADS, &config->decode_threads))
		return fw_usage_error(
			usage, "--streams, --workers and --decode-threads take numbers up to %d",
			MAX_THREADS);
	if (!read_switch(args->fuse, &config->fuse) || !read_switch(args->graph, &config->graph))
		return fw_usage_error(usage, "--fuse and --graph are on or off");
	if (!read_seconds(args->autotune, &config->autotune_s))
		return fw_usage_error(usage, "--autotune takes seconds from 0 to %d",
				      MAX_AUTOTUNE_S);
	/* The pipeline itself explains a wrong word in one of these. */
	if (args->engine)
		config->engine = args->engine;
	if (args->precision)
		config->precision = args->precision;
	if (args->memory)
		config->memory = args->memory;
	if (args->copy)
		config->copy = args->copy;
	if (args->decoder)
		config->decoder = args->decoder;
	if (args->cache)
		config->cache_dir = args->cache;
	return -1;
}

static void print_line(void *user, const char *text)
{
	(void)user;
	fprintf(stderr, "%s\n", text);
}

void fw_flow_explain(struct fw_pipeline *pipeline)
{
	fw_pipeline_explain(pipeline, print_line, NULL, NULL);
}
