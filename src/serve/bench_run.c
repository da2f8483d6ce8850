/* One load on a pipeline: warm-up, then repeats without a pause between them. */
#include "serve/bench.h"
#include "serve/steady_clock.h"

#include <stdlib.h>

#define PAGE_BYTES 4096
#define NAP_NS     INT64_C(20000000) /* between looks at whether to stop */

struct running {
	const struct fw_bench_job *job;
	struct fw_pipeline *pipeline;
	struct fw_bench_run *run;
	struct fw_bench_watch *watch;
	struct fw_bench_load *load;
	struct fw_bench_phase *phases; /* the warm-up, then the repeats */
	int64_t next_tick_ns;
	struct fw_pipeline_stats before, after;
};

/* Until then, or until the job is stopped (false); samples on the way. */
static bool hold(struct running *r, int64_t until_ns, bool is_watched)
{
	for (;;) {
		int64_t now = fw_steady_ns();

		if (r->job->is_stopped && r->job->is_stopped())
			return false;
		if (now >= until_ns)
			return true;
		if (is_watched && now >= r->next_tick_ns) {
			fw_bench_watch_tick(r->watch);
			r->next_tick_ns += FW_BENCH_WATCH_PERIOD_NS;
			continue;
		}
		now += NAP_NS;
		if (is_watched && r->next_tick_ns < now)
			now = r->next_tick_ns;
		fw_steady_sleep_until(now < until_ns ? now : until_ns);
	}
}

static fw_status read_stats(struct running *r, struct fw_pipeline_stats *stats,
			    struct fw_error *err)
{
	fw_pipeline_stats_init(stats);
	return fw_pipeline_get_stats(r->pipeline, stats, err);
}

/* Repeat by repeat; each has its time, the counts come when the load has ended. */
static fw_status measure(struct running *r, struct fw_error *err)
{
	struct fw_bench_run *run = r->run;
	int64_t start = fw_steady_ns();
	bool goes_on = hold(r, start + r->job->warmup_ns, false);
	fw_status status = read_stats(r, &r->before, err);

	if (status || !goes_on) {
		run->is_cut = true;
		return status;
	}
	fw_bench_watch_begin(r->watch);
	start = fw_steady_ns();
	r->next_tick_ns = start + FW_BENCH_WATCH_PERIOD_NS;
	for (uint32_t i = 0; i < r->job->repeats && goes_on; i++) {
		int64_t end;

		fw_bench_load_phase(r->load, i + 1);
		goes_on = hold(r, start + r->job->seconds_ns, true);
		end = fw_steady_ns();
		run->repeats[i].seconds = (double)(end - start) / 1e9;
		run->n_repeats = i + 1;
		start = end;
	}
	run->is_cut = !goes_on;
	/* What follows, until the load has ended, is nobody's. */
	fw_bench_load_phase(r->load, r->job->repeats + 1);
	fw_bench_watch_end(r->watch, &run->usage);
	return read_stats(r, &r->after, err);
}

static void add_phase(struct fw_bench_phase *sum, const struct fw_bench_phase *phase)
{
	if (!sum->failed && phase->failed)
		sum->why = phase->why;
	sum->classified += phase->classified;
	sum->failed += phase->failed;
	sum->expired += phase->expired;
	sum->arrived += phase->arrived;
	sum->refused += phase->refused;
	fw_latency_merge(&sum->latency, &phase->latency);
	fw_latency_merge(&sum->late, &phase->late);
	for (int i = 0; i < FW_PIPELINE_STAGE_COUNT; i++)
		fw_latency_merge(&sum->stages[i], &phase->stages[i]);
}

static void sum_up(struct running *r)
{
	struct fw_bench_run *run = r->run;

	for (uint32_t i = 0; i < run->n_repeats; i++) {
		const struct fw_bench_phase *phase = &r->phases[i + 1];
		struct fw_bench_repeat *repeat = &run->repeats[i];

		repeat->classified = phase->classified;
		repeat->failed = phase->failed;
		repeat->expired = phase->expired;
		repeat->arrived = phase->arrived;
		repeat->refused = phase->refused;
		repeat->images_s = (double)phase->classified / repeat->seconds;
		repeat->p50_ns = fw_latency_quantile(&phase->latency, 500);
		repeat->p90_ns = fw_latency_quantile(&phase->latency, 900);
		repeat->p99_ns = fw_latency_quantile(&phase->latency, 990);
		repeat->p999_ns = fw_latency_quantile(&phase->latency, 999);
		repeat->max_ns = phase->latency.count ? phase->latency.max_ns : -1;
		add_phase(&run->sum, phase);
	}
	for (int i = 0; i <= FW_PIPELINE_MAX_BATCH; i++)
		run->batches[i] = r->after.batches[i] - r->before.batches[i];
	run->padded = r->after.padded - r->before.padded;
}

/* The pages that are counted in must not appear one by one as growth of the memory that is watched. */
static void touch(void *memory, size_t bytes)
{
	volatile char *page = memory;

	for (size_t i = 0; i < bytes; i += PAGE_BYTES)
		page[i] = 0;
}

fw_status fw_bench_run_one(const struct fw_bench_job *job, struct fw_pipeline *pipeline,
			   struct fw_bench_run *run, struct fw_bench_watch *watch,
			   struct fw_error *err)
{
	struct running r = { .job = job, .pipeline = pipeline, .run = run, .watch = watch };
	const uint32_t n = job->repeats + 2; /* warm-up before, the load's end after */
	struct fw_bench_load_options options = {
		.pipeline = pipeline,
		.images = job->images,
		.in_flight = run->kind.in_flight,
		.rate = run->kind.rate,
		.seed = job->seed,
		.timeout_ns = job->timeout_ns,
	};
	fw_status status = read_stats(&r, &r.before, err), ended;

	if (status)
		return status;
	r.after = r.before;
	options.slots = r.before.slots;
	options.phases = r.phases = calloc(n, sizeof(*r.phases));
	if (!r.phases)
		return fw_fail_nomem(err, n * sizeof(*r.phases));
	touch(r.phases, n * sizeof(*r.phases));
	status = fw_bench_load_start(&options, &r.load, err);
	if (!status) {
		status = measure(&r, err);
		ended = fw_bench_load_end(r.load, status ? NULL : err);
		status = status ? status : ended;
	}
	if (!status)
		sum_up(&r);
	free(r.phases);
	return status;
}
