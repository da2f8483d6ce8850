/* The model as OpenMetrics; names and labels stand beside dcgm-exporter's (docs/top.md). */
#include "top/metrics.h"

#include "metrics/openmetrics.h"
#include "sample/clocks.h"
#include "sample/exported.h"

#include <string.h>

#define LABELS_MOST 8

/* Labels of a GPU or a process, with the texts that they point to. */
struct labels {
	struct fw_metric_label list[LABELS_MOST];
	size_t count;
	char gpu[12], device[24], pid[12];
};

struct context {
	struct fw_openmetrics writer;
	const struct fw_top *top;
	const char *hostname;
};

static void add_label(struct labels *labels, const char *name, const char *value)
{
	labels->list[labels->count++] = (struct fw_metric_label){ name, value };
}

static void label_gpu(const struct context *c, const struct fw_gpu_sample *gpu,
		      struct labels *labels)
{
	labels->count = 0;
	snprintf(labels->gpu, sizeof(labels->gpu), "%u", gpu->index);
	labels->device[0] = '\0';
	if (gpu->identity.minor.is_known)
		snprintf(labels->device, sizeof(labels->device), "nvidia%u",
			 (unsigned)gpu->identity.minor.value);
	add_label(labels, "gpu", labels->gpu);
	add_label(labels, "UUID", gpu->identity.uuid);
	add_label(labels, "pci_bus_id", gpu->identity.bus_id);
	add_label(labels, "device", labels->device);
	add_label(labels, "modelName", gpu->identity.name);
	add_label(labels, "Hostname", c->hostname);
}

/* Processes carry the number and UUID of their GPU, so that both can be joined. */
static void label_process(const struct context *c, const struct fw_top_process *process,
			  struct labels *labels)
{
	const struct fw_gpu_sample *gpu = &c->top->gpus[process->gpu].sample;

	labels->count = 0;
	snprintf(labels->gpu, sizeof(labels->gpu), "%u", process->gpu);
	snprintf(labels->pid, sizeof(labels->pid), "%u", process->pid);
	add_label(labels, "gpu", labels->gpu);
	add_label(labels, "UUID", gpu->identity.uuid);
	add_label(labels, "pid", labels->pid);
	add_label(labels, "process_name", process->name);
	add_label(labels, "Hostname", c->hostname);
}

static void put_gpu_value(struct context *c, int value)
{
	const struct fw_value_kind *kind = &fw_gpu_values[value];
	struct fw_exported exported;
	struct fw_metric_family family;

	fw_exported(kind, "fullwarp_gpu_", &exported);
	family = (struct fw_metric_family){ exported.name, FW_METRIC_GAUGE, exported.unit,
					    kind->help };
	fw_openmetrics_family(&c->writer, &family);
	for (unsigned i = 0; i < c->top->machine.gpu_count; i++) {
		const struct fw_gpu_sample *gpu = &c->top->gpus[i].sample;
		struct labels labels;

		if (!fw_value_is_known(gpu->values[value]))
			continue; /* unknown is absent, not 0 */
		label_gpu(c, gpu, &labels);
		fw_openmetrics_value(&c->writer, labels.list, labels.count,
				     gpu->values[value].number * exported.scale);
	}
}

static struct fw_value process_value(const struct fw_top_process *process, int value)
{
	if (value == FW_PROCESS_VALUE_COUNT)
		return process->alarm.slope;
	if (value == FW_PROCESS_VALUE_COUNT + 1)
		return process->alarm.seconds_left;
	return process->values[value];
}

static void put_process_value(struct context *c, int value)
{
	static const struct fw_value_kind growth[] = {
		{ "host_memory_growth_bytes_per_second", FW_UNIT_BYTES_PER_SECOND,
		  "Steady growth of host memory, least squares over the last minutes" },
		{ "limit_reached_in_seconds", FW_UNIT_SECONDS,
		  "Time until the host's or cgroup's memory limit if that growth goes on" },
	};
	const struct fw_value_kind *kind = value < FW_PROCESS_VALUE_COUNT
						   ? &fw_process_values[value]
						   : &growth[value - FW_PROCESS_VALUE_COUNT];
	const struct fw_top_process *processes = c->top->processes.data;
	struct fw_exported exported;
	struct fw_metric_family family;

	fw_exported(kind, "fullwarp_process_", &exported);
	family = (struct fw_metric_family){ exported.name, FW_METRIC_GAUGE, exported.unit,
					    kind->help };
	fw_openmetrics_family(&c->writer, &family);
	for (size_t i = 0; i < c->top->processes.len; i++) {
		struct fw_value v = process_value(&processes[i], value);
		struct labels labels;

		if (!fw_value_is_known(v))
			continue;
		label_process(c, &processes[i], &labels);
		fw_openmetrics_value(&c->writer, labels.list, labels.count,
				     v.number * exported.scale);
	}
}

static void put_alarms(struct context *c)
{
	static const struct fw_metric_family family = {
		"fullwarp_process_memory_alarm", FW_METRIC_GAUGE, NULL,
		"1: host memory grows steadily and meets its limit within a day"
	};
	const struct fw_top_process *processes = c->top->processes.data;

	fw_openmetrics_family(&c->writer, &family);
	for (size_t i = 0; i < c->top->processes.len; i++) {
		struct labels labels;

		label_process(c, &processes[i], &labels);
		fw_openmetrics_value(&c->writer, labels.list, labels.count,
				     processes[i].alarm.is_raised);
	}
}

