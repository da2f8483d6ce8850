#ifndef FW_HW_LIMITS_H
#define FW_HW_LIMITS_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* The same for every compute capability from 5.0 to 12.1 (Programming Guide, section 5.1). */
#define FW_HW_WARP_THREADS      32u
#define FW_HW_MAX_BLOCK_THREADS 1024u
#define FW_HW_REGS_PER_SM       65536u
#define FW_HW_REG_GRANULARITY   256u /* registers, per warp: 8 a thread */
#define FW_HW_MAX_CARVEOUTS     10
#define FW_HW_LIMIT_VALUES      15 /* columns with a source letter */

/* The limits of one streaming multiprocessor. Immutable, static storage. Sizes in bytes. */
struct fw_hw_limits {
	unsigned cc;         /* compute capability x 10, e.g. 90 for 9.0 */
	const char *sources; /* one letter a value; their meaning is in limits.def */
	unsigned max_warps, max_blocks;
	unsigned smem_per_sm;    /* largest carve-out */
	unsigned smem_per_block; /* without opt-in */
	unsigned smem_optin;     /* with opt-in (cudaFuncSetAttribute) */
	unsigned smem_reserved;  /* the driver's own, per block */
	unsigned smem_granularity;
	unsigned sub_partitions; /* warp schedulers; warps and registers are split evenly */
	unsigned regs_per_block, regs_per_thread;
	unsigned barriers; /* pool of named barriers of an SM; limits blocks from 9.0 on */
	unsigned carveouts[FW_HW_MAX_CARVEOUTS],
		carveout_count; /* ascending; none: shared memory fixed */
	unsigned l1_array;      /* L1 and shared memory together; 0: apart */
	unsigned cluster_portable,
		cluster_max; /* blocks; 1: no clusters. Over portable needs opt-in */
};

/* Limits of a compute capability (x 10); an unknown one fails and the message names its neighbours. */
fw_status fw_hw_limits_find(unsigned cc, const struct fw_hw_limits **limits, struct fw_error *err);

/* The table, in ascending order; *count rows. */
const struct fw_hw_limits *fw_hw_limits_all(size_t *count);

/* Reads "9.0", "90", "sm_90" or "sm_90a" as 90. Any number of that form passes, known or not. */
fw_status fw_hw_cc_parse(const char *text, unsigned *cc, struct fw_error *err);

#endif
