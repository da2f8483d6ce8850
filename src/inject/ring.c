#include "inject/ring.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* One thread writes at head, the writer thread reads at tail; both only grow, modulo 2^32. */
struct ring {
	_Atomic uint32_t owner; /* tid; 0: free */
	_Atomic uint32_t head, tail;
	bool busy; /* a put is under way: a signal handler must not start another */
	_Alignas(64) uint8_t scratch[FW_RING_SCRATCH_BYTES];
	uint8_t bytes[FW_RING_BYTES];
};

_Static_assert((FW_RING_BYTES & (FW_RING_BYTES - 1)) == 0, "positions are taken modulo its size");
_Static_assert(sizeof(struct fw_ring_range) % 8 == 0, "entries stay aligned");

static struct ring *_Atomic rings;
static _Atomic bool is_enabled;
static _Atomic uint64_t dropped;

/* Initial-exec: the first use in a thread must not allocate. */
static _Thread_local struct ring *mine __attribute__((tls_model("initial-exec")));

bool fw_rings_open(void)
{
	struct ring *none = NULL;
	void *memory;

	if (atomic_load(&rings))
		return true;
	/* Pages that no thread touches cost nothing. */
	memory = mmap(NULL, FW_RING_THREADS * sizeof(struct ring), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	if (!atomic_compare_exchange_strong(&rings, &none, memory))
		munmap(memory, FW_RING_THREADS * sizeof(struct ring));
	return true;
}

void fw_rings_enable(bool on)
{
	atomic_store(&is_enabled, on);
}

bool fw_rings_enabled(void)
{
	return atomic_load_explicit(&is_enabled, memory_order_relaxed);
}

void fw_rings_forget(void)
{
	struct ring *all = atomic_load(&rings);

	for (unsigned i = 0; all && i < FW_RING_THREADS; i++) {
		if (!atomic_load(&all[i].owner))
			continue;
		atomic_store(&all[i].tail, atomic_load(&all[i].head));
		atomic_store(&all[i].owner, 0);
	}
	atomic_store(&dropped, 0);
	mine = NULL;
}

/* A ring left by a dead thread with the same number comes first: it will not be reaped. */
static struct ring *claim(struct ring *all)
{
	uint32_t tid = (uint32_t)syscall(SYS_gettid);

	for (unsigned i = 0; i < FW_RING_THREADS; i++)
		if (atomic_load_explicit(&all[i].owner, memory_order_acquire) == tid)
			return &all[i];
	for (unsigned i = 0; i < FW_RING_THREADS; i++) {
		uint32_t nobody = 0;

		if (atomic_compare_exchange_strong(&all[i].owner, &nobody, tid))
			return &all[i];
	}
	return NULL;
}

static struct ring *own_ring(void)
{
	struct ring *all = atomic_load_explicit(&rings, memory_order_acquire);

	if (mine || !all)
		return mine;
	mine = claim(all);
	if (mine) {
		mine->busy = false;
		memset(mine->scratch, 0, sizeof(mine->scratch));
	}
	return mine;
}

void *fw_ring_scratch(void)
{
	struct ring *ring = own_ring();

	return ring ? ring->scratch : NULL;
}

/* Copies across the end of the ring where it must. */
static void put_bytes(struct ring *ring, uint32_t position, const void *from, uint32_t size)
{
	uint32_t at = position & (FW_RING_BYTES - 1);
	uint32_t first = size < FW_RING_BYTES - at ? size : FW_RING_BYTES - at;

	memcpy(ring->bytes + at, from, first);
	memcpy(ring->bytes, (const uint8_t *)from + first, size - first);
}

static void get_bytes(const struct ring *ring, uint32_t position, void *to, uint32_t size)
{
	uint32_t at = position & (FW_RING_BYTES - 1);
	uint32_t first = size < FW_RING_BYTES - at ? size : FW_RING_BYTES - at;

	memcpy(to, ring->bytes + at, first);
	memcpy((uint8_t *)to + first, ring->bytes, size - first);
}

static uint32_t entry_bytes(uint32_t name_bytes)
{
	return (uint32_t)sizeof(struct fw_ring_range) + ((name_bytes + 7u) & ~7u);
}

static bool put(struct ring *ring, struct fw_ring_range range, const char *name)
{
	uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	uint32_t used = head - atomic_load_explicit(&ring->tail, memory_order_acquire);
	uint32_t size = entry_bytes(range.name_bytes);

	if (FW_RING_BYTES - used < size)
		return false;
	put_bytes(ring, head, &range, sizeof(range));
	put_bytes(ring, head + (uint32_t)sizeof(range), name, range.name_bytes);
	atomic_store_explicit(&ring->head, head + size, memory_order_release);
	return true;
}

bool fw_ring_put(const struct fw_ring_range *range, const char *name, size_t bytes)
{
	struct fw_ring_range entry = *range;
	struct ring *ring;
	bool taken = false;

	if (!fw_rings_enabled())
		return false;
	ring = own_ring();
	entry.name_bytes = bytes < FW_RING_NAME_BYTES ? (uint32_t)bytes : FW_RING_NAME_BYTES;
	if (ring && !ring->busy) {
		ring->busy = true;
		atomic_signal_fence(memory_order_seq_cst);
		taken = put(ring, entry, name);
		atomic_signal_fence(memory_order_seq_cst);
		ring->busy = false;
	}
	if (!taken)
		atomic_fetch_add_explicit(&dropped, 1, memory_order_relaxed);
	return taken;
}

void fw_ring_drop(void)
{
	if (fw_rings_enabled())
		atomic_fetch_add_explicit(&dropped, 1, memory_order_relaxed);
}

static size_t drain(struct ring *ring, uint32_t tid, fw_ring_visit *visit, void *context)
{
	uint32_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
	uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	char name[FW_RING_NAME_BYTES + 1];
	size_t count = 0;

	for (; tail != head; count++) {
		struct fw_ring_range range;

		get_bytes(ring, tail, &range, sizeof(range));
		get_bytes(ring, tail + (uint32_t)sizeof(range), name, range.name_bytes);
		name[range.name_bytes] = 0;
		visit(context, tid, &range, name);
		tail += entry_bytes(range.name_bytes);
		atomic_store_explicit(&ring->tail, tail, memory_order_release);
	}
	return count;
}

size_t fw_rings_drain(fw_ring_visit *visit, void *context)
{
	struct ring *all = atomic_load_explicit(&rings, memory_order_acquire);
	size_t count = 0;

	for (unsigned i = 0; all && i < FW_RING_THREADS; i++) {
		uint32_t tid = atomic_load_explicit(&all[i].owner, memory_order_acquire);

		if (tid)
			count += drain(&all[i], tid, visit, context);
	}
	return count;
}

uint64_t fw_rings_take_dropped(void)
{
	return atomic_exchange_explicit(&dropped, 0, memory_order_relaxed);
}

static bool has_died(uint32_t tid)
{
	int saved = errno;
	bool died = syscall(SYS_tgkill, getpid(), tid, 0) != 0 && errno == ESRCH;

	errno = saved;
	return died;
}

void fw_rings_reap(void)
{
	struct ring *all = atomic_load_explicit(&rings, memory_order_acquire);

	for (unsigned i = 0; all && i < FW_RING_THREADS; i++) {
		uint32_t tid = atomic_load_explicit(&all[i].owner, memory_order_acquire);

		if (tid && has_died(tid) &&
		    atomic_load_explicit(&all[i].head, memory_order_acquire) ==
			    atomic_load_explicit(&all[i].tail, memory_order_relaxed))
			atomic_store_explicit(&all[i].owner, 0, memory_order_release);
	}
}
