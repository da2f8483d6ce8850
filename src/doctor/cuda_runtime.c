/* cuda-runtime: every libcudart that is found, against the driver. */
#include "doctor/libraries.h"
#include "doctor/runtime.h"

void fw_check_cuda_runtime(struct fw_host *host, struct fw_doctor_result *result)
{
	struct fw_folders folders = { .count = 0 };
	struct fw_libraries found;
	struct fw_doctor_result worst = { .host = host };
	bool has_one = false;

	fw_folders_of_loader(host, &folders);
	fw_folders_of_cuda(host, &folders);
	fw_libraries_find(host, &folders, "libcudart.so", &found);
	for (unsigned i = 0; i < found.count; i++) {
		const struct fw_library *library = &found.found[i];
		const char *what = fw_host_text(host, "%s/%s", library->folder, library->name);
		struct fw_doctor_result one = { .host = host };
		uint64_t major;

		if (!fw_host_number(library->version, &major) || major < 9 || major > 99)
			continue;
		fw_doctor_judge_cuda(host, &one, what, (unsigned)major,
				     fw_cuda_of_version(fw_cuda_library_version(host, what)));
		/* Problems before what is not known, before ok. */
		if (!has_one || (one.status == FW_DOCTOR_PROBLEM && worst.status != one.status) ||
		    (one.status == FW_DOCTOR_UNKNOWN && worst.status == FW_DOCTOR_OK))
			worst = one;
		has_one = true;
	}
	if (has_one)
		*result = worst;
	else if (!folders.count)
		fw_doctor_unknown(result, "none of the loader's folders is there to look in");
	else
		fw_doctor_ok(result, "no libcudart found: programs bring their own, or none is "
				     "installed");
}
