#include "sample/cpu_limit.h"

#include "sample/proc_files.h"

#include <limits.h>
#include <stdio.h>

/* A file of the group; version 1 mounts the controller alone or together with cpuacct. */
static bool read_file(int root, const struct fw_cgroup_path *group, const char *name,
		      char text[FW_PROC_FILE_BYTES])
{
	static const char *const mounts[] = { "sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct",
					      "sys/fs/cgroup" };
	char path[PATH_MAX];

	for (size_t i = group->is_v2 ? 2 : 0; i < (group->is_v2 ? 3 : 2); i++) {
		int n = snprintf(path, sizeof(path), "%s%s/%s", mounts[i], group->path, name);

		if (n > 0 && (size_t)n < sizeof(path) && fw_proc_file(root, path, text))
			return true;
	}
	return false;
}

/* "50000 100000" or "max 100000"; version 1 has them in two files, -1 for no quota. */
static bool read_quota(int root, const struct fw_cgroup_path *group, double *cores)
{
	char text[FW_PROC_FILE_BYTES];
	uint64_t quota, period;
	const char *rest;

	if (!read_file(root, group, group->is_v2 ? "cpu.max" : "cpu.cfs_quota_us", text))
		return false;
	rest = fw_proc_digits(text, &quota);
	if (!rest)
		return false;
	if (group->is_v2 ? *rest != ' ' : !read_file(root, group, "cpu.cfs_period_us", text))
		return false;
	if (!fw_proc_digits(group->is_v2 ? rest + 1 : text, &period) || !period)
		return false;
	*cores = (double)quota / (double)period;
	return true;
}

void fw_cpu_limit_read(int root, unsigned pid, struct fw_cpu_limit *limit)
{
	char path[32], text[FW_PROC_FILE_BYTES];
	struct fw_cgroup_path group;
	double cores;

	*limit = (struct fw_cpu_limit){ 0 };
	snprintf(path, sizeof(path), "proc/%u/cgroup", pid);
	if (!fw_proc_file(root, path, text) || !fw_cgroup_path_parse(text, "cpu", &group))
		return;
	do
		if (read_quota(root, &group, &cores) && (!limit->is_known || cores < limit->cores))
			*limit = (struct fw_cpu_limit){ true, cores, group };
	while (fw_cgroup_path_up(&group));
}

bool fw_cpu_throttled_read(int root, const struct fw_cpu_limit *limit,
			   struct fw_cpu_throttled *throttled)
{
	char text[FW_PROC_FILE_BYTES];
	uint64_t us;

	if (!limit->is_known || !read_file(root, &limit->group, "cpu.stat", text) ||
	    !fw_proc_number(text, "nr_throttled ", &throttled->periods))
		return false;
	if (!limit->group.is_v2)
		return fw_proc_number(text, "throttled_time ", &throttled->ns);
	return fw_proc_number(text, "throttled_usec ", &us) &&
	       !__builtin_mul_overflow(us, UINT64_C(1000), &throttled->ns);
}
