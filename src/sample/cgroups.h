#ifndef FW_SAMPLE_CGROUPS_H
#define FW_SAMPLE_CGROUPS_H
/* Where a process stands among the cgroups (version 1 or 2), from /proc/PID/cgroup. */
#include <stdbool.h>

#define FW_CGROUP_PATH_BYTES 2048

struct fw_cgroup_path {
	bool is_v2;
	char path[FW_CGROUP_PATH_BYTES]; /* "/jobs/mine"; "" at the top */
};

/* For a controller such as "memory"; false: the text does not tell. */
bool fw_cgroup_path_parse(const char *text, const char *controller, struct fw_cgroup_path *group);

/* To the group above; false: there is none. */
bool fw_cgroup_path_up(struct fw_cgroup_path *group);

#endif
