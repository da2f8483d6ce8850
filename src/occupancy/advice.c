/* What can be said of a kernel without having measured it. */
#include "occupancy/advice.h"

#include <string.h>
#include <strings.h>

/* Above this a block takes most of any SM, which only kernels do that keep tiles there. */
#define TILE_KERNEL_SMEM (96u * 1024)

#define MAX_REGISTERS 255u

bool fw_launch_bounds_hold(const struct fw_hw_limits *hw, unsigned threads, unsigned min_blocks)
{
	uint64_t warps = ((uint64_t)threads + FW_HW_WARP_THREADS - 1) / FW_HW_WARP_THREADS;

	return warps * min_blocks <= hw->max_warps && min_blocks <= hw->max_blocks;
}

/*
 * Registers are handed out to warps, in each sub-partition apart, in units of 256: the fullest of the
 * sub-partitions holds ceil(warps / sub-partitions) warps. Equal to what ptxas of CUDA 13.0 writes
 * into the cubin (docs/occupancy.md); 65536 / (threads * min_blocks) is not.
 */
unsigned fw_register_cap(const struct fw_hw_limits *hw, unsigned threads, unsigned min_blocks)
{
	unsigned blocks =
		min_blocks && fw_launch_bounds_hold(hw, threads, min_blocks) ? min_blocks : 1;
	uint64_t warps = ((uint64_t)threads + FW_HW_WARP_THREADS - 1) / FW_HW_WARP_THREADS * blocks;
	uint64_t fullest = (warps + hw->sub_partitions - 1) / hw->sub_partitions;
	uint64_t cap;

	if (!fullest)
		return MAX_REGISTERS;
	cap = FW_HW_REGS_PER_SM / hw->sub_partitions / fullest / FW_HW_REG_GRANULARITY *
	      (FW_HW_REG_GRANULARITY / FW_HW_WARP_THREADS);
	return cap < MAX_REGISTERS ? (unsigned)cap : MAX_REGISTERS;
}

static bool contains(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (; *text; text++)
		if (!strncasecmp(text, word, len))
			return true;
	return false;
}

const char *fw_intended_low(const struct fw_kernel_traits *traits)
{
	static const struct {
		const char *word, *why;
	} names[] = {
		{ "gemm", "its name says matrix product" },
		{ "wgmma", "its name says matrix product" },
		{ "xmma", "its name says matrix product" },
		{ "attention", "its name says attention" },
		{ "fmha", "its name says attention" },
		{ "flash_fwd", "its name says attention" },
		{ "flash_bwd", "its name says attention" },
	};

	if (traits->has_setmaxnreg)
		return "warps trade registers (setmaxnreg)";
	if (traits->has_tensor_memory)
		return "it uses tensor memory";
	if (traits->has_cluster)
		return "it runs in clusters";
	if (traits->smem_bytes > TILE_KERNEL_SMEM)
		return "it keeps more than 96 KB in shared memory";
	for (size_t i = 0; traits->name && i < sizeof(names) / sizeof(names[0]); i++)
		if (contains(traits->name, names[i].word))
			return names[i].why;
	return NULL;
}
