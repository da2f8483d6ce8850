/* What can be said beside the number: what is free, equal block sizes, launch bounds, waves. */
#include "cli/occupancy.h"
#include "occupancy/advice.h"
#include "occupancy/block_sizes.h"
#include "occupancy/tail.h"

#include <inttypes.h>
#include <limits.h>

static bool find_sizes(const struct fw_occupancy_launch *launch, struct fw_block_sizes *sizes)
{
	struct fw_block_search search = { .kernel = launch->in,
					  .max_threads = FW_HW_MAX_BLOCK_THREADS,
					  .max_dynamic_smem = INT_MAX };

	if (launch->max_threads && launch->max_threads < search.max_threads)
		search.max_threads = launch->max_threads;
	if (launch->is_fixed)
		search.required_threads = launch->in.block_threads;
	return fw_block_sizes_find(launch->device->hw, &search, sizes, NULL) == FW_OK;
}

const char *fw_occupancy_intended_low_launch(const struct fw_occupancy_launch *launch)
{
	struct fw_kernel_traits traits = { .smem_bytes =
						   fw_resource_get(&launch->in, FW_RESOURCE_SMEM),
					   .has_cluster = launch->in.cluster_blocks > 1 };

	return fw_intended_low(&traits);
}

/* The blocks per SM that launch bounds can bring about by capping registers: more than now, or 0. */
static unsigned next_by_registers(const struct fw_occupancy_launch *launch)
{
	const struct fw_hw_limits *hw = launch->device->hw;
	unsigned threads = launch->in.block_threads, blocks;
	struct fw_cliffs cliffs;

	if (!launch->in.registers || !launch->result.blocks_per_sm)
		return 0;
	cliffs = fw_cliffs_find(hw, &launch->in, FW_RESOURCE_REGISTERS);
	blocks = cliffs.less.result.blocks_per_sm;
	if (!cliffs.less.exists || !fw_launch_bounds_hold(hw, threads, blocks) ||
	    fw_register_cap(hw, threads, blocks) > cliffs.less.value)
		return 0;
	return blocks;
}

static void put_free(struct fw_str *out, const struct fw_occupancy_launch *launch)
{
	const struct fw_hw_limits *hw = launch->device->hw;
	struct fw_cliffs regs = fw_cliffs_find(hw, &launch->in, FW_RESOURCE_REGISTERS);
	struct fw_cliffs smem = fw_cliffs_find(hw, &launch->in, FW_RESOURCE_SMEM);

	fw_str_puts(out, "free at no cost  ");
	if (launch->in.registers)
		fw_str_printf(out, "registers up to %u (+%u), ", regs.free_to,
			      regs.free_to - regs.now);
	fw_str_printf(out, "shared memory up to %u B (+%u B)\n", smem.free_to,
		      smem.free_to - smem.now);
}

static void put_sizes(struct fw_str *out, const struct fw_occupancy_launch *launch)
{
	struct fw_block_sizes sizes;

	if (launch->is_fixed || !find_sizes(launch, &sizes))
		return;
	fw_str_puts(out, "best block sizes ");
	for (unsigned i = 0; i < sizes.count; i++)
		fw_str_printf(out, "%s%u", i ? ", " : "", sizes.threads[i]);
	fw_str_printf(out, " (%u warps, %.1f %%); %u to start from\n", sizes.result.warps_per_sm,
		      100 * sizes.result.occupancy, sizes.choice);
}

static void put_bounds(struct fw_str *out, const struct fw_occupancy_launch *launch)
{
	const struct fw_hw_limits *hw = launch->device->hw;
	unsigned threads = launch->in.block_threads, blocks = launch->result.blocks_per_sm;
	unsigned next = next_by_registers(launch), cap;

	if (!launch->in.registers || !blocks)
		return;
	fw_str_printf(out,
		      "launch bounds    __launch_bounds__(%u, %u) keeps these blocks: at most %u "
		      "registers\n",
		      threads, blocks, fw_register_cap(hw, threads, blocks));
	if (!next)
		return;
	cap = fw_register_cap(hw, threads, next);
	fw_str_printf(
		out,
		"                 __launch_bounds__(%u, %u) asks for %u: at most %u registers, %u "
		"fewer than now. Whether that\n"
		"                 is faster, only a measurement says: it may spill, and more warps "
		"help "
		"only while warps wait.\n",
		threads, next, next, cap, launch->in.registers - cap);
}

void fw_occupancy_put_advice(struct fw_str *out, const struct fw_occupancy_launch *launch,
			     const char *low)
{
	if (launch->result.blocks_per_sm) {
		put_free(out, launch);
		put_bounds(out, launch);
	}
	put_sizes(out, launch);
	if (low)
		fw_str_printf(out,
			      "intended low     %s: one or two blocks an SM are what such kernels "
			      "are built "
			      "for\n",
			      low);
}

