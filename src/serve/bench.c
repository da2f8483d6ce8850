/* Opens a pipeline, asks it for a first image, then puts one load after the other on it. */
#include "serve/bench.h"
#include "serve/flow_options.h"
#include "serve/steady_clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static void say(const struct fw_bench_job *job, const char *text)
{
	if (job->say)
		job->say(job->user, text);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct fw_bench_spread fw_bench_rate(const struct fw_bench_run *run)
{
	double rates[FW_BENCH_MAX_REPEATS];
	uint32_t n = run->n_repeats;

	if (!n)
		return (struct fw_bench_spread){ NAN, NAN, NAN };
	for (uint32_t i = 0; i < n; i++)
		rates[i] = run->repeats[i].images_s;
	qsort(rates, n, sizeof(*rates), ascending);
	return (struct fw_bench_spread){
		.median = (rates[(n - 1) / 2] + rates[n / 2]) / 2,
		.least = rates[0],
		.most = rates[n - 1],
	};
}

/* The first image that is classified, alone: what the first user of a service waits. */
static fw_status first_request(const struct fw_bench_job *job, struct fw_pipeline *pipeline,
			       struct fw_bench_result *result, struct fw_error *err)
{
	struct fw_error why = { 0 };

	result->first_ns = -1;
	for (uint64_t i = 0; i < job->images->images.len && result->first_ns < 0; i++) {
		fw_status status = fw_bench_load_one(pipeline, fw_bench_images_at(job->images, i),
						     &result->first_ns, &why);

		if (status) {
			if (err)
				*err = why;
			return status;
		}
		result->first_failed += result->first_ns < 0;
		if (job->is_stopped && job->is_stopped())
			return FW_OK;
	}
	if (result->first_ns < 0)
		return fw_fail(err, FW_ERR_UNSUPPORTED, "no image could be classified: %s",
			       why.message);
	fw_pipeline_stats_init(&result->stats);
	return fw_pipeline_get_stats(pipeline, &result->stats, err);
}

static void say_load(const struct fw_bench_job *job, const struct fw_bench_kind *kind)
{
	char text[160];
	double s = (double)(job->seconds_ns * job->repeats + job->warmup_ns) / 1e9;

	if (kind->rate > 0)
		snprintf(text, sizeof(text), "open loop, %.1f arrivals/s: %.1f s", kind->rate, s);
	else
		snprintf(text, sizeof(text), "closed loop, %u in flight: %.1f s", kind->in_flight,
			 s);
	say(job, text);
}

static fw_status add_run(const struct fw_bench_job *job, struct fw_pipeline *pipeline,
			 const struct fw_bench_kind *kind, struct fw_bench_result *result,
			 struct fw_error *err)
{
	struct fw_bench_watch_options options = {
		.has_gpu = result->stats.gpu[0] != '\0',
		.device = job->config.device,
		.rss = job->rss,
	};
	struct fw_bench_watch watch;
	struct fw_bench_run *run = calloc(1, sizeof(*run));
	fw_status status;

	if (!run)
		return fw_fail_nomem(err, sizeof(*run));
	run->kind = *kind;
	say_load(job, kind);
	status = fw_bench_watch_open(&watch, &options, err);
	if (!status) {
		status = fw_bench_run_one(job, pipeline, run, &watch, err);
		fw_bench_watch_close(&watch);
	}
	if (status) {
		free(run);
		return status;
	}
	result->runs[result->n_runs++] = run;
	result->is_stopped = result->is_stopped || run->is_cut;
	return FW_OK;
}

static fw_status add_open(const struct fw_bench_job *job, struct fw_pipeline *pipeline,
			  struct fw_bench_result *result, struct fw_error *err)
{
	double most = job->has_closed && !result->is_stopped ? fw_bench_rate(result->runs[0]).median
							     : NAN;
	fw_status status = FW_OK;

	if (job->n_loads && most <= 0)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "the closed loop classified no image, so that there is no load to "
			       "take a part of");
	for (uint32_t i = 0; i < job->n_loads && !status && !result->is_stopped; i++) {
		const struct fw_bench_kind kind = {
			.rate = job->loads[i] / 100 * most,
			.load = job->loads[i],
		};

		status = add_run(job, pipeline, &kind, result, err);
	}
	for (uint32_t i = 0; i < job->n_rates && !status && !result->is_stopped; i++)
		status = add_run(job, pipeline, &(struct fw_bench_kind){ .rate = job->rates[i] },
				 result, err);
	return status;
}

static fw_status add_runs(const struct fw_bench_job *job, struct fw_pipeline *pipeline,
			  struct fw_bench_result *result, struct fw_error *err)
{
	const struct fw_bench_kind kind = {
		.in_flight = job->in_flight ? job->in_flight : result->stats.slots,
	};
	fw_status status = FW_OK;

	if (kind.in_flight > result->stats.slots)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "%u in flight are more than the pipeline's %u slots: ask for more "
			       "--slots",
			       kind.in_flight, result->stats.slots);
	if (job->has_closed)
		status = add_run(job, pipeline, &kind, result, err);
	return status ? status : add_open(job, pipeline, result, err);
}

fw_status fw_bench(const struct fw_bench_job *job, struct fw_bench_result *result,
		   struct fw_error *err)
{
	struct fw_pipeline *pipeline = NULL;
	int64_t start = fw_steady_ns();
	struct rusage usage;
	fw_status status;

	*result = (struct fw_bench_result){ .config = job->config, .first_ns = -1 };
	say(job, "preparing");
	status = fw_pipeline_create(&job->config, &pipeline, err);
	result->ready_ns = fw_steady_ns() - start;
	if (!status && job->explains)
		fw_flow_explain(pipeline);
	if (!status)
		status = first_request(job, pipeline, result, err);
	if (!status && result->first_ns < 0)
		result->is_stopped = true;
	else if (!status)
		status = add_runs(job, pipeline, result, err);
	result->peak_rss = getrusage(RUSAGE_SELF, &usage) ? -1 : (int64_t)usage.ru_maxrss * 1024;
	fw_pipeline_destroy(pipeline);
	if (status)
		fw_bench_result_release(result);
	return status;
}

void fw_bench_result_release(struct fw_bench_result *result)
{
	for (uint32_t i = 0; i < result->n_runs; i++)
		free(result->runs[i]);
	result->n_runs = 0;
}
