/*
 * The owner of every nanosecond of a device: a sweep over the starts and ends of its operations
 * finds who ran and where nothing did; each gap is then cut by time.
 */
#include "ledger/build.h"

/* A call longer than this is start-up work or a stall, not the cost of a launch. */
#define LONG_CALL_NS 1000000

/* Work that starts later than this after its launch call returned waited for something. */
#define START_DELAY_NS 100000

/* Who explains host time, in the order asked: both threads' calls and operators, then their Python. */
#define MAX_LEVELS 4

struct sweep {
	struct fw_build *b;
	const struct fw_trace *t;
	struct fw_device_ledger *d;
	const uint32_t *by_start, *by_end;
	size_t started, ended;             /* operations passed so far */
	size_t next_kernel;                /* the first kernel in by_start at or after started */
	const struct fw_intervals *blind;  /* when nothing, or not everything, was recorded */
	size_t next_blind;                 /* the first that ends after what is owned already */
	int64_t live[FW_CLASS_MEMSET + 1]; /* operations that run, by class */
	struct fw_vec idle;                /* struct fw_idle */
	bool failed;
};

/* The gap [start, end), ended by next; last ended at start (several: the one launched last). */
struct gap {
	int64_t start_ns, end_ns;
	uint32_t next, last;
	const struct fw_timeline *levels[MAX_LEVELS];
	size_t level_count;
};

