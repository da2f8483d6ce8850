/* The version of the driver that runs, from whoever knows it. */
#include "doctor/check.h"

#include <string.h>

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb ...": the first number with a dot. */
static const char *from_kernel(struct fw_host *host)
{
	const char *line = fw_host_line(host, "/proc/driver/nvidia/version");
	struct fw_driver_version version;

	for (const char *p = line; p && *p; p += strspn(p, " \t")) {
		size_t len = strcspn(p, " \t");

		if (fw_driver_version_parse(p, &version) && version.part[0] >= 100)
			return fw_arena_strndup(&host->arena, p, len);
		p += len;
	}
	return NULL;
}

const char *fw_doctor_driver(struct fw_host *host)
{
	struct fw_driver_version version;
	const char *module;

	if (host->gpus.was_asked && fw_driver_version_parse(host->gpus.driver, &version))
		return host->gpus.driver;
	module = from_kernel(host);
	if (!module)
		module = fw_host_line(host, "/sys/module/nvidia/version");
	return module && fw_driver_version_parse(module, &version) ? module : NULL;
}
