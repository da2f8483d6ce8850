/*
 * Kernels whose fill is known by construction, and loops whose time is measured.
 *   known_fill fill BLOCKS THREADS SECONDS   spins; prints "ready" when the first kernel has run
 *   known_fill loop                          prints the milliseconds of two fixed amounts of work:
 *                                            one that the GPU limits, one that launching limits
 */
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                                                \
	do {                                                                                       \
		cudaError_t error = (call);                                                        \
		if (error != cudaSuccess) {                                                        \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));             \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

__global__ void spin(long long cycles)
{
	long long begin = clock64();

	while (clock64() - begin < cycles)
		;
}

__global__ void work(float *data, size_t count)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
	     i += (size_t)gridDim.x * blockDim.x)
		data[i] = data[i] * 1.0001f + 1.0f;
}

__global__ void nothing()
{
}

static double seconds()
{
	return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
		.count();
}

static int fill(int blocks, int threads, double duration)
{
	double end = seconds() + duration;
	bool is_first = true;

	while (seconds() < end) { /* 20 ms at 2 GHz, so that the gaps between kernels do not count */
		spin<<<blocks, threads>>>(40000000);
		CHECK(cudaDeviceSynchronize());
		if (is_first)
			puts("ready");
		fflush(stdout);
		is_first = false;
	}
	return 0;
}

static int loop()
{
	size_t count = (size_t)64 << 20;
	float *data;
	double begin;

	CHECK(cudaMalloc(&data, count * sizeof(*data)));
	CHECK(cudaMemset(data, 0, count * sizeof(*data)));
	for (int i = 0; i < 50; i++) { /* clocks and caches warm */
		work<<<1056, 256>>>(data, count);
		nothing<<<1, 32>>>();
	}
	CHECK(cudaDeviceSynchronize());
	begin = seconds();
	for (int i = 0; i < 8000; i++)
		work<<<1056, 256>>>(data, count);
	CHECK(cudaDeviceSynchronize());
	printf("%.3f", (seconds() - begin) * 1e3);
	begin = seconds();
	for (int i = 0; i < 200000; i++)
		nothing<<<1, 32>>>();
	CHECK(cudaDeviceSynchronize());
	printf(" %.3f\n", (seconds() - begin) * 1e3);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "fill"))
		return fill(atoi(argv[2]), atoi(argv[3]), atof(argv[4]));
	if (argc == 2 && !strcmp(argv[1], "loop"))
		return loop();
	fprintf(stderr, "usage: known_fill fill BLOCKS THREADS SECONDS | loop\n");
	return 2;
}
