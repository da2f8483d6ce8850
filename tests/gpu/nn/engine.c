/*
 * gpu_nn MODEL [--engine cudnn] [--precision fp16] [--batches 1,8] [--cache DIR] [--autotune SECONDS] [--no-graph]
 * [--no-fuse] [--pad CHANNELS]: loads a model, says how long that took, and then obeys lines from stdin, each answered by one JSON line:
 *   run BATCH SAMPLES IN OUT   fp32 NCHW samples from one file, fp32 results into another
 *   time BATCH LAUNCHES        milliseconds per launch on the GPU's own clock, launched one after the other
 *   twice BATCH LAUNCHES       the same for two instances on two streams, whose launches alternate
 *   layers BATCH GPU           each step: what choosing an engine measured, and its roofline on a GPU of that name
 * Skips (77) and says why where the engine cannot be opened.
 */
#include "base/error.h"
#include "gpu/cuda.h"
#include "nn/engine.h"
#include "nn/roofline.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_BATCHES 16

extern const struct fw_nn_engine_class fw_nn_cudnn;

struct test {
	const char *model;
	struct fw_nn_engine_class class
		; /* the cudnn engine's, with another padding; name NULL: as it is */
	struct fw_nn_engine_options engine_options;
	struct fw_nn_network_options options;
	int64_t batches[MAX_BATCHES];
	struct fw_nn_graph graph;
	struct fw_nn_engine *engine;
	struct fw_nn_network *network;
	struct fw_nn_instance *instances[2];
	struct fw_cuda cuda;
	void *streams[2], *start, *end, *other;
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void say(void *user, const char *text)
{
	(void)user;
	fprintf(stderr, "gpu_nn: %s\n", text);
}

static int fail(const struct fw_error *err)
{
	printf("{\"error\": \"%s: %s\"}\n", fw_status_name(err->code), err->message);
	fflush(stdout);
	return err->code == FW_ERR_UNSUPPORTED ? 77 : 1;
}

static bool parse_batches(struct test *t, const char *text)
{
	char *end;

	for (t->options.n_batches = 0; t->options.n_batches < MAX_BATCHES; text = end + 1) {
		t->batches[t->options.n_batches++] = strtoll(text, &end, 10);
		if (*end != ',')
			return !*end && end != text;
	}
	return false;
}

static bool parse_precision(struct test *t, const char *text)
{
	static const struct {
		const char *name;
		enum fw_nn_precision precision;
	} names[] = { { "fp32", FW_NN_FP32 }, { "fp16", FW_NN_FP16 }, { "bf16", FW_NN_BFLOAT16 } };

	for (unsigned i = 0; i < 3; i++)
		if (!strcmp(text, names[i].name)) {
			t->options.precision = names[i].precision;
			return true;
		}
	return false;
}

static bool parse_option(struct test *t, const char *name, const char *value)
{
	if (!strcmp(name, "--engine"))
		return (t->engine_options.name = value) != NULL;
	if (!strcmp(name, "--precision"))
		return parse_precision(t, value);
	if (!strcmp(name, "--batches"))
		return parse_batches(t, value);
	if (!strcmp(name, "--cache"))
		return (t->engine_options.cache_dir = value) != NULL;
	if (!strcmp(name, "--autotune")) {
		t->engine_options.autotune_s = strtod(value, NULL);
		return true;
	}
	if (!strcmp(name, "--pad")) {
		t->class = fw_nn_cudnn;
		t->class.channel_multiple = strtoll(value, NULL, 10);
		return t->class.channel_multiple > 0;
	}
	return false;
}

static bool parse(struct test *t, int argc, char **argv)
{
	t->engine_options =
		(struct fw_nn_engine_options){ .name = "cudnn", .autotune_s = 3, .say = say };
	t->options = (struct fw_nn_network_options){ .precision = FW_NN_FP16,
						     .n_batches = 1,
						     .batches = t->batches,
						     .fuse = true,
						     .graph = true };
	t->batches[0] = 1;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--no-graph"))
			t->options.graph = false;
		else if (!strcmp(argv[i], "--no-fuse"))
			t->options.fuse = false;
		else if (argv[i][0] != '-')
			t->model = argv[i];
		else if (i + 1 == argc || !parse_option(t, argv[i], argv[i + 1]))
			return false;
		else
			i++;
	}
	return t->model != NULL;
}

