#ifndef FW_RECORD_PROGRAM_H
#define FW_RECORD_PROGRAM_H
#include <cuda_runtime_api.h>

#define KERNELS 4u

extern const char *const kernel_names[KERNELS];

/* Ends the program with 9 on an error. */
void need(cudaError_t result, const char *what);
void launch(unsigned long i, cudaStream_t stream);
/* count launches and one wait. */
void launches(unsigned long count);

/* Threads that launch within NVTX ranges, of which every third dies in the middle of one. */
void run_threads(unsigned long count, unsigned long threads);

/* A range, children within it that use CUDA, and CUDA. */
void run_ranges_and_forks(unsigned long count);

/*
 * A program with a profiler of its own: takes over CUPTI's callbacks, as PyTorch's does, and gives them up.
 * Only in record_profiler, which is linked with CUPTI.
 */
__attribute__((weak)) void run_own_profiler(unsigned long count);
/* The same, and asks the recorder to give way while it does. */
__attribute__((weak)) void run_yielding_profiler(unsigned long count);

/* exit, _exit, abort, kill, forks, forks-first, exec, nothing, signals, descriptors. 2: none of these. */
int run_ending(const char *name, unsigned long count, char **argv);

#endif
