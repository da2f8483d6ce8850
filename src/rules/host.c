/* Calls and ranges of every thread in order of time, and which process drives which device. */
#include "rules/host.h"

#include <stdlib.h>
#include <string.h>

/* Operators nested deeper than this are not followed: a bound on the work that a hostile file causes. */
#define NESTING_LIMIT 512

/* A row as it is sorted; start is where it stands in time, process and thread whose it is. */
struct row {
	int64_t start, end;
	uint32_t process, thread, row;
};

struct sorted {
	uint32_t *rows;
	uint32_t *process; /* of each, for finding a process's slice */
	size_t len;
};

/* A process that launches operations on a device of the ledger. */
struct drives {
	uint32_t device, process;
};

struct fw_host {
	const struct fw_ledger *ledger;
	struct sorted calls, operators, marks, overhead;
	uint32_t *call_place; /* of each call in calls */
	uint32_t *parent;     /* of each of operators its enclosing one's place, or FW_NONE */
	uint32_t *op_of_call;
	struct fw_vec drives; /* struct drives, by device and process */
	int64_t *waited;      /* by device: what fw_gpu_bound worked out; INT64_MIN: not yet */
};

static int by_thread_and_time(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

/* Room for count values, each FW_NONE; never 0 bytes. */
static uint32_t *none_array(size_t count)
{
	uint32_t *values = malloc((count + 1) * sizeof(*values));

	if (values)
		memset(values, 0xff, (count + 1) * sizeof(*values));
	return values;
}

static bool sort_rows(struct sorted *sorted, struct row *rows, size_t len)
{
	sorted->rows = none_array(len);
	sorted->process = none_array(len);
	if (!sorted->rows || !sorted->process)
		return false;
	qsort(rows, len, sizeof(*rows), by_thread_and_time);
	for (size_t i = 0; i < len; i++) {
		sorted->rows[i] = rows[i].row;
		sorted->process[i] = rows[i].process;
	}
	sorted->len = len;
	return true;
}

static bool sort_calls(struct fw_host *host, struct row *rows)
{
	const struct fw_trace *t = host->ledger->trace;

	for (size_t i = 0; i < t->calls.len; i++)
		rows[i] = (struct row){ t->calls.start_ns[i], t->calls.end_ns[i],
					t->threads.process[t->calls.thread[i]], t->calls.thread[i],
					(uint32_t)i };
	host->call_place = none_array(t->calls.len);
	host->op_of_call = none_array(t->calls.len);
	if (!host->call_place || !host->op_of_call || !sort_rows(&host->calls, rows, t->calls.len))
		return false;
	for (size_t i = 0; i < t->calls.len; i++)
		host->call_place[host->calls.rows[i]] = (uint32_t)i;
	return true;
}

static bool is_mark(enum fw_range_kind kind)
{
	return kind == FW_RANGE_INPUT || kind == FW_RANGE_STEP || kind == FW_RANGE_OTHER ||
	       kind == FW_RANGE_COMPILE;
}

static bool is_operator(enum fw_range_kind kind)
{
	return kind == FW_RANGE_OPERATOR || kind == FW_RANGE_CALL_SITE;
}

static bool is_overhead(enum fw_range_kind kind)
{
	return kind == FW_RANGE_OVERHEAD;
}

static bool sort_ranges(struct fw_host *host, struct sorted *sorted, struct row *rows,
			bool (*is_wanted)(enum fw_range_kind kind))
{
	const struct fw_trace *t = host->ledger->trace;
	const struct fw_trace_ranges *ranges = &t->ranges;
	size_t n = 0;

	for (size_t i = 0; i < ranges->len; i++)
		if (is_wanted((enum fw_range_kind)ranges->kind[i]))
			rows[n++] = (struct row){ ranges->start_ns[i], ranges->end_ns[i],
						  t->threads.process[ranges->thread[i]],
						  ranges->thread[i], (uint32_t)i };
	return sort_rows(sorted, rows, n);
}

/* Each operator's enclosing one: the last still open when it starts. */
static bool link_parents(struct fw_host *host)
{
	const struct fw_trace_ranges *ranges = &host->ledger->trace->ranges;
	const uint32_t *rows = host->operators.rows;

	host->parent = none_array(host->operators.len);
	if (!host->parent)
		return false;
	for (size_t i = 1; i < host->operators.len; i++) {
		uint32_t p = (uint32_t)i - 1;

		if (ranges->thread[rows[p]] != ranges->thread[rows[i]])
			continue;
		/* What has ended is never open again, so a chain is walked once and then skipped. */
		while (p != FW_NONE && ranges->end_ns[rows[p]] < ranges->end_ns[rows[i]])
			p = host->parent[p];
		host->parent[i] = p;
	}
	return true;
}

static int by_device_and_process(const void *a, const void *b)
{
	const struct drives *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->process > y->process) - (x->process < y->process);
}

