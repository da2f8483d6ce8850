#include "gpu/places.h"

#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Folders in which a Python keeps its packages, below the value of a variable (NULL: as it stands). */
static const struct {
	const char *variable, *pattern;
} packages[] = {
	{ "VIRTUAL_ENV", "/lib/python3*/site-packages" },
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

/* An absolute path in a variable, or NULL. */
static const char *folder_of(const char *variable)
{
	const char *value = getenv(variable);

	return value && value[0] == '/' ? value : NULL;
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

static bool opens_below(const struct attempt *attempt, const char *base, const char *pattern)
{
	char path[PATH_MAX];
	glob_t found = { 0 };
	bool done = false;
	int length =
		snprintf(path, sizeof(path), "%s%s/%s", base, pattern, attempt->library->wheel);

	if (length < 0 || (size_t)length >= sizeof(path))
		return false;
	if (!glob(path, GLOB_NOSORT, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc && !done; i++)
			done = opens(attempt, found.gl_pathv[i]);
	globfree(&found);
	return done;
}

fw_status fw_library_open(const struct fw_library *library,
			  fw_status (*open)(const char *path, void *user, struct fw_error *err),
			  void *user, struct fw_error *err)
{
	const struct attempt attempt = { library, open, user };
	const char *home = folder_of("CUDA_HOME");
	struct fw_error first = { 0 };
	fw_status status = FW_OK;
	char folder[PATH_MAX];

	for (const char *const *name = library->names; *name; name++) {
		status = open(*name, user, name == library->names ? &first : NULL);
		if (!status)
			return FW_OK;
	}
	if (home && snprintf(folder, sizeof(folder), "%s/lib64", home) < (int)sizeof(folder) &&
	    opens(&attempt, folder))
		return FW_OK;
	if (opens(&attempt, "/usr/local/cuda/lib64"))
		return FW_OK;
	for (size_t i = 0; i < N_PACKAGES; i++) {
		const char *base = packages[i].variable ? folder_of(packages[i].variable) : "";

		if (base && opens_below(&attempt, base, packages[i].pattern))
			return FW_OK;
	}
	return fw_fail(err, status, "%s", first.message);
}
