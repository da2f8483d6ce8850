/* The table of processes, the selected one's history, and the memory alarms. */
#include "base/utf8.h"
#include "top/format.h"
#include "top/view.h"

#include <stdlib.h>
#include <string.h>

struct key {
	double number;
	unsigned index, pid;
};

static int by_key(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->number != y->number)
		return x->number > y->number ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

unsigned fw_view_order(const struct fw_top *top, enum fw_view_sort sort,
		       unsigned order[FW_SAMPLE_PROCESSES])
{
	static const enum fw_process_value by[FW_SORT_COUNT] = {
		[FW_SORT_GPU_MEMORY] = FW_PROCESS_GPU_MEMORY,
		[FW_SORT_GPU_BUSY] = FW_PROCESS_GPU_BUSY,
		[FW_SORT_RSS] = FW_PROCESS_RSS,
		[FW_SORT_CPU] = FW_PROCESS_CPU,
	};
	const struct fw_top_process *processes = top->processes.data;
	struct key keys[FW_SAMPLE_PROCESSES];
	unsigned count = (unsigned)top->processes.len;

	if (count > FW_SAMPLE_PROCESSES)
		count = FW_SAMPLE_PROCESSES;
	for (unsigned i = 0; i < count; i++) {
		struct fw_value value = processes[i].values[by[sort]];
		double known = fw_value_is_known(value) ? value.number : -1; /* unknown ones last */

		keys[i] = (struct key){ sort == FW_SORT_PID ? 0 : known, i, processes[i].pid };
	}
	if (count)
		qsort(keys, count, sizeof(keys[0]), by_key);
	for (unsigned i = 0; i < count; i++)
		order[i] = keys[i].index;
	return count;
}

static bool is_selected(const struct fw_top_process *process, const struct fw_view_options *options)
{
	return options->is_live && process->pid == options->selected_pid &&
	       process->gpu == options->selected_gpu;
}

/* Names are foreign: what is not printable would move the cursor. */
static void put_name(struct fw_str *out, const char *name)
{
	size_t len = strlen(name);

	if (!len)
		fw_str_puts(out, "?");
	while (len) {
		size_t n = fw_utf8_length(name, len);

		if (!n || (unsigned char)*name < ' ' || *name == 0x7f ||
		    (n == 2 && (unsigned char)name[0] == 0xc2 && (unsigned char)name[1] < 0xa0))
			fw_str_putc(out, '.');
		else
			fw_str_append(out, name, n);
		name += n ? n : 1;
		len -= n ? n : 1;
	}
}

static void put_process(struct fw_view *view, const struct fw_top_process *process,
			const struct fw_view_options *options)
{
	static const struct {
		enum fw_process_value value;
		void (*format)(char text[FW_FORMAT_BYTES], struct fw_value value);
		int width;
	} cells[] = {
		{ FW_PROCESS_GPU_MEMORY, fw_format_bytes_short, 8 },
		{ FW_PROCESS_GPU_BUSY, fw_format_count, 6 },
		{ FW_PROCESS_RSS, fw_format_bytes_short, 8 },
		{ FW_PROCESS_SHARED, fw_format_bytes_short, 8 },
		{ FW_PROCESS_CPU, fw_format_count, 7 },
		{ FW_PROCESS_CHILDREN, fw_format_count, 9 },
	};
	const struct fw_memory_alarm *alarm = &process->alarm;
	enum fw_view_style style = alarm->is_raised ? FW_VIEW_BAD : FW_VIEW_PLAIN;
	char text[FW_FORMAT_BYTES] = "-";

	fw_view_begin(view, is_selected(process, options) ? FW_VIEW_SELECTED : style);
	fw_str_printf(&view->text, "%8u %3u", process->pid, process->gpu);
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		char cell[FW_FORMAT_BYTES];

		cells[i].format(cell, process->values[cells[i].value]);
		fw_str_printf(&view->text, "%*s", cells[i].width, cell);
	}
	if (alarm->is_raised)
		fw_format_duration(text, alarm->seconds_left.number);
	fw_str_printf(&view->text, " %11s ", text);
	put_name(&view->text, process->name);
	fw_view_end(view, options->columns);
}

