/* The host's half: every thread with its ranges and its CUDA calls, each on a track of its own. */
#include "report/perfetto.h"

#include <stdio.h>
#include <stdlib.h>

/* Rows of calls or ranges, by thread and time. */
struct rows {
	const int64_t *start_ns, *end_ns;
	const uint32_t *thread, *name; /* name NULL: why the thread was off its CPU */
	size_t count;
	uint32_t *order;
};

/* By thread, then by start, what encloses first. */
static int compare(const void *a, const void *b, void *ctx)
{
	const struct rows *r = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (r->thread[x] != r->thread[y])
		return r->thread[x] < r->thread[y] ? -1 : 1;
	if (r->start_ns[x] != r->start_ns[y])
		return r->start_ns[x] < r->start_ns[y] ? -1 : 1;
	if (r->end_ns[x] != r->end_ns[y])
		return r->end_ns[x] > r->end_ns[y] ? -1 : 1;
	return x < y ? -1 : x > y;
}

static bool sort(struct rows *rows)
{
	rows->order = malloc((rows->count + 1) * sizeof(*rows->order));
	if (!rows->order)
		return false;
	for (size_t i = 0; i < rows->count; i++)
		rows->order[i] = (uint32_t)i;
	qsort_r(rows->order, rows->count, sizeof(*rows->order), compare, rows);
	return true;
}

static struct fw_place place(const struct fw_perfetto *w, uint32_t thread,
			     enum fw_thread_track track)
{
	return (struct fw_place){ w->trace->threads.process[thread] + 1,
				  1 + (thread * FW_TRACKS_OF_THREAD + (uint32_t)track) * FW_LANES };
}

/* What stands on a slice. */
static const char *slice_name(const struct fw_trace *t, const struct rows *rows, uint32_t row)
{
	if (rows->name)
		return fw_trace_text(t, rows->name[row]);
	return t->switches.why[row] == FW_OFF_RUNNABLE ? "ready, no core free" : "asleep";
}

static void name_track(struct fw_perfetto *w, uint32_t thread, enum fw_thread_track track,
		       const struct fw_lanes *lanes)
{
	const struct fw_trace *t = w->trace;
	const char *name = fw_trace_text(t, t->threads.name[thread]);
	static const char *const of[FW_TRACKS_OF_THREAD] = { "", ": CUDA calls", ": off its CPU" };
	struct fw_str text = { 0 };

	fw_str_printf(&text, "%s%sthread %s%s", name, *name ? ", " : "",
		      fw_trace_text(t, t->threads.tid[thread]), of[track]);
	fw_perfetto_name_lanes(w, place(w, thread, track), lanes, fw_str_text(&text));
	w->failed = w->failed || text.failed;
	fw_str_release(&text);
}

static void put_track(struct fw_perfetto *w, const struct rows *rows, size_t from, size_t to,
		      enum fw_thread_track track)
{
	uint32_t thread = rows->thread[rows->order[from]];
	struct fw_lanes lanes = { 0 };

	for (size_t i = from; i < to; i++) {
		uint32_t row = rows->order[i];
		struct fw_place at = place(w, thread, track);

		at.tid += fw_lanes_take(&lanes, rows->start_ns[row], rows->end_ns[row]);
		if (track == FW_TRACK_CALLS)
			w->call_tids[row] = at.tid;
		fw_perfetto_slice(w, at, slice_name(w->trace, rows, row), rows->start_ns[row],
				  rows->end_ns[row]);
		fw_perfetto_end(w);
	}
	name_track(w, thread, track, &lanes);
	fw_perfetto_close_lanes(w, &lanes);
}

static void put_rows(struct fw_perfetto *w, struct rows *rows, enum fw_thread_track track)
{
	size_t to;

	if (!sort(rows)) {
		w->failed = true;
		return;
	}
	for (size_t from = 0; from < rows->count; from = to) {
		uint32_t thread = rows->thread[rows->order[from]];

		for (to = from; to < rows->count; to++)
			if (rows->thread[rows->order[to]] != thread)
				break;
		put_track(w, rows, from, to, track);
	}
	free(rows->order);
}

static void name_process(struct fw_perfetto *w, uint32_t process)
{
	const struct fw_trace *t = w->trace;
	const char *name = fw_trace_text(t, t->processes.name[process]);
	int32_t rank = t->files.rank[t->processes.file[process]];
	struct fw_str text = { 0 };

	fw_str_printf(&text, "%s, pid %s", *name ? name : "process",
		      fw_trace_text(t, t->processes.pid[process]));
	if (rank >= 0)
		fw_str_printf(&text, ", rank %d", (int)rank);
	fw_perfetto_name_process(w, process + 1, fw_str_text(&text));
	w->failed = w->failed || text.failed;
	fw_str_release(&text);
}

/* "rss_bytes", or "cpu_percent, thread 7"; those of a machine stand on a track of its name. */
static void put_samples(struct fw_perfetto *w)
{
	const struct fw_trace *t = w->trace;
	const struct fw_trace_host_samples *s = &t->host_samples;
	struct fw_str text = { 0 };

	for (size_t i = 0; i < s->len; i++) {
		uint32_t pid = s->process[i] == FW_NONE
				       ? (uint32_t)t->processes.len + 1 + s->file[i]
				       : s->process[i] + 1;

		fw_str_clear(&text);
		fw_str_puts(&text, fw_trace_text(t, s->name[i]));
		if (s->thread[i] != FW_NONE)
			fw_str_printf(&text, ", thread %s",
				      fw_trace_text(t, t->threads.tid[s->thread[i]]));
		fw_perfetto_sample(w, pid, fw_str_text(&text), s->time_ns[i], s->value[i]);
	}
	w->failed = w->failed || text.failed;
	fw_str_release(&text);
}

/* The machines of which there are samples. */
static void name_machines(struct fw_perfetto *w)
{
	const struct fw_trace *t = w->trace;
	struct fw_str text = { 0 };

	for (uint32_t f = 0; f < t->files.len; f++) {
		if (t->files.kind[f] != FW_FILE_HOST || t->files.refused[f])
			continue;
		fw_str_clear(&text);
		fw_str_printf(&text, "machine%s%s", t->files.host[f] ? " " : "",
			      fw_trace_text(t, t->files.host[f]));
		fw_perfetto_name_process(w, (uint32_t)t->processes.len + 1 + f, fw_str_text(&text));
	}
	w->failed = w->failed || text.failed;
	fw_str_release(&text);
}

void fw_perfetto_host(struct fw_perfetto *w)
{
	const struct fw_trace *t = w->trace;
	struct rows calls = { t->calls.start_ns, t->calls.end_ns, t->calls.thread,
			      t->calls.name,     t->calls.len,    NULL };
	struct rows ranges = { t->ranges.start_ns, t->ranges.end_ns, t->ranges.thread,
			       t->ranges.name,     t->ranges.len,    NULL };
	struct rows off = { t->switches.start_ns, t->switches.end_ns,
			    t->switches.thread,   NULL,
			    t->switches.len,      NULL };

	for (uint32_t p = 0; p < t->processes.len; p++)
		name_process(w, p);
	put_rows(w, &ranges, FW_TRACK_RANGES);
	put_rows(w, &calls, FW_TRACK_CALLS);
	put_rows(w, &off, FW_TRACK_OFF_CPU);
	name_machines(w);
	put_samples(w);
}
