/* Whole-trace figures of each device: counts, unions, copies by kind, synchronisation calls. */
#include "ledger/build.h"

#include <stdlib.h>
#include <string.h>

/* A union of intervals that come in order of start. */
struct cover {
	int64_t start_ns, end_ns, busy_ns, longest_gap_ns;
	bool any;
};

static void cover_add(struct cover *c, int64_t start, int64_t end)
{
	if (!c->any) {
		*c = (struct cover){ start, end, end - start, 0, true };
		return;
	}
	if (start > c->end_ns) {
		if (start - c->end_ns > c->longest_gap_ns)
			c->longest_gap_ns = start - c->end_ns;
		c->busy_ns += end - start;
	} else if (end > c->end_ns) {
		c->busy_ns += end - c->end_ns;
	}
	if (end > c->end_ns)
		c->end_ns = end;
}

static void total_times(const struct fw_trace *t, struct fw_device_ledger *d)
{
	struct cover all = { 0 }, kernels = { 0 };
	struct fw_device_totals *out = &d->totals;

	for (size_t i = 0; i < d->op_count; i++) {
		uint32_t op = d->ops[i];
		int64_t start = t->ops.start_ns[op], end = t->ops.end_ns[op];

		cover_add(&all, start, end);
		out->memsets += t->ops.kind[op] == FW_OP_MEMSET;
		if (t->ops.kind[op] != FW_OP_KERNEL)
			continue;
		cover_add(&kernels, start, end);
		out->kernels++;
		out->kernel_sum_ns += end - start;
	}
	out->kernel_busy_ns = kernels.busy_ns;
	out->gpu_busy_ns = all.busy_ns;
	out->span_ns = all.end_ns - all.start_ns;
	out->longest_gap_ns = all.longest_gap_ns;
}

/* The name without the word Memcpy and the blanks around; NULL when memory is out. */
static const char *copy_kind(struct fw_arena *arena, const char *name)
{
	const char *word = strstr(name, "Memcpy"), *rest = word ? word + strlen("Memcpy") : "";
	size_t before = word ? (size_t)(word - name) : strlen(name);
	char *kind = fw_arena_printf(arena, "%.*s%s", (int)before, name, rest);
	size_t len;

	if (!kind)
		return NULL;
	kind += strspn(kind, " ");
	len = strlen(kind);
	while (len && kind[len - 1] == ' ')
		kind[--len] = '\0';
	return kind;
}

static int by_kind(const void *a, const void *b)
{
	return strcmp(((const struct fw_copy_total *)a)->kind,
		      ((const struct fw_copy_total *)b)->kind);
}

static struct fw_copy_total *copy_total(struct fw_build *b, struct fw_map *rows, struct fw_vec *out,
					uint32_t name)
{
	bool inserted;
	uint64_t *slot = fw_map_at(rows, name, 0, &inserted);
	struct fw_copy_total *row;

	if (!slot)
		return NULL;
	if (!inserted)
		return (struct fw_copy_total *)out->data + *slot;
	row = fw_vec_push(out);
	if (!row)
		return NULL;
	*slot = out->len - 1;
	row->kind = copy_kind(&b->ledger->private->arena, fw_trace_text(b->trace, name));
	return row->kind ? row : NULL;
}

static void add_bytes(const struct fw_trace *t, uint32_t op, struct fw_copy_total *row)
{
	uint32_t detail = t->ops.detail[op];
	int64_t bytes = detail == FW_NONE ? -1 : t->transfers.bytes[detail];

	row->count++;
	/* One copy of unknown size makes the sum unknown; so does one too large to be true. */
	if (bytes < 0 || row->bytes < 0 || __builtin_add_overflow(row->bytes, bytes, &row->bytes))
		row->bytes = -1;
}

