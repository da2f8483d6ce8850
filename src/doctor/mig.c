/* mig: a GPU split into instances: each program sees one of them, and one only. */
#include "doctor/check.h"

static struct fw_gpu_verdict judge(struct fw_host *host, const struct fw_gpu *gpu)
{
	struct fw_gpu_verdict verdict = { NULL, NULL };
	const struct fw_nvml_figure *mig = &gpu->now.mig;

	if (!mig->is_known && mig->result != FW_NVML_NOT_SUPPORTED &&
	    mig->result != FW_NVML_NO_CALL)
		return fw_gpu_unknown(host, "MIG mode", mig);
	if (mig->is_known && mig->value != gpu->now.mig_pending.value)
		verdict.problem = "the MIG mode changes at the next reset: until then the old one "
				  "holds";
	return verdict;
}

/* Splitting is a choice, not a fault; what follows from it is told. */
void fw_check_mig(struct fw_host *host, struct fw_doctor_result *result)
{
	unsigned split = 0;

	for (unsigned i = 0; i < host->gpus.read; i++)
		split += host->gpus.gpus[i].now.mig.is_known && host->gpus.gpus[i].now.mig.value;
	fw_doctor_judge_gpus(host, result, judge,
			     split ? fw_host_text(host,
						  "%u of %u GPUs split: a program gets one "
						  "instance, a part of the SMs and memory, and "
						  "NVML tells no utilisation of the whole",
						  split, host->gpus.read)
				   : "off, or not a GPU that has it");
	if (result->status == FW_DOCTOR_PROBLEM)
		fw_doctor_fix(result, "end what runs on it, then sudo nvidia-smi --gpu-reset -i N");
}
