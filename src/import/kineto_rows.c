/* One event of Kineto -> rows of the trace's tables. */
#include "import/kineto.h"

#include "import/decimal.h"

#include <stdlib.h>
#include <string.h>

/*
 * No record of a profiler lasts longer: such a duration is a time stamp that was never filled in
 * (end - 0) or the difference of two in the wrong order, taken as unsigned.
 */
#define LONGEST_NS (INT64_C(7) * 24 * 3600 * 1000000000)

/* One day: a trace that has times beyond it, and one of exactly 0, does not start at 0. */
#define FAR_NS (INT64_C(24) * 3600 * 1000000000)

/* Names of threads and processes past this are not kept; files have some dozens. */
#define MOST_LABELS 65536

struct times {
	int64_t start, end;
};

static struct fw_integrity *flaws(struct fw_kineto *k)
{
	return &k->trace->integrity;
}

static bool is_row(struct fw_kineto *k, uint32_t row)
{
	k->is_out_of_memory |= row == FW_NONE;
	return row != FW_NONE;
}

/* Start and end of a complete event; false, and counted, if they cannot be used. */
static bool take_times(struct fw_kineto *k, const struct fw_event *e, uint64_t offset,
		       struct times *t)
{
	int64_t dur = e->dur_state == FW_NUMBER_OK ? e->dur_ns : 0;

	if (e->ts_state != FW_NUMBER_OK || e->dur_state == FW_NUMBER_BAD || dur > LONGEST_NS ||
	    e->ts_ns > FW_DECIMAL_MAX - LONGEST_NS) {
		fw_kineto_flaw(k, &flaws(k)->bad_times, offset);
		return false;
	}
	if (dur < 0) {
		fw_kineto_flaw(k, &flaws(k)->negative_durations, offset);
		return false;
	}
	if (!e->ts_ns && !dur) {
		fw_kineto_flaw(k, &flaws(k)->zero_times, offset);
		return false;
	}
	if (!e->ts_ns)
		k->zero_starts++;
	else if (e->ts_ns < k->earliest_ns)
		k->earliest_ns = e->ts_ns;
	*t = (struct times){ e->ts_ns, e->ts_ns + dur };
	return true;
}

/* An id as an integer; words ("stream 7") give the number that they end in, else -1. */
static int64_t id_of(const struct fw_lex_text *text)
{
	size_t start = text->len;
	int64_t value = -1;

	if (fw_decimal_parse(text->p, text->len, 0, &value) == FW_DECIMAL_OK)
		return value;
	while (start && text->p[start - 1] >= '0' && text->p[start - 1] <= '9')
		start--;
	fw_decimal_parse(text->p + start, text->len - start, 0, &value);
	return value;
}

static int64_t arg_or(const struct fw_event *e, enum fw_event_arg arg, int64_t otherwise)
{
	return fw_event_has(e, arg) ? e->arg[arg] : otherwise;
}

static int64_t device_id(const struct fw_event *e)
{
	return fw_event_has(e, FW_ARG_DEVICE) ? e->arg[FW_ARG_DEVICE] : id_of(&e->pid);
}

static uint32_t take_thread(struct fw_kineto *k, const struct fw_event *e, uint64_t offset)
{
	uint32_t pid = fw_kineto_intern(k, &e->pid, offset);
	uint32_t tid = fw_kineto_intern(k, &e->tid, offset);
	uint32_t process = fw_trace_process(k->trace, k->file, pid);

	return is_row(k, process) ? fw_trace_thread(k->trace, process, tid) : FW_NONE;
}

