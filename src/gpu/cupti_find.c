#include "gpu/cupti_find.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The versions that we know, newest first; the program's own comes before them. */
static const unsigned majors[] = { 0, 13, 12 };
#define MAJORS (sizeof(majors) / sizeof(majors[0]))

static void take(char to[FW_CUPTI_PATH_BYTES], const char *path, size_t bytes)
{
	if (to[0] || bytes >= FW_CUPTI_PATH_BYTES)
		return;
	memcpy(to, path, bytes);
	to[bytes] = 0;
}

/* "libcudart.so.12", "libcudart-d0da41ae.so.11.0": the number after ".so."; 0 where there is none. */
static unsigned major_of(const char *name)
{
	const char *so = strstr(name, ".so.");

	return so ? (unsigned)strtoul(so + 4, NULL, 10) : 0;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

void fw_cupti_look_at(struct fw_cupti_places *places, const char *path)
{
	static const char *const package_folders[] = { "/site-packages/", "/dist-packages/" };
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	if (begins(name, "libcupti.so") || begins(name, "libcupti-"))
		take(places->loaded, path, strlen(path));
	if (slash && (begins(name, "libcudart.so") || begins(name, "libcudart-"))) {
		if (!places->runtime[0])
			places->major = major_of(name);
		take(places->runtime, path, (size_t)(slash - path));
	}
	for (unsigned i = 0; i < 2; i++) {
		const char *at = strstr(path, package_folders[i]);

		if (at)
			take(places->packages, path,
			     (size_t)(at - path) + strlen(package_folders[i]) - 1);
	}
}

static int look_at(struct dl_phdr_info *object, size_t size, void *places)
{
	(void)size;
	if (object->dlpi_name && object->dlpi_name[0])
		fw_cupti_look_at(places, object->dlpi_name);
	return 0;
}

void fw_cupti_look(struct fw_cupti_places *places)
{
	memset(places, 0, sizeof(*places));
	dl_iterate_phdr(look_at, places);
}

/* Folders in which a libcupti.so.<major> may lie; a folder of NULL is that of the wheels of CUDA 13. */
enum base { BASE_RUNTIME, BASE_PACKAGES, BASE_NONE, BASE_CUDA_HOME, BASE_USR_LOCAL };
static const struct {
	enum base base;
	const char *folder;
} folders[] = {
	{ BASE_RUNTIME, "/" },
	{ BASE_RUNTIME, "/../../cuda_cupti/lib/" }, /* wheels: nvidia/cuda_runtime/lib */
	{ BASE_RUNTIME, "/../extras/CUPTI/lib64/" },
	{ BASE_PACKAGES, NULL },
	{ BASE_PACKAGES, "/nvidia/cuda_cupti/lib/" },
	{ BASE_NONE, "" },
	{ BASE_CUDA_HOME, "/lib64/" },
	{ BASE_CUDA_HOME, "/extras/CUPTI/lib64/" },
	{ BASE_USR_LOCAL, "/lib64/" },
	{ BASE_USR_LOCAL, "/extras/CUPTI/lib64/" },
};
#define FOLDERS (sizeof(folders) / sizeof(folders[0]))

static const char *base_path(const struct fw_cupti_places *places, enum base base)
{
	const char *home = getenv("CUDA_HOME");

	switch (base) {
	case BASE_RUNTIME: return places->runtime[0] ? places->runtime : NULL;
	case BASE_PACKAGES: return places->packages[0] ? places->packages : NULL;
	case BASE_CUDA_HOME: return home && home[0] == '/' ? home : NULL;
	case BASE_USR_LOCAL: return "/usr/local/cuda";
	case BASE_NONE: break;
	}
	return "";
}

/* The program's own version in all folders comes before other versions. */
bool fw_cupti_candidate(const struct fw_cupti_places *places, unsigned i,
			char candidate[FW_CUPTI_PATH_BYTES])
{
	unsigned place = (i - 1) % FOLDERS, turn = (i - 1) / FOLDERS, major;
	char folder[64];
	const char *base;

	candidate[0] = 0;
	if (i == 0) {
		memcpy(candidate, places->loaded, FW_CUPTI_PATH_BYTES);
		return true;
	}
	if (turn >= MAJORS)
		return false;
	major = majors[turn] ? majors[turn] : places->major;
	base = base_path(places, folders[place].base);
	if (!base || !major)
		return true;
	if (folders[place].folder)
		snprintf(folder, sizeof(folder), "%s", folders[place].folder);
	else
		snprintf(folder, sizeof(folder), "/nvidia/cu%u/lib/", major);
	if (snprintf(candidate, FW_CUPTI_PATH_BYTES, "%s%slibcupti.so.%u", base, folder, major) >=
	    FW_CUPTI_PATH_BYTES)
		candidate[0] = 0;
	return true;
}
