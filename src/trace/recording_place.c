/* Times of a file, on CUPTI's clock and on CLOCK_MONOTONIC, -> the one line of the trace. */
#include "trace/recording_chunks.h"
#include "trace/recording_file.h"

#include <inttypes.h>
#include <stdlib.h>

/* Rows of one table whose times are CUPTI's. */
struct spans {
	int64_t *start, *end; /* end NULL: instants */
	size_t from, to;
	uint8_t *drop; /* one a row, made when the first is dropped */
};

static bool is_usable(int64_t start, int64_t end)
{
	return start >= 0 && end >= start && end < FW_REC_LATEST_NS &&
	       end - start <= FW_REC_LONGEST_NS;
}

/* Readings that contradict each other give times that cannot be: such rows are dropped. */
static bool drop_row(struct fw_rec_reader *r, struct spans *s, size_t row)
{
	struct fw_integrity *flaws = &r->trace->integrity;

	if (!s->drop)
		s->drop = calloc(s->to - s->from, 1);
	if (!s->drop)
		return false;
	s->drop[row - s->from] = 1;
	fw_rec_flaw(flaws, &flaws->bad_times, 1, 0);
	return true;
}

/* Maps the rows of a kind (NULL: all); false: memory is out. */
static bool map_spans(struct fw_rec_reader *r, struct spans *s, const uint8_t *kind)
{
	for (size_t i = s->from; i < s->to; i++) {
		int64_t start, end;

		if (kind && kind[i] != FW_RANGE_OVERHEAD)
			continue;
		start = fw_rec_map(&r->cupti, s->start[i]);
		end = s->end ? fw_rec_map(&r->cupti, s->end[i]) : start;
		if (!is_usable(start, end) && !drop_row(r, s, i))
			return false;
		s->start[i] = start;
		if (s->end)
			s->end[i] = end;
	}
	return true;
}

static bool has_cupti_times(const struct fw_rec_reader *r)
{
	const struct fw_trace *t = r->trace;

	if (t->ops.len > r->start.ops || t->calls.len > r->start.calls ||
	    t->syncs.len > r->start.syncs || t->allocations.len > r->start.allocations)
		return true;
	for (size_t i = r->start.ranges; i < t->ranges.len; i++)
		if (t->ranges.kind[i] == FW_RANGE_OVERHEAD)
			return true;
	return false;
}

#define MAP(table, first, last, kind)                                                              \
	do {                                                                                       \
		struct spans s = { first, last, r->start.table, t->table.len, NULL };              \
		bool ok = map_spans(r, &s, kind);                                                  \
                                                                                                   \
		if (ok && s.drop)                                                                  \
			fw_trace_filter_##table(t, s.from, s.drop);                                \
		free(s.drop);                                                                      \
		if (!ok)                                                                           \
			return false;                                                              \
	} while (0)

static bool map_all(struct fw_rec_reader *r)
{
	struct fw_trace *t = r->trace;

	MAP(ops, t->ops.start_ns, t->ops.end_ns, NULL);
	MAP(calls, t->calls.start_ns, t->calls.end_ns, NULL);
	MAP(syncs, t->syncs.start_ns, t->syncs.end_ns, NULL);
	MAP(allocations, t->allocations.time_ns, NULL, NULL);
	MAP(ranges, t->ranges.start_ns, t->ranges.end_ns, t->ranges.kind);
	return true;
}

fw_status fw_rec_place(struct fw_rec_reader *r, struct fw_error *err)
{
	const struct fw_rec_machine *machines = r->owners->machines.data;
	int64_t by = machines[r->machine].offset_ns - machines[0].offset_ns;
	struct fw_trace_mark end;

	if (fw_rec_mapping_settle(&r->cupti))
		r->trace->files.clock_error_ns[r->file] = r->cupti.error_ns;
	else if (has_cupti_times(r))
		return fw_fail(err, FW_ERR_FORMAT,
			       "%s: no usable pair of clock readings (%" PRIu64
			       " were not usable): its GPU times cannot be placed",
			       fw_trace_text(r->trace, r->trace->files.path[r->file]),
			       r->cupti.ignored);
	r->trace->integrity.bad_clock_pairs += r->cupti.ignored;
	if (r->cupti.pairs.len && !map_all(r))
		return fw_fail_nomem(err, r->trace->ops.len);
	end = fw_trace_mark(r->trace);
	fw_trace_shift(r->trace, &r->start, &end, by);
	return FW_OK;
}
