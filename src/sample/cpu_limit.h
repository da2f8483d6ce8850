#ifndef FW_SAMPLE_CPU_LIMIT_H
#define FW_SAMPLE_CPU_LIMIT_H
/* Which CPU quota a process meets first: the tightest of its cgroups (v1 or v2), and how it was held back. */
#include "sample/cgroups.h"

#include <stdbool.h>
#include <stdint.h>

struct fw_cpu_limit {
	bool is_known; /* false: no quota, or none that can be read */
	double cores;
	struct fw_cgroup_path group; /* whose quota it is */
};

/* root: an open folder that holds proc and sys. */
void fw_cpu_limit_read(int root, unsigned pid, struct fw_cpu_limit *limit);

struct fw_cpu_throttled {
	uint64_t ns, periods;
};

/* How often and how long the group of the limit was held back; false: it cannot be read. */
bool fw_cpu_throttled_read(int root, const struct fw_cpu_limit *limit,
			   struct fw_cpu_throttled *throttled);

#endif