static fw_status load(struct test *t, struct fw_error *err)
{
	const struct fw_nn_read_options read = { .dynamic = true };
	double start = now_s(), opened, loaded;
	fw_status status = fw_nn_onnx_read(t->model, &read, &t->graph, err);

	if (!status)
		status = fw_nn_fold(&t->graph, err);
	if (!status)
		status = t->class.name ? fw_nn_engine_open_class(&t->class, &t->engine_options,
								 &t->engine, err)
				       : fw_nn_engine_open(&t->engine_options, &t->engine, err);
	opened = now_s();
	if (!status)
		status = fw_nn_network_load(t->engine, &t->graph, &t->options, &t->network, err);
	loaded = now_s();
	if (!status)
		status = fw_nn_instance_open(t->network, &t->instances[0], err);
	if (status)
		return status;
	printf("{\"ready_s\": %.3f, \"open_s\": %.3f, \"load_s\": %.3f, \"instance_s\": %.3f}\n",
	       now_s() - start, opened - start, loaded - opened, now_s() - loaded);
	fflush(stdout);
	return FW_OK;
}

static fw_status run_batches(struct test *t, int64_t batch, int64_t samples, FILE *in, FILE *out,
			     struct fw_error *err)
{
	struct fw_nn_io input, output;
	fw_status status = fw_nn_instance_io(t->instances[0], batch, &input, &output, err);
	size_t in_floats, out_floats;
	float *x, *y;

	if (status)
		return status;
	in_floats = (size_t)(input.n * input.h * input.w * input.c);
	out_floats = (size_t)(output.n * output.h * output.w * output.c);
	x = calloc(in_floats, sizeof(*x));
	y = calloc(out_floats, sizeof(*y));
	if (!x || !y)
		status = fw_fail_nomem(err, in_floats * sizeof(*x));
	for (int64_t done = 0; !status && done < samples; done += batch) {
		const int64_t n = samples - done < batch ? samples - done : batch;
		const size_t want = in_floats / (size_t)batch * (size_t)n;

		if (fread(x, sizeof(*x), want, in) != want)
			status = fw_fail(err, FW_ERR_IO, "the input ends early");
		if (!status)
			status = fw_nn_instance_write(t->instances[0], batch, x, err);
		if (!status)
			status = fw_nn_instance_launch(t->instances[0], batch, NULL, err);
		if (!status)
			status = fw_nn_instance_read(t->instances[0], batch, y, err);
		if (!status)
			fwrite(y, sizeof(*y), out_floats / (size_t)batch * (size_t)n, out);
	}
	free(x);
	free(y);
	return status;
}

static fw_status run(struct test *t, const char *line, struct fw_error *err)
{
	char in_path[512], out_path[512];
	long long batch, samples;
	fw_status status;
	FILE *in, *out;
	double start = now_s();

	if (sscanf(line, "run %lld %lld %511s %511s", &batch, &samples, in_path, out_path) != 4)
		return fw_fail(err, FW_ERR_ARGUMENT, "run BATCH SAMPLES IN OUT");
	in = fopen(in_path, "rb");
	out = fopen(out_path, "wb");
	if (!in || !out)
		status = fw_fail(err, FW_ERR_IO, "%s or %s cannot be opened", in_path, out_path);
	else
		status = run_batches(t, batch, samples, in, out, err);
	if (in)
		fclose(in);
	if (out && fclose(out) && !status)
		status = fw_fail(err, FW_ERR_IO, "%s cannot be written", out_path);
	if (!status)
		printf("{\"samples\": %lld, \"s\": %.3f}\n", samples, now_s() - start);
	return status;
}

static fw_status check(struct test *t, int result, const char *call, struct fw_error *err)
{
	return result ? fw_cuda_fail(&t->cuda, result, call, err) : FW_OK;
}

static fw_status make_streams(struct test *t, struct fw_error *err)
{
	fw_status status = FW_OK;
	int result = 0;

	if (t->start)
		return FW_OK;
	status = fw_cuda_open(&t->cuda, err);
	for (unsigned i = 0; !status && !result && i < 2; i++)
		result = t->cuda.stream_create(&t->streams[i], FW_CUDA_STREAM_NON_BLOCKING);
	if (!status && !result)
		result = t->cuda.event_create(&t->other, FW_CUDA_EVENT_DISABLE_TIMING);
	if (!status && !result)
		result = t->cuda.event_create(&t->end, 0);
	if (!status && !result)
		result = t->cuda.event_create(&t->start, 0);
	return status ? status : check(t, result, "streams and events", err);
}

/* Launches by n instances in turn. */
static fw_status launch_all(struct test *t, int64_t batch, long launches, unsigned n,
			    struct fw_error *err)
{
	fw_status status = FW_OK;

	for (long i = 0; !status && i < launches; i++)
		status = fw_nn_instance_launch(t->instances[i % n], batch, t->streams[i % n], err);
	return status;
}

/* The clock's events are on the first stream: the second starts after it and is waited for at the end. */
static fw_status start_clock(struct test *t, unsigned n, struct fw_error *err)
{
	int result = t->cuda.event_record(t->start, t->streams[0]);

	if (!result && n == 2)
		result = t->cuda.stream_wait_event(t->streams[1], t->start, 0);
	return check(t, result, "the first event", err);
}

