/* The traces that the operands of a command name. */
#include "cli/inputs.h"

#include "trace/recording_read.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
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
			       "%s: no trace in this folder (*.json, *.json.gz, *.json.zst, *.fwr)",
			       folder);
	qsort((const char **)inputs->paths.data + first, inputs->paths.len - first,
	      sizeof(const char *), by_name);
	return FW_OK;
}

static fw_status add_folder(struct fw_inputs *inputs, const char *folder, struct fw_error *err)
{
	DIR *dir;
	fw_status status;

	/* A recording's folder is one trace; what else lies in it is not for reading. */
	if (fw_is_recording(folder))
		return add_path(inputs, folder, err);
	dir = opendir(folder);
	if (!dir)
		return fw_fail(err, FW_ERR_IO, "%s: %s", folder, strerror(errno));
	status = add_entries(inputs, folder, dir, err);
	closedir(dir);
	return status;
}

static bool is_folder(const char *path)
{
	struct stat info;

	return !stat(path, &info) && S_ISDIR(info.st_mode);
}

/* What a pattern matches, in the order of the names; a folder among it stands for its traces. */
static fw_status add_matches(struct fw_inputs *inputs, const glob_t *found, struct fw_error *err)
{
	fw_status status = FW_OK;

	for (size_t i = 0; i < found->gl_pathc && !status; i++) {
		const char *path = found->gl_pathv[i];
		const char *kept = fw_arena_strndup(&inputs->arena, path, strlen(path));

		status = kept && is_folder(kept) ? add_folder(inputs, kept, err)
						 : add_path(inputs, kept, err);
	}
	return status;
}

static fw_status add_pattern(struct fw_inputs *inputs, const char *pattern, struct fw_error *err)
{
	glob_t found = { 0 };
	fw_status status;

	switch (glob(pattern, 0, NULL, &found)) {
	case 0: status = add_matches(inputs, &found, err); break;
	case GLOB_NOMATCH:
		status = fw_fail(err, FW_ERR_IO, "%s: no file matches this pattern", pattern);
		break;
	default: status = fw_fail_nomem(err, strlen(pattern)); break;
	}
	globfree(&found);
	return status;
}

fw_status fw_inputs_add(struct fw_inputs *inputs, const char *operand, struct fw_error *err)
{
	struct stat info;

	if (!strcmp(operand, "-"))
		return add_path(inputs, operand, err);
	/* A file may have the characters of a pattern in its name. */
	if (stat(operand, &info))
		return strpbrk(operand, "*?[") ? add_pattern(inputs, operand, err)
					       : add_path(inputs, operand, err);
	return S_ISDIR(info.st_mode) ? add_folder(inputs, operand, err)
				     : add_path(inputs, operand, err);
}

void fw_inputs_release(struct fw_inputs *inputs)
{
	fw_vec_release(&inputs->paths);
	fw_arena_release(&inputs->arena);
}
