#ifndef FW_TRACE_RECORDING_CLOCK_H
#define FW_TRACE_RECORDING_CLOCK_H
/*
 * From one clock to another by pairs of readings: between two pairs along the line through them,
 * before the first and after the last at the rate between the first and the last (one pair: at the
 * same rate). Filled, then settled, then read; one thread.
 */
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct fw_rec_pair {
	int64_t from; /* on the clock to be mapped */
	int64_t to;   /* the middle of the two readings of the other clock */
	int64_t half; /* half their distance: how far `to` can be off */
};

struct fw_rec_mapping {
	struct fw_vec pairs; /* struct fw_rec_pair */
	int64_t error_ns;    /* how far a mapped time between the pairs can be off; -1: unknown */
	double rate;         /* of the whole, less 1 */
	uint64_t ignored;    /* pairs that did not fit the others */
	size_t last;         /* where the last time was found */
};

#define FW_REC_MAPPING                                                                             \
	{                                                                                          \
		.pairs = FW_VEC(struct fw_rec_pair), .error_ns = -1                                \
	}

/* A pair of readings, one clock between two of the other; false: memory is out. */
bool fw_rec_mapping_add(struct fw_rec_mapping *mapping, uint64_t from, int64_t before,
			int64_t after);

/* Drops the pairs that do not fit and works out the error; false: no pair is left. */
bool fw_rec_mapping_settle(struct fw_rec_mapping *mapping);

/* The time on the other clock, inside +-2^62. After a settle that gave true. */
int64_t fw_rec_map(struct fw_rec_mapping *mapping, int64_t time);

void fw_rec_mapping_release(struct fw_rec_mapping *mapping);

#endif
