/* What every host thread was doing: its calls by class, and its time as two timelines. */
#include "ledger/build.h"

#include <stdlib.h>

/* A call longer than this is start-up work (the process's first of its name) or a stall. */
#define LONG_CALL_NS 1000000

static uint8_t flags_of(struct fw_build *b, uint32_t call)
{
	uint32_t name = b->trace->calls.name[call];

	if (!b->name_flags[name])
		b->name_flags[name] = fw_name_flags(fw_trace_text(b->trace, name));
	return b->name_flags[name];
}

/* True when call a comes before b among calls of one name: begun earlier, or at once and outside. */
static bool is_before(const struct fw_trace_calls *c, uint32_t a, uint32_t b)
{
	if (c->start_ns[a] != c->start_ns[b])
		return c->start_ns[a] < c->start_ns[b];
	return c->end_ns[a] > c->end_ns[b];
}

/* For each process and name the first call, by (process, name). */
static bool find_first_calls(struct fw_build *b, struct fw_map *first)
{
	const struct fw_trace_calls *c = &b->trace->calls;

	for (uint32_t i = 0; i < c->len; i++) {
		bool inserted;
		uint64_t *slot =
			fw_map_at(first, fw_call_process(b->trace, i), c->name[i], &inserted);

		if (!slot)
			return false;
		if (inserted || is_before(c, i, (uint32_t)*slot))
			*slot = i;
	}
	return true;
}

static enum fw_class classify(struct fw_build *b, const struct fw_map *first, uint32_t call)
{
	const struct fw_trace_calls *c = &b->trace->calls;
	uint8_t flags = flags_of(b, call);
	const uint64_t *slot = fw_map_find(first, fw_call_process(b->trace, call), c->name[call]);

	if (flags & FW_NAME_SYNC)
		return FW_CLASS_SYNC;
	if (flags & FW_NAME_COPY && (!(flags & FW_NAME_ASYNC) || b->is_pageable[call]))
		return FW_CLASS_BLOCKING_COPY;
	if (flags & FW_NAME_ONE_TIME)
		return FW_CLASS_ONE_TIME;
	if (c->end_ns[call] - c->start_ns[call] > LONG_CALL_NS && !(flags & FW_NAME_MOVES) &&
	    slot && *slot == call)
		return FW_CLASS_ONE_TIME;
	return flags & FW_NAME_ALLOC ? FW_CLASS_ALLOC : FW_CLASS_API;
}

static bool classify_calls(struct fw_build *b)
{
	struct fw_map first = { 0 };
	bool ok = find_first_calls(b, &first);

	for (uint32_t i = 0; ok && i < b->trace->calls.len; i++)
		b->call_class[i] = (uint8_t)classify(b, &first, i);
	fw_map_release(&first);
	return ok;
}

/* Rows of one table that have a start, an end and a thread. */
struct rows {
	const int64_t *start_ns, *end_ns;
	const uint32_t *thread;
	const uint8_t *kind; /* of ranges: only those that can own time count; NULL: all do */
	size_t len;
};

static int compare_starts(const void *ctx, uint32_t a, uint32_t b)
{
	const struct rows *r = ctx;

	if (r->start_ns[a] != r->start_ns[b])
		return r->start_ns[a] < r->start_ns[b] ? -1 : 1;
	return (r->end_ns[a] < r->end_ns[b]) - (r->end_ns[a] > r->end_ns[b]);
}

static bool is_kept(const struct rows *r, size_t i, size_t threads)
{
	return r->thread[i] < threads && (!r->kind || fw_range_class(r->kind[i]) != FW_CLASS_COUNT);
}

/*
 * The rows of every thread, by start: those of thread i are (*out)[ends[i - 1] .. ends[i]). out is
 * the ledger's, ends the caller's.
 */
static bool group_by_thread(struct fw_build *b, const struct rows *r, uint32_t **out, size_t **ends)
{
	size_t threads = b->trace->threads.len, *at = calloc(threads + 2, sizeof(*at));
	bool ok = true;

	*ends = at;
	*out = fw_arena_array(&b->ledger->private->arena, r->len + 1, sizeof(**out));
	if (!at || !*out)
		return false;
	for (size_t i = 0; i < r->len; i++)
		if (is_kept(r, i, threads))
			at[r->thread[i] + 1]++;
	for (size_t i = 1; i <= threads; i++)
		at[i] += at[i - 1];
	for (size_t i = 0; i < r->len; i++)
		if (is_kept(r, i, threads))
			(*out)[at[r->thread[i]]++] = (uint32_t)i;
	for (size_t i = 0, from = 0; ok && i < threads; from = at[i++])
		ok = fw_sort_rows(*out + from, at[i] - from, compare_starts, r);
	return ok;
}

/* The rows of one table, thread by thread: those of thread i end at ends[i]. */
struct listed {
	uint32_t *rows;
	size_t *ends;
};

static const uint32_t *rows_of(const struct listed *l, size_t thread, size_t *count)
{
	size_t from = thread ? l->ends[thread - 1] : 0;

	*count = l->ends[thread] - from;
	return l->rows + from;
}

/* Gives every thread its calls, its ranges and the times in which it was off its CPU. */
static bool list_rows(struct fw_build *b)
{
	const struct fw_trace_calls *c = &b->trace->calls;
	const struct fw_trace_ranges *r = &b->trace->ranges;
	const struct fw_trace_switches *o = &b->trace->switches;
	const struct rows tables[] = {
		{ c->start_ns, c->end_ns, c->thread, NULL, c->len },
		{ r->start_ns, r->end_ns, r->thread, r->kind, r->len },
		{ o->start_ns, o->end_ns, o->thread, NULL, o->len },
	};
	struct fw_thread_work *threads = b->ledger->private->threads;
	struct listed lists[3] = { { NULL, NULL } };
	bool ok = true;

	for (int i = 0; ok && i < 3; i++)
		ok = group_by_thread(b, &tables[i], &lists[i].rows, &lists[i].ends);
	for (size_t i = 0; ok && i < b->trace->threads.len; i++) {
		threads[i].calls = rows_of(&lists[0], i, &threads[i].call_count);
		threads[i].ranges = rows_of(&lists[1], i, &threads[i].range_count);
		threads[i].switches = rows_of(&lists[2], i, &threads[i].switch_count);
	}
	for (int i = 0; i < 3; i++)
		free(lists[i].ends);
	return ok;
}

static void count_launches(struct fw_build *b)
{
	const struct fw_trace_ops *ops = &b->trace->ops;

	for (size_t i = 0; i < ops->len; i++) {
		uint32_t call = b->call_of_op[i];
		struct fw_thread_work *w;

		if (call == FW_NONE)
			continue;
		w = &b->ledger->private->threads[b->trace->calls.thread[call]];
		w->ops++;
		w->kernels += ops->kind[i] == FW_OP_KERNEL || ops->kind[i] == FW_OP_GRAPH;
	}
}

fw_status fw_build_threads(struct fw_build *b)
{
	struct fw_ledger_private *p = b->ledger->private;

	p->threads = fw_arena_array(&p->arena, b->trace->threads.len + 1, sizeof(*p->threads));
	if (!p->threads || !classify_calls(b) || !list_rows(b) || !fw_build_timelines(b))
		return fw_fail_nomem(b->err, b->trace->calls.len * sizeof(uint32_t));
	count_launches(b);
	return FW_OK;
}
