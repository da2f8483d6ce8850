/* huge-pages: memory reserved as huge pages is lost to everybody else, used or not. */
#include "doctor/check.h"

void fw_check_huge_pages(struct fw_host *host, struct fw_doctor_result *result)
{
	struct fw_host_file file = fw_host_read(host, "/proc/meminfo");
	const char *transparent = fw_host_line(host, "/sys/kernel/mm/transparent_hugepage/enabled");
	uint64_t total, available, kib, memory;

	if (!file.text) {
		fw_doctor_no_file(result, "/proc/meminfo", file.error);
		return;
	}
	if (!fw_host_number(fw_host_field(host, file.text, "HugePages_Total"), &total) ||
	    !fw_host_number(fw_host_field(host, file.text, "HugePages_Free"), &available) ||
	    !fw_host_number(fw_host_field(host, file.text, "Hugepagesize"), &kib) ||
	    !fw_host_number(fw_host_field(host, file.text, "MemTotal"), &memory) || !memory) {
		fw_doctor_unknown(result, "/proc/meminfo does not tell of huge pages");
		return;
	}
	if ((double)available * (double)kib > (double)memory / 10) {
		fw_doctor_problem(result, "%.1f GiB are reserved as huge pages that nobody uses",
				  (double)available * (double)kib / 1048576);
		fw_doctor_fix(result,
			      "sudo sysctl vm.nr_hugepages=%llu (and the line that reserves "
			      "them in /etc/sysctl.d or on the kernel's command line)",
			      (unsigned long long)(total > available ? total - available : 0));
		return;
	}
	fw_doctor_ok(result, "%llu reserved, %llu of them free; transparent: %s",
		     (unsigned long long)total, (unsigned long long)available,
		     transparent ? transparent : "not told");
}
