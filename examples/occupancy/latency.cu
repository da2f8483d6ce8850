// Where occupancy is the speed: a walk through memory in which every load waits for the one before it. The code is the
// same in each variant. The warps that an SM holds are limited once by a small grid, and once by shared memory that nobody
// uses, which also takes L1 away: each load on its way needs a line there. Four walks a thread do what more warps do.
#include "measure.cuh"

#include <cstdint>

enum { THREADS = 64, STEPS = 64 };
static const uint32_t kSlots = 1u << 26; // 256 MB: four times the L2
static const uint32_t kWalks = 1u << 21;

__host__ __device__ inline uint32_t next_slot(uint32_t at, uint32_t loaded)
{
	return (at * 1664525u + loaded) & (kSlots - 1);
}

// Each thread walks `PER_THREAD` independent chains at a time, until all are walked.
template <int PER_THREAD> __global__ void __launch_bounds__(THREADS) walk(const uint32_t *slots, uint32_t *out)
{
	uint32_t step_over = gridDim.x * THREADS * PER_THREAD;

	for (uint32_t first = (blockIdx.x * THREADS + threadIdx.x) * PER_THREAD; first < kWalks; first += step_over) {
		uint32_t at[PER_THREAD];

#pragma unroll
		for (int k = 0; k < PER_THREAD; k++)
			at[k] = (first + k) * 2654435761u & (kSlots - 1);
		for (int step = 0; step < STEPS; step++) {
#pragma unroll
			for (int k = 0; k < PER_THREAD; k++)
				at[k] = next_slot(at[k], slots[at[k]]);
		}
#pragma unroll
		for (int k = 0; k < PER_THREAD; k++)
			out[first + k] = at[k];
	}
}

int main(int argc, char **argv)
{
	std::vector<uint32_t> host(kSlots), result(kWalks);
	std::mt19937 gen(7);
	uint32_t *slots, *out;
	int sms;
	std::vector<Variant> one, four;

	for (uint32_t &s : host)
		s = gen();
	CUDA(cudaMalloc(&slots, kSlots * sizeof(uint32_t)));
	CUDA(cudaMalloc(&out, kWalks * sizeof(uint32_t)));
	CUDA(cudaMemcpy(slots, host.data(), kSlots * sizeof(uint32_t), cudaMemcpyHostToDevice));

	auto error = [&] { // integers: either all are equal or the result is wrong
		CUDA(cudaMemcpy(result.data(), out, kWalks * sizeof(uint32_t), cudaMemcpyDeviceToHost));
		for (uint32_t i = 0; i < kWalks; i += 97) {
			uint32_t at = i * 2654435761u & (kSlots - 1);
			for (int s = 0; s < STEPS; s++)
				at = next_slot(at, host[at]);
			if (at != result[i])
				return 1.0;
		}
		return 0.0;
	};
	auto poison = [&] { CUDA(cudaMemset(out, 0xff, kWalks * sizeof(uint32_t))); };
	CUDA(cudaFuncSetAttribute((const void *)walk<1>, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
	CUDA(cudaFuncSetAttribute((const void *)walk<4>, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
	CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
	auto add = [&](const std::string &name, int grid, int grid_of_four, size_t smem) {
		one.push_back({ name, (const void *)walk<1>, THREADS, smem, grid,
				[=] { walk<1><<<grid, THREADS, smem>>>(slots, out); }, poison, error, {} });
		four.push_back({ name, (const void *)walk<4>, THREADS, smem, grid_of_four,
				 [=] { walk<4><<<grid_of_four, THREADS, smem>>>(slots, out); }, poison, error, {} });
	};
	for (int blocks : { 32, 16, 8, 4, 2, 1 })
		add(std::to_string(2 * blocks) + " warps a SM, grid", sms * blocks, sms * blocks, 0);
	for (int blocks : { 16, 4, 1 }) // 228 KB for this many, each 1 KB more than it asks for
		add(std::to_string(2 * blocks) + " warps a SM, smem", kWalks / THREADS, kWalks / THREADS / 4,
		    (size_t)(228 / blocks - 1) * 1024);
	run("latency-one-walk", one, is_once(argc, argv));
	run("latency-four-walks", four, is_once(argc, argv));
	return 0;
}
