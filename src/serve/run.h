#ifndef FW_SERVE_RUN_H
#define FW_SERVE_RUN_H
/* Runs a model over samples on an engine, and measures it. */
#include "nn/engine.h"

struct fw_serve_job {
	const char *model, *engine;
	enum fw_nn_precision precision;
	int64_t batch;
	unsigned device;
	bool dynamic, fuse, graph;
	const char *cache_dir; /* NULL: none */
	double autotune_s;
	uint64_t repeat; /* timed runs of the first batch, after its first */
	void (*say)(void *user, const char *text);
};

/* Free with fw_serve_result_release. Times in ns. */
struct fw_serve_result {
	int64_t samples, per_sample; /* outputs: samples x per_sample, in ONNX's order */
	float *outputs;
	uint32_t steps;
	uint64_t arena_bytes, weight_bytes;
	int64_t read_ns, load_ns, first_ns; /* model; engine and network; first batch */
	int64_t *runs_ns;                   /* job.repeat, ascending */
	uint64_t n_runs;
};

/* How many samples to run and their elements in ONNX's order (n, c, h, w): bytes at any alignment. */
struct fw_serve_samples {
	int64_t count;
	uint64_t per_sample;        /* elements; 0: whatever the model takes */
	const unsigned char *bytes; /* NULL: random ones */
	uint64_t seed;
};

fw_status fw_serve_run_job(const struct fw_serve_job *job, const struct fw_serve_samples *samples,
			   struct fw_serve_result *result, struct fw_error *err);
void fw_serve_result_release(struct fw_serve_result *result);

/* The p-th percentile of the timed runs: nearest rank. */
int64_t fw_serve_percentile(const struct fw_serve_result *result, unsigned p);

#endif
