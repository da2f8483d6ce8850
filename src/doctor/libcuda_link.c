/* libcuda-link: Triton asks ldconfig for libcuda.so.1 to link with; mounted libraries may be missing there. */
#include "doctor/check.h"
#include "doctor/libraries.h"

#include <string.h>

void fw_check_libcuda_link(struct fw_host *host, struct fw_doctor_result *result)
{
	struct fw_host_file cache = fw_host_read(host, "/etc/ld.so.cache");
	struct fw_folders path = { .count = 0 }, folders = { .count = 0 };
	struct fw_libraries found;

	if (cache.text && memmem(cache.text, cache.len, "libcuda.so.1", 12)) {
		fw_doctor_ok(result, "ldconfig knows libcuda.so.1");
		return;
	}
	fw_folders_add_list(host, &path, fw_host_env(host, "LD_LIBRARY_PATH"));
	fw_libraries_find(host, &path, "libcuda.so", &found);
	if (found.count || fw_host_env(host, "TRITON_LIBCUDA_PATH")) {
		fw_doctor_ok(result, "LD_LIBRARY_PATH or TRITON_LIBCUDA_PATH leads to libcuda");
		return;
	}
	if (!cache.text && cache.error != 2) {
		fw_doctor_no_file(result, "/etc/ld.so.cache", cache.error);
		return;
	}
	fw_folders_of_loader(host, &folders);
	fw_libraries_find(host, &folders, "libcuda.so", &found);
	if (!found.count) {
		fw_doctor_unknown(result, "there is no libcuda: see driver-library");
		return;
	}
	fw_doctor_problem(result,
			  "%s holds libcuda, but ldconfig's cache does not: Triton and "
			  "torch.compile fail with 'libcuda.so cannot found'",
			  found.found[0].folder);
	fw_doctor_fix(result, "ldconfig as root, or export TRITON_LIBCUDA_PATH=%s",
		      found.found[0].folder);
}
