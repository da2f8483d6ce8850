/*
 * Looks for an engine among the candidates of a problem. Each runs once on poisoned memory, whether it is measured or not:
 * some read a residual where there is none. Where there is time they are measured: several runs of one candidate are captured into a CUDA graph, so that what is
 * timed is the GPU's work and not the launching of it, which for small layers takes longer.
 */
#include "nn/cudnn_choice.h"

#include <string.h>
#include <time.h>

/* Runs in one graph: so many that they take this time, within limits; and launches of it of which the fastest counts. */
#define GRAPH_US 400.0f
#define MIN_RUNS 2
#define MAX_RUNS 8
#define LAUNCHES 3
/* A candidate so much slower than the best in its first launch is not measured again. */
#define HOPELESS 1.5f
/* Nor is one captured that alone, launched from the host, takes so much longer. */
#define HOPELESS_ALONE 2.5f
#define HOST_LAUNCH_US 30.0f
/* Larger workspaces are taken only where nothing else solves the problem. */
#define USUAL_WORKSPACE ((size_t)256 << 20)

/* Stands for a bias where nothing is run: only its alignment is looked at. */
#define ANY_ADDRESS 256

struct candidate {
	const struct fw_nn_choice *choice;
	const struct fw_nn_gemm *gemm;
	void *pack;
	unsigned runs; /* in its graph */
};

double fw_nn_now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

static fw_status allocate(struct fw_nn_trial *trial, const struct fw_nn_problem *problems,
			  uint32_t n, struct fw_error *err)
{
	size_t x = 0, w = 0, y = 0, z = 0, bias = 0;
	const struct fw_nn_gpu *gpu = trial->gpu;
	fw_status status;

	for (uint32_t i = 0; i < n; i++) {
		const struct fw_nn_problem *p = &problems[i];
		const size_t e = fw_nn_precision_bytes(p->precision);

		x = larger(x, (size_t)(p->n * p->h * p->w * p->x_step) * e);
		w = larger(w, (size_t)(p->k * p->window.r * p->window.s * p->c) * e);
		y = larger(y, (size_t)(p->n * p->out_h * p->out_w * p->y_step) * e);
		z = larger(z, (size_t)(p->n * p->out_h * p->out_w * p->z_step) * e);
		bias = larger(bias, (size_t)p->k * e);
	}
	status = fw_nn_gpu_alloc(gpu, x, "measuring engines", &trial->at.x, err);
	if (!status)
		status = fw_nn_gpu_alloc(gpu, w, "measuring engines", &trial->at.w, err);
	if (!status)
		status = fw_nn_gpu_alloc(gpu, y, "measuring engines", &trial->at.y, err);
	if (!status)
		status = fw_nn_gpu_alloc(gpu, z, "measuring engines", &trial->at.z, err);
	if (!status)
		status = fw_nn_gpu_alloc(gpu, bias, "measuring engines", &trial->at.bias, err);
	if (!status)
		status = fw_nn_gpu_alloc(gpu, USUAL_WORKSPACE, "measuring engines",
					 &trial->at.workspace, err);
	if (status)
		return status;
	trial->workspace_bytes = USUAL_WORKSPACE;
	/* Small numbers of one sign: no infinities, whatever the type. */
	gpu->cuda.memset_async(trial->at.x, 0x2c, x, trial->stream);
	gpu->cuda.memset_async(trial->at.w, 0x2c, w, trial->stream);
	gpu->cuda.memset_async(trial->at.z, 0x2c, z, trial->stream);
	gpu->cuda.memset_async(trial->at.bias, 0x2c, bias, trial->stream);
	return FW_OK;
}

