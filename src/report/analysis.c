/* The public handle: traces in, ledger and findings behind it, text or JSON out. */
#include "report/report.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hw/chips.h"
#include "import/import.h"
#include "report/recording_text.h"

/*
 * As much of *from as the caller's version of the struct has (it begins with its size); the rest
 * stays zero. from may be NULL.
 */
static fw_status take_struct(void *to, size_t to_size, const void *from, struct fw_error *err)
{
	size_t from_size = from ? *(const size_t *)from : 0;

	memset(to, 0, to_size);
	if (from && from_size <= sizeof(from_size))
		return fw_fail(err, FW_ERR_ARGUMENT, "struct_size is %zu: not set", from_size);
	if (from)
		memcpy(to, from, from_size < to_size ? from_size : to_size);
	return FW_OK;
}

/* What to do about a trace in which there is nothing to analyse. */
static fw_status fail_without_gpu(const struct fw_trace *trace, const char *path,
				  struct fw_error *err)
{
	const struct fw_integrity *i = &trace->integrity;
	uint64_t dropped = i->bad_records + i->bad_times + i->negative_durations + i->zero_times;
	const char *why = fw_recording_why_no_gpu(trace);
	char lost[80] = "";

	if (why && !dropped)
		return fw_fail(err, FW_ERR_FORMAT,
			       "%s: no GPU operation among its %" PRIu64
			       " records; could not be recorded: %s",
			       path, i->events, why);
	if (dropped)
		snprintf(lost, sizeof(lost), " (%" PRIu64 " damaged ones had to be skipped)",
			 dropped);
	else if (i->truncated)
		snprintf(lost, sizeof(lost), " (the file ends in the middle of one)");
	return fw_fail(err, FW_ERR_FORMAT,
		       "%s: no GPU operation among its %" PRIu64 " records%s; %s", path, i->events,
		       lost, fw_blind_spot_remedy(trace, FW_BLIND_NO_GPU_OPS));
}

/*
 * Takes the GPUs that the trace does not describe for `gpu`, and says so in their name. What the trace
 * says itself stays.
 */
static fw_status name_gpus(struct fw_trace *trace, const char *gpu, struct fw_error *err)
{
	const struct fw_hw_chip *chip;
	struct fw_error why;
	bool is_known = true, failed = false;
	char name[64];

	if (fw_hw_chip_find(gpu, &chip, &why))
		return fw_fail(err, FW_ERR_ARGUMENT, "%s", why.message);
	snprintf(name, sizeof(name), "%s (--gpu)", chip->name);
	for (size_t i = 0; i < trace->devices.len; i++) {
		if (trace->devices.cc[i] < 0 && !trace->devices.is_amd[i]) {
			trace->devices.cc[i] = (int32_t)chip->cc;
			trace->devices.sms[i] = chip->sms ? (int32_t)chip->sms : -1;
			trace->devices.name[i] =
				fw_trace_intern(trace, name, strlen(name), &failed);
		}
		is_known = is_known && trace->devices.cc[i] >= 0;
	}
	if (is_known)
		trace->blind_spots &= ~(1u << FW_BLIND_NO_DEVICE_PROPERTIES);
	return failed ? fw_fail_nomem(err, sizeof(name)) : FW_OK;
}

/* A window that no operation reaches would be a page about nothing. */
static fw_status check_window(const struct fw_trace *trace, const struct fw_ledger_options *window,
			      struct fw_error *err)
{
	int64_t first = INT64_MAX, last = 0;

	for (size_t i = 0; i < trace->ops.len; i++) {
		first = trace->ops.start_ns[i] < first ? trace->ops.start_ns[i] : first;
		last = trace->ops.end_ns[i] > last ? trace->ops.end_ns[i] : last;
	}
	if (!window->has_window ||
	    (window->window_start_ns < last && window->window_end_ns > first))
		return FW_OK;
	return fw_fail(err, FW_ERR_ARGUMENT,
		       "the window, %.3f to %.3f ms, misses the GPU's operations, %.3f to %.3f ms",
		       (double)window->window_start_ns / 1e6, (double)window->window_end_ns / 1e6,
		       (double)first / 1e6, (double)last / 1e6);
}

static fw_status analyse(struct fw_report *report, const char *const *paths, size_t count,
			 const struct fw_report_options *options, struct fw_error *err)
{
	/* Half for the columns of the trace, half for those of the ledger. */
	struct fw_import_options import = { .progress = options->progress,
					    .user = options->user,
					    .max_memory_bytes = options->max_memory_bytes / 2 };
	struct fw_ledger_options ledger = { .all = options->all,
					    .has_window = options->has_window,
					    .window_start_ns = options->window_start_ns,
					    .window_end_ns = options->window_end_ns };
	fw_status status = fw_import_files(paths, count, &import, &report->trace, err);

	if (!status && !report->trace->ops.len)
		status = fail_without_gpu(report->trace, paths[0], err);
	if (!status && options->gpu)
		status = name_gpus(report->trace, options->gpu, err);
	if (!status)
		status = check_window(report->trace, &ledger, err);
	if (!status)
		status = fw_ledger_build(report->trace, &ledger, &report->ledger, err);
	if (!status)
		status = fw_findings_build(report->ledger, &report->findings, err);
	if (status)
		return status;
	report->verdict = fw_verdict(report->ledger, &report->findings);
	return report->verdict ? FW_OK : fw_fail_nomem(err, sizeof(report->verdict));
}

