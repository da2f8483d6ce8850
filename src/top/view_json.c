/* The model as JSON; docs/top.md describes it. */
#include "base/json_writer.h"
#include "sample/clocks.h"
#include "top/view.h"

#include <math.h>

static void put_value(struct fw_json *json, const char *key, struct fw_value value)
{
	bool is_known = fw_value_is_known(value);

	fw_json_begin_object(json, key);
	if (!is_known)
		fw_json_null(json, "value");
	else if (fabs(value.number) < 9e15 && value.number == floor(value.number))
		fw_json_int(json, "value", (int64_t)value.number); /* bytes to the last digit */
	else
		fw_json_double(json, "value", value.number);
	fw_json_string(json, "source", fw_value_source_name(value.source));
	fw_json_string(json, is_known ? "from" : "why", value.note);
	fw_json_end_object(json);
}

static void put_text(struct fw_json *json, const char *key, const char *text)
{
	fw_json_string(json, key, text[0] ? text : NULL);
}

static void put_clocks(struct fw_json *json, const struct fw_gpu_sample *sample)
{
	if (!sample->has_reasons) {
		fw_json_null(json, "clocks_reasons");
		return;
	}
	fw_json_begin_array(json, "clocks_reasons");
	for (size_t i = 0; i < fw_clocks_reason_count; i++)
		if (sample->reasons & fw_clocks_reasons[i].bit)
			fw_json_string(json, NULL, fw_clocks_reasons[i].name);
	fw_json_end_array(json);
}

static void put_gpu(struct fw_json *json, const struct fw_top_gpu *gpu)
{
	const struct fw_gpu_sample *sample = &gpu->sample;

	fw_json_begin_object(json, NULL);
	fw_json_uint(json, "index", sample->index);
	put_text(json, "name", sample->identity.name);
	put_text(json, "uuid", sample->identity.uuid);
	put_text(json, "pci_bus_id", sample->identity.bus_id);
	fw_json_string(json, "state", sample->result ? fw_nvml_result_text(sample->result) : "ok");
	fw_json_bool(json, "mig", sample->has_mig);
	fw_json_begin_object(json, "verdict");
	fw_json_string(json, "kind", fw_verdict_name(gpu->verdict.kind));
	fw_json_string(json, "text", gpu->verdict.text);
	fw_json_end_object(json);
	put_clocks(json, sample);
	fw_json_begin_object(json, "counters");
	fw_json_string(json, "source",
		       sample->result ? NULL : fw_counter_source_name(sample->source));
	put_text(json, "why_not_better", sample->why_source);
	fw_json_end_object(json);
	fw_json_begin_object(json, "values");
	for (int i = 0; i < FW_GPU_VALUE_COUNT; i++)
		put_value(json, fw_gpu_values[i].name, sample->values[i]);
	fw_json_end_object(json);
	fw_json_end_object(json);
}

static void put_process(struct fw_json *json, const struct fw_top_process *process)
{
	fw_json_begin_object(json, NULL);
	fw_json_uint(json, "pid", process->pid);
	fw_json_uint(json, "gpu", process->gpu);
	put_text(json, "name", process->name);
	fw_json_begin_object(json, "values");
	for (int i = 0; i < FW_PROCESS_VALUE_COUNT; i++)
		put_value(json, fw_process_values[i].name, process->values[i]);
	put_value(json, "host_memory_growth_bytes_per_second", process->alarm.slope);
	put_value(json, "limit_reached_in_seconds", process->alarm.seconds_left);
	fw_json_end_object(json);
	fw_json_bool(json, "memory_alarm", process->alarm.is_raised);
	fw_json_end_object(json);
}

void fw_view_json(struct fw_str *out, const struct fw_top *top)
{
	const struct fw_top_process *processes = top->processes.data;
	struct fw_json json = { .out = out, .indent = 2 };

	fw_json_begin_object(&json, NULL);
	fw_json_int(&json, "schema", 1);
	fw_json_int(&json, "time_unix_ms", (int64_t)(top->real_s * 1000));
	fw_json_double(&json, "interval_s", top->interval_s);
	put_text(&json, "driver", top->machine.driver);
	fw_json_uint(&json, "gpus_not_shown", top->machine.gpus_left_out);
	fw_json_uint(&json, "processes_not_shown", top->machine.processes_left_out);
	fw_json_string(&json, "processes_unknown",
		       top->machine.processes_result
			       ? fw_nvml_result_text(top->machine.processes_result)
			       : NULL);
	fw_json_begin_array(&json, "gpus");
	for (unsigned i = 0; i < top->machine.gpu_count; i++)
		put_gpu(&json, &top->gpus[i]);
	fw_json_end_array(&json);
	fw_json_begin_array(&json, "processes");
	for (size_t i = 0; i < top->processes.len; i++)
		put_process(&json, &processes[i]);
	fw_json_end_array(&json);
	fw_json_end_object(&json);
	fw_str_putc(out, '\n');
}