fw_status fw_nn_trial_open(const struct fw_nn_gpu *gpu, const struct fw_nn_problem *problems,
			   uint32_t n, struct fw_nn_trial *trial, struct fw_error *err)
{
	const struct fw_cuda *cuda = &gpu->cuda;
	fw_status status;
	int result;

	*trial = (struct fw_nn_trial){ .gpu = gpu };
	trial->until_s = fw_nn_now_s() + gpu->autotune_s;
	result = cuda->stream_create(&trial->stream, FW_CUDA_STREAM_NON_BLOCKING);
	if (!result)
		result = cuda->event_create(&trial->start, 0);
	if (!result)
		result = cuda->event_create(&trial->end, 0);
	status = fw_nn_gpu_check(gpu, result, "the stream for measuring", err);
	if (!status)
		status = allocate(trial, problems, n, err);
	if (status)
		fw_nn_trial_close(trial);
	return status;
}

void fw_nn_trial_close(struct fw_nn_trial *trial)
{
	const struct fw_nn_gpu *gpu = trial->gpu;
	const uint64_t memory[] = { trial->at.x, trial->at.w,    trial->at.y,
				    trial->at.z, trial->at.bias, trial->at.workspace };

	if (!gpu)
		return;
	for (unsigned i = 0; i < sizeof(memory) / sizeof(memory[0]); i++)
		fw_nn_gpu_free(gpu, memory[i]);
	if (trial->start)
		gpu->cuda.event_destroy(trial->start);
	if (trial->end)
		gpu->cuda.event_destroy(trial->end);
	if (trial->stream)
		gpu->cuda.stream_destroy(trial->stream);
	*trial = (struct fw_nn_trial){ 0 };
}

/* Where a candidate's operands are: without a residual its place is that of the result, as when it runs in a network. */
static struct fw_nn_addresses places(const struct fw_nn_trial *trial,
				     const struct fw_nn_problem *problem)
{
	struct fw_nn_addresses at = trial->at;

	if (!problem->z_step)
		at.z = 0;
	return at;
}

static fw_status enqueue(const struct fw_nn_trial *trial, const struct candidate *candidate)
{
	const struct fw_nn_gpu *gpu = trial->gpu;
	const struct fw_nn_choice *choice = candidate->choice;

	if (!choice->is_gemm)
		return gpu->cudnn.execute(gpu->cudnn_handle, choice->plan.plan, candidate->pack)
			       ? FW_ERR_UNSUPPORTED
			       : FW_OK;
	return fw_nn_gemm_enqueue(candidate->gemm,
				  &(struct fw_nn_gemm_run){
					  .algo = &choice->algo,
					  .at = places(trial, &choice->problem),
					  .workspace_bytes = choice->workspace_bytes,
					  .stream = trial->stream,
				  },
				  NULL);
}

/* NULL: the candidate cannot be captured, or does not run at all. */
static void *capture(const struct fw_nn_trial *trial, const struct candidate *candidate)
{
	const struct fw_cuda *cuda = &trial->gpu->cuda;
	void *graph = NULL, *exec = NULL;
	bool good = true;

	if (cuda->stream_begin_capture(trial->stream, FW_CUDA_CAPTURE_THREAD_LOCAL))
		return NULL;
	for (unsigned i = 0; good && i < candidate->runs; i++)
		good = !enqueue(trial, candidate);
	if (cuda->stream_end_capture(trial->stream, &graph))
		graph = NULL;
	if (good && graph && cuda->graph_instantiate(&exec, graph, 0))
		exec = NULL;
	if (graph)
		cuda->graph_destroy(graph);
	return exec;
}

/* One launch of the graph, or of the candidate itself where there is none (NULL), in microseconds. */
static int launch(const struct fw_nn_trial *trial, const struct candidate *candidate, void *exec,
		  float *us)
{
	const struct fw_cuda *cuda = &trial->gpu->cuda;
	float ms = 0;
	int result = cuda->event_record(trial->start, trial->stream);

	if (!result && exec)
		result = cuda->graph_launch(exec, trial->stream);
	else if (!result)
		enqueue(trial, candidate); /* it went well before */
	if (!result)
		result = cuda->event_record(trial->end, trial->stream);
	if (!result)
		result = cuda->event_synchronize(trial->end);
	if (!result)
		result = cuda->event_elapsed_time(&ms, trial->start, trial->end);
	*us = ms * 1000;
	return result;
}

