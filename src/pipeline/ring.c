/* A bounded queue of small numbers. */
#include "pipeline/ring.h"

#include <assert.h>
#include <stdlib.h>

bool fw_ring_init(struct fw_ring *ring, uint32_t cap)
{
	*ring = (struct fw_ring){ .items = calloc(cap, sizeof(*ring->items)), .cap = cap };
	return ring->items;
}

void fw_ring_release(struct fw_ring *ring)
{
	free(ring->items);
	*ring = (struct fw_ring){ .items = NULL };
}

void fw_ring_push(struct fw_ring *ring, uint32_t item)
{
	assert(ring->len < ring->cap);
	ring->items[(ring->first + ring->len++) % ring->cap] = item;
}

uint32_t fw_ring_pop(struct fw_ring *ring)
{
	uint32_t item = fw_ring_first(ring);

	ring->first = (ring->first + 1) % ring->cap;
	ring->len--;
	return item;
}

uint32_t fw_ring_first(const struct fw_ring *ring)
{
	assert(ring->len);
	return ring->items[ring->first];
}
