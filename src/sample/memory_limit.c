#include "sample/memory_limit.h"

#include "sample/cgroups.h"
#include "sample/proc_files.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* A limit at or above this many bytes is none: cgroup v1 writes almost 2^63. */
#define NO_LIMIT (UINT64_C(1) << 60)

/* Files of the two versions. */
struct version {
	const char *folder, *limit, *used, *reclaimable;
};

static const struct version v2 = { "sys/fs/cgroup", "memory.max", "memory.current",
				   "inactive_file" };
static const struct version v1 = { "sys/fs/cgroup/memory", "memory.limit_in_bytes",
				   "memory.usage_in_bytes", "total_inactive_file" };

static void read_machine(int root, struct fw_memory_limit *limit)
{
	char text[FW_PROC_FILE_BYTES];
	uint64_t total, available;

	if (!fw_proc_file(root, "proc/meminfo", text) ||
	    !fw_proc_number(text, "MemTotal:", &total) ||
	    !fw_proc_number(text, "MemAvailable:", &available) || total > NO_LIMIT / 1024 ||
	    available > total)
		return;
	*limit = (struct fw_memory_limit){ true, false, total * 1024, available * 1024 };
}

static bool read_file(int root, const struct version *version, const char *group, const char *name,
		      char text[FW_PROC_FILE_BYTES])
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s%s/%s", version->folder, group, name);

	return n > 0 && (size_t)n < sizeof(path) && fw_proc_file(root, path, text);
}

/* One cgroup: where it leaves less than limit does, it becomes the limit. */
static void tighten(int root, const struct version *version, const char *group,
		    struct fw_memory_limit *limit)
{
	char text[FW_PROC_FILE_BYTES];
	uint64_t most, used, reclaimable = 0, left;

	if (!read_file(root, version, group, version->limit, text) ||
	    !fw_proc_number(text, "", &most) || most >= NO_LIMIT)
		return; /* "max" is no number */
	if (!read_file(root, version, group, version->used, text) ||
	    !fw_proc_number(text, "", &used))
		return;
	if (read_file(root, version, group, "memory.stat", text) &&
	    fw_proc_number(text, version->reclaimable, &reclaimable) && reclaimable <= used)
		used -= reclaimable;
	left = used < most ? most - used : 0;
	if (!limit->is_known || left < limit->free)
		*limit = (struct fw_memory_limit){ true, true, most, left };
}

void fw_memory_limit_read(int root, unsigned pid, struct fw_memory_limit *limit)
{
	char path[32], text[FW_PROC_FILE_BYTES];
	struct fw_cgroup_path group;

	*limit = (struct fw_memory_limit){ 0 };
	read_machine(root, limit);
	snprintf(path, sizeof(path), "proc/%u/cgroup", pid);
	if (!fw_proc_file(root, path, text) || !fw_cgroup_path_parse(text, "memory", &group))
		return;
	do /* the group and all above it; inside a container the upper ones are absent */
		tighten(root, group.is_v2 ? &v2 : &v1, group.path, limit);
	while (fw_cgroup_path_up(&group));
}
