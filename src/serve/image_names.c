/* Operands to names of image files. */
#include "serve/image_names.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* Folders in folders; links cannot make it endless. */
#define MAX_DEPTH 64

static fw_status add_name(struct fw_image_names *names, const char *name, struct fw_error *err)
{
	char **place = fw_vec_push(&names->names);

	if (place)
		*place = strdup(name);
	return place && *place ? FW_OK : fw_fail_nomem(err, strlen(name) + 1);
}

static bool is_image_name(const char *path)
{
	static const char *const ends[] = { ".jpg", ".jpeg", ".png" };
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t end = strlen(ends[i]);

		if (len > end && !strcasecmp(name + len - end, ends[i]))
			return true;
	}
	return false;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static fw_status add_folder(struct fw_image_names *names, const char *folder, int depth,
			    struct fw_error *err);

static fw_status add_entry(struct fw_image_names *names, const char *path, int depth,
			   struct fw_error *err)
{
	struct stat st;

	if (!lstat(path, &st) && S_ISDIR(st.st_mode))
		return add_folder(names, path, depth + 1, err);
	if (is_image_name(path))
		return add_name(names, path, err);
	names->other++;
	return FW_OK;
}

static fw_status add_folder(struct fw_image_names *names, const char *folder, int depth,
			    struct fw_error *err)
{
	size_t len = strlen(folder);
	struct dirent **entries = NULL;
	fw_status status = FW_OK;
	int n;

	if (depth > MAX_DEPTH)
		return fw_fail(err, FW_ERR_UNSUPPORTED, "%s: more than %d folders deep", folder,
			       MAX_DEPTH);
	n = scandir(folder, &entries, NULL, by_bytes);
	if (n < 0)
		return fw_fail(err, FW_ERR_IO, "%s: %s", folder, strerror(errno));
	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;
		char *path = NULL;

		if (!status && strcmp(name, ".") && strcmp(name, "..")) {
			if (asprintf(&path, "%s%s%s", folder,
				     len && folder[len - 1] == '/' ? "" : "/", name) < 0)
				path = NULL;
			status = path ? add_entry(names, path, depth, err)
				      : fw_fail_nomem(err, len + strlen(name) + 2);
		}
		free(path);
		free(entries[i]);
	}
	free(entries);
	return status;
}

fw_status fw_image_names_add(struct fw_image_names *names, const char *operand,
			     struct fw_error *err)
{
	size_t before = names->names.len;
	struct stat st;
	fw_status status;

	if (!*operand)
		return fw_fail(err, FW_ERR_ARGUMENT, "an empty name is no image");
	if (stat(operand, &st) || !S_ISDIR(st.st_mode))
		return add_name(names, operand, err);
	status = add_folder(names, operand, 0, err);
	if (!status && names->names.len == before)
		names->empty_folders++;
	return status;
}

static fw_status add_lines(struct fw_image_names *names, const char *path, FILE *file,
			   struct fw_error *err)
{
	fw_status status = FW_OK;
	char *line = NULL;
	size_t cap = 0, number = 0;
	ssize_t len;

	while (!status && (len = getline(&line, &cap, file)) >= 0) {
		number++;
		if (len && line[len - 1] == '\n')
			line[--len] = '\0';
		if (strlen(line) != (size_t)len)
			status = fw_fail(err, FW_ERR_FORMAT,
					 "%s, line %zu: a byte of 0 is in no name of a file", path,
					 number);
		else if (len)
			status = add_name(names, line, err);
	}
	free(line);
	if (!status && ferror(file))
		status = fw_fail(err, FW_ERR_IO, "%s: cannot read it", path);
	return status;
}

fw_status fw_image_names_add_list(struct fw_image_names *names, const char *path,
				  struct fw_error *err)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	fw_status status;

	if (!file)
		return fw_fail(err, FW_ERR_IO, "%s: %s", path, strerror(errno));
	status = add_lines(names, path, file, err);
	if (file != stdin)
		fclose(file);
	return status;
}

void fw_image_names_release(struct fw_image_names *names)
{
	char **list = names->names.data;

	for (size_t i = 0; i < names->names.len; i++)
		free(list[i]);
	fw_vec_release(&names->names);
}
