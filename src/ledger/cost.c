/*
 * Blocking calls -> what they cost: the idle time they left behind, and the copies that ran alone.
 * docs/ledger-cost.md.
 */
#include "ledger/cost.h"

#include "ledger/waits.h"

#include <stdlib.h>

#define BIT(class_id)    (1u << (class_id))
#define NOT_OF_CALLS     (BIT(FW_CLASS_INPUT) | BIT(FW_CLASS_BLOCKING_COPY) | BIT(FW_CLASS_ALLOC))
#define OF_BLOCKING_COPY BIT(FW_CLASS_BLOCKING_COPY)

_Static_assert(FW_CLASS_COUNT <= 32, "classes fit a mask");

/* One of the calls asked about. */
struct entry {
	uint32_t call;
	size_t place;           /* in the caller's array */
	int64_t waited_ns;      /* end of the last operation it waited for; INT64_MIN: none */
	int64_t from_ns, to_ns; /* the stretch it is charged with; empty: from >= to */
	int64_t copied_ns; /* end of its own copies seen so far; INT64_MIN: none on this device */
	int64_t exposed_ns;
	bool is_copy;
};

/* Idle time of some classes up to any instant, in O(log n). */
struct idle_sum {
	const struct fw_idle *idle;
	size_t len;
	uint32_t classes;
	int64_t *before; /* such time before idle[i] */
};

struct job {
	const struct fw_ledger *ledger;
	const struct fw_device_ledger *device;
	struct entry *entries; /* by call */
	size_t count;
	struct fw_waits waits;
	struct idle_sum gaps;   /* what every call is charged with */
	struct idle_sum inside; /* what only copies are charged with: idle time inside copy calls */
	struct fw_intervals all, copies, exposed;
	int64_t *stream_end; /* by stream row: end of the operations passed so far */
};

static bool idle_sum_build(struct idle_sum *sum, const struct fw_device_ledger *device,
			   uint32_t classes)
{
	int64_t total = 0;

	*sum = (struct idle_sum){ device->idle, device->idle_count, classes, NULL };
	sum->before = malloc((sum->len + 1) * sizeof(*sum->before));
	if (!sum->before)
		return false;
	for (size_t i = 0; i < sum->len; i++) {
		sum->before[i] = total;
		if (classes & BIT(sum->idle[i].class_id))
			total += sum->idle[i].end_ns - sum->idle[i].start_ns;
	}
	return true;
}

static int64_t idle_until(const struct idle_sum *sum, int64_t t)
{
	size_t low = 0, high = sum->len;
	const struct fw_idle *last;
	int64_t ns;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (sum->idle[mid].start_ns < t)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return 0;
	last = &sum->idle[low - 1];
	ns = sum->before[low - 1];
	if (sum->classes & BIT(last->class_id))
		ns += (t < last->end_ns ? t : last->end_ns) - last->start_ns;
	return ns;
}

static int64_t idle_in(const struct idle_sum *sum, int64_t from, int64_t to)
{
	return from < to ? idle_until(sum, to) - idle_until(sum, from) : 0;
}

static int64_t idle_in_set(const struct idle_sum *sum, const struct fw_intervals *set)
{
	int64_t ns = 0;

	for (size_t i = 0; i < set->len; i++)
		ns += idle_in(sum, set->items[i].start_ns, set->items[i].end_ns);
	return ns;
}

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

/*
 * The stretch a call is charged with: from the end of the last operation it waited for, but not from
 * before the call, since what had ended by then it did not wait for, to the start of the first
 * operation that its process launches after it returns. None launched: it held nothing up.
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
	e->from_ns = t->calls.start_ns[e->call];
	if (e->from_ns < e->waited_ns)
		e->from_ns = e->waited_ns;
	e->to_ns = t->ops.start_ns[next];
}

static bool stretch_all(struct job *job)
{
	for (size_t i = 0; i < job->count; i++) {
		struct entry *e = &job->entries[i];

		stretch(job, e);
		if (!fw_intervals_add(&job->all, e->from_ns, e->to_ns) ||
		    (e->is_copy && !fw_intervals_add(&job->copies, e->from_ns, e->to_ns)))
			return false;
	}
	fw_intervals_merge(&job->all);
	fw_intervals_merge(&job->copies);
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

/* The calls' own copies of a class, and all that the ledger prefers to it, inside the window. */
static bool collect(const struct job *job, enum fw_class class_id, struct fw_intervals *own,
		    struct fw_intervals *stronger)
{
	const struct fw_trace *t = job->ledger->trace;
	const struct fw_window *w = &job->device->window;

	for (size_t i = 0; i < job->device->op_count; i++) {
		uint32_t op = job->device->ops[i];
		int64_t start = larger(t->ops.start_ns[op], w->start_ns);
		int64_t end = smaller(t->ops.end_ns[op], w->end_ns);
		struct entry *e;

		if (t->ops.owner[op] < class_id && !fw_intervals_add(stronger, start, end))
			return false;
		if (t->ops.owner[op] == class_id && is_own_copy(job, op, &e) &&
		    !fw_intervals_add(own, start, end))
			return false;
	}
	fw_intervals_merge(own);
	fw_intervals_merge(stronger);
	return true;
}

static bool expose_class(struct job *job, enum fw_class class_id)
{
	struct fw_intervals own = { 0 }, stronger = { 0 };
	bool ok = collect(job, class_id, &own, &stronger) &&
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
	return enter(job, calls) && idle_sum_build(&job->gaps, job->device, idle & ~NOT_OF_CALLS) &&
	       idle_sum_build(&job->inside, job->device, OF_BLOCKING_COPY) &&
	       fw_waits_build(&job->waits, job->ledger, job->device) && pass_copies(job) &&
	       stretch_all(job) && expose(job);
}

static int64_t cost_of(const struct job *job, const struct entry *e)
{
	int64_t ns = idle_in(&job->gaps, e->from_ns, e->to_ns);

	if (e->is_copy)
		ns += idle_in(&job->inside, e->from_ns, e->to_ns) + e->exposed_ns;
	return ns;
}

static void release(struct job *job)
{
	free(job->entries);
	free(job->gaps.before);
	free(job->inside.before);
	free(job->stream_end);
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
		total = idle_in_set(&job.gaps, &job.all) + idle_in_set(&job.inside, &job.copies) +
			fw_intervals_length(&job.exposed);
		for (size_t i = 0; costs && i < count; i++)
			costs[job.entries[i].place] = cost_of(&job, &job.entries[i]);
	}
	release(&job);
	return total;
}
