#ifndef FW_SERVE_BENCH_LOAD_H
#define FW_SERVE_BENCH_LOAD_H
/*
 * Load on a pipeline: closed, so many requests inside all the time, the next one as soon as one is answered; or open, at
 * seeded random times that do not wait for answers (Poisson arrivals), whose latency counts from the time when they were
 * meant to arrive, however late they were sent.
 */
#include "base/error.h"
#include "fullwarp/pipeline.h"
#include "serve/bench_images.h"
#include "serve/bench_latency.h"

#include <stdatomic.h>
#include <stdbool.h>

/*
 * One stretch of time. What requests tell is written by the pipeline's answering thread (in open loops what is refused or
 * late by the arriving one): to be read after fw_bench_load_end.
 */
struct fw_bench_phase {
	/* Closed: answered in the phase. Open: meant to arrive in it. */
	uint64_t classified, failed, expired;
	uint64_t arrived, refused; /* open: meant to arrive; of them found no slot */
	struct fw_latency latency; /* of those classified; open: from the arrival meant */
	struct fw_latency stages[FW_PIPELINE_STAGE_COUNT];
	struct fw_latency late; /* open: how much later than meant requests were sent */
	struct fw_error why;    /* the first failure, if failed */
};

struct fw_bench_load_options {
	struct fw_pipeline *pipeline;
	const struct fw_bench_images *images;
	uint32_t in_flight; /* closed; at most the pipeline's slots */
	double rate;        /* open: arrivals a second; 0: closed */
	uint64_t seed;      /* of the arrivals */
	int64_t timeout_ns; /* of a request; 0: none */
	uint32_t slots;     /* of the pipeline */
	uint32_t n_phases;  /* room for so many */
	struct fw_bench_phase *phases;
};

struct fw_bench_load;

/* Load begins, in phase 0. No other requests may be in the pipeline. */
fw_status fw_bench_load_start(const struct fw_bench_load_options *options,
			      struct fw_bench_load **load, struct fw_error *err);

/* What follows counts for that phase. */
void fw_bench_load_phase(struct fw_bench_load *load, uint32_t phase);

/* Waits until all is answered; frees load. An error: a request was not taken for another reason than a full pipeline. */
fw_status fw_bench_load_end(struct fw_bench_load *load, struct fw_error *err);

/* One request alone; until its answer. *took_ns: -1 if it was not classified; err then says why. */
fw_status fw_bench_load_one(struct fw_pipeline *pipeline, const struct fw_bench_image *image,
			    int64_t *took_ns, struct fw_error *err);

#endif
