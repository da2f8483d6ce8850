#include "sample/cgroups.h"

#include <stdio.h>
#include <string.h>

/* names: "cpu,cpuacct", up to a ':'. */
static bool has_name(const char *names, size_t len, const char *name)
{
	size_t want = strlen(name);

	while (len >= want) {
		size_t one = strcspn(names, ",:");

		if (one == want && !strncmp(names, name, want))
			return true;
		if (one + 1 > len)
			return false;
		names += one + 1;
		len -= one + 1;
	}
	return false;
}

static bool take(struct fw_cgroup_path *group, bool is_v2, const char *path, size_t len)
{
	if (!len || *path != '/' || len >= sizeof(group->path))
		return false;
	group->is_v2 = is_v2;
	snprintf(group->path, sizeof(group->path), "%.*s", (int)len, path);
	if (!strcmp(group->path, "/"))
		group->path[0] = '\0';
	return !strstr(group->path, "..");
}

/* Version 2 has the line "0::PATH", version 1 "N:controller,controller:PATH"; the latter decides. */
bool fw_cgroup_path_parse(const char *text, const char *controller, struct fw_cgroup_path *group)
{
	bool is_found = false;

	for (const char *line = text; *line;) {
		size_t len = strcspn(line, "\n");
		const char *names = memchr(line, ':', len);
		const char *path =
			names ? memchr(names + 1, ':', len - (size_t)(names + 1 - line)) : NULL;

		if (path) {
			size_t rest = len - (size_t)(path + 1 - line);

			if (has_name(names + 1, (size_t)(path - names - 1), controller))
				return take(group, false, path + 1, rest);
			if (names == line + 1 && *line == '0' && path == names + 1)
				is_found = take(group, true, path + 1, rest);
		}
		line += len + (line[len] == '\n');
	}
	return is_found;
}

bool fw_cgroup_path_up(struct fw_cgroup_path *group)
{
	char *end = strrchr(group->path, '/');

	if (!end)
		return false;
	*end = '\0';
	return true;
}
