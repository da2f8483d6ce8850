/* The model as CSV (RFC 4180, lines end in \n): one value a line, unknown ones empty. */
#include "top/view.h"

#include <string.h>

/* Quoted where needed; a text that a spreadsheet would take for a formula gets a ' before it. */
static void put_text(struct fw_str *out, const char *text)
{
	bool is_formula = *text && strchr("=+-@\t\r", *text);

	if (!is_formula && !strpbrk(text, ",\"\n\r")) {
		fw_str_puts(out, text);
		return;
	}
	fw_str_puts(out, is_formula ? "\"'" : "\"");
	for (; *text; text++) {
		if (*text == '"')
			fw_str_putc(out, '"');
		fw_str_putc(out, *text);
	}
	fw_str_putc(out, '"');
}

static void put_value(struct fw_str *out, const char *name, struct fw_value value)
{
	fw_str_printf(out, ",%s,", name);
	if (fw_value_is_known(value))
		fw_str_printf(out, "%.15g", value.number);
	fw_str_printf(out, ",%s,", fw_value_source_name(value.source));
	put_text(out, value.note);
	fw_str_putc(out, '\n');
}

static void put_gpu(struct fw_str *out, const struct fw_top_gpu *gpu)
{
	for (int i = 0; i < FW_GPU_VALUE_COUNT; i++) {
		fw_str_printf(out, "gpu,%u,,", gpu->sample.index);
		put_text(out, gpu->sample.identity.name);
		put_value(out, fw_gpu_values[i].name, gpu->sample.values[i]);
	}
}

static void begin_process(struct fw_str *out, const struct fw_top_process *process)
{
	fw_str_printf(out, "process,%u,%u,", process->gpu, process->pid);
	put_text(out, process->name);
}

static void put_process(struct fw_str *out, const struct fw_top_process *process)
{
	for (int i = 0; i < FW_PROCESS_VALUE_COUNT; i++) {
		begin_process(out, process);
		put_value(out, fw_process_values[i].name, process->values[i]);
	}
	begin_process(out, process);
	put_value(out, "host_memory_growth_bytes_per_second", process->alarm.slope);
	begin_process(out, process);
	put_value(out, "limit_reached_in_seconds", process->alarm.seconds_left);
}

void fw_view_csv(struct fw_str *out, const struct fw_top *top)
{
	const struct fw_top_process *processes = top->processes.data;

	fw_str_puts(out, "kind,gpu,pid,name,what,value,source,note\n");
	for (unsigned i = 0; i < top->machine.gpu_count; i++)
		put_gpu(out, &top->gpus[i]);
	for (size_t i = 0; i < top->processes.len; i++)
		put_process(out, &processes[i]);
}
