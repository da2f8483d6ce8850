/* row-remap: Ampere and newer replace faulty memory rows by spare ones, at a reset. */
#include "doctor/check.h"

static struct fw_gpu_verdict judge(struct fw_host *host, const struct fw_gpu *gpu)
{
	struct fw_gpu_verdict verdict = { NULL, NULL };
	const struct fw_nvml_figure *failed = &gpu->now.rows_failed;

	if (!failed->is_known && failed->result == FW_NVML_NOT_SUPPORTED)
		return verdict;
	if (!failed->is_known)
		return fw_gpu_unknown(host, "remapped rows", failed);
	if (failed->value)
		verdict.problem = "a memory row could not be remapped: the card is faulty";
	else if (gpu->now.rows_pending.value)
		verdict.problem = "a faulty memory row waits for a reset to be remapped";
	return verdict;
}

void fw_check_row_remap(struct fw_host *host, struct fw_doctor_result *result)
{
	fw_doctor_judge_gpus(host, result, judge, "no row waits, none failed");
	if (result->status == FW_DOCTOR_PROBLEM)
		fw_doctor_fix(result, "end what runs on it, then sudo nvidia-smi --gpu-reset -i N; "
				      "failed: have the card replaced");
}
