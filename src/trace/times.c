/* The events of a trace as they were at a mark: taken out again, moved in time, asked for the first. */
#include "trace/trace.h"

struct fw_trace_mark fw_trace_mark(const struct fw_trace *trace)
{
	struct fw_trace_mark mark = { 0 };

#define FW_TABLE(name)
#define FW_EVENTS(name) mark.name = trace->name.len;
#define FW_COL(type, name)
#define FW_END
#include "trace/tables.def"
#undef FW_TABLE
#undef FW_COL
#undef FW_END
	return mark;
}

void fw_trace_forget(struct fw_trace *trace, const struct fw_trace_mark *mark)
{
#define FW_TABLE(name)
#define FW_EVENTS(name) trace->name.len = mark->name;
#define FW_COL(type, name)
#define FW_END
#include "trace/tables.def"
#undef FW_TABLE
#undef FW_COL
#undef FW_END
}

static void shift(int64_t *times, size_t from, size_t to, int64_t by)
{
	for (size_t i = from; i < to; i++)
		if (times[i] != INT64_MIN)
			times[i] += by;
}

/* clang-format off: one block a table, one line a column of times. */
void fw_trace_shift(struct fw_trace *trace, const struct fw_trace_mark *from,
		    const struct fw_trace_mark *to, int64_t by)
{
#define FW_TABLE(name) {
#define FW_EVENTS(name)                                                                            \
	{                                                                                          \
		struct fw_trace_##name *table = &trace->name;                                      \
		size_t first = from->name, end = to->name;
#define FW_TIME(name) shift(table->name, first, end, by);
#define FW_COL(type, name)
#define FW_END }
#include "trace/tables.def"
#undef FW_TABLE
#undef FW_COL
#undef FW_END
}
/* clang-format on */

static int64_t least(const int64_t *times, size_t from, size_t to, int64_t so_far)
{
	for (size_t i = from; i < to; i++)
		if (times[i] < so_far)
			so_far = times[i];
	return so_far;
}

int64_t fw_trace_earliest(const struct fw_trace *t, const struct fw_trace_mark *from,
			  const struct fw_trace_mark *to)
{
	int64_t time = least(t->ops.start_ns, from->ops, to->ops, INT64_MAX);

	time = least(t->calls.start_ns, from->calls, to->calls, time);
	return least(t->ranges.start_ns, from->ranges, to->ranges, time);
}
