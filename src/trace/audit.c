/* What only the whole trace tells of its damage: calls and operations matched by correlation id. */
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

/*
 * Calls found by a key that is computed from the row. Ids are mostly given one after the other, so
 * groups of 64 of them lie together: the table is filled and searched nearly in sequence.
 */
struct lookup {
	const struct fw_trace *trace;
	uint32_t *slots; /* row of calls + 1; 0: free */
	size_t mask;
	bool by_thread; /* the key is (thread, id); else (file, id) */
};

static bool has_id(int64_t corr)
{
	return corr != 0 && corr != FW_CORR_NONE;
}

static uint32_t scope_of(const struct lookup *l, uint32_t call)
{
	const struct fw_trace *t = l->trace;
	uint32_t thread = t->calls.thread[call];

	return l->by_thread ? thread : t->processes.file[t->threads.process[thread]];
}

static uint32_t *slot_of(const struct lookup *l, uint32_t scope, int64_t corr)
{
	uint64_t group = fw_hash_u64((uint64_t)corr >> 6 ^ (uint64_t)scope << 40);
	size_t i = (size_t)(group << 6 | ((uint64_t)corr & 63)) & l->mask;

	for (; l->slots[i]; i = (i + 1) & l->mask) {
		uint32_t call = l->slots[i] - 1;

		if (l->trace->calls.corr[call] == corr && scope_of(l, call) == scope)
			break;
	}
	return &l->slots[i];
}

static uint64_t count_duplicates(const struct lookup *l)
{
	const struct fw_trace_calls *calls = &l->trace->calls;
	uint64_t n = 0;

	for (uint32_t i = 0; i < calls->len; i++) {
		uint32_t *slot;

		if (!has_id(calls->corr[i]))
			continue;
		slot = slot_of(l, scope_of(l, i), calls->corr[i]);
		n += *slot != 0;
		if (!*slot)
			*slot = i + 1;
	}
	return n;
}

/* The earliest call of every id. */
static void index_earliest(const struct lookup *l)
{
	const struct fw_trace_calls *calls = &l->trace->calls;

	for (uint32_t i = 0; i < calls->len; i++) {
		uint32_t *slot;

		if (!has_id(calls->corr[i]))
			continue;
		slot = slot_of(l, scope_of(l, i), calls->corr[i]);
		if (!*slot || calls->start_ns[i] < calls->start_ns[*slot - 1])
			*slot = i + 1;
	}
}

static uint64_t count_early(const struct lookup *l)
{
	const struct fw_trace *t = l->trace;
	uint64_t n = 0;

	for (uint32_t i = 0; i < t->ops.len; i++) {
		uint32_t file = t->devices.file[fw_op_device(t, i)], call;

		if (!has_id(t->ops.corr[i]))
			continue;
		call = *slot_of(l, file, t->ops.corr[i]);
		n += call && t->ops.start_ns[i] < t->calls.start_ns[call - 1];
	}
	return n;
}

fw_status fw_trace_audit(struct fw_trace *trace, struct fw_error *err)
{
	struct lookup l = { .trace = trace };
	size_t cap = 128;

	while (cap < 2 * trace->calls.len)
		cap *= 2;
	l.mask = cap - 1;
	l.slots = calloc(cap, sizeof(*l.slots));
	if (!l.slots)
		return fw_fail_nomem(err, cap * sizeof(*l.slots));
	l.by_thread = true;
	trace->integrity.duplicate_calls += count_duplicates(&l);
	memset(l.slots, 0, cap * sizeof(*l.slots));
	l.by_thread = false;
	index_earliest(&l);
	trace->integrity.early_starts += count_early(&l);
	free(l.slots);
	return FW_OK;
}
