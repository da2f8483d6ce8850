#ifndef FW_BINARY_PARALLEL_H
#define FW_BINARY_PARALLEL_H

#include <stddef.h>

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

#endif
