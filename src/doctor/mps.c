/* mps: the service by which processes share a GPU at the same time, and its share of the SMs. */
#include "doctor/check.h"

void fw_check_mps(struct fw_host *host, struct fw_doctor_result *result)
{
	const char *folder, *share;
	uint64_t percent;

	if (!fw_doctor_has_environment(host, result))
		return;
	folder = fw_host_env(host, "CUDA_MPS_PIPE_DIRECTORY");
	share = fw_host_env(host, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
	if (fw_host_number(share, &percent) && percent < 100) {
		fw_doctor_problem(result,
				  "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=%s: under MPS a program of "
				  "this environment may use that share of the SMs",
				  share);
		fw_doctor_fix(result, "unset CUDA_MPS_ACTIVE_THREAD_PERCENTAGE, unless several "
				      "programs share the GPU on purpose");
	} else if (folder && *folder == '/' &&
		   !fw_host_has(host, fw_host_text(host, "%s/control", folder))) {
		fw_doctor_problem(result,
				  "CUDA_MPS_PIPE_DIRECTORY=%s, but no MPS daemon is there: "
				  "programs share the GPU by turns",
				  folder);
		fw_doctor_fix(result,
			      "nvidia-cuda-mps-control -d, or unset CUDA_MPS_PIPE_DIRECTORY");
	} else if (folder || fw_host_has(host, "/tmp/nvidia-mps/control")) {
		fw_doctor_ok(result, "the daemon's pipe is there");
	} else {
		fw_doctor_ok(result, "not in use");
	}
}
