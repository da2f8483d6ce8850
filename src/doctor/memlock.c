/* memlock: ulimit -l. CUDA's pinned memory is not counted by it; RDMA registrations are. */
#include "doctor/check.h"

#include <string.h>

void fw_check_memlock(struct fw_host *host, struct fw_doctor_result *result)
{
	struct fw_host_file limits = fw_host_read(host, "/proc/self/limits");
	const char *soft =
		limits.text ? fw_host_field(host, limits.text, "Max locked memory") : NULL;
	bool has_rdma = fw_host_list(host, "/sys/class/infiniband").count > 0;
	uint64_t bytes;

	if (!limits.text) {
		fw_doctor_no_file(result, "/proc/self/limits", limits.error);
	} else if (soft && !strncmp(soft, "unlimited", 9)) {
		fw_doctor_ok(result, "unlimited");
	} else if (!fw_host_number(soft, &bytes)) {
		fw_doctor_unknown(result, "/proc/self/limits does not tell it");
	} else if (!has_rdma) {
		fw_doctor_ok(result,
			     "%llu KiB: enough, there is no RDMA device (CUDA's pinned memory "
			     "does not count)",
			     (unsigned long long)bytes / 1024);
	} else {
		fw_doctor_problem(result,
				  "%llu KiB of locked memory: NCCL over InfiniBand fails to "
				  "register its buffers",
				  (unsigned long long)bytes / 1024);
		fw_doctor_fix(result, "docker run --ulimit memlock=-1; on a host: '* - memlock "
				      "unlimited' in /etc/security/limits.conf, then log in again");
	}
}
