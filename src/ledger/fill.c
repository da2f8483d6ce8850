/* The compute nanoseconds of a window by how full the GPU can have been: docs/ledger-fill.md. */
#include "ledger/counters_build.h"
#include "ledger/fit.h"

#include <stdlib.h>

/* Under this share of the warps that an SM can hold, occupancy is named as the limit. */
#define LOW_OCCUPANCY 0.5

static const struct {
	const char *id, *text;
} fills[FW_FILL_COUNT] = {
	[FW_FILL_GRID_LIMITED] = { "grid-limited", "fewer blocks than the GPU holds at once" },
	[FW_FILL_TAIL] = { "tail", "the last wave of blocks was not whole: its empty places" },
	[FW_FILL_OCCUPANCY] = { "occupancy",
				"enough blocks, but each SM holds under half of its warps" },
	[FW_FILL_FULL] = { "full", "enough blocks, and each SM holds half of its warps or more" },
	[FW_FILL_UNKNOWN] = { "unknown", "launch or GPU not known, or several kernels at once" },
};

const char *fw_fill_id(enum fw_fill fill)
{
	return fills[fill].id;
}

const char *fw_fill_text(enum fw_fill fill)
{
	return fills[fill].text;
}

/* What ran between two instants at which something began or ended. */
struct sweep {
	const struct fw_ledger *ledger;
	struct fw_device_ledger *device;
	struct fw_map rows; /* (name, shape) -> row of kernels */
	int64_t *alone_ns;  /* by row: time in which only this kernel ran */
	size_t computing,
		others; /* kernels that are not collectives, and the rest of what computes */
	/* The stretch in which only the kernels of one row run, up to now. */
	struct fw_kernel_row *table;
	uint64_t alone_row;
	int64_t alone_start, alone_end; /* equal: there is none */
	struct fw_counter_cursor cursor;
	uint64_t ops; /* sum of the numbers of those counted in computing: of one, its own */
};

static bool index_rows(struct sweep *s, const struct fw_kernel_row *rows)
{
	s->alone_ns = calloc(s->device->kernel_count + 1, sizeof(*s->alone_ns));
	if (!s->alone_ns)
		return false;
	for (size_t i = 0; i < s->device->kernel_count; i++) {
		uint64_t *slot = fw_map_at(&s->rows, rows[i].name, rows[i].shape, NULL);

		if (!slot)
			return false;
		*slot = i;
	}
	return true;
}

static void turn(struct sweep *s, uint32_t op, bool begins)
{
	uint8_t owner = s->ledger->trace->ops.owner[op];
	size_t one = begins ? 1 : (size_t)-1;

	if (owner == FW_CLASS_COMPUTE) {
		s->computing += one;
		s->ops += begins ? op : -(uint64_t)op;
	} else if (owner == FW_CLASS_COLLECTIVE || owner == FW_CLASS_GRAPH_OPAQUE) {
		s->others += one;
	}
}

/* The samples of the stretch that ends here. */
static void end_stretch(struct sweep *s)
{
	if (s->alone_end > s->alone_start)
		fw_counters_credit(s->ledger, s->device, &s->cursor, &s->table[s->alone_row],
				   s->alone_start, s->alone_end);
	s->alone_start = s->alone_end;
}

static void extend_stretch(struct sweep *s, uint64_t row, int64_t start, int64_t end)
{
	if (s->alone_end == s->alone_start || s->alone_end != start || s->alone_row != row) {
		end_stretch(s);
		s->alone_row = row;
		s->alone_start = start;
	}
	s->alone_end = end;
}

static void credit(struct sweep *s, int64_t start, int64_t end)
{
	const struct fw_trace_ops *ops = &s->ledger->trace->ops;
	const struct fw_window *w = &s->device->window;
	const uint64_t *row = NULL;

	start = start > w->start_ns ? start : w->start_ns;
	end = end < w->end_ns ? end : w->end_ns;
	if (start >= end || !s->computing)
		return;
	if (s->computing == 1 && !s->others)
		row = fw_map_find(&s->rows, ops->name[s->ops], ops->detail[s->ops]);
	if (row) {
		s->alone_ns[*row] += end - start;
		extend_stretch(s, *row, start, end);
	} else {
		s->device->fill_ns[FW_FILL_UNKNOWN] += end - start;
	}
}

