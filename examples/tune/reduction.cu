/*
 * The sum of N numbers: threads add what lies a grid apart, in vectors of VEC, UNROLL of them under way; a block adds its
 * threads' sums in shared memory (METHOD 0), with shuffles (1), or each warp for itself (2); atomics add the rest.
 *
 * fullwarp tune examples/tune/reduction.cu
 */
// fullwarp: kernel reduction ; block = BLOCK ; grid = BLOCKS
// fullwarp: set N = 33554432 ; check N = 1000003 ; check N = 31
// fullwarp: arg in f32[N] random ; arg sum f32[1] zero inout rel 1e-4 abs 1e-3
// fullwarp: param BLOCK = 64 128 256 512 1024 default 256 ; param BLOCKS = 132 528 1056 2112 8448
// fullwarp: param VEC = 1 2 4 ; param UNROLL = 1 2 4 8 ; param METHOD = 0 1 2 ; param STREAM = 0 1
#ifndef BLOCK
#define N      33554432
#define BLOCK  256
#define VEC    1
#define UNROLL 1
#define METHOD 0
#define STREAM 0
#endif

#if VEC == 4
typedef float4 vector;
#elif VEC == 2
typedef float2 vector;
#else
typedef float vector;
#endif

static __device__ __forceinline__ float load_sum(const float *in, long long i)
{
#if STREAM
	const vector v = __ldcs((const vector *)in + i);
#else
	const vector v = ((const vector *)in)[i];
#endif
#if VEC == 4
	return (v.x + v.y) + (v.z + v.w);
#elif VEC == 2
	return v.x + v.y;
#else
	return v;
#endif
}

#if METHOD
static __device__ __forceinline__ float sum_of_warp(float value)
{
#pragma unroll
	for (int distance = 16; distance > 0; distance /= 2)
		value += __shfl_down_sync(0xffffffffu, value, distance);
	return value;
}
#endif

__global__ void reduction(const float *__restrict__ in, float *__restrict__ sum)
{
	const int vectors = N / VEC, stride = gridDim.x * BLOCK;
	const int first = blockIdx.x * BLOCK + threadIdx.x;
	float parts[UNROLL] = {}, value = 0;
	long long i = first;

	for (; i + (long long)(UNROLL - 1) * stride < vectors; i += (long long)UNROLL * stride)
#pragma unroll
		for (int u = 0; u < UNROLL; u++)
			parts[u] += load_sum(in, i + (long long)u * stride);
	for (; i < vectors; i += stride)
		value += load_sum(in, i);
	if (first < N % VEC)
		value += in[vectors * VEC + first];
#pragma unroll
	for (int u = 0; u < UNROLL; u++)
		value += parts[u];

#if METHOD == 0
	__shared__ float values[BLOCK];

	values[threadIdx.x] = value;
	__syncthreads();
	for (int half = BLOCK / 2; half > 0; half /= 2) {
		if (threadIdx.x < half)
			values[threadIdx.x] += values[threadIdx.x + half];
		__syncthreads();
	}
	if (threadIdx.x == 0)
		atomicAdd(sum, values[0]);
#elif METHOD == 1
	__shared__ float warps[32];

	value = sum_of_warp(value);
	if (threadIdx.x % 32 == 0)
		warps[threadIdx.x / 32] = value;
	__syncthreads();
	if (threadIdx.x < 32) {
		value = sum_of_warp(threadIdx.x < BLOCK / 32 ? warps[threadIdx.x] : 0.0f);
		if (threadIdx.x == 0)
			atomicAdd(sum, value);
	}
#else
	value = sum_of_warp(value);
	if (threadIdx.x % 32 == 0)
		atomicAdd(sum, value);
#endif
}
