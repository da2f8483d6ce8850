#include "trace/trace.h"

#include "base/spill.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A table is a length, a capacity and one pointer a column, in the order of tables.def; so a column
 * is known by its place, and all that is needed beside it is how wide its elements are.
 */
#define FW_TABLE(name)     static const size_t name##_widths[] = {
#define FW_COL(type, name) sizeof(type),
#define FW_END                                                                                     \
	}                                                                                          \
	;
#include "trace/tables.def"
#undef FW_TABLE
#undef FW_COL
#undef FW_END

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static unsigned char *column_slot(void *table, size_t i)
{
	return (unsigned char *)table + 2 * sizeof(size_t) + i * sizeof(void *);
}

/* Small tables double; large ones grow by half, since the room to grow takes disk where they spill. */
static size_t next_cap(size_t cap)
{
	if (!cap)
		return 64;
	return cap < (size_t)1 << 20 ? cap * 2 : cap + cap / 2;
}

/*
 * Room for more rows. After a failure some columns are longer than *cap tells, which does no harm:
 * a column is only ever taken for shorter than it is.
 */
static bool grow(struct fw_columns *columns, void *table, size_t *cap, const size_t *widths,
		 size_t n)
{
	size_t bigger = next_cap(*cap);

	for (size_t i = 0; i < n; i++) {
		void *data;

		memcpy(&data, column_slot(table, i), sizeof(data));
		data = fw_columns_resize(columns, data, *cap * widths[i], bigger * widths[i]);
		if (!data)
			return false;
		memcpy(column_slot(table, i), &data, sizeof(data));
	}
	*cap = bigger;
	return true;
}

/* Moves row `from` of every column to row `to`. */
static void move_row(void *table, size_t to, size_t from, const size_t *widths, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char *data;

		memcpy(&data, column_slot(table, i), sizeof(data));
		memcpy(data + to * widths[i], data + from * widths[i], widths[i]);
	}
}

static size_t filter_rows(void *table, size_t from, size_t len, const uint8_t *drop,
			  const size_t *widths, size_t n)
{
	size_t to = from;

	for (size_t row = from; row < len; row++) {
		if (drop[row - from])
			continue;
		if (to != row)
			move_row(table, to, row, widths, n);
		to++;
	}
	return to;
}

static void release_table(struct fw_columns *columns, void *table, size_t cap, const size_t *widths,
			  size_t n)
{
	for (size_t i = 0; i < n; i++) {
		void *data;

		memcpy(&data, column_slot(table, i), sizeof(data));
		fw_columns_free(columns, data, cap * widths[i]);
	}
}

