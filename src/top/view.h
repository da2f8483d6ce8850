#ifndef FW_TOP_VIEW_H
#define FW_TOP_VIEW_H
/* The model as lines of text, for the screen and for one-shot output; and as JSON and CSV. */
#include "base/str.h"
#include "top/model.h"

enum fw_view_style {
	FW_VIEW_PLAIN,
	FW_VIEW_TITLE,
	FW_VIEW_DIM,
	FW_VIEW_GOOD,
	FW_VIEW_BAD,
	FW_VIEW_SELECTED
};

enum fw_view_sort {
	FW_SORT_GPU_MEMORY,
	FW_SORT_GPU_BUSY,
	FW_SORT_RSS,
	FW_SORT_CPU,
	FW_SORT_PID,
	FW_SORT_COUNT
};

struct fw_view_options {
	unsigned columns, rows; /* rows 0: as many as needed */
	bool is_ascii, is_live; /* live: with the keys and the selection */
	double interval_s;      /* the one asked for */
	enum fw_view_sort sort;
	unsigned selected_pid, selected_gpu; /* pid 0: none */
};

struct fw_view_line {
	size_t offset, len; /* in text */
	enum fw_view_style style;
};

/* One thread. Initialise with {.lines = FW_VEC(struct fw_view_line)}. */
struct fw_view {
	struct fw_str text;
	struct fw_vec lines;
	bool failed; /* memory was out: the view is not whole */
};

/* Renders anew: never more than rows lines, none wider than columns. */
void fw_view_render(struct fw_view *view, const struct fw_top *top,
		    const struct fw_view_options *options);
void fw_view_release(struct fw_view *view);

/* The processes in the order of the table: indexes into top->processes. Returns how many. */
unsigned fw_view_order(const struct fw_top *top, enum fw_view_sort sort,
		       unsigned order[FW_SAMPLE_PROCESSES]);

/* Parts of the view: begin a line, write to view->text, end it. */
void fw_view_begin(struct fw_view *view, enum fw_view_style style);
void fw_view_end(struct fw_view *view, unsigned columns);

/* A GPU in up to FW_VIEW_GPU_LINES lines, or in one. */
#define FW_VIEW_GPU_LINES 5
void fw_view_gpu(struct fw_view *view, const struct fw_top_gpu *gpu,
		 const struct fw_view_options *options);
void fw_view_gpu_short(struct fw_view *view, const struct fw_top_gpu *gpu,
		       const struct fw_view_options *options);

/* The table of processes in at most `rows` lines (0: all), and the selected one's history. */
void fw_view_processes(struct fw_view *view, const struct fw_top *top,
		       const struct fw_view_options *options, unsigned rows);
void fw_view_selected(struct fw_view *view, const struct fw_top *top,
		      const struct fw_view_options *options);
#define FW_VIEW_SELECTED_LINES 4

/* A line for each process whose memory will be out; at most `rows` (0: all). */
unsigned fw_view_alarms(struct fw_view *view, const struct fw_top *top,
			const struct fw_view_options *options, unsigned rows);

/* {"schema":1, ...}, documented in docs/top.md. */
void fw_view_json(struct fw_str *out, const struct fw_top *top);

/* A line a value, with a heading. */
void fw_view_csv(struct fw_str *out, const struct fw_top *top);

#endif
