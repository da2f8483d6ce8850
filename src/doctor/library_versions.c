/*
 * library-versions: LD_LIBRARY_PATH comes before the folders that Python packages name for their own
 * libraries, so a cuDNN or NCCL there replaces the one that PyTorch was built with.
 */
#include "doctor/check.h"
#include "doctor/python.h"

#include <string.h>

static const struct {
	const char *stem, *package;
} kinds[] = {
	{ "libcudart.so", "nvidia_cuda_runtime" },
	{ "libcudnn.so", "nvidia_cudnn" },
	{ "libnccl.so", "nvidia_nccl" },
	{ "libcublas.so", "nvidia_cublas" },
};

static const char *package_version(struct fw_host *host, const struct fw_folders *sites,
				   const char *name)
{
	const char *version = NULL;

	for (unsigned i = 0; i < sites->count && !version; i++)
		version = fw_package_version(host, sites->paths[i], name);
	return version;
}

/* The same major version (so it is taken), and another otherwise. */
static bool replaces(const char *ours, const char *package)
{
	struct fw_driver_version a, b;

	return fw_driver_version_parse(ours, &a) && fw_driver_version_parse(package, &b) &&
	       a.part[0] == b.part[0] && fw_driver_version_compare(&a, &b);
}

void fw_check_library_versions(struct fw_host *host, struct fw_doctor_result *result)
{
	struct fw_folders sites = { .count = 0 }, path = { .count = 0 };
	struct fw_libraries found;

	if (!fw_doctor_has_environment(host, result))
		return;
	fw_folders_of_python(host, &sites);
	fw_folders_add_list(host, &path, fw_host_env(host, "LD_LIBRARY_PATH"));
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		const char *package = package_version(host, &sites, kinds[k].package);

		fw_libraries_find(host, &path, kinds[k].stem, &found);
		for (unsigned i = 0; package && i < found.count; i++) {
			if (!replaces(found.found[i].version, package))
				continue;
			fw_doctor_problem(result,
					  "%s %s in %s (LD_LIBRARY_PATH) replaces %s of the "
					  "Python packages",
					  kinds[k].stem, found.found[i].version,
					  found.found[i].folder, package);
			fw_doctor_fix(result, "take %s out of LD_LIBRARY_PATH for this program",
				      found.found[i].folder);
			return;
		}
	}
	fw_doctor_ok(result, "LD_LIBRARY_PATH replaces no library of a Python package");
}
