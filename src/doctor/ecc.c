/* ecc: errors of the GPU's memory that could not be corrected. */
#include "doctor/check.h"

static struct fw_gpu_verdict judge(struct fw_host *host, const struct fw_gpu *gpu)
{
	struct fw_gpu_verdict verdict = { NULL, NULL };
	const struct fw_nvml_figure *ecc = &gpu->now.ecc, *errors = &gpu->now.ecc_uncorrected;

	if (!ecc->is_known && ecc->result == FW_NVML_NOT_SUPPORTED)
		return verdict; /* this GPU has no ECC */
	if (!ecc->is_known)
		return fw_gpu_unknown(host, "ECC mode", ecc);
	if (!ecc->value)
		return verdict;
	if (!errors->is_known)
		return fw_gpu_unknown(host, "ECC errors", errors);
	if (errors->value)
		verdict.problem =
			fw_host_text(host,
				     "%llu memory errors not corrected since the driver was "
				     "loaded: results may be wrong, programs die (Xid 48, 94, 95)",
				     (unsigned long long)errors->value);
	return verdict;
}

void fw_check_ecc(struct fw_host *host, struct fw_doctor_result *result)
{
	fw_doctor_judge_gpus(host, result, judge, "no uncorrected error (or a GPU without ECC)");
	if (result->status == FW_DOCTOR_PROBLEM)
		fw_doctor_fix(result,
			      "end what runs on it, sudo nvidia-smi --gpu-reset -i N; if it "
			      "comes back, run NVIDIA's field diagnostics and replace the card");
}
