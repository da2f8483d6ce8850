#include "trace/recording_clock.h"

#include <stdlib.h>
#include <string.h>

/* Two clocks of a machine run at the same rate within a thousandth; NTP slews by half of that. */
#define MOST_DRIFT 1e-3

/*
 * A reading is wide when the reader lost its core between the two readings of the other clock: four
 * times the usual distance, and never under 20 us, which says that it was not.
 */
#define WIDE_FACTOR 4
#define WIDE_NS     10000 /* half of the distance */

/* How far a pair may be off the line through its neighbours beside what the readings allow. */
#define OFF_NS 10000

/* Times past this are no times: see recording_chunks.c. */
#define LATEST_NS (INT64_C(1) << 61)

bool fw_rec_mapping_add(struct fw_rec_mapping *m, uint64_t from, int64_t before, int64_t after)
{
	struct fw_rec_pair *pair;

	if (!from || from >= LATEST_NS || before < 0 || after < before || after >= LATEST_NS) {
		m->ignored++;
		return true;
	}
	pair = fw_vec_push(&m->pairs);
	if (!pair)
		return false;
	pair->half = (after - before + 1) / 2;
	pair->from = (int64_t)from;
	pair->to = before + (after - before) / 2;
	return true;
}

static int by_from(const void *x, const void *y)
{
	const struct fw_rec_pair *a = x, *b = y;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->half > b->half) - (a->half < b->half);
}

static int by_value(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

	return (a > b) - (a < b);
}

/* The median of the half distances; 0 when memory is out, which only makes "wide" stricter. */
static int64_t median_half(const struct fw_rec_pair *p, size_t n)
{
	int64_t *halves = malloc(n * sizeof(*halves)), median;

	if (!halves)
		return 0;
	for (size_t i = 0; i < n; i++)
		halves[i] = p[i].half;
	qsort(halves, n, sizeof(*halves), by_value);
	median = halves[n / 2];
	free(halves);
	return median;
}

/* Drops wide pairs, and of several at one time all but the narrowest. */
static void drop_wide(struct fw_rec_mapping *m)
{
	struct fw_rec_pair *p = m->pairs.data;
	size_t n = m->pairs.len, kept = 0;
	int64_t limit = median_half(p, n);

	limit = limit > LATEST_NS / WIDE_FACTOR ? limit : limit * WIDE_FACTOR;
	limit = limit > WIDE_NS ? limit : WIDE_NS;
	for (size_t i = 0; i < n; i++) {
		if (p[i].half > limit || (kept && p[kept - 1].from == p[i].from))
			m->ignored++;
		else
			p[kept++] = p[i];
	}
	m->pairs.len = kept;
}

/* The rate from a to b, less 1. */
static double rate_between(const struct fw_rec_pair *a, const struct fw_rec_pair *b)
{
	int64_t from = b->from - a->from, to = b->to - a->to;

	return (double)(to - from) / (double)from;
}

static bool is_sane(const struct fw_rec_pair *a, const struct fw_rec_pair *b)
{
	double rate = rate_between(a, b);

	return rate < MOST_DRIFT && rate > -MOST_DRIFT;
}

/* a + the distance from it at a rate; doubles hold the small part only. */
static double off_line(const struct fw_rec_pair *a, const struct fw_rec_pair *b,
		       const struct fw_rec_pair *x)
{
	int64_t from = x->from - a->from, to = x->to - a->to;

	return (double)(to - from) - rate_between(a, b) * (double)from;
}

static double magnitude(double x)
{
	return x < 0 ? -x : x;
}

/* How far each pair is off the line through its neighbours; the first and the last: 0. */
static void measure_off(const struct fw_rec_pair *p, size_t n, double *off)
{
	for (size_t i = 0; i < n; i++)
		off[i] = i && i + 1 < n ? magnitude(off_line(&p[i - 1], &p[i + 1], &p[i])) : 0;
}

