/* Building a ledger in its steps, and the questions that its readers ask. */
#include "ledger/build.h"

#include <stdlib.h>
#include <string.h>

/* The columns that the ledger keeps: one entry a row of the trace. */
static bool allocate_columns(struct fw_build *b)
{
	struct fw_arena *arena = &b->ledger->private->arena;
	size_t ops = b->trace->ops.len + 1, calls = b->trace->calls.len + 1;

	b->call_of_op = fw_arena_array(arena, ops, sizeof(*b->call_of_op));
	b->nth_of_op = fw_arena_array(arena, ops, sizeof(*b->nth_of_op));
	b->op_flags = fw_arena_array(arena, ops, sizeof(*b->op_flags));
	b->call_class = fw_arena_array(arena, calls, sizeof(*b->call_class));
	b->ledger->call_of_op = b->call_of_op;
	b->ledger->nth_of_op = b->nth_of_op;
	b->ledger->private->op_flags = b->op_flags;
	b->ledger->private->call_class = b->call_class;
	b->name_flags = calloc(b->trace->strings.entries.len + 1, sizeof(*b->name_flags));
	b->is_pageable = calloc(calls, sizeof(*b->is_pageable));
	return b->call_of_op && b->nth_of_op && b->op_flags && b->call_class && b->name_flags &&
	       b->is_pageable;
}

/* Past the memory limit what is kept moves to the arena, whose large blocks lie in files. */
static bool goes_to_file(const struct fw_arena *arena, size_t bytes)
{
	return arena->spill_after && arena->bytes + bytes > arena->spill_after;
}

static void *move_to_arena(struct fw_arena *arena, const struct fw_vec *vec)
{
	void *copy = fw_arena_array(arena, vec->len + 1, vec->size);

	if (copy && vec->len)
		memcpy(copy, vec->data, vec->len * vec->size);
	return copy;
}

void *fw_keep(struct fw_build *b, struct fw_vec *vec)
{
	struct fw_arena *arena = &b->ledger->private->arena;
	void **slot = NULL, *shrunk;

	if (goes_to_file(arena, vec->len * vec->size)) {
		shrunk = move_to_arena(arena, vec);
		if (shrunk)
			fw_vec_release(vec);
		return shrunk;
	}
	slot = fw_vec_push(&b->ledger->private->kept);
	if (!slot)
		return NULL;
	shrunk = realloc(vec->data, (vec->len + 1) * vec->size);
	if (!shrunk)
		return NULL;
	*slot = shrunk;
	arena->bytes += vec->len * vec->size;
	vec->data = NULL;
	vec->len = vec->cap = 0;
	return shrunk;
}

static fw_status build(struct fw_build *b)
{
	static fw_status (*const steps[])(struct fw_build *) = {
		fw_build_devices, fw_build_join,   fw_build_threads, fw_build_orders,
		fw_build_blind,   fw_build_totals, fw_build_windows,
	};
	fw_status status = FW_OK;

	for (size_t i = 0; !status && i < sizeof(steps) / sizeof(steps[0]); i++)
		status = steps[i](b);
	if (!status)
		status = fw_ledger_counters(b->ledger, b->err);
	for (size_t i = 0; !status && i < b->ledger->device_count; i++) {
		status = fw_build_classes(b, &b->ledger->devices[i]);
		if (!status)
			status = fw_ledger_kernels(b->ledger, &b->ledger->devices[i], b->err);
	}
	return status;
}

static struct fw_ledger *create(const struct fw_trace *trace)
{
	struct fw_ledger *ledger = calloc(1, sizeof(*ledger));

	if (!ledger)
		return NULL;
	ledger->trace = trace;
	ledger->private = calloc(1, sizeof(*ledger->private));
	if (!ledger->private) {
		free(ledger);
		return NULL;
	}
	ledger->private->kept = (struct fw_vec)FW_VEC(void *);
	ledger->private->arena.spill_after = (size_t)trace->columns.limit;
	return ledger;
}

fw_status fw_ledger_build(const struct fw_trace *trace, const struct fw_ledger_options *options,
			  struct fw_ledger **ledger, struct fw_error *err)
{
	struct fw_build b = { .trace = trace, .options = options, .err = err };
	fw_status status;

	*ledger = NULL;
	if (!trace->ops.len)
		return fw_fail(err, FW_ERR_FORMAT, "the trace has no GPU operations");
	b.ledger = create(trace);
	if (!b.ledger)
		return fw_fail_nomem(err, sizeof(*b.ledger));
	status = allocate_columns(&b) ? build(&b) : fw_fail_nomem(err, trace->ops.len);
	free(b.name_flags);
	free(b.is_pageable);
	if (status)
		fw_ledger_destroy(b.ledger);
	else
		*ledger = b.ledger;
	return status;
}

void fw_ledger_destroy(struct fw_ledger *ledger)
{
	void **kept;

	if (!ledger)
		return;
	kept = ledger->private->kept.data;
	for (size_t i = 0; i < ledger->private->kept.len; i++)
		free(kept[i]);
	fw_vec_release(&ledger->private->kept);
	for (size_t i = 0; ledger->private->devices && i < ledger->device_count; i++)
		fw_intervals_release(&ledger->private->devices[i].blind);
	fw_arena_release(&ledger->private->arena);
	free(ledger->private);
	free(ledger);
}

size_t fw_ledger_of_device(const struct fw_ledger *ledger, uint32_t device)
{
	uint32_t index = ledger->private->ledger_of_device[device];

	return index == FW_NONE ? SIZE_MAX : index;
}

enum fw_class fw_ledger_call_class(const struct fw_ledger *ledger, uint32_t call)
{
	return (enum fw_class)ledger->private->call_class[call];
}
