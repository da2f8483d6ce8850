#include "top/view.h"

#include "base/utf8.h"
#include "top/format.h"

#include <string.h>

void fw_view_begin(struct fw_view *view, enum fw_view_style style)
{
	struct fw_view_line *line = fw_vec_push(&view->lines);

	if (!line) {
		view->failed = true;
		return;
	}
	line->offset = view->text.len;
	line->style = style;
}

/* Cuts the line to the width. */
void fw_view_end(struct fw_view *view, unsigned columns)
{
	struct fw_view_line *lines = view->lines.data, *line;
	size_t keep;

	if (view->failed || view->text.failed || !view->lines.len) {
		view->failed = true;
		return;
	}
	line = &lines[view->lines.len - 1];
	line->len = view->text.len - line->offset;
	if (!line->len)
		return;
	keep = fw_utf8_cut(view->text.data + line->offset, line->len, columns);
	view->text.data[line->offset + keep] = '\0';
	view->text.len = line->offset + keep;
	line->len = keep;
}

static void put_head(struct fw_view *view, const struct fw_top *top,
		     const struct fw_view_options *options)
{
	const struct fw_machine_sample *machine = &top->machine;

	fw_view_begin(view, FW_VIEW_TITLE);
	fw_str_printf(&view->text, "fullwarp top  every %.3g s", options->interval_s);
	if (machine->driver[0])
		fw_str_printf(&view->text, "  driver %s", machine->driver);
	fw_str_printf(&view->text, "  %u GPU%s", machine->gpu_count,
		      machine->gpu_count == 1 ? "" : "s");
	if (machine->gpus_left_out)
		fw_str_printf(&view->text, " (%u more not shown)", machine->gpus_left_out);
	fw_str_printf(&view->text, "  %zu process%s", top->processes.len,
		      top->processes.len == 1 ? "" : "es");
	if (machine->processes_left_out)
		fw_str_printf(&view->text, " (%u more not shown)", machine->processes_left_out);
	if (machine->processes_result)
		fw_str_printf(&view->text, " (not all listed: %s)",
			      fw_nvml_result_text(machine->processes_result));
	fw_view_end(view, options->columns);
	if (!machine->result)
		return;
	fw_view_begin(view, FW_VIEW_BAD);
	fw_str_printf(&view->text, "No GPU to be seen: %s", machine->why);
	fw_view_end(view, options->columns);
}

static void put_keys(struct fw_view *view, const struct fw_view_options *options)
{
	static const char *const names[FW_SORT_COUNT] = { "GPU memory", "GPU %", "RSS", "CPU",
							  "PID" };

	fw_view_begin(view, FW_VIEW_DIM);
	fw_str_printf(&view->text, "q quit  s sort (%s)  up/down select  esc unselect  ? unknown",
		      names[options->sort]);
	fw_view_end(view, options->columns);
}

/* Lines that the processes take at least: the heading and a few rows, and what is selected. */
static unsigned rows_of_processes(const struct fw_top *top, const struct fw_view_options *options)
{
	unsigned rows = (unsigned)(top->processes.len < 4 ? top->processes.len : 4) + 1;

	if (options->is_live && options->selected_pid)
		rows += FW_VIEW_SELECTED_LINES;
	return rows;
}

/* In full as long as all the others still get their one line each. */
static void put_gpus(struct fw_view *view, const struct fw_top *top,
		     const struct fw_view_options *options, unsigned rows)
{
	unsigned left = top->machine.gpu_count;

	for (unsigned i = 0; i < top->machine.gpu_count; i++, left--) {
		if (options->rows && rows < left) { /* not even a line for each */
			fw_view_begin(view, FW_VIEW_DIM);
			fw_str_printf(&view->text, "  %u more GPUs: make the window higher", left);
			fw_view_end(view, options->columns);
			return;
		}
		if (!options->rows || rows - left + 1 >= FW_VIEW_GPU_LINES) {
			fw_view_gpu(view, &top->gpus[i], options);
			rows -= options->rows ? FW_VIEW_GPU_LINES : 0;
		} else {
			fw_view_gpu_short(view, &top->gpus[i], options);
			rows--;
		}
	}
}

void fw_view_render(struct fw_view *view, const struct fw_top *top,
		    const struct fw_view_options *options)
{
	unsigned foot = options->is_live, rows = options->rows, spent;

	fw_str_clear(&view->text);
	view->lines.len = 0;
	view->failed = false;
	put_head(view, top, options);
	spent = (unsigned)view->lines.len + foot + rows_of_processes(top, options);
	put_gpus(view, top, options, rows > spent ? rows - spent : 0);
	spent = (unsigned)view->lines.len + foot;
	if (rows && spent + 2 < rows)
		fw_view_alarms(view, top, options, rows - spent - 2);
	else if (!rows)
		fw_view_alarms(view, top, options, 0);
	spent = (unsigned)view->lines.len + foot;
	if (options->is_live && options->selected_pid)
		spent += FW_VIEW_SELECTED_LINES;
	if (!rows || spent < rows)
		fw_view_processes(view, top, options, rows ? rows - spent : 0);
	if (options->is_live && options->selected_pid)
		fw_view_selected(view, top, options);
	if (rows && view->lines.len > rows - foot) /* a window of very few lines */
		view->lines.len = rows > foot ? rows - foot : 0;
	if (foot)
		put_keys(view, options);
}

void fw_view_release(struct fw_view *view)
{
	fw_str_release(&view->text);
	fw_vec_release(&view->lines);
}
