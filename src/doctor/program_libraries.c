/*
 * program-libraries: the CUDA libraries that the program of --for loads, searched for as the loader
 * searches, so that a second copy elsewhere is not taken for the one that counts.
 */
#include "doctor/loader.h"
#include "doctor/program.h"
#include "doctor/runtime.h"

#include <string.h>

static const char *const stems[] = { "libcudart.so", "libcudnn.so", "libnccl.so", "libcublas.so" };

static bool is_cuda(const char *name)
{
	return !strncmp(name, "libcu", 5) || !strncmp(name, "libnv", 5) ||
	       !strncmp(name, "libnccl", 7) || !strncmp(name, "libtorch", 8) ||
	       !strncmp(name, "libc10", 6);
}

/* One that is asked for and not found. libcuda.so.1 is driver-library's. */
static const struct fw_loader_object *missing(const struct fw_loader *loader)
{
	for (unsigned i = 1; i < loader->count; i++)
		if (!loader->objects[i].path && is_cuda(loader->objects[i].name) &&
		    strncmp(loader->objects[i].name, "libcuda.so", 10))
			return &loader->objects[i];
	return NULL;
}

static const char *describe(struct fw_host *host, const struct fw_loader_object *object)
{
	const char *version = fw_cuda_library_version(host, object->path);

	return fw_host_text(host, "%s%s%s by %s", object->path, version ? ", " : "",
			    version ? version : "", object->by);
}

/* Two of a kind that are found; false: of no kind there are. */
static bool find_double(const struct fw_loader *loader, const struct fw_loader_object *both[2])
{
	for (size_t i = 0; i < sizeof(stems) / sizeof(stems[0]); i++) {
		both[0] = fw_loader_find(loader, stems[i], NULL);
		both[1] = both[0] ? fw_loader_find(loader, stems[i], both[0]) : NULL;
		if (both[1] && both[0]->path && both[1]->path)
			return true;
	}
	return false;
}

static void judge(struct fw_host *host, struct fw_doctor_result *result, const char *program,
		  const struct fw_loader *loader)
{
	const struct fw_loader_object *lost = missing(loader);
	const struct fw_loader_object *both[2];
	const char *text = "";

	if (find_double(loader, both)) {
		fw_doctor_problem(result,
				  "%s loads two of a kind: %s for %s, and %s for %s: what one of "
				  "them makes, the other cannot use",
				  program, describe(host, both[0]),
				  loader->objects[both[0]->parent].name, describe(host, both[1]),
				  loader->objects[both[1]->parent].name);
		fw_doctor_fix(result, "build or install its parts for one and the same CUDA");
		return;
	}
	if (lost) {
		fw_doctor_problem(result,
				  "%s: %s, which %s needs, is not found: 'error while loading "
				  "shared libraries'",
				  program, lost->name, loader->objects[lost->parent].path);
		fw_doctor_fix(result, "install the library, or name its folder in LD_LIBRARY_PATH "
				      "(or link with -Wl,-rpath)");
		return;
	}
	for (size_t i = 0; i < sizeof(stems) / sizeof(stems[0]); i++) {
		const struct fw_loader_object *object = fw_loader_find(loader, stems[i], NULL);

		if (object && object->path)
			text = fw_host_text(host, "%s%s%s", text, *text ? "; " : "",
					    describe(host, object));
	}
	if (loader->is_cut)
		fw_doctor_unknown(result, "%s has more dependencies than can be followed", program);
	else if (*text)
		fw_doctor_ok(result, "%s loads %s", program, text);
	else
		fw_doctor_ok(result,
			     "%s asks the loader for no CUDA library: it holds them, opens them "
			     "itself, or needs none",
			     program);
}

void fw_check_program_libraries(struct fw_host *host, struct fw_doctor_result *result)
{
	struct fw_loader loader;
	struct fw_program program;
	struct fw_error err = { 0 };

	if (!fw_doctor_has_environment(host, result))
		return;
	fw_program_open(host, false, &program);
	if (!program.path)
		fw_doctor_unknown(result, "%s", program.why);
	else if (!fw_loader_follow(host, program.path, &loader, &err))
		fw_doctor_unknown(result, "%s: %s", program.path, err.message);
	else
		judge(host, result, program.path, &loader);
	fw_program_release(&program);
}
