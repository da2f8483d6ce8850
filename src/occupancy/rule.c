/* From a kernel's resources to the blocks that one SM holds. The rule: docs/occupancy.md. */
#include "occupancy/rule.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Virtual resources of an SM from compute capability 10.0 on (cuda_occupancy.h 13.0). */
#define VIRTUAL_PER_SM 128u

/* Named barriers limit blocks from here on; the header knows pools before but does not apply them. */
#define FIRST_CC_WITH_BARRIER_LIMIT 90u
#define FIRST_CC_WITH_VIRTUAL       100u

static uint64_t round_up(uint64_t x, uint64_t step)
{
	return (x + step - 1) / step * step;
}

static unsigned clamped(uint64_t x)
{
	return x < FW_NO_LIMIT ? (unsigned)x : FW_NO_LIMIT;
}

static uint64_t registers_per_warp(const struct fw_occupancy_input *in)
{
	return round_up((uint64_t)in->registers * FW_HW_WARP_THREADS, FW_HW_REG_GRANULARITY);
}

/*
 * The hardware checks a launch as if every sub-partition held as many warps as the fullest one, so
 * 9 warps count as 12.
 */
static bool registers_fit_block(const struct fw_hw_limits *hw, uint64_t per_warp, unsigned warps)
{
	unsigned parts = hw->sub_partitions;

	/* 6.0 has two sub-partitions; the header asks that the kernel also fits the four of its kin. */
	if (hw->cc == 60)
		parts = 4;
	return per_warp * round_up(warps, parts) <= hw->regs_per_block;
}

static unsigned register_limit(const struct fw_hw_limits *hw, const struct fw_occupancy_input *in,
			       unsigned warps)
{
	uint64_t per_warp = registers_per_warp(in);
	uint64_t warps_per_part;

	if (in->registers > hw->regs_per_thread || !registers_fit_block(hw, per_warp, warps))
		return 0;
	if (!per_warp)
		return FW_NO_LIMIT;
	/* Each sub-partition has its own register file: a warp does not span two. */
	warps_per_part = FW_HW_REGS_PER_SM / hw->sub_partitions / per_warp;
	return (unsigned)(warps_per_part * hw->sub_partitions / warps);
}

/* The smallest size of shared memory that an SM can be set to and that holds bytes. */
static unsigned carveout_for(const struct fw_hw_limits *hw, uint64_t bytes)
{
	for (unsigned i = 0; i < hw->carveout_count; i++)
		if (hw->carveouts[i] >= bytes)
			return hw->carveouts[i];
	return hw->smem_per_sm;
}

static unsigned carveout(const struct fw_hw_limits *hw, int pct, uint64_t block_bytes)
{
	unsigned preferred = hw->smem_per_sm;

	if (pct >= 0 && hw->carveout_count)
		preferred = carveout_for(hw, (uint64_t)pct * hw->smem_per_sm / 100);
	/* A preference too small for one block gives way, but only as far as that one block needs. */
	return preferred >= block_bytes ? preferred : carveout_for(hw, block_bytes);
}

static unsigned smem_limit(const struct fw_hw_limits *hw, const struct fw_occupancy_input *in,
			   struct fw_occupancy_result *out)
{
	uint64_t used =
		(uint64_t)in->static_smem_bytes + in->dynamic_smem_bytes + hw->smem_reserved;
	uint64_t allocated = round_up(used, hw->smem_granularity);
	bool needs_optin = used > hw->smem_per_block;
	uint64_t most = needs_optin && in->is_optin ? hw->smem_optin : hw->smem_per_block;

	out->allocated_smem_bytes = clamped(allocated);
	out->carveout_bytes = carveout(hw, in->carveout_pct, allocated);
	if (allocated > most + hw->smem_reserved)
		return 0;
	return allocated ? (unsigned)(out->carveout_bytes / allocated) : FW_NO_LIMIT;
}

static void compute_limits(const struct fw_hw_limits *hw, const struct fw_occupancy_input *in,
			   struct fw_occupancy_result *out)
{
	unsigned warps = out->warps_per_block;
	unsigned cluster = in->cluster_blocks;