/* Which operation a call launched first, and which process drives the device. */
static bool link_device(struct fw_host *host, uint32_t d, struct fw_map *seen)
{
	const struct fw_ledger *ledger = host->ledger;
	const struct fw_trace *t = ledger->trace;
	const struct fw_device_ledger *device = &ledger->devices[d];

	for (size_t i = 0; i < device->op_count; i++) {
		uint32_t op = device->ops[i], call = ledger->call_of_op[op], process;
		struct drives *drives;
		bool inserted;

		if (call == FW_NONE)
			continue;
		if (host->op_of_call[call] == FW_NONE)
			host->op_of_call[call] = op;
		process = t->threads.process[t->calls.thread[call]];
		if (!fw_map_at(seen, d, process, &inserted))
			return false;
		if (!inserted)
			continue;
		drives = fw_vec_push(&host->drives);
		if (!drives)
			return false;
		*drives = (struct drives){ d, process };
	}
	return true;
}

static bool link_devices(struct fw_host *host)
{
	struct fw_map seen = { 0 };
	bool done = true;

	for (uint32_t d = 0; done && d < host->ledger->device_count; d++)
		done = link_device(host, d, &seen);
	fw_map_release(&seen);
	if (host->drives.len)
		qsort(host->drives.data, host->drives.len, sizeof(struct drives),
		      by_device_and_process);
	return done;
}

static bool prepare_bounds(struct fw_host *host)
{
	host->waited = malloc((host->ledger->device_count + 1) * sizeof(*host->waited));
	if (!host->waited)
		return false;
	for (size_t d = 0; d < host->ledger->device_count; d++)
		host->waited[d] = INT64_MIN;
	return true;
}

static bool build(struct fw_host *host)
{
	const struct fw_trace *t = host->ledger->trace;
	size_t most = t->calls.len > t->ranges.len ? t->calls.len : t->ranges.len;
	struct row *rows = malloc((most + 1) * sizeof(*rows));
	bool done = rows && prepare_bounds(host) && sort_calls(host, rows) &&
		    sort_ranges(host, &host->operators, rows, is_operator) &&
		    sort_ranges(host, &host->marks, rows, is_mark) &&
		    sort_ranges(host, &host->overhead, rows, is_overhead) && link_parents(host) &&
		    link_devices(host);

	free(rows);
	return done;
}

const struct fw_host *fw_host_of(const struct fw_ledger *ledger, struct fw_findings *findings)
{
	struct fw_host *host = findings->host;

	if (host)
		return host;
	host = calloc(1, sizeof(*host));
	if (host) {
		host->ledger = ledger;
		host->drives = (struct fw_vec)FW_VEC(struct drives);
	}
	if (!host || !build(host)) {
		fw_host_destroy(host);
		findings->failed = true;
		return NULL;
	}
	findings->host = host;
	return host;
}

static void release_sorted(struct sorted *sorted)
{
	free(sorted->rows);
	free(sorted->process);
}

void fw_host_destroy(struct fw_host *host)
{
	if (!host)
		return;
	release_sorted(&host->calls);
	release_sorted(&host->operators);
	release_sorted(&host->marks);
	release_sorted(&host->overhead);
	free(host->call_place);
	free(host->parent);
	free(host->op_of_call);
	free(host->waited);
	fw_vec_release(&host->drives);
	free(host);
}

/* The nth process of a device; false: it has fewer. */
static bool find_process(const struct fw_host *host, size_t device, size_t nth, uint32_t *process)
{
	const struct drives *list = host->drives.data;
	size_t low = 0, high = host->drives.len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (list[mid].device < device)
			low = mid + 1;
		else
			high = mid;
	}
	if (nth >= host->drives.len - low || list[low + nth].device != device)
		return false;
	*process = list[low + nth].process;
	return true;
}

