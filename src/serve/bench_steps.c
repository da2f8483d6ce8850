/* From the configuration of a plain loop to ours, a remedy at a time. */
#include "serve/bench_steps.h"

#include "nn/engine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* False: the engine of the CPU has no such thing; a NULL reason: it is on at once. */
typedef const char *turn_on(struct fw_pipeline_config *config, bool is_gpu);

static const char no_gpu[] = "of a GPU only; this is the CPU's engine";

/* As FW_FLOW_OPTIONS' preset of that name, without what the CPU's engine refuses. */
static const char *before(struct fw_pipeline_config *config, bool is_gpu)
{
	config->workers = config->decode_threads = 1;
	config->fuse = 0;
	if (!is_gpu)
		return NULL;
	config->memory = "pageable";
	config->copy = "blocking";
	config->precision = "fp32";
	config->decoder = "cpu";
	config->graph = 0;
	return NULL;
}

/* On the CPU a worker is a core that computes, which is what there is to add. */
static const char *decode_workers(struct fw_pipeline_config *config, bool is_gpu)
{
	config->decode_threads = 0;
	if (!is_gpu)
		config->workers = 0;
	return NULL;
}

static const char *pinned_memory(struct fw_pipeline_config *config, bool is_gpu)
{
	if (is_gpu)
		config->memory = "pinned";
	return is_gpu ? NULL : no_gpu;
}

static const char *async_copies(struct fw_pipeline_config *config, bool is_gpu)
{
	if (is_gpu)
		config->copy = "async";
	return is_gpu ? NULL : no_gpu;
}

static const char *streams(struct fw_pipeline_config *config, bool is_gpu)
{
	if (is_gpu)
		config->workers = 0;
	return is_gpu ? NULL : no_gpu;
}

static const char *fused_layers(struct fw_pipeline_config *config, bool is_gpu)
{
	(void)is_gpu;
	config->fuse = 1;
	return NULL;
}

static const char *captured_graph(struct fw_pipeline_config *config, bool is_gpu)
{
	if (is_gpu)
		config->graph = 1;
	return is_gpu ? NULL : no_gpu;
}

static const char *half_precision(struct fw_pipeline_config *config, bool is_gpu)
{
	if (is_gpu)
		config->precision = "fp16";
	return is_gpu ? NULL : no_gpu;
}

static const char *nvjpeg(struct fw_pipeline_config *config, bool is_gpu)
{
	if (is_gpu)
		config->decoder = "auto";
	return is_gpu ? NULL : no_gpu;
}

const struct fw_bench_step_kind fw_bench_steps[FW_BENCH_STEP_COUNT] = {
#define FW_BENCH_STEP(id, group, name, lines, turn_on) { group, name, lines },
#include "serve/bench_steps.def"
#undef FW_BENCH_STEP
};

static turn_on *const turns[FW_BENCH_STEP_COUNT] = {
#define FW_BENCH_STEP(id, group, name, lines, turn_on) turn_on,
#include "serve/bench_steps.def"
#undef FW_BENCH_STEP
};

/* The engine of a GPU where none is named and there is one; else, and that is said, the CPU's. */
static fw_status choose_engine(const struct fw_bench_job *job, bool *is_gpu, struct fw_error *err)
{
	const struct fw_pipeline_config *config = &job->config;
	const struct fw_nn_engine_options options = { .name = "cudnn", .device = config->device };
	struct fw_nn_engine *engine;
	struct fw_error why;
	fw_status status;

	*is_gpu = config->engine && !strcmp(config->engine, "cudnn");
	if (config->engine && config->engine[0])
		return FW_OK;
	status = fw_nn_engine_open(&options, &engine, &why);
	if (!status) {
		fw_nn_engine_close(engine);
		*is_gpu = true;
	} else if (status != FW_ERR_UNSUPPORTED) {
		if (err)
			*err = why;
		return status;
	} else if (job->say) {
		job->say(job->user, why.message);
	}
	return FW_OK;
}

static void say(const struct fw_bench_job *job, enum fw_bench_step step)
{
	if (job->say)
		job->say(job->user, fw_bench_steps[step].name);
}

/* *config is what is on so far; a step that cannot be turned on leaves it as it is. */
static fw_status run_step(struct fw_bench_job *job, bool is_gpu, enum fw_bench_step step,
			  struct fw_bench_step_row *row, struct fw_error *err)
{
	const struct fw_pipeline_config kept = job->config;
	const char *why = turns[step](&job->config, is_gpu);
	fw_status status;

	say(job, step);
	if (why) {
		fw_fail(&row->why, FW_ERR_UNSUPPORTED, "%s", why);
		return FW_OK;
	}
	status = fw_bench(job, &row->result, err);
	row->is_measured = !status;
	if (!status && step == FW_BENCH_STEP_NVJPEG && !strcmp(row->result.stats.decoder, "cpu")) {
		row->is_measured = false;
		fw_fail(&row->why, FW_ERR_UNSUPPORTED,
			"there is no nvJPEG with an engine of its own");
		fw_bench_result_release(&row->result);
		return FW_OK;
	}
	if (!status || step == FW_BENCH_STEP_BEFORE)
		return status;
	row->has_failed = status != FW_ERR_UNSUPPORTED;
	row->why = *err;
	job->config = kept;
	return FW_OK;
}

static double rate_of(const struct fw_bench_step_row *row)
{
	return row->is_measured && row->result.n_runs ? fw_bench_rate(row->result.runs[0]).median
						      : NAN;
}

fw_status fw_bench_steps_run(const struct fw_bench_job *job, struct fw_bench_steps_result *result,
			     struct fw_error *err)
{
	struct fw_bench_job now = *job;
	double rate_before = NAN;
	bool is_gpu;
	fw_status status;

	*result = (struct fw_bench_steps_result){ .n_rows = 0 };
	status = choose_engine(job, &is_gpu, err);
	if (status)
		return status;
	now.config.engine =
		is_gpu ? "cudnn" : "onednn"; /* a wrong word is the pipeline's to refuse */
	if (job->config.engine && job->config.engine[0])
		now.config.engine = job->config.engine;
	now.has_closed = true;
	now.n_rates = now.n_loads = 0;
	for (int i = 0; i < FW_BENCH_STEP_COUNT && !status && !result->is_stopped; i++) {
		struct fw_bench_step_row *row = &result->rows[i];
		double rate;

		status = run_step(&now, is_gpu, i, row, err);
		result->n_rows++;
		rate = rate_of(row);
		row->gain = rate / rate_before;
		if (!isnan(rate))
			rate_before = rate;
		result->is_stopped =
			row->result.is_stopped || (job->is_stopped && job->is_stopped());
	}
	if (status)
		fw_bench_steps_release(result);
	return status;
}

void fw_bench_steps_release(struct fw_bench_steps_result *result)
{
	for (uint32_t i = 0; i < result->n_rows; i++)
		fw_bench_result_release(&result->rows[i].result);
	result->n_rows = 0;
}
