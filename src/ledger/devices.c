/* The devices of the ledger and the operations of each, in the orders that the other steps need. */
#include "ledger/build.h"

#include <stdlib.h>
#include <string.h>

/*
 * A device of the ledger for a row: the one with the same UUID, else a new one. FW_NONE: no memory.
 * Operations whose times cannot be compared lie on no common line, so there each file has its own.
 */
static uint32_t ledger_device(struct fw_build *b, struct fw_map *by_uuid, struct fw_vec *devices,
			      uint32_t row)
{
	uint32_t uuid = b->trace->devices.uuid[row];
	struct fw_device_ledger *d;
	uint64_t *slot = NULL;
	bool inserted = true;

	if (uuid && !(b->trace->blind_spots & 1u << FW_BLIND_UNALIGNED)) {
		slot = fw_map_at(by_uuid, uuid, 0, &inserted);
		if (!slot)
			return FW_NONE;
	}
	if (!inserted)
		return (uint32_t)*slot;
	d = fw_vec_push(devices);
	if (!d)
		return FW_NONE;
	d->device = row;
	if (slot)
		*slot = devices->len - 1;
	return (uint32_t)devices->len - 1;
}

/* Marks the rows of devices that have operations, with 0; the others stay FW_NONE. */
static fw_status mark_used(struct fw_build *b, uint32_t *of_row)
{
	const struct fw_trace *t = b->trace;

	for (size_t i = 0; i < t->devices.len; i++)
		of_row[i] = FW_NONE;
	for (uint32_t i = 0; i < t->ops.len; i++) {
		if (t->ops.owner[i] > FW_CLASS_MEMSET || t->ops.start_ns[i] > t->ops.end_ns[i])
			return fw_fail(b->err, FW_ERR_ARGUMENT,
				       "operation %u: owner %u, start %lld, end %lld", i,
				       t->ops.owner[i], (long long)t->ops.start_ns[i],
				       (long long)t->ops.end_ns[i]);
		of_row[fw_op_device(t, i)] = 0;
	}
	return FW_OK;
}

static fw_status number_devices(struct fw_build *b, uint32_t *of_row)
{
	struct fw_vec devices = FW_VEC(struct fw_device_ledger);
	struct fw_arena *arena = &b->ledger->private->arena;
	struct fw_map by_uuid = { 0 };
	fw_status status = FW_OK;

	for (uint32_t row = 0; row < b->trace->devices.len && !status; row++) {
		if (of_row[row] == FW_NONE)
			continue;
		of_row[row] = ledger_device(b, &by_uuid, &devices, row);
		if (of_row[row] == FW_NONE)
			status = fw_fail_nomem(b->err, devices.size);
	}
	/* Counters may be of a row without operations of its own. */
	for (uint32_t row = 0; row < b->trace->devices.len && !status; row++) {
		const uint64_t *slot = fw_map_find(&by_uuid, b->trace->devices.uuid[row], 0);

		if (of_row[row] == FW_NONE && b->trace->devices.uuid[row] && slot)
			of_row[row] = (uint32_t)*slot;
	}
	b->ledger->device_count = devices.len;
	b->ledger->devices = fw_arena_array(arena, devices.len + 1, devices.size);
	b->ledger->private->devices =
		fw_arena_array(arena, devices.len + 1, sizeof(*b->ledger->private->devices));
	if (!b->ledger->devices || !b->ledger->private->devices)
		status = fw_fail_nomem(b->err, devices.len * devices.size);
	else if (devices.len)
		memcpy(b->ledger->devices, devices.data, devices.len * devices.size);
	fw_vec_release(&devices);
	fw_map_release(&by_uuid);
	return status;
}

fw_status fw_build_devices(struct fw_build *b)
{
	struct fw_ledger_private *p = b->ledger->private;
	size_t rows = b->trace->devices.len + 1;
	uint32_t *of_row = fw_arena_array(&p->arena, rows, sizeof(*of_row));
	fw_status status;

	if (!of_row)
		return fw_fail_nomem(b->err, rows * sizeof(*of_row));
	p->ledger_of_device = of_row;
	status = mark_used(b, of_row);
	return status ? status : number_devices(b, of_row);
}