#define FW_TABLE(name)                                                                             \
	uint32_t fw_trace_add_##name(struct fw_trace *trace)                                       \
	{                                                                                          \
		struct fw_trace_##name *table = &trace->name;                                      \
		size_t row = table->len;                                                           \
                                                                                                   \
		if (row >= FW_NONE - 1 ||                                                          \
		    (row == table->cap && !grow(&trace->columns, table, &table->cap,               \
						name##_widths, COUNT(name##_widths))))             \
			return FW_NONE;
#define FW_COL(type, name) table->name[row] = 0;
#define FW_END                                                                                     \
	table->len = row + 1;                                                                      \
	return (uint32_t)row;                                                                      \
	}
#include "trace/tables.def"
#undef FW_TABLE
#undef FW_COL
#undef FW_END

#define FW_TABLE(name)                                                                             \
	void fw_trace_filter_##name(struct fw_trace *trace, size_t from, const uint8_t *drop)      \
	{                                                                                          \
		trace->name.len = filter_rows(&trace->name, from, trace->name.len, drop,           \
					      name##_widths, COUNT(name##_widths));                \
	}
#define FW_COL(type, name)
#define FW_END
#include "trace/tables.def"
#undef FW_TABLE
#undef FW_COL
#undef FW_END

fw_status fw_trace_create(struct fw_trace **trace, struct fw_error *err)
{
	bool failed = false;

	*trace = calloc(1, sizeof(**trace));
	if (!*trace)
		return fw_fail_nomem(err, sizeof(**trace));
	(*trace)->epoch_ns = INT64_MIN;
	(*trace)->integrity.first_flaw_offset = UINT64_MAX;
	(*trace)->columns = (struct fw_columns)FW_COLUMNS;
	(*trace)->strings.entries = (struct fw_vec)FW_VEC(struct fw_string);
	fw_trace_intern(*trace, "", 0, &failed);
	if (failed) {
		fw_trace_destroy(*trace);
		*trace = NULL;
		return fw_fail_nomem(err, sizeof(struct fw_string));
	}
	return FW_OK;
}

void fw_trace_limit_memory(struct fw_trace *trace, uint64_t bytes)
{
	trace->columns.limit = bytes;
}

fw_status fw_trace_fail_growth(const struct fw_trace *trace, struct fw_error *err)
{
	int error = trace->columns.error;

	if (!error || error == ENOMEM)
		return fw_fail(err, FW_ERR_NOMEM, "out of memory for the trace");
	return fw_fail(err, FW_ERR_IO,
		       "the trace is over the memory limit of %llu bytes and cannot be moved to a "
		       "file in %s: %s (TMPDIR names another folder)",
		       (unsigned long long)trace->columns.limit, fw_spill_folder(),
		       strerror(error));
}

void fw_trace_destroy(struct fw_trace *trace)
{
	if (!trace)
		return;
#define FW_TABLE(name)                                                                             \
	release_table(&trace->columns, &trace->name, trace->name.cap, name##_widths,               \
		      COUNT(name##_widths));
#define FW_COL(type, name)
#define FW_END
#include "trace/tables.def"
#undef FW_TABLE
#undef FW_COL
#undef FW_END
	fw_vec_release(&trace->columns.spilled);
	fw_arena_release(&trace->strings.arena);
	fw_vec_release(&trace->strings.entries);
	free(trace->strings.slots);
	fw_map_release(&trace->index);
	free(trace);
}

/* The keys of the build-time index: what kind of row, then up to 96 bits that name it. */
enum index_kind { KEY_DEVICE = 1, KEY_PROCESS, KEY_THREAD, KEY_STREAM, KEY_SHAPE };

static uint64_t *index_at(struct fw_trace *trace, enum index_kind kind, uint32_t parent,
			  uint64_t id, bool *inserted)
{
	return fw_map_at(&trace->index, (uint64_t)kind << 32 | parent, id, inserted);
}

uint32_t fw_trace_device(struct fw_trace *trace, uint32_t file, int64_t id)
{
	bool inserted;
	uint64_t *slot = index_at(trace, KEY_DEVICE, file, (uint64_t)id, &inserted);
	uint32_t row;

	if (!slot || !inserted)
		return slot ? (uint32_t)*slot : FW_NONE;
	row = fw_trace_add_devices(trace);
	*slot = row;
	if (row == FW_NONE)
		return row;
	trace->devices.file[row] = file;
	trace->devices.id[row] = id;
	trace->devices.cc[row] = trace->devices.sms[row] = -1;
	trace->devices.memory_bytes[row] = -1;
	return row;
}

bool fw_trace_alias_device(struct fw_trace *trace, uint32_t file, int64_t id, uint32_t row)
{
	uint64_t *slot = index_at(trace, KEY_DEVICE, file, (uint64_t)id, NULL);

	if (slot)
		*slot = row;
	return slot != NULL;
}

uint32_t fw_trace_process(struct fw_trace *trace, uint32_t file, uint32_t pid)
{
	bool inserted;
	uint64_t *slot = index_at(trace, KEY_PROCESS, file, pid, &inserted);
	uint32_t row;

	if (!slot || !inserted)
		return slot ? (uint32_t)*slot : FW_NONE;
	row = fw_trace_add_processes(trace);
	*slot = row;
	if (row == FW_NONE)
		return row;
	trace->processes.file[row] = file;
	trace->processes.pid[row] = pid;
	return row;
}

uint32_t fw_trace_thread(struct fw_trace *trace, uint32_t process, uint32_t tid)
{
	bool inserted;
	uint64_t *slot = index_at(trace, KEY_THREAD, process, tid, &inserted);
	uint32_t row;

	if (!slot || !inserted)
		return slot ? (uint32_t)*slot : FW_NONE;
	row = fw_trace_add_threads(trace);
	*slot = row;
	if (row == FW_NONE)
		return row;
	trace->threads.process[row] = process;
	trace->threads.tid[row] = tid;
	return row;
}

uint32_t fw_trace_stream(struct fw_trace *trace, uint32_t device, int64_t id)
{
	bool inserted;
	uint64_t *slot = index_at(trace, KEY_STREAM, device, (uint64_t)id, &inserted);
	uint32_t row;

	if (!slot || !inserted)
		return slot ? (uint32_t)*slot : FW_NONE;
	row = fw_trace_add_streams(trace);
	*slot = row;
	if (row == FW_NONE)
		return row;
	trace->streams.device[row] = device;
	trace->streams.id[row] = id;
	trace->streams.priority[row] = INT32_MIN;
	return row;
}

static uint32_t find(const struct fw_trace *trace, enum index_kind kind, uint32_t parent,
		     uint32_t id)
{
	const uint64_t *slot = fw_map_find(&trace->index, (uint64_t)kind << 32 | parent, id);

	return slot ? (uint32_t)*slot : FW_NONE;
}

uint32_t fw_trace_find_process(const struct fw_trace *trace, uint32_t file, uint32_t pid)
{
	return find(trace, KEY_PROCESS, file, pid);
}

uint32_t fw_trace_find_thread(const struct fw_trace *trace, uint32_t process, uint32_t tid)
{
	return find(trace, KEY_THREAD, process, tid);
}

static bool shape_equals(const struct fw_trace_shapes *t, uint32_t row, const struct fw_shape *s)
{
	return t->grid_x[row] == s->grid[0] && t->grid_y[row] == s->grid[1] &&
	       t->grid_z[row] == s->grid[2] && t->block_x[row] == s->block[0] &&
	       t->block_y[row] == s->block[1] && t->block_z[row] == s->block[2] &&
	       t->registers[row] == s->registers && t->smem_static[row] == s->smem_static &&
	       t->smem_dynamic[row] == s->smem_dynamic && t->smem_total[row] == s->smem_total &&
	       t->cluster[row] == s->cluster;
}

static uint64_t shape_hash(const struct fw_shape *s)
{
	uint64_t words[11] = { s->grid[0],
			       s->grid[1],
			       s->grid[2],
			       s->block[0],
			       s->block[1],
			       s->block[2],
			       (uint64_t)s->registers,
			       (uint64_t)s->smem_static,
			       (uint64_t)s->smem_dynamic,
			       (uint64_t)s->smem_total,
			       s->cluster };

	return fw_hash_bytes(words, sizeof(words));
}

static uint32_t add_shape(struct fw_trace *trace, const struct fw_shape *s)
{
	struct fw_trace_shapes *t = &trace->shapes;
	uint32_t row = fw_trace_add_shapes(trace);

	if (row == FW_NONE)
		return row;
	t->grid_x[row] = s->grid[0];
	t->grid_y[row] = s->grid[1];
	t->grid_z[row] = s->grid[2];
	t->block_x[row] = s->block[0];
	t->block_y[row] = s->block[1];
	t->block_z[row] = s->block[2];
	t->registers[row] = s->registers;
	t->smem_static[row] = s->smem_static;
	t->smem_dynamic[row] = s->smem_dynamic;
	t->smem_total[row] = s->smem_total;
	t->cluster[row] = s->cluster;
	return row;
}

uint32_t fw_trace_shape(struct fw_trace *trace, const struct fw_shape *shape)
{
	uint64_t hash = shape_hash(shape);

	/* Different shapes of one hash take the next key: the chain ends at the first free one. */
	for (;; hash++) {
		bool inserted;
		uint64_t *slot = index_at(trace, KEY_SHAPE, 0, hash, &inserted);

		if (!slot)
			return FW_NONE;
		if (inserted) {
			uint32_t row = add_shape(trace, shape);

			*slot = row;
			return row;
		}
		if ((uint32_t)*slot == FW_NONE)
			return FW_NONE;
		if (shape_equals(&trace->shapes, (uint32_t)*slot, shape))
			return (uint32_t)*slot;
	}
}

static const struct {
	const char *id, *text;
	bool idle;
} classes[] = {
#define BUSY                                false
#define IDLE                                true
#define FW_CLASS(constant, id, group, text) { id, text, group },
#include "trace/classes.def"
#undef FW_CLASS
#undef BUSY
#undef IDLE
};

const char *fw_class_id(enum fw_class c)
{
	return classes[c].id;
}

const char *fw_class_text(enum fw_class c)
{
	return classes[c].text;
}

bool fw_class_is_idle(enum fw_class c)
{
	return classes[c].idle;
}

static const struct {
	const char *id, *text, *remedy, *recording;
} blind_spots[] = {
#define FW_BLIND(constant, id, text, remedy, recording) { id, text, remedy, recording },
#include "trace/blind_spots.def"
#undef FW_BLIND
};

const char *fw_blind_spot_id(enum fw_blind_spot b)
{
	return blind_spots[b].id;
}

const char *fw_blind_spot_text(enum fw_blind_spot b)
{
	return blind_spots[b].text;
}

const char *fw_blind_spot_remedy(const struct fw_trace *trace, enum fw_blind_spot b)
{
	return trace->source == FW_SOURCE_RECORDING ? blind_spots[b].recording
						    : blind_spots[b].remedy;
}
