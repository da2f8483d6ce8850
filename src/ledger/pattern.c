/*
 * Steps from the repeating sequence of kernels: a kernel that occurs once a step is the anchor, and
 * what lies between two of its launches must be the same kernels in every step.
 */
#include "ledger/steps.h"

#include <stdlib.h>

/* So many distinct numbers of occurrences are tried, the lowest first: bounds the work. */
#define MAX_CANDIDATES 64

/* Fewer repetitions than this are no pattern. */
#define MIN_STEPS 3

/* The kernels of a process in order of launch. */
struct sequence {
	uint32_t *name; /* string */
	size_t *launch; /* index in the launches */
	size_t len;
	uint32_t *wanted,
		*seen; /* by string: occurrences in the reference step, in the step at hand */
};

/* Where one kernel occurs in the sequence. */
struct anchor {
	size_t *at;
	size_t count;
};

struct candidate {
	uint32_t name, count;
	size_t first; /* where it occurs first */
};

/* Which segments of an anchor are steps: those from first on; the last one only if is_whole. */
struct match {
	size_t first;
	bool is_whole;
};

static bool read_sequence(const struct fw_launches *l, struct sequence *s)
{
	const struct fw_trace *t = l->b->trace;

	s->name = malloc((l->len + 1) * sizeof(*s->name));
	s->launch = malloc((l->len + 1) * sizeof(*s->launch));
	if (!s->name || !s->launch)
		return false;
	for (size_t i = 0; i < l->len; i++) {
		uint8_t kind = t->ops.kind[l->ops[i]];

		if (kind != FW_OP_KERNEL && kind != FW_OP_GRAPH)
			continue;
		s->name[s->len] = t->ops.name[l->ops[i]];
		s->launch[s->len++] = i;
	}
	return true;
}

static void release_sequence(struct sequence *s)
{
	free(s->name);
	free(s->launch);
}

static void count_names(const struct sequence *s, uint32_t *counts, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		counts[s->name[i]]++;
}

static void clear_names(const struct sequence *s, uint32_t *counts, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		counts[s->name[i]] = 0;
}

/*
 * True when [from, to) has at least 90 % of its kernels, and of the reference's, in common with the
 * reference step of `len` kernels. Order does not count: streams interleave differently each time.
 */
static bool resembles(struct sequence *s, size_t from, size_t to, size_t len)
{
	size_t longer = to - from > len ? to - from : len, common = 0;

	if ((to - from) * 10 < len * 9 || len * 10 < (to - from) * 9)
		return false;
	for (size_t i = from; i < to; i++)
		common += s->seen[s->name[i]]++ < s->wanted[s->name[i]];
	clear_names(s, s->seen, from, to);
	return common * 10 >= longer * 9;
}

/* Segment i of an anchor; the last one reaches to the end of the sequence. */
static size_t segment_end(const struct sequence *s, const struct anchor *a, size_t i)
{
	return i + 1 < a->count ? a->at[i + 1] : s->len;
}

/*
 * Steps must be MIN_STEPS and hold three quarters of all kernels: the layers of one step repeat too,
 * but only between its ends.
 */
static bool is_enough(const struct sequence *s, const struct anchor *a, const struct match *m)
{
	size_t last = a->count - 1;

	return last + m->is_whole >= m->first + MIN_STEPS &&
	       (segment_end(s, a, last - !m->is_whole) - a->at[m->first]) * 4 >= s->len * 3;
}

/* Compares the segments with the one in the middle of the last half. */
static bool compare_segments(struct sequence *s, const struct anchor *a, struct match *out)
{
	size_t last = a->count - 1, middle = last * 3 / 4;
	size_t from = a->at[middle], to = segment_end(s, a, middle);

	count_names(s, s->wanted, from, to);
	*out = (struct match){ last, resembles(s, a->at[last], s->len, to - from) };
	/* Backwards, because the first steps may differ: they warm up. */
	while (out->first && resembles(s, a->at[out->first - 1], a->at[out->first], to - from))
		out->first--;
	clear_names(s, s->wanted, from, to);
	return is_enough(s, a, out);
}

static void find_anchor(const struct sequence *s, uint32_t name, struct anchor *a)
{
	a->count = 0;
	for (size_t i = 0; i < s->len; i++)
		if (s->name[i] == name)
			a->at[a->count++] = i;
}

static int by_count(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;

	if (a->count != b->count)
		return a->count < b->count ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

/*
 * One kernel for each number of occurrences from MIN_STEPS on, fewest first; of several with the
 * same number the one that occurs first.
 */
static bool list_candidates(struct sequence *s, struct fw_vec *out)
{
	size_t kept = 0;
	struct candidate *c;

	count_names(s, s->seen, 0, s->len);
	for (size_t i = 0; i < s->len; i++) {
		uint32_t name = s->name[i];

		if (s->seen[name] >= MIN_STEPS) {
			c = fw_vec_push(out);
			if (!c)
				return false;
			*c = (struct candidate){ name, s->seen[name], i };
		}
		s->seen[name] = 0;
	}
	c = out->data;
	if (out->len)
		qsort(c, out->len, sizeof(*c), by_count);
	for (size_t i = 0; i < out->len; i++)
		if (!kept || c[kept - 1].count != c[i].count)
			c[kept++] = c[i];
	out->len = kept < MAX_CANDIDATES ? kept : MAX_CANDIDATES;
	return true;
}

static bool emit_steps(const struct fw_launches *l, const struct sequence *s,
		       const struct anchor *a, const struct match *m, struct fw_steps *out)
{
	for (size_t i = m->first; i < a->count - !m->is_whole; i++) {
		struct fw_step step = { fw_launch_ns(l, s->launch[a->at[i]]), INT64_MAX };
		struct fw_step *slot;

		if (i + 1 < a->count)
			step.end_ns = fw_launch_ns(l, s->launch[a->at[i + 1]]);
		/* Repetitions inside one graph launch are not apart on the host. */
		if (step.start_ns == step.end_ns)
			continue;
		slot = fw_vec_push(&out->steps);
		if (!slot)
			return false;
		*slot = step;
	}
	out->has_more = !m->is_whole;
	return true;
}

/* The anchor with the most steps: what happens every few steps only repeats too. */
static bool choose(const struct fw_launches *l, struct sequence *s, const struct fw_vec *candidates,
		   struct fw_steps *out)
{
	const struct candidate *c = candidates->data;
	struct anchor a = { malloc((s->len + 1) * sizeof(*a.at)), 0 };
	bool ok = a.at != NULL, is_found = false;
	struct match m;

	for (size_t i = candidates->len; ok && !is_found && i-- > 0;) {
		find_anchor(s, c[i].name, &a);
		is_found = compare_segments(s, &a, &m);
	}
	if (ok && is_found)
		ok = emit_steps(l, s, &a, &m, out);
	free(a.at);
	return ok;
}

bool fw_find_pattern(const struct fw_launches *launches, struct fw_name_counts *counts,
		     struct fw_steps *out)
{
	struct fw_vec candidates = FW_VEC(struct candidate);
	struct sequence s = { .wanted = counts->wanted, .seen = counts->seen };
	bool ok = read_sequence(launches, &s) && list_candidates(&s, &candidates) &&
		  choose(launches, &s, &candidates, out);

	fw_vec_release(&candidates);
	release_sequence(&s);
	return ok;
}
