/* Scores to the best classes of each image, one block an image. */
#include "top_row.h"

__device__ __forceinline__ unsigned long long
best_key(const fw_top_args &a, unsigned long long last, fw_top_memory &memory)
{
	unsigned long long best;

	fw_top_scan(&a, blockIdx.x, last, threadIdx.x, &memory);
	__syncthreads();
	for (unsigned step = FW_TOP_THREADS / 2; step; step /= 2) {
		fw_top_halve(step, threadIdx.x, &memory);
		__syncthreads();
	}
	best = memory.keys[0];
	__syncthreads();
	return best;
}

__device__ __forceinline__ float softmax_sum(const fw_top_args &a, float most,
					     fw_top_memory &memory)
{
	fw_top_add(&a, blockIdx.x, most, threadIdx.x, &memory);
	__syncthreads();
	for (unsigned step = FW_TOP_THREADS / 2; step; step /= 2) {
		fw_top_halve_sums(step, threadIdx.x, &memory);
		__syncthreads();
	}
	return memory.sums[0];
}

extern "C" __global__ void __launch_bounds__(FW_TOP_THREADS) top_classes(const fw_top_args a)
{
	__shared__ fw_top_memory memory;
	unsigned long long key = ~0ull;
	unsigned row = blockIdx.x;
	float most = 0, sum = 1;

	if (threadIdx.x == 0)
		memory.is_broken = 0;
	__syncthreads();
	for (unsigned place = 0; place < a.top; place++) {
		float score;

		key = best_key(a, key, memory);
		if (memory.is_broken) {
			for (unsigned i = threadIdx.x; i < a.top; i += FW_TOP_THREADS)
				fw_top_answer(&a, row, i, FW_TOP_NONE, 0);
			return;
		}
		score = fw_score_of(&a, row, fw_key_id(key));
		if (place == 0) {
			most = score;
			if (!a.are_probabilities)
				sum = softmax_sum(a, most, memory);
		}
		if (threadIdx.x == 0)
			fw_top_answer(&a, row, place, fw_key_id(key),
				      a.are_probabilities ? score : expf(score - most) / sum);
	}
}
