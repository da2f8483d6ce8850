/* driver-library: libcuda.so.1, the part of the driver that programs load. */
#include "doctor/check.h"
#include "doctor/libraries.h"

#include <string.h>

static void tell_missing(struct fw_host *host, struct fw_doctor_result *result)
{
	fw_doctor_problem(result, "libcuda.so.1 is not in any folder of the loader");
	if (fw_doctor_container(host))
		fw_doctor_fix(result, "start the container with --gpus all (and "
				      "NVIDIA_DRIVER_CAPABILITIES=compute,utility): the toolkit "
				      "mounts the host's libcuda");
	else
		fw_doctor_fix(result, "install the driver's compute libraries (Debian: libcuda1; "
				      "Ubuntu: libnvidia-compute-NNN), then sudo ldconfig");
}

void fw_check_driver_library(struct fw_host *host, struct fw_doctor_result *result)
{
	struct fw_folders folders = { .count = 0 };
	struct fw_libraries found;
	const char *driver = fw_doctor_driver(host);
	const struct fw_library *library = NULL;

	fw_folders_of_loader(host, &folders);
	fw_libraries_find(host, &folders, "libcuda.so", &found);
	for (unsigned i = 0; i < found.count && !library; i++)
		if (!strstr(found.found[i].folder, "/stubs") && strchr(found.found[i].version, '.'))
			library = &found.found[i];
	if (!library && found.count && !host->is_other && fw_host_has(host, "/dev/dxg"))
		fw_doctor_ok(result, "libcuda of WSL in %s", found.found[0].folder);
	else if (!library && !found.count)
		tell_missing(host, result);
	else if (!library)
		fw_doctor_unknown(result, "%s/%s does not tell its version", found.found[0].folder,
				  found.found[0].name);
	else if (!driver)
		fw_doctor_unknown(result,
				  "libcuda %s; the kernel's driver does not tell its "
				  "version",
				  library->version);
	else if (!strcmp(driver, library->version))
		fw_doctor_ok(result, "libcuda %s, as the kernel's driver", library->version);
	else if (strstr(library->folder, "compat"))
		fw_doctor_ok(result, "libcuda %s of a cuda-compat package, driver %s",
			     library->version, driver);
	else {
		fw_doctor_problem(result,
				  "libcuda is %s, the kernel's driver %s: programs fail "
				  "with 'driver/library version mismatch'",
				  library->version, driver);
		fw_doctor_fix(result,
			      "reboot (or unload and load the modules): the driver was "
			      "updated while it ran; in a container, %s/libcuda.so.* must "
			      "not be part of the image",
			      library->folder);
	}
}