static bool total_copies(struct fw_build *b, struct fw_device_ledger *d)
{
	struct fw_vec out = FW_VEC(struct fw_copy_total);
	struct fw_map rows = { 0 };
	struct fw_copy_total *copies;
	bool ok = true;

	for (size_t i = 0; ok && i < d->op_count; i++) {
		struct fw_copy_total *row;

		if (b->trace->ops.kind[d->ops[i]] != FW_OP_COPY)
			continue;
		row = copy_total(b, &rows, &out, b->trace->ops.name[d->ops[i]]);
		ok = row != NULL;
		if (ok)
			add_bytes(b->trace, d->ops[i], row);
	}
	copies = fw_arena_array(&b->ledger->private->arena, out.len + 1, sizeof(*copies));
	ok = ok && copies;
	if (ok && out.len) {
		qsort(out.data, out.len, sizeof(*copies), by_kind);
		memcpy(copies, out.data, out.len * sizeof(*copies));
	}
	d->copies = copies;
	d->copy_count = out.len;
	fw_map_release(&rows);
	fw_vec_release(&out);
	return ok;
}

/* Synchronisation calls of one file. */
struct syncs {
	int64_t count, ns;
};

/* Calls recorded twice, as runtime and as driver call, have one id: the longest stands for both. */
static bool find_longest(struct fw_build *b, struct fw_map *longest)
{
	const struct fw_trace_calls *c = &b->trace->calls;

	for (uint32_t i = 0; i < c->len; i++) {
		bool inserted;
		uint64_t *slot;

		if (b->call_class[i] != FW_CLASS_SYNC || c->corr[i] == FW_CORR_NONE)
			continue;
		slot = fw_map_at(longest, fw_call_process(b->trace, i), (uint64_t)c->corr[i],
				 &inserted);
		if (!slot)
			return false;
		if (inserted ||
		    c->end_ns[i] - c->start_ns[i] > c->end_ns[*slot] - c->start_ns[*slot])
			*slot = i;
	}
	return true;
}

static bool count_syncs(struct fw_build *b, struct syncs *files)
{
	const struct fw_trace_calls *c = &b->trace->calls;
	struct fw_map longest = { 0 };
	bool ok = find_longest(b, &longest);

	for (uint32_t i = 0; ok && i < c->len; i++) {
		uint32_t process = fw_call_process(b->trace, i);
		const uint64_t *slot;
		struct syncs *s = &files[b->trace->processes.file[process]];

		if (b->call_class[i] != FW_CLASS_SYNC)
			continue;
		slot = fw_map_find(&longest, process, (uint64_t)c->corr[i]);
		if (slot && *slot != i)
			continue;
		s->count++;
		s->ns += c->end_ns[i] - c->start_ns[i];
	}
	fw_map_release(&longest);
	return ok;
}

/* Adds to every device what its files have: several where ranks share the GPU. */
static bool total_syncs(struct fw_build *b)
{
	const struct fw_trace *t = b->trace;
	struct syncs *files = calloc(t->files.len + 1, sizeof(*files));
	struct fw_map added = { 0 };
	bool ok = files && count_syncs(b, files);

	for (size_t row = 0; ok && row < t->devices.len; row++) {
		uint32_t file = t->devices.file[row], d = b->ledger->private->ledger_of_device[row];
		bool inserted = false;

		if (d == FW_NONE)
			continue;
		ok = fw_map_at(&added, d, file, &inserted) != NULL;
		if (!ok || !inserted)
			continue;
		b->ledger->devices[d].totals.syncs += files[file].count;
		b->ledger->devices[d].totals.sync_ns += files[file].ns;
	}
	fw_map_release(&added);
	free(files);
	return ok;
}

static bool count_streams(struct fw_build *b)
{
	const struct fw_trace *t = b->trace;
	uint8_t *is_used = calloc(t->streams.len + 1, 1);

	if (!is_used)
		return false;
	for (size_t i = 0; i < t->ops.len; i++)
		is_used[t->ops.stream[i]] = 1;
	for (size_t i = 0; i < t->streams.len; i++)
		if (is_used[i]) {
			uint32_t d = b->ledger->private->ledger_of_device[t->streams.device[i]];

			b->ledger->devices[d].totals.streams++;
		}
	free(is_used);
	return true;
}

fw_status fw_build_totals(struct fw_build *b)
{
	bool ok = total_syncs(b) && count_streams(b);

	for (size_t i = 0; ok && i < b->ledger->device_count; i++) {
		total_times(b->trace, &b->ledger->devices[i]);
		ok = total_copies(b, &b->ledger->devices[i]);
	}
	return ok ? FW_OK : fw_fail_nomem(b->err, b->trace->calls.len);
}
