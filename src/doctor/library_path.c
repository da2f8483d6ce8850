/* library-path: entries of LD_LIBRARY_PATH that load the wrong library, or anything from anywhere. */
#include "doctor/check.h"

#include <string.h>

/* What is wrong with an entry; NULL: nothing. */
static const char *judge(struct fw_host *host, const char *entry)
{
	if (!*entry)
		return "an empty entry, which means the current folder";
	if (*entry != '/')
		return "a relative entry";
	if (strstr(entry, "/stubs"))
		return "the stub libcuda of a toolkit, with which every CUDA call fails (error 34)";
	if (!fw_host_has(host, entry))
		return NULL; /* harmless, and usual in images */
	if (strstr(entry, "/compat") &&
	    fw_host_has(host, fw_host_text(host, "%s/libcuda.so.1", entry)))
		return "a cuda-compat libcuda: right for an old driver on a data-centre GPU, and "
		       "error 803 on others or where the driver is newer";
	if (fw_host_has(host, fw_host_text(host, "%s/libstdc++.so.6", entry)))
		return "a libstdc++ of its own, which replaces the system's in every program";
	return NULL;
}

void fw_check_library_path(struct fw_host *host, struct fw_doctor_result *result)
{
	const char *path, *p;
	unsigned count = 0;

	if (!fw_doctor_has_environment(host, result))
		return;
	path = fw_host_env(host, "LD_LIBRARY_PATH");
	if (!path || !*path) {
		fw_doctor_ok(result, "LD_LIBRARY_PATH is not set");
		return;
	}
	for (p = path;; p++) {
		size_t len = strcspn(p, ":");
		const char *entry = fw_host_text(host, "%.*s", (int)len, p);
		const char *wrong = judge(host, entry);

		count++;
		if (wrong) {
			fw_doctor_problem(result, "LD_LIBRARY_PATH holds '%s': %s", entry, wrong);
			fw_doctor_fix(result, "take that entry out: export LD_LIBRARY_PATH=... "
					      "(without it)");
			return;
		}
		p += len;
		if (!*p)
			break;
	}
	fw_doctor_ok(result, "%u entr%s, no trap seen", count, count == 1 ? "y" : "ies");
}
