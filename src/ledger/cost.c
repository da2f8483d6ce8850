/*
 * Blocking calls -> what they cost: the idle time they left behind, and the copies that ran alone.
 * docs/ledger-cost.md.
 */
#include "ledger/cost.h"

#include "ledger/blockers.h"
#include "ledger/idle_sum.h"

#include <stdlib.h>

#define BIT(class_id)    (1u << (class_id))
#define NOT_OF_CALLS     (BIT(FW_CLASS_INPUT) | BIT(FW_CLASS_BLOCKING_COPY) | BIT(FW_CLASS_ALLOC))
#define OF_BLOCKING_COPY BIT(FW_CLASS_BLOCKING_COPY)

_Static_assert(FW_CLASS_COUNT < 31, "classes fit a mask beside FW_IDLE_NOT_QUEUED");

/* One of the calls asked about. */
struct entry {
	uint32_t call;
	size_t place;           /* in the caller's array */
	int64_t waited_ns;      /* end of the last operation it waited for; INT64_MIN: none */
	int64_t from_ns, to_ns; /* up to the next launch after it; empty: from >= to */
	/* Until when the thread is blocked next: by any call, by one that is not asked about. */
	int64_t stop_alone_ns, stop_ns;
	int64_t copied_ns; /* end of its own copies seen so far; INT64_MIN: none on this device */
	int64_t exposed_ns;
	bool is_copy;
};

struct job {
	const struct fw_ledger *ledger;
	const struct fw_device_ledger *device;
	struct entry *entries; /* by call */
	size_t count;
	struct fw_waits waits;
	struct fw_idle_sum gaps; /* what every call is charged with */
	struct fw_idle_sum
		inside; /* what copies are charged with too: idle time inside copy calls */
	struct fw_idle_sum both;
	struct fw_intervals all, copies, exposed;
	int64_t *stream_end;              /* by stream row: end of the operations passed so far */
	bool *is_own;                     /* by call: asked about */
	struct fw_blockers every, others; /* the second without the calls asked about */
};

static int by_call(const void *a, const void *b)
{
	uint32_t x = ((const struct entry *)a)->call, y = ((const struct entry *)b)->call;

	return (x > y) - (x < y);
}

static struct entry *entry_of(const struct job *job, uint32_t call)
{
	struct entry key = { .call = call };

	return call == FW_NONE ? NULL
			       : bsearch(&key, job->entries, job->count, sizeof(key), by_call);
}

static bool is_own_copy(const struct job *job, uint32_t op, struct entry **entry)
{
	if (job->ledger->trace->ops.kind[op] != FW_OP_COPY)
		return false;
	*entry = entry_of(job, job->ledger->call_of_op[op]);
	return *entry && (*entry)->is_copy;
}

static bool enter(struct job *job, const uint32_t *calls)
{
	job->entries = calloc(job->count + 1, sizeof(*job->entries));
	if (!job->entries)
		return false;
	for (size_t i = 0; i < job->count; i++) {
		struct entry *e = &job->entries[i];

		*e = (struct entry){ .call = calls[i], .place = i };
		e->is_copy = fw_ledger_call_class(job->ledger, calls[i]) == FW_CLASS_BLOCKING_COPY;
		e->waited_ns = e->copied_ns = INT64_MIN;
	}
	qsort(job->entries, job->count, sizeof(*job->entries), by_call);
	return true;
}

