// Kernels that work on rows, one block a row: either the whole row waits in shared memory, or only a tile of it.
#pragma once
#include "measure.cuh"

enum { ROW_THREADS = 256, TILE_FLOATS = 3000, RADIUS = 4 };

__device__ __forceinline__ float block_sum(float v)
{
	__shared__ float part[ROW_THREADS / 32];

	for (int d = 16; d; d /= 2)
		v += __shfl_xor_sync(0xffffffffu, v, d);
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = v;
	__syncthreads();
	v = 0;
	for (int i = 0; i < ROW_THREADS / 32; i++)
		v += part[i];
	__syncthreads();
	return v;
}

// out = row / ||row||; the row is read from memory once and kept.
__global__ void __launch_bounds__(ROW_THREADS) norm_whole(const float *in, float *out, int width)
{
	extern __shared__ float row[];
	const float *src = in + (size_t)blockIdx.x * width;
	float *dst = out + (size_t)blockIdx.x * width, sum = 0;

	for (int i = threadIdx.x; i < width; i += ROW_THREADS) {
		row[i] = src[i];
		sum += row[i] * row[i];
	}
	float scale = rsqrtf(block_sum(sum));
	for (int i = threadIdx.x; i < width; i += ROW_THREADS)
		dst[i] = row[i] * scale;
}

// The same without a buffer for the row: it is read twice.
__global__ void __launch_bounds__(ROW_THREADS) norm_twice(const float *in, float *out, int width)
{
	const float *src = in + (size_t)blockIdx.x * width;
	float *dst = out + (size_t)blockIdx.x * width, sum = 0;

	for (int i = threadIdx.x; i < width; i += ROW_THREADS)
		sum += src[i] * src[i];
	float scale = rsqrtf(block_sum(sum));
	for (int i = threadIdx.x; i < width; i += ROW_THREADS)
		dst[i] = src[i] * scale;
}

__device__ __forceinline__ float mean9(const float *centre, int left, int right)
{
	float s = 0;

	for (int d = -left; d <= right; d++)
		s += centre[d];
	return s / (left + right + 1);
}

// Moving average of up to nine neighbours; the whole row waits in shared memory.
__global__ void __launch_bounds__(ROW_THREADS) smooth_whole(const float *in, float *out, int width)
{
	extern __shared__ float row[];
	const float *src = in + (size_t)blockIdx.x * width;
	float *dst = out + (size_t)blockIdx.x * width;

	for (int i = threadIdx.x; i < width; i += ROW_THREADS)
		row[i] = src[i];
	__syncthreads();
	for (int i = threadIdx.x; i < width; i += ROW_THREADS)
		dst[i] = mean9(row + i, min(i, RADIUS), min(width - 1 - i, RADIUS));
}

// The same with a tile of 3,000 floats and its edges.
__global__ void __launch_bounds__(ROW_THREADS) smooth_tile(const float *in, float *out, int width)
{
	extern __shared__ float tile[];
	const float *src = in + (size_t)blockIdx.x * width;
	float *dst = out + (size_t)blockIdx.x * width;

	for (int t0 = 0; t0 < width; t0 += TILE_FLOATS) {
		int t1 = min(t0 + TILE_FLOATS, width), lo = max(t0 - RADIUS, 0), hi = min(t1 + RADIUS, width);

		for (int i = lo + threadIdx.x; i < hi; i += ROW_THREADS)
			tile[i - lo] = src[i];
		__syncthreads();
		for (int i = t0 + threadIdx.x; i < t1; i += ROW_THREADS)
			dst[i] = mean9(tile + i - lo, min(i, RADIUS), min(width - 1 - i, RADIUS));
		__syncthreads();
	}
}

typedef void (*RowKernel)(const float *, float *, int);

struct Rows {
	std::vector<float> host;
	Buffer in, out;
	int width;

	Rows(int rows, int row_width, unsigned seed)
		: host(random_floats((size_t)rows * row_width, seed)), in(host), out(host.size()), width(row_width)
	{
	}
	double norm_reference(size_t i, size_t *cached_row, double *cached_sum) const
	{
		size_t row = i / width;
		if (*cached_row != row) {
			*cached_row = row;
			*cached_sum = 0;
			for (int j = 0; j < width; j++)
				*cached_sum += (double)host[row * width + j] * host[row * width + j];
		}
		return host[i] / std::sqrt(*cached_sum);
	}
	double smooth_reference(size_t i) const
	{
		size_t row = i / width, at = i % width, lo = at > RADIUS ? at - RADIUS : 0;
		size_t hi = std::min(at + RADIUS, (size_t)width - 1);
		double s = 0;
		for (size_t j = lo; j <= hi; j++)
			s += host[row * width + j];
		return s / (double)(hi - lo + 1);
	}
	Variant variant(const std::string &name, RowKernel f, size_t smem, bool is_norm)
	{
		int rows = (int)(host.size() / width);
		CUDA(cudaFuncSetAttribute((const void *)f, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)smem));
		return { name, (const void *)f, ROW_THREADS, smem, rows,
			 [this, f, smem, rows] { f<<<rows, ROW_THREADS, smem>>>(in.dev, out.dev, width); },
			 [this] { out.poison(); },
			 [this, is_norm] {
				 size_t row = SIZE_MAX;
				 double sum = 0;
				 return relative_error(out, 997, [&](size_t i) {
					 return is_norm ? norm_reference(i, &row, &sum) : smooth_reference(i);
				 });
			 },
			 {} };
	}
};
