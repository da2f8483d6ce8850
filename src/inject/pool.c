#include "inject/pool.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum state { STATE_FREE, STATE_OUT, STATE_FULL, STATE_DRAINED };

struct slot {
	uint8_t *memory; /* set once, before the pool is used */
	_Atomic uint32_t state;
	size_t valid_bytes; /* while FULL or DRAINED; ordered by state */
	uint64_t turn;      /* buffers are emptied in the order they came back */
};

static struct slot slots[FW_POOL_BUFFERS];
static unsigned slot_count;
static size_t slot_bytes;
static _Atomic size_t offered_bytes;
static _Atomic uint64_t refused, granted, turns;

bool fw_pool_open(unsigned count, size_t bytes)
{
	if (count > FW_POOL_BUFFERS)
		count = FW_POOL_BUFFERS;
	if (!slot_count)
		slot_bytes = bytes;
	while (slot_count < count) {
		slots[slot_count].memory = malloc(slot_bytes);
		if (!slots[slot_count].memory)
			break;
		slot_count++;
	}
	for (unsigned i = 0; i < slot_count; i++)
		atomic_store(&slots[i].state, STATE_FREE);
	atomic_store(&offered_bytes, slot_bytes);
	atomic_store(&refused, 0);
	return slot_count >= 2;
}

void fw_pool_offer(size_t bytes)
{
	atomic_store_explicit(&offered_bytes, bytes < slot_bytes ? bytes : slot_bytes,
			      memory_order_relaxed);
}

uint8_t *fw_pool_take(size_t *bytes)
{
	/* The first that is free: those behind it keep their pages untouched. */
	for (unsigned i = 0; i < slot_count; i++) {
		uint32_t expected = STATE_FREE;

		if (!atomic_compare_exchange_strong_explicit(&slots[i].state, &expected, STATE_OUT,
							     memory_order_acquire,
							     memory_order_relaxed))
			continue;
		atomic_fetch_add_explicit(&granted, 1, memory_order_relaxed);
		*bytes = atomic_load_explicit(&offered_bytes, memory_order_relaxed);
		return slots[i].memory;
	}
	atomic_fetch_add_explicit(&refused, 1, memory_order_relaxed);
	*bytes = 0;
	return NULL;
}

static struct slot *slot_of(const uint8_t *buffer)
{
	for (unsigned i = 0; i < slot_count; i++)
		if (slots[i].memory == buffer)
			return &slots[i];
	return NULL;
}

bool fw_pool_give(uint8_t *buffer, size_t valid_bytes)
{
	struct slot *slot = buffer ? slot_of(buffer) : NULL;

	if (!slot || atomic_load_explicit(&slot->state, memory_order_relaxed) != STATE_OUT)
		return false;
	slot->valid_bytes = valid_bytes < slot_bytes ? valid_bytes : slot_bytes;
	slot->turn = atomic_fetch_add_explicit(&turns, 1, memory_order_relaxed);
	atomic_store_explicit(&slot->state, STATE_FULL, memory_order_release);
	return true;
}

uint8_t *fw_pool_next(size_t *valid_bytes)
{
	struct slot *next = NULL;

	for (unsigned i = 0; i < slot_count; i++)
		if (atomic_load_explicit(&slots[i].state, memory_order_acquire) == STATE_FULL &&
		    (!next || slots[i].turn < next->turn))
			next = &slots[i];
	if (!next)
		return NULL;
	atomic_store_explicit(&next->state, STATE_DRAINED, memory_order_relaxed);
	*valid_bytes = next->valid_bytes;
	return next->memory;
}

void fw_pool_release(uint8_t *buffer)
{
	struct slot *slot = slot_of(buffer);

	if (slot)
		atomic_store_explicit(&slot->state, STATE_FREE, memory_order_release);
}

unsigned fw_pool_out(void)
{
	unsigned count = 0;

	for (unsigned i = 0; i < slot_count; i++)
		count += atomic_load_explicit(&slots[i].state, memory_order_relaxed) == STATE_OUT;
	return count;
}

uint64_t fw_pool_take_refused(void)
{
	return atomic_exchange_explicit(&refused, 0, memory_order_relaxed);
}

uint64_t fw_pool_moves(void)
{
	return atomic_load_explicit(&granted, memory_order_relaxed) +
	       atomic_load_explicit(&turns, memory_order_relaxed);
}