static void put_gpu_up(struct context *c)
{
	static const struct fw_metric_family family = {
		"fullwarp_gpu_up", FW_METRIC_GAUGE, NULL,
		"1: the GPU answers; 0: lost, or in need of a reset"
	};

	fw_openmetrics_family(&c->writer, &family);
	for (unsigned i = 0; i < c->top->machine.gpu_count; i++) {
		struct labels labels;

		label_gpu(c, &c->top->gpus[i].sample, &labels);
		fw_openmetrics_value(&c->writer, labels.list, labels.count,
				     !c->top->gpus[i].sample.result);
	}
}

/* 1 for the source that the value has now; "unknown" is one of them. */
static void put_sources(struct context *c)
{
	static const struct fw_metric_family family = {
		"fullwarp_gpu_value_source", FW_METRIC_GAUGE, NULL,
		"1, with where the value comes from now: measured, sampled, modelled or unknown"
	};

	fw_openmetrics_family(&c->writer, &family);
	for (unsigned i = 0; i < c->top->machine.gpu_count; i++)
		for (int value = 0; value < FW_GPU_VALUE_COUNT; value++) {
			const struct fw_gpu_sample *gpu = &c->top->gpus[i].sample;
			struct labels labels;
			struct fw_exported exported;

			label_gpu(c, gpu, &labels);
			fw_exported(&fw_gpu_values[value], "fullwarp_gpu_", &exported);
			labels.count = 2; /* gpu, UUID */
			add_label(&labels, "value", exported.name);
			add_label(&labels, "source",
				  fw_value_source_name(gpu->values[value].source));
			fw_openmetrics_value(&c->writer, labels.list, labels.count, 1);
		}
}

static void put_counter_source(struct context *c)
{
	static const struct fw_metric_family family = {
		"fullwarp_gpu_counter_source", FW_METRIC_GAUGE, NULL,
		"1, with the source of the counters: pm-sampling, gpm, or nvml, which has none"
	};

	fw_openmetrics_family(&c->writer, &family);
	for (unsigned i = 0; i < c->top->machine.gpu_count; i++) {
		const struct fw_gpu_sample *gpu = &c->top->gpus[i].sample;
		struct labels labels;

		if (gpu->result)
			continue;
		label_gpu(c, gpu, &labels);
		labels.count = 2; /* gpu, UUID */
		add_label(&labels, "source", fw_counter_source_name(gpu->source));
		fw_openmetrics_value(&c->writer, labels.list, labels.count, 1);
	}
}

static void put_throttles(struct context *c)
{
	static const struct fw_metric_family family = { "fullwarp_gpu_throttled", FW_METRIC_GAUGE,
							NULL,
							"1: clocks are held down for this reason" };

	fw_openmetrics_family(&c->writer, &family);
	for (unsigned i = 0; i < c->top->machine.gpu_count; i++) {
		const struct fw_gpu_sample *gpu = &c->top->gpus[i].sample;

		for (size_t r = 0; gpu->has_reasons && r < fw_clocks_reason_count; r++) {
			struct labels labels;

			if (!fw_clocks_reasons[r].is_throttle)
				continue;
			label_gpu(c, gpu, &labels);
			add_label(&labels, "reason", fw_clocks_reasons[r].name);
			fw_openmetrics_value(&c->writer, labels.list, labels.count,
					     (gpu->reasons & fw_clocks_reasons[r].bit) != 0);
		}
	}
}

static void put_program(struct context *c)
{
	static const struct fw_metric_family build = { "fullwarp_build", FW_METRIC_INFO, NULL,
						       "This program and the driver" };
	static const struct fw_metric_family up = { "fullwarp_up", FW_METRIC_GAUGE, NULL,
						    "1: the driver answers" };
	static const struct fw_metric_family readings = { "fullwarp_readings", FW_METRIC_COUNTER,
							  NULL, "Readings taken" };
	static const struct fw_metric_family time = { "fullwarp_reading_timestamp_seconds",
						      FW_METRIC_GAUGE, "seconds",
						      "When the values were read" };
	struct fw_metric_label labels[] = { { "version", FW_VERSION },
					    { "driver", c->top->machine.driver },
					    { "Hostname", c->hostname } };

	fw_openmetrics_family(&c->writer, &build);
	fw_openmetrics_value(&c->writer, labels, 3, 1);
	fw_openmetrics_family(&c->writer, &up);
	fw_openmetrics_value(&c->writer, NULL, 0, !c->top->machine.result);
	fw_openmetrics_family(&c->writer, &readings);
	fw_openmetrics_count(&c->writer, NULL, 0, c->top->readings);
	fw_openmetrics_family(&c->writer, &time);
	fw_openmetrics_value(&c->writer, NULL, 0, c->top->real_s);
}

void fw_top_metrics(struct fw_str *out, const struct fw_top *top, const char *hostname)
{
	struct context c = { .writer = { .out = out }, .top = top, .hostname = hostname };

	put_program(&c);
	put_gpu_up(&c);
	for (int i = 0; i < FW_GPU_VALUE_COUNT; i++)
		put_gpu_value(&c, i);
	put_throttles(&c);
	put_sources(&c);
	put_counter_source(&c);
	for (int i = 0; i < FW_PROCESS_VALUE_COUNT + 2; i++)
		put_process_value(&c, i);
	put_alarms(&c);
	fw_openmetrics_end(&c.writer);
}
