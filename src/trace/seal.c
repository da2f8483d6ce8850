/* The last step of building a trace: times from 0, and what the source could not see. */
#include "trace/trace.h"

static void earliest(const int64_t *times, size_t n, int64_t *least)
{
	for (size_t i = 0; i < n; i++)
		if (times[i] < *least)
			*least = times[i];
}

static void shift(int64_t *times, size_t n, int64_t by)
{
	for (size_t i = 0; i < n; i++)
		times[i] -= by;
}

static void shift_all(struct fw_trace *t, int64_t by)
{
	shift(t->ops.start_ns, t->ops.len, by);
	shift(t->ops.end_ns, t->ops.len, by);
	shift(t->calls.start_ns, t->calls.len, by);
	shift(t->calls.end_ns, t->calls.len, by);
	shift(t->ranges.start_ns, t->ranges.len, by);
	shift(t->ranges.end_ns, t->ranges.len, by);
	shift(t->syncs.start_ns, t->syncs.len, by);
	shift(t->syncs.end_ns, t->syncs.len, by);
	shift(t->allocations.time_ns, t->allocations.len, by);
	shift(t->counters.time_ns, t->counters.len, by);
}

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

static void mark(struct fw_trace *t, enum fw_blind_spot spot, bool is_blind)
{
	if (is_blind)
		t->blind_spots |= 1u << spot;
}

static void mark_blind_spots(struct fw_trace *t)
{
	mark(t, FW_BLIND_NO_GPU_OPS, !t->ops.len);
	mark(t, FW_BLIND_NO_CALLS, !t->calls.len);
	mark(t, FW_BLIND_NO_SYNC_RECORDS, !t->syncs.len);
	mark(t, FW_BLIND_NO_OPERATORS, !has_range(t, FW_RANGE_OPERATOR));
	mark(t, FW_BLIND_NO_PYTHON, !has_range(t, FW_RANGE_PYTHON));
	mark(t, FW_BLIND_NO_LOADER_MARKS, !has_range(t, FW_RANGE_INPUT));
	mark(t, FW_BLIND_NO_STEPS, !has_range(t, FW_RANGE_STEP));
	mark(t, FW_BLIND_NO_DEVICE_PROPERTIES, !knows_devices(t));
	mark(t, FW_BLIND_GRAPH_LEVEL_ONLY, has_opaque_graph(t));
	mark(t, FW_BLIND_QUANTISED, is_quantised(t));
	mark(t, FW_BLIND_DROPPED, t->integrity.dropped_records > 0);
	mark(t, FW_BLIND_NO_SCHEDULING, true);
}

void fw_trace_seal(struct fw_trace *trace)
{
	int64_t least = INT64_MAX;

	earliest(trace->ops.start_ns, trace->ops.len, &least);
	earliest(trace->calls.start_ns, trace->calls.len, &least);
	earliest(trace->ranges.start_ns, trace->ranges.len, &least);
	if (least == INT64_MAX)
		least = 0;
	mark_blind_spots(trace);
	shift_all(trace, least);
	for (size_t i = 0; i < trace->files.len; i++)
		if (trace->files.epoch_ns[i] != INT64_MIN)
			trace->files.epoch_ns[i] += least;
	if (trace->epoch_ns != INT64_MIN)
		trace->epoch_ns += least;
	fw_map_release(&trace->index);
}
