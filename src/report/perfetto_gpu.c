/* The GPUs' half: of each device why it was idle, its streams with arrows from their launches, its counters. */
#include "report/perfetto.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The first track of a device; its streams follow. */
static struct fw_place place(uint32_t device, uint32_t track)
{
	return (struct fw_place){ FW_PERFETTO_GPU + device, 1 + track * FW_LANES };
}

static void put_size(struct fw_perfetto *w, const char *key, const uint32_t size[3])
{
	char text[40];

	snprintf(text, sizeof(text), "%" PRIu32 " x %" PRIu32 " x %" PRIu32, size[0], size[1],
		 size[2]);
	fw_json_string(&w->json, key, text);
}

static void put_shape(struct fw_perfetto *w, uint32_t row)
{
	const struct fw_trace_shapes *s = &w->trace->shapes;

	put_size(w, "grid", (uint32_t[]){ s->grid_x[row], s->grid_y[row], s->grid_z[row] });
	put_size(w, "block", (uint32_t[]){ s->block_x[row], s->block_y[row], s->block_z[row] });
	if (s->registers[row] >= 0)
		fw_json_int(&w->json, "registers", s->registers[row]);
	if (s->smem_total[row] >= 0)
		fw_json_int(&w->json, "shared_bytes", s->smem_total[row]);
}

static void put_op_args(struct fw_perfetto *w, uint32_t op)
{
	const struct fw_trace *t = w->trace;
	uint32_t detail = t->ops.detail[op];

	fw_json_begin_object(&w->json, "args");
	fw_json_string(&w->json, "class", fw_class_id((enum fw_class)t->ops.owner[op]));
	if (detail != FW_NONE && t->ops.kind[op] == FW_OP_KERNEL)
		put_shape(w, detail);
	else if (detail != FW_NONE && t->transfers.bytes[detail] >= 0)
		fw_json_int(&w->json, "bytes", t->transfers.bytes[detail]);
	if (t->ops.corr[op] != FW_CORR_NONE)
		fw_json_int(&w->json, "correlation", t->ops.corr[op]);
	fw_json_end_object(&w->json);
}

static void put_arrow_end(struct fw_perfetto *w, const char *phase, struct fw_place at, int64_t ns,
			  uint32_t op)
{
	fw_perfetto_begin(w, phase, at, "launch");
	fw_json_string(&w->json, "cat", "launch");
	fw_json_uint(&w->json, "id", op);
	if (*phase == 'f')
		fw_json_string(&w->json, "bp", "e");
	fw_perfetto_time(w, "ts", ns);
	fw_perfetto_end(w);
}

static void put_arrow(struct fw_perfetto *w, uint32_t op, struct fw_place to)
{
	const struct fw_trace *t = w->trace;
	uint32_t call = w->report->ledger->call_of_op[op];
	struct fw_place from;

	if (call == FW_NONE || !w->call_tids[call])
		return;
	from.pid = t->threads.process[t->calls.thread[call]] + 1;
	from.tid = w->call_tids[call];
	put_arrow_end(w, "s", from, t->calls.start_ns[call], op);
	put_arrow_end(w, "f", to, t->ops.start_ns[op], op);
}

static void put_op(struct fw_perfetto *w, uint32_t op, struct fw_place at)
{
	const struct fw_trace *t = w->trace;

	fw_perfetto_slice(w, at, fw_trace_text(t, t->ops.name[op]), t->ops.start_ns[op],
			  t->ops.end_ns[op]);
	put_op_args(w, op);
	fw_perfetto_end(w);
	put_arrow(w, op, at);
}

/* The device's operations, each on its stream's track; lanes: one a stream of the trace. */
static void put_ops(struct fw_perfetto *w, const struct fw_device_ledger *device,
		    struct fw_lanes *lanes)
{
	const struct fw_trace *t = w->trace;