static unsigned runs_for(float us)
{
	const float runs = us > 0 ? GRAPH_US / us : MAX_RUNS;

	return runs < MIN_RUNS ? MIN_RUNS : runs > MAX_RUNS ? MAX_RUNS : (unsigned)runs;
}

/* The fastest of some launches of a graph of several runs; negative: it cannot be captured. */
static int measure_graph(const struct fw_nn_trial *trial, const struct candidate *candidate,
			 float best, float *us)
{
	void *exec = capture(trial, candidate);
	int result = 0;
	float one;

	*us = -1;
	if (!exec)
		return 0;
	for (unsigned i = 0; !result && i <= LAUNCHES; i++) {
		result = launch(trial, candidate, exec, &one);
		one /= (float)candidate->runs;
		if (i && !result && (*us < 0 || one < *us))
			*us = one;
		if (i && best >= 0 && one > best * HOPELESS)
			break;
	}
	trial->gpu->cuda.graph_exec_destroy(exec);
	return result;
}

static void poison(const struct fw_nn_trial *trial, const struct fw_nn_problem *p)
{
	const size_t bytes = (size_t)(p->n * p->out_h * p->out_w * p->y_step) *
			     fw_nn_precision_bytes(p->precision);

	trial->gpu->cuda.memset_async(trial->at.y, 0xff, bytes, trial->stream);
}

/*
 * Some engines read the residual that there is not and multiply it by 0: what was in the result's place before, NaN, is
 * then in the result.
 */
static int keeps_poison(const struct fw_nn_trial *trial, const struct fw_nn_problem *p, bool *keeps)
{
	const size_t bytes = fw_nn_precision_bytes(p->precision);
	unsigned char first[sizeof(float)] = { 0 };
	int result = trial->gpu->cuda.memcpy_device_to_host_async(first, trial->at.y, bytes,
								  trial->stream);

	if (!result)
		result = trial->gpu->cuda.stream_synchronize(trial->stream);
	*keeps = true;
	for (size_t i = 0; i < bytes; i++)
		*keeps = *keeps && (first[i] == 0xff || (i + 1 == bytes && first[i] == 0x7f));
	return result;
}

/* One run. *right false: the candidate does not run, or not right. A failure is one of the GPU. */
static fw_status try_once(const struct fw_nn_trial *trial, const struct candidate *candidate,
			  bool *right, struct fw_error *err)
{
	const struct fw_nn_problem *problem = &candidate->choice->problem;
	bool keeps = false;
	int result;

	*right = false;
	if (!problem->z_step)
		poison(trial, problem);
	if (enqueue(trial, candidate))
		return FW_OK;
	result = problem->z_step ? trial->gpu->cuda.stream_synchronize(trial->stream)
				 : keeps_poison(trial, problem, &keeps);
	*right = !keeps;
	return fw_nn_gpu_check(trial->gpu, result, "the first run of an engine", err);
}

/* *us negative: much slower than the best. The first run loaded the kernels, this one tells the hopeless. */
static fw_status measure(const struct fw_nn_trial *trial, struct candidate *candidate, float best,
			 float *us, struct fw_error *err)
{
	float alone;
	int result = launch(trial, candidate, NULL, &alone);

	*us = -1;
	if (!result && best >= 0 && alone > best * HOPELESS_ALONE + HOST_LAUNCH_US)
		return FW_OK;
	candidate->runs = runs_for(alone);
	if (!result)
		result = measure_graph(trial, candidate, best, us);
	return fw_nn_gpu_check(trial->gpu, result, "measuring an engine", err);
}

static bool is_found(const struct fw_nn_choice *best)
{
	return best->is_gemm || best->plan.plan;
}

/* Whether no other candidate should be looked at. */
static bool is_done(const struct fw_nn_trial *trial, const struct fw_nn_choice *best)
{
	return is_found(best) && !(trial && trial->measures && fw_nn_now_s() < trial->until_s);
}

/* Takes a candidate over as the best; what it owns moves. */
static void take(const struct fw_nn_gpu *gpu, struct fw_nn_choice *best,
		 struct fw_nn_choice *candidate)
{
	struct fw_nn_conv conv = best->conv;

