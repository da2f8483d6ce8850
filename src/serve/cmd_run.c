/* fullwarp-serve run: a model on an engine, over given or random samples. */
#include "base/amount.h"
#include "cli/options.h"
#include "serve/cmd.h"
#include "serve/model.h"
#include "serve/npy.h"
#include "serve/run.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BATCH  65536
#define MAX_REPEAT 1000000
#define TOP        5
#define SHOWN      8 /* samples whose classes are printed */

static struct {
	const char *input, *random, *output, *engine, *batch, *precision, *repeat, *device, *cache,
		*autotune;
	bool no_fuse, no_graph, dynamic;
} args;

static const struct fw_option options[] = {
	{ .name = "input",
	  .value = "FILE.npy",
	  .help = "samples: fp32, n x c x h x w",
	  .text = &args.input },
	{ .name = "random",
	  .value = "SEED",
	  .help = "a batch of random samples instead",
	  .text = &args.random },
	{ .name = "output",
	  .value = "FILE.npy",
	  .help = "write the results",
	  .text = &args.output },
	{ .name = "engine",
	  .value = "E",
	  .help = "onednn (CPU) or cudnn (GPU)",
	  .text = &args.engine },
	{ .name = "batch", .value = "N", .help = "samples at a time: 1", .text = &args.batch },
	{ .name = "precision",
	  .value = "P",
	  .help = "fp32 (the default), fp16 or bf16",
	  .text = &args.precision },
	{ .name = "repeat",
	  .value = "N",
	  .help = "timed runs after the first: 0",
	  .text = &args.repeat },
	{ .name = "device", .value = "N", .help = "CUDA device: 0", .text = &args.device },
	{ .name = "cache", .value = "DIR", .help = "of the engine's choices", .text = &args.cache },
	{ .name = "autotune",
	  .value = "S",
	  .help = "seconds to try the engine's choices: 0",
	  .text = &args.autotune },
	{ .name = "no-fuse", .help = "a step for each node", .flag = &args.no_fuse },
	{ .name = "no-graph",
	  .help = "launch the steps one by one, no CUDA graph",
	  .flag = &args.no_graph },
	{ .name = "dynamic",
	  .help = "take the first dimension as the batch, also where it is fixed",
	  .flag = &args.dynamic },
};

static const struct fw_usage usage = {
	.program = "fullwarp-serve",
	.command = "run",
	.operands = "MODEL.onnx",
	.about = "Runs a model and prints times and the best classes of the first samples.\n",
	.options = options,
	.count = sizeof(options) / sizeof(options[0]),
};

static void say(void *user, const char *text)
{
	(void)user;
	fprintf(stderr, "fullwarp-serve run: %s\n", text);
}

/* The best classes of a sample: NaN is worse than every number. */
static void print_classes(int64_t sample, const float *scores, int64_t n)
{
	int64_t best[TOP];
	int64_t count = n < TOP ? n : TOP;

	for (int64_t rank = 0; rank < count; rank++) {
		best[rank] = -1;
		for (int64_t i = 0; i < n; i++) {
			bool is_taken = false;

			for (int64_t k = 0; k < rank; k++)
				is_taken = is_taken || best[k] == i;
			if (!is_taken && (best[rank] < 0 || scores[i] > scores[best[rank]] ||
					  (isnan(scores[best[rank]]) && !isnan(scores[i]))))
				best[rank] = i;
		}
	}
	printf("sample %" PRId64 ":", sample);
	for (int64_t rank = 0; rank < count; rank++)
		printf("  %" PRId64 " (%.6g)", best[rank], (double)scores[best[rank]]);
	printf("\n");
}

static void print_times(const struct fw_serve_job *job, const struct fw_serve_result *result)
{
	int64_t median;

	printf("read %s, load %s, ", fw_amount_time(result->read_ns).text,
	       fw_amount_time(result->load_ns).text);
	printf("first batch %s\n", fw_amount_time(result->first_ns).text);
	if (!result->n_runs)
		return;
	median = fw_serve_percentile(result, 50);
	printf("%" PRIu64 " runs: median %s, ", result->n_runs, fw_amount_time(median).text);
	printf("p10 %s, ", fw_amount_time(fw_serve_percentile(result, 10)).text);
	printf("p90 %s, ", fw_amount_time(fw_serve_percentile(result, 90)).text);
	printf("%.1f samples/s\n", (double)job->batch * 1e9 / (double)(median > 0 ? median : 1));
}

