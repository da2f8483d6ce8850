/*
 * The program that the tests of the recorder watch: program SCENARIO [COUNT] [THREADS]. What it does follows
 * from its arguments alone; it prints what it computed, so that a run with us and one without can be compared.
 */
#include "program.h"

#include <cuda_profiler_api.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BYTES 4096u

void need(cudaError_t result, const char *what)
{
	if (!result)
		return;
	fprintf(stderr, "program: %s: error %d\n", what, (int)result);
	exit(9);
}

const char *const kernel_names[KERNELS] = { "_Z3addPfS_i", "_Z4copyPfPKf",
					    "ncclDevKernel_AllReduce", "_Z6reducePfi" };

/* Launch i: which kernel, which grid, follows from i. */
void launch(unsigned long i, cudaStream_t stream)
{
	dim3 grid = { (unsigned)(1 + i % 1000), (unsigned)(1 + i % 3), 1 };
	dim3 block = { 32 * (unsigned)(1 + i % 8), 1, 1 };

	need(cudaLaunchKernel(kernel_names[i % KERNELS], grid, block, NULL, 64 * (i % 5), stream),
	     "launch");
}

void launches(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++)
		launch(i, NULL);
	need(cudaDeviceSynchronize(), "synchronize");
	printf("launched %lu\n", count);
}

/* Bytes out and back through the GPU, pageable and pinned, and their sum. */
static void copies(unsigned long count)
{
	unsigned char pageable[BYTES], *pinned = NULL, *back = NULL;
	void *device = NULL;
	unsigned long sum = 0;

	need(cudaMalloc(&device, BYTES), "malloc");
	need(cudaMallocHost((void **)&pinned, BYTES), "pin");
	need(cudaMallocHost((void **)&back, BYTES), "pin");
	for (unsigned long i = 0; i < count; i++) {
		memset(pageable, (int)(i & 0xff), BYTES);
		memset(pinned, (int)(i + 1) & 0xff, BYTES);
		need(cudaMemcpy(device, pageable, BYTES - i % BYTES, cudaMemcpyHostToDevice),
		     "copy");
		need(cudaMemcpyAsync(device, pinned, 1 + i % 100, cudaMemcpyHostToDevice, NULL),
		     "copy");
		need(cudaMemsetAsync((char *)device + 200, 7, 50, NULL), "memset");
		need(cudaMemcpyAsync(back, device, 1000, cudaMemcpyDeviceToHost, NULL), "copy");
		need(cudaStreamSynchronize(NULL), "synchronize");
		for (unsigned b = 0; b < 1000; b++)
			sum += back[b];
	}
	need(cudaFreeHost(pinned), "unpin");
	need(cudaFreeHost(back), "unpin");
	need(cudaFree(device), "free");
	printf("copied, sum %lu\n", sum);
}

/* Two streams, events between them, and a graph of three kernels. */
static void streams(unsigned long count)
{
	cudaStream_t one, two;
	cudaEvent_t event;
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	need(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking), "stream");
	need(cudaStreamCreateWithFlags(&two, cudaStreamDefault), "stream");
	need(cudaEventCreate(&event), "event");
	need(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal), "capture");
	for (unsigned long i = 0; i < 3; i++)
		launch(i, one);
	need(cudaStreamEndCapture(one, &graph), "capture");
	need(cudaGraphInstantiate(&exec, graph, 0), "instantiate");
	for (unsigned long i = 0; i < count; i++) {
		launch(i, one);
		need(cudaEventRecord(event, one), "record");
		need(cudaStreamWaitEvent(two, event, 0), "wait");
		launch(i + 1, two);
		need(cudaGraphLaunch(exec, two), "graph");
		need(cudaEventSynchronize(event), "synchronize");
	}
	need(cudaDeviceSynchronize(), "synchronize");
	need(cudaGraphExecDestroy(exec), "graph");
	need(cudaGraphDestroy(graph), "graph");
	need(cudaEventDestroy(event), "event");
	need(cudaStreamDestroy(one), "stream");
	need(cudaStreamDestroy(two), "stream");
	printf("streams %lu\n", count);
}

