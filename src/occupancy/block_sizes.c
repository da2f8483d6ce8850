/* The block sizes with the best theoretical occupancy. */
#include "occupancy/block_sizes.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* False where the launch is refused before the rule of occupancy is asked. */
static bool input_for(const struct fw_block_search *search, unsigned threads,
		      struct fw_occupancy_input *in)
{
	uint64_t dynamic =
		search->kernel.dynamic_smem_bytes + (uint64_t)search->smem_per_thread * threads;

	*in = search->kernel;
	in->block_threads = threads;
	in->dynamic_smem_bytes = dynamic < INT_MAX ? (unsigned)dynamic : INT_MAX;
	return dynamic <= search->max_dynamic_smem;
}

static void consider(const struct fw_hw_limits *hw, const struct fw_block_search *search,
		     unsigned threads, struct fw_block_sizes *sizes)
{
	struct fw_occupancy_input in;
	struct fw_occupancy_result result;

	if (!input_for(search, threads, &in))
		return;
	fw_occupancy_compute(hw, &in, &result);
	if (!result.blocks_per_sm ||
	    (sizes->count && result.warps_per_sm < sizes->result.warps_per_sm))
		return;
	if (!sizes->count || result.warps_per_sm > sizes->result.warps_per_sm) {
		sizes->count = 0;
		sizes->result = result;
	}
	sizes->threads[sizes->count++] = threads;
}

/*
 * Smaller blocks leave smaller tails and cheaper barriers, but a block of fewer warps than schedulers
 * leaves schedulers idle while it is alone; so the smallest that feeds them all, else the largest.
 */
static unsigned choose(const struct fw_hw_limits *hw, const struct fw_block_sizes *sizes)
{
	for (unsigned i = 0; i < sizes->count; i++)
		if (sizes->threads[i] >= hw->sub_partitions * FW_HW_WARP_THREADS)
			return sizes->threads[i];
	return sizes->threads[sizes->count - 1];
}

static fw_status nothing_fits(const struct fw_hw_limits *hw, const struct fw_block_search *search,
			      unsigned threads, struct fw_error *err)
{
	struct fw_occupancy_input in;
	struct fw_occupancy_result result;
	const char *why = NULL;

	if (!input_for(search, threads, &in))
		return fw_fail(
			err, FW_ERR_UNSUPPORTED,
			"%u bytes of dynamic shared memory are more than the %u that the kernel is "
			"allowed; raise its attribute for the maximum dynamic size first",
			in.dynamic_smem_bytes, search->max_dynamic_smem);
	fw_occupancy_compute(hw, &in, &result);
	for (unsigned bit = 1; bit <= FW_LIMITER_CLUSTER && !why; bit <<= 1)
		if (result.limiters & bit)
			why = fw_limiter_name(bit);
	return fw_fail(
		err, FW_ERR_UNSUPPORTED,
		"no block size runs on compute capability %u.%u: even %u threads exceed the limit "
		"of %s",
		hw->cc / 10, hw->cc % 10, threads, why);
}

fw_status fw_block_sizes_find(const struct fw_hw_limits *hw, const struct fw_block_search *search,
			      struct fw_block_sizes *sizes, struct fw_error *err)
{
	unsigned first = FW_HW_WARP_THREADS, last = search->max_threads;
	struct fw_occupancy_input in;

	sizes->count = 0;
	if (search->required_threads)
		first = last = search->required_threads;
	else if (last < first)
		first = last; /* a launch bound below one warp */
	for (unsigned threads = first; threads <= last; threads += FW_HW_WARP_THREADS)
		consider(hw, search, threads, sizes);
	if (!sizes->count)
		return nothing_fits(hw, search, first, err);
	sizes->choice = choose(hw, sizes);
	input_for(search, sizes->choice, &in);
	fw_occupancy_compute(hw, &in, &sizes->result);
	return FW_OK;
}
