/* memory-limit: what the control group leaves for loader workers, pinned memory and page cache. */
#include "doctor/cgroup.h"
#include "doctor/check.h"

#include <string.h>

#define GIB 1073741824.0

struct memory {
	uint64_t limit, used, kills;
	bool has_limit, has_used;
};

/* The least limit of all levels; "max" and version 1's huge number are none. */
static void read_level(struct fw_host *host, bool is_v2, const char *folder, struct memory *memory)
{
	const char *limit =
		fw_host_line(host, "%s/%s", folder, is_v2 ? "memory.max" : "memory.limit_in_bytes");
	const char *used = fw_host_line(host, "%s/%s", folder,
					is_v2 ? "memory.current" : "memory.usage_in_bytes");
	struct fw_host_file events =
		fw_host_read(host, "%s/%s", folder, is_v2 ? "memory.events" : "memory.oom_control");
	uint64_t bytes, kills = 0;

	if (events.text)
		fw_host_number(fw_host_field(host, events.text, "oom_kill"), &kills);
	memory->kills = kills > memory->kills ? kills : memory->kills;
	if (!fw_host_number(limit, &bytes) || bytes >= 1ull << 60 ||
	    (memory->has_limit && bytes >= memory->limit))
		return;
	memory->has_limit = true;
	memory->limit = bytes;
	memory->has_used = fw_host_number(used, &memory->used);
}

void fw_check_memory_limit(struct fw_host *host, struct fw_doctor_result *result)
{
	struct fw_host_file meminfo = fw_host_read(host, "/proc/meminfo");
	unsigned cores = fw_host_cores(host);
	struct memory memory = { 0 };
	struct fw_cgroup cgroup;
	uint64_t total = 0;
	bool has_total = meminfo.text &&
			 fw_host_number(fw_host_field(host, meminfo.text, "MemTotal"), &total) &&
			 total < 1ull << 50;

	if (!fw_cgroup_find(host, "memory", &cgroup) || !has_total || !cores) {
		fw_doctor_unknown(result,
				  "the control group, the machine's memory or the cores are "
				  "not known");
		return;
	}
	for (unsigned i = 0; i < cgroup.count; i++)
		read_level(host, cgroup.is_v2, cgroup.folders[i], &memory);
	total *= 1024;
	if (!memory.has_limit || memory.limit > total)
		memory.limit = total;
	if (memory.kills) {
		fw_doctor_problem(result,
				  "the kernel has killed %llu process%s of this group for "
				  "want of memory (limit %.1f GiB)",
				  (unsigned long long)memory.kills, memory.kills == 1 ? "" : "es",
				  (double)memory.limit / GIB);
		fw_doctor_fix(result,
			      "fewer loader workers, a smaller prefetch_factor, or a higher "
			      "limit; pinned batches number workers x prefetch_factor");
	} else if (memory.has_used && memory.used > memory.limit / 10 * 9) {
		fw_doctor_problem(result, "%.1f of %.1f GiB are used (page cache included)",
				  (double)memory.used / GIB, (double)memory.limit / GIB);
		fw_doctor_fix(result,
			      "see what holds it: grep -E '^(anon|file|shmem) ' "
			      "/sys/fs/cgroup/memory.stat; file is cache and gives way, anon "
			      "and shmem do not");
	} else if ((double)memory.limit / cores < GIB) {
		fw_doctor_problem(result,
				  "%.1f GiB for %u cores: a loader worker per core would "
				  "have %.2f GiB",
				  (double)memory.limit / GIB, cores,
				  (double)memory.limit / GIB / cores);
		fw_doctor_fix(result, "at most %.0f loader workers, or a higher limit",
			      (double)memory.limit / GIB < 2 ? 1 : (double)memory.limit / GIB / 2);
	} else {
		fw_doctor_ok(result, "%.1f GiB for %u core%s", (double)memory.limit / GIB, cores,
			     cores == 1 ? "" : "s");
	}
}
