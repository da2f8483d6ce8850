#ifndef FW_LEDGER_INTERVALS_H
#define FW_LEDGER_INTERVALS_H
/* Sets of half-open intervals of nanoseconds. One thread. Initialise with {0}. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fw_interval {
	int64_t start_ns, end_ns;
};

struct fw_intervals {
	struct fw_interval *items;
	size_t len, cap;
};

void fw_intervals_release(struct fw_intervals *set);

/* Adds [start, end), an empty or reversed one not at all. False when memory is out. */
bool fw_intervals_add(struct fw_intervals *set, int64_t start_ns, int64_t end_ns);

/* Sorts the intervals and joins those that touch; the functions below need that. */
void fw_intervals_merge(struct fw_intervals *set);

/* Sum of the lengths of a merged set. */
int64_t fw_intervals_length(const struct fw_intervals *set);

/* How much of [start, end) a merged set covers. O(log n + intervals inside). */
int64_t fw_intervals_covered(const struct fw_intervals *set, int64_t start_ns, int64_t end_ns);

/* Adds to out what both merged sets cover, or what a covers and b does not; out is merged then. */
bool fw_intervals_intersect(struct fw_intervals *out, const struct fw_intervals *a,
			    const struct fw_intervals *b);
bool fw_intervals_subtract(struct fw_intervals *out, const struct fw_intervals *a,
			   const struct fw_intervals *b);

#endif
