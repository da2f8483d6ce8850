#ifndef FW_SERVE_BENCH_WATCH_H
#define FW_SERVE_BENCH_WATCH_H
/* What a measurement costs: CPU time and resident memory of this process, and how full the GPU is. */
#include "base/error.h"
#include "base/vec.h"
#include "gpu/cuda.h"
#include "sample/devices.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>

#define FW_BENCH_WATCH_PERIOD_NS INT64_C(1000000000)

struct fw_bench_rss {
	int64_t time_ns; /* a steady clock */
	int64_t bytes;
};

struct fw_bench_watch_options {
	bool has_gpu;    /* the engine is one of a GPU */
	unsigned device; /* its number, in CUDA's order */
	FILE *rss;       /* gets every sample as a line; NULL: none */
};

/* One thread. */
struct fw_bench_watch {
	struct fw_bench_watch_options options;
	struct fw_devices *devices; /* NULL: none are looked at */
	struct fw_machine_sample *machine;
	char uuid[FW_CUDA_UUID_BYTES]; /* of the GPU; empty: CUDA does not tell */
	struct fw_vec rss;             /* struct fw_bench_rss, since the last begin */
	int64_t opened_ns, began_ns, read_ns;
	struct rusage began;
	double sums[FW_GPU_VALUE_COUNT], times[FW_GPU_VALUE_COUNT]; /* value x s; s */
	const char *notes[FW_GPU_VALUE_COUNT];
};

/* Of the time between begin and end. */
struct fw_bench_usage {
	double cpu_cores;                        /* CPU time of all threads / time */
	int64_t rss_start, rss_end, rss_most;    /* bytes; -1: unknown */
	bool has_slope;                          /* there are samples enough */
	double rss_slope;                        /* bytes a minute, least squares */
	bool has_gpu;                            /* the engine is one of a GPU */
	struct fw_value gpu[FW_GPU_VALUE_COUNT]; /* means over the time */
};

fw_status fw_bench_watch_open(struct fw_bench_watch *watch,
			      const struct fw_bench_watch_options *options, struct fw_error *err);
void fw_bench_watch_begin(struct fw_bench_watch *watch);
/* A sample: about every FW_BENCH_WATCH_PERIOD_NS. */
void fw_bench_watch_tick(struct fw_bench_watch *watch);
void fw_bench_watch_end(struct fw_bench_watch *watch, struct fw_bench_usage *usage);
void fw_bench_watch_close(struct fw_bench_watch *watch);

/* Bytes a minute of the line with the least squares; false: fewer than three samples, or all at one time. */
bool fw_bench_rss_slope(const struct fw_bench_rss *samples, size_t n, double *slope);

/* Of this process now; -1: unknown. */
int64_t fw_bench_rss_now(void);

#endif
