#include "inject/nvtx_open.h"

#include "inject/ring.h"
#include "trace/recording.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)

/*
 * A thread's open ranges, in its scratch memory. An entry is the name, padded to 8 bytes, then this. A
 * signal handler may come between any two writes; what it pushes and pops lies above `used`.
 */
struct entry {
	int64_t start_mono;
	const char *domain;
	uint32_t name_bytes;
	uint32_t is_ended; /* a range below the top, ended before those above it */
};

struct stack {
	uint32_t used;     /* of bytes */
	uint32_t overflow; /* pushes that had no room and were not popped yet */
	uint8_t bytes[FW_RING_SCRATCH_BYTES - 8];
};
_Static_assert(sizeof(struct stack) == FW_RING_SCRATCH_BYTES, "it is all of it");

/* A name takes this part of the room that is left at most, so that deep stacks keep short names. */
#define NAME_PART 16u

#define STARTED_NAME_BYTES 228u
#define STARTED_PROBES     64u
#define FREE               0u
#define BUSY               1u /* being written or read; ids are larger */
#define UNTRACKED          (UINT64_C(1) << 63)

struct started {
	_Atomic uint64_t id;
	int64_t start_mono;
	const char *domain;
	uint32_t name_bytes;
	char name[STARTED_NAME_BYTES];
};

static struct started started[FW_NVTX_STARTED];
static _Atomic uint64_t next_ticket;

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static uint32_t padded(uint32_t bytes)
{
	return (bytes + 7u) & ~7u;
}

void fw_nvtx_push(const char *domain, struct fw_nvtx_message message)
{
	struct stack *stack = fw_ring_scratch();
	struct entry entry = { .domain = domain };
	uint32_t room, most;

	if (!stack)
		return;
	room = (uint32_t)sizeof(stack->bytes) - stack->used;
	if (stack->overflow || room < sizeof(entry)) {
		stack->overflow++;
		fw_ring_drop();
		return;
	}
	most = (room - (uint32_t)sizeof(entry)) / NAME_PART & ~7u;
	if (most > FW_NVTX_TEXT_BYTES)
		most = FW_NVTX_TEXT_BYTES;
	entry.name_bytes =
		(uint32_t)fw_nvtx_copy((char *)stack->bytes + stack->used, most, message);
	entry.start_mono = now();
	memcpy(stack->bytes + stack->used + padded(entry.name_bytes), &entry, sizeof(entry));
	stack->used += padded(entry.name_bytes) + (uint32_t)sizeof(entry);
}

/* The entry that ends at `top`; false: there is none. Sets where it begins. */
static bool entry_below(const struct stack *stack, uint32_t top, struct entry *entry,
			uint32_t *begin)
{
	if (top < sizeof(*entry) || top > sizeof(stack->bytes))
		return false;
	memcpy(entry, stack->bytes + top - sizeof(*entry), sizeof(*entry));
	if (entry->name_bytes > FW_NVTX_TEXT_BYTES ||
	    padded(entry->name_bytes) + sizeof(*entry) > top)
		return false;
	*begin = top - (uint32_t)sizeof(*entry) - padded(entry->name_bytes);
	return true;
}

static void put(const struct entry *entry, int64_t end, const char *name)
{
	struct fw_ring_range range = { .start_mono = entry->start_mono,
				       .end_mono = end,
				       .domain = entry->domain,
				       .kind = FW_REC_RANGE_NVTX };

	fw_ring_put(&range, name, entry->name_bytes);
}

/* Takes entries that have ended off the top. */
static void shrink(struct stack *stack)
{
	struct entry entry;
	uint32_t begin;

	while (entry_below(stack, stack->used, &entry, &begin) && entry.is_ended)
		stack->used = begin;
}

void fw_nvtx_pop(const char *domain)
{
	int64_t end = now();
	struct stack *stack = fw_ring_scratch();
	struct entry entry;
	uint32_t begin;

	if (!stack)
		return;
	if (stack->overflow) {
		stack->overflow--;
		return;
	}
	for (uint32_t top = stack->used; entry_below(stack, top, &entry, &begin); top = begin) {
		if (entry.domain != domain || entry.is_ended)
			continue;
		put(&entry, end, (const char *)stack->bytes + begin);
		entry.is_ended = 1;
		memcpy(stack->bytes + top - sizeof(entry), &entry, sizeof(entry));
		shrink(stack);
		return;
	}
}

uint64_t fw_nvtx_start(const char *domain, struct fw_nvtx_message message)
{
	uint64_t ticket =
		atomic_fetch_add_explicit(&next_ticket, 1, memory_order_relaxed) + BUSY + 1;

	for (uint64_t i = 0; i < STARTED_PROBES; i++) {
		uint64_t slot = (ticket + i) % FW_NVTX_STARTED, is_free = FREE;
		struct started *s = &started[slot];
		uint64_t id = ticket * FW_NVTX_STARTED + slot;

		if (!atomic_compare_exchange_strong(&s->id, &is_free, BUSY))
			continue;
		s->domain = domain;
		s->name_bytes = (uint32_t)fw_nvtx_copy(s->name, sizeof(s->name), message);
		s->start_mono = now();
		atomic_store_explicit(&s->id, id, memory_order_release);
		return id;
	}
	fw_ring_drop();
	return ticket | UNTRACKED;
}

void fw_nvtx_end(uint64_t id)
{
	int64_t end = now();
	struct started *s = &started[id % FW_NVTX_STARTED];
	struct entry entry;
	uint64_t expected = id;

	if (id <= BUSY || !atomic_compare_exchange_strong(&s->id, &expected, BUSY))
		return;
	entry = (struct entry){ .start_mono = s->start_mono,
				.domain = s->domain,
				.name_bytes = s->name_bytes };
	put(&entry, end, s->name);
	atomic_store_explicit(&s->id, FREE, memory_order_release);
}

void fw_nvtx_mark(const char *domain, struct fw_nvtx_message message)
{
	char name[FW_NVTX_TEXT_BYTES];
	struct fw_ring_range range = { .domain = domain, .kind = FW_REC_RANGE_MARK };

	if (!fw_rings_enabled())
		return;
	range.start_mono = range.end_mono = now();
	fw_ring_put(&range, name, fw_nvtx_copy(name, sizeof(name), message));
}

void fw_nvtx_name_thread(uint32_t tid, struct fw_nvtx_message message)
{
	char name[FW_NVTX_TEXT_BYTES];
	struct fw_ring_range range = { .start_mono = tid, .kind = FW_RING_THREAD_NAME };

	fw_ring_put(&range, name, fw_nvtx_copy(name, sizeof(name), message));
}
