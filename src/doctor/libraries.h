#ifndef FW_DOCTOR_LIBRARIES_H
#define FW_DOCTOR_LIBRARIES_H
/* Shared libraries where the loader, CUDA and Python packages put them. */
#include "doctor/host.h"

#define FW_LIBRARIES_MAX 64u
#define FW_FOLDERS_MAX   128u

struct fw_library {
	const char *folder, *name; /* as found: "libcudart.so.12" */
	/* What follows ".so." of the name that links lead to: "12.4.127"; "" for none. */
	const char *version;
};

struct fw_libraries {
	struct fw_library found[FW_LIBRARIES_MAX];
	unsigned count;
};

/* A set of folders, each once, in the order in which they were added. */
struct fw_folders {
	const char *paths[FW_FOLDERS_MAX];
	uint64_t inodes[FW_FOLDERS_MAX], devices[FW_FOLDERS_MAX];
	unsigned count;
};

/* Those of a list such as LD_LIBRARY_PATH; empty elements and relative paths are left out. */
void fw_folders_add_list(struct fw_host *host, struct fw_folders *folders, const char *list);
void fw_folders_add(struct fw_host *host, struct fw_folders *folders, const char *path);

/* Where the loader looks: LD_LIBRARY_PATH, then the system's folders and ld.so.conf's. */
void fw_folders_of_loader(struct fw_host *host, struct fw_folders *folders);

/* And where toolkits and Python packages keep theirs. */
void fw_folders_of_cuda(struct fw_host *host, struct fw_folders *folders);

/* The folders of Python packages (site-packages, dist-packages). */
void fw_folders_of_python(struct fw_host *host, struct fw_folders *folders);

/* Those of one installation of Python: PREFIX/lib/python3.N/site-packages and dist-packages. */
void fw_folders_add_prefix(struct fw_host *host, struct fw_folders *folders, const char *prefix);

/* Every library called stem ("libcudart.so" also finds "libcudart.so.12"), one a folder and version. */
void fw_libraries_find(struct fw_host *host, const struct fw_folders *folders, const char *stem,
		       struct fw_libraries *libraries);

/* The path of a program in PATH, NULL: not there. */
const char *fw_program_find(struct fw_host *host, const char *name);

#endif
