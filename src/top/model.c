#include "top/model.h"

#include "sample/proc.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

fw_status fw_top_open(struct fw_top **top, const struct fw_top_options *options,
		      struct fw_error *err)
{
	struct fw_top *t = calloc(1, sizeof(*t));
	fw_status status;

	*top = NULL;
	if (!t)
		return fw_fail_nomem(err, sizeof(*t));
	t->processes = (struct fw_vec)FW_VEC(struct fw_top_process);
	status = fw_devices_open(&t->devices, options->nvml, err);
	if (!status)
		status = fw_devices_set_counters(t->devices, &options->counters, err);
	if (!status)
		status = fw_proc_open(&t->proc, options->root ? options->root : "/", err);
	if (status)
		fw_top_close(t);
	else
		*top = t;
	return status;
}

void fw_top_close(struct fw_top *top)
{
	if (!top)
		return;
	fw_devices_close(top->devices);
	fw_proc_close(top->proc);
	fw_vec_release(&top->processes);
	free(top);
}

/* Power of 0 W is no reading. */
static void note_floor(struct fw_top_gpu *gpu)
{
	struct fw_value power = gpu->sample.values[FW_GPU_POWER];

	if (!fw_value_is_known(power) || !(power.number > 0))
		return;
	if (gpu->floor_w <= 0 || power.number < gpu->floor_w)
		gpu->floor_w = power.number;
}

static void update_gpu(struct fw_top_gpu *gpu, const struct fw_gpu_sample *sample)
{
	struct fw_value *v = gpu->sample.values;

	if (strcmp(gpu->sample.identity.uuid, sample->identity.uuid) != 0)
		memset(gpu, 0, sizeof(*gpu)); /* another GPU has this number now */
	gpu->sample = *sample;
	note_floor(gpu);
	if (fw_verdict_doubts_zero(&gpu->sample, gpu->floor_w)) {
		v[FW_GPU_BUSY] = v[FW_GPU_MEMORY_BUSY] =
			fw_value_unknown("NVML says 0 % while the power is well above idle");
	}
	fw_verdict_make(&gpu->sample, &gpu->verdict);
	fw_history_add(&gpu->busy, v[FW_GPU_BUSY]);
	fw_history_add(&gpu->sm, v[FW_GPU_SM_BUSY]);
	fw_history_add(&gpu->tensor, v[FW_GPU_TENSOR]);
	fw_history_add(&gpu->dram, v[FW_GPU_DRAM]);
	fw_history_add(&gpu->memory, v[FW_GPU_MEMORY_USED]);
}

static struct fw_top_process *find_process(struct fw_top *top, unsigned pid, unsigned gpu)
{
	struct fw_top_process *processes = top->processes.data;

	for (size_t i = 0; i < top->processes.len; i++)
		if (processes[i].pid == pid && processes[i].gpu == gpu)
			return &processes[i];
	return NULL;
}

static void watch_memory(struct fw_top *top, struct fw_top_process *process)
{
	struct fw_value memory = process->values[FW_PROCESS_HOST_MEMORY];
	struct fw_value left = process->values[FW_PROCESS_HOST_FREE];
	struct fw_memory_alarm *alarm = &process->alarm;
	struct fw_slope slope;

	*alarm = (struct fw_memory_alarm){
		.slope = fw_value_unknown("no steady growth in the last minutes"),
		.seconds_left = fw_value_unknown("no steady growth in the last minutes"),
	};
	if (!fw_value_is_known(memory))
		return;
	fw_growth_add(&process->growth, (double)top->now_ns * 1e-9, memory.number);
	if (!fw_growth_slope(&process->growth, &slope))
		return;
	alarm->window_s = slope.window_s;
	alarm->slope = fw_value_modelled(slope.bytes_per_second, "least squares");
	if (!fw_value_is_known(left)) {
		alarm->seconds_left = left;
		return;
	}
	alarm->seconds_left =
		fw_value_modelled(left.number / slope.bytes_per_second, "growth goes on as it was");
	alarm->is_raised = alarm->seconds_left.number < FW_TOP_ALARM_S;
}

static void update_process(struct fw_top *top, struct fw_top_process *process,
			   const struct fw_process_sample *sample)
{
	uint64_t start;
	char name[32];

	fw_proc_read(top->proc, sample->pid, process->values, name, &start);
	if (process->start != start) { /* the number was used again */
		process->growth = (struct fw_growth){ 0 };
		process->gpu_memory = process->rss = process->cpu = (struct fw_history){ 0 };
		process->start = start;
	}
	memcpy(process->name, name, sizeof(name));
	process->values[FW_PROCESS_GPU_MEMORY] = sample->gpu_memory;
	process->values[FW_PROCESS_GPU_BUSY] = sample->gpu_busy;
	process->is_seen = true;
	watch_memory(top, process);
	fw_history_add(&process->gpu_memory, sample->gpu_memory);
	fw_history_add(&process->rss, process->values[FW_PROCESS_RSS]);
	fw_history_add(&process->cpu, process->values[FW_PROCESS_CPU]);
}

static int by_gpu_and_pid(const void *a, const void *b)
{
	const struct fw_top_process *x = a, *y = b;

	if (x->gpu != y->gpu)
		return x->gpu < y->gpu ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Those that are gone leave, so that there are never more than a reading has. */
static void drop_gone(struct fw_top *top)
{
	struct fw_top_process *processes = top->processes.data;
	size_t kept = 0;

	for (size_t i = 0; i < top->processes.len; i++) {
		if (!processes[i].is_seen)
			continue;
		processes[i].is_seen = false;
		if (kept != i)
			processes[kept] = processes[i];
		kept++;
	}
	top->processes.len = kept;
	if (kept)
		qsort(processes, kept, sizeof(*processes), by_gpu_and_pid);
}

static fw_status update_processes(struct fw_top *top, struct fw_error *err)
{
	unsigned pids[FW_SAMPLE_PROCESSES];
	unsigned count = top->machine.process_count;
	fw_status status = FW_OK;

	for (unsigned i = 0; i < count; i++)
		pids[i] = top->machine.processes[i].pid;
	/* Without a readable /proc the host's side of all is unknown, the GPU's is not. */
	if (count)
		status = fw_proc_scan(top->proc, pids, count, top->now_ns, err);
	if (status == FW_ERR_NOMEM)
		return status;
	for (unsigned i = 0; i < count; i++) {
		const struct fw_process_sample *sample = &top->machine.processes[i];
		struct fw_top_process *process = find_process(top, sample->pid, sample->gpu);

		if (!process) {
			process = fw_vec_push(&top->processes);
			if (!process)
				return fw_fail_nomem(err, sizeof(*process));
			process->pid = sample->pid;
			process->gpu = sample->gpu;
		}
		update_process(top, process, sample);
	}
	drop_gone(top);
	return FW_OK;
}

fw_status fw_top_update(struct fw_top *top, int64_t now_ns, struct fw_error *err)
{
	struct timespec real;

	clock_gettime(CLOCK_REALTIME, &real);
	top->real_s = (double)real.tv_sec + (double)real.tv_nsec * 1e-9;
	top->interval_s = top->readings ? (double)(now_ns - top->now_ns) * 1e-9 : 0;
	top->now_ns = now_ns;
	top->readings++;
	fw_devices_read(top->devices, now_ns, &top->machine);
	for (unsigned i = 0; i < top->machine.gpu_count; i++)
		update_gpu(&top->gpus[i], &top->machine.gpus[i]);
	return update_processes(top, err);
}
