/* The traces that the operands of a command name. */
#include "cli/inputs.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_trace_name(const char *name)
{
	static const char *const endings[] = { ".json", ".json.gz", ".json.zst" };
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t n = strlen(endings[i]);

		if (len > n && !memcmp(name + len - n, endings[i], n))
			return true;
	}
	return false;
}

static fw_status add_path(struct fw_inputs *inputs, const char *path, struct fw_error *err)
{
	const char **place = path ? fw_vec_push(&inputs->paths) : NULL;

	if (!place)
		return fw_fail_nomem(err, sizeof(path));
	*place = path;
	return FW_OK;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static fw_status add_entries(struct fw_inputs *inputs, const char *folder, DIR *dir,
			     struct fw_error *err)
{
	size_t first = inputs->paths.len, len = strlen(folder);
	const char *slash = len && folder[len - 1] == '/' ? "" : "/";
	const struct dirent *entry;

	while ((entry = readdir(dir))) {
		const char *path;
		fw_status status;

		if (entry->d_name[0] == '.' || !is_trace_name(entry->d_name))
			continue;
		path = fw_arena_printf(&inputs->arena, "%s%s%s", folder, slash, entry->d_name);
		status = add_path(inputs, path, err);
		if (status)
			return status;
	}
	if (inputs->paths.len == first)
		return fw_fail(err, FW_ERR_FORMAT,
			       "%s: no trace in this folder (*.json, *.json.gz, *.json.zst)",
			       folder);
	qsort((const char **)inputs->paths.data + first, inputs->paths.len - first,
	      sizeof(const char *), by_name);
	return FW_OK;
}

fw_status fw_inputs_add(struct fw_inputs *inputs, const char *operand, struct fw_error *err)
{
	struct stat info;
	fw_status status;
	DIR *dir;

	if (!strcmp(operand, "-") || stat(operand, &info) || !S_ISDIR(info.st_mode))
		return add_path(inputs, operand, err);
	dir = opendir(operand);
	if (!dir)
		return fw_fail(err, FW_ERR_IO, "%s: %s", operand, strerror(errno));
	status = add_entries(inputs, operand, dir, err);
	closedir(dir);
	return status;
}

void fw_inputs_release(struct fw_inputs *inputs)
{
	fw_vec_release(&inputs->paths);
	fw_arena_release(&inputs->arena);
}
