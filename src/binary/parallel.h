#ifndef FW_BINARY_PARALLEL_H
#define FW_BINARY_PARALLEL_H

#include <stddef.h>
#include <stdint.h>

#include <pthread.h>

#define FW_MOST_THREADS 256

/* Processors that this process may run on; at least 1. */
unsigned fw_processors(void);

/*
 * Calls work(context, worker, item) once for each item below count, in order of start, from up to
 * threads threads, the caller's among them; worker is below threads. Threads that cannot be started
 * are done without.
 */
typedef void fw_work(void *context, unsigned worker, size_t item);
void fw_parallel(unsigned threads, size_t count, fw_work *work, void *context);

/* Bytes that threads may hold together; one request above the limit waits until it is alone. */
struct fw_budget {
	pthread_mutex_t lock;
	pthread_cond_t freed;
	uint64_t limit, used;
};

void fw_budget_init(struct fw_budget *budget, uint64_t limit);
void fw_budget_release(struct fw_budget *budget);
void fw_budget_take(struct fw_budget *budget, uint64_t bytes);
void fw_budget_return(struct fw_budget *budget, uint64_t bytes);

#endif
