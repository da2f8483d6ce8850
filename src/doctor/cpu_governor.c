/* cpu-governor: launches and loaders run on the CPU; a governor that keeps it slow slows them. */
#include "doctor/check.h"

#include <string.h>

#define CPUFREQ "/sys/devices/system/cpu/cpu0/cpufreq"

void fw_check_cpu_governor(struct fw_host *host, struct fw_doctor_result *result)
{
	const char *governor = fw_host_line(host, CPUFREQ "/scaling_governor");
	const char *driver = fw_host_line(host, CPUFREQ "/scaling_driver");

	if (!governor || !*governor) {
		fw_doctor_unknown(result,
				  "the kernel does not tell (a virtual machine's host decides)");
		return;
	}
	/* The drivers that choose the frequency themselves call their usual policy powersave. */
	if (!strcmp(governor, "powersave") && driver && strcmp(driver, "intel_pstate") &&
	    strcmp(driver, "amd-pstate-epp")) {
		fw_doctor_problem(result,
				  "powersave under %s keeps the cores at their lowest frequency",
				  driver);
		fw_doctor_fix(result, "sudo cpupower frequency-set -g performance");
	} else {
		fw_doctor_ok(result, "%s under %s", governor,
			     driver ? driver : "a driver not told");
	}
}
