/* The last step of building a trace: times from 0, and what the source could not see. */
#include "trace/trace.h"

#include <string.h>

static bool has_range(const struct fw_trace *t, enum fw_range_kind kind)
{
	for (size_t i = 0; i < t->ranges.len; i++)
		if (t->ranges.kind[i] == kind)
			return true;
	return false;
}

/* True when every operation starts and ends on a whole microsecond. */
static bool is_quantised(const struct fw_trace *t)
{
	for (size_t i = 0; i < t->ops.len; i++)
		if (t->ops.start_ns[i] % 1000 || t->ops.end_ns[i] % 1000)
			return false;
	return t->ops.len > 0;
}

static bool knows_devices(const struct fw_trace *t)
{
	for (size_t i = 0; i < t->ops.len; i++)
		if (t->devices.cc[fw_op_device(t, (uint32_t)i)] < 0)
			return false;
	return true;
}

static bool has_opaque_graph(const struct fw_trace *t)
{
	for (size_t i = 0; i < t->ops.len; i++)
		if (t->ops.kind[i] == FW_OP_GRAPH)
			return true;
	return false;
}

/* A recording has them whenever the program synchronises; other traces only when asked. */
static bool lacks_syncs(const struct fw_trace *t)
{
	if (t->syncs.len || t->source != FW_SOURCE_RECORDING)
		return !t->syncs.len;
	for (size_t i = 0; i < t->calls.len; i++)
		if (strstr(fw_trace_text(t, t->calls.name[i]), "Synchronize"))
			return true;
	return false;
}

static bool is_paused(const struct fw_trace *t)
{
	const struct fw_trace_blind_intervals *blind = &t->blind_intervals;

	for (size_t i = 0; i < blind->len; i++)
		if (blind->reason[i] == FW_LOSS_PAUSED ||
		    blind->reason[i] == FW_LOSS_OTHER_PROFILER)
			return true;
	return false;
}

static bool is_dropped(const struct fw_trace *t)
{
	const struct fw_trace_blind_intervals *blind = &t->blind_intervals;

	for (size_t i = 0; i < blind->len; i++)
		if (blind->reason[i] != FW_LOSS_PAUSED &&
		    blind->reason[i] != FW_LOSS_OTHER_PROFILER)
			return true;
	return t->integrity.dropped_records > 0;
}

static void mark(struct fw_trace *t, enum fw_blind_spot spot, bool is_blind)
{
	if (is_blind)
		t->blind_spots |= 1u << spot;
}

static void mark_blind_spots(struct fw_trace *t)
{
	mark(t, FW_BLIND_NO_GPU_OPS, !t->ops.len);
	mark(t, FW_BLIND_NO_CALLS, !t->calls.len);
	mark(t, FW_BLIND_NO_SYNC_RECORDS, lacks_syncs(t));
	mark(t, FW_BLIND_NO_OPERATORS, !has_range(t, FW_RANGE_OPERATOR));
	mark(t, FW_BLIND_NO_PYTHON, !has_range(t, FW_RANGE_PYTHON));
	mark(t, FW_BLIND_NO_LOADER_MARKS, !has_range(t, FW_RANGE_INPUT));
	mark(t, FW_BLIND_NO_STEPS, !has_range(t, FW_RANGE_STEP));
	mark(t, FW_BLIND_NO_DEVICE_PROPERTIES, !knows_devices(t));
	mark(t, FW_BLIND_GRAPH_LEVEL_ONLY, has_opaque_graph(t));
	mark(t, FW_BLIND_QUANTISED, t->source != FW_SOURCE_RECORDING && is_quantised(t));
	mark(t, FW_BLIND_DROPPED, is_dropped(t));
	mark(t, FW_BLIND_PAUSED, is_paused(t));
	mark(t, FW_BLIND_NO_SCHEDULING, !t->switches.len);
}

void fw_trace_seal(struct fw_trace *trace)
{
	struct fw_trace_mark none = { 0 }, all = fw_trace_mark(trace);
	int64_t least = fw_trace_earliest(trace, &none, &all);

	if (least == INT64_MAX)
		least = 0;
	mark_blind_spots(trace);
	fw_trace_shift(trace, &none, &all, -least);
	for (size_t i = 0; i < trace->files.len; i++)
		if (trace->files.epoch_ns[i] != INT64_MIN)
			trace->files.epoch_ns[i] += least;
	if (trace->epoch_ns != INT64_MIN)
		trace->epoch_ns += least;
	fw_map_release(&trace->index);
}
