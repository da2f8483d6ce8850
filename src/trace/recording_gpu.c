/* Records of the GPU and of CUDA calls -> rows, their times still CUPTI's. */
#include "trace/op_names.h"
#include "trace/recording_chunks.h"
#include "trace/recording_file.h"

/* Adds an operation that ran in [start, end); FW_NONE where it cannot be used. */
static uint32_t add_op(struct fw_rec_reader *r, uint32_t corr, uint64_t start, uint64_t end,
		       uint32_t stream)
{
	struct fw_trace_ops *ops = &r->trace->ops;
	uint32_t row = fw_trace_add_ops(r->trace);

	if (!fw_rec_is_row(r, row))
		return FW_NONE;
	ops->start_ns[row] = (int64_t)start;
	ops->end_ns[row] = (int64_t)end;
	ops->corr[row] = corr ? corr : FW_CORR_NONE;
	ops->stream[row] = stream;
	ops->process[row] = r->process;
	ops->detail[row] = FW_NONE;
	return row;
}

/* The stream of a record that can be used; FW_NONE: it cannot. */
static uint32_t usable_stream(struct fw_rec_reader *r, uint64_t start, uint64_t end,
			      uint32_t device, uint32_t stream)
{
	if (!fw_rec_has_process(r) || !fw_rec_span_cupti(r, start, end))
		return FW_NONE;
	return fw_rec_stream(r, device, stream);
}

static uint32_t graph_name(struct fw_rec_reader *r, uint32_t graph)
{
	return graph ? fw_rec_number(r, graph) : 0;
}

static uint32_t extent(int32_t n)
{
	return n > 0 ? (uint32_t)n : 0;
}

static uint32_t shape_of(struct fw_rec_reader *r, const struct fw_rec_kernel *k)
{
	struct fw_shape shape = { .registers = k->registers,
				  .smem_static = k->smem_static < 0 ? -1 : k->smem_static,
				  .smem_dynamic = k->smem_dynamic < 0 ? -1 : k->smem_dynamic,
				  .smem_total = -1 };
	uint64_t cluster = (uint64_t)k->cluster[0] * k->cluster[1] * k->cluster[2];
	uint32_t row;

	for (int i = 0; i < 3; i++) {
		shape.grid[i] = extent(k->grid[i]);
		shape.block[i] = extent(k->block[i]);
		/* A kernel that was not selected (--kernels) has no shape either. */
		if (!shape.grid[i] || !shape.block[i])
			return FW_NONE;
	}
	if (shape.smem_static >= 0 && shape.smem_dynamic >= 0)
		shape.smem_total = shape.smem_static + shape.smem_dynamic;
	shape.cluster = cluster <= UINT16_MAX ? (uint32_t)cluster : 0;
	row = fw_trace_shape(r->trace, &shape);
	fw_rec_is_row(r, row);
	return row;
}

void fw_rec_take_kernel(struct fw_rec_reader *r, const struct fw_rec_kernel *k)
{
	uint32_t stream = usable_stream(r, k->start_cupti, k->end_cupti, k->device, k->stream);
	struct fw_trace_ops *ops = &r->trace->ops;
	uint32_t row;

	if (stream == FW_NONE)
		return;
	row = add_op(r, k->head.extra, k->start_cupti, k->end_cupti, stream);
	if (row == FW_NONE)
		return;
	ops->kind[row] = FW_OP_KERNEL;
	ops->name[row] = fw_rec_kernel_name(r, k->name);
	ops->detail[row] = shape_of(r, k);
	ops->graph[row] = graph_name(r, k->graph);
	ops->owner[row] = fw_is_collective_name(fw_trace_text(r->trace, ops->name[row]))
				  ? FW_CLASS_COLLECTIVE
				  : FW_CLASS_COMPUTE;
}

static uint32_t transfer_of(struct fw_rec_reader *r, uint64_t bytes, uint8_t direction,
			    const uint8_t memory[2])
{
	struct fw_trace_transfers *t = &r->trace->transfers;
	uint32_t row = fw_trace_add_transfers(r->trace);

	if (!fw_rec_is_row(r, row))
		return row;
	t->bytes[row] = bytes <= INT64_MAX ? (int64_t)bytes : -1;
	t->direction[row] = direction;
	t->src[row] = memory[0];
	t->dst[row] = memory[1];
	return row;
}

/* CUPTI's numbers are those of enum fw_memory_kind and enum fw_copy_direction. */
static uint8_t memory_kind(uint8_t kind)
{
	return kind <= FW_MEM_MANAGED_STATIC ? kind : FW_MEM_UNKNOWN;
}

static uint8_t copy_direction(uint8_t direction)
{
	return direction <= FW_COPY_PTOP ? direction : FW_COPY_UNKNOWN;
}