/* The row of threads; a few remembered ones save most of the look-ups. */
static uint32_t thread_of(struct fw_kineto *k, const struct fw_event *e, uint64_t offset)
{
	size_t len = e->pid.len + 1 + e->tid.len;
	struct fw_kineto_thread *slot;
	char key[sizeof(slot->key)];
	uint32_t row;

	if (len > sizeof(key) || (e->pid.flags | e->tid.flags) & ~FW_TEXT_QUOTED)
		return take_thread(k, e, offset);
	slot = &k->threads[k->last_thread];
	if (slot->len == len && !memcmp(slot->key, e->pid.p, e->pid.len) &&
	    !slot->key[e->pid.len] && !memcmp(slot->key + e->pid.len + 1, e->tid.p, e->tid.len))
		return slot->row;
	memcpy(key, e->pid.p, e->pid.len);
	key[e->pid.len] = '\0';
	memcpy(key + e->pid.len + 1, e->tid.p, e->tid.len);
	k->last_thread = (size_t)(fw_hash_bytes(key, len) % FW_KINETO_THREADS);
	slot = &k->threads[k->last_thread];
	if (slot->len == len && !memcmp(slot->key, key, len))
		return slot->row;
	row = take_thread(k, e, offset);
	if (row != FW_NONE) {
		memcpy(slot->key, key, len);
		slot->len = (uint8_t)len;
		slot->row = row;
	}
	return row;
}

/* Marks the rows that start at 0; NULL when memory is out. */
static uint8_t *mark_zeros(struct fw_kineto *k, const int64_t *starts, size_t from, size_t to)
{
	uint8_t *marks = malloc(to - from + 1);

	for (size_t i = from; i < to && marks; i++) {
		marks[i - from] = !starts[i];
		flaws(k)->zero_times += !starts[i];
		flaws(k)->events -= !starts[i];
	}
	k->is_out_of_memory |= !marks;
	return marks;
}

void fw_kineto_drop_unfilled(struct fw_kineto *k)
{
	struct fw_trace *t = k->trace;
	uint8_t *ops, *calls, *ranges;

	/* Where all times are small, 0 is one of them. */
	if (!k->zero_starts || k->earliest_ns == INT64_MAX || k->earliest_ns < FAR_NS)
		return;
	ops = mark_zeros(k, t->ops.start_ns, k->first_op, t->ops.len);
	calls = mark_zeros(k, t->calls.start_ns, k->first_call, t->calls.len);
	ranges = mark_zeros(k, t->ranges.start_ns, k->first_range, t->ranges.len);
	if (ops && calls && ranges) {
		fw_trace_filter_ops(t, k->first_op, ops);
		fw_trace_filter_calls(t, k->first_call, calls);
		fw_trace_filter_ranges(t, k->first_range, ranges);
	}
	free(ops);
	free(calls);
	free(ranges);
}

