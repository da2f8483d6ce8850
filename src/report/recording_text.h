#ifndef FW_REPORT_RECORDING_TEXT_H
#define FW_REPORT_RECORDING_TEXT_H
/* The lines of the text report that only recordings have. */
#include "report/page.h"
#include "trace/trace.h"

struct fw_recording_parts {
	size_t files[FW_FILE_KINDS]; /* that were used, by enum fw_file_kind */
	int64_t clock_error_ns;      /* the largest; -1: unknown */
};
struct fw_recording_parts fw_recording_parts(const struct fw_trace *trace);

/* The first line of the page. */
void fw_text_recording_files(struct fw_page *page, const struct fw_trace *trace);

/* What the recording says it could not record, and whether it says so. */
bool fw_recording_lacks(const struct fw_trace *trace);

/* Why no work of the GPU was recorded, as a process's file says it; NULL: none does. Not for free(). */
const char *fw_recording_why_no_gpu(const struct fw_trace *trace);
void fw_text_not_recorded(struct fw_page *page, const struct fw_trace *trace);

/* How well the clocks agree; nothing where that is not known. */
void fw_text_clock_error(struct fw_page *page, const struct fw_trace *trace);

#endif