	fw_nn_conv_plan_close(gpu, &best->plan);
	*best = *candidate;
	best->conv = conv;
	candidate->plan = (struct fw_nn_conv_plan){ 0 };
}

/*
 * Runs a candidate, and takes it if it runs right and none, or a slower one, was taken before. One that runs right but cannot
 * be captured stands behind all that can.
 */
static fw_status consider(const struct fw_nn_trial *trial, struct candidate *run,
			  struct fw_nn_choice *choice, struct fw_nn_choice *best,
			  struct fw_error *err)
{
	bool better = false;
	fw_status status = try_once(trial, run, &better, err);

	if (!status && better && trial->measures) {
		status = measure(trial, run, best->us, &choice->us, err);
		better = choice->us < 0 ? !is_found(best) : best->us < 0 || choice->us < best->us;
	}
	if (!status && better)
		take(trial->gpu, best, choice);
	return status;
}

/*
 * fallback: among the slow engines. *needed: the least workspace of those that need more than the trial has; 0: there are
 * none.
 */
static fw_status try_convs(const struct fw_nn_trial *trial, struct fw_nn_choice *best,
			   bool fallback, size_t *needed, struct fw_error *err)
{
	const struct fw_nn_gpu *gpu = best->conv.gpu;
	const struct fw_nn_addresses at =
		trial ? places(trial, &best->problem) : (struct fw_nn_addresses){ 0 };
	struct fw_nn_config configs[FW_NN_MAX_CONFIGS];
	fw_status status;
	uint32_t n;

	*needed = 0;
	status = fw_nn_conv_configs(&best->conv, fallback, configs, &n, err);
	for (uint32_t i = 0; !status && i < n && !is_done(trial, best); i++) {
		struct fw_nn_choice candidate = *best;
		struct candidate run = { .choice = &candidate };
		size_t bytes;

		candidate.plan = (struct fw_nn_conv_plan){ 0 };
		candidate.is_gemm = false;
		candidate.config = configs[i];
		if (fw_nn_conv_plan_open(&best->conv, &configs[i], &candidate.plan, NULL))
			continue;
		bytes = candidate.workspace_bytes = candidate.plan.workspace_bytes;
		if (!trial) {
			take(gpu, best, &candidate);
		} else if (bytes > trial->workspace_bytes) {
			*needed = *needed && *needed < bytes ? *needed : bytes;
		} else if (!fw_nn_conv_pack(gpu, &at, &run.pack, NULL)) {
			status = consider(trial, &run, &candidate, best, err);
			gpu->cudnn.descriptor_destroy(run.pack);
		}
		fw_nn_conv_plan_close(gpu, &candidate.plan);
	}
	return status;
}

static fw_status grow_workspace(struct fw_nn_trial *trial, size_t bytes, struct fw_error *err)
{
	fw_nn_gpu_free(trial->gpu, trial->at.workspace);
	trial->at.workspace = 0;
	trial->workspace_bytes = 0;
	if (fw_nn_gpu_alloc(trial->gpu, bytes, "measuring engines", &trial->at.workspace, err))
		return err ? err->code : FW_ERR_NOMEM;
	trial->workspace_bytes = bytes;
	return FW_OK;
}

/* Engines with more than the usual workspace, and then slow ones, are looked at only where no other runs right. */
static fw_status choose_conv(struct fw_nn_trial *trial, struct fw_nn_choice *best,
			     struct fw_error *err)
{
	fw_status status = FW_OK;

	for (unsigned i = 0; !status && i < 2; i++) {
		size_t needed;

		status = try_convs(trial, best, i == 1, &needed, err);
		while (!status && trial && !is_found(best) && needed) {
			status = grow_workspace(trial, needed, err);
			if (!status)
				status = try_convs(trial, best, i == 1, &needed, err);
		}
		if (is_found(best))
			break;
	}
	return status;
}

