/* Pictures to the network's input: one block plans an axis of a picture, one block makes some rows of its crop. */
#include "preprocess_tile.h"

extern "C" __global__ void preprocess_plan(const fw_preprocess_args a)
{
	__shared__ fw_kernel_plan plan;
	unsigned n = blockIdx.y, axis = blockIdx.x;

	if (threadIdx.x == 0) {
		fw_plan_picture(&a, n, &plan);
		if (axis == 0)
			reinterpret_cast<fw_kernel_plan *>(a.plans)[n] = plan;
	}
	__syncthreads();
	fw_plan_weights(&a, &plan, n, axis, threadIdx.x, blockDim.x);
}

extern "C" __global__ void __launch_bounds__(FW_TILE_THREADS)
	preprocess_tile(const fw_preprocess_args a)
{
	__shared__ fw_tile_memory memory;
	unsigned n = blockIdx.y, thread = threadIdx.x;
	const fw_kernel_plan plan = reinterpret_cast<const fw_kernel_plan *>(a.plans)[n];
	fw_tile tile;

	fw_tile_open(&a, &plan, n, blockIdx.x, &tile);
	fw_tile_surround(&a, &plan, &tile, thread);
	fw_tile_tensor(&a, &plan, &tile, thread);
	while (fw_tile_next(&plan, &tile)) {
		for (unsigned from = 0; from < tile.rows; from += tile.group) {
			fw_tile_convert(&plan, &tile, from, thread, &memory);
			__syncthreads();
			fw_tile_filter(&a, &plan, &tile, from, thread, &memory);
			__syncthreads();
		}
		fw_tile_write(&a, &plan, &tile, thread, &memory);
	}
}
