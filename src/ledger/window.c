/*
 * The analysed window of each device: given, the whole trace, or the steady steps of the processes
 * that use it.
 */
#include "ledger/steps.h"

#include <stdlib.h>

/* Fewer steps than this say nothing about a steady state. */
#define MIN_STEPS 3

static void set_whole_trace(const struct fw_build *b, struct fw_device_ledger *d,
			    enum fw_window_source source)
{
	const uint32_t *by_end = fw_device_work(b->ledger, d)->by_end;

	d->window = (struct fw_window){ .start_ns = b->trace->ops.start_ns[d->ops[0]],
					.end_ns = b->trace->ops.end_ns[by_end[d->op_count - 1]],
					.source = source,
					.steps = -1 };
}

/* Rows of step annotations, by process, thread and time. */
struct annotations {
	uint32_t *rows;
	size_t len;
};

static int order(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare_steps(const void *ctx, uint32_t x, uint32_t y)
{
	const struct fw_trace *t = ctx;
	const struct fw_trace_ranges *r = &t->ranges;
	int d = order(t->threads.process[r->thread[x]], t->threads.process[r->thread[y]]);

	d = d ? d : order(r->thread[x], r->thread[y]);
	d = d ? d : order(r->start_ns[x], r->start_ns[y]);
	return d ? d : order(r->end_ns[y], r->end_ns[x]);
}

static bool list_annotations(const struct fw_trace *t, struct annotations *out)
{
	size_t count = 0;

	for (size_t i = 0; i < t->ranges.len; i++)
		count += t->ranges.kind[i] == FW_RANGE_STEP;
	out->len = 0;
	out->rows = malloc((count + 1) * sizeof(*out->rows));
	if (!out->rows)
		return false;
	for (uint32_t i = 0; i < t->ranges.len; i++)
		if (t->ranges.kind[i] == FW_RANGE_STEP && t->ranges.thread[i] < t->threads.len)
			out->rows[out->len++] = i;
	return fw_sort_rows(out->rows, out->len, compare_steps, t);
}

static uint32_t process_of(const struct fw_trace *t, const struct annotations *a, size_t i)
{
	return t->threads.process[t->ranges.thread[a->rows[i]]];
}

/* What steps come to: launch times from the first steady one to the end of the last. */
struct steady {
	int64_t start_ns, end_ns;
	size_t steps, warm_up;
	bool has_more;     /* see struct fw_steps */
	bool is_annotated; /* whether or not there are enough */
};

static int by_value(const void *x, const void *y)
{
	return order(*(const int64_t *)x, *(const int64_t *)y);
}

/* How many leading steps are longer than 1.2 x the median of the last half. */
static bool count_warm_up(const struct fw_vec *steps, size_t *warm_up)
{
	const struct fw_step *s = steps->data;
	size_t n = steps->len, half = (n + 1) / 2;
	int64_t *length = malloc(half * sizeof(*length)), median;

	if (!length)
		return false;
	for (size_t i = 0; i < half; i++)
		length[i] = s[n - half + i].end_ns - s[n - half + i].start_ns;
	qsort(length, half, sizeof(*length), by_value);
	median = length[half / 2];
	free(length);
	*warm_up = 0;
	while (*warm_up < n &&
	       (double)(s[*warm_up].end_ns - s[*warm_up].start_ns) > 1.2 * (double)median)
		++*warm_up;
	return true;
}

/* Leaves out->steps at 0 where the steps are too few. False: memory is out. */
static bool sum_up(const struct fw_steps *found, struct steady *out)
{
	const struct fw_step *s = found->steps.data;
	size_t n = found->steps.len;

	if (n < MIN_STEPS)
		return true;
	if (!count_warm_up(&found->steps, &out->warm_up))
		return false;
	out->steps = n - out->warm_up;
	out->start_ns = s[out->warm_up].start_ns;
	out->end_ns = s[n - 1].end_ns;
	out->has_more = found->has_more;
	return true;
}

/* Steps from annotations; one inside another counts once. */
static bool add_annotated(const struct fw_trace *t, const uint32_t *rows, size_t count,
			  struct fw_steps *out)
{
	int64_t end = INT64_MIN;

	for (size_t i = 0; i < count; i++) {
		struct fw_step step = { t->ranges.start_ns[rows[i]], t->ranges.end_ns[rows[i]] };
		struct fw_step *slot;

		if (step.start_ns < end || step.start_ns >= step.end_ns)
			continue;
		slot = fw_vec_push(&out->steps);
		if (!slot)
			return false;
		*slot = step;
		end = step.end_ns;
	}
	return true;
}

/* The rows from `from` on that are of one thread. */
static size_t count_of_thread(const struct fw_trace *t, const struct annotations *a, size_t from)
{
	const uint32_t *thread = t->ranges.thread;
	size_t n = 1;

	while (from + n < a->len && thread[a->rows[from + n]] == thread[a->rows[from]])
		n++;
	return n;
}

/* For every process the steps of its thread that has most annotations. */
static bool sum_up_annotations(const struct fw_trace *t, const struct annotations *a,
			       struct steady *by_process)
{
	struct fw_steps found = { .steps = FW_VEC(struct fw_step) };
	bool ok = true;

	for (size_t at = 0; ok && at < a->len;) {
		uint32_t process = process_of(t, a, at);
		size_t from = at, most = 0;

		while (at < a->len && process_of(t, a, at) == process) {
			size_t n = count_of_thread(t, a, at);

			if (n > most) {
				most = n;
				from = at;
			}
			at += n;
		}
		found.steps.len = 0;
		by_process[process].is_annotated = true;
		ok = add_annotated(t, a->rows + from, most, &found) &&
		     sum_up(&found, &by_process[process]);
	}
	fw_vec_release(&found.steps);
	return ok;
}

/* The first launch at or after t. */
static size_t first_launch(const struct fw_launches *l, int64_t t)
{
	size_t low = 0, high = l->len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (fw_launch_ns(l, mid) < t)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Earliest start of what was launched in [from, to); INT64_MAX: nothing was. */
static int64_t first_start(const struct fw_launches *l, int64_t from, int64_t to)
{
	int64_t first = INT64_MAX;

	for (size_t i = first_launch(l, from); i < l->len && fw_launch_ns(l, i) < to; i++)
		if (l->b->trace->ops.start_ns[l->ops[i]] < first)
			first = l->b->trace->ops.start_ns[l->ops[i]];
	return first;
}

static int64_t last_end(const struct fw_launches *l, int64_t from, int64_t to)
{
	int64_t last = INT64_MIN;

	for (size_t i = first_launch(l, from); i < l->len && fw_launch_ns(l, i) < to; i++)
		if (l->b->trace->ops.end_ns[l->ops[i]] > last)
			last = l->b->trace->ops.end_ns[l->ops[i]];
	return last;
}

/* Widens the device's window to the steady steps of one process. */
static void add_steady(const struct fw_launches *l, const struct steady *steady,
		       struct fw_window *w)
{
	int64_t start = first_start(l, steady->start_ns, steady->end_ns), end = INT64_MAX;

	if (steady->has_more)
		end = first_start(l, steady->end_ns, INT64_MAX);
	if (end == INT64_MAX)
		end = last_end(l, steady->start_ns, steady->end_ns);
	if (start >= end)
		return;
	if (w->source == FW_WINDOW_FALLBACK)
		*w = (struct fw_window){ start, end, FW_WINDOW_STEPS, 0, 0 };
	w->start_ns = start < w->start_ns ? start : w->start_ns;
	w->end_ns = end > w->end_ns ? end : w->end_ns;
	if (!steady->is_annotated)
		w->source = FW_WINDOW_PATTERN;
	w->steps += (int64_t)steady->steps;
	w->dropped_steps += (int64_t)steady->warm_up;
}

/*
 * Launches show a pattern only if few are missing: a trace may hold the calls of its first part
 * alone.
 */
static bool has_most_launches(const struct fw_build *b, const struct fw_device_ledger *d)
{
	return (double)fw_device_work(b->ledger, d)->launched >= 0.9 * (double)d->op_count;
}

/* What finding the windows needs. */
struct windows {
	struct fw_build *b;
	struct steady *by_process; /* from annotations */
	struct fw_name_counts counts;
	bool has_annotations;
};

static bool add_pattern(struct windows *w, const struct fw_launches *l, struct fw_device_ledger *d)
{
	struct fw_steps found = { .steps = FW_VEC(struct fw_step) };
	struct steady steady = { 0 };
	bool ok = fw_find_pattern(l, &w->counts, &found) && sum_up(&found, &steady);

	if (ok && steady.steps)
		add_steady(l, &steady, &d->window);
	fw_vec_release(&found.steps);
	return ok;
}

static bool add_process(struct windows *w, const struct fw_launches *l, struct fw_device_ledger *d)
{
	const struct steady *annotated = &w->by_process[l->process];

	if (annotated->steps)
		add_steady(l, annotated, &d->window);
	if (annotated->is_annotated || !has_most_launches(w->b, d))
		return true;
	return add_pattern(w, l, d);
}

/* The union of the steady windows of the device's processes; else the whole trace. */
static bool set_steady_window(struct windows *w, struct fw_device_ledger *d)
{
	const struct fw_device_work *work = fw_device_work(w->b->ledger, d);
	struct fw_launches l = { .b = w->b }, all = { w->b, d->ops, d->op_count, FW_NONE };

	for (size_t from = 0; from < work->launched; from += l.len) {
		l.ops = work->by_launch + from;
		l.process = fw_call_process(w->b->trace, w->b->call_of_op[l.ops[0]]);
		l.len = 1;
		while (from + l.len < work->launched &&
		       fw_call_process(w->b->trace, w->b->call_of_op[l.ops[l.len]]) == l.process)
			l.len++;
		if (!add_process(w, &l, d))
			return false;
	}
	/* Where launches are missing, the order on the GPU stands in. */
	if (d->window.source != FW_WINDOW_FALLBACK || has_most_launches(w->b, d) ||
	    w->has_annotations)
		return true;
	return add_pattern(w, &all, d);
}

static bool set_steady_windows(struct fw_build *b)
{
	struct annotations a = { 0 };
	struct windows w = { .b = b };
	size_t strings = b->trace->strings.entries.len + 1;
	bool ok;

	w.by_process = calloc(b->trace->processes.len + 1, sizeof(*w.by_process));
	w.counts.wanted = calloc(strings, sizeof(*w.counts.wanted));
	w.counts.seen = calloc(strings, sizeof(*w.counts.seen));
	ok = w.by_process && w.counts.wanted && w.counts.seen && list_annotations(b->trace, &a) &&
	     sum_up_annotations(b->trace, &a, w.by_process);
	w.has_annotations = a.len > 0;
	for (size_t i = 0; ok && i < b->ledger->device_count; i++)
		ok = set_steady_window(&w, &b->ledger->devices[i]);
	free(a.rows);
	free(w.by_process);
	free(w.counts.wanted);
	free(w.counts.seen);
	return ok;
}

fw_status fw_build_windows(struct fw_build *b)
{
	const struct fw_ledger_options *o = b->options;

	if (o->has_window && o->window_start_ns >= o->window_end_ns)
		return fw_fail(b->err, FW_ERR_ARGUMENT,
			       "window: it ends at %lld ns, not after its start, %lld ns",
			       (long long)o->window_end_ns, (long long)o->window_start_ns);
	for (size_t i = 0; i < b->ledger->device_count; i++) {
		struct fw_device_ledger *d = &b->ledger->devices[i];

		set_whole_trace(b, d, o->all ? FW_WINDOW_ALL : FW_WINDOW_FALLBACK);
		if (o->has_window)
			d->window = (struct fw_window){ o->window_start_ns, o->window_end_ns,
							FW_WINDOW_USER, -1, 0 };
	}
	if (!o->all && !o->has_window && !set_steady_windows(b))
		return fw_fail_nomem(b->err, b->trace->ops.len * sizeof(uint32_t));
	return FW_OK;
}