/* A copy waits for what its stream ran before it; in stream order, so one pass by start tells. */
static bool pass_copies(struct job *job)
{
	const struct fw_trace *t = job->ledger->trace;

	job->stream_end = malloc((t->streams.len + 1) * sizeof(*job->stream_end));
	if (!job->stream_end)
		return false;
	for (size_t i = 0; i < t->streams.len; i++)
		job->stream_end[i] = INT64_MIN;
	for (size_t i = 0; i < job->device->op_count; i++) {
		uint32_t op = job->device->ops[i];
		int64_t *end = &job->stream_end[t->ops.stream[op]];
		struct entry *e;

		if (is_own_copy(job, op, &e) && e->copied_ns == INT64_MIN) {
			e->waited_ns = *end;
			e->copied_ns = t->ops.start_ns[op];
		}
		if (*end < t->ops.end_ns[op])
			*end = t->ops.end_ns[op];
	}
	return true;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Until when the call's thread is blocked next after it; at the latest the window's end. */
static int64_t next_block(const struct job *job, const struct fw_blockers *by, uint32_t call)
{
	const struct fw_trace_calls *calls = &job->ledger->trace->calls;

	return smaller(fw_blockers_next(by, calls->thread[call], calls->end_ns[call]),
		       job->device->window.end_ns);
}

static bool find_blockers(struct job *job)
{
	job->is_own = calloc(job->ledger->trace->calls.len + 1, sizeof(*job->is_own));
	if (!job->is_own)
		return false;
	for (size_t i = 0; i < job->count; i++)
		job->is_own[job->entries[i].call] = true;
	return fw_blockers_build(&job->every, &job->waits, NULL) &&
	       fw_blockers_build(&job->others, &job->waits, job->is_own);
}

/*
 * The stretch that a call is charged with begins at the end of the last operation it waited for, but
 * not before the call: what had ended by then it did not wait for. It reaches at least to the start of
 * the first operation that its process launches after it returns. None launched: it held nothing up.
 */
static void stretch(struct job *job, struct entry *e)
{
	const struct fw_trace *t = job->ledger->trace;
	bool elsewhere = e->is_copy && e->copied_ns == INT64_MIN;
	uint32_t next;

	if (!e->is_copy)
		e->waited_ns = fw_waits_last_end(&job->waits, e->call, &elsewhere);
	if (elsewhere)
		return;
	next = fw_first_op_launched(job->ledger, job->device, fw_call_process(t, e->call),
				    t->calls.end_ns[e->call]);
	if (next == FW_NONE)
		return;
	e->from_ns = larger(e->waited_ns, t->calls.start_ns[e->call]);
	e->to_ns = t->ops.start_ns[next];
	e->stop_alone_ns = next_block(job, &job->every, e->call);
	e->stop_ns = next_block(job, &job->others, e->call);
}

static const struct fw_idle_sum *charged(const struct job *job, const struct entry *e)
{
	return e->is_copy ? &job->both : &job->gaps;
}

/*
 * Without the call the host would have been ahead by the time it was blocked, and later gaps would have
 * been shorter too, until that lead is used up or the host is blocked again. So the stretch goes on:
 * the end of what holds as much idle time as the lead in the range, its start if there is none.
 */
static int64_t lead_end(const struct job *job, const struct entry *e, struct fw_interval range,
			int64_t lead_ns)
{
	if (e->from_ns >= e->to_ns || lead_ns <= 0 || range.start_ns >= range.end_ns)
		return range.start_ns;
	return smaller(fw_idle_sum_reach(charged(job, e), range.start_ns, lead_ns), range.end_ns);
}

/* How long the call blocked its thread in the window, after since_ns, without its own exposed copy. */
static int64_t lead_of(const struct job *job, const struct entry *e, int64_t since_ns)
{
	const struct fw_trace_calls *calls = &job->ledger->trace->calls;
	const struct fw_window *w = &job->device->window;
	int64_t start = larger(calls->start_ns[e->call], w->start_ns);

	return smaller(calls->end_ns[e->call], w->end_ns) - larger(start, since_ns) - e->exposed_ns;
}

static int64_t end_alone(const struct job *job, const struct entry *e)
{
	struct fw_interval range = { e->from_ns, e->stop_alone_ns };

	return larger(e->to_ns, lead_end(job, e, range, lead_of(job, e, INT64_MIN)));
}

static int by_start(const void *ctx, uint32_t a, uint32_t b)
{
	const struct job *job = ctx;
	const int64_t *start = job->ledger->trace->calls.start_ns;
	int64_t x = start[job->entries[a].call], y = start[job->entries[b].call];

	return (x > y) - (x < y);
}

static bool add_stretch(struct job *job, const struct entry *e, int64_t from, int64_t to)
{
	return fw_intervals_add(&job->all, from, to) &&
	       (!e->is_copy || fw_intervals_add(&job->copies, from, to));
}

/* The calls together: idle time that one lead uses up is not there for the next. */
static bool join_stretches(struct job *job, const uint32_t *order)
{
	int64_t used_ns = INT64_MIN, blocked_ns = INT64_MIN;

	for (size_t i = 0; i < job->count; i++) {
		const struct entry *e = &job->entries[order[i]];
		struct fw_interval range = { larger(e->from_ns, used_ns), e->stop_ns };

		range.end_ns = lead_end(job, e, range, lead_of(job, e, blocked_ns));
		if (!add_stretch(job, e, e->from_ns, e->to_ns) ||
		    !add_stretch(job, e, range.start_ns, range.end_ns))
			return false;
		blocked_ns = larger(blocked_ns, job->ledger->trace->calls.end_ns[e->call]);
		if (e->from_ns < e->to_ns)
			used_ns = larger(range.end_ns, e->to_ns);
	}
	fw_intervals_merge(&job->all);
	fw_intervals_merge(&job->copies);
	return true;
}

static bool stretch_all(struct job *job)
{
	uint32_t *order = malloc((job->count + 1) * sizeof(*order));
	bool ok = order != NULL;

	for (size_t i = 0; ok && i < job->count; i++) {
		order[i] = (uint32_t)i;
		stretch(job, &job->entries[i]);
	}
	ok = ok && fw_sort_rows(order, job->count, by_start, job) && join_stretches(job, order);
	free(order);
	return ok;
}

static bool add_in_window(const struct job *job, uint32_t op, struct fw_intervals *set)
{
	const struct fw_trace_ops *ops = &job->ledger->trace->ops;
	const struct fw_window *w = &job->device->window;

	return fw_intervals_add(set, larger(ops->start_ns[op], w->start_ns),
				smaller(ops->end_ns[op], w->end_ns));
}

/* The calls' own copies of a class. */
static bool collect_own(const struct job *job, enum fw_class class_id, struct fw_intervals *own)
{
	for (size_t i = 0; i < job->device->op_count; i++) {
		uint32_t op = job->device->ops[i];
		struct entry *e;

		if (job->ledger->trace->ops.owner[op] == class_id && is_own_copy(job, op, &e) &&
		    !add_in_window(job, op, own))
			return false;
	}
	fw_intervals_merge(own);
	return true;
}

/* All that the ledger prefers to a class. */
static bool collect_stronger(const struct job *job, enum fw_class class_id,
			     struct fw_intervals *stronger)
{
	for (size_t i = 0; i < job->device->op_count; i++) {
		uint32_t op = job->device->ops[i];

		if (job->ledger->trace->ops.owner[op] < class_id &&
		    !add_in_window(job, op, stronger))
			return false;
	}
	fw_intervals_merge(stronger);
	return true;
}

static bool expose_class(struct job *job, enum fw_class class_id)
{
	struct fw_intervals own = { 0 }, stronger = { 0 };
	bool ok = collect_own(job, class_id, &own);

	if (ok && own.len)
		ok = collect_stronger(job, class_id, &stronger) &&
		     fw_intervals_subtract(&job->exposed, &own, &stronger);
	fw_intervals_release(&own);
	fw_intervals_release(&stronger);
	return ok;
}

/* Each call's share of the exposed time; copies of one call come by start, so a cursor suffices. */
static void share_exposed(struct job *job)
{
	const struct fw_trace *t = job->ledger->trace;

	for (size_t i = 0; i < job->device->op_count; i++) {
		uint32_t op = job->device->ops[i];
		struct entry *e;
		int64_t start;

		if (!is_own_copy(job, op, &e))
			continue;
		start = larger(t->ops.start_ns[op], e->copied_ns);
		e->exposed_ns += fw_intervals_covered(&job->exposed, start, t->ops.end_ns[op]);
		e->copied_ns = larger(e->copied_ns, t->ops.end_ns[op]);
	}
}

/* Where the calls' own copies own the time: nothing ran that the ledger prefers. */
static bool expose(struct job *job)
{
	static const enum fw_class classes[] = { FW_CLASS_COPY_H2D, FW_CLASS_COPY_D2H,
						 FW_CLASS_COPY_P2P, FW_CLASS_COPY_D2D };

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (!expose_class(job, classes[i]))
			return false;
	share_exposed(job);
	return true;
}

static bool prepare(struct job *job, const uint32_t *calls)
{
	uint32_t idle = 0;

	for (int c = 0; c < FW_CLASS_COUNT; c++)
		if (fw_class_is_idle((enum fw_class)c))
			idle |= BIT(c);
	idle = (idle & ~NOT_OF_CALLS) | FW_IDLE_NOT_QUEUED;
	/* What was not recorded is no call's fault. */
	if (job->ledger->trace->blind_intervals.len)
		idle &= ~BIT(FW_CLASS_UNKNOWN);
	return enter(job, calls) && fw_idle_sum_build(&job->gaps, job->ledger, job->device, idle) &&
	       fw_idle_sum_build(&job->inside, job->ledger, job->device, OF_BLOCKING_COPY) &&
	       fw_idle_sum_build(&job->both, job->ledger, job->device, idle | OF_BLOCKING_COPY) &&
	       fw_waits_build(&job->waits, job->ledger, job->device) && pass_copies(job) &&
	       expose(job) && find_blockers(job) && stretch_all(job);
}

static int64_t cost_of(const struct job *job, const struct entry *e)
{
	return fw_idle_sum_in(charged(job, e), e->from_ns, end_alone(job, e)) + e->exposed_ns;
}

static void release(struct job *job)
{
	free(job->entries);
	fw_idle_sum_release(&job->gaps);
	fw_idle_sum_release(&job->inside);
	fw_idle_sum_release(&job->both);
	free(job->stream_end);
	fw_blockers_release(&job->every);
	fw_blockers_release(&job->others);
	free(job->is_own);
	fw_waits_release(&job->waits);
	fw_intervals_release(&job->all);
	fw_intervals_release(&job->copies);
	fw_intervals_release(&job->exposed);
}

int64_t fw_cost_of_calls(const struct fw_ledger *ledger, const struct fw_device_ledger *device,
			 const uint32_t *calls, size_t count, int64_t *costs)
{
	struct job job = { .ledger = ledger, .device = device, .count = count };
	int64_t total = -1;

	if (prepare(&job, calls)) {
		total = fw_idle_sum_in_set(&job.gaps, &job.all) +
			fw_idle_sum_in_set(&job.inside, &job.copies) +
			fw_intervals_length(&job.exposed);
		for (size_t i = 0; costs && i < count; i++)
			costs[job.entries[i].place] = cost_of(&job, &job.entries[i]);
	}
	release(&job);
	return total;
}
