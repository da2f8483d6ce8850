/*
 * Runs a model over a file of samples (fp32, n c h w) and writes the results (fp32), for comparisons with other programs.
 * Without arguments each line of stdin holds them, separated by tabs. Options are name=value: batches (those loaded,
 * e.g. 1,3,8), batch (the one that runs), precision, engine, fuse=0, poison=1 (every byte of the arena is 0xff before
 * each run), threads (instances; the results of all must be the same bytes).
 */
#include "nn/engine.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BATCHES 16
#define MAX_THREADS 16
#define MAX_WORDS   16

struct settings {
	const char *model, *engine, *input, *output;
	int64_t batches[MAX_BATCHES];
	uint32_t n_batches;
	int64_t batch;
	enum fw_nn_precision precision;
	bool is_split, poison;
	unsigned threads;
};

struct samples {
	float *data;
	size_t n, size; /* floats of one */
};

struct runner {
	const struct settings *settings;
	struct fw_nn_network *network;
	const struct samples *in;
	struct samples out;
	struct fw_error err;
	fw_status status;
};

static int usage(void)
{
	fprintf(stderr, "usage: nn_run_model [MODEL INPUT OUTPUT [NAME=VALUE...]]\n");
	return 2;
}

static void say(void *user, const char *text)
{
	(void)user;
	fprintf(stderr, "%s\n", text);
}

static bool set_batches(struct settings *s, const char *text)
{
	char *end;

	for (s->n_batches = 0; s->n_batches < MAX_BATCHES; text = end + 1) {
		s->batches[s->n_batches++] = strtoll(text, &end, 10);
		if (*end != ',')
			return *end == '\0';
	}
	return false;
}

static bool set_option(struct settings *s, const char *option)
{
	const char *value = strchr(option, '=');

	if (!value++)
		return false;
	if (!strncmp(option, "batches=", 8))
		return set_batches(s, value);
	if (!strncmp(option, "batch=", 6))
		s->batch = strtoll(value, NULL, 10);
	else if (!strncmp(option, "precision=", 10))
		s->precision = !strcmp(value, "bf16")   ? FW_NN_BFLOAT16
			       : !strcmp(value, "fp16") ? FW_NN_FP16
							: FW_NN_FP32;
	else if (!strncmp(option, "engine=", 7))
		s->engine = value;
	else if (!strncmp(option, "fuse=", 5))
		s->is_split = *value == '0';
	else if (!strncmp(option, "poison=", 7))
		s->poison = *value == '1';
	else if (!strncmp(option, "threads=", 8))
		s->threads = (unsigned)strtoul(value, NULL, 10);
	else
		return false;
	return s->threads >= 1 && s->threads <= MAX_THREADS;
}

static bool read_samples(const char *path, size_t size, struct samples *samples)
{
	FILE *file = fopen(path, "rb");
	bool ok = false;
	long bytes;

	if (!file)
		return false;
	if (!fseek(file, 0, SEEK_END) && (bytes = ftell(file)) > 0 && !fseek(file, 0, SEEK_SET)) {
		samples->size = size;
		samples->n = (size_t)bytes / sizeof(float) / size;
		samples->data = malloc((size_t)bytes);
		ok = samples->data && fread(samples->data, 1, (size_t)bytes, file) == (size_t)bytes;
	}
	fclose(file);
	return ok;
}

/* One batch in and out; a last part of a batch repeats its first sample. */
static fw_status run_batch(struct runner *r, struct fw_nn_instance *instance, size_t first)
{
	int64_t batch = r->settings->batch;
	size_t n = (size_t)batch, left = r->in->n - first, out = r->out.size;
	float *staged = malloc(n * (r->in->size + out) * sizeof(float));
	float *results = staged + n * r->in->size;
	fw_status status = FW_OK;

	if (!staged)
		return FW_ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		memcpy(staged + i * r->in->size,
		       r->in->data + (first + (i < left ? i : 0)) * r->in->size,
		       r->in->size * sizeof(float));
	if ((status = fw_nn_instance_write(instance, batch, staged, &r->err)) ||
	    (status = fw_nn_instance_launch(instance, batch, NULL, &r->err)) ||
	    (status = fw_nn_instance_wait(instance, &r->err)) ||
	    (status = fw_nn_instance_read(instance, batch, results, &r->err))) {
		free(staged);
		return status;
	}
	memcpy(r->out.data + first * out, results, (left < n ? left : n) * out * sizeof(float));
	free(staged);
	return FW_OK;
}

static void poison(const struct fw_nn_plan *plan, const struct fw_nn_io *input)
{
	memset((char *)input->data - plan->tensors[plan->input].offset, 0xff, plan->arena_bytes);
}

static void *run_all(void *arg)
{
	struct runner *r = arg;
	const struct fw_nn_plan *plan = fw_nn_network_plan(r->network, r->settings->batch);
	struct fw_nn_instance *instance;
	struct fw_nn_io input, output;

	r->status = fw_nn_instance_open(r->network, &instance, &r->err);
	if (r->status)
		return NULL;
	r->status = fw_nn_instance_io(instance, r->settings->batch, &input, &output, &r->err);
	if (!r->status) {
		r->out.n = r->in->n;
		r->out.size = (size_t)(output.h * output.w * output.c);
		r->out.data = malloc(r->out.n * r->out.size * sizeof(float));
		if (!r->out.data)
			r->status = FW_ERR_NOMEM;
	}
	for (size_t i = 0; i < r->in->n && !r->status; i += (size_t)r->settings->batch) {
		if (r->settings->poison)
			poison(plan, &input);
		r->status = run_batch(r, instance, i);
	}
	fw_nn_instance_close(instance);
	return NULL;
}

