#ifndef FW_OCCUPANCY_BLOCK_SIZES_H
#define FW_OCCUPANCY_BLOCK_SIZES_H

#include "occupancy/rule.h"

/* The launches that a kernel allows; the input of a search over block sizes. */
struct fw_block_search {
	struct fw_occupancy_input kernel; /* block_threads is not read */
	unsigned max_threads;             /* 1 to 1024 */
	unsigned required_threads;        /* 0: any */
	unsigned smem_per_thread;         /* bytes of dynamic shared memory that each thread adds */
	unsigned max_dynamic_smem;        /* more is not tried */
};

/* Block sizes of equal, best occupancy, ascending. */
struct fw_block_sizes {
	unsigned count, threads[FW_MAX_BLOCK_SIZES];
	unsigned choice;                   /* the one to start from */
	struct fw_occupancy_result result; /* with choice */
};

/*
 * Searches the multiples of a warp (or the one required size). FW_ERR_UNSUPPORTED: none can run, and
 * the message says what stands against the smallest.
 */
fw_status fw_block_sizes_find(const struct fw_hw_limits *hw, const struct fw_block_search *search,
			      struct fw_block_sizes *sizes, struct fw_error *err);

#endif