/* The first place whose process is at least this one. */
static size_t lower_bound(const struct sorted *sorted, uint64_t process)
{
	size_t low = 0, high = sorted->len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (sorted->process[mid] < process)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool slice(const struct fw_host *host, const struct sorted *sorted, size_t device,
		  size_t nth, struct fw_rows *rows)
{
	uint32_t process;
	size_t first;

	if (!find_process(host, device, nth, &process))
		return false;
	first = lower_bound(sorted, process);
	rows->rows = sorted->rows + first;
	rows->count = lower_bound(sorted, (uint64_t)process + 1) - first;
	return true;
}

bool fw_host_calls(const struct fw_host *host, size_t device, size_t nth, struct fw_rows *calls)
{
	return slice(host, &host->calls, device, nth, calls);
}

bool fw_host_operators(const struct fw_host *host, size_t device, size_t nth,
		       struct fw_rows *operators)
{
	return slice(host, &host->operators, device, nth, operators);
}

bool fw_host_marks(const struct fw_host *host, size_t device, size_t nth, struct fw_rows *marks)
{
	return slice(host, &host->marks, device, nth, marks);
}

bool fw_host_overhead(const struct fw_host *host, size_t device, struct fw_intervals *set)
{
	const struct fw_trace *t = host->ledger->trace;
	uint32_t file = t->devices.file[host->ledger->devices[device].device];

	for (size_t i = 0; i < host->overhead.len; i++) {
		uint32_t row = host->overhead.rows[i];

		if (t->processes.file[host->overhead.process[i]] == file &&
		    !fw_intervals_add(set, t->ranges.start_ns[row], t->ranges.end_ns[row]))
			return false;
	}
	return true;
}

/* The call `by` places further on the same thread. */
static uint32_t neighbour(const struct fw_host *host, uint32_t call, int by)
{
	const struct fw_trace_calls *calls = &host->ledger->trace->calls;
	uint32_t place = host->call_place[call], other;

	if ((by < 0 && !place) || (by > 0 && place + 1 >= calls->len))
		return FW_NONE;
	other = host->calls.rows[by < 0 ? place - 1 : place + 1];
	return calls->thread[other] == calls->thread[call] ? other : FW_NONE;
}

uint32_t fw_host_next_call(const struct fw_host *host, uint32_t call)
{
	return neighbour(host, call, 1);
}

uint32_t fw_host_previous_call(const struct fw_host *host, uint32_t call)
{
	return neighbour(host, call, -1);
}

bool fw_host_is_repeat(const struct fw_host *host, uint32_t call)
{
	const struct fw_trace_calls *calls = &host->ledger->trace->calls;
	uint32_t outer = fw_host_previous_call(host, call);

	return outer != FW_NONE && calls->corr[call] != FW_CORR_NONE &&
	       calls->corr[outer] == calls->corr[call] &&
	       calls->end_ns[call] <= calls->end_ns[outer];
}

bool fw_host_in_window(const struct fw_host *host, size_t device, uint32_t call)
{
	const struct fw_trace_calls *calls = &host->ledger->trace->calls;
	const struct fw_window *window = &host->ledger->devices[device].window;

	return calls->start_ns[call] < window->end_ns && calls->end_ns[call] > window->start_ns;
}

/* The place in operators of the last one of the thread that starts at or before t; FW_NONE: none. */
static uint32_t last_started(const struct fw_host *host, uint32_t thread, int64_t t)
{
	const struct fw_trace *trace = host->ledger->trace;
	const struct fw_trace_ranges *r = &trace->ranges;
	uint32_t process = trace->threads.process[thread];
	size_t low = 0, high = host->operators.len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		uint32_t row = host->operators.rows[mid], p = host->operators.process[mid];

		if (p < process ||
		    (p == process && (r->thread[row] < thread ||
				      (r->thread[row] == thread && r->start_ns[row] <= t))))
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || r->thread[host->operators.rows[low - 1]] != thread)
		return FW_NONE;
	return (uint32_t)(low - 1);
}

/* The place of the innermost operator around t. */
static uint32_t innermost(const struct fw_host *host, uint32_t thread, int64_t t)
{
	const struct fw_trace_ranges *r = &host->ledger->trace->ranges;
	uint32_t place = last_started(host, thread, t);

	for (int depth = 0; place != FW_NONE && depth < NESTING_LIMIT; depth++) {
		if (r->end_ns[host->operators.rows[place]] > t)
			return place;
		place = host->parent[place];
	}
	return FW_NONE;
}

uint32_t fw_host_operator(const struct fw_host *host, uint32_t thread, int64_t t)
{
	uint32_t place = innermost(host, thread, t);

	return place == FW_NONE ? FW_NONE : host->operators.rows[place];
}

uint32_t fw_host_outer_operator(const struct fw_host *host, uint32_t thread, int64_t t)
{
	uint32_t place = innermost(host, thread, t);

	if (place == FW_NONE)
		return FW_NONE;
	for (int depth = 0; host->parent[place] != FW_NONE && depth < NESTING_LIMIT; depth++)
		place = host->parent[place];
	return host->operators.rows[place];
}

uint32_t fw_host_op_of_call(const struct fw_host *host, uint32_t call)
{
	return host->op_of_call[call];
}

int64_t fw_gpu_bound(const struct fw_ledger *ledger, struct fw_findings *findings, size_t device,
		     int64_t cost_ns)
{
	const struct fw_host *host = fw_host_of(ledger, findings);
	const struct fw_device_ledger *d = &ledger->devices[device];

	if (!host || cost_ns < 0)
		return -1;
	if (host->waited[device] == INT64_MIN)
		host->waited[device] = fw_bound(ledger, d, FW_BOUND_GPU, NULL, 0,
						d->window.end_ns - d->window.start_ns);
	return host->waited[device] < cost_ns ? host->waited[device] : cost_ns;
}
