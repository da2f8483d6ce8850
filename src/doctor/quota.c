/* The CPU quota that control groups set. */
#include "doctor/quota.h"

#include "doctor/cgroup.h"

#include <string.h>

/*
 * "400000 100000", "max 100000"; version 1 has two files, and -1 for none. The root group has no such
 * file and no quota. 0: no quota; -1: not understood.
 */
static double read_cores(struct fw_host *host, const struct fw_cgroup *cgroup, const char *folder)
{
	const char *quota =
		fw_host_line(host, "%s/%s", folder, cgroup->is_v2 ? "cpu.max" : "cpu.cfs_quota_us");
	const char *period;
	uint64_t us, of;

	if (!quota || !strncmp(quota, "max", 3) || !strcmp(quota, "-1"))
		return 0;
	if (!fw_host_number(quota, &us))
		return -1;
	period = cgroup->is_v2 ? quota + strspn(quota, "0123456789")
			       : fw_host_line(host, "%s/cpu.cfs_period_us", folder);
	return fw_host_number(period, &of) && of ? (double)us / (double)of : -1;
}

struct fw_quota fw_quota_find(struct fw_host *host)
{
	struct fw_quota quota = { 0 };
	struct fw_cgroup cgroup;

	quota.is_known = fw_cgroup_find(host, "cpu", &cgroup);
	for (unsigned i = 0; i < cgroup.count; i++) {
		double cores = read_cores(host, &cgroup, cgroup.folders[i]);
		struct fw_host_file stat;

		if (cores < 0)
			quota.is_known = false;
		if (cores <= 0 || (quota.cores > 0 && cores >= quota.cores))
			continue;
		quota.cores = cores;
		quota.periods = quota.stopped = 0;
		stat = fw_host_read(host, "%s/cpu.stat", cgroup.folders[i]);
		if (!stat.text)
			continue;
		fw_host_number(fw_host_field(host, stat.text, "nr_periods"), &quota.periods);
		fw_host_number(fw_host_field(host, stat.text, "nr_throttled"), &quota.stopped);
	}
	return quota;
}
