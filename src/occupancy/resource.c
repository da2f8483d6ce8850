/* One resource of a kernel varied: sweeps, and the nearest values that change the blocks per SM. */
#include "occupancy/resource.h"

/* What a compiler gives at most; the hardware's own number for a block. */
#define MAX_REGISTERS 255u
#define MAX_BARRIERS  16u
#define SMEM_STEP     1024u

struct fw_resource_range fw_resource_range(const struct fw_hw_limits *hw, enum fw_resource resource)
{
	switch (resource) {
	case FW_RESOURCE_BLOCK:
		return (struct fw_resource_range){ FW_HW_WARP_THREADS, FW_HW_MAX_BLOCK_THREADS,
						   FW_HW_WARP_THREADS };
	case FW_RESOURCE_REGISTERS: return (struct fw_resource_range){ 1, MAX_REGISTERS, 1 };
	case FW_RESOURCE_SMEM: return (struct fw_resource_range){ 0, hw->smem_optin, SMEM_STEP };
	default: return (struct fw_resource_range){ 0, MAX_BARRIERS, 1 };
	}
}

unsigned fw_resource_get(const struct fw_occupancy_input *in, enum fw_resource resource)
{
	switch (resource) {
	case FW_RESOURCE_BLOCK: return in->block_threads;
	case FW_RESOURCE_REGISTERS: return in->registers;
	case FW_RESOURCE_SMEM: return in->static_smem_bytes + in->dynamic_smem_bytes;
	default: return in->barriers;
	}
}

struct fw_occupancy_input fw_resource_set(const struct fw_occupancy_input *in,
					  enum fw_resource resource, unsigned value)
{
	struct fw_occupancy_input out = *in;

	switch (resource) {
	case FW_RESOURCE_BLOCK: out.block_threads = value; break;
	case FW_RESOURCE_REGISTERS: out.registers = value; break;
	case FW_RESOURCE_SMEM:
		if (value < out.static_smem_bytes)
			out.static_smem_bytes = value;
		out.dynamic_smem_bytes = value - out.static_smem_bytes;
		break;
	default: out.barriers = value; break;
	}
	return out;
}

struct search {
	const struct fw_hw_limits *hw;
	const struct fw_occupancy_input *in;
	enum fw_resource resource;
};

static struct fw_occupancy_result at(const struct search *search, unsigned value)
{
	struct fw_occupancy_input in = fw_resource_set(search->in, search->resource, value);
	struct fw_occupancy_result out = { .struct_size = sizeof(out) };

	fw_occupancy_compute(search->hw, &in, &out);
	return out;
}

/* The least value in (low, high] with at most blocks; blocks(low) > blocks >= blocks(high). */
static unsigned first_with(const struct search *search, unsigned low, unsigned high,
			   unsigned blocks)
{
	while (high - low > 1) {
		unsigned middle = low + (high - low) / 2;

		if (at(search, middle).blocks_per_sm <= blocks)
			high = middle;
		else
			low = middle;
	}
	return high;
}

static struct fw_cliff cliff_at(const struct search *search, unsigned value)
{
	return (struct fw_cliff){ true, value, at(search, value) };
}

struct fw_cliffs fw_cliffs_find(const struct fw_hw_limits *hw, const struct fw_occupancy_input *in,
				enum fw_resource resource)
{
	struct search search = { hw, in, resource };
	struct fw_resource_range range = fw_resource_range(hw, resource);
	unsigned now = fw_resource_get(in, resource), blocks = at(&search, now).blocks_per_sm;
	unsigned least = resource == FW_RESOURCE_BLOCK ? 1 : range.least;
	struct fw_cliffs cliffs = { .now = now, .free_to = range.most > now ? range.most : now };

	if (now < range.most && at(&search, range.most).blocks_per_sm < blocks) {
		cliffs.more = cliff_at(&search, first_with(&search, now, range.most, blocks - 1));
		cliffs.free_to = cliffs.more.value - 1;
	}
	if (now > least && at(&search, least).blocks_per_sm > blocks)
		cliffs.less = cliff_at(&search, first_with(&search, least, now, blocks) - 1);
	return cliffs;
}