/* At one instant all beginnings come before all ends, so that no count goes below 0. */
static void sweep(struct sweep *s)
{
	const struct fw_trace_ops *ops = &s->ledger->trace->ops;
	const uint32_t *by_end = fw_device_work(s->ledger, s->device)->by_end;
	size_t n = s->device->op_count, i = 0, j = 0;
	int64_t last = 0;

	while (j < n) {
		int64_t now = ops->end_ns[by_end[j]];

		if (i < n && ops->start_ns[s->device->ops[i]] < now)
			now = ops->start_ns[s->device->ops[i]];
		credit(s, last, now);
		for (; i < n && ops->start_ns[s->device->ops[i]] == now; i++)
			turn(s, s->device->ops[i], true);
		for (; j < n && ops->end_ns[by_end[j]] == now; j++)
			turn(s, by_end[j], false);
		last = now;
	}
	end_stretch(s);
}

/*
 * Splits time of one launch configuration. With at least one wave, the places that stay empty in the
 * last one are 1 - waves / ceil(waves) of all: an upper bound for even blocks.
 */
static void split(const struct fw_fit *fit, int64_t ns, int64_t out[FW_FILL_COUNT])
{
	uint64_t places, empty;
	int64_t tail;

	if (!fit->capacity) {
		out[FW_FILL_UNKNOWN] += ns;
		return;
	}
	if (fit->grid < fit->capacity) {
		out[FW_FILL_GRID_LIMITED] += ns;
		return;
	}
	empty = (fit->capacity - fit->grid % fit->capacity) % fit->capacity;
	places = fit->grid + empty;
	tail = (int64_t)((unsigned __int128)ns * empty / places);
	out[FW_FILL_TAIL] += tail;
	out[fit->occupancy < LOW_OCCUPANCY ? FW_FILL_OCCUPANCY : FW_FILL_FULL] += ns - tail;
}

static enum fw_fill largest(const int64_t ns[FW_FILL_COUNT])
{
	int most = FW_FILL_UNKNOWN;

	for (int i = 0; i < FW_FILL_COUNT; i++)
		if (ns[i] > ns[most])
			most = i;
	return (enum fw_fill)most;
}

/* Where a kernel's time went, with the time beside other kernels as unknown. */
static void fill_rows(struct sweep *s, struct fw_kernel_row *rows)
{
	for (size_t i = 0; i < s->device->kernel_count; i++) {
		int64_t ns[FW_FILL_COUNT] = { 0 };
		struct fw_fit fit;

		fw_fit_shape(s->ledger->trace, s->device->device, rows[i].shape, &fit);
		split(&fit, s->alone_ns[i], ns);
		for (int f = 0; f < FW_FILL_COUNT; f++)
			s->device->fill_ns[f] += ns[f];
		ns[FW_FILL_UNKNOWN] += rows[i].total_ns - s->alone_ns[i];
		rows[i].fill = largest(ns);
	}
}

static fw_status check_sum(const struct fw_device_ledger *device, struct fw_error *err)
{
	int64_t sum = 0;

	for (int f = 0; f < FW_FILL_COUNT; f++)
		sum += device->fill_ns[f];
	if (sum == device->ns[FW_CLASS_COMPUTE])
		return FW_OK;
	return fw_fail(err, FW_ERR_INTERNAL, "device %u: fill sums to %lld of %lld ns of compute",
		       device->device, (long long)sum, (long long)device->ns[FW_CLASS_COMPUTE]);
}

fw_status fw_ledger_fill(struct fw_ledger *ledger, struct fw_device_ledger *device,
			 struct fw_kernel_row *rows, struct fw_error *err)
{
	struct sweep s = { .ledger = ledger, .device = device, .table = rows };
	bool ok = index_rows(&s, rows);

	if (ok) {
		sweep(&s);
		fill_rows(&s, rows);
	}
	free(s.alone_ns);
	fw_map_release(&s.rows);
	return ok ? check_sum(device, err) : fw_fail_nomem(err, device->kernel_count);
}
