/* compute-mode: a GPU may be closed to programs, or take one at a time. */
#include "doctor/check.h"

static struct fw_gpu_verdict judge(struct fw_host *host, const struct fw_gpu *gpu)
{
	struct fw_gpu_verdict verdict = { NULL, NULL };

	if (!gpu->now.compute_mode.is_known)
		return fw_gpu_unknown(host, "compute mode", &gpu->now.compute_mode);
	if (gpu->now.compute_mode.value == FW_NVML_COMPUTE_PROHIBITED)
		verdict.problem = "compute mode is prohibited: no CUDA program may use it";
	else if (gpu->now.compute_mode.value == FW_NVML_COMPUTE_EXCLUSIVE_PROCESS)
		verdict.problem = "compute mode is exclusive: a second process fails with 'all "
				  "devices are busy or unavailable' (right under MPS, else not)";
	return verdict;
}

void fw_check_compute_mode(struct fw_host *host, struct fw_doctor_result *result)
{
	fw_doctor_judge_gpus(host, result, judge, "default: several processes may use a GPU");
	if (result->status == FW_DOCTOR_PROBLEM)
		fw_doctor_fix(result, "sudo nvidia-smi -c DEFAULT");
}
