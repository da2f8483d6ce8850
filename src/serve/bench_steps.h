#ifndef FW_SERVE_BENCH_STEPS_H
#define FW_SERVE_BENCH_STEPS_H
/* The remedies against an empty GPU, turned on one after the other, each measured by a closed loop. */
#include "base/str.h"
#include "serve/bench_print.h"

enum fw_bench_step {
#define FW_BENCH_STEP(id, group, name, lines, turn_on) FW_BENCH_STEP_##id,
#include "serve/bench_steps.def"
#undef FW_BENCH_STEP
	FW_BENCH_STEP_COUNT
};

struct fw_bench_step_kind {
	const char *group; /* "A basics"; "": the start */
	const char *name;
	unsigned lines; /* that it costs a PyTorch program: see docs/serve-bench.md */
};
extern const struct fw_bench_step_kind fw_bench_steps[FW_BENCH_STEP_COUNT];

struct fw_bench_step_row {
	bool is_measured;
	bool has_failed;     /* not measured though it should have been */
	struct fw_error why; /* if not measured */
	struct fw_bench_result result;
	double gain; /* over the measured row before; NAN: there is none */
};

/* Free with fw_bench_steps_release. */
struct fw_bench_steps_result {
	struct fw_bench_step_row rows[FW_BENCH_STEP_COUNT];
	uint32_t n_rows; /* that were come to */
	bool is_stopped;
};

/*
 * job->config: what every row has; job's loads do not count. With no engine given, that of a GPU is taken where there is one.
 * A remedy that the engine does not know is left out, with the reason; so is one that fails, has_failed. An error: the
 * first row fails.
 */
fw_status fw_bench_steps_run(const struct fw_bench_job *job, struct fw_bench_steps_result *result,
			     struct fw_error *err);
void fw_bench_steps_release(struct fw_bench_steps_result *result);

void fw_bench_steps_text(struct fw_str *out, const struct fw_bench_page *page,
			 const struct fw_bench_steps_result *steps);
void fw_bench_steps_json(struct fw_str *out, const struct fw_bench_page *page,
			 const struct fw_bench_steps_result *steps);

#endif
