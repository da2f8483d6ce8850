/* Wave quantisation of a grid. */
#include "occupancy/tail.h"

struct fw_tail fw_tail_of(uint64_t grid_blocks, unsigned sms, unsigned blocks_per_sm)
{
	struct fw_tail tail = { .resident_blocks = (uint64_t)sms * blocks_per_sm };
	uint64_t rounded;

	if (!tail.resident_blocks || !grid_blocks)
		return tail;
	tail.full_waves = grid_blocks / tail.resident_blocks;
	tail.last_wave_blocks = grid_blocks % tail.resident_blocks;
	rounded = tail.full_waves + (tail.last_wave_blocks != 0);
	tail.waves = (double)grid_blocks / (double)tail.resident_blocks;
	tail.efficiency = tail.waves / (double)rounded;
	tail.may_be_persistent = grid_blocks == tail.resident_blocks;
	return tail;
}