static fw_status try_gemms(const struct fw_nn_gpu *gpu, struct fw_nn_trial *trial,
			   struct fw_nn_choice *best, struct fw_error *err)
{
	struct fw_cublaslt_result results[FW_NN_MAX_ALGOS];
	struct fw_nn_gemm gemm;
	fw_status status = FW_OK;
	uint32_t n = 0;

	if (fw_nn_gemm_open(gpu, &best->problem, trial ? trial->at.bias : ANY_ADDRESS, &gemm, NULL))
		return FW_OK; /* cuDNN's engines are left */
	if (fw_nn_gemm_algos(&gemm, results, &n, NULL))
		n = 0;
	for (uint32_t i = 0; !status && i < n && !is_done(trial, best); i++) {
		struct fw_nn_choice candidate = *best;
		struct candidate run = { .choice = &candidate, .gemm = &gemm };

		candidate.plan = (struct fw_nn_conv_plan){ 0 };
		candidate.is_gemm = true;
		candidate.algo = results[i].algo;
		candidate.workspace_bytes = results[i].workspace_bytes;
		if (trial)
			status = consider(trial, &run, &candidate, best, err);
		else
			take(gpu, best, &candidate);
	}
	fw_nn_gemm_close(&gemm);
	return status;
}

/* Unmeasured, cuBLASLt's first is taken before cuDNN's; where engines are measured, their order does not matter. */
fw_status fw_nn_choice_make(const struct fw_nn_gpu *gpu, const struct fw_nn_problem *problem,
			    struct fw_nn_trial *trial, struct fw_nn_choice *choice,
			    struct fw_error *err)
{
	fw_status status;

	*choice = (struct fw_nn_choice){ .problem = *problem, .us = -1 };
	fw_nn_problem_key(problem, choice->key);
	if (trial) {
		trial->measures = fw_nn_now_s() < trial->until_s;
		trial->n_measured += trial->measures;
		gpu->cudnn.set_stream(gpu->cudnn_handle, trial->stream);
	}
	status = fw_nn_conv_open(gpu, problem, &choice->conv, err);
	if (!status && gpu->lt_handle && fw_nn_is_gemm(problem))
		status = try_gemms(gpu, trial, choice, err);
	if (!status && !is_done(trial, choice))
		status = choose_conv(trial, choice, err);
	if (!status && !is_found(choice))
		status = fw_fail(err, FW_ERR_UNSUPPORTED, "no engine of cuDNN solves %s%s",
				 choice->key, trial ? ", or none runs right" : "");
	if (status)
		fw_nn_choice_close(gpu, choice);
	return status;
}

static fw_status check_gemm(const struct fw_nn_gpu *gpu, const struct fw_nn_choice *choice,
			    struct fw_error *err)
{
	struct fw_nn_gemm gemm;
	fw_status status = fw_nn_gemm_open(gpu, &choice->problem, ANY_ADDRESS, &gemm, err);

	if (!status && !(fw_nn_is_gemm(&choice->problem) && fw_nn_gemm_takes(&gemm, &choice->algo)))
		status = fw_fail(err, FW_ERR_UNSUPPORTED, "cuBLASLt does not take the algorithm");
	fw_nn_gemm_close(&gemm);
	return status;
}

fw_status fw_nn_choice_open(const struct fw_nn_gpu *gpu, struct fw_nn_choice *choice,
			    struct fw_error *err)
{
	fw_status status;

	fw_nn_problem_key(&choice->problem, choice->key);
	if (choice->is_gemm)
		return check_gemm(gpu, choice, err);
	status = fw_nn_conv_open(gpu, &choice->problem, &choice->conv, err);
	if (!status)
		status = fw_nn_conv_plan_open(&choice->conv, &choice->config, &choice->plan, err);
	if (status)
		fw_nn_choice_close(gpu, choice);
	else
		choice->workspace_bytes = choice->plan.workspace_bytes;
	return status;
}

void fw_nn_choice_close(const struct fw_nn_gpu *gpu, struct fw_nn_choice *choice)
{
	fw_nn_conv_plan_close(gpu, &choice->plan);
	fw_nn_conv_close(&choice->conv);
}
