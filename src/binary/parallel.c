/* A queue of numbered items and the threads that empty it. */
#include "binary/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

struct queue {
	fw_work *work;
	void *context;
	size_t count;
	atomic_size_t next;
	atomic_uint workers;
};

unsigned fw_processors(void)
{
	cpu_set_t set;
	long n;

	if (!sched_getaffinity(0, sizeof(set), &set))
		n = CPU_COUNT(&set);
	else
		n = sysconf(_SC_NPROCESSORS_ONLN);
	if (n < 1)
		return 1;
	return n < FW_MOST_THREADS ? (unsigned)n : FW_MOST_THREADS;
}

static void *run(void *arg)
{
	struct queue *queue = arg;
	unsigned worker = atomic_fetch_add(&queue->workers, 1);

	for (;;) {
		size_t item = atomic_fetch_add(&queue->next, 1);

		if (item >= queue->count)
			return NULL;
		queue->work(queue->context, worker, item);
	}
}

void fw_parallel(unsigned threads, size_t count, fw_work *work, void *context)
{
	struct queue queue = { .work = work, .context = context, .count = count };
	pthread_t started[FW_MOST_THREADS];
	unsigned n = 0;

	if (threads > FW_MOST_THREADS)
		threads = FW_MOST_THREADS;
	while (n + 1 < threads && n + 1 < count) {
		if (pthread_create(&started[n], NULL, run, &queue))
			break;
		n++;
	}
	run(&queue);
	while (n)
		pthread_join(started[--n], NULL);
}
