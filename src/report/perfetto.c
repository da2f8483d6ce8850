/*
 * The trace for ui.perfetto.dev: Chrome's trace-event JSON, an event a line, with the ledger's idle
 * causes as a track of each GPU (docs/format/report-perfetto.md).
 */
#include "report/perfetto.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void fw_perfetto_time(struct fw_perfetto *w, const char *key, int64_t ns)
{
	int64_t us = ns / 1000;
	char text[40];

	snprintf(text, sizeof(text), "%s%" PRId64 ".%03d", ns < 0 ? "-" : "", us < 0 ? -us : us,
		 abs((int)(ns % 1000)));
	fw_json_number(&w->json, key, text);
}

void fw_perfetto_begin(struct fw_perfetto *w, const char *phase, struct fw_place at,
		       const char *name)
{
	fw_json_begin_object(&w->json, NULL);
	fw_json_string(&w->json, "ph", phase);
	fw_json_string(&w->json, "name", name);
	fw_json_uint(&w->json, "pid", at.pid);
	fw_json_uint(&w->json, "tid", at.tid);
}

void fw_perfetto_end(struct fw_perfetto *w)
{
	fw_json_end_object(&w->json);
	fw_str_putc(w->json.out, '\n');
}

void fw_perfetto_slice(struct fw_perfetto *w, struct fw_place at, const char *name,
		       int64_t start_ns, int64_t end_ns)
{
	fw_perfetto_begin(w, "X", at, name);
	fw_perfetto_time(w, "ts", start_ns);
	fw_perfetto_time(w, "dur", end_ns - start_ns);
}

void fw_perfetto_sample(struct fw_perfetto *w, uint32_t pid, const char *name, int64_t ns,
			double value)
{
	const struct fw_place at = { pid, 0 };

	if (ns < 0)
		return;
	fw_perfetto_begin(w, "C", at, name);
	fw_perfetto_time(w, "ts", ns);
	fw_json_begin_object(&w->json, "args");
	fw_json_double(&w->json, "value", value);
	fw_json_end_object(&w->json);
	fw_perfetto_end(w);
}

static void put_name(struct fw_perfetto *w, struct fw_place at, const char *what, const char *name)
{
	fw_perfetto_begin(w, "M", at, what);
	fw_json_begin_object(&w->json, "args");
	fw_json_string(&w->json, "name", name);
	fw_json_end_object(&w->json);
	fw_perfetto_end(w);
}

static void put_order(struct fw_perfetto *w, struct fw_place at, const char *what, uint32_t order)
{
	fw_perfetto_begin(w, "M", at, what);
	fw_json_begin_object(&w->json, "args");
	fw_json_uint(&w->json, "sort_index", order);
	fw_json_end_object(&w->json);
	fw_perfetto_end(w);
}

/* GPUs stand first. */
void fw_perfetto_name_process(struct fw_perfetto *w, uint32_t pid, const char *name)
{
	const struct fw_place at = { pid, 0 };

	put_name(w, at, "process_name", name);
	put_order(w, at, "process_sort_index",
		  pid >= FW_PERFETTO_GPU ? pid - FW_PERFETTO_GPU : FW_PERFETTO_GPU + pid);
}

void fw_perfetto_name_lanes(struct fw_perfetto *w, struct fw_place first,
			    const struct fw_lanes *lanes, const char *name)
{
	for (unsigned lane = 0; lane < lanes->used; lane++) {
		const struct fw_place at = { first.pid, first.tid + lane };

		put_name(w, at, "thread_name", name);
		put_order(w, at, "thread_sort_index", at.tid);
	}
}

void fw_perfetto_close_lanes(struct fw_perfetto *w, struct fw_lanes *lanes)
{
	w->misplaced += lanes->misplaced;
	w->failed = w->failed || lanes->failed;
	fw_lanes_release(lanes);
}

void fw_write_perfetto(const struct fw_report *report, const struct fw_report_style *style,
		       struct fw_str *out)
{
	struct fw_perfetto w = { .report = report, .trace = report->trace, .json = { .out = out } };

	(void)style;
	w.call_tids = calloc(w.trace->calls.len + 1, sizeof(*w.call_tids));
	w.failed = !w.call_tids;
	fw_json_begin_object(&w.json, NULL);
	fw_json_string(&w.json, "displayTimeUnit", "ns");
	fw_json_begin_array(&w.json, "traceEvents");
	fw_str_putc(out, '\n');
	if (!w.failed)
		fw_perfetto_host(&w);
	if (!w.failed)
		fw_perfetto_gpus(&w);
	fw_json_end_array(&w.json);
	fw_json_begin_object(&w.json, "otherData");
	fw_json_string(&w.json, "producer", "fullwarp " FW_VERSION);
	fw_json_string(&w.json, "verdict", report->verdict);
	fw_json_uint(&w.json, "slices_cut_by_the_viewer", w.misplaced);
	fw_json_end_object(&w.json);
	fw_json_end_object(&w.json);
	fw_str_putc(out, '\n');
	if (w.failed)
		out->failed = true;
	free(w.call_tids);
}
