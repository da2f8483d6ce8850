#ifndef FW_INJECT_RING_H
#define FW_INJECT_RING_H
/*
 * Ranges and marks of the program's threads, on their way to the writer thread. Each thread has a ring
 * of its own, taken from a fixed set when it first puts something and given back after it has died. No
 * lock, no allocation, no system call where a range is put; errno is kept. What does not fit is counted.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FW_RING_THREADS       128u /* threads at a time; those beyond it are dropped and counted */
#define FW_RING_BYTES         (512u << 10) /* of one ring: some 6,000 ranges between two drains */
#define FW_RING_NAME_BYTES    1023u        /* longer names are cut */
#define FW_RING_SCRATCH_BYTES 16384u

/* A range that has ended, or a mark (end equals start). */
struct fw_ring_range {
	int64_t start_mono, end_mono; /* CLOCK_MONOTONIC */
	const char *domain;  /* stays valid until the process ends; NULL: the default one */
	uint32_t kind;       /* enum fw_rec_range_kind */
	uint32_t name_bytes; /* set by fw_ring_put */
};

/* Maps the rings, once; false where the system has no memory. Puts are taken while it is enabled. */
bool fw_rings_open(void);
void fw_rings_enable(bool on);
bool fw_rings_enabled(void);

/* In a child after fork: what the parent's threads had put there is not the child's. */
void fw_rings_forget(void);

/*
 * Any thread: copies the range and `bytes` bytes of its name (UTF-8, no NUL needed). False: not taken,
 * because nothing is recorded now or there is no room (which is counted).
 */
bool fw_ring_put(const struct fw_ring_range *range, const char *name, size_t bytes);

/* A kind of its own: the name is that of the thread start_mono. */
#define FW_RING_THREAD_NAME UINT32_MAX

/* Any thread: counts a range as dropped that had no room before it came here. */
void fw_ring_drop(void);

/*
 * FW_RING_SCRATCH_BYTES of the calling thread's own, aligned to 8, zeros at first: for the stack of
 * ranges that are open. NULL: no ring is left or the rings are not open.
 */
void *fw_ring_scratch(void);

/* The writer thread's side: only one thread at a time. */
typedef void fw_ring_visit(void *context, uint32_t tid, const struct fw_ring_range *range,
			   const char *name);
size_t fw_rings_drain(fw_ring_visit *visit, void *context); /* how many; each thread's in order */
uint64_t fw_rings_take_dropped(void);                       /* ranges dropped since the last call */
void fw_rings_reap(void); /* gives back the rings of threads that have died; about once a second */

#endif
