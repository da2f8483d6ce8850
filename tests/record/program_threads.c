/* Many threads at once, and ranges that the program names itself (NVTX, header only, as programs use it). */
#include "program.h"

#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct worker {
	pthread_t thread;
	cudaStream_t stream;
	unsigned long count, number;
};

static void *work(void *argument)
{
	struct worker *w = argument;
	char name[32];

	snprintf(name, sizeof(name), "worker %lu", w->number);
	need(cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking), "stream");
	nvtxRangePushA(name);
	for (unsigned long i = 0; i < w->count; i++) {
		nvtxRangePushA("step");
		launch(i, w->stream);
		/* Every third thread dies in the middle, with two ranges open. */
		if (w->number % 3 == 2 && i == w->count / 2)
			pthread_exit(NULL);
		nvtxRangePop();
	}
	need(cudaStreamSynchronize(w->stream), "synchronize");
	nvtxRangePop();
	return NULL;
}

void run_threads(unsigned long count, unsigned long threads)
{
	struct worker *workers = calloc(threads, sizeof(*workers));
	nvtxRangeId_t whole;

	if (!workers)
		exit(8);
	need(cudaFree(NULL), "first call");
	whole = nvtxRangeStartA("all threads");
	for (unsigned long i = 0; i < threads; i++) {
		workers[i].count = count;
		workers[i].number = i;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			exit(8);
	}
	for (unsigned long i = 0; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	nvtxRangeEnd(whole);
	nvtxMarkA("joined");
	need(cudaDeviceSynchronize(), "synchronize");
	for (unsigned long i = 0; i < threads; i++)
		need(cudaStreamDestroy(workers[i].stream), "stream");
	free(workers);
	printf("threads %lu, each %lu\n", threads, count);
}

/* The library is at work for the ranges when the process forks; CUDA begins in parent and children alone. */
void run_ranges_and_forks(unsigned long count)
{
	char name[32];

	nvtxRangePushA("parent");
	for (int i = 0; i < 3; i++) {
		pid_t child;
		int status = 0;

		fflush(stdout);
		child = fork();
		if (!child) {
			snprintf(name, sizeof(name), "child %d", i);
			nvtxRangePushA(name);
			launches(count);
			nvtxRangePop();
			exit(0);
		}
		if (child < 0 || waitpid(child, &status, 0) != child)
			exit(8);
		printf("child ended with %d\n", status);
	}
	launches(count);
	nvtxRangePop();
}
