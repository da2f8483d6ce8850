#include "record/environment.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libfullwarp_inject.so"

/* FW_LIBDIR: the installation's folder of libraries, relative to its prefix; the build's own choice. */
#define IN_LIBDIR "../" FW_LIBDIR "/fullwarp/" LIBRARY
#define IN_LIB    "../lib/fullwarp/" LIBRARY
static const char *const library_places[] = { IN_LIBDIR, IN_LIB, LIBRARY };
static const char *const python_places[] = { "../share/fullwarp/python", "python" };

/* folder/place as an absolute path, if `file` below it (NULL: itself) can be read; else NULL. */
static const char *try_place(struct fw_arena *arena, const char *folder, const char *place,
			     const char *file)
{
	const char *path = fw_arena_printf(arena, "%s/%s", folder, place);
	const char *probe = path && file ? fw_arena_printf(arena, "%s/%s", path, file) : path;
	char resolved[PATH_MAX];

	if (!probe || access(probe, R_OK) || !realpath(path, resolved))
		return NULL;
	return fw_arena_strndup(arena, resolved, strlen(resolved));
}

/* The folder of this executable; false: unknown. */
static bool own_folder(char folder[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", folder, PATH_MAX - 1);
	char *slash;

	if (n <= 0)
		return false;
	folder[n] = '\0';
	slash = strrchr(folder, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

fw_status fw_record_parts_find(struct fw_record_parts *parts, struct fw_arena *arena,
			       struct fw_error *err)
{
	const char *given = getenv("FULLWARP_INJECT");
	char folder[PATH_MAX];
	bool is_known = own_folder(folder);

	*parts = (struct fw_record_parts){ NULL, NULL };
	for (size_t i = 0; is_known && i < 2 && !parts->python; i++)
		parts->python = try_place(arena, folder, python_places[i], "sitecustomize.py");
	if (given && *given) {
		char resolved[PATH_MAX];

		if (!realpath(given, resolved))
			return fw_fail(err, FW_ERR_UNSUPPORTED, "FULLWARP_INJECT: %s: %s", given,
				       strerror(errno));
		parts->library = fw_arena_strndup(arena, resolved, strlen(resolved));
		return parts->library ? FW_OK : fw_fail_nomem(err, PATH_MAX);
	}
	for (size_t i = 0; is_known && i < 3 && !parts->library; i++)
		parts->library = try_place(arena, folder, library_places[i], NULL);
	if (parts->library)
		return FW_OK;
	return fw_fail(err, FW_ERR_UNSUPPORTED,
		       LIBRARY ", which records, is neither beside fullwarp nor in ../" FW_LIBDIR
			       "/fullwarp: install it, or name one in FULLWARP_INJECT");
}

/* Whether the variable names a library that is not ours. */
static bool is_taken(const char *name)
{
	const char *value = getenv(name), *slash;

	if (!value || !*value)
		return false;
	slash = strrchr(value, '/');
	return strcmp(slash ? slash + 1 : value, LIBRARY) != 0;
}

fw_status fw_record_environment_check(struct fw_error *err)
{
	if (!is_taken("CUDA_INJECTION64_PATH"))
		return FW_OK;
	return fw_fail(
		err, FW_ERR_ARGUMENT,
		"CUDA_INJECTION64_PATH is %s: another tool, such as ncu or nsys, watches this "
		"program already, and CUDA takes one; leave it out, or unset the variable",
		getenv("CUDA_INJECTION64_PATH"));
}

bool fw_record_environment_has_nvtx(void)
{
	return is_taken("NVTX_INJECTION64_PATH");
}

/* Whether a line of the environment sets the variable. */
static bool sets(const char *line, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(line, name, n) && line[n] == '=';
}

char **fw_record_environment_with(struct fw_arena *arena, const struct fw_record_setting *settings,
				  size_t count)
{
	size_t n = 0, kept = 0;
	char **lines;

	while (environ[n])
		n++;
	lines = fw_arena_array(arena, n + count + 1, sizeof(*lines));
	if (!lines)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		bool is_set = false;

		for (size_t k = 0; k < count && !is_set; k++)
			is_set = sets(environ[i], settings[k].name);
		if (!is_set)
			lines[kept++] = environ[i];
	}
	for (size_t k = 0; k < count; k++) {
		lines[kept] = fw_arena_printf(arena, "%s=%s", settings[k].name, settings[k].value);
		if (!lines[kept++])
			return NULL;
	}
	return lines;
}
