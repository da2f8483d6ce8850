/* Stable sort of row numbers; linear on rows that are nearly in order, as traces are. */
#include "ledger/ledger_private.h"

#include <stdlib.h>
#include <string.h>

typedef int (*compare_rows)(const void *ctx, uint32_t a, uint32_t b);

/* Merges the sorted halves [0, mid) and [mid, n); spare has room for the first. */
static void merge(uint32_t *rows, size_t mid, size_t n, uint32_t *spare, compare_rows compare,
		  const void *ctx)
{
	size_t i = 0, j = mid, k = 0;

	/* What is in place already at the front stays. */
	while (k < mid && compare(ctx, rows[k], rows[mid]) <= 0)
		k++;
	memcpy(spare, rows + k, (mid - k) * sizeof(*rows));
	mid -= k;
	while (i < mid && j < n)
		rows[k++] = compare(ctx, spare[i], rows[j]) <= 0 ? spare[i++] : rows[j++];
	memcpy(rows + k, spare + i, (mid - i) * sizeof(*rows));
}

bool fw_sort_rows(uint32_t *rows, size_t count, compare_rows compare, const void *ctx)
{
	uint32_t *spare;

	if (count < 2)
		return true;
	spare = malloc(count * sizeof(*spare));
	if (!spare)
		return false;
	for (size_t width = 1; width < count; width *= 2)
		for (size_t at = 0; at + width < count; at += 2 * width) {
			size_t n = count - at < 2 * width ? count - at : 2 * width;

			if (compare(ctx, rows[at + width - 1], rows[at + width]) > 0)
				merge(rows + at, width, n, spare, compare, ctx);
		}
	free(spare);
	return true;
}
