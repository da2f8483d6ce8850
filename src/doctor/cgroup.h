#ifndef FW_DOCTOR_CGROUP_H
#define FW_DOCTOR_CGROUP_H
/* The control groups of this process, version 1 or 2, from its own up to the root. */
#include "doctor/host.h"

#define FW_CGROUP_DEPTH 16u

struct fw_cgroup {
	bool is_v2;
	const char *folders[FW_CGROUP_DEPTH]; /* those that exist; its own first */
	unsigned count;
};

/* controller: "cpu" or "memory". False: the kernel does not tell; nothing is limited that we know of. */
bool fw_cgroup_find(struct fw_host *host, const char *controller, struct fw_cgroup *cgroup);

#endif
