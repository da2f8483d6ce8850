#include "sample/cupti_places.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add(struct fw_cupti_places *places, const char *path)
{
	size_t length = strlen(path);

	if (places->count == FW_CUPTI_PLACES || length >= sizeof(places->paths[0]))
		return;
	for (size_t i = 0; i < places->count; i++)
		if (!strcmp(places->paths[i], path))
			return;
	memcpy(places->paths[places->count++], path, length + 1);
}

/* The files that root + pattern fits, the highest version first. */
static void add_all(struct fw_cupti_places *places, const char *root, const char *pattern)
{
	char path[PATH_MAX];
	glob_t found = { 0 };

	if (snprintf(path, sizeof(path), "%s%s", root, pattern) >= (int)sizeof(path))
		return;
	if (!glob(path, 0, NULL, &found))
		for (size_t i = found.gl_pathc; i-- > 0;)
			add(places, found.gl_pathv[i]);
	globfree(&found);
}

static void add_toolkit(struct fw_cupti_places *places, const char *root)
{
	if (!root || !*root)
		return;
	add_all(places, root, "/extras/CUPTI/lib64/libcupti.so.[0-9][0-9]");
	add_all(places, root, "/lib64/libcupti.so.[0-9][0-9]");
	add_all(places, root, "/lib/libcupti.so.[0-9][0-9]");
}

/* NVIDIA's wheels under the prefix of a Python: nvidia-cuda-cupti-cu12, nvidia-cuda-cupti (13). */
static void add_python(struct fw_cupti_places *places, const char *prefix)
{
	if (!prefix || !*prefix)
		return;
	add_all(places, prefix, "/lib*/python3*/*-packages/nvidia/c*/lib/libcupti.so.[0-9][0-9]");
}

/* The prefix of the first python3 in PATH: its folder's parent. */
static void add_python_of_path(struct fw_cupti_places *places)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];

	for (const char *at = path; at && *at;) {
		int length = (int)strcspn(at, ":");

		if (length &&
		    snprintf(file, sizeof(file), "%.*s/python3", length, at) < (int)sizeof(file) &&
		    !access(file, X_OK)) {
			for (int i = 0; i < 2; i++) { /* the name, then its folder */
				char *slash = strrchr(file, '/');

				if (slash)
					*slash = 0;
			}
			add_python(places, file);
			break;
		}
		at += length + (at[length] == ':');
	}
	add_python(places, "/usr/local");
	add_python(places, "/usr");
}

void fw_cupti_places_find(struct fw_cupti_places *places)
{
	places->count = 0;
	add(places, "libcupti.so.13");
	add(places, "libcupti.so.12");
	add_toolkit(places, getenv("CUDA_HOME"));
	add_toolkit(places, getenv("CUDA_PATH"));
	add_toolkit(places, "/usr/local/cuda");
	add_all(places, "/usr/local/cuda-[0-9]*", "/lib64/libcupti.so.[0-9][0-9]");
	add_python(places, getenv("VIRTUAL_ENV"));
	add_python(places, getenv("CONDA_PREFIX"));
	add_python_of_path(places);
}
