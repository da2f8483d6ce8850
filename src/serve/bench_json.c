/* The result for programs: one object. Times in ms, unknown is null. */
#include "serve/bench_steps.h"

#include <math.h>
#include <stdio.h>

static void put_ms(struct fw_json *json, const char *key, int64_t ns)
{
	if (ns < 0)
		fw_json_null(json, key);
	else
		fw_json_double(json, key, (double)ns / 1e6);
}

static void put_bytes(struct fw_json *json, const char *key, int64_t bytes)
{
	if (bytes < 0)
		fw_json_null(json, key);
	else
		fw_json_int(json, key, bytes);
}

static void put_quantiles(struct fw_json *json, const char *key, const struct fw_latency *latency)
{
	fw_json_begin_object(json, key);
	fw_json_uint(json, "count", latency->count);
	put_ms(json, "mean", fw_latency_mean(latency));
	put_ms(json, "p50", fw_latency_quantile(latency, 500));
	put_ms(json, "p90", fw_latency_quantile(latency, 900));
	put_ms(json, "p99", fw_latency_quantile(latency, 990));
	put_ms(json, "p99.9", fw_latency_quantile(latency, 999));
	put_ms(json, "max", latency->count ? latency->max_ns : -1);
	fw_json_end_object(json);
}

static void put_pipeline(struct fw_json *json, const struct fw_bench_result *result)
{
	const struct fw_pipeline_stats *stats = &result->stats;

	fw_json_begin_object(json, "pipeline");
	fw_json_string(json, "engine", stats->engine);
	fw_json_string(json, "gpu", stats->gpu[0] ? stats->gpu : NULL);
	fw_json_string(json, "precision", stats->precision);
	fw_json_string(json, "memory", stats->memory);
	fw_json_string(json, "copy", stats->copy[0] ? stats->copy : NULL);
	fw_json_string(json, "decoder", stats->decoder);
	fw_json_bool(json, "fuse", result->config.fuse);
	fw_json_bool(json, "graph", result->config.graph && stats->gpu[0]);
	fw_json_uint(json, "workers", stats->workers);
	fw_json_uint(json, "decode_threads", stats->decode_threads);
	fw_json_uint(json, "max_batch", stats->max_batch);
	fw_json_uint(json, "slots", stats->slots);
	fw_json_uint(json, "classes", stats->classes);
	fw_json_uint(json, "memory_bytes", stats->memory_bytes);
	fw_json_uint(json, "weight_bytes", stats->weight_bytes);
	fw_json_uint(json, "pinned_bytes", stats->pinned_bytes);
	fw_json_uint(json, "device_bytes", stats->device_bytes);
	fw_json_end_object(json);
}

static void put_images(struct fw_json *json, const struct fw_bench_page *page)
{
	fw_json_begin_object(json, "images");
	fw_json_uint(json, "count", page->images->images.len);
	fw_json_uint(json, "bytes", page->images->bytes);
	fw_json_uint(json, "unreadable", page->images->unreadable);
	if (page->drawn) {
		fw_json_uint(json, "drawn_width", page->drawn->width);
		fw_json_uint(json, "drawn_height", page->drawn->height);
	}
	fw_json_end_object(json);
}

static void put_repeat(struct fw_json *json, const struct fw_bench_repeat *repeat)
{
	fw_json_begin_object(json, NULL);
	fw_json_double(json, "seconds", repeat->seconds);
	fw_json_double(json, "images_s", repeat->images_s);
	fw_json_uint(json, "classified", repeat->classified);
	fw_json_uint(json, "failed", repeat->failed);
	fw_json_uint(json, "expired", repeat->expired);
	fw_json_uint(json, "arrived", repeat->arrived);
	fw_json_uint(json, "refused", repeat->refused);
	put_ms(json, "p50_ms", repeat->p50_ns);
	put_ms(json, "p90_ms", repeat->p90_ns);
	put_ms(json, "p99_ms", repeat->p99_ns);
	put_ms(json, "p99.9_ms", repeat->p999_ns);
	put_ms(json, "max_ms", repeat->max_ns);
	fw_json_end_object(json);
}

static void put_batches(struct fw_json *json, const struct fw_bench_run *run)
{
	char size[16];

	fw_json_begin_object(json, "batches");
	for (unsigned i = 1; i <= FW_PIPELINE_MAX_BATCH; i++) {
		if (!run->batches[i])
			continue;
		snprintf(size, sizeof(size), "%u", i);
		fw_json_uint(json, size, run->batches[i]);
	}
	fw_json_end_object(json);
	fw_json_uint(json, "padded", run->padded);
}

static void put_usage(struct fw_json *json, const struct fw_bench_usage *usage)
{
	fw_json_double(json, "cpu_cores", usage->cpu_cores);
	put_bytes(json, "rss_start_bytes", usage->rss_start);
	put_bytes(json, "rss_end_bytes", usage->rss_end);
	put_bytes(json, "rss_max_bytes", usage->rss_most);
	fw_json_double(json, "rss_slope_bytes_per_minute",
		       usage->has_slope ? usage->rss_slope : NAN);
	fw_json_begin_object(json, "gpu");
	for (int i = 0; i < FW_GPU_VALUE_COUNT; i++) {
		fw_json_begin_object(json, fw_gpu_values[i].name);
		if (fw_value_is_known(usage->gpu[i]))
			fw_json_double(json, "value", usage->gpu[i].number);
		else
			fw_json_null(json, "value");
		fw_json_string(json, "note", usage->gpu[i].note);
		fw_json_end_object(json);
	}
	fw_json_end_object(json);
}

