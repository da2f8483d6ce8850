/* Reductions: over pixels (global average) and over channels (softmax, layer norm). */
#include "nn_types.h"

/* Blocks of 32 groups of channels x 8 shares of the pixels; the shares meet in shared memory. Grid: groups / 32, n. */
template <typename T, bool VECTOR>
__device__ __forceinline__ void global_average(const fw_kernel_args &a)
{
	const int V = lanes<T, VECTOR>::count;
	__shared__ float shares[8][32][V + 1];
	int lane = threadIdx.x, share = threadIdx.y, c = (blockIdx.x * 32 + lane) * V;
	int pixels = a.input.h * a.input.w;
	float sum[V];

#pragma unroll
	for (int i = 0; i < V; i++)
		sum[i] = 0;
	if (c < a.input.c)
		for (int pixel = share; pixel < pixels; pixel += 8) {
			float v[V];

			load<T, V>(address<T>(a.input, blockIdx.y, pixel, c), v);
#pragma unroll
			for (int i = 0; i < V; i++)
				sum[i] += at_most(v[i], a.input_high);
		}
#pragma unroll
	for (int i = 0; i < V; i++)
		shares[share][lane][i] = sum[i];
	__syncthreads();
	if (share || c >= a.input.c)
		return;
#pragma unroll
	for (int i = 0; i < V; i++) {
		for (int k = 1; k < 8; k++)
			sum[i] += shares[k][lane][i];
		sum[i] = activate(sum[i] / pixels, a);
	}
	store<T, V>(address<T>(a.output, blockIdx.y, 0, c), sum);
}
NN_KERNEL(global_average)

/* Of all 256 threads, in each of them. */
template <typename F> __device__ __forceinline__ float block_reduce(float v, F join)
{
	__shared__ float warps[8];

	for (int d = 16; d; d /= 2)
		v = join(v, __shfl_xor_sync(0xffffffff, v, d));
	__syncthreads();
	if (threadIdx.x % 32 == 0)
		warps[threadIdx.x / 32] = v;
	__syncthreads();
	v = warps[0];
	for (int i = 1; i < 8; i++)
		v = join(v, warps[i]);
	return v;
}

/* One block of 256 threads per row. */
template <typename T, bool VECTOR> __device__ __forceinline__ void softmax(const fw_kernel_args &a)
{
	int pixels = a.input.h * a.input.w, n = blockIdx.x / pixels, pixel = blockIdx.x % pixels;
	const T *from = address<T>(a.input, n, pixel, 0);
	T *to = address<T>(a.output, n, pixel, 0);
	float best = MINUS_INFINITY, sum = 0;

	for (int c = threadIdx.x; c < a.input.c; c += 256)
		best = fmaxf(best, widen(from[c]));
	best = block_reduce(best, [](float x, float y) { return fmaxf(x, y); });
	for (int c = threadIdx.x; c < a.input.c; c += 256)
		sum += expf(widen(from[c]) - best);
	sum = block_reduce(sum, [](float x, float y) { return x + y; });
	for (int c = threadIdx.x; c < a.input.c; c += 256)
		narrow(expf(widen(from[c]) - best) / sum, to[c]);
}
NN_KERNEL_SCALAR(softmax)

template <typename T, bool VECTOR> __device__ __forceinline__ void layer_norm(const fw_kernel_args &a)
{
	int pixels = a.input.h * a.input.w, n = blockIdx.x / pixels, pixel = blockIdx.x % pixels;
	const T *from = address<T>(a.input, n, pixel, 0);
	const T *scale = reinterpret_cast<const T *>(a.weight);
	const T *shift = reinterpret_cast<const T *>(a.bias);
	T *to = address<T>(a.output, n, pixel, 0);
	float mean = 0, variance = 0, factor;

	for (int c = threadIdx.x; c < a.input.c; c += 256)
		mean += widen(from[c]);
	mean = block_reduce(mean, [](float x, float y) { return x + y; }) / a.input.c;
	for (int c = threadIdx.x; c < a.input.c; c += 256)
		variance += (widen(from[c]) - mean) * (widen(from[c]) - mean);
	variance = block_reduce(variance, [](float x, float y) { return x + y; }) / a.input.c;
	factor = rsqrtf(variance + a.epsilon);
	for (int c = threadIdx.x; c < a.input.c; c += 256) {
		float v = (widen(from[c]) - mean) * factor;

		v = v * (scale ? widen(scale[c]) : 1.0f) + (shift ? widen(shift[c]) : 0.0f);
		narrow(activate(v, a), to[c]);
	}
}
NN_KERNEL_SCALAR(layer_norm)