static uint32_t non_negative(int64_t value)
{
	return value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

static uint32_t shape_of(struct fw_kineto *k, const struct fw_event *e)
{
	struct fw_shape shape = { .registers = -1, .smem_static = -1, .smem_dynamic = -1 };

	if (!fw_event_has(e, FW_ARG_GRID) || !fw_event_has(e, FW_ARG_BLOCK))
		return FW_NONE;
	for (int i = 0; i < 3; i++) {
		shape.grid[i] = non_negative(e->arg[FW_ARG_GRID + i]);
		shape.block[i] = non_negative(e->arg[FW_ARG_BLOCK + i]);
	}
	shape.smem_total = arg_or(e, FW_ARG_SMEM, -1);
	if (fw_event_has(e, FW_ARG_REGISTERS) && e->arg[FW_ARG_REGISTERS] >= 0 &&
	    e->arg[FW_ARG_REGISTERS] <= INT32_MAX)
		shape.registers = (int32_t)e->arg[FW_ARG_REGISTERS];
	return fw_trace_shape(k->trace, &shape);
}

static uint32_t transfer_of(struct fw_kineto *k, const struct fw_event *e,
			    const struct fw_name_facts *facts)
{
	struct fw_trace_transfers *t = &k->trace->transfers;
	uint32_t row = fw_trace_add_transfers(k->trace);

	if (!is_row(k, row))
		return row;
	t->bytes[row] = arg_or(e, FW_ARG_BYTES, -1);
	t->direction[row] = e->category == FW_CAT_MEMCPY ? facts->direction : FW_COPY_UNKNOWN;
	t->src[row] = facts->src;
	t->dst[row] = facts->dst;
	return row;
}

static uint32_t graph_of(struct fw_kineto *k, const struct fw_event *e, uint64_t offset)
{
	if (!fw_event_has(e, FW_ARG_GRAPH))
		return 0;
	return fw_kineto_intern(k, &e->text[FW_ARG_GRAPH], offset);
}

static uint8_t owner_of(const struct fw_event *e, const struct fw_name_facts *facts)
{
	if (e->category == FW_CAT_MEMCPY)
		return facts->copy_owner;
	if (e->category == FW_CAT_MEMSET)
		return FW_CLASS_MEMSET;
	return facts->is_collective ? FW_CLASS_COLLECTIVE : FW_CLASS_COMPUTE;
}

static void add_op(struct fw_kineto *k, const struct fw_event *e, uint64_t offset,
		   const struct times *t)
{
	struct fw_trace_ops *ops = &k->trace->ops;
	uint32_t name = fw_kineto_intern(k, &e->name, offset);
	const struct fw_name_facts *facts = fw_kineto_name(k, name);
	uint32_t device = fw_trace_device(k->trace, k->file, device_id(e));
	int64_t id = fw_event_has(e, FW_ARG_STREAM) ? e->arg[FW_ARG_STREAM] : id_of(&e->tid);
	uint32_t stream, row;

	if (!is_row(k, device))
		return;
	stream = fw_trace_stream(k->trace, device, id);
	row = fw_trace_add_ops(k->trace);
	if (!is_row(k, stream) || !is_row(k, row))
		return;
	ops->start_ns[row] = t->start;
	ops->end_ns[row] = t->end;
	ops->corr[row] = arg_or(e, FW_ARG_CORRELATION, FW_CORR_NONE);
	ops->stream[row] = stream;
	ops->name[row] = name;
	ops->process[row] = FW_NONE;
	ops->graph[row] = graph_of(k, e, offset);
	ops->owner[row] = owner_of(e, facts);
	if (e->category == FW_CAT_KERNEL) {
		ops->kind[row] = FW_OP_KERNEL;
		ops->detail[row] = shape_of(k, e);
	} else {
		ops->kind[row] = e->category == FW_CAT_MEMCPY ? FW_OP_COPY : FW_OP_MEMSET;
		ops->detail[row] = transfer_of(k, e, facts);
	}
}

static void add_call(struct fw_kineto *k, const struct fw_event *e, uint64_t offset,
		     const struct times *t)
{
	struct fw_trace_calls *calls = &k->trace->calls;
	uint32_t thread = thread_of(k, e, offset), row = fw_trace_add_calls(k->trace);

	if (!is_row(k, thread) || !is_row(k, row))
		return;
	calls->start_ns[row] = t->start;
	calls->end_ns[row] = t->end;
	calls->corr[row] = arg_or(e, FW_ARG_CORRELATION, FW_CORR_NONE);
	calls->thread[row] = thread;
	calls->name[row] = fw_kineto_intern(k, &e->name, offset);
	calls->graph[row] = graph_of(k, e, offset);
}

static uint8_t range_kind(const struct fw_event *e, const struct fw_name_facts *facts)
{
	if (facts->is_input)
		return FW_RANGE_INPUT;
	if (e->category == FW_CAT_PYTHON)
		return FW_RANGE_PYTHON;
	if (e->category == FW_CAT_OVERHEAD)
		return FW_RANGE_OVERHEAD;
	if (facts->is_step)
		return FW_RANGE_STEP;
	return e->category == FW_CAT_OPERATOR && !facts->is_container ? FW_RANGE_OPERATOR
								      : FW_RANGE_OTHER;
}

static void add_range(struct fw_kineto *k, const struct fw_event *e, uint64_t offset,
		      const struct times *t)
{
	struct fw_trace_ranges *ranges = &k->trace->ranges;
	uint32_t thread = thread_of(k, e, offset), row = fw_trace_add_ranges(k->trace);

	if (!is_row(k, thread) || !is_row(k, row))
		return;
	ranges->start_ns[row] = t->start;
	ranges->end_ns[row] = t->end;
	ranges->thread[row] = thread;
	ranges->name[row] = fw_kineto_intern(k, &e->name, offset);
	ranges->kind[row] = range_kind(e, fw_kineto_name(k, ranges->name[row]));
}

static bool has_prefix(const struct fw_lex_text *text, const char *word)
{
	size_t len = strlen(word);

	return text->len >= len && !memcmp(text->p, word, len);
}

/* The kind is an argument since 2024, before it is the name: "Stream Sync", "Stream Synchronize". */
static uint8_t sync_kind(const struct fw_event *e)
{
	const struct fw_lex_text *text =
		fw_event_has(e, FW_ARG_SYNC_KIND) ? &e->text[FW_ARG_SYNC_KIND] : &e->name;

	if (has_prefix(text, "Stream Wait"))
		return FW_SYNC_STREAM_WAIT;
	if (has_prefix(text, "Stream Sync"))
		return FW_SYNC_STREAM;
	if (has_prefix(text, "Event Sync"))
		return FW_SYNC_EVENT;
	return has_prefix(text, "Context Sync") || has_prefix(text, "Device Sync")
		       ? FW_SYNC_CONTEXT
		       : FW_SYNC_UNKNOWN;
}

static void add_sync(struct fw_kineto *k, const struct fw_event *e, const struct times *t)
{
	struct fw_trace_syncs *syncs = &k->trace->syncs;
	uint32_t device = fw_trace_device(k->trace, k->file, device_id(e));
	uint32_t row = fw_trace_add_syncs(k->trace);
	int64_t waited = arg_or(e, FW_ARG_WAIT_CORRELATION, -1);

	if (!is_row(k, device) || !is_row(k, row))
		return;
	syncs->start_ns[row] = t->start;
	syncs->end_ns[row] = t->end;
	syncs->corr[row] = arg_or(e, FW_ARG_CORRELATION, FW_CORR_NONE);
	syncs->wait_corr[row] = waited < 0 ? FW_CORR_NONE : waited;
	syncs->device[row] = device;
	syncs->stream_id[row] = arg_or(e, FW_ARG_STREAM, -1);
	syncs->kind[row] = sync_kind(e);
}

static void add_complete(struct fw_kineto *k, const struct fw_event *e, uint64_t offset)
{
	struct times t;

	if (!e->has_name) {
		fw_kineto_flaw(k, &flaws(k)->bad_records, offset);
		return;
	}
	if (!take_times(k, e, offset, &t))
		return;
	flaws(k)->events++;
	switch (e->category) {
	case FW_CAT_KERNEL:
	case FW_CAT_MEMCPY:
	case FW_CAT_MEMSET: add_op(k, e, offset, &t); break;
	case FW_CAT_CALL: add_call(k, e, offset, &t); break;
	case FW_CAT_SYNC: add_sync(k, e, &t); break;
	default: add_range(k, e, offset, &t);
	}
}

/* "[memory]": the framework's allocator took (bytes > 0) or gave back (< 0) memory. */
static void add_allocation(struct fw_kineto *k, const struct fw_event *e, uint64_t offset)
{
	struct fw_trace_allocations *a = &k->trace->allocations;
	uint32_t thread, row, device = FW_NONE;
	int64_t id = arg_or(e, FW_ARG_DEVICE_ID, -1);

	if (!fw_event_has(e, FW_ARG_ALLOCATION))
		return;
	if (e->ts_state != FW_NUMBER_OK) {
		fw_kineto_flaw(k, &flaws(k)->bad_times, offset);
		return;
	}
	thread = thread_of(k, e, offset);
	/* c10::DeviceType: 0 is the host; 1 CUDA and 6 HIP are GPUs. */
	if (arg_or(e, FW_ARG_DEVICE_TYPE, 0) && id >= 0) {
		device = fw_trace_device(k->trace, k->file, id);
		is_row(k, device);
	}
	row = fw_trace_add_allocations(k->trace);
	if (!is_row(k, thread) || !is_row(k, row))
		return;
	a->time_ns[row] = e->ts_ns;
	a->bytes[row] = e->arg[FW_ARG_ALLOCATION];
	a->total_bytes[row] = arg_or(e, FW_ARG_ALLOCATED, -1);
	a->thread[row] = thread;
	a->device[row] = device;
	flaws(k)->events++;
}

/* Hardware counters: pid "GPU 0 Counters", the name is the metric. */
static void add_counter(struct fw_kineto *k, const struct fw_event *e, uint64_t offset)
{
	struct fw_trace_counters *c = &k->trace->counters;
	struct fw_lex_text pid = e->pid;
	uint32_t device, row;

	if (!has_prefix(&pid, "GPU ") || !e->has_counter || !e->has_name)
		return;
	if (e->ts_state != FW_NUMBER_OK) {
		fw_kineto_flaw(k, &flaws(k)->bad_times, offset);
		return;
	}
	pid.p += 4;
	pid.len -= 4;
	for (size_t i = 0; i < pid.len; i++)
		if (pid.p[i] == ' ')
			pid.len = i;
	device = fw_trace_device(k->trace, k->file, id_of(&pid));
	row = fw_trace_add_counters(k->trace);
	if (!is_row(k, device) || !is_row(k, row))
		return;
	c->start_ns[row] = c->time_ns[row] = e->ts_ns;
	c->value[row] = e->counter;
	c->device[row] = device;
	c->name[row] = fw_kineto_intern(k, &e->name, offset);
	flaws(k)->events++;
}

static bool is_name(const struct fw_event *e, const char *word)
{
	return e->name.len == strlen(word) && !memcmp(e->name.p, word, e->name.len);
}

/* process_name and thread_name: kept until it is known which of them belong to the host. */
static void add_label(struct fw_kineto *k, const struct fw_event *e, uint64_t offset)
{
	bool is_thread = is_name(e, "thread_name");
	struct fw_kineto_label *label;

	if (!fw_event_has(e, FW_ARG_NAME) || (!is_thread && !is_name(e, "process_name")) ||
	    k->labels.len >= MOST_LABELS)
		return;
	label = fw_vec_push(&k->labels);
	if (!label) {
		k->is_out_of_memory = true;
		return;
	}
	label->pid = fw_kineto_intern(k, &e->pid, offset);
	label->tid = fw_kineto_intern(k, &e->tid, offset);
	label->name = fw_kineto_intern(k, &e->text[FW_ARG_NAME], offset);
	label->is_thread = is_thread;
}

void fw_kineto_name_threads(struct fw_kineto *k)
{
	const struct fw_kineto_label *labels = k->labels.data;

	for (size_t i = 0; i < k->labels.len; i++) {
		uint32_t process = fw_trace_find_process(k->trace, k->file, labels[i].pid);
		uint32_t thread;

		if (process == FW_NONE)
			continue;
		if (!labels[i].is_thread) {
			k->trace->processes.name[process] = labels[i].name;
			continue;
		}
		thread = fw_trace_find_thread(k->trace, process, labels[i].tid);
		if (thread != FW_NONE)
			k->trace->threads.name[thread] = labels[i].name;
	}
}

void fw_kineto_add(struct fw_kineto *k, const struct fw_event *e, uint64_t offset)
{
	k->has_events = true;
	k->kineto_events += e->category > FW_CAT_UNKNOWN;
	switch (e->phase) {
	case 'X':
		if (e->category != FW_CAT_IGNORED)
			add_complete(k, e, offset);
		break;
	case 'i':
		if (e->category == FW_CAT_INSTANT && is_name(e, "[memory]"))
			add_allocation(k, e, offset);
		break;
	case 'C': add_counter(k, e, offset); break;
	case 'M': add_label(k, e, offset); break;
	default: break;
	}
}