static void put_run(struct fw_json *json, const struct fw_bench_run *run)
{
	const struct fw_bench_phase *sum = &run->sum;
	struct fw_bench_spread rate = fw_bench_rate(run);

	fw_json_begin_object(json, NULL);
	fw_json_string(json, "loop", run->kind.rate > 0 ? "open" : "closed");
	if (run->kind.rate > 0)
		fw_json_double(json, "arrivals_s", run->kind.rate);
	else
		fw_json_uint(json, "in_flight", run->kind.in_flight);
	if (run->kind.load > 0)
		fw_json_double(json, "load_percent", run->kind.load);
	fw_json_bool(json, "stopped", run->is_cut);
	fw_json_double(json, "images_s", rate.median);
	fw_json_double(json, "images_s_min", rate.least);
	fw_json_double(json, "images_s_max", rate.most);
	fw_json_uint(json, "classified", sum->classified);
	fw_json_uint(json, "failed", sum->failed);
	fw_json_string(json, "failure", sum->failed ? sum->why.message : NULL);
	fw_json_uint(json, "expired", sum->expired);
	fw_json_uint(json, "arrived", sum->arrived);
	fw_json_uint(json, "refused", sum->refused);
	put_quantiles(json, "latency_ms", &sum->latency);
	if (run->kind.rate > 0)
		put_quantiles(json, "sent_late_ms", &sum->late);
	fw_json_begin_object(json, "stages_ms");
	for (int i = 0; i < FW_PIPELINE_STAGE_COUNT; i++)
		put_quantiles(json, fw_pipeline_stage_name(i), &sum->stages[i]);
	fw_json_end_object(json);
	put_batches(json, run);
	if (run->n_repeats)
		put_usage(json, &run->usage);
	fw_json_begin_array(json, "repeats");
	for (uint32_t i = 0; i < run->n_repeats; i++)
		put_repeat(json, &run->repeats[i]);
	fw_json_end_array(json);
	fw_json_end_object(json);
}

static void put_head(struct fw_json *json, const struct fw_bench_page *page)
{
	fw_json_uint(json, "schema", 1);
	fw_json_string(json, "version", fw_version());
	fw_json_string(json, "model", page->job->config.model);
	fw_json_uint(json, "cores", fw_bench_cores());
	put_images(json, page);
	fw_json_double(json, "seconds", (double)page->job->seconds_ns / 1e9);
	fw_json_double(json, "warmup_seconds", (double)page->job->warmup_ns / 1e9);
}

static void put_result(struct fw_json *json, const struct fw_bench_result *result)
{
	put_pipeline(json, result);
	put_ms(json, "ready_ms", result->ready_ns);
	put_ms(json, "first_request_ms", result->first_ns);
	put_bytes(json, "peak_rss_bytes", result->peak_rss);
	fw_json_begin_array(json, "runs");
	for (uint32_t i = 0; i < result->n_runs; i++)
		put_run(json, result->runs[i]);
	fw_json_end_array(json);
}

void fw_bench_json(struct fw_str *out, const struct fw_bench_page *page)
{
	struct fw_json json = { .out = out, .indent = 1 };

	fw_json_begin_object(&json, NULL);
	put_head(&json, page);
	fw_json_bool(&json, "stopped", page->result->is_stopped);
	put_result(&json, page->result);
	fw_json_end_object(&json);
	fw_str_putc(out, '\n');
}

static void put_step(struct fw_json *json, const struct fw_bench_step_kind *kind,
		     const struct fw_bench_step_row *row)
{
	fw_json_begin_object(json, NULL);
	fw_json_string(json, "group", kind->group[0] ? kind->group : NULL);
	fw_json_string(json, "step", kind->name);
	fw_json_uint(json, "lines", kind->lines);
	fw_json_string(json, "left_out", row->is_measured ? NULL : row->why.message);
	if (row->is_measured) {
		fw_json_double(json, "gain", row->gain);
		put_result(json, &row->result);
	}
	fw_json_end_object(json);
}

void fw_bench_steps_json(struct fw_str *out, const struct fw_bench_page *page,
			 const struct fw_bench_steps_result *steps)
{
	struct fw_json json = { .out = out, .indent = 1 };

	fw_json_begin_object(&json, NULL);
	put_head(&json, page);
	fw_json_bool(&json, "stopped", steps->is_stopped);
	fw_json_begin_array(&json, "steps");
	for (uint32_t i = 0; i < steps->n_rows; i++)
		put_step(&json, &fw_bench_steps[i], &steps->rows[i]);
	fw_json_end_array(&json);
	fw_json_end_object(&json);
	fw_str_putc(out, '\n');
}