static int64_t min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t max(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Gives what of [piece.start, piece.end) lies in the window to the piece's class. */
static void put(struct sweep *s, struct fw_idle piece)
{
	const struct fw_window *w = &s->d->window;
	struct fw_idle *last =
		s->idle.len ? (struct fw_idle *)s->idle.data + s->idle.len - 1 : NULL;

	piece.start_ns = max(piece.start_ns, w->start_ns);
	piece.end_ns = min(piece.end_ns, w->end_ns);
	if (piece.start_ns >= piece.end_ns)
		return;
	s->d->ns[piece.class_id] += piece.end_ns - piece.start_ns;
	if (last && last->end_ns == piece.start_ns && last->class_id == piece.class_id &&
	    last->next_op == piece.next_op && last->call == piece.call &&
	    last->range == piece.range && last->off_cpu == piece.off_cpu) {
		last->end_ns = piece.end_ns;
		return;
	}
	last = fw_vec_push(&s->idle);
	if (last)
		*last = piece;
	else
		s->failed = true;
}

/*
 * The same, but what was not recorded is known of no time: it may not even have been idle. Pieces come
 * in order of time.
 */
static void own(struct sweep *s, struct fw_idle piece)
{
	const struct fw_interval *blind = s->blind->items;

	while (s->next_blind < s->blind->len && blind[s->next_blind].end_ns <= piece.start_ns)
		s->next_blind++;
	for (size_t i = s->next_blind; i < s->blind->len && blind[i].start_ns < piece.end_ns; i++) {
		int64_t from = max(piece.start_ns, blind[i].start_ns);
		int64_t to = min(piece.end_ns, blind[i].end_ns);
		struct fw_idle before = piece;

		before.end_ns = from;
		put(s, before);
		put(s, (struct fw_idle){ from, to, FW_CLASS_UNKNOWN, piece.next_op, FW_NONE,
					 FW_NONE, FW_NONE });
		piece.start_ns = to;
	}
	put(s, piece);
}

static void own_without_call(struct sweep *s, int64_t start, int64_t end, enum fw_class class_id,
			     uint32_t next)
{
	own(s, (struct fw_idle){ start, end, class_id, next, FW_NONE, FW_NONE, FW_NONE });
}

static size_t first_ending_after(const struct fw_timeline *line, int64_t t)
{
	size_t low = 0, high = line->len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (line->spans[mid].end_ns > t)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static void own_span(struct sweep *s, const struct gap *g, const struct fw_span *span,
		     int64_t start, int64_t end)
{
	struct fw_idle piece = { start, end, span->class_id, g->next, FW_NONE, FW_NONE, FW_NONE };

	if (span->class_id == FW_CLASS_HOST_NOT_RUNNING)
		piece.off_cpu = span->item;
	else if (span->is_range)
		piece.range = span->item;
	else
		piece.call = span->item;
	own(s, piece);
}

/* Host time [start, end): what this level does not explain is asked of the next (at most 4 deep). */
static void explain(struct sweep *s, const struct gap *g, size_t level, int64_t start, int64_t end)
{
	const struct fw_timeline *line;

	if (level == g->level_count) {
		own_without_call(s, start, end, FW_CLASS_HOST_UNRECORDED, g->next);
		return;
	}
	line = g->levels[level];
	for (size_t i = first_ending_after(line, start);
	     i < line->len && line->spans[i].start_ns < end; i++) {
		int64_t from = max(start, line->spans[i].start_ns);
		int64_t to = min(end, line->spans[i].end_ns);

		if (from > start)
			explain(s, g, level + 1, start, from);
		/* That the other thread slept explains nothing: the first one was running. */
		if (level && line->spans[i].class_id == FW_CLASS_HOST_NOT_RUNNING)
			explain(s, g, level + 1, from, to);
		else
			own_span(s, g, &line->spans[i], from, to);
		start = to;
	}
	if (start < end)
		explain(s, g, level + 1, start, end);
}

static bool is_kernel(const struct fw_trace *t, uint32_t op)
{
	return t->ops.kind[op] == FW_OP_KERNEL || t->ops.kind[op] == FW_OP_GRAPH;
}

/* The thread to ask first: the launching one; for a prefetch thread the next kernel's. */
static uint32_t thread_to_ask(const struct sweep *s, uint32_t next)
{
	const struct fw_build *b = s->b;
	uint32_t thread = s->t->calls.thread[b->call_of_op[next]], kernel, call;

	if (is_kernel(s->t, next) || b->ledger->private->threads[thread].kernels ||
	    s->next_kernel == s->d->op_count)
		return thread;
	kernel = s->by_start[s->next_kernel];
	call = b->call_of_op[kernel];
	return call == FW_NONE ? thread : s->t->calls.thread[call];
}

/* Sets whom to ask: that thread, then the one of its process that launched what ran before. */
static void set_levels(const struct sweep *s, struct gap *g)
{
	const struct fw_thread_work *threads = s->b->ledger->private->threads;
	uint32_t thread = thread_to_ask(s, g->next), other = thread;
	uint32_t call = g->last == FW_NONE ? FW_NONE : s->b->call_of_op[g->last];

	if (call != FW_NONE && fw_call_process(s->t, call) == s->t->threads.process[thread])
		other = s->t->calls.thread[call];
	g->level_count = 0;
	g->levels[g->level_count++] = &threads[thread].host;
	if (other != thread)
		g->levels[g->level_count++] = &threads[other].host;
	g->levels[g->level_count++] = &threads[thread].python;
	if (other != thread)
		g->levels[g->level_count++] = &threads[other].python;
}

/* The class of the time inside the launch call of its first operation on the device. */
static enum fw_class class_in_call(const struct sweep *s, const struct gap *g, uint32_t call)
{
	const struct fw_trace_calls *c = &s->t->calls;
	bool is_long = c->end_ns[call] - c->start_ns[call] > LONG_CALL_NS;
	uint8_t flags = s->b->op_flags[g->next], name = s->b->name_flags[c->name[call]];

	if (name & FW_NAME_COPY && (!(name & FW_NAME_ASYNC) || s->b->is_pageable[call]))
		return c->start_ns[call] >= g->start_ns ? FW_CLASS_BLOCKING_COPY
							: FW_CLASS_DEVICE_WAIT;
	if (is_long && flags & FW_OP_FIRST)
		return FW_CLASS_ONE_TIME;
	if (is_long && flags & FW_OP_ALONE)
		return FW_CLASS_API;
	return FW_CLASS_LAUNCH_LATENCY;
}

/* Cuts a gap by time: before the launch call, inside it, after it. */
static void cut_gap(struct sweep *s, struct gap *g)
{
	const struct fw_trace_calls *c = &s->t->calls;
	uint32_t call = s->b->call_of_op[g->next];
	int64_t start, end, from, to;

	if (call == FW_NONE) {
		own_without_call(s, g->start_ns, g->end_ns, FW_CLASS_UNKNOWN, g->next);
		return;
	}
	start = min(c->start_ns[call], g->end_ns);
	end = max(c->end_ns[call], start);
	from = max(g->start_ns, start);
	to = min(max(g->start_ns, end), g->end_ns);
	if (s->b->nth_of_op[g->next])
		to = from;
	if (g->start_ns < from) {
		set_levels(s, g);
		explain(s, g, 0, g->start_ns, from);
	}
	if (from < to)
		own(s, (struct fw_idle){ from, to, class_in_call(s, g, call), g->next, call,
					 FW_NONE, FW_NONE });
	if (to < g->end_ns)
		own(s, (struct fw_idle){ to, g->end_ns,
					 c->start_ns[call] >= g->start_ns &&
							 g->end_ns - end <= START_DELAY_NS
						 ? FW_CLASS_LAUNCH_LATENCY
						 : FW_CLASS_DEVICE_WAIT,
					 g->next, call, FW_NONE, FW_NONE });
}

static void find_next_kernel(struct sweep *s)
{
	if (s->next_kernel < s->started)
		s->next_kernel = s->started;
	while (s->next_kernel < s->d->op_count && !is_kernel(s->t, s->by_start[s->next_kernel]))
		s->next_kernel++;
}

/* The busy class that owns now, or FW_CLASS_COUNT. */
static enum fw_class running(const struct sweep *s)
{
	for (size_t c = 0; c <= FW_CLASS_MEMSET; c++)
		if (s->live[c])
			return (enum fw_class)c;
	return FW_CLASS_COUNT;
}

/* Time of the next start or end. */
static int64_t next_edge(const struct sweep *s)
{
	int64_t end = s->t->ops.end_ns[s->by_end[s->ended]];

	if (s->started == s->d->op_count)
		return end;
	return min(end, s->t->ops.start_ns[s->by_start[s->started]]);
}

/* Passes every start and end at t. */
static void pass(struct sweep *s, int64_t t)
{
	const struct fw_trace_ops *ops = &s->t->ops;
	size_t n = s->d->op_count;

	for (; s->started < n && ops->start_ns[s->by_start[s->started]] == t; s->started++)
		s->live[ops->owner[s->by_start[s->started]]]++;
	for (; s->ended < n && ops->end_ns[s->by_end[s->ended]] == t; s->ended++)
		s->live[ops->owner[s->by_end[s->ended]]]--;
}

/* Gives [from, to), in which nothing starts or ends, to its owner. */
static void settle(struct sweep *s, int64_t from, int64_t to)
{
	const struct fw_window *w = &s->d->window;
	enum fw_class busy = running(s);
	struct gap g = { .start_ns = from, .end_ns = to };

	if (to <= w->start_ns || from >= w->end_ns)
		return;
	if (busy != FW_CLASS_COUNT) {
		s->d->ns[busy] += min(to, w->end_ns) - max(from, w->start_ns);
		return;
	}
	find_next_kernel(s);
	g.next = s->by_start[s->started];
	g.last = s->by_end[s->ended - 1];
	cut_gap(s, &g);
}

static void sweep(struct sweep *s)
{
	int64_t now = s->t->ops.start_ns[s->by_start[0]];

	/* Before the first and after the last operation nothing tells what the GPU waited for. */
	own_without_call(s, s->d->window.start_ns, now, FW_CLASS_UNKNOWN, s->by_start[0]);
	pass(s, now);
	while (s->ended < s->d->op_count && !s->failed) {
		int64_t next = next_edge(s);

		settle(s, now, next);
		pass(s, next);
		now = next;
	}
	own_without_call(s, now, s->d->window.end_ns, FW_CLASS_UNKNOWN, FW_NONE);
}

/* Keeps the pieces, and checks that they and the classes add up. */
static fw_status finish(struct sweep *s, struct fw_error *err)
{
	struct fw_device_ledger *d = s->d;
	int64_t all = 0, idle = 0, listed = 0, window = d->window.end_ns - d->window.start_ns;
	bool is_ordered = true;
	struct fw_idle *pieces;

	d->idle_count = s->idle.len;
	pieces = s->failed ? NULL : fw_keep(s->b, &s->idle);
	if (!pieces)
		return fw_fail_nomem(err, d->idle_count * sizeof(*pieces));
	d->idle = pieces;
	for (int c = 0; c < FW_CLASS_COUNT; c++) {
		all += d->ns[c];
		idle += fw_class_is_idle((enum fw_class)c) ? d->ns[c] : 0;
	}
	for (size_t i = 0; i < d->idle_count; i++) {
		listed += pieces[i].end_ns - pieces[i].start_ns;
		is_ordered &= !i || pieces[i].start_ns >= pieces[i - 1].end_ns;
	}
	d->kernel_busy_ns = d->ns[FW_CLASS_COMPUTE] + d->ns[FW_CLASS_COLLECTIVE];
	d->gpu_busy_ns = all - idle;
	if (all != window || listed != idle || !is_ordered)
		return fw_fail(err, FW_ERR_INTERNAL,
			       "device %u: classes sum to %lld ns of a window of %lld ns, idle "
			       "pieces to %lld of %lld ns",
			       d->device, (long long)all, (long long)window, (long long)listed,
			       (long long)idle);
	return FW_OK;
}

fw_status fw_build_classes(struct fw_build *b, struct fw_device_ledger *device)
{
	struct sweep s = { .b = b,
			   .t = b->trace,
			   .d = device,
			   .by_start = device->ops,
			   .by_end = fw_device_work(b->ledger, device)->by_end,
			   .blind = &fw_device_work(b->ledger, device)->blind,
			   .idle = FW_VEC(struct fw_idle) };
	fw_status status;

	sweep(&s);
	status = finish(&s, b->err);
	fw_vec_release(&s.idle);
	return status;
}
