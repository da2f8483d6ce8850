/* cuda-runtime: every libcudart that is found, against the driver. */
#include "doctor/libraries.h"
#include "doctor/python.h"
#include "doctor/runtime.h"

#include <string.h>

/* A file called libcudart.so.12 in a Python package: the package's folder tells the version. */
static const char *version_of(struct fw_host *host, const struct fw_library *library)
{
	const char *nvidia = strstr(library->folder, "/nvidia/");
	struct fw_driver_version parts;

	if (nvidia)
		return fw_package_version(host,
					  fw_host_text(host, "%.*s",
						       (int)(nvidia - library->folder),
						       library->folder),
					  "nvidia_cuda_runtime");
	/* Every 11.x has the name libcudart.so.11.0: two parts tell nothing of the minor version. */
	if (fw_driver_version_parse(library->version, &parts) &&
	    strchr(library->version, '.') != strrchr(library->version, '.'))
		return library->version;
	return NULL;
}

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
				     fw_cuda_of_version(version_of(host, library)));
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
