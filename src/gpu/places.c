#include "gpu/places.h"

#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Folders in which a Python keeps its packages, below the value of a variable (NULL: as it stands). */
static const struct {
	const char *variable, *pattern;
} packages[] = {
	{ "VIRTUAL_ENV", "/lib/python3*/site-packages" },
	{ "PATH", "/lib/python3*/*-packages" }, /* of the python3 there */
	{ "CONDA_PREFIX", "/lib/python3*/site-packages" },
	{ "HOME", "/.local/lib/python3*/site-packages" },
	{ NULL, "/usr/local/lib/python3*/*-packages" },
	{ NULL, "/usr/lib/python3/dist-packages" },
};
#define N_PACKAGES (sizeof(packages) / sizeof(packages[0]))

struct attempt {
	const struct fw_library *library;
	fw_status (*open)(const char *path, void *user, struct fw_error *err);
	void *user;
};

/* An absolute path in a variable, or NULL; it will stand in a pattern. */
static const char *folder_of(const char *variable)
{
	const char *value = getenv(variable);

	return value && value[0] == '/' && !strpbrk(value, "*?[\\") ? value : NULL;
}

/*
 * The folder above the bin/ of PATH's python3, as the link there has it: a virtual environment's link leads out of
 * it. NULL: there is none.
 */
static const char *python_prefix(char prefix[PATH_MAX])
{
	const char *path = getenv("PATH");

	while (path && *path) {
		size_t len = strcspn(path, ":");
		int length =
			snprintf(prefix, PATH_MAX, "%.*s/python3", (int)(len % PATH_MAX), path);

		if (len > 4 && len < PATH_MAX && path[0] == '/' &&
		    !strncmp(path + len - 4, "/bin", 4) && length < PATH_MAX &&
		    !access(prefix, X_OK)) {
			prefix[len - 4] = 0;
			return strpbrk(prefix, "*?[\\") ? NULL : prefix;
		}
		path += len + (path[len] == ':');
	}
	return NULL;
}

static bool opens(const struct attempt *attempt, const char *folder)
{
	char path[PATH_MAX];

	for (const char *const *name = attempt->library->names; *name; name++) {
		int length = snprintf(path, sizeof(path), "%s/%s", folder, *name);

		if (length > 0 && (size_t)length < sizeof(path) &&
		    !attempt->open(path, attempt->user, NULL))
			return true;
	}
	return false;
}

/* The last by name of the folders that a pattern finds, which is the newest Python's, comes first. */
static bool opens_below(const struct attempt *attempt, const char *base, const char *pattern)
{
	char path[PATH_MAX];
	bool done = false;

	for (const char *const *wheel = attempt->library->wheels; *wheel && !done; wheel++) {
		glob_t found = { 0 };
		int length = snprintf(path, sizeof(path), "%s%s/%s", base, pattern, *wheel);

		if (length < 0 || (size_t)length >= sizeof(path))
			continue;
		if (!glob(path, 0, NULL, &found))
			for (size_t i = found.gl_pathc; i-- > 0 && !done;)
				done = opens(attempt, found.gl_pathv[i]);
		globfree(&found);
	}
	return done;
}

static const char *base_of(const char *variable, char prefix[PATH_MAX])
{
	if (!variable)
		return "";
	return strcmp(variable, "PATH") ? folder_of(variable) : python_prefix(prefix);
}

fw_status fw_library_open(const struct fw_library *library,
			  fw_status (*open)(const char *path, void *user, struct fw_error *err),
			  void *user, struct fw_error *err)
{
	const struct attempt attempt = { library, open, user };
	static const char *const homes[] = { "CUDA_HOME", "CUDA_PATH" };
	struct fw_error first = { 0 };
	fw_status status = FW_OK;
	char folder[PATH_MAX];

	for (const char *const *name = library->names; *name; name++) {
		status = open(*name, user, name == library->names ? &first : NULL);
		if (!status)
			return FW_OK;
	}
	for (size_t i = 0; i < 2; i++) {
		const char *home = folder_of(homes[i]);

		if (home &&
		    snprintf(folder, sizeof(folder), "%s/lib64", home) < (int)sizeof(folder) &&
		    opens(&attempt, folder))
			return FW_OK;
	}
	if (opens(&attempt, "/usr/local/cuda/lib64"))
		return FW_OK;
	for (size_t i = 0; i < N_PACKAGES; i++) {
		const char *base = base_of(packages[i].variable, folder);

		if (base && opens_below(&attempt, base, packages[i].pattern))
			return FW_OK;
	}
	return fw_fail(err, status, "%s", first.message);
}
