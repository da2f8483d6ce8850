/*
 * Which call launched which operation. Calls and operations are sorted by (scope, correlation id,
 * start) and walked side by side. The scope is the process where the operation's record names one,
 * else the file.
 */
#include "ledger/build.h"

#include <stdlib.h>

struct join {
	struct fw_build *b;
	bool by_process;
	uint32_t *calls, *ops;
	size_t call_count, op_count;
	uint32_t *group_of_thread; /* the last group in which the thread had a call, from 1 */
	uint32_t group;
};

static uint32_t scope_of_call(const struct join *j, uint32_t call)
{
	uint32_t process = fw_call_process(j->b->trace, call);

	return j->by_process ? process : j->b->trace->processes.file[process];
}

static uint32_t scope_of_op(const struct join *j, uint32_t op)
{
	const struct fw_trace *t = j->b->trace;

	return j->by_process ? t->ops.process[op] : t->devices.file[fw_op_device(t, op)];
}

static int order(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* The outermost of calls recorded twice comes first. */
static int compare_calls(const void *ctx, uint32_t a, uint32_t b)
{
	const struct join *j = ctx;
	const struct fw_trace_calls *c = &j->b->trace->calls;
	int d = order(scope_of_call(j, a), scope_of_call(j, b));

	d = d ? d : order(c->corr[a], c->corr[b]);
	d = d ? d : order(c->start_ns[a], c->start_ns[b]);
	return d ? d : order(c->end_ns[b], c->end_ns[a]);
}

static int compare_ops(const void *ctx, uint32_t a, uint32_t b)
{
	const struct join *j = ctx;
	const struct fw_trace_ops *o = &j->b->trace->ops;
	int d = order(scope_of_op(j, a), scope_of_op(j, b));

	d = d ? d : order(o->corr[a], o->corr[b]);
	return d ? d : order(o->start_ns[a], o->start_ns[b]);
}

/* Where an operation's key stands against a call's. */
static int compare_keys(const struct join *j, uint32_t op, uint32_t call)
{
	int d = order(scope_of_op(j, op), scope_of_call(j, call));

	return d ? d : order(j->b->trace->ops.corr[op], j->b->trace->calls.corr[call]);
}

static bool is_pageable(const struct fw_trace *t, uint32_t op)
{
	uint32_t detail = t->ops.detail[op];

	return t->ops.kind[op] == FW_OP_COPY && detail != FW_NONE &&
	       (t->transfers.src[detail] == FW_MEM_PAGEABLE ||
		t->transfers.dst[detail] == FW_MEM_PAGEABLE);
}

/* Keeps the first call of each thread; returns how many. */
static size_t outermost(struct join *j, uint32_t *calls, size_t count)
{
	const uint32_t *thread = j->b->trace->calls.thread;
	size_t kept = 0;

	j->group++;
	for (size_t i = 0; i < count; i++) {
		if (j->group_of_thread[thread[calls[i]]] == j->group)
			continue;
		j->group_of_thread[thread[calls[i]]] = j->group;
		calls[kept++] = calls[i];
	}
	return kept;
}

/* Calls and operations of one key: the latest call begun by the operation's start, else the first. */
static void join_group(struct join *j, uint32_t *calls, size_t call_count, const uint32_t *ops,
		       size_t op_count)
{
	const struct fw_trace *t = j->b->trace;
	bool pageable = false;
	size_t at = 0;

	for (size_t i = 0; i < op_count; i++)
		pageable |= is_pageable(t, ops[i]);
	for (size_t i = 0; pageable && i < call_count; i++)
		j->b->is_pageable[calls[i]] = 1;
	if (t->ops.corr[ops[0]] == FW_CORR_NONE || !t->ops.corr[ops[0]])
		return;
	call_count = outermost(j, calls, call_count);
	for (size_t i = 0; i < op_count; i++) {
		while (at + 1 < call_count &&
		       t->calls.start_ns[calls[at + 1]] <= t->ops.start_ns[ops[i]])
			at++;
		j->b->call_of_op[ops[i]] = calls[at];
	}
}

static void join_sorted(struct join *j)
{
	size_t c = 0, o = 0;

	while (c < j->call_count && o < j->op_count) {
		int d = compare_keys(j, j->ops[o], j->calls[c]);
		size_t calls = 1, ops = 1;

		if (d) {
			*(d < 0 ? &o : &c) += 1;
			continue;
		}
		while (c + calls < j->call_count &&
		       !compare_keys(j, j->ops[o], j->calls[c + calls]))
			calls++;
		while (o + ops < j->op_count && !compare_keys(j, j->ops[o + ops], j->calls[c]))
			ops++;
		join_group(j, j->calls + c, calls, j->ops + o, ops);
		c += calls;
		o += ops;
	}
}

/* Operations whose record names a process, or those whose record does not. */
static size_t pick_ops(struct join *j)
{
	const struct fw_trace_ops *ops = &j->b->trace->ops;

	j->op_count = 0;
	for (uint32_t i = 0; i < ops->len; i++)
		if ((ops->process[i] != FW_NONE) == j->by_process)
			j->ops[j->op_count++] = i;
	return j->op_count;
}

static bool join_pass(struct join *j, bool by_process)
{
	j->by_process = by_process;
	if (!pick_ops(j))
		return true;
	for (uint32_t i = 0; i < j->call_count; i++)
		j->calls[i] = i;
	if (!fw_sort_rows(j->calls, j->call_count, compare_calls, j) ||
	    !fw_sort_rows(j->ops, j->op_count, compare_ops, j))
		return false;
	join_sorted(j);
	return true;
}

fw_status fw_build_join(struct fw_build *b)
{
	const struct fw_trace *t = b->trace;
	struct join j = { .b = b, .call_count = t->calls.len };
	bool ok;

	for (size_t i = 0; i < t->ops.len; i++)
		b->call_of_op[i] = FW_NONE;
	j.calls = malloc((t->calls.len + 1) * sizeof(*j.calls));
	j.ops = malloc((t->ops.len + 1) * sizeof(*j.ops));
	j.group_of_thread = calloc(t->threads.len + 1, sizeof(*j.group_of_thread));
	ok = j.calls && j.ops && j.group_of_thread && join_pass(&j, true) && join_pass(&j, false);
	free(j.calls);
	free(j.ops);
	free(j.group_of_thread);
	return ok ? FW_OK : fw_fail_nomem(b->err, t->calls.len * sizeof(*j.calls));
}