static fw_status stop_clock(struct test *t, unsigned n, float *ms, struct fw_error *err)
{
	int result = 0;

	if (n == 2)
		result = t->cuda.event_record(t->other, t->streams[1]);
	if (!result && n == 2)
		result = t->cuda.stream_wait_event(t->streams[0], t->other, 0);
	if (!result)
		result = t->cuda.event_record(t->end, t->streams[0]);
	if (!result)
		result = t->cuda.ctx_synchronize();
	if (!result)
		result = t->cuda.event_elapsed_time(ms, t->start, t->end);
	return check(t, result, "the last event", err);
}

static fw_status time_launches(struct test *t, const char *line, struct fw_error *err)
{
	const unsigned n = strncmp(line, "twice", 5) ? 1 : 2;
	long long batch;
	long launches;
	float ms = 0;
	double start, host;
	fw_status status = FW_OK;

	if (sscanf(line, "%*s %lld %ld", &batch, &launches) != 2 || launches < 1)
		return fw_fail(err, FW_ERR_ARGUMENT, "time BATCH LAUNCHES");
	if (n == 2 && !t->instances[1])
		status = fw_nn_instance_open(t->network, &t->instances[1], err);
	if (!status)
		status = make_streams(t, err);
	if (!status)
		status = launch_all(t, batch, 4, n, err);
	if (!status)
		status = check(t, t->cuda.ctx_synchronize(), "cuCtxSynchronize", err);
	start = now_s();
	if (!status)
		status = start_clock(t, n, err);
	if (!status)
		status = launch_all(t, batch, launches, n, err);
	host = now_s() - start;
	if (!status)
		status = stop_clock(t, n, &ms, err);
	if (!status)
		printf("{\"batch\": %lld, \"ms\": %.6f, \"host_ms\": %.6f, \"wall_ms\": %.6f}\n",
		       batch, (double)ms / (double)launches, host * 1e3 / (double)launches,
		       (now_s() - start) * 1e3 / (double)launches);
	return status;
}

static fw_status list_layers(struct test *t, const char *line, struct fw_error *err)
{
	const struct fw_hw_peak *peak;
	const struct fw_nn_plan *plan;
	char gpu[64];
	long long batch;
	fw_status status;

	if (sscanf(line, "layers %lld %63s", &batch, gpu) != 2)
		return fw_fail(err, FW_ERR_ARGUMENT, "layers BATCH GPU");
	plan = fw_nn_network_plan(t->network, batch);
	if (!plan)
		return fw_fail(err, FW_ERR_ARGUMENT, "batch %lld is not loaded", batch);
	status = fw_hw_peak_find(gpu, &peak, err);
	if (status)
		return status;
	printf("{\"layers\": [");
	for (uint32_t i = 0; i < plan->n_steps; i++) {
		const struct fw_nn_step *step = &plan->steps[i];
		const struct fw_nn_tensor *out = &plan->tensors[step->output];
		const struct fw_nn_roofline roof = fw_nn_step_roofline(plan, step, peak);

		printf("%s{\"kind\": \"%s\", \"window\": %lld, \"groups\": %lld, \"h\": %lld, "
		       "\"k\": %lld, \"us\": %.3f, \"roofline_us\": %.3f}",
		       i ? ", " : "", fw_nn_step_name(step->kind), (long long)step->window.r,
		       (long long)step->window.groups, (long long)out->h, (long long)out->c,
		       (double)fw_nn_network_step_us(t->network, batch, i), roof.bound_s * 1e6);
	}
	printf("]}\n");
	return FW_OK;
}

static fw_status obey(struct test *t, const char *line, struct fw_error *err)
{
	if (!strncmp(line, "run ", 4))
		return run(t, line, err);
	if (!strncmp(line, "time ", 5) || !strncmp(line, "twice ", 6))
		return time_launches(t, line, err);
	if (!strncmp(line, "layers ", 7))
		return list_layers(t, line, err);
	return fw_fail(err, FW_ERR_ARGUMENT, "run, time, twice and layers are known");
}

static void close_all(struct test *t)
{
	fw_nn_instance_close(t->instances[0]);
	fw_nn_instance_close(t->instances[1]);
	fw_nn_network_free(t->network);
	fw_nn_engine_close(t->engine);
	fw_nn_graph_free(&t->graph);
}

int main(int argc, char **argv)
{
	static struct test t;
	struct fw_error err = { 0 };
	char line[1200];
	int status = 0;

	if (!parse(&t, argc, argv)) {
		fprintf(stderr, "usage: see the head of tests/gpu/nn/engine.c\n");
		return 2;
	}
	if (load(&t, &err)) {
		status = fail(&err);
		close_all(&t);
		return status;
	}
	while (!status && fgets(line, sizeof(line), stdin)) {
		if (obey(&t, line, &err))
			status = fail(&err);
		fflush(stdout);
	}
	close_all(&t);
	return status;
}
