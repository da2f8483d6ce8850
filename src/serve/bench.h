#ifndef FW_SERVE_BENCH_H
#define FW_SERVE_BENCH_H
/* What a pipeline can do under load, measured: rate, latency, where the time goes, what it costs. */
#include "serve/bench_load.h"
#include "serve/bench_watch.h"

#define FW_BENCH_MAX_LOADS   16
#define FW_BENCH_MAX_REPEATS 100

struct fw_bench_job {
	struct fw_pipeline_config config;
	const struct fw_bench_images *images;
	int64_t seconds_ns, warmup_ns;
	uint32_t repeats;
	uint32_t in_flight; /* of the closed loop; 0: as many as slots */
	uint64_t seed;      /* of arrivals */
	int64_t timeout_ns; /* of a request; 0: none */
	bool explains;      /* the pipeline's choices, on standard error */
	bool has_closed;    /* a closed loop, which comes first */
	uint32_t n_rates, n_loads;
	double rates[FW_BENCH_MAX_LOADS]; /* open loops, arrivals a second */
	double loads
		[FW_BENCH_MAX_LOADS]; /* open loops, percent of the closed loop's rate; has_closed */
	FILE *rss;                    /* gets the samples of resident memory; NULL: none */
	bool (*is_stopped)(
		void); /* asked all the time; what was measured until then is the result */
	void (*say)(void *user, const char *text); /* what it does next; NULL: nobody listens */
	void *user;
};

/* One of equal stretches of time. Times in ns; -1: unknown, too few images. */
struct fw_bench_repeat {
	double seconds;
	uint64_t classified, failed, expired, arrived, refused;
	double images_s;
	int64_t p50_ns, p90_ns, p99_ns, p999_ns, max_ns;
};

struct fw_bench_kind {
	double rate;        /* open: meant arrivals a second; closed: 0 */
	double load;        /* open: the percentage that was asked for, else 0 */
	uint32_t in_flight; /* closed */
};

/* One load. */
struct fw_bench_run {
	struct fw_bench_kind kind;
	uint32_t n_repeats;
	bool is_cut; /* stopped in the middle: the last repeat is shorter, or there is none */
	struct fw_bench_repeat repeats[FW_BENCH_MAX_REPEATS];
	/* Of all repeats. */
	struct fw_bench_phase sum;
	uint64_t batches[FW_PIPELINE_MAX_BATCH + 1], padded;
	struct fw_bench_usage usage;
};

/* Free with fw_bench_result_release. */
struct fw_bench_result {
	struct fw_pipeline_config config; /* the job's */
	struct fw_pipeline_stats stats;   /* after the first request */
	int64_t ready_ns;                 /* fw_pipeline_create */
	int64_t first_ns;      /* of the first request that was classified; -1: none was */
	uint64_t first_failed; /* images that failed before it */
	uint32_t n_runs;
	struct fw_bench_run *runs[1 + 2 * FW_BENCH_MAX_LOADS]; /* owned */
	int64_t peak_rss; /* bytes, of the process; -1: unknown */
	bool is_stopped;
};

fw_status fw_bench(const struct fw_bench_job *job, struct fw_bench_result *result,
		   struct fw_error *err);
void fw_bench_result_release(struct fw_bench_result *result);

/* Of a run's repeats: images a second, or another value of theirs. */
struct fw_bench_spread {
	double median, least, most;
};
struct fw_bench_spread fw_bench_rate(const struct fw_bench_run *run);

/* One load on a pipeline that is ready; in bench_run.c. */
fw_status fw_bench_run_one(const struct fw_bench_job *job, struct fw_pipeline *pipeline,
			   struct fw_bench_run *run, struct fw_bench_watch *watch,
			   struct fw_error *err);

#endif
