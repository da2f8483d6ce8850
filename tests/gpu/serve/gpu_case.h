#ifndef FW_TESTS_GPU_CASE_H
#define FW_TESTS_GPU_CASE_H
/* A GPU with a stream for a test program; what fails ends the program, 77 where there is no GPU. */
#include "gpu/cuda.h"

#include <stdio.h>
#include <stdlib.h>

struct gpu_case {
	struct fw_cuda cuda;
	char name[128];
	int device;
	void *context, *stream, *start, *stop;
	unsigned n_failed;
};

#define GPU_CALL(g, call) gpu_check((g), (g)->cuda.call, #call)

static inline void gpu_check(const struct gpu_case *g, int result, const char *call)
{
	const char *name = "?";

	if (!result)
		return;
	g->cuda.get_error_name(result, &name);
	printf("FAILED %s: %s (%d)\n", call, name, result);
	exit(1);
}

static inline void gpu_ok(fw_status status, const struct fw_error *err)
{
	if (!status)
		return;
	printf("FAILED %s\n", err->message);
	exit(1);
}

/* Counts a failure that lets the program go on. */
static inline void gpu_expect(struct gpu_case *g, int is_true, const char *what)
{
	if (is_true)
		return;
	printf("FAILED %s\n", what);
	g->n_failed++;
}

static inline void gpu_open(struct gpu_case *g)
{
	struct fw_error err = { 0 };

	*g = (struct gpu_case){ 0 };
	if (fw_cuda_open(&g->cuda, &err)) {
		printf("skipped: %s\n", err.message);
		exit(77);
	}
	if (g->cuda.init(0) || g->cuda.device_get(&g->device, 0)) {
		printf("skipped: there is no GPU\n");
		exit(77);
	}
	GPU_CALL(g, device_get_name(g->name, sizeof(g->name), g->device));
	GPU_CALL(g, device_primary_ctx_retain(&g->context, g->device));
	GPU_CALL(g, ctx_set_current(g->context));
	GPU_CALL(g, stream_create(&g->stream, FW_CUDA_STREAM_NON_BLOCKING));
	GPU_CALL(g, event_create(&g->start, 0));
	GPU_CALL(g, event_create(&g->stop, 0));
	printf("%s\n", g->name);
}

static inline uint64_t gpu_alloc(const struct gpu_case *g, size_t bytes)
{
	uint64_t address = 0;

	GPU_CALL(g, mem_alloc(&address, bytes));
	return address;
}

static inline void *host_alloc(size_t bytes)
{
	void *memory = malloc(bytes ? bytes : 1);

	if (memory)
		return memory;
	printf("FAILED malloc of %zu bytes\n", bytes);
	exit(1);
}

/* Microseconds of one launch: `inner` of them in a graph, the graph five times after a warm-up; the least of three. */
static inline double gpu_time(const struct gpu_case *g, unsigned inner,
			      void (*enqueue)(void *user, void *stream), void *user)
{
	void *graph, *exec;
	double best = 1e30;

	GPU_CALL(g, stream_begin_capture(g->stream, FW_CUDA_CAPTURE_THREAD_LOCAL));
	for (unsigned i = 0; i < inner; i++)
		enqueue(user, g->stream);
	GPU_CALL(g, stream_end_capture(g->stream, &graph));
	GPU_CALL(g, graph_instantiate(&exec, graph, 0));
	GPU_CALL(g, graph_launch(exec, g->stream));
	GPU_CALL(g, stream_synchronize(g->stream));
	for (int run = 0; run < 3; run++) {
		float ms;

		GPU_CALL(g, event_record(g->start, g->stream));
		for (int i = 0; i < 5; i++)
			GPU_CALL(g, graph_launch(exec, g->stream));
		GPU_CALL(g, event_record(g->stop, g->stream));
		GPU_CALL(g, event_synchronize(g->stop));
		GPU_CALL(g, event_elapsed_time(&ms, g->start, g->stop));
		if (ms * 1e3 / (5 * inner) < best)
			best = ms * 1e3 / (5 * inner);
	}
	GPU_CALL(g, graph_exec_destroy(exec));
	GPU_CALL(g, graph_destroy(graph));
	return best;
}

#endif
