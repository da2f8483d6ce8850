/* cupti: the library that profilers get GPU timelines from; one newer than the driver does not start. */
#include "doctor/libraries.h"
#include "doctor/runtime.h"

#include <string.h>

static bool has_major(const char *name, uint64_t *major)
{
	size_t len = strlen("libcupti.so.");

	return strlen(name) > len && fw_host_number(name + len, major) && *major >= 9 &&
	       *major <= 99;
}

void fw_check_cupti(struct fw_host *host, struct fw_doctor_result *result)
{
	struct fw_folders folders = { .count = 0 };
	struct fw_libraries found;
	const struct fw_nvml_figure *driver = &host->gpus.cuda;
	uint64_t major = 0;
	unsigned at = 0;

	fw_folders_of_loader(host, &folders);
	fw_folders_of_cuda(host, &folders);
	fw_libraries_find(host, &folders, "libcupti.so", &found);
	if (!folders.count) {
		fw_doctor_unknown(result, "none of the loader's folders is there to look in");
		return;
	}
	if (!found.count) {
		fw_doctor_problem(result,
				  "no libcupti: neither fullwarp nor PyTorch's profiler can "
				  "record what the GPU does");
		fw_doctor_fix(result,
			      "pip install nvidia-cuda-cupti-cu12 (the driver's major version), "
			      "or apt-get install cuda-cupti-12-8");
		return;
	}
	/* Its own version is a year (libcupti.so.2024.1.1); the link's name has CUDA's major version. */
	while (at < found.count && !has_major(found.found[at].name, &major))
		at++;
	if (at == found.count)
		fw_doctor_unknown(result, "%s does not tell its CUDA version", found.found[0].name);
	else if (!driver->is_known)
		fw_doctor_unknown(result,
				  "CUPTI of CUDA %llu in %s; the driver's CUDA is not known",
				  (unsigned long long)major, found.found[at].folder);
	else if (major > driver->value / 1000) {
		fw_doctor_problem(result,
				  "CUPTI of CUDA %llu in %s, the driver has CUDA %llu: "
				  "recording fails",
				  (unsigned long long)major, found.found[at].folder,
				  (unsigned long long)driver->value / 1000);
		fw_doctor_fix(result, "pip install nvidia-cuda-cupti-cu%llu",
			      (unsigned long long)driver->value / 1000);
	} else {
		fw_doctor_ok(result, "CUPTI of CUDA %llu in %s", (unsigned long long)major,
			     found.found[at].folder);
	}
}
