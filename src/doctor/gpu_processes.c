/* gpu-processes: who else computes on the GPUs. */
#include "doctor/check.h"

#include <unistd.h>

static struct fw_gpu_verdict judge(struct fw_host *host, const struct fw_gpu *gpu)
{
	struct fw_gpu_verdict verdict = { NULL, NULL };
	unsigned others = 0;
	uint64_t bytes = 0;

	if (gpu->process_result == FW_NVML_INSUFFICIENT_SIZE)
		verdict.problem = fw_host_text(host, "more than %u processes", FW_GPU_PROCESSES);
	else if (gpu->process_result)
		verdict.unknown = fw_nvml_result_text(gpu->process_result);
	for (unsigned i = 0; i < gpu->process_count; i++) {
		if (gpu->processes[i].pid == (unsigned)getpid())
			continue;
		others++;
		if (gpu->processes[i].memory != FW_NVML_NO_VALUE)
			bytes += gpu->processes[i].memory;
	}
	if (others)
		verdict.problem = fw_host_text(host,
					       "%u process%s, first PID %u, %.1f GiB that NVML "
					       "tells of",
					       others, others == 1 ? "" : "es",
					       gpu->processes[0].pid, (double)bytes / 1073741824);
	return verdict;
}

void fw_check_gpu_processes(struct fw_host *host, struct fw_doctor_result *result)
{
	fw_doctor_judge_gpus(
		host, result, judge,
		fw_doctor_container(host)
			? "none that this container can see (those of others are hidden)"
			: "none");
	if (result->status == FW_DOCTOR_PROBLEM)
		fw_doctor_fix(result,
			      "measure on a GPU of your own: nvidia-smi lists who is there");
}