void fw_rec_take_copy(struct fw_rec_reader *r, const struct fw_rec_copy *c)
{
	uint32_t stream = usable_stream(r, c->start_cupti, c->end_cupti, c->device, c->stream);
	uint8_t direction = copy_direction(c->direction);
	uint8_t memory[2] = { memory_kind(c->src), memory_kind(c->dst) };
	struct fw_trace_ops *ops = &r->trace->ops;
	char name[FW_COPY_NAME_BYTES];
	uint32_t row;

	if (stream == FW_NONE)
		return;
	row = add_op(r, c->head.extra, c->start_cupti, c->end_cupti, stream);
	if (row == FW_NONE)
		return;
	fw_copy_name(name, direction, memory[0], memory[1]);
	ops->kind[row] = FW_OP_COPY;
	ops->name[row] = fw_rec_text(r, name);
	ops->detail[row] = transfer_of(r, c->bytes, direction, memory);
	ops->graph[row] = graph_name(r, c->graph);
	ops->owner[row] = fw_copy_owner(direction);
}

void fw_rec_take_memset(struct fw_rec_reader *r, const struct fw_rec_memset *m)
{
	uint32_t stream = usable_stream(r, m->start_cupti, m->end_cupti, m->device, m->stream);
	uint8_t memory[2] = { memory_kind(m->memory), memory_kind(m->memory) };
	struct fw_trace_ops *ops = &r->trace->ops;
	char name[FW_COPY_NAME_BYTES];
	uint32_t row;

	if (stream == FW_NONE)
		return;
	row = add_op(r, m->head.extra, m->start_cupti, m->end_cupti, stream);
	if (row == FW_NONE)
		return;
	fw_memset_name(name, memory[0]);
	ops->kind[row] = FW_OP_MEMSET;
	ops->name[row] = fw_rec_text(r, name);
	ops->detail[row] = transfer_of(r, m->bytes, FW_COPY_UNKNOWN, memory);
	ops->graph[row] = graph_name(r, m->graph);
	ops->owner[row] = FW_CLASS_MEMSET;
}

void fw_rec_take_graph(struct fw_rec_reader *r, const struct fw_rec_graph *g)
{
	uint32_t stream = usable_stream(r, g->start_cupti, g->end_cupti, g->device, g->stream);
	struct fw_trace_ops *ops = &r->trace->ops;
	uint32_t row;

	if (stream == FW_NONE)
		return;
	row = add_op(r, g->head.extra, g->start_cupti, g->end_cupti, stream);
	if (row == FW_NONE)
		return;
	ops->kind[row] = FW_OP_GRAPH;
	ops->name[row] = fw_rec_text(r, "CUDA graph");
	ops->graph[row] = graph_name(r, g->graph);
	ops->owner[row] = FW_CLASS_GRAPH_OPAQUE;
}

static uint8_t sync_kind(uint32_t type)
{
	return type <= FW_SYNC_CONTEXT ? (uint8_t)type : FW_SYNC_UNKNOWN;
}

/* CUPTI's words for "no stream". */
static bool is_stream(uint32_t stream)
{
	return stream != UINT32_MAX;
}

static void note_wait(struct fw_rec_reader *r, const struct fw_rec_sync *s, uint32_t row)
{
	struct fw_rec_wait *wait;

	if (!s->event && !s->event_sync)
		return;
	wait = fw_vec_push(&r->waits);
	if (wait)
		*wait = (struct fw_rec_wait){ row, s->event, s->event_sync };
	else
		r->is_out_of_memory = true;
}

void fw_rec_take_sync(struct fw_rec_reader *r, const struct fw_rec_sync *s)
{
	struct fw_trace_syncs *syncs = &r->trace->syncs;
	uint32_t device = FW_NONE, row;

	if (!fw_rec_has_process(r) || !fw_rec_span_cupti(r, s->start_cupti, s->end_cupti))
		return;
	if (s->device != UINT32_MAX) {
		device = fw_trace_device(r->trace, r->file, s->device);
		if (!fw_rec_is_row(r, device))
			return;
	}
	row = fw_trace_add_syncs(r->trace);
	if (!fw_rec_is_row(r, row))
		return;
	syncs->start_ns[row] = (int64_t)s->start_cupti;
	syncs->end_ns[row] = (int64_t)s->end_cupti;
	syncs->corr[row] = s->head.extra ? s->head.extra : FW_CORR_NONE;
	syncs->wait_corr[row] = FW_CORR_NONE;
	syncs->device[row] = device;
	syncs->kind[row] = sync_kind(s->type);
	syncs->stream_id[row] = is_stream(s->stream) ? (int64_t)s->stream : -1;
	note_wait(r, s, row);
}

