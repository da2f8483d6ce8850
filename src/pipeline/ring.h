#ifndef FW_PIPELINE_RING_H
#define FW_PIPELINE_RING_H
/* A bounded queue of small numbers, first in first out. Its owner's lock guards it. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fw_ring {
	uint32_t *items;
	uint32_t cap, first, len;
};

/* False: no memory. cap is at least 1. */
bool fw_ring_init(struct fw_ring *ring, uint32_t cap);
void fw_ring_release(struct fw_ring *ring);

/* The owner knows that there is room: as many places as there are numbers. */
void fw_ring_push(struct fw_ring *ring, uint32_t item);
/* The owner knows that there is one. */
uint32_t fw_ring_pop(struct fw_ring *ring);
uint32_t fw_ring_first(const struct fw_ring *ring);

#endif