void fw_view_processes(struct fw_view *view, const struct fw_top *top,
		       const struct fw_view_options *options, unsigned rows)
{
	const struct fw_top_process *processes = top->processes.data;
	unsigned order[FW_SAMPLE_PROCESSES], first = 0;
	unsigned count = fw_view_order(top, options->sort, order);

	fw_view_begin(view, FW_VIEW_TITLE);
	fw_str_puts(&view->text, "     PID GPU GPU mem  GPU%     RSS  shared   CPU% children "
				 "   full in COMMAND");
	fw_view_end(view, options->columns);
	if (rows && count > rows - 1) { /* the selected one stays in sight */
		for (unsigned i = 0; i < count; i++)
			if (is_selected(&processes[order[i]], options) && i >= rows - 1)
				first = i - (rows - 1) + 1;
		count = first + rows - 1;
	}
	for (unsigned i = first; i < count; i++)
		put_process(view, &processes[order[i]], options);
}

static void put_history(struct fw_view *view, const char *name, const struct fw_history *history,
			const struct fw_view_options *options)
{
	unsigned width = options->columns > 30 ? options->columns - 26 : 4;
	char most[FW_FORMAT_BYTES];
	float peak = fw_history_max(history);

	if (width > FW_HISTORY_POINTS)
		width = FW_HISTORY_POINTS;
	fw_format_bytes_short(most, fw_value_measured(peak, ""));
	fw_view_begin(view, FW_VIEW_PLAIN);
	fw_str_printf(&view->text, "  %-10s ", name);
	fw_format_bars(&view->text, history, width, peak, options->is_ascii);
	fw_str_printf(&view->text, " max %s", most);
	fw_view_end(view, options->columns);
}

void fw_view_selected(struct fw_view *view, const struct fw_top *top,
		      const struct fw_view_options *options)
{
	const struct fw_top_process *processes = top->processes.data;
	char rss[FW_FORMAT_BYTES], cpu[FW_FORMAT_BYTES], limit[FW_FORMAT_BYTES];

	for (size_t i = 0; i < top->processes.len; i++) {
		const struct fw_top_process *p = &processes[i];

		if (!is_selected(p, options))
			continue;
		fw_format_bytes_short(rss, p->values[FW_PROCESS_CHILDREN_RSS]);
		fw_format_count(cpu, p->values[FW_PROCESS_CHILDREN_CPU]);
		fw_format_bytes_short(limit, p->values[FW_PROCESS_HOST_FREE]);
		fw_view_begin(view, FW_VIEW_TITLE);
		fw_str_printf(
			&view->text,
			"PID %u: children RSS %s, CPU %s %%; pinned ?; host memory left %s (%s)",
			p->pid, rss, cpu, limit, p->values[FW_PROCESS_HOST_FREE].note);
		fw_view_end(view, options->columns);
		put_history(view, "GPU memory", &p->gpu_memory, options);
		put_history(view, "RSS", &p->rss, options);
		put_history(view, "CPU %", &p->cpu, options);
		return;
	}
	fw_view_begin(view, FW_VIEW_DIM);
	fw_str_printf(&view->text, "PID %u is gone", options->selected_pid);
	fw_view_end(view, options->columns);
}

unsigned fw_view_alarms(struct fw_view *view, const struct fw_top *top,
			const struct fw_view_options *options, unsigned rows)
{
	const struct fw_top_process *processes = top->processes.data;
	unsigned shown = 0;

	for (size_t i = 0; i < top->processes.len; i++) {
		const struct fw_memory_alarm *alarm = &processes[i].alarm;
		char slope[FW_FORMAT_BYTES], left[FW_FORMAT_BYTES], limit[FW_FORMAT_BYTES];

		if (!alarm->is_raised || (rows && shown == rows))
			continue;
		fw_format_bytes(slope, fw_value_measured(alarm->slope.number * 60, ""));
		fw_format_duration(left, alarm->seconds_left.number);
		fw_format_bytes(limit, processes[i].values[FW_PROCESS_HOST_LIMIT]);
		fw_view_begin(view, FW_VIEW_BAD);
		fw_str_printf(&view->text, "! PID %u: host memory grows %s/min; %s limit %s in %s",
			      processes[i].pid, slope,
			      processes[i].values[FW_PROCESS_HOST_LIMIT].note, limit, left);
		fw_view_end(view, options->columns);
		shown++;
	}
	return shown;
}
