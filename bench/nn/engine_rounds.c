/*
 * engine_rounds ENGINE MODEL BATCH PRECISION THREADS: for each line on stdin, a number of launches: runs so many on each
 * of THREADS instances, one a thread, and prints the seconds of wall and of process CPU time that they took.
 */
#include "nn/engine.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_THREADS 64

struct lane {
	struct fw_nn_instance *instance;
	int64_t batch;
	unsigned long launches;
	fw_status status;
	struct fw_error err;
};

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *run_lane(void *arg)
{
	struct lane *lane = arg;

	for (unsigned long i = 0; i < lane->launches && !lane->status; i++)
		lane->status = fw_nn_instance_launch(lane->instance, lane->batch, NULL, &lane->err);
	if (!lane->status)
		lane->status = fw_nn_instance_wait(lane->instance, &lane->err);
	return NULL;
}

/* Pixels of no picture, but no zeros either. */
static fw_status fill(struct fw_nn_instance *instance, int64_t batch, struct fw_error *err)
{
	struct fw_nn_io io;
	fw_status status = fw_nn_instance_io(instance, batch, &io, NULL, err);
	size_t n = status ? 0 : (size_t)(io.n * io.h * io.w * io.c);
	float *pixels = status ? NULL : malloc(n * sizeof(*pixels));

	if (status || !pixels)
		return status ? status : FW_ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		pixels[i] = (float)(i * 2654435761u % 4096) / 1024 - 2;
	status = fw_nn_instance_write(instance, batch, pixels, err);
	free(pixels);
	return status;
}

static fw_status run_round(struct lane *lanes, unsigned n, unsigned long launches,
			   struct fw_error *err)
{
	pthread_t threads[MAX_THREADS];
	double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);

	for (unsigned i = 0; i < n; i++)
		lanes[i].launches = launches;
	for (unsigned i = 1; i < n; i++)
		if (pthread_create(&threads[i], NULL, run_lane, &lanes[i]))
			abort();
	run_lane(&lanes[0]);
	for (unsigned i = 1; i < n; i++)
		pthread_join(threads[i], NULL);
	wall = seconds(CLOCK_MONOTONIC) - wall;
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	for (unsigned i = 0; i < n; i++)
		if (lanes[i].status) {
			*err = lanes[i].err;
			return lanes[i].status;
		}
	printf("%.6f %.6f\n", wall, cpu);
	fflush(stdout);
	return FW_OK;
}

static fw_status run(struct fw_nn_network *network, int64_t batch, unsigned n, struct fw_error *err)
{
	struct lane lanes[MAX_THREADS] = { 0 };
	fw_status status = FW_OK;
	char line[64];

	for (unsigned i = 0; i < n && !status; i++) {
		lanes[i].batch = batch;
		status = fw_nn_instance_open(network, &lanes[i].instance, err);
		if (!status)
			status = fill(lanes[i].instance, batch, err);
	}
	while (!status && fgets(line, sizeof(line), stdin))
		status = run_round(lanes, n, strtoul(line, NULL, 10), err);
	for (unsigned i = 0; i < n; i++)
		fw_nn_instance_close(lanes[i].instance);
	return status;
}

static enum fw_nn_precision precision_of(const char *name)
{
	return !strcmp(name, "bf16")   ? FW_NN_BFLOAT16
	       : !strcmp(name, "fp16") ? FW_NN_FP16
				       : FW_NN_FP32;
}

int main(int argc, char **argv)
{
	struct fw_nn_read_options reading = { .dynamic = true };
	struct fw_nn_engine_options engine_options = { 0 };
	struct fw_nn_network_options options = { .n_batches = 1, .fuse = true, .graph = true };
	struct fw_nn_engine *engine = NULL;
	struct fw_nn_network *network = NULL;
	struct fw_error err = { .message = "" };
	struct fw_nn_graph graph;
	unsigned threads;
	fw_status status;
	int64_t batch;

	if (argc != 6)
		return 2;
	engine_options.name = argv[1];
	batch = strtoll(argv[3], NULL, 10);
	options.batches = &batch;
	options.precision = precision_of(argv[4]);
	threads = (unsigned)strtoul(argv[5], NULL, 10);
	if (threads < 1 || threads > MAX_THREADS)
		return 2;
	status = fw_nn_onnx_read(argv[2], &reading, &graph, &err);
	if (!status) {
		if (!(status = fw_nn_fold(&graph, &err)) &&
		    !(status = fw_nn_engine_open(&engine_options, &engine, &err)) &&
		    !(status = fw_nn_network_load(engine, &graph, &options, &network, &err)))
			status = run(network, batch, threads, &err);
		fw_nn_network_free(network);
		fw_nn_engine_close(engine);
		fw_nn_graph_free(&graph);
	}
	if (status)
		fprintf(stderr, "%s: %s\n", fw_status_name(status), err.message);
	return status ? 1 : 0;
}
