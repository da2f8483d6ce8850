/* Runs a model over samples on an engine, and measures it. */
#include "serve/run.h"
#include "serve/model.h"
#include "serve/random.h"
#include "serve/steady_clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* All that one run holds. */
struct running {
	const struct fw_serve_job *job;
	struct fw_nn_graph graph;
	struct fw_nn_engine *engine;
	struct fw_nn_network *network;
	struct fw_nn_instance *instance;
	const struct fw_nn_plan *plan;
	uint64_t in, out;      /* elements of a sample */
	float *input, *output; /* of a batch */
};

static uint64_t sample_elements(const struct fw_nn_plan *plan, uint32_t tensor)
{
	const struct fw_nn_tensor *t = &plan->tensors[tensor];

	return (uint64_t)(t->h * t->w * t->c) * (uint64_t)t->n / (uint64_t)plan->batch;
}

static fw_status open_all(struct running *r, struct fw_serve_result *result, struct fw_error *err)
{
	const struct fw_serve_job *job = r->job;
	const struct fw_nn_engine_options engine = {
		.name = job->engine,
		.device = job->device,
		.cache_dir = job->cache_dir,
		.autotune_s = job->autotune_s,
		.say = job->say,
	};
	const struct fw_nn_network_options network = {
		.precision = job->precision,
		.n_batches = 1,
		.batches = &job->batch,
		.fuse = job->fuse,
		.graph = job->graph,
	};
	int64_t start = fw_steady_ns();
	fw_status status;

	if ((status = fw_serve_load(job->model, job->dynamic, &r->graph, err)))
		return status;
	result->read_ns = fw_steady_ns() - start;
	start = fw_steady_ns();
	if ((status = fw_nn_engine_open(&engine, &r->engine, err)) ||
	    (status = fw_nn_network_load(r->engine, &r->graph, &network, &r->network, err)) ||
	    (status = fw_nn_instance_open(r->network, &r->instance, err)))
		return status;
	result->load_ns = fw_steady_ns() - start;
	r->plan = fw_nn_network_plan(r->network, job->batch);
	r->in = sample_elements(r->plan, r->plan->input);
	r->out = sample_elements(r->plan, r->plan->output);
	return FW_OK;
}

static void close_all(struct running *r)
{
	free(r->input);
	free(r->output);
	fw_nn_instance_close(r->instance);
	fw_nn_network_free(r->network);
	fw_nn_engine_close(r->engine);
	fw_nn_graph_free(&r->graph);
}

static float random_float(uint64_t *state)
{
	return (float)(fw_random_next(state) >> 40) * (4.0f / 16777216.0f) - 2.0f; /* -2 .. 2 */
}

/* Samples from first on into the batch; what is beyond the last is zero. */
static void fill_batch(struct running *r, const struct fw_serve_samples *samples, int64_t first,
		       uint64_t *random)
{
	int64_t left = samples->count - first;
	uint64_t n = r->in * (uint64_t)(left < r->job->batch ? left : r->job->batch);

	memset(r->input, 0, r->in * (uint64_t)r->job->batch * sizeof(float));
	if (samples->bytes)
		memcpy(r->input, samples->bytes + (uint64_t)first * r->in * sizeof(float),
		       n * sizeof(float));
	else
		for (uint64_t i = 0; i < n; i++)
			r->input[i] = random_float(random);
}

static fw_status run_once(struct running *r, int64_t *took_ns, struct fw_error *err)
{
	int64_t start = fw_steady_ns();
	fw_status status = fw_nn_instance_launch(r->instance, r->job->batch, NULL, err);

	if (!status)
		status = fw_nn_instance_wait(r->instance, err);
	*took_ns = fw_steady_ns() - start;
	return status;
}

static fw_status run_batches(struct running *r, const struct fw_serve_samples *samples,
			     struct fw_serve_result *result, struct fw_error *err)
{
	uint64_t random = samples->seed;

	for (int64_t first = 0; first < samples->count; first += r->job->batch) {
		int64_t left = samples->count - first, took;
		uint64_t n = (uint64_t)(left < r->job->batch ? left : r->job->batch);
		fw_status status;

		fill_batch(r, samples, first, &random);
		if ((status = fw_nn_instance_write(r->instance, r->job->batch, r->input, err)) ||
		    (status = run_once(r, &took, err)) ||
		    (status = fw_nn_instance_read(r->instance, r->job->batch, r->output, err)))
			return status;
		memcpy(result->outputs + (uint64_t)first * r->out, r->output,
		       n * r->out * sizeof(float));
		if (!first)
			result->first_ns = took;
	}
	return FW_OK;
}

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static fw_status time_runs(struct running *r, struct fw_serve_result *result, struct fw_error *err)
{
	for (uint64_t i = 0; i < r->job->repeat; i++) {
		fw_status status = run_once(r, &result->runs_ns[i], err);

		if (status)
			return status;
		result->n_runs++;
	}
	if (result->n_runs)
		qsort(result->runs_ns, result->n_runs, sizeof(*result->runs_ns), ascending);
	return FW_OK;
}

static fw_status allocate(struct running *r, const struct fw_serve_samples *samples,
			  struct fw_serve_result *result, struct fw_error *err)
{
	uint64_t batch = (uint64_t)r->job->batch, outputs;

	if (samples->bytes && samples->per_sample != r->in)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "a sample of the input has %" PRIu64
			       " elements, the model takes %" PRIu64,
			       samples->per_sample, r->in);
	if (__builtin_mul_overflow((uint64_t)samples->count, r->out, &outputs))
		return fw_fail_nomem(err, SIZE_MAX);
	r->input = calloc(r->in * batch, sizeof(float));
	r->output = calloc(r->out * batch, sizeof(float));
	result->outputs = calloc(outputs, sizeof(float));
	result->runs_ns = calloc(r->job->repeat + 1, sizeof(*result->runs_ns));
	if (!r->input || !r->output || !result->outputs || !result->runs_ns)
		return fw_fail_nomem(err, (r->in + r->out) * batch * sizeof(float));
	result->samples = samples->count;
	result->per_sample = (int64_t)r->out;
	result->steps = r->plan->n_steps;
	result->arena_bytes = r->plan->arena_bytes;
	result->weight_bytes = r->plan->weight_bytes;
	return FW_OK;
}

fw_status fw_serve_run_job(const struct fw_serve_job *job, const struct fw_serve_samples *samples,
			   struct fw_serve_result *result, struct fw_error *err)
{
	struct running r = { .job = job };
	fw_status status;

	*result = (struct fw_serve_result){ .outputs = NULL };
	if (!(status = open_all(&r, result, err)) &&
	    !(status = allocate(&r, samples, result, err)) &&
	    !(status = run_batches(&r, samples, result, err)))
		status = time_runs(&r, result, err);
	close_all(&r);
	if (status)
		fw_serve_result_release(result);
	return status;
}

void fw_serve_result_release(struct fw_serve_result *result)
{
	free(result->outputs);
	free(result->runs_ns);
	*result = (struct fw_serve_result){ .outputs = NULL };
}

int64_t fw_serve_percentile(const struct fw_serve_result *result, unsigned p)
{
	uint64_t rank = (result->n_runs * p + 99) / 100;

	return result->runs_ns[rank ? rank - 1 : 0];
}
