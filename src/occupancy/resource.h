#ifndef FW_OCCUPANCY_RESOURCE_H
#define FW_OCCUPANCY_RESOURCE_H

#include "occupancy/rule.h"

#include <stdbool.h>

/* What one can change about a kernel; more of any of them never lets an SM hold more blocks. */
enum fw_resource {
	FW_RESOURCE_BLOCK,     /* threads of a block */
	FW_RESOURCE_REGISTERS, /* a thread */
	FW_RESOURCE_SMEM,      /* bytes a block, static and dynamic together */
	FW_RESOURCE_BARRIERS,  /* of a block; counts from 9.0 on */
	FW_RESOURCE_COUNT
};

/* Values that a launch may have, in the steps that change anything. */
struct fw_resource_range {
	unsigned least, most, step;
};

struct fw_resource_range fw_resource_range(const struct fw_hw_limits *hw,
					   enum fw_resource resource);

unsigned fw_resource_get(const struct fw_occupancy_input *in, enum fw_resource resource);

/* in with another value; shared memory is taken from or added to the dynamic part first. */
struct fw_occupancy_input fw_resource_set(const struct fw_occupancy_input *in,
					  enum fw_resource resource, unsigned value);

/* A value at which the blocks per SM change, and what they change to. */
struct fw_cliff {
	bool exists;
	unsigned value;
	struct fw_occupancy_result result;
};

/* The nearest changes of one resource in both directions, all else equal. */
struct fw_cliffs {
	unsigned now;
	unsigned free_to;     /* the most that costs nothing */
	struct fw_cliff less; /* the most that gives more blocks; not there if none does */
	struct fw_cliff more; /* the least that gives fewer; 0 blocks: the launch fails */
};

struct fw_cliffs fw_cliffs_find(const struct fw_hw_limits *hw, const struct fw_occupancy_input *in,
				enum fw_resource resource);

#endif
