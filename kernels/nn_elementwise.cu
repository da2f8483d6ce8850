/* One result per element: activation, sum, product; and moves between layouts. */
#include "nn_types.h"

template <typename T, bool VECTOR>
__device__ __forceinline__ void elementwise(const fw_kernel_args &a)
{
	const int V = lanes<T, VECTOR>::count;
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x, groups = (a.output.c + V - 1) / V;
	unsigned pixels = a.output.h * a.output.w, pixel = i / groups, n = pixel / pixels;
	int c = (i % groups) * V;
	float x[V], y[V];

	if (n >= (unsigned)a.output.n)
		return;
	pixel -= n * pixels;
	load<T, V>(address<T>(a.input, n, pixel, c), x);
	if (a.operation)
		load<T, V>(address<T>(a.second, n, pixel, c), y);
#pragma unroll
	for (int k = 0; k < V; k++) {
		float v = at_most(x[k], a.input_high);

		if (a.operation == 1)
			v += y[k];
		else if (a.operation == 2)
			v *= y[k];
		else if (a.operation == 3)
			v -= y[k];
		x[k] = activate(v, a);
	}
	store<T, V>(address<T>(a.output, n, pixel, c), x);
}
NN_KERNEL(elementwise)

/* A tensor as one row per sample in the order of NCHW, as Flatten has it: output c = input c * h * w. */
template <typename T, bool VECTOR>
__device__ __forceinline__ void flatten_nchw(const fw_kernel_args &a)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = i / a.output.c, j = i % a.output.c;
	unsigned pixels = a.input.h * a.input.w;

	if (n < (unsigned)a.output.n)
		*address<T>(a.output, n, 0, j) = *address<T>(a.input, n, j % pixels, j / pixels);
}
NN_KERNEL_SCALAR(flatten_nchw)

/* fp32 in NCHW to the engine's own layout; a thread writes one pixel with its zero channels. */
template <typename T, bool VECTOR>
__device__ __forceinline__ void from_nchw(const fw_kernel_args &a)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x, pixels = a.output.h * a.output.w;
	unsigned n = i / pixels, pixel = i % pixels;
	const float *from = reinterpret_cast<const float *>(a.input.data);

	if (n >= (unsigned)a.output.n)
		return;
	for (int c = 0; c < a.output.padded_c; c++) {
		float v = c < a.output.c ? from[((long long)n * a.output.c + c) * pixels + pixel] : 0;

		narrow(v, *address<T>(a.output, n, pixel, c));
	}
}
NN_KERNEL_SCALAR(from_nchw)

/* The engine's own layout to fp32 in NCHW. */
template <typename T, bool VECTOR> __device__ __forceinline__ void to_nchw(const fw_kernel_args &a)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x, pixels = a.input.h * a.input.w;
	unsigned c = i % a.input.c, pixel = i / a.input.c % pixels, n = i / a.input.c / pixels;
	float *to = reinterpret_cast<float *>(a.output.data);

	if (n < (unsigned)a.input.n)
		to[((long long)n * a.input.c + c) * pixels + pixel] =
			at_most(widen(*address<T>(a.input, n, pixel, c)), a.input_high);
}
NN_KERNEL_SCALAR(to_nchw)
