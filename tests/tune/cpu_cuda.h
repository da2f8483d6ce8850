/*
 * Enough of CUDA C++ to run the kernels of examples/tune on the CPU, for tests of their index arithmetic: the threads
 * of a block take turns, from one barrier or shuffle to the next. One block at a time, in any order of threads.
 */
#ifndef FW_TESTS_CPU_CUDA_H
#define FW_TESTS_CPU_CUDA_H
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define __global__
#define __device__
#define __forceinline__ inline
#define __restrict__
#define __shared__   static
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)

struct cpu_dim {
	unsigned x, y, z;
};
static cpu_dim threadIdx, blockIdx, blockDim, gridDim;

struct alignas(8) float2 {
	float x, y;
};
struct float3 {
	float x, y, z;
};
struct alignas(16) float4 {
	float x, y, z, w;
};

static inline float2 make_float2(float x, float y)
{
	return { x, y };
}

static inline float3 make_float3(float x, float y, float z)
{
	return { x, y, z };
}

static inline float4 make_float4(float x, float y, float z, float w)
{
	return { x, y, z, w };
}

static inline float rsqrtf(float x)
{
	return 1.0f / sqrtf(x);
}

static inline float __fdiv_rn(float a, float b)
{
	return a / b;
}

static inline float __fsub_rn(float a, float b)
{
	return a - b;
}

static inline float __fmaf_rn(float a, float b, float c)
{
	return fmaf(a, b, c);
}

static inline void atomicAdd(float *p, float value)
{
	*p += value;
}

template <typename T> static inline T __ldcs(const T *p)
{
	return *p;
}

template <typename T> static inline void __stcs(T *p, T value)
{
	*p = value;
}

static inline int min(int a, int b)
{
	return a < b ? a : b;
}

static const size_t stack_bytes = 1 << 16;

struct cpu_thread {
	ucontext_t context;
	char *stack;
	cpu_dim index;
	bool is_done, waits;
};

static cpu_thread threads[1024];
static size_t n_threads;
static ucontext_t scheduler;
static size_t running;
static void (*body)();

static void give_way()
{
	swapcontext(&threads[running].context, &scheduler);
}

/* All threads of the block that have not ended must come here. */
static void __syncthreads()
{
	threads[running].waits = true;
	give_way();
}

static float shuffled[1024];

/* In a round of the scheduler every thread of the warp writes, in the next one it reads, in the third one it goes on. */
static float __shfl_down_sync(unsigned, float value, int distance)
{
	size_t lane = running % 32, from = lane + distance < 32 ? running + distance : running;

	shuffled[running] = value;
	give_way();
	value = shuffled[from];
	give_way();
	return value;
}

static void enter()
{
	body();
	threads[running].is_done = true;
	give_way();
}

static void release_barrier()
{
	for (size_t i = 0; i < n_threads; i++)
		if (!threads[i].is_done && !threads[i].waits)
			return;
	for (size_t i = 0; i < n_threads; i++)
		threads[i].waits = false;
}

static void run_block()
{
	bool is_done = false;

	for (size_t i = 0; i < n_threads; i++) {
		cpu_thread &t = threads[i];

		getcontext(&t.context);
		if (!t.stack)
			t.stack = (char *)malloc(stack_bytes);
		t.context.uc_stack.ss_sp = t.stack;
		t.context.uc_stack.ss_size = stack_bytes;
		t.index = { (unsigned)i % blockDim.x, (unsigned)i / blockDim.x, 0 };
		t.is_done = t.waits = false;
		makecontext(&t.context, enter, 0);
	}
	while (!is_done) {
		is_done = true;
		for (running = 0; running < n_threads; running++) {
			cpu_thread &t = threads[running];

			if (t.is_done || t.waits)
				continue;
			threadIdx = t.index;
			swapcontext(&scheduler, &t.context);
			is_done = false;
		}
		release_barrier();
		for (size_t i = 0; i < n_threads; i++)
			is_done &= threads[i].is_done;
	}
}

/* Two-dimensional grids and blocks are enough here. */
static void run(cpu_dim grid, cpu_dim block, void (*kernel)())
{
	gridDim = grid;
	blockDim = block;
	body = kernel;
	n_threads = block.x * block.y;
	for (blockIdx.y = 0; blockIdx.y < grid.y; blockIdx.y++)
		for (blockIdx.x = 0; blockIdx.x < grid.x; blockIdx.x++)
			run_block();
}
#endif