fw_status fw_report_open(const char *const *paths, size_t count,
			 const struct fw_report_options *options, struct fw_report **report,
			 struct fw_error *err)
{
	struct fw_report_options known = { 0 };
	struct fw_report *fresh;
	fw_status status;

	*report = NULL;
	if (!count)
		return fw_fail(err, FW_ERR_ARGUMENT, "no trace given");
	status = take_struct(&known, sizeof(known), options, err);
	if (status)
		return status;
	fresh = calloc(1, sizeof(*fresh));
	if (!fresh)
		return fw_fail_nomem(err, sizeof(*fresh));
	status = analyse(fresh, paths, count, &known, err);
	if (status) {
		fw_report_close(fresh);
		return status;
	}
	*report = fresh;
	return FW_OK;
}

void fw_report_close(struct fw_report *report)
{
	if (!report)
		return;
	fw_findings_release(&report->findings);
	fw_ledger_destroy(report->ledger);
	fw_trace_destroy(report->trace);
	free(report);
}

static fw_status hand_over(struct fw_str *out, char **text, struct fw_error *err)
{
	size_t len = out->len;

	*text = fw_str_detach(out);
	return *text ? FW_OK : fw_fail_nomem(err, len);
}

static const struct {
	const char *name;
	void (*write)(const struct fw_report *report, const struct fw_report_style *style,
		      struct fw_str *out);
} formats[] = {
#define FW_FORMAT(name) { #name, fw_write_##name },
#include "report/formats.def"
#undef FW_FORMAT
};

#define FORMAT_COUNT (sizeof(formats) / sizeof(formats[0]))

const char *fw_report_format_name(size_t number)
{
	return number < FORMAT_COUNT ? formats[number].name : NULL;
}

static fw_status fail_format(const char *format, struct fw_error *err)
{
	struct fw_str list = { 0 };
	fw_status status;

	for (size_t i = 0; i < FORMAT_COUNT; i++)
		fw_str_printf(&list, "%s%s", i ? ", " : "", formats[i].name);
	status = fw_fail(err, FW_ERR_ARGUMENT, "no format '%s'; there are: %s", format,
			 fw_str_text(&list));
	fw_str_release(&list);
	return status;
}

/* What a format writes goes into out, which is the caller's. */
static fw_status write_format(const struct fw_report *report, const char *format,
			      const struct fw_report_style *style, struct fw_str *out,
			      struct fw_error *err)
{
	struct fw_report_style known = { 0 };
	fw_status status = take_struct(&known, sizeof(known), style, err);
	size_t i = 0;

	while (i < FORMAT_COUNT && strcmp(formats[i].name, format) != 0)
		i++;
	if (i == FORMAT_COUNT)
		return fail_format(format, err);
	if (!status)
		formats[i].write(report, &known, out);
	return status;
}

fw_status fw_report_write(const struct fw_report *report, const char *format,
			  const struct fw_report_style *style, char **text, struct fw_error *err)
{
	struct fw_str out = { 0 };
	fw_status status = write_format(report, format, style, &out, err);

	return status ? status : hand_over(&out, text, err);
}

struct sink {
	int (*write)(void *user, const char *bytes, size_t size);
	void *user;
	bool refused;
};

static bool drain(void *user, const char *bytes, size_t size)
{
	struct sink *sink = user;

	sink->refused = sink->write(sink->user, bytes, size) != 0;
	return !sink->refused;
}

fw_status fw_report_write_to(const struct fw_report *report, const char *format,
			     const struct fw_report_style *style,
			     int (*write)(void *user, const char *bytes, size_t size), void *user,
			     struct fw_error *err)
{
	struct sink sink = { write, user, false };
	struct fw_str out = { .drain = drain, .user = &sink };
	fw_status status = write_format(report, format, style, &out, err);

	if (!status && !fw_str_drain(&out))
		status = sink.refused ? fw_fail(err, FW_ERR_IO, "the report could not be written")
				      : fw_fail_nomem(err, out.cap);
	fw_str_release(&out);
	return status;
}

fw_status fw_report_explanation(const struct fw_report_style *style, char **text,
				struct fw_error *err)
{
	struct fw_report_style known = { 0 };
	struct fw_str out = { 0 };
	fw_status status = take_struct(&known, sizeof(known), style, err);

	if (status)
		return status;
	fw_write_explanation(&known, &out);
	return hand_over(&out, text, err);
}
