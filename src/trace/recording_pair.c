/*
 * What belongs together in a file: a wait and the event it waited for, a graph and the call that
 * launched it, an allocation and the thread that made it.
 */
#include "trace/recording_file.h"

#include <stdlib.h>
#include <string.h>

/* Something found by a key; of several, the last that is not above a correlation id. */
struct keyed {
	uint64_t key;
	int64_t corr;
};

static int by_key(const void *x, const void *y)
{
	const struct keyed *a = x, *b = y;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->corr > b->corr) - (a->corr < b->corr);
}

/* The greatest corr of the key that is below `below`; FW_CORR_NONE. */
static int64_t find_below(const struct keyed *list, size_t n, uint64_t key, int64_t below)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (list[mid].key < key || (list[mid].key == key && list[mid].corr < below))
			low = mid + 1;
		else
			high = mid;
	}
	return low && list[low - 1].key == key ? list[low - 1].corr : FW_CORR_NONE;
}

/*
 * CUPTI tells which record of an event a wait is for; versions that do not leave it to the order of
 * the calls: the last record of the event before the wait.
 */
static fw_status pair_events(struct fw_rec_reader *r, struct fw_error *err)
{
	const struct fw_trace_events *events = &r->trace->events;
	struct fw_trace_syncs *syncs = &r->trace->syncs;
	const struct fw_rec_wait *waits = r->waits.data;
	size_t first = r->start.events, n = events->len - first;
	struct keyed *by_sync = malloc((n + 1) * sizeof(*by_sync));
	struct keyed *by_event = malloc((n + 1) * sizeof(*by_event));
	bool ok = by_sync && by_event;

	for (size_t i = 0; i < n && ok; i++) {
		int64_t corr = events->corr[first + i];

		by_sync[i] = (struct keyed){ events->event_sync[first + i], corr };
		by_event[i] = (struct keyed){ events->event[first + i], corr };
	}
	if (ok) {
		qsort(by_sync, n, sizeof(*by_sync), by_key);
		qsort(by_event, n, sizeof(*by_event), by_key);
	}
	for (size_t i = 0; i < r->waits.len && ok; i++) {
		const struct fw_rec_wait *w = &waits[i];

		if (w->event_sync)
			syncs->wait_corr[w->sync] =
				find_below(by_sync, n, w->event_sync, INT64_MAX);
		else if (syncs->corr[w->sync] != FW_CORR_NONE)
			syncs->wait_corr[w->sync] =
				find_below(by_event, n, w->event, syncs->corr[w->sync]);
	}
	free(by_sync);
	free(by_event);
	return ok ? FW_OK : fw_fail_nomem(err, n * sizeof(struct keyed));
}

/* Gives each launch of a graph the graph's id, which only the operations tell. */
static fw_status name_graphs(struct fw_rec_reader *r, struct fw_error *err)
{
	const struct fw_trace_ops *ops = &r->trace->ops;
	struct fw_trace_calls *calls = &r->trace->calls;
	struct fw_map graphs = { 0 };
	bool ok = true;

	for (size_t i = r->start.ops; i < ops->len && ok; i++) {
		uint64_t *slot;

		if (!ops->graph[i] || ops->corr[i] == FW_CORR_NONE)
			continue;
		slot = fw_map_at(&graphs, (uint64_t)ops->corr[i], 0, NULL);
		ok = slot != NULL;
		if (ok)
			*slot = ops->graph[i];
	}
	for (size_t i = r->start.calls; i < calls->len && ok && graphs.len; i++) {
		const uint64_t *slot = fw_map_find(&graphs, (uint64_t)calls->corr[i], 0);

		if (slot)
			calls->graph[i] = (uint32_t)*slot;
	}
	fw_map_release(&graphs);
	return ok ? FW_OK : fw_fail_nomem(err, ops->len * sizeof(uint64_t));
}

/* Gives each allocation the thread of the call that made it; its correlation id waits in total_bytes. */
static fw_status find_allocators(struct fw_rec_reader *r, struct fw_error *err)
{
	struct fw_trace_allocations *a = &r->trace->allocations;
	const struct fw_trace_calls *calls = &r->trace->calls;
	struct fw_map threads = { 0 };
	bool ok = true;

	for (size_t i = r->start.allocations; i < a->len && ok; i++)
		ok = !a->total_bytes[i] ||
		     fw_map_at(&threads, (uint64_t)a->total_bytes[i], 0, NULL);
	for (size_t i = r->start.calls; i < calls->len && ok && threads.len; i++) {
		uint64_t *slot = fw_map_find(&threads, (uint64_t)calls->corr[i], 0);

		if (slot)
			*slot = (uint64_t)calls->thread[i] + 1;
	}
	for (size_t i = r->start.allocations; i < a->len && ok; i++) {
		const uint64_t *slot = fw_map_find(&threads, (uint64_t)a->total_bytes[i], 0);

		if (slot && *slot)
			a->thread[i] = (uint32_t)(*slot - 1);
		a->total_bytes[i] = -1;
	}
	fw_map_release(&threads);
	return ok ? FW_OK : fw_fail_nomem(err, a->len * sizeof(uint64_t));
}

fw_status fw_rec_pair(struct fw_rec_reader *r, struct fw_error *err)
{
	fw_status status = pair_events(r, err);

	if (!status)
		status = name_graphs(r, err);
	return status ? status : find_allocators(r, err);
}
