// The work of a program that profiles itself (tests/record/self_profile.c), on a GPU.
#include "self_profile.h"

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void add(float *x)
{
	x[threadIdx.x] += 1;
}

__global__ void halve(float *x)
{
	x[threadIdx.x] /= 2;
}

static void need(cudaError_t result)
{
	if (result) {
		fprintf(stderr, "self_profile: %s\n", cudaGetErrorString(result));
		exit(9);
	}
}

void work(unsigned long count)
{
	static float *device;
	float host[32] = {};

	if (!device)
		need(cudaMalloc(&device, sizeof(host)));
	need(cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice));
	need(cudaMemsetAsync(device, 0, sizeof(host), nullptr));
	for (unsigned long i = 0; i < count; i++) {
		if (i % 2)
			add<<<1 + i % 1000, 32>>>(device);
		else
			halve<<<1 + i % 1000, 32>>>(device);
		need(cudaGetLastError());
	}
	need(cudaDeviceSynchronize());
}
