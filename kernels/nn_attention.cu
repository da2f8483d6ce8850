/*
 * What transformers need besides products and layer norm. Attention keeps a running maximum and sum over tiles of 32 keys, so
 * that the scores are never stored. It runs on the CUDA cores: right, not fast.
 */
#include "nn_types.h"

#define TILE	 32
#define MAX_HEAD 96
#define WARPS	 8
#define QUERIES	 4 /* of one warp */

__device__ __forceinline__ float warp_max(float v)
{
	for (int d = 16; d; d /= 2)
		v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, d));
	return v;
}

__device__ __forceinline__ float warp_sum(float v)
{
	for (int d = 16; d; d /= 2)
		v += __shfl_xor_sync(0xffffffff, v, d);
	return v;
}

/* Rows first .. first + TILE of one third of the input's channels; rows past the end are zero. */
template <typename T, int STEP>
__device__ __forceinline__ void load_rows(const fw_kernel_args &a, int first, int channel, int d,
					  float (*to)[STEP])
{
	for (int i = threadIdx.x; i < TILE * d; i += WARPS * 32) {
		int row = i / d, c = i % d, token = first + row;

		to[row][c] = token < a.input.h * a.input.w ?
				     widen(*address<T>(a.input, blockIdx.z, token, channel + c)) :
				     0.0f;
	}
}

/* Grid: tiles of queries, heads, samples; 256 threads. */
template <typename T, bool VECTOR> __device__ __forceinline__ void attention(const fw_kernel_args &a)
{
	__shared__ float q[TILE][MAX_HEAD], k[TILE][MAX_HEAD + 1], v[TILE][MAX_HEAD];
	int tokens = a.input.h * a.input.w, d = a.output.c / a.heads, head = blockIdx.y * d;
	int lane = threadIdx.x % 32, first = threadIdx.x / 32 * QUERIES;
	float best[QUERIES], sum[QUERIES], out[QUERIES][MAX_HEAD / 32];

#pragma unroll
	for (int i = 0; i < QUERIES; i++) {
		best[i] = MINUS_INFINITY;
		sum[i] = 0;
#pragma unroll
		for (int c = 0; c < MAX_HEAD / 32; c++)
			out[i][c] = 0;
	}
	load_rows<T, MAX_HEAD>(a, blockIdx.x * TILE, head, d, q);
	for (int tile = 0; tile < tokens; tile += TILE) {
		__syncthreads();
		load_rows<T, MAX_HEAD + 1>(a, tile, a.output.c + head, d, k);
		load_rows<T, MAX_HEAD>(a, tile, 2 * a.output.c + head, d, v);
		__syncthreads();
#pragma unroll
		for (int i = 0; i < QUERIES; i++) {
			float score = 0, higher, change, p;

			for (int c = 0; c < d; c++)
				score += q[first + i][c] * k[lane][c];
			score = tile + lane < tokens ? score * a.scale : MINUS_INFINITY;
			higher = fmaxf(best[i], warp_max(score));
			change = expf(best[i] - higher);
			p = expf(score - higher);
			best[i] = higher;
			sum[i] = sum[i] * change + warp_sum(p);
#pragma unroll
			for (int c = 0; c < MAX_HEAD / 32; c++)
				out[i][c] *= change;
			for (int j = 0; j < TILE; j++) {
				float weight = __shfl_sync(0xffffffff, p, j);

#pragma unroll
				for (int c = 0; c < MAX_HEAD / 32; c++)
					if (lane + 32 * c < d)
						out[i][c] += weight * v[j][lane + 32 * c];
			}
		}
	}
#pragma unroll
	for (int i = 0; i < QUERIES; i++) {
		int token = blockIdx.x * TILE + first + i;

#pragma unroll
		for (int c = 0; c < MAX_HEAD / 32; c++)
			if (token < tokens && lane + 32 * c < d)
				narrow(out[i][c] / sum[i],
				       *address<T>(a.output, blockIdx.z, token, head + lane + 32 * c));
	}
}
NN_KERNEL_SCALAR(attention)

/* Class token and position embedding: weight(t) + input(t - lead), lead tokens have no input. */
template <typename T, bool VECTOR> __device__ __forceinline__ void tokens(const fw_kernel_args &a)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x, c = i % a.output.c;
	unsigned rows = a.output.h * a.output.w, row = i / a.output.c, n = row / rows;
	int token = row % rows, lead = rows - a.input.h * a.input.w;
	float v;

	if (n >= (unsigned)a.output.n)
		return;
	v = widen(reinterpret_cast<const T *>(a.weight)[(long long)token * a.output.c + c]);
	if (token >= lead)
		v += at_most(widen(*address<T>(a.input, n, token - lead, c)), a.input_high);
	narrow(v, *address<T>(a.output, n, token, c));
}
NN_KERNEL_SCALAR(tokens)