/* True when the pair's neighbours agree with each other, but not with it, and less so than any other. */
static bool is_stray(const struct fw_rec_pair *p, size_t n, const double *off, size_t i)
{
	double allowed = OFF_NS;

	if (n < 3)
		return false;
	if (!i)
		return !is_sane(&p[0], &p[1]) && is_sane(&p[1], &p[2]);
	if (i + 1 == n)
		return !is_sane(&p[n - 2], &p[n - 1]) && is_sane(&p[n - 3], &p[n - 2]);
	allowed += (double)p[i].half + (double)p[i - 1].half + (double)p[i + 1].half;
	return off[i] > allowed && off[i] >= off[i - 1] && off[i] >= off[i + 1] &&
	       is_sane(&p[i - 1], &p[i + 1]);
}

/* Drops single pairs that are off; several in a row stay, and make the error large. */
static bool drop_stray(struct fw_rec_mapping *m, double *off)
{
	struct fw_rec_pair *p = m->pairs.data;
	size_t n = m->pairs.len, kept = 0;
	uint8_t *stray = calloc(n, 1);

	if (!stray)
		return false;
	measure_off(p, n, off);
	for (size_t i = 0; i < n; i++)
		stray[i] = is_stray(p, n, off, i);
	for (size_t i = 0; i < n; i++)
		if (stray[i])
			m->ignored++;
		else
			p[kept++] = p[i];
	m->pairs.len = kept;
	free(stray);
	return true;
}

/*
 * A step of a clock between two pairs puts both of them off the line through their neighbours, by shares
 * that add up to the step; at an end one pair has no second neighbour, and the other's share counts twice.
 */
static void find_error(struct fw_rec_mapping *m, double *off)
{
	const struct fw_rec_pair *p = m->pairs.data;
	size_t n = m->pairs.len;

	measure_off(p, n, off);
	m->error_ns = n ? p[0].half : 0;
	for (size_t i = 0; i + 1 < n; i++) {
		double before = i ? off[i] : off[i + 1];
		double after = i + 2 < n ? off[i + 1] : off[i];
		double half = (double)(p[i].half > p[i + 1].half ? p[i].half : p[i + 1].half);
		double error = half + before + after;
		int64_t bound = error < (double)LATEST_NS ? (int64_t)error : LATEST_NS;

		m->error_ns = bound > m->error_ns ? bound : m->error_ns;
	}
}

bool fw_rec_mapping_settle(struct fw_rec_mapping *m)
{
	struct fw_rec_pair *p = m->pairs.data;
	double *off;
	bool ok;

	if (!m->pairs.len)
		return false;
	qsort(p, m->pairs.len, sizeof(*p), by_from);
	drop_wide(m);
	off = malloc(m->pairs.len * sizeof(*off));
	ok = off && drop_stray(m, off);
	if (ok)
		find_error(m, off);
	free(off);
	if (!ok || !m->pairs.len)
		return false;
	if (m->pairs.len > 1 && is_sane(&p[0], &p[m->pairs.len - 1]))
		m->rate = rate_between(&p[0], &p[m->pairs.len - 1]);
	return true;
}

/* The last pair at or before a time; the first, if none is. */
static size_t find(struct fw_rec_mapping *m, int64_t time)
{
	const struct fw_rec_pair *p = m->pairs.data;
	size_t low = 0, high = m->pairs.len, i = m->last;

	if (p[i].from <= time && (i + 1 == high || p[i + 1].from > time))
		return i;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (p[mid].from <= time)
			low = mid + 1;
		else
			high = mid;
	}
	m->last = low ? low - 1 : 0;
	return m->last;
}

int64_t fw_rec_map(struct fw_rec_mapping *m, int64_t time)
{
	const struct fw_rec_pair *p = m->pairs.data;
	size_t i = find(m, time);
	double rate = m->rate, distance = (double)(time - p[i].from), drift;

	if (i + 1 < m->pairs.len && time >= p[i].from)
		rate = rate_between(&p[i], &p[i + 1]);
	drift = distance * rate;
	/* Pairs that contradict each other can give any rate; what leaves the range is no time. */
	if (magnitude(drift) > (double)LATEST_NS)
		return -LATEST_NS * 2;
	return p[i].to + (time - p[i].from) + (int64_t)(drift < 0 ? drift - 0.5 : drift + 0.5);
}

void fw_rec_mapping_release(struct fw_rec_mapping *m)
{
	fw_vec_release(&m->pairs);
	*m = (struct fw_rec_mapping)FW_REC_MAPPING;
}
