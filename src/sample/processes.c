#include "sample/processes.h"

#define ROOM    128 /* processes of a kind on a GPU */
#define SAMPLES 512

/* Clocks of driver and kernel differ a little: a sample may come from so far in the future. */
#define CLOCKS_DIFFER_US 1000000

static struct fw_process_sample *find(struct fw_machine_sample *sample, unsigned gpu, unsigned pid)
{
	for (unsigned i = 0; i < sample->process_count; i++)
		if (sample->processes[i].pid == pid && sample->processes[i].gpu == gpu)
			return &sample->processes[i];
	return NULL;
}

/* One that computes and draws is listed twice, with the same memory. */
static void add(struct fw_machine_sample *sample, unsigned gpu, const struct fw_nvml_process *found)
{
	struct fw_process_sample *process = find(sample, gpu, found->pid);

	if (process)
		return;
	if (sample->process_count == FW_SAMPLE_PROCESSES) {
		sample->processes_left_out++;
		return;
	}
	process = &sample->processes[sample->process_count++];
	process->pid = found->pid;
	process->gpu = gpu;
	process->gpu_busy = fw_value_unknown("the driver has no new sample of this process");
	if (found->memory == FW_NVML_NO_VALUE)
		process->gpu_memory =
			fw_value_unknown("the driver does not tell (permission, MIG)");
	else
		process->gpu_memory = fw_value_measured((double)found->memory, "NVML");
}

static void list(const struct fw_nvml *nvml, void *device, unsigned gpu,
		 enum fw_nvml_process_kind kind, struct fw_machine_sample *sample)
{
	struct fw_nvml_process found[ROOM];
	unsigned count = 0;
	int result = fw_nvml_processes(nvml, device, kind, found, ROOM, &count);

	if (result == FW_NVML_INSUFFICIENT_SIZE) {
		sample->processes_left_out += count;
		return;
	}
	if (result && kind == FW_NVML_PROCESS_COMPUTE) /* the others exist on few GPUs */
		sample->processes_result = result;
	for (unsigned i = 0; !result && i < count; i++)
		add(sample, gpu, &found[i]);
}

static bool is_believable(const struct fw_nvml_process_utilization *used,
			  struct fw_sample_span span)
{
	return used->time_us > span.since_us && used->time_us <= span.now_us + CLOCKS_DIFFER_US &&
	       used->sm <= 100;
}

static void read_busy(const struct fw_nvml *nvml, void *device, unsigned gpu,
		      struct fw_sample_span span, struct fw_machine_sample *sample)
{
	struct fw_nvml_process_utilization used[SAMPLES];
	uint64_t newest[FW_SAMPLE_PROCESSES] = { 0 };
	unsigned count = SAMPLES;

	if (!nvml->device_get_process_utilization ||
	    nvml->device_get_process_utilization(device, used, &count, span.since_us))
		return;
	for (unsigned i = 0; i < count && i < SAMPLES; i++) {
		struct fw_process_sample *process = find(sample, gpu, used[i].pid);
		size_t at = process ? (size_t)(process - sample->processes) : 0;

		if (!process || !is_believable(&used[i], span) || used[i].time_us < newest[at])
			continue;
		newest[at] = used[i].time_us;
		process->gpu_busy = fw_value_sampled(used[i].sm, "NVML");
	}
}

void fw_processes_read(const struct fw_nvml *nvml, void *device, unsigned gpu,
		       struct fw_sample_span span, struct fw_machine_sample *sample)
{
	unsigned before = sample->process_count;

	list(nvml, device, gpu, FW_NVML_PROCESS_COMPUTE, sample);
	list(nvml, device, gpu, FW_NVML_PROCESS_GRAPHICS, sample);
	list(nvml, device, gpu, FW_NVML_PROCESS_MPS, sample);
	if (sample->process_count > before)
		read_busy(nvml, device, gpu, span, sample);
}
