/* Sets of intervals: collected, merged once, then asked. */
#include "ledger/intervals.h"

#include <stdlib.h>

void fw_intervals_release(struct fw_intervals *set)
{
	free(set->items);
	*set = (struct fw_intervals){ 0 };
}

bool fw_intervals_add(struct fw_intervals *set, int64_t start_ns, int64_t end_ns)
{
	if (start_ns >= end_ns)
		return true;
	if (set->len == set->cap) {
		size_t cap = set->cap ? set->cap * 2 : 16;
		struct fw_interval *items;

		if (cap > SIZE_MAX / sizeof(*items))
			return false;
		items = realloc(set->items, cap * sizeof(*items));
		if (!items)
			return false;
		set->items = items;
		set->cap = cap;
	}
	set->items[set->len++] = (struct fw_interval){ start_ns, end_ns };
	return true;
}

static int by_start(const void *a, const void *b)
{
	int64_t x = ((const struct fw_interval *)a)->start_ns;
	int64_t y = ((const struct fw_interval *)b)->start_ns;

	return (x > y) - (x < y);
}

void fw_intervals_merge(struct fw_intervals *set)
{
	size_t n = 0;

	if (!set->len)
		return;
	qsort(set->items, set->len, sizeof(*set->items), by_start);
	for (size_t i = 1; i < set->len; i++) {
		struct fw_interval *last = &set->items[n], *next = &set->items[i];

		if (next->start_ns > last->end_ns)
			set->items[++n] = *next;
		else if (next->end_ns > last->end_ns)
			last->end_ns = next->end_ns;
	}
	set->len = n + 1;
}

int64_t fw_intervals_length(const struct fw_intervals *set)
{
	int64_t sum = 0;

	for (size_t i = 0; i < set->len; i++)
		sum += set->items[i].end_ns - set->items[i].start_ns;
	return sum;
}

/* The first interval that ends after t. */
static size_t first_ending_after(const struct fw_intervals *set, int64_t t)
{
	size_t low = 0, high = set->len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (set->items[mid].end_ns > t)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static int64_t overlap(const struct fw_interval *a, const struct fw_interval *b)
{
	int64_t start = a->start_ns > b->start_ns ? a->start_ns : b->start_ns;
	int64_t end = a->end_ns < b->end_ns ? a->end_ns : b->end_ns;

	return end > start ? end - start : 0;
}

int64_t fw_intervals_covered(const struct fw_intervals *set, int64_t start_ns, int64_t end_ns)
{
	struct fw_interval range = { start_ns, end_ns };
	int64_t sum = 0;

	for (size_t i = first_ending_after(set, start_ns);
	     i < set->len && set->items[i].start_ns < end_ns; i++)
		sum += overlap(&set->items[i], &range);
	return sum;
}

bool fw_intervals_intersect(struct fw_intervals *out, const struct fw_intervals *a,
			    const struct fw_intervals *b)
{
	size_t i = 0, j = 0;

	while (i < a->len && j < b->len) {
		const struct fw_interval *x = &a->items[i], *y = &b->items[j];
		int64_t start = x->start_ns > y->start_ns ? x->start_ns : y->start_ns;

		if (!fw_intervals_add(out, start, x->end_ns < y->end_ns ? x->end_ns : y->end_ns))
			return false;
		if (x->end_ns < y->end_ns)
			i++;
		else
			j++;
	}
	fw_intervals_merge(out);
	return true;
}

bool fw_intervals_subtract(struct fw_intervals *out, const struct fw_intervals *a,
			   const struct fw_intervals *b)
{
	size_t j = 0;

	for (size_t i = 0; i < a->len; i++) {
		int64_t from = a->items[i].start_ns, end = a->items[i].end_ns;

		while (j < b->len && b->items[j].end_ns <= from)
			j++;
		for (size_t k = j; k < b->len && b->items[k].start_ns < end; k++) {
			if (!fw_intervals_add(out, from, b->items[k].start_ns))
				return false;
			from = b->items[k].end_ns;
		}
		if (!fw_intervals_add(out, from, end))
			return false;
	}
	fw_intervals_merge(out);
	return true;
}
