/* The report for programs: one JSON object, its members listed in fullwarp-report.1. */
#include "report/counters_json.h"
#include "report/report.h"

#include <stdio.h>

#include "base/json_writer.h"
#include "report/recording_text.h"
#include "trace/recording.h"

/* Value or null: negative stands for unknown in these columns. */
static void put_known(struct fw_json *json, const char *key, int64_t value)
{
	if (value < 0)
		fw_json_null(json, key);
	else
		fw_json_int(json, key, value);
}

static void put_text(struct fw_json *json, const char *key, const struct fw_trace *trace,
		     uint32_t id)
{
	fw_json_string(json, key, id ? fw_trace_text(trace, id) : NULL);
}

static const char *source_name(enum fw_trace_source source)
{
	switch (source) {
	case FW_SOURCE_KINETO: return "kineto";
	case FW_SOURCE_NSYS: return "nsys";
	case FW_SOURCE_RECORDING: return "recording";
	case FW_SOURCE_NONE: break;
	}
	return NULL;
}

static void put_integrity(struct fw_json *json, const struct fw_integrity *integrity)
{
	fw_json_begin_object(json, "integrity");
	fw_json_uint(json, "events", integrity->events);
#define FW_FLAW(name, partial, text) fw_json_uint(json, #name, integrity->name);
#include "trace/integrity.def"
#undef FW_FLAW
	if (integrity->first_flaw_offset == UINT64_MAX)
		fw_json_null(json, "first_flaw_offset");
	else
		fw_json_uint(json, "first_flaw_offset", integrity->first_flaw_offset);
	fw_json_end_object(json);
}

static void put_refused(struct fw_json *json, const struct fw_trace *trace)
{
	fw_json_begin_array(json, "refused");
	for (size_t i = 0; i < trace->files.len; i++) {
		if (!trace->files.refused[i])
			continue;
		fw_json_begin_object(json, NULL);
		put_text(json, "file", trace, trace->files.path[i]);
		put_text(json, "reason", trace, trace->files.refused[i]);
		fw_json_end_object(json);
	}
	fw_json_end_array(json);
}

/* What only a recording tells; null for other traces. */
static void put_recording(struct fw_json *json, const struct fw_trace *trace)
{
	struct fw_recording_parts parts = fw_recording_parts(trace);
	const struct fw_trace_facts *facts = &trace->facts;

	if (trace->source != FW_SOURCE_RECORDING) {
		fw_json_null(json, "recording");
		return;
	}
	fw_json_begin_object(json, "recording");
	fw_json_int(json, "processes", (int64_t)parts.files[FW_FILE_PROCESS]);
	put_known(json, "clock_error_ns", parts.clock_error_ns);
	fw_json_begin_array(json, "not_recorded");
	for (size_t i = 0; i < facts->len; i++)
		if (facts->key[i] == FW_REC_INFO_CANNOT || facts->key[i] == FW_REC_INFO_SOURCE_WHY)
			put_text(json, NULL, trace, facts->text[i]);
	fw_json_end_array(json);
	fw_json_end_object(json);
}

static void put_trace(struct fw_json *json, const struct fw_trace *trace)
{
	fw_json_begin_object(json, "trace");
	fw_json_string(json, "source", source_name(trace->source));
	fw_json_begin_array(json, "files");
	for (size_t i = 0; i < trace->files.len; i++)
		fw_json_string(json, NULL, fw_trace_text(trace, trace->files.path[i]));
	fw_json_end_array(json);
	put_integrity(json, &trace->integrity);
	fw_json_begin_array(json, "blind_spots");
	for (unsigned b = 0; b < FW_BLIND_COUNT; b++)
		if (trace->blind_spots & 1u << b)
			fw_json_string(json, NULL, fw_blind_spot_id((enum fw_blind_spot)b));
	fw_json_end_array(json);
	put_refused(json, trace);
	put_recording(json, trace);
	fw_json_end_object(json);
}

static void put_identity(struct fw_json *json, const struct fw_trace *trace, uint32_t device)
{
	uint32_t file = trace->devices.file[device];
	int32_t cc = trace->devices.cc[device];
	char text[24];

	fw_json_int(json, "id", trace->devices.id[device]);
	put_known(json, "rank", trace->files.rank[file]);
	put_text(json, "host", trace, trace->files.host[file]);
	put_text(json, "file", trace, trace->files.path[file]);
	put_text(json, "name", trace, trace->devices.name[device]);
	snprintf(text, sizeof(text), "%d.%d", cc / 10, cc % 10);
	fw_json_string(json, "cc", cc < 0 ? NULL : text);
	put_known(json, "sms", trace->devices.sms[device]);
}

static void put_totals(struct fw_json *json, const struct fw_device_ledger *device)
{
	const struct fw_device_totals *t = &device->totals;

	fw_json_begin_object(json, "all");
	fw_json_int(json, "kernels", t->kernels);
	fw_json_int(json, "kernel_busy_ns", t->kernel_busy_ns);
	fw_json_int(json, "kernel_sum_ns", t->kernel_sum_ns);
	fw_json_int(json, "gpu_busy_ns", t->gpu_busy_ns);
	fw_json_int(json, "span_ns", t->span_ns);
	fw_json_int(json, "longest_gap_ns", t->longest_gap_ns);
	fw_json_begin_array(json, "memcpy");
	for (size_t i = 0; i < device->copy_count; i++) {
		fw_json_begin_object(json, NULL);
		fw_json_string(json, "kind", device->copies[i].kind);
		fw_json_int(json, "count", device->copies[i].count);
		put_known(json, "bytes", device->copies[i].bytes);
		fw_json_end_object(json);
	}
	fw_json_end_array(json);
	fw_json_int(json, "memsets", t->memsets);
	fw_json_int(json, "streams", t->streams);
	fw_json_int(json, "syncs", t->syncs);
	fw_json_int(json, "sync_ns", t->sync_ns);
	fw_json_end_object(json);
}

