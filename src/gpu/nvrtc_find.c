/* Places of libnvrtc: the loader's, toolkits', and Python wheels'. */
#include "gpu/nvrtc_find.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Newest first; wheels of CUDA 13 lie in nvidia/cu13, those of 12 in nvidia/cuda_nvrtc. */
static const struct {
	unsigned major;
	const char *wheel;
} versions[] = { { 13, "cu13" }, { 12, "cuda_nvrtc" } };
#define VERSIONS (sizeof(versions) / sizeof(versions[0]))

enum place { BY_NAME, CUDA_HOME, CUDA_PATH, USR_LOCAL, VIRTUAL_ENV, PYTHON, PLACES };

static void toolkit(char *candidate, const char *home, unsigned major)
{
	if (home && home[0] == '/' &&
	    snprintf(candidate, FW_NVRTC_PATH_BYTES, "%s/lib64/libnvrtc.so.%u", home, major) >=
		    FW_NVRTC_PATH_BYTES)
		candidate[0] = 0;
}

/* PREFIX/lib/python3.N/site-packages/nvidia/WHEEL/lib/libnvrtc.so.MAJOR, the last by name. */
static void wheel(char *candidate, const char *prefix, unsigned version)
{
	char pattern[FW_NVRTC_PATH_BYTES];
	glob_t found;

	if (!prefix || prefix[0] != '/' || strpbrk(prefix, "*?[\\") ||
	    snprintf(pattern, sizeof(pattern),
		     "%s/lib/python3*/[sd]i[ts][et]-packages/nvidia/%s/lib/libnvrtc.so.%u", prefix,
		     versions[version].wheel, versions[version].major) >= (int)sizeof(pattern))
		return;
	if (!glob(pattern, 0, NULL, &found)) {
		const char *last = found.gl_pathv[found.gl_pathc - 1];

		if (strlen(last) < FW_NVRTC_PATH_BYTES)
			snprintf(candidate, FW_NVRTC_PATH_BYTES, "%s", last);
		globfree(&found);
	}
}

/* The folder above the bin/ of PATH's python3, as the link there has it: a virtual environment's link leads out of it. */
static bool python_prefix(char prefix[FW_NVRTC_PATH_BYTES])
{
	const char *path = getenv("PATH");

	while (path && *path) {
		size_t len = strcspn(path, ":");
		char python[FW_NVRTC_PATH_BYTES];

		if (len > 4 && len + 16 < sizeof(python) && path[0] == '/' &&
		    !strncmp(path + len - 4, "/bin", 4)) {
			snprintf(python, sizeof(python), "%.*s/python3", (int)len, path);
			if (!access(python, X_OK)) {
				snprintf(prefix, FW_NVRTC_PATH_BYTES, "%.*s", (int)(len - 4), path);
				return true;
			}
		}
		path += len + (path[len] == ':');
	}
	return false;
}

bool fw_nvrtc_candidate(unsigned i, char candidate[FW_NVRTC_PATH_BYTES])
{
	unsigned version = i % VERSIONS, major = versions[version].major;
	char prefix[FW_NVRTC_PATH_BYTES];

	candidate[0] = 0;
	switch (i / VERSIONS) {
	case BY_NAME:
		snprintf(candidate, FW_NVRTC_PATH_BYTES, "libnvrtc.so.%u", major);
		return true;
	case CUDA_HOME: toolkit(candidate, getenv("CUDA_HOME"), major); return true;
	case CUDA_PATH: toolkit(candidate, getenv("CUDA_PATH"), major); return true;
	case USR_LOCAL: toolkit(candidate, "/usr/local/cuda", major); return true;
	case VIRTUAL_ENV: wheel(candidate, getenv("VIRTUAL_ENV"), version); return true;
	case PYTHON:
		if (python_prefix(prefix))
			wheel(candidate, prefix, version);
		return true;
	default: return false;
	}
}
