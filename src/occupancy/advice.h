#ifndef FW_OCCUPANCY_ADVICE_H
#define FW_OCCUPANCY_ADVICE_H

#include "hw/limits.h"

#include <stdbool.h>
#include <stdint.h>

/* False: an SM cannot hold min_blocks of them, so the compiler warns and ignores the number. */
bool fw_launch_bounds_hold(const struct fw_hw_limits *hw, unsigned threads, unsigned min_blocks);

/*
 * The most registers a thread that the compiler uses under __launch_bounds__(threads, min_blocks),
 * min_blocks 0 or ignored: under __launch_bounds__(threads). What it writes into the cubin as the cap;
 * 255 at most.
 */
unsigned fw_register_cap(const struct fw_hw_limits *hw, unsigned threads, unsigned min_blocks);

/* What tells a kernel that hides latency by other means than many warps. */
struct fw_kernel_traits {
	const char *name;    /* mangled or not; may be NULL */
	uint64_t smem_bytes; /* a block */
	bool has_setmaxnreg; /* warps trade registers at run time */
	bool has_tensor_memory;
	bool has_cluster;
};

/*
 * Why one or two blocks an SM are what the author of such a kernel wants ("uses clusters"); NULL:
 * nothing says so. Static storage.
 */
const char *fw_intended_low(const struct fw_kernel_traits *traits);

#endif