	for (size_t i = 0; i < device->op_count; i++) {
		uint32_t op = device->ops[i], stream = t->ops.stream[op];
		struct fw_place at = place(device->device, 1 + stream);

		at.tid += fw_lanes_take(&lanes[stream], t->ops.start_ns[op], t->ops.end_ns[op]);
		put_op(w, op, at);
	}
}

static void close_streams(struct fw_perfetto *w, struct fw_lanes *lanes)
{
	const struct fw_trace *t = w->trace;
	char name[40];

	for (uint32_t s = 0; s < t->streams.len; s++) {
		snprintf(name, sizeof(name), "stream %" PRId64, t->streams.id[s]);
		fw_perfetto_name_lanes(w, place(t->streams.device[s], 1 + s), &lanes[s], name);
		fw_perfetto_close_lanes(w, &lanes[s]);
	}
}

static void put_idle(struct fw_perfetto *w, const struct fw_device_ledger *device)
{
	const struct fw_trace *t = w->trace;
	const struct fw_place at = place(device->device, 0);
	const struct fw_lanes one = { .used = 1 };

	for (size_t i = 0; i < device->idle_count; i++) {
		const struct fw_idle *idle = &device->idle[i];

		fw_perfetto_slice(w, at, fw_class_id(idle->class_id), idle->start_ns, idle->end_ns);
		fw_json_begin_object(&w->json, "args");
		fw_json_string(&w->json, "why", fw_class_text(idle->class_id));
		if (idle->call != FW_NONE)
			fw_json_string(&w->json, "call",
				       fw_trace_text(t, t->calls.name[idle->call]));
		if (idle->range != FW_NONE)
			fw_json_string(&w->json, "in",
				       fw_trace_text(t, t->ranges.name[idle->range]));
		if (idle->next_op != FW_NONE)
			fw_json_string(&w->json, "next",
				       fw_trace_text(t, t->ops.name[idle->next_op]));
		fw_json_end_object(&w->json);
		fw_perfetto_end(w);
	}
	fw_perfetto_name_lanes(w, at, &one, "why the GPU was idle");
}

/* Each where what it covers begins; on the GPU that the report has, of rows that are one GPU. */
static void put_counters(struct fw_perfetto *w)
{
	const struct fw_ledger *ledger = w->report->ledger;
	const struct fw_trace_counters *c = &w->trace->counters;

	for (size_t i = 0; i < c->len; i++) {
		size_t index = fw_ledger_of_device(ledger, c->device[i]);

		if (index < ledger->device_count)
			fw_perfetto_sample(w, FW_PERFETTO_GPU + ledger->devices[index].device,
					   fw_trace_text(w->trace, c->name[i]), c->start_ns[i],
					   c->value[i]);
	}
}

static void name_device(struct fw_perfetto *w, uint32_t device)
{
	const struct fw_trace *t = w->trace;
	const char *name = fw_trace_text(t, t->devices.name[device]);
	int32_t rank = t->files.rank[t->devices.file[device]];
	struct fw_str text = { 0 };

	fw_str_printf(&text, "GPU %" PRId64 "%s%s", t->devices.id[device], *name ? " " : "", name);
	if (rank >= 0)
		fw_str_printf(&text, ", rank %d", (int)rank);
	fw_perfetto_name_process(w, FW_PERFETTO_GPU + device, fw_str_text(&text));
	w->failed = w->failed || text.failed;
	fw_str_release(&text);
}

void fw_perfetto_gpus(struct fw_perfetto *w)
{
	const struct fw_ledger *ledger = w->report->ledger;
	struct fw_lanes *lanes = calloc(w->trace->streams.len + 1, sizeof(*lanes));

	if (!lanes) {
		w->failed = true;
		return;
	}
	for (size_t i = 0; i < ledger->device_count; i++) {
		name_device(w, ledger->devices[i].device);
		put_idle(w, &ledger->devices[i]);
		put_ops(w, &ledger->devices[i], lanes);
	}
	close_streams(w, lanes);
	put_counters(w);
	free(lanes);
}
