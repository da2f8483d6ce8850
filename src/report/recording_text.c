/* What only a recording tells of itself: its parts, the error of its clocks, what it could not record. */
#include "report/recording_text.h"

#include "report/amounts.h"
#include "report/sections.h"
#include "trace/recording.h"

#include <inttypes.h>
#include <string.h>

struct fw_recording_parts fw_recording_parts(const struct fw_trace *trace)
{
	struct fw_recording_parts parts = { .clock_error_ns = -1 };

	for (size_t i = 0; i < trace->files.len; i++) {
		if (trace->files.refused[i])
			continue;
		parts.files[trace->files.kind[i]]++;
		if (trace->files.clock_error_ns[i] > parts.clock_error_ns)
			parts.clock_error_ns = trace->files.clock_error_ns[i];
	}
	return parts;
}

/* "DIR" of the first file; a recording of several folders is named by the first. */
static const char *folder_of(struct fw_page *page, const struct fw_trace *trace)
{
	const char *path = fw_trace_text(trace, trace->files.path[0]);
	const char *slash = strrchr(path, '/');

	return slash ? fw_page_text(page, "%.*s", (int)(slash - path), path) : path;
}

void fw_text_recording_files(struct fw_page *page, const struct fw_trace *trace)
{
	struct fw_recording_parts parts = fw_recording_parts(trace);
	size_t refused = trace->files.len;

	for (int i = 0; i < FW_FILE_KINDS; i++)
		refused -= parts.files[i];
	fw_page_printf(page, "recording %s: %zu process%s", folder_of(page, trace),
		       parts.files[FW_FILE_PROCESS], parts.files[FW_FILE_PROCESS] == 1 ? "" : "es");
	if (parts.files[FW_FILE_PYTHON])
		fw_page_put(page, ", with Python marks");
	if (parts.files[FW_FILE_COUNTERS])
		fw_page_put(page, ", with GPU counters");
	if (parts.files[FW_FILE_HOST])
		fw_page_put(page, ", with host samples");
	if (refused)
		fw_page_printf(page, "; %zu file%s could not be used (see Trace integrity)",
			       refused, refused == 1 ? "" : "s");
	fw_page_put(page, "\n");
}

/* More such sentences are left out; a recording has a handful. */
#define MOST_SENTENCES 16

/* The same sentence of many ranks is said once. True when it is said for the first time. */
static bool is_new(uint32_t said[MOST_SENTENCES], size_t *count, uint32_t text)
{
	for (size_t i = 0; i < *count; i++)
		if (said[i] == text)
			return false;
	said[(*count)++] = text;
	return true;
}

void fw_text_not_recorded(struct fw_page *page, const struct fw_trace *trace)
{
	const struct fw_trace_facts *facts = &trace->facts;
	uint32_t said[MOST_SENTENCES];
	size_t count = 0;

	for (size_t i = 0; i < facts->len && count < MOST_SENTENCES; i++) {
		bool is_why = facts->key[i] == FW_REC_INFO_SOURCE_WHY;

		if ((facts->key[i] != FW_REC_INFO_CANNOT && !is_why) || !facts->text[i] ||
		    !is_new(said, &count, facts->text[i]))
			continue;
		fw_page_item(page, "  -", 4,
			     fw_page_text(page, "%s: %s",
					  is_why ? "GPU counters" : "could not be recorded",
					  fw_trace_text(trace, facts->text[i])));
	}
}

bool fw_recording_lacks(const struct fw_trace *trace)
{
	for (size_t i = 0; i < trace->facts.len; i++)
		if ((trace->facts.key[i] == FW_REC_INFO_CANNOT ||
		     trace->facts.key[i] == FW_REC_INFO_SOURCE_WHY) &&
		    trace->facts.text[i])
			return true;
	return false;
}

/* The first that a process's file says it lacks whose text begins so; NULL: none. */
static const char *find_lack(const struct fw_trace *trace, const char *beginning)
{
	const struct fw_trace_facts *facts = &trace->facts;

	for (size_t i = 0; i < facts->len; i++) {
		const char *text = fw_trace_text(trace, facts->text[i]);

		if (facts->key[i] == FW_REC_INFO_CANNOT && facts->text[i] &&
		    facts->file[i] < trace->files.len &&
		    trace->files.kind[facts->file[i]] == FW_FILE_PROCESS &&
		    !strncmp(text, beginning, strlen(beginning)))
			return text;
	}
	return NULL;
}

/* The gravest of what a recording says it lost, in words; NULL: nothing. */
static const char *find_loss(const struct fw_trace *trace)
{
	static const struct {
		enum fw_loss_reason reason;
		const char *what;
	} gravest[] = {
		{ FW_LOSS_SIZE, "what came after a file had reached --max-size" },
		{ FW_LOSS_DISK, "what came after a write had failed (a full disk?)" },
		{ FW_LOSS_OTHER_PROFILER, "what ran while another profiler had CUPTI" },
		{ FW_LOSS_DROPPED_GPU, "what CUPTI had no buffers for" },
		{ FW_LOSS_PAUSED, "what ran in a pause (--delay, --duration, --every, --signal, "
				  "--range)" },
	};
	const struct fw_trace_blind_intervals *blind = &trace->blind_intervals;

	for (size_t k = 0; k < sizeof(gravest) / sizeof(gravest[0]); k++)
		for (size_t i = 0; i < blind->len; i++)
			if (blind->reason[i] == gravest[k].reason)
				return gravest[k].what;
	return NULL;
}

const char *fw_recording_why_no_gpu(const struct fw_trace *trace)
{
	/* First what there is nothing to analyse without, last whatever lacks besides. */
	const char *why = find_lack(trace, "anything of the GPU");

	if (!why)
		why = find_lack(trace, "kernels");
	if (!why)
		why = find_loss(trace);
	return why ? why : find_lack(trace, "");
}

void fw_text_clock_error(struct fw_page *page, const struct fw_trace *trace)
{
	int64_t error = fw_recording_parts(trace).clock_error_ns;

	if (error >= 0)
		fw_page_item(page, "  clocks:", 10,
			     fw_page_text(page, "times of the GPU and of the host agree within %s",
					  fw_amount_time(error).text));
}