static void put_share(struct fw_json *json, const char *id, int64_t ns)
{
	fw_json_begin_object(json, NULL);
	fw_json_string(json, "class", id);
	fw_json_int(json, "ns", ns);
	fw_json_end_object(json);
}

static void put_device(struct fw_json *json, const struct fw_report *report, size_t index)
{
	const struct fw_trace *trace = report->ledger->trace;
	const struct fw_device_ledger *device = &report->ledger->devices[index];
	const struct fw_window *window = &device->window;

	fw_json_begin_object(json, NULL);
	put_identity(json, trace, device->device);
	put_totals(json, device);
	fw_json_begin_object(json, "window");
	fw_json_int(json, "start_ns", window->start_ns);
	fw_json_int(json, "end_ns", window->end_ns);
	fw_json_int(json, "duration_ns", window->end_ns - window->start_ns);
	put_known(json, "steps", window->steps);
	fw_json_end_object(json);
	fw_json_begin_array(json, "ledger");
	for (unsigned c = 0; c < FW_CLASS_COUNT; c++)
		put_share(json, fw_class_id((enum fw_class)c), device->ns[c]);
	fw_json_end_array(json);
	fw_json_begin_array(json, "fill");
	for (unsigned f = 0; f < FW_FILL_COUNT; f++)
		put_share(json, fw_fill_id((enum fw_fill)f), device->fill_ns[f]);
	fw_json_end_array(json);
	fw_json_counters(json, report, index);
	fw_json_end_object(json);
}

static void put_prediction(struct fw_json *json, const struct fw_prediction *prediction)
{
	if (!prediction) {
		fw_json_null(json, "prediction");
		return;
	}
	fw_json_begin_object(json, "prediction");
	fw_json_int(json, "low_ns", prediction->low_ns);
	fw_json_int(json, "best_ns", prediction->best_ns);
	fw_json_int(json, "high_ns", prediction->high_ns);
	fw_json_string(json, "assumption", prediction->assumption);
	fw_json_end_object(json);
}

static void put_evidence(struct fw_json *json, const struct fw_finding *finding)
{
	const struct fw_evidence *rows = finding->evidence.data;

	fw_json_begin_array(json, "evidence");
	for (size_t i = 0; i < finding->evidence.len; i++) {
		fw_json_begin_object(json, NULL);
		fw_json_string(json, "label", rows[i].label);
		fw_json_string(json, "value", rows[i].value);
		fw_json_string(json, "place", rows[i].place);
		fw_json_end_object(json);
	}
	fw_json_end_array(json);
}

static void put_changes(struct fw_json *json, const struct fw_finding *finding)
{
	const struct fw_change *changes = finding->changes.data;

	fw_json_begin_array(json, "change");
	for (size_t i = 0; i < finding->changes.len; i++) {
		fw_json_begin_object(json, NULL);
		fw_json_string(json, "text", changes[i].text);
		fw_json_string(json, "pytorch", changes[i].pytorch);
		fw_json_string(json, "cuda", changes[i].cuda);
		fw_json_string(json, "when", changes[i].when);
		fw_json_end_object(json);
	}
	fw_json_end_array(json);
}

static void put_finding(struct fw_json *json, const struct fw_finding *finding)
{
	fw_json_begin_object(json, NULL);
	fw_json_string(json, "id", finding->id);
	if (finding->device == FW_NONE)
		fw_json_null(json, "device");
	else
		fw_json_int(json, "device", finding->device);
	fw_json_string(json, "title", finding->title);
	put_known(json, "cost_ns", finding->cost_ns);
	if (finding->share < 0)
		fw_json_null(json, "share");
	else
		fw_json_double(json, "share", finding->share);
	if (finding->harm)
		fw_json_string(json, "harm", finding->harm);
	put_known(json, "at_most_ns", finding->at_most_ns);
	put_evidence(json, finding);
	put_changes(json, finding);
	put_prediction(json, finding->prediction);
	fw_json_end_object(json);
}

static void put_unable(struct fw_json *json, const struct fw_findings *findings)
{
	const struct fw_unable *rows = findings->unable.data;

	fw_json_begin_array(json, "unable");
	for (size_t i = 0; i < findings->unable.len; i++) {
		fw_json_begin_object(json, NULL);
		fw_json_string(json, "id", rows[i].id);
		fw_json_string(json, "lacks", rows[i].lacks);
		fw_json_string(json, "capture", rows[i].capture);
		fw_json_end_object(json);
	}
	fw_json_end_array(json);
}

void fw_write_json(const struct fw_report *report, const struct fw_report_style *style,
		   struct fw_str *out)
{
	const struct fw_ledger *ledger = report->ledger;
	const struct fw_finding *findings = report->findings.list.data;
	struct fw_json json = { .out = out, .indent = 2 };

	(void)style; /* JSON looks the same everywhere */
	fw_json_begin_object(&json, NULL);
	fw_json_int(&json, "schema", 1);
	put_trace(&json, ledger->trace);
	fw_json_begin_array(&json, "devices");
	for (size_t i = 0; i < ledger->device_count; i++)
		put_device(&json, report, i);
	fw_json_end_array(&json);
	fw_json_string(&json, "verdict", report->verdict);
	put_unable(&json, &report->findings);
	fw_json_begin_array(&json, "findings");
	for (size_t i = 0; i < report->findings.list.len; i++)
		put_finding(&json, &findings[i]);
	fw_json_end_array(&json);
	fw_json_end_object(&json);
	fw_str_putc(out, '\n');
}