static fw_status run_threads(const struct settings *s, struct fw_nn_network *network,
			     const struct samples *in, struct fw_error *err)
{
	struct runner runners[MAX_THREADS] = { 0 };
	pthread_t threads[MAX_THREADS];
	fw_status status = FW_OK;
	FILE *file;

	for (unsigned i = 0; i < s->threads; i++) {
		runners[i] = (struct runner){ .settings = s, .network = network, .in = in };
		if (pthread_create(&threads[i], NULL, run_all, &runners[i]))
			abort();
	}
	for (unsigned i = 0; i < s->threads; i++) {
		const struct samples *out = &runners[i].out, *first = &runners[0].out;

		pthread_join(threads[i], NULL);
		if (runners[i].status && !status) {
			status = runners[i].status;
			*err = runners[i].err;
		} else if (!status &&
			   memcmp(out->data, first->data, out->n * out->size * sizeof(float))) {
			status = FW_ERR_INTERNAL;
			snprintf(err->message, sizeof(err->message), "instances 0 and %u differ",
				 i);
		}
	}
	file = status ? NULL : fopen(s->output, "wb");
	if (!status && (!file || fwrite(runners[0].out.data, sizeof(float) * runners[0].out.size,
					in->n, file) != in->n))
		status = FW_ERR_IO;
	if (file && fclose(file))
		status = FW_ERR_IO;
	for (unsigned i = 0; i < s->threads; i++)
		free(runners[i].out.data);
	return status;
}

static fw_status run_network(const struct settings *s, struct fw_nn_network *network,
			     struct fw_error *err)
{
	const struct fw_nn_plan *plan = fw_nn_network_plan(network, s->batch);
	const struct fw_nn_tensor *t;
	struct samples in = { 0 };
	fw_status status;

	if (!plan) {
		struct fw_nn_instance *instance = NULL;

		status = fw_nn_instance_open(network, &instance, err);
		if (!status)
			status = fw_nn_instance_launch(instance, s->batch, NULL, err);
		fw_nn_instance_close(instance);
		return status;
	}
	t = &plan->tensors[plan->input];
	if (!read_samples(s->input, (size_t)(t->h * t->w * t->c), &in)) {
		snprintf(err->message, sizeof(err->message), "%s cannot be read", s->input);
		return FW_ERR_IO;
	}
	status = run_threads(s, network, &in, err);
	free(in.data);
	return status;
}

static fw_status run(const struct settings *s, struct fw_error *err)
{
	struct fw_nn_engine_options options = { .name = s->engine, .say = say };
	struct fw_nn_network_options wanted = {
		.precision = s->precision,
		.n_batches = s->n_batches,
		.batches = s->batches,
		.fuse = !s->is_split,
		.graph = true,
	};
	struct fw_nn_read_options reading = { .dynamic = true };
	struct fw_nn_engine *engine = NULL;
	struct fw_nn_network *network = NULL;
	struct fw_nn_graph graph;
	fw_status status = fw_nn_onnx_read(s->model, &reading, &graph, err);

	if (status)
		return status;
	if (!(status = fw_nn_fold(&graph, err)) &&
	    !(status = fw_nn_engine_open(&options, &engine, err)) &&
	    !(status = fw_nn_network_load(engine, &graph, &wanted, &network, err)))
		status = run_network(s, network, err);
	fw_nn_network_free(network);
	fw_nn_engine_close(engine);
	fw_nn_graph_free(&graph);
	return status;
}

/* Settings from MODEL INPUT OUTPUT [NAME=VALUE...]. */
static bool set_all(struct settings *s, int n, char **words)
{
	*s = (struct settings){
		.engine = "onednn",
		.batches = { 1 },
		.n_batches = 1,
		.batch = 1,
		.threads = 1,
	};
	if (n < 3)
		return false;
	s->model = words[0];
	s->input = words[1];
	s->output = words[2];
	for (int i = 3; i < n; i++)
		if (!set_option(s, words[i]))
			return false;
	return true;
}

/* Each line of stdin is a run; one line of stdout says how it went. */
static int run_lines(void)
{
	char line[4096], *words[MAX_WORDS];
	struct settings s;

	while (fgets(line, sizeof(line), stdin)) {
		struct fw_error err = { .message = "" };
		char *rest = NULL;
		int n = 0;

		for (char *word = strtok_r(line, "\t\n", &rest); word && n < MAX_WORDS;
		     word = strtok_r(NULL, "\t\n", &rest))
			words[n++] = word;
		if (!set_all(&s, n, words))
			return usage();
		printf("%s %s\n", fw_status_name(run(&s, &err)), err.message);
		fflush(stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct fw_error err = { .message = "" };
	struct settings s;
	fw_status status;

	if (argc == 1)
		return run_lines();
	if (!set_all(&s, argc - 1, argv + 1))
		return usage();
	status = run(&s, &err);
	if (!status)
		return 0;
	fprintf(stderr, "%s: %s\n", fw_status_name(status), err.message);
	return 1;
}