static void json_bounds(struct fw_json *json, const struct fw_occupancy_launch *launch,
			unsigned blocks)
{
	fw_json_begin_object(json, NULL);
	fw_json_uint(json, "threads", launch->in.block_threads);
	fw_json_uint(json, "min_blocks", blocks);
	fw_json_uint(json, "register_cap",
		     fw_register_cap(launch->device->hw, launch->in.block_threads, blocks));
	fw_json_end_object(json);
}

void fw_occupancy_json_advice(struct fw_json *json, const struct fw_occupancy_launch *launch,
			      const char *low)
{
	unsigned blocks = launch->result.blocks_per_sm, next = next_by_registers(launch);
	struct fw_block_sizes sizes;

	fw_json_begin_array(json, "best_blocks");
	if (find_sizes(launch, &sizes))
		for (unsigned i = 0; i < sizes.count; i++)
			fw_json_uint(json, NULL, sizes.threads[i]);
	fw_json_end_array(json);
	fw_json_begin_array(json, "launch_bounds");
	if (launch->in.registers && blocks)
		json_bounds(json, launch, blocks);
	if (next)
		json_bounds(json, launch, next);
	fw_json_end_array(json);
	fw_json_string(json, "intended_low", low);
}

/* Clusters are placed whole, and how they fit depends on the very chip: only a bound can be given. */
static void put_cluster_bound(struct fw_str *out, const struct fw_occupancy_launch *launch,
			      uint64_t resident)
{
	unsigned cluster = launch->in.cluster_blocks;

	if (cluster > 1)
		fw_str_printf(out,
			      "clusters         at most %" PRIu64
			      " of %u blocks at once: a bound, the chip's "
			      "SMs per graphics cluster decide\n",
			      resident / cluster, cluster);
}

void fw_occupancy_put_tail(struct fw_str *out, const struct fw_occupancy_launch *launch,
			   uint64_t grid)
{
	struct fw_tail tail = fw_tail_of(grid, launch->device->sms, launch->result.blocks_per_sm);

	if (!tail.resident_blocks)
		return;
	fw_str_printf(
		out,
		"waves            %" PRIu64 " blocks, %" PRIu64 " at once (%u SMs x %u): ", grid,
		tail.resident_blocks, launch->device->sms, launch->result.blocks_per_sm);
	if (tail.may_be_persistent)
		fw_str_puts(
			out,
			"exactly one wave; a persistent kernel loops over its work, so waves say "
			"nothing about it\n");
	else if (tail.waves < 1)
		fw_str_printf(out,
			      "%.2f waves, the grid fills %.1f %% of the GPU; occupancy does not "
			      "limit this "
			      "launch\n",
			      tail.waves, 100 * tail.waves);
	else
		fw_str_printf(out,
			      "%.2f waves, efficiency %.1f %%, the tail costs at most %.1f %% "
			      "(even blocks, "
			      "not persistent)\n",
			      tail.waves, 100 * tail.efficiency, 100 * (1 - tail.efficiency));
	put_cluster_bound(out, launch, tail.resident_blocks);
	if (launch->in.cluster_blocks > 1 && grid % launch->in.cluster_blocks)
		fw_str_printf(out,
			      "grid             %" PRIu64
			      " blocks are not whole clusters of %u: the launch "
			      "fails\n",
			      grid, launch->in.cluster_blocks);
}

void fw_occupancy_json_tail(struct fw_json *json, const struct fw_occupancy_launch *launch,
			    uint64_t grid)
{
	struct fw_tail tail = fw_tail_of(grid, launch->device->sms, launch->result.blocks_per_sm);

	fw_json_begin_object(json, "tail");
	fw_json_uint(json, "grid", grid);
	fw_json_uint(json, "sms", launch->device->sms);
	fw_json_uint(json, "resident_blocks", tail.resident_blocks);
	if (tail.resident_blocks && !tail.may_be_persistent) {
		fw_json_double(json, "waves", tail.waves);
		fw_json_uint(json, "full_waves", tail.full_waves);
		fw_json_uint(json, "last_wave_blocks", tail.last_wave_blocks);
		fw_json_double(json, "efficiency", tail.efficiency);
	} else {
		fw_json_null(json, "waves");
		fw_json_null(json, "full_waves");
		fw_json_null(json, "last_wave_blocks");
		fw_json_null(json, "efficiency");
	}
	fw_json_bool(json, "may_be_persistent", tail.may_be_persistent);
	fw_json_end_object(json);
}
