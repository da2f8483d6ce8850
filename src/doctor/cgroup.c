#include "doctor/cgroup.h"

#include <string.h>

/* "4:cpu,cpuacct:/docker/1" names the controller; returns its path, "0::/" in version 2. */
static const char *path_of(struct fw_host *host, const char *text, const char *controller,
			   bool *is_v2)
{
	size_t len = strlen(controller);
	const char *unified = NULL;

	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		const char *names = strchr(line, ':'),
			   *path = names ? strchr(names + 1, ':') : NULL;
		size_t end = strcspn(line, "\n");

		if (!path || path > line + end)
			break;
		path = fw_host_text(host, "%.*s", (int)(line + end - path - 1), path + 1);
		if (!strncmp(line, "0::", 3))
			unified = path;
		for (const char *p = names + 1; *p && *p != ':';
		     p += p[strcspn(p, ",:")] == ',' ? strcspn(p, ",:") + 1 : strcspn(p, ",:")) {
			if (strncmp(p, controller, len) || (p[len] != ',' && p[len] != ':'))
				continue;
			*is_v2 = false;
			return path;
		}
		if (!line[end])
			break;
	}
	*is_v2 = true;
	return unified;
}

/* Where version 1 mounts the controller. */
static const char *v1_mount(struct fw_host *host, const char *controller)
{
	const char *path = fw_host_text(host, "/sys/fs/cgroup/%s", controller);

	if (!fw_host_has(host, path) && !strcmp(controller, "cpu"))
		path = "/sys/fs/cgroup/cpu,cpuacct";
	return path;
}

bool fw_cgroup_find(struct fw_host *host, const char *controller, struct fw_cgroup *cgroup)
{
	struct fw_host_file groups = fw_host_read(host, "/proc/self/cgroup");
	const char *mount, *path;

	*cgroup = (struct fw_cgroup){ 0 };
	path = groups.text ? path_of(host, groups.text, controller, &cgroup->is_v2) : NULL;
	if (!path || *path != '/')
		return false;
	mount = cgroup->is_v2 ? "/sys/fs/cgroup" : v1_mount(host, controller);
	for (unsigned level = 0; level < FW_CGROUP_DEPTH; level++) {
		const char *slash = strrchr(path, '/');
		const char *folder = fw_host_text(host, "%s%s", mount, path[1] ? path : "");

		if (fw_host_has(host, folder))
			cgroup->folders[cgroup->count++] = folder;
		if (!slash || !path[1])
			break;
		path = slash == path ? "/" : fw_host_text(host, "%.*s", (int)(slash - path), path);
	}
	return cgroup->count;
}
