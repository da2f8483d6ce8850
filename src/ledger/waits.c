/* Synchronisation calls -> the end of the last operation each waited for. */
#include "ledger/waits.h"

#include <stdlib.h>

static int by_correlation(const void *ctx, uint32_t a, uint32_t b)
{
	const struct fw_trace_syncs *t = ctx;

	return (t->corr[a] > t->corr[b]) - (t->corr[a] < t->corr[b]);
}

/* A stream that waits for an event blocks the stream, not the host. */
static bool index_syncs(struct fw_waits *w)
{
	const struct fw_trace_syncs *t = &w->ledger->trace->syncs;

	w->syncs = malloc((t->len + 1) * sizeof(*w->syncs));
	if (!w->syncs)
		return false;
	for (size_t i = 0; i < t->len; i++)
		if (t->kind[i] != FW_SYNC_STREAM_WAIT && t->corr[i] != FW_CORR_NONE)
			w->syncs[w->sync_count++] = (uint32_t)i;
	return fw_sort_rows(w->syncs, w->sync_count, by_correlation, t);
}

static bool index_streams(struct fw_waits *w)
{
	const struct fw_trace_streams *t = &w->ledger->trace->streams;

	for (size_t i = 0; i < t->len; i++) {
		uint64_t *slot = fw_map_at(&w->streams, t->device[i], (uint64_t)t->id[i], NULL);

		if (!slot)
			return false;
		*slot = i;
	}
	return true;
}

/* A counting sort of the operations, which come by end already, into their streams. */
static bool index_ops(struct fw_waits *w)
{
	const struct fw_trace *t = w->ledger->trace;
	const uint32_t *by_end = fw_device_work(w->ledger, w->device)->by_end;
	size_t n = w->device->op_count;

	w->by_stream = malloc((n + 1) * sizeof(*w->by_stream));
	w->first_of = calloc(t->streams.len + 2, sizeof(*w->first_of));
	if (!w->by_stream || !w->first_of)
		return false;
	/* Counted two places on, so that placing the rows below leaves each start in its place. */
	for (size_t i = 0; i < n; i++)
		w->first_of[t->ops.stream[by_end[i]] + 2]++;
	for (size_t s = 2; s < t->streams.len + 2; s++)
		w->first_of[s] += w->first_of[s - 1];
	for (size_t i = 0; i < n; i++)
		w->by_stream[w->first_of[t->ops.stream[by_end[i]] + 1]++] = by_end[i];
	return true;
}

bool fw_waits_build(struct fw_waits *waits, const struct fw_ledger *ledger,
		    const struct fw_device_ledger *device)
{
	*waits = (struct fw_waits){ .ledger = ledger, .device = device };
	return index_syncs(waits) && index_streams(waits) && index_ops(waits);
}

void fw_waits_release(struct fw_waits *waits)
{
	free(waits->syncs);
	fw_map_release(&waits->streams);
	free(waits->by_stream);
	free(waits->first_of);
	*waits = (struct fw_waits){ 0 };
}

/* The first of the sorted records whose correlation id is not less. */
static size_t first_with(const struct fw_waits *w, int64_t corr)
{
	size_t low = 0, high = w->sync_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (w->ledger->trace->syncs.corr[w->syncs[mid]] < corr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool same_file(const struct fw_trace *t, uint32_t device, uint32_t call)
{
	uint32_t process = t->threads.process[t->calls.thread[call]];

	return device == FW_NONE || t->devices.file[device] == t->processes.file[process];
}

/*
 * The record of a call: correlation id and file, and, because processes count their calls apart and
 * the record names no process, the two must overlap in time.
 */
static uint32_t record_of(const struct fw_waits *w, uint32_t call)
{
	const struct fw_trace *t = w->ledger->trace;
	int64_t corr = t->calls.corr[call];

	if (corr == FW_CORR_NONE)
		return FW_NONE;
	for (size_t i = first_with(w, corr); i < w->sync_count; i++) {
		uint32_t row = w->syncs[i];

		if (t->syncs.corr[row] != corr)
			break;
		if (same_file(t, t->syncs.device[row], call) &&
		    t->syncs.start_ns[row] <= t->calls.end_ns[call] &&
		    t->syncs.end_ns[row] >= t->calls.start_ns[call])
			return row;
	}
	return FW_NONE;
}

/* The last of the stream's operations that ended at or before t. */
static int64_t last_end_on(const struct fw_waits *w, uint64_t stream, int64_t t)
{
	const int64_t *end_ns = w->ledger->trace->ops.end_ns;
	size_t low = w->first_of[stream], high = w->first_of[stream + 1];

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (end_ns[w->by_stream[mid]] <= t)
			low = mid + 1;
		else
			high = mid;
	}
	return low > w->first_of[stream] ? end_ns[w->by_stream[low - 1]] : INT64_MIN;
}

int64_t fw_waits_last_end(const struct fw_waits *waits, uint32_t call, bool *elsewhere)
{
	const struct fw_trace *t = waits->ledger->trace;
	const struct fw_ledger_private *p = waits->ledger->private;
	int64_t returned = t->calls.end_ns[call];
	uint32_t record = record_of(waits, call), device, op;

	*elsewhere = false;
	device = record == FW_NONE ? FW_NONE : t->syncs.device[record];
	if (device != FW_NONE &&
	    p->ledger_of_device[device] != (uint32_t)(waits->device - waits->ledger->devices)) {
		*elsewhere = true;
		return INT64_MIN;
	}
	if (device != FW_NONE && t->syncs.kind[record] != FW_SYNC_CONTEXT &&
	    t->syncs.stream_id[record] >= 0) {
		const uint64_t *stream =
			fw_map_find(&waits->streams, device, (uint64_t)t->syncs.stream_id[record]);

		if (stream)
			return last_end_on(waits, *stream, returned);
	}
	op = fw_last_op_ended(waits->ledger, waits->device, returned);
	return op == FW_NONE ? INT64_MIN : t->ops.end_ns[op];
}