static void print_result(const struct fw_serve_job *job, const struct fw_serve_result *result)
{
	printf("%s: %s, batch %" PRId64 ", %s, %u steps, ", job->model, job->engine, job->batch,
	       fw_nn_precision_name(job->precision), result->steps);
	printf("activations %s, ", fw_amount_bytes((int64_t)result->arena_bytes).text);
	printf("weights %s\n", fw_amount_bytes((int64_t)result->weight_bytes).text);
	print_times(job, result);
	for (int64_t i = 0; i < result->samples && i < SHOWN; i++)
		print_classes(i, result->outputs + i * result->per_sample, result->per_sample);
	if (result->samples > SHOWN)
		printf("... %" PRId64 " more samples\n", result->samples - SHOWN);
}

/* The samples of a file; *npy stays open. */
static fw_status open_samples(struct fw_npy *npy, struct fw_serve_samples *samples,
			      struct fw_error *err)
{
	fw_status status = fw_npy_open(npy, args.input, err);

	if (status)
		return status;
	if (npy->rank < 2 || !npy->count || npy->dims[0] > INT32_MAX)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "%s: %u dimensions and %" PRIu64
			       " elements are not samples of something",
			       args.input, npy->rank, npy->count);
	samples->count = npy->dims[0];
	samples->per_sample = npy->count / (uint64_t)npy->dims[0];
	samples->bytes = npy->bytes;
	return FW_OK;
}

static int run(const struct fw_serve_job *job, struct fw_serve_samples *samples)
{
	struct fw_npy npy = { .rank = 0 };
	struct fw_serve_result result;
	struct fw_error err;
	fw_status status = FW_OK;

	if (args.input)
		status = open_samples(&npy, samples, &err);
	if (!status)
		status = fw_serve_run_job(job, samples, &result, &err);
	fw_npy_close(&npy);
	if (!status) {
		if (args.output)
			status =
				fw_npy_write(args.output, 2,
					     (const int64_t[]){ result.samples, result.per_sample },
					     result.outputs, &err);
		if (!status)
			print_result(job, &result);
		fw_serve_result_release(&result);
	}
	if (status)
		fprintf(stderr, "fullwarp-serve run: %s\n", err.message);
	return status ? 1 : 0;
}

static bool parse_seconds(const char *text, double *seconds)
{
	char *end;

	errno = 0;
	*seconds = strtod(text, &end);
	return !errno && end != text && !*end && *seconds >= 0 && *seconds <= 3600;
}

/* -1: go on; else the exit code. */
static int read_args(struct fw_serve_job *job, struct fw_serve_samples *samples)
{
	uint64_t batch, device;

	if (!args.engine)
		return fw_usage_error(&usage, "--engine is onednn or cudnn");
	if (!args.input == !args.random)
		return fw_usage_error(&usage, "either --input or --random");
	if (!fw_parse_count(args.batch, 1, MAX_BATCH, &batch))
		return fw_usage_error(&usage, "--batch takes a number from 1 to %d", MAX_BATCH);
	if (!fw_parse_count(args.repeat, 0, MAX_REPEAT, &job->repeat))
		return fw_usage_error(&usage, "--repeat takes a number up to %d", MAX_REPEAT);
	if (!fw_parse_count(args.device, 0, 1023, &device))
		return fw_usage_error(&usage, "--device takes a number");
	if (args.random && !fw_parse_count(args.random, 0, UINT64_MAX, &samples->seed))
		return fw_usage_error(&usage, "--random takes a number");
	if (!parse_seconds(args.autotune, &job->autotune_s))
		return fw_usage_error(&usage, "--autotune takes seconds from 0 to 3600");
	if (!fw_serve_precision(args.precision, &job->precision))
		return fw_usage_error(&usage, "--precision is fp32, fp16 or bf16");
	job->engine = args.engine;
	job->batch = samples->count = (int64_t)batch;
	job->device = (unsigned)device;
	job->cache_dir = args.cache;
	job->fuse = !args.no_fuse;
	job->graph = !args.no_graph;
	job->dynamic = args.dynamic;
	return -1;
}

int fw_serve_run(int argc, char **argv)
{
	struct fw_serve_job job = { .say = say };
	struct fw_serve_samples samples = { .count = 0 };
	int code;

	args.batch = "1";
	args.precision = "fp32";
	args.repeat = args.device = args.autotune = "0";
	code = fw_options_parse(&usage, &argc, argv);
	if (code >= 0)
		return code;
	if (argc != 2)
		return fw_usage_error(&usage, "one model at a time");
	code = read_args(&job, &samples);
	if (code >= 0)
		return code;
	job.model = argv[1];
	return run(&job, &samples);
}
