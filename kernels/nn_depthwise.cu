/*
 * Depthwise convolution over NHWC with bias and activation. Weights lie as R x S x C. A thread makes four pixels of a row
 * for 16 bytes of channels: a column of the input is read once for all of them.
 */
#include "nn_types.h"

#define PIXELS 4

template <typename T, int V, int K, int STRIDE>
__device__ __forceinline__ void depthwise_row(const fw_kernel_args &a, const T *row, int x0,
					      const T *weight, float (&sum)[PIXELS][V])
{
	float w[K][V];

#pragma unroll
	for (int s = 0; s < K; s++)
		load<T, V>(weight + (long long)s * a.output.c, w[s]);
#pragma unroll
	for (int column = 0; column < (PIXELS - 1) * STRIDE + K; column++) {
		int x = x0 + column;
		float v[V];

		if (x < 0 || x >= a.input.w)
			continue;
		load<T, V>(row + (long long)x * a.input.pixel_step, v);
#pragma unroll
		for (int i = 0; i < V; i++)
			v[i] = at_most(v[i], a.input_high);
#pragma unroll
		for (int p = 0; p < PIXELS; p++) {
			int s = column - p * STRIDE;

			if (s < 0 || s >= K)
				continue;
#pragma unroll
			for (int i = 0; i < V; i++)
				sum[p][i] += v[i] * w[s][i];
		}
	}
}

/* Square windows of K, undilated, one stride. */
template <typename T, int K, int STRIDE>
__device__ __forceinline__ void depthwise_square(const fw_kernel_args &a)
{
	const int V = lanes<T, true>::count;
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x, groups = a.output.c / V;
	unsigned runs = (a.output.w + PIXELS - 1) / PIXELS, run = i / groups, row = run / runs;
	int c = (i % groups) * V, x = (run % runs) * PIXELS, y = row % a.output.h,
	    n = row / a.output.h;
	const T *weight = reinterpret_cast<const T *>(a.weight) + c;
	float sum[PIXELS][V], bias[V];

	if (n >= a.output.n)
		return;
#pragma unroll
	for (int p = 0; p < PIXELS; p++)
#pragma unroll
		for (int k = 0; k < V; k++)
			sum[p][k] = 0;
#pragma unroll
	for (int r = 0; r < K; r++) {
		int in_y = y * STRIDE - a.pad_top + r;

		if (in_y >= 0 && in_y < a.input.h)
			depthwise_row<T, V, K, STRIDE>(
				a, address<T>(a.input, n, in_y * a.input.w, c),
				x * STRIDE - a.pad_left, weight + (long long)r * K * a.output.c, sum);
	}
	load<T, V>(reinterpret_cast<const T *>(a.bias) + c, bias);
#pragma unroll
	for (int p = 0; p < PIXELS; p++) {
		if (x + p >= a.output.w)
			break;
#pragma unroll
		for (int k = 0; k < V; k++)
			sum[p][k] = activate(sum[p][k] + bias[k], a);
		store<T, V>(address<T>(a.output, n, y * a.output.w + x + p, c), sum[p]);
	}
}

#define DEPTHWISE(K, STRIDE)                                                                       \
	extern "C" __global__ void depthwise_##K##_##STRIDE##_f32v(const fw_kernel_args a)         \
	{                                                                                          \
		depthwise_square<float, K, STRIDE>(a);                                             \
	}                                                                                          \
	extern "C" __global__ void depthwise_##K##_##STRIDE##_f16v(const fw_kernel_args a)         \
	{                                                                                          \
		depthwise_square<f16, K, STRIDE>(a);                                               \
	}                                                                                          \
	extern "C" __global__ void depthwise_##K##_##STRIDE##_bf16v(const fw_kernel_args a)        \
	{                                                                                          \
		depthwise_square<bf16, K, STRIDE>(a);                                              \
	}
DEPTHWISE(1, 1) /* scale and shift of a batch norm that nothing could take up */
DEPTHWISE(3, 1)
DEPTHWISE(3, 2)
DEPTHWISE(5, 1)
DEPTHWISE(5, 2)
