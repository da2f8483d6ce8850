/* Edit distance between short names. */
#include "tune/nearest.h"

#include <string.h>

#define MAX_LEN 32

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Characters to insert, delete or replace, without regard to case. */
static size_t distance(const char *a, size_t na, const char *b, size_t nb)
{
	size_t row[MAX_LEN + 1];

	for (size_t j = 0; j <= nb; j++)
		row[j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			size_t change = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));
			size_t other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;

			diagonal = row[j];
			row[j] = change < other ? change : other;
		}
	}
	return row[nb];
}

void fw_tune_nearest_try(struct fw_tune_nearest *nearest, const char *known)
{
	size_t len = strlen(known), d;

	if (len > MAX_LEN || nearest->len > MAX_LEN)
		return;
	d = distance(nearest->name, nearest->len, known, len);
	/* Less than half of it may differ: two letters of six, one of three, none but the case of one. */
	if (d * 2 >= nearest->len + (d == 0) || (nearest->best && d >= nearest->distance))
		return;
	nearest->best = known;
	nearest->distance = d;
}