static int order(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int64_t call_start(const struct fw_build *b, uint32_t op, int64_t none)
{
	uint32_t call = b->call_of_op[op];

	return call == FW_NONE ? none : b->trace->calls.start_ns[call];
}

/* Several that start at once: the one launched first comes first. */
static int compare_starts(const void *ctx, uint32_t x, uint32_t y)
{
	const struct fw_build *b = ctx;
	int d = order(b->trace->ops.start_ns[x], b->trace->ops.start_ns[y]);

	return d ? d : order(call_start(b, x, INT64_MAX), call_start(b, y, INT64_MAX));
}

/* Several that end at once: the one launched last comes last. */
static int compare_ends(const void *ctx, uint32_t x, uint32_t y)
{
	const struct fw_build *b = ctx;
	int d = order(b->trace->ops.end_ns[x], b->trace->ops.end_ns[y]);

	return d ? d : order(call_start(b, x, INT64_MIN), call_start(b, y, INT64_MIN));
}

static int compare_launches(const void *ctx, uint32_t x, uint32_t y)
{
	const struct fw_build *b = ctx;
	int d = order(fw_call_process(b->trace, b->call_of_op[x]),
		      fw_call_process(b->trace, b->call_of_op[y]));

	d = d ? d : order(call_start(b, x, 0), call_start(b, y, 0));
	return d ? d : order(b->trace->ops.start_ns[x], b->trace->ops.start_ns[y]);
}

static int compare_first_uses(const void *ctx, uint32_t x, uint32_t y)
{
	const struct fw_build *b = ctx;
	const struct fw_trace *t = b->trace;
	int d = order(t->devices.file[fw_op_device(t, x)], t->devices.file[fw_op_device(t, y)]);

	d = d ? d : order(call_start(b, x, 0), call_start(b, y, 0));
	return d ? d : order(t->ops.start_ns[x], t->ops.start_ns[y]);
}

/* Numbers the operations of every call on one device, and marks those that are alone. */
static void number_ops(struct fw_build *b, const struct fw_device_ledger *d, uint32_t *count)
{
	for (size_t i = 0; i < d->op_count; i++) {
		uint32_t op = d->ops[i], call = b->call_of_op[op];

		b->nth_of_op[op] = call == FW_NONE ? 0 : count[call]++;
	}
	for (size_t i = 0; i < d->op_count; i++) {
		uint32_t op = d->ops[i], call = b->call_of_op[op];

		if (call != FW_NONE && count[call] == 1)
			b->op_flags[op] |= FW_OP_ALONE;
	}
	for (size_t i = 0; i < d->op_count; i++)
		if (b->call_of_op[d->ops[i]] != FW_NONE)
			count[b->call_of_op[d->ops[i]]] = 0;
}

/* When each kernel, graph, and thread that launches unnamed graphs was last seen: a round's number. */
struct seen {
	uint32_t *name, *graph, *thread;
	uint8_t *call; /* calls that brought something new */
	uint32_t round;
};

static bool is_first_use(const struct fw_build *b, struct seen *seen, uint32_t op)
{
	const struct fw_trace *t = b->trace;
	uint32_t call = b->call_of_op[op], *last;

	if (!(b->name_flags[t->calls.name[call]] & FW_NAME_GRAPH))
		last = &seen->name[t->ops.name[op]];
	else if (t->calls.graph[call])
		last = &seen->graph[t->calls.graph[call]];
	else
		last = &seen->thread[t->calls.thread[call]];
	if (*last == seen->round)
		return false;
	*last = seen->round;
	return true;
}

/* Marks the operations whose call launched a kernel or graph for the first time on the device. */
static void mark_first_uses(struct fw_build *b, const uint32_t *by_use, size_t count,
			    struct seen *seen)
{
	const struct fw_trace *t = b->trace;
	uint32_t file = FW_NONE;

	for (size_t i = 0; i < count; i++) {
		uint32_t next = t->devices.file[fw_op_device(t, by_use[i])];

		/* Ranks that share a GPU each load their own kernels. */
		if (!i || next != file)
			seen->round++;
		file = next;
		if (is_first_use(b, seen, by_use[i]))
			seen->call[b->call_of_op[by_use[i]]] = 1;
	}
	for (size_t i = 0; i < count; i++)
		if (seen->call[b->call_of_op[by_use[i]]])
			b->op_flags[by_use[i]] |= FW_OP_FIRST;
	for (size_t i = 0; i < count; i++)
		seen->call[b->call_of_op[by_use[i]]] = 0;
}

static size_t keep_launched(const struct fw_build *b, const uint32_t *ops, size_t count,
			    uint32_t *out)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (b->call_of_op[ops[i]] != FW_NONE)
			out[kept++] = ops[i];
	return kept;
}

