/* cuda-stub: a toolkit's libcuda for linking, found by the loader at run time. */
#include "doctor/check.h"
#include "doctor/libraries.h"

#include <string.h>

void fw_check_cuda_stub(struct fw_host *host, struct fw_doctor_result *result)
{
	struct fw_folders folders = { .count = 0 };

	fw_folders_of_loader(host, &folders);
	if (!folders.count) {
		fw_doctor_unknown(result, "none of the loader's folders is there to look in");
		return;
	}
	for (unsigned i = 0; i < folders.count; i++) {
		if (!strstr(folders.paths[i], "/stubs") ||
		    !fw_host_has(host, fw_host_text(host, "%s/libcuda.so.1", folders.paths[i])))
			continue;
		fw_doctor_problem(result,
				  "%s/libcuda.so.1 is a stub: where it is loaded, every CUDA "
				  "call fails (error 34)",
				  folders.paths[i]);
		fw_doctor_fix(result,
			      "sudo rm %s/libcuda.so.1 (link with -L, run without it), and "
			      "sudo ldconfig",
			      folders.paths[i]);
		return;
	}
	fw_doctor_ok(result, "no stub where the loader looks");
}
