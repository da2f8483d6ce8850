/* persistence: without it, the driver starts the GPU anew for each first program. */
#include "doctor/check.h"

static struct fw_gpu_verdict judge(struct fw_host *host, const struct fw_gpu *gpu)
{
	struct fw_gpu_verdict verdict = { NULL, NULL };

	if (!gpu->now.persistence.is_known)
		return fw_gpu_unknown(host, "persistence mode", &gpu->now.persistence);
	if (!gpu->now.persistence.value)
		verdict.problem = "persistence mode is off: the first program after an idle time "
				  "waits for the GPU to start, and clocks and settings are lost";
	return verdict;
}

void fw_check_persistence(struct fw_host *host, struct fw_doctor_result *result)
{
	fw_doctor_judge_gpus(host, result, judge, "on");
	if (result->status == FW_DOCTOR_PROBLEM)
		fw_doctor_fix(result, "sudo systemctl enable --now nvidia-persistenced (or sudo "
				      "nvidia-smi -pm 1)");
}