/* d->ops holds the device's operations by row; afterwards by start, and the other orders exist. */
static bool order_device(struct fw_build *b, struct fw_device_ledger *d, struct seen *seen,
			 uint32_t *count)
{
	struct fw_device_work *w = fw_device_work(b->ledger, d);
	uint32_t *starts = (uint32_t *)d->ops, *ends, *launches;

	ends = fw_arena_array(&b->ledger->private->arena, d->op_count + 1, sizeof(*ends));
	launches = fw_arena_array(&b->ledger->private->arena, d->op_count + 1, sizeof(*launches));
	if (!ends || !launches)
		return false;
	w->by_end = ends;
	w->by_launch = launches;
	w->launched = keep_launched(b, starts, d->op_count, launches);
	if (!fw_sort_rows(launches, w->launched, compare_first_uses, b))
		return false;
	mark_first_uses(b, launches, w->launched, seen);
	if (!fw_sort_rows(starts, d->op_count, compare_starts, b))
		return false;
	number_ops(b, d, count);
	memcpy(ends, starts, d->op_count * sizeof(*ends));
	keep_launched(b, starts, d->op_count, launches);
	return fw_sort_rows(ends, d->op_count, compare_ends, b) &&
	       fw_sort_rows(launches, w->launched, compare_launches, b);
}

/* Gives every device the rows of its operations. */
static bool list_ops(struct fw_build *b)
{
	const struct fw_trace *t = b->trace;
	const uint32_t *of_row = b->ledger->private->ledger_of_device;
	struct fw_device_ledger *devices = b->ledger->devices;

	for (uint32_t i = 0; i < t->ops.len; i++)
		devices[of_row[fw_op_device(t, i)]].op_count++;
	for (size_t d = 0; d < b->ledger->device_count; d++) {
		devices[d].ops = fw_arena_array(&b->ledger->private->arena, devices[d].op_count,
						sizeof(uint32_t));
		if (!devices[d].ops)
			return false;
		devices[d].op_count = 0;
	}
	for (uint32_t i = 0; i < t->ops.len; i++) {
		struct fw_device_ledger *d = &devices[of_row[fw_op_device(t, i)]];

		((uint32_t *)d->ops)[d->op_count++] = i;
	}
	return true;
}

fw_status fw_build_orders(struct fw_build *b)
{
	const struct fw_trace *t = b->trace;
	struct seen seen = { 0 };
	uint32_t *count = calloc(t->calls.len + 1, sizeof(*count));
	bool ok;

	seen.name = calloc(t->strings.entries.len + 1, sizeof(*seen.name));
	seen.graph = calloc(t->strings.entries.len + 1, sizeof(*seen.graph));
	seen.thread = calloc(t->threads.len + 1, sizeof(*seen.thread));
	seen.call = calloc(t->calls.len + 1, sizeof(*seen.call));
	ok = count && seen.name && seen.graph && seen.thread && seen.call && list_ops(b);
	for (size_t d = 0; ok && d < b->ledger->device_count; d++)
		ok = order_device(b, &b->ledger->devices[d], &seen, count);
	free(count);
	free(seen.name);
	free(seen.graph);
	free(seen.thread);
	free(seen.call);
	return ok ? FW_OK : fw_fail_nomem(b->err, t->ops.len * sizeof(uint32_t));
}
