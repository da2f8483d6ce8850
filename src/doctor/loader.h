#ifndef FW_DOCTOR_LOADER_H
#define FW_DOCTOR_LOADER_H
/*
 * Which files the dynamic loader takes for a program: its dependencies and theirs, searched as ld.so(8)
 * does: RPATH, LD_LIBRARY_PATH, RUNPATH, the cache, the system's folders. LIMIT: libraries for some
 * processors only (glibc-hwcaps) and LD_PRELOAD are left out; what a program opens later with dlopen
 * cannot be seen.
 */
#include "doctor/dynamic.h"
#include "doctor/host.h"

#define FW_LOADER_OBJECTS 512u

struct fw_loader_object {
	const char *name; /* as asked for: "libcudart.so.12" */
	const char *path; /* NULL: not found */
	const char *by;   /* "RUNPATH", "LD_LIBRARY_PATH"...; static storage */
	unsigned parent;  /* the object that asked for it; of the program: itself */
	struct fw_dynamic dynamic;
};

/* In the host's arena. objects[0] is the program; in the order in which the loader takes them. */
struct fw_loader {
	struct fw_loader_object *objects;
	unsigned count;
	bool is_cut; /* more objects than can be followed */
};

/* False: the program is no dynamic ELF file, as why says. */
bool fw_loader_follow(struct fw_host *host, const char *program, struct fw_loader *loader,
		      struct fw_error *why);

/*
 * The object whose name begins with stem ("libcudart.so"), after `last` if that is not NULL; NULL: none
 * (more) is asked for.
 */
const struct fw_loader_object *fw_loader_find(const struct fw_loader *loader, const char *stem,
					      const struct fw_loader_object *last);

#endif
