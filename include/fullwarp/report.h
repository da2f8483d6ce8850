#ifndef FULLWARP_REPORT_H
#define FULLWARP_REPORT_H
/*
 * Why was the GPU not full? Opens traces, accounts for every nanosecond, ranks the causes by cost, and
 * writes the answer as text or JSON.
 *
 *	const char *paths[] = { "trace.json.gz" };
 *	struct fw_report *report = NULL;
 *	struct fw_error err;
 *	char *json = NULL;
 *
 *	if (fw_report_open(paths, 1, NULL, &report, &err) ||
 *	    fw_report_write(report, "json", NULL, &json, &err))
 *		fprintf(stderr, "%s\n", err.message);
 *	else
 *		puts(json);
 *	free(json);
 *	fw_report_close(report);
 *
 * A report is immutable once open: several threads may write it out at the same time.
 */
#include "fullwarp/fullwarp.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fw_report;

/* Fill with zeros, set struct_size, then what differs from the default. */
struct fw_report_options {
	size_t struct_size; /* sizeof(struct fw_report_options) */
	int all;            /* analyse from the first to the last GPU operation, warm-up included */
	int has_window; /* analyse [window_start_ns, window_end_ns), in ns from the trace's start */
	int64_t window_start_ns;
	int64_t window_end_ns;
	/* Called now and then by fw_report_open in the calling thread; total 0: unknown. May be NULL. */
	void (*progress)(void *user, uint64_t bytes_read, uint64_t bytes_total);
	void *user;
	/* Model of the GPUs that a trace does not describe, e.g. "H200"; NULL: they stay unknown. */
	const char *gpu;
	/*
	 * About so much memory for the trace and its analysis; what is over it goes to temporary
	 * files without a name in TMPDIR, else /var/tmp. 0: no limit.
	 */
	uint64_t max_memory_bytes;
};

/* How the text looks. Fill with zeros, set struct_size, then what differs from the default. */
struct fw_report_style {
	size_t struct_size; /* sizeof(struct fw_report_style) */
	unsigned columns;   /* width of the terminal; 0: 100. 40 to 200 are honoured */
	unsigned
		kernels; /* rows of the kernel table; 0: at most 10, see report-text.md. UINT_MAX: all */
	int color;       /* ANSI colours */
	int ascii;       /* bars and marks in ASCII instead of UTF-8 */
	int full_names;   /* names of kernels and operators as recorded, never shortened */
	int only_kernels; /* the kernel table alone */
	int explain;      /* adds what every class and number means */
	int all_findings; /* every finding in full, not only the dearest three of a GPU */
	int all_devices;  /* a section for every GPU, not only for the idlest of many */
};

/*
 * Reads traces (several: ranks of one job) and analyses them. *report is for fw_report_close.
 * options may be NULL. FW_ERR_FORMAT: a file is not a trace, or holds no GPU operations;
 * FW_ERR_IO: a file cannot be read; FW_ERR_ARGUMENT: no path, or an empty window.
 */
FW_API fw_status fw_report_open(const char *const *paths, size_t count,
				const struct fw_report_options *options, struct fw_report **report,
				struct fw_error *err);

/* Accepts NULL. */
FW_API void fw_report_close(struct fw_report *report);

/*
 * The report in a format: "text" for people, "json" for programs, "perfetto" to look at the trace in
 * ui.perfetto.dev (docs/format/ has a page on each). Valid UTF-8; *text is the caller's to free(). style
 * may be NULL; only text takes anything from it.
 * FW_ERR_ARGUMENT: no such format; the message lists them.
 */
FW_API fw_status fw_report_write(const struct fw_report *report, const char *format,
				 const struct fw_report_style *style, char **text,
				 struct fw_error *err);

/*
 * The same, handed over piece by piece: write gets user and the next bytes, and returns 0 to go on. For
 * "perfetto", whose text is about 200 bytes an event. FW_ERR_IO: write returned something else.
 */
FW_API fw_status fw_report_write_to(const struct fw_report *report, const char *format,
				    const struct fw_report_style *style,
				    int (*write)(void *user, const char *bytes, size_t size),
				    void *user, struct fw_error *err);

/* The name of the format with that number, counted from 0; NULL: there are no more. */
FW_API const char *fw_report_format_name(size_t number);

/* What every class and number of a report means, as text; free() *text. style may be NULL. */
FW_API fw_status fw_report_explanation(const struct fw_report_style *style, char **text,
				       struct fw_error *err);

#ifdef __cplusplus
}
#endif

#endif
