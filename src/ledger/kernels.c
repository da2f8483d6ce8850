/* The operations of a device's window -> one row for each kernel and launch configuration. */
#include "ledger/fit.h"
#include "ledger/ledger_private.h"

#include <stdlib.h>
#include <string.h>

struct table {
	const struct fw_trace *trace;
	struct fw_vec rows;  /* struct fw_kernel_row */
	struct fw_map index; /* (name, shape) -> row */
};

static bool overlaps(const struct fw_window *w, int64_t start, int64_t end)
{
	return start < w->end_ns && (end > w->start_ns || start >= w->start_ns);
}

static struct fw_kernel_row *row_of(struct table *table, uint32_t name, uint32_t shape)
{
	bool inserted;
	uint64_t *slot = fw_map_at(&table->index, name, shape, &inserted);
	struct fw_kernel_row *row;

	if (!slot)
		return NULL;
	if (!inserted)
		return (struct fw_kernel_row *)table->rows.data + *slot;
	*slot = table->rows.len;
	row = fw_vec_push(&table->rows);
	if (row)
		*row = (struct fw_kernel_row){ .name = name, .shape = shape, .min_ns = INT64_MAX };
	return row;
}

/* The time inside the window counts; the shortest and the longest are of whole launches. */
static bool add_launch(struct table *table, const struct fw_window *w, uint32_t op)
{
	const struct fw_trace_ops *ops = &table->trace->ops;
	int64_t start = ops->start_ns[op], end = ops->end_ns[op];
	struct fw_kernel_row *row;

	if (ops->kind[op] != FW_OP_KERNEL || !overlaps(w, start, end))
		return true;
	row = row_of(table, ops->name[op], ops->detail[op]);
	if (!row)
		return false;
	row->count++;
	row->min_ns = end - start < row->min_ns ? end - start : row->min_ns;
	row->max_ns = end - start > row->max_ns ? end - start : row->max_ns;
	row->total_ns +=
		(end < w->end_ns ? end : w->end_ns) - (start > w->start_ns ? start : w->start_ns);
	return true;
}

static void describe(const struct table *table, uint32_t device)
{
	struct fw_kernel_row *rows = table->rows.data;

	for (size_t i = 0; i < table->rows.len; i++) {
		struct fw_fit fit;

		fw_fit_shape(table->trace, device, rows[i].shape, &fit);
		rows[i].occupancy = fit.occupancy;
		rows[i].limiters = fit.limiters;
		rows[i].blocks_per_sm = fit.blocks_per_sm;
		rows[i].waves = fit.waves;
		rows[i].fill = FW_FILL_UNKNOWN;
	}
}

/* Longest first; of equal ones by name, then in the order in which configurations were met. */
static int compare(const void *ctx, uint32_t a, uint32_t b)
{
	const struct table *table = ctx;
	const struct fw_kernel_row *x = (const struct fw_kernel_row *)table->rows.data + a;
	const struct fw_kernel_row *y = (const struct fw_kernel_row *)table->rows.data + b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return strcmp(fw_trace_text(table->trace, x->name), fw_trace_text(table->trace, y->name));
}

/* The rows in the order of the table, in the ledger's memory. */
static struct fw_kernel_row *arrange(const struct table *table, struct fw_arena *arena)
{
	const struct fw_kernel_row *rows = table->rows.data;
	size_t n = table->rows.len;
	struct fw_kernel_row *out = fw_arena_array(arena, n + 1, sizeof(*out));
	uint32_t *order = malloc((n + 1) * sizeof(*order));
	bool ok = out && order;

	for (size_t i = 0; ok && i < n; i++)
		order[i] = (uint32_t)i;
	ok = ok && fw_sort_rows(order, n, compare, table);
	for (size_t i = 0; ok && i < n; i++)
		out[i] = rows[order[i]];
	free(order);
	return ok ? out : NULL;
}

fw_status fw_ledger_kernels(struct fw_ledger *ledger, struct fw_device_ledger *device,
			    struct fw_error *err)
{
	struct table table = { .trace = ledger->trace, .rows = FW_VEC(struct fw_kernel_row) };
	struct fw_kernel_row *rows = NULL;
	bool ok = true;

	for (size_t i = 0; ok && i < device->op_count; i++)
		ok = add_launch(&table, &device->window, device->ops[i]);
	if (ok) {
		describe(&table, device->device);
		rows = arrange(&table, &ledger->private->arena);
	}
	device->kernels = rows;
	device->kernel_count = rows ? table.rows.len : 0;
	fw_vec_release(&table.rows);
	fw_map_release(&table.index);
	return rows ? fw_ledger_fill(ledger, device, rows, err)
		    : fw_fail_nomem(err, device->op_count * sizeof(*rows));
}