void fw_rec_take_event(struct fw_rec_reader *r, const struct fw_rec_event *e)
{
	struct fw_trace_events *events = &r->trace->events;
	uint32_t stream, row;

	if (!fw_rec_has_process(r))
		return;
	stream = e->device == UINT32_MAX ? FW_NONE : fw_rec_stream(r, e->device, e->stream);
	row = fw_trace_add_events(r->trace);
	if (!fw_rec_is_row(r, row))
		return;
	/* The device's own time of it is on another clock than everything else here. */
	events->time_ns[row] = INT64_MIN;
	events->corr[row] = e->head.extra ? e->head.extra : FW_CORR_NONE;
	events->event_sync[row] = e->event_sync;
	events->event[row] = e->event;
	events->stream[row] = stream;
}

void fw_rec_take_call(struct fw_rec_reader *r, const struct fw_rec_call *c)
{
	struct fw_trace_calls *calls = &r->trace->calls;
	uint32_t thread, row;

	if (!fw_rec_has_process(r) || !fw_rec_span_cupti(r, c->start_cupti, c->end_cupti))
		return;
	thread = fw_rec_thread(r, r->process, c->tid);
	row = fw_trace_add_calls(r->trace);
	if (thread == FW_NONE || !fw_rec_is_row(r, row))
		return;
	calls->start_ns[row] = (int64_t)c->start_cupti;
	calls->end_ns[row] = (int64_t)c->end_cupti;
	calls->corr[row] = c->head.extra ? c->head.extra : FW_CORR_NONE;
	calls->thread[row] = thread;
	calls->name[row] = fw_rec_name(r, c->name);
}

void fw_rec_take_allocation(struct fw_rec_reader *r, const struct fw_rec_allocation *a)
{
	struct fw_trace_allocations *rows = &r->trace->allocations;
	uint32_t device = FW_NONE, row;

	if (!fw_rec_has_process(r) || !fw_rec_span_cupti(r, a->time_cupti, a->time_cupti))
		return;
	if (a->bytes > INT64_MAX) {
		fw_rec_flaw(&r->trace->integrity, &r->trace->integrity.bad_records, 1, r->offset);
		return;
	}
	if (a->device != UINT32_MAX) {
		device = fw_trace_device(r->trace, r->file, a->device);
		if (!fw_rec_is_row(r, device))
			return;
	}
	row = fw_trace_add_allocations(r->trace);
	if (!fw_rec_is_row(r, row))
		return;
	rows->time_ns[row] = (int64_t)a->time_cupti;
	rows->bytes[row] = a->is_free ? -(int64_t)a->bytes : (int64_t)a->bytes;
	rows->device[row] = device;
	rows->memory[row] = memory_kind(a->memory);
	rows->thread[row] = FW_NONE;
	/* Until the call is known that made it: see recording_pair.c. */
	rows->total_bytes[row] = a->head.extra;
}

void fw_rec_take_overhead(struct fw_rec_reader *r, const struct fw_rec_overhead *o)
{
	struct fw_trace_ranges *ranges = &r->trace->ranges;
	uint32_t thread, row;

	if (!fw_rec_has_process(r) || !fw_rec_span_cupti(r, o->start_cupti, o->end_cupti))
		return;
	thread = fw_rec_thread(r, r->process, o->tid);
	row = fw_trace_add_ranges(r->trace);
	if (thread == FW_NONE || !fw_rec_is_row(r, row))
		return;
	ranges->start_ns[row] = (int64_t)o->start_cupti;
	ranges->end_ns[row] = (int64_t)o->end_cupti;
	ranges->thread[row] = thread;
	ranges->name[row] = fw_rec_text(r, "CUPTI overhead");
	ranges->kind[row] = FW_RANGE_OVERHEAD;
}

void fw_rec_take_stream(struct fw_rec_reader *r, const struct fw_rec_stream *s)
{
	uint32_t row;

	if (!fw_rec_has_process(r) || s->device == UINT32_MAX)
		return;
	row = fw_rec_stream(r, s->device, s->head.extra);
	if (row == FW_NONE)
		return;
	r->trace->streams.priority[row] = s->priority;
	r->trace->streams.flags[row] =
		s->flags <= FW_STREAM_DEFAULT ? (uint8_t)s->flags : FW_STREAM_UNKNOWN;
}

/* No table has a place for these yet; the calls that load modules are there. */
void fw_rec_take_module(struct fw_rec_reader *r, const struct fw_rec_module *m)
{
	(void)r;
	(void)m;
}

void fw_rec_take_external(struct fw_rec_reader *r, const struct fw_rec_external *e)
{
	(void)r;
	(void)e;
}