/* Five launches a millisecond, for as long as asked: what is killed at random moments. */
static void loop(unsigned long milliseconds)
{
	struct timespec pause = { 0, 1000000 };

	for (unsigned long i = 0; i < milliseconds; i++) {
		for (unsigned long k = 0; k < 5; k++)
			launch(i * 5 + k, NULL);
		need(cudaStreamSynchronize(NULL), "synchronize");
		nanosleep(&pause, NULL);
	}
	printf("looped %lu\n", milliseconds);
}

/* What a launch costs the thread that makes it, in its own CPU time. */
static void timed(unsigned long count)
{
	struct timespec begin, end;

	launches(1000);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	for (unsigned long i = 0; i < count; i++)
		launch(i, NULL);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	printf("%.1f ns\n",
	       ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
		       (double)count);
}

/* The middle third is what the program wants profiled. */
static void ranged(unsigned long count)
{
	struct timespec pause = { 0, 150000000 };

	launches(count);
	nanosleep(&pause, NULL);
	need(cudaProfilerStart(), "profiler");
	launches(count + 1);
	need(cudaProfilerStop(), "profiler");
	nanosleep(&pause, NULL);
	launches(count + 2);
}

/* All devices, one after the other. */
static void devices(unsigned long count)
{
	int all = 0;

	need(cudaGetDeviceCount(&all), "count");
	for (int d = 0; d < all; d++) {
		need(cudaSetDevice(d), "device");
		launches(count + (unsigned long)d);
	}
}

/* errno, the CUDA error, the folder, the umask and the signals are the program's own. */
static void state(unsigned long count)
{
	struct sigaction action;
	unsigned changed = 0;
	sigset_t mask;
	char folder[256];

	need(cudaFree(NULL), "first call");
	if (cudaMemcpy(NULL, NULL, 1, cudaMemcpyDefault) == cudaSuccess)
		exit(8);
	for (unsigned long i = 0; i < count; i++) {
		errno = 77;
		launch(i, NULL);
		changed += errno != 77;
	}
	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (int s = 1; s < 32; s++)
		if (!sigaction(s, NULL, &action) && action.sa_handler != SIG_DFL)
			printf("signal %d has a handler\n", s);
	printf("errno changed %u times, error %d, umask %o, in %s, blocked %d\n", changed,
	       (int)cudaPeekAtLastError(), umask(022), getcwd(folder, sizeof(folder)),
	       sigismember(&mask, SIGTERM));
}

/* Closes what it did not open, moves away, and lets nobody read its files. */
static void closes(unsigned long count)
{
	launches(count);
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	if (chdir("/"))
		exit(8);
	umask(0777);
	for (int fd = 3; fd < 40; fd++)
		if (open("/dev/null", O_WRONLY) < 0)
			exit(8);
	launches(count);
}

static const struct {
	const char *name;
	void (*run)(unsigned long count);
} scenarios[] = {
	{ "launch", launches },
	{ "copies", copies },
	{ "streams", streams },
	{ "loop", loop },
	{ "timed", timed },
	{ "ranges-forks", run_ranges_and_forks },
	{ "ranged", ranged },
	{ "devices", devices },
	{ "state", state },
	{ "closes", closes },
	{ "profiles", run_own_profiler },
	{ "yields", run_yielding_profiler },
};

int main(int argc, char **argv)
{
	unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 0) : 10;
	int status;

	if (argc < 2) {
		fprintf(stderr, "program SCENARIO [COUNT] [THREADS]\n");
		return 2;
	}
	for (unsigned i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++) {
		if (scenarios[i].run && !strcmp(argv[1], scenarios[i].name)) {
			scenarios[i].run(count);
			return 0;
		}
	}
	if (!strcmp(argv[1], "threads")) {
		run_threads(count, argc > 3 ? strtoul(argv[3], NULL, 0) : 4);
		return 0;
	}
	status = run_ending(argv[1], count, argv);
	if (status == 2)
		fprintf(stderr, "program: no scenario '%s'\n", argv[1]);
	return status;
}
