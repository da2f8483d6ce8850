/* Pooling windows over NHWC. A thread makes one pixel of 16 bytes of channels. */
#include "nn_types.h"

struct place {
	int n, y, x, c;
	bool inside;
};

/* Which output a thread makes: threads run over groups of V channels, then pixels, then samples. */
template <int V> __device__ __forceinline__ place output_place(const fw_kernel_tensor &out)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x, groups = (out.c + V - 1) / V;
	unsigned pixel = i / groups, row = pixel / out.w;
	place p;

	p.c = (i % groups) * V;
	p.x = pixel % out.w;
	p.y = row % out.h;
	p.n = row / out.h;
	p.inside = p.n < out.n;
	return p;
}

template <typename T, bool VECTOR> __device__ __forceinline__ void max_pool(const fw_kernel_args &a)
{
	const int V = lanes<T, VECTOR>::count;
	place p = output_place<V>(a.output);
	float best[V];
	bool any = false;

	if (!p.inside)
		return;
	for (int r = 0; r < a.r; r++) {
		int y = p.y * a.stride_y - a.pad_top + r * a.dilation_y;

		if (y < 0 || y >= a.input.h)
			continue;
		for (int s = 0; s < a.s; s++) {
			int x = p.x * a.stride_x - a.pad_left + s * a.dilation_x;
			float v[V];

			if (x < 0 || x >= a.input.w)
				continue;
			load<T, V>(address<T>(a.input, p.n, y * a.input.w + x, p.c), v);
#pragma unroll
			for (int i = 0; i < V; i++)
				best[i] = !any || v[i] > best[i] || v[i] != v[i] ? v[i] : best[i];
			any = true;
		}
	}
#pragma unroll
	for (int i = 0; i < V; i++)
		best[i] = activate(at_most(any ? best[i] : MINUS_INFINITY, a.input_high), a);
	store<T, V>(address<T>(a.output, p.n, p.y * a.output.w + p.x, p.c), best);
}
NN_KERNEL(max_pool)

template <typename T, bool VECTOR>
__device__ __forceinline__ void average_pool(const fw_kernel_args &a)
{
	const int V = lanes<T, VECTOR>::count;
	place p = output_place<V>(a.output);
	float sum[V];
	int count = 0;

	if (!p.inside)
		return;
#pragma unroll
	for (int i = 0; i < V; i++)
		sum[i] = 0;
	for (int r = 0; r < a.r; r++) {
		int y = p.y * a.stride_y - a.pad_top + r * a.dilation_y;

		if (y < 0 || y >= a.input.h)
			continue;
		for (int s = 0; s < a.s; s++) {
			int x = p.x * a.stride_x - a.pad_left + s * a.dilation_x;
			float v[V];

			if (x < 0 || x >= a.input.w)
				continue;
			load<T, V>(address<T>(a.input, p.n, y * a.input.w + x, p.c), v);
#pragma unroll
			for (int i = 0; i < V; i++)
				sum[i] += at_most(v[i], a.input_high);
			count++;
		}
	}
	if (a.counts_padding)
		count = a.r * a.s;
#pragma unroll
	for (int i = 0; i < V; i++)
		sum[i] = activate(sum[i] / count, a);
	store<T, V>(address<T>(a.output, p.n, p.y * a.output.w + p.x, p.c), sum);
}
NN_KERNEL(average_pool)