	out->limit_warps = in->block_threads > FW_HW_MAX_BLOCK_THREADS ? 0 : hw->max_warps / warps;
	out->limit_registers = register_limit(hw, in, warps);
	out->limit_shared_memory = smem_limit(hw, in, out);
	out->limit_blocks = hw->max_blocks;
	out->limit_barriers = FW_NO_LIMIT;
	if (hw->cc >= FIRST_CC_WITH_BARRIER_LIMIT && in->barriers)
		out->limit_barriers = hw->barriers / in->barriers;
	out->limit_virtual = FW_NO_LIMIT;
	if (hw->cc >= FIRST_CC_WITH_VIRTUAL && in->virtual_resources)
		out->limit_virtual = VIRTUAL_PER_SM / in->virtual_resources;
	out->limit_cluster = cluster > hw->cluster_max ? 0 : FW_NO_LIMIT;
}

/* A limit and its bit; the barriers come last, see choose_limiters. */
struct limit {
	unsigned blocks, bit;
};

static unsigned least_of(const struct limit *limits, size_t count)
{
	unsigned least = FW_NO_LIMIT;

	for (size_t i = 0; i < count; i++)
		if (limits[i].blocks < least)
			least = limits[i].blocks;
	return least;
}

/*
 * As NVIDIA's header: the mask names every limit that equals the smallest of all but the barriers,
 * and the barriers where they are no larger. So where barriers alone decide, the next limit is named
 * beside them.
 */
static void choose_limiters(struct fw_occupancy_result *out)
{
	const struct limit limits[] = {
		{ out->limit_warps, FW_LIMITER_WARPS },
		{ out->limit_registers, FW_LIMITER_REGISTERS },
		{ out->limit_shared_memory, FW_LIMITER_SHARED_MEMORY },
		{ out->limit_blocks, FW_LIMITER_BLOCKS },
		{ out->limit_virtual, FW_LIMITER_VIRTUAL },
		{ out->limit_cluster, FW_LIMITER_CLUSTER },
		{ out->limit_barriers, FW_LIMITER_BARRIERS },
	};
	size_t count = sizeof(limits) / sizeof(limits[0]);
	unsigned least = least_of(limits, count - 1);

	out->blocks_per_sm = least_of(limits, count);
	out->limiters = out->limit_barriers == out->blocks_per_sm ? FW_LIMITER_BARRIERS : 0;
	for (size_t i = 0; i < count - 1; i++)
		if (limits[i].blocks == least)
			out->limiters |= limits[i].bit;
}

void fw_occupancy_compute(const struct fw_hw_limits *hw, const struct fw_occupancy_input *in,
			  struct fw_occupancy_result *out)
{
	out->warps_per_block = (in->block_threads - 1) / FW_HW_WARP_THREADS + 1;
	out->max_warps_per_sm = hw->max_warps;
	out->schedulers_per_sm = hw->sub_partitions;
	out->allocated_registers = clamped(registers_per_warp(in) * out->warps_per_block);
	compute_limits(hw, in, out);
	choose_limiters(out);
	out->warps_per_sm = out->blocks_per_sm * out->warps_per_block;
	out->occupancy = (double)out->warps_per_sm / hw->max_warps;
}

fw_status fw_occupancy_check(const struct fw_occupancy_input *in, struct fw_error *err)
{
	const struct {
		const char *name;
		unsigned value;
	} rows[] = {
		{ "block_threads", in->block_threads },
		{ "registers", in->registers },
		{ "static_smem_bytes", in->static_smem_bytes },
		{ "dynamic_smem_bytes", in->dynamic_smem_bytes },
		{ "barriers", in->barriers },
		{ "virtual_resources", in->virtual_resources },
		{ "cluster_blocks", in->cluster_blocks },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].value > INT_MAX)
			return fw_fail(err, FW_ERR_ARGUMENT, "occupancy: %s %u is out of range",
				       rows[i].name, rows[i].value);
	if (!in->block_threads)
		return fw_fail(err, FW_ERR_ARGUMENT, "occupancy: a block has at least one thread");
	if (in->carveout_pct < -1 || in->carveout_pct > 100)
		return fw_fail(err, FW_ERR_ARGUMENT,
			       "occupancy: carve-out %d %% is not -1 or 0 to 100",
			       in->carveout_pct);
	return FW_OK;
}
