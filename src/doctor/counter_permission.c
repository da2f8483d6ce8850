/* counter-permission: hardware counters (ncu, PM sampling) may be kept for administrators. */
#include "doctor/check.h"

#include <stdlib.h>
#include <string.h>

#define CAP_SYS_ADMIN_BIT 21
#define CAP_PERFMON_BIT   38

/* CapEff of /proc/self/status. */
static bool is_admin(struct fw_host *host)
{
	struct fw_host_file status = fw_host_read(host, "/proc/self/status");
	const char *caps = status.text ? fw_host_field(host, status.text, "CapEff") : NULL;
	unsigned long long bits = caps ? strtoull(caps, NULL, 16) : 0;

	return bits >> CAP_SYS_ADMIN_BIT & 1 || bits >> CAP_PERFMON_BIT & 1;
}

static const char *what_works(const struct fw_host *host)
{
	const struct fw_gpus *gpus = &host->gpus;

	if (gpus->read && gpus->gpus[0].id.gpm.is_known && gpus->gpus[0].id.gpm.value)
		return "; without it: timelines, and SM, tensor and DRAM use of the whole GPU by "
		       "GPM, which this GPU has (fullwarp top)";
	return "; without it: timelines, but no counters (GPM, which needs none of it, is for "
	       "Hopper and newer)";
}

void fw_check_counter_permission(struct fw_host *host, struct fw_doctor_result *result)
{
	struct fw_host_file params = fw_host_read(host, "/proc/driver/nvidia/params");
	const char *value =
		params.text ? fw_host_field(host, params.text, "RmProfilingAdminOnly") : NULL;

	if (!params.text) {
		fw_doctor_no_file(result, "/proc/driver/nvidia/params", params.error);
	} else if (!value) {
		fw_doctor_unknown(result, "the driver does not tell RmProfilingAdminOnly");
	} else if (!strcmp(value, "0")) {
		fw_doctor_ok(result, "every user may read them");
	} else if (is_admin(host)) {
		fw_doctor_ok(result, "for administrators, and this process is one");
	} else {
		fw_doctor_problem(result,
				  "only administrators may read the counters "
				  "(ERR_NVGPUCTRPERM)%s",
				  what_works(host));
		fw_doctor_fix(result,
			      "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | "
			      "sudo tee /etc/modprobe.d/nvidia-profiling.conf, rebuild the "
			      "initramfs and reboot; or for one container: docker run "
			      "--cap-add=SYS_ADMIN");
	}
}
