/* pytorch: the CUDA that an installed PyTorch was built for, against the driver. */
#include "doctor/python.h"
#include "doctor/runtime.h"

void fw_check_pytorch(struct fw_host *host, struct fw_doctor_result *result)
{
	struct fw_folders sites = { .count = 0 };
	struct fw_torch torch;
	unsigned cuda;

	fw_folders_of_python(host, &sites);
	torch = fw_torch_find(host, &sites);
	cuda = fw_cuda_of_version(torch.cuda);
	if (!torch.site) {
		fw_doctor_ok(result,
			     "no PyTorch in the usual folders (--for PYTHON looks in those of "
			     "one interpreter)");
	} else if (!torch.cuda) {
		fw_doctor_problem(result, "PyTorch %s in %s is built without CUDA", torch.version,
				  torch.site);
		fw_doctor_fix(result, "pip install torch --index-url "
				      "https://download.pytorch.org/whl/cu128");
	} else if (!cuda) {
		fw_doctor_unknown(result, "PyTorch %s tells CUDA '%s', which is no version",
				  torch.version, torch.cuda);
	} else {
		fw_doctor_judge_cuda(host, result, fw_host_text(host, "PyTorch %s", torch.version),
				     cuda / 10, cuda);
	}
}
