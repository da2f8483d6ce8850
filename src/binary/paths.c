/* Paths given by the user -> the regular files they lead to. */
#include "binary/paths.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

/* Deeper than any sensible tree; it bounds the recursion where links do not repeat a folder. */
#define MOST_DEPTH 128

void fw_paths_init(struct fw_paths *paths, struct fw_arena *arena)
{
	*paths = (struct fw_paths){
		.arena = arena,
		.files = FW_VEC(struct fw_path),
		.problems = FW_VEC(struct fw_binary_problem),
	};
}

void fw_paths_release(struct fw_paths *paths)
{
	fw_vec_release(&paths->files);
	fw_vec_release(&paths->problems);
	fw_map_release(&paths->seen);
}

static fw_status add_problem(struct fw_paths *paths, const char *path, const char *what,
			     struct fw_error *err)
{
	struct fw_binary_problem *problem = fw_vec_push(&paths->problems);
	char *message = fw_arena_strndup(paths->arena, what, strlen(what));

	if (!problem || !message)
		return fw_fail_nomem(err, strlen(what));
	*problem = (struct fw_binary_problem){ path, FW_ERR_IO, message };
	return FW_OK;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names in the folder, sorted, so that results do not depend on the file system. */
static fw_status list(struct fw_paths *paths, DIR *dir, struct fw_vec *names, struct fw_error *err)
{
	struct dirent *entry;

	while ((entry = readdir(dir))) {
		char **place;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		place = fw_vec_push(names);
		if (place)
			*place = fw_arena_strndup(paths->arena, entry->d_name,
						  strlen(entry->d_name));
		if (!place || !*place)
			return fw_fail_nomem(err, strlen(entry->d_name));
	}
	if (names->len)
		qsort(names->data, names->len, sizeof(char *), compare_names);
	return FW_OK;
}

static fw_status add(struct fw_paths *paths, const char *path, unsigned depth,
		     struct fw_error *err);

static fw_status add_folder(struct fw_paths *paths, const char *path, unsigned depth,
			    struct fw_error *err)
{
	struct fw_vec names = FW_VEC(char *);
	fw_status status;
	DIR *dir;

	if (depth >= MOST_DEPTH)
		return add_problem(paths, path, "folders nested too deeply", err);
	dir = opendir(path);
	if (!dir)
		return add_problem(paths, path, strerror(errno), err);
	status = list(paths, dir, &names, err);
	closedir(dir);
	for (size_t i = 0; status == FW_OK && i < names.len; i++) {
		const char *name = ((char **)names.data)[i];
		size_t len = strlen(path);
		const char *full = fw_arena_printf(paths->arena, "%s%s%s", path,
						   len && path[len - 1] == '/' ? "" : "/", name);

		status = full ? add(paths, full, depth + 1, err) : fw_fail_nomem(err, len);
	}
	fw_vec_release(&names);
	return status;
}

/* depth 0: named by the caller. */
static fw_status add(struct fw_paths *paths, const char *path, unsigned depth, struct fw_error *err)
{
	struct fw_path *place;
	struct stat st;
	bool is_new;

	if (stat(path, &st)) {
		if (!depth)
			return fw_fail(err, FW_ERR_IO, "%s: %s", path, strerror(errno));
		return errno == ENOENT ? FW_OK : add_problem(paths, path, strerror(errno), err);
	}
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) {
		if (depth)
			return FW_OK;
		return fw_fail(err, FW_ERR_UNSUPPORTED, "%s: not a file or folder", path);
	}
	if (!fw_map_at(&paths->seen, (uint64_t)st.st_dev, (uint64_t)st.st_ino, &is_new))
		return fw_fail_nomem(err, sizeof(st));
	if (!is_new)
		return FW_OK;
	if (S_ISDIR(st.st_mode))
		return add_folder(paths, path, depth, err);
	place = fw_vec_push(&paths->files);
	if (!place)
		return fw_fail_nomem(err, sizeof(*place));
	*place = (struct fw_path){ path, depth == 0 };
	return FW_OK;
}

fw_status fw_paths_add(struct fw_paths *paths, const char *path, struct fw_error *err)
{
	const char *copy = fw_arena_strndup(paths->arena, path, strlen(path));

	if (!copy)
		return fw_fail_nomem(err, strlen(path));
	return add(paths, copy, 0, err);
}
