#ifndef FW_SAMPLE_MEMORY_LIMIT_H
#define FW_SAMPLE_MEMORY_LIMIT_H
/* Which memory limit a process meets first: that of one of its cgroups (v1 or v2), or the machine. */
#include <stdbool.h>
#include <stdint.h>

struct fw_memory_limit {
	bool is_known;
	bool is_cgroup;       /* else the machine's memory */
	uint64_t limit, free; /* bytes; free: below the limit, counting what can be reclaimed */
};

/* root: an open folder that holds proc and sys. */
void fw_memory_limit_read(int root, unsigned pid, struct fw_memory_limit *limit);

#endif
