#ifndef FW_OCCUPANCY_TAIL_H
#define FW_OCCUPANCY_TAIL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How a grid spreads over the SMs, as if all blocks took the same time. A last, partial wave runs its
 * blocks with less contention, so 1 - efficiency is an upper bound of the loss.
 */
struct fw_tail {
	uint64_t resident_blocks; /* all SMs full: SMs * blocks per SM */
	uint64_t full_waves, last_wave_blocks;
	double waves, efficiency; /* grid / resident; waves / waves rounded up. 0 without blocks */
	bool may_be_persistent; /* grid == resident: blocks may loop over the work, then waves mean nothing */
};

struct fw_tail fw_tail_of(uint64_t grid_blocks, unsigned sms, unsigned blocks_per_sm);

#endif
