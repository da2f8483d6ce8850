#ifndef FW_REPORT_LANES_H
#define FW_REPORT_LANES_H
/*
 * Slices of one track, laid into lanes within which they nest: viewers draw a track as a stack, and
 * cut what overlaps without nesting. One thread. Initialise with {0}.
 */
#include "base/vec.h"

#include <stdint.h>

#define FW_LANES 16u

struct fw_lanes {
	struct fw_vec
		open[FW_LANES]; /* int64_t: ends of the slices that are open, innermost last */
	unsigned used;
	uint64_t misplaced; /* slices for which no lane was left */
	bool failed;        /* memory ran out */
};

/*
 * The lane of the slice [start_ns, end_ns), from 0; slices come by start, the longer first. Without a
 * free lane the last one, and it is counted.
 */
unsigned fw_lanes_take(struct fw_lanes *lanes, int64_t start_ns, int64_t end_ns);

/* Empties them, for another track. */
void fw_lanes_release(struct fw_lanes *lanes);

#endif
