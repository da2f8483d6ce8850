/* clock-source: reading a slow clock is a system call and microseconds, where tsc is 20 ns. */
#include "doctor/check.h"

#include <string.h>

void fw_check_clock_source(struct fw_host *host, struct fw_doctor_result *result)
{
	const char *now = fw_host_line(host, "/sys/devices/system/clocksource/clocksource0/"
					     "current_clocksource");

	if (!now || !*now) {
		fw_doctor_unknown(result, "/sys does not name the clock source");
	} else if (!strcmp(now, "hpet") || !strcmp(now, "acpi_pm") || !strcmp(now, "jiffies") ||
		   !strcmp(now, "refined-jiffies") || !strcmp(now, "pit")) {
		fw_doctor_problem(result,
				  "the clock source is %s: every time stamp is a slow system "
				  "call",
				  now);
		fw_doctor_fix(result,
			      "dmesg | grep -i tsc says why tsc was dropped; if the machine's "
			      "tsc is sound, boot with clocksource=tsc tsc=reliable");
	} else {
		fw_doctor_ok(result, "%s", now);
	}
}
