/* compiler: torch.compile and Triton build a C file at run time; slim images have no compiler. */
#include "doctor/check.h"
#include "doctor/python.h"

#include <string.h>

static bool has_triton(struct fw_host *host, const struct fw_folders *sites)
{
	for (unsigned i = 0; i < sites->count; i++)
		if (fw_host_has(host, fw_host_text(host, "%s/triton", sites->paths[i])) ||
		    fw_host_has(host, fw_host_text(host, "%s/torch", sites->paths[i])))
			return true;
	return false;
}

void fw_check_compiler(struct fw_host *host, struct fw_doctor_result *result)
{
	static const char *const names[] = { "gcc", "clang", "cc" };
	struct fw_folders sites = { .count = 0 };
	const char *cc;

	if (!fw_doctor_has_environment(host, result))
		return;
	cc = fw_host_env(host, "CC");
	cc = cc && *cc == '/' ? (fw_host_has(host, cc) ? cc : NULL)
	     : cc && *cc      ? fw_program_find(host, cc)
			      : NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !cc; i++)
		cc = fw_program_find(host, names[i]);
	fw_folders_of_python(host, &sites);
	if (cc) {
		fw_doctor_ok(result, "%s", cc);
	} else if (!has_triton(host, &sites)) {
		fw_doctor_ok(result, "none, and no PyTorch or Triton that would need one");
	} else {
		fw_doctor_problem(result,
				  "no C compiler in PATH: torch.compile and Triton fail with "
				  "'Failed to find C compiler'");
		fw_doctor_fix(result, "apt-get install -y --no-install-recommends gcc libc6-dev "
				      "python3-dev (or an image with compilers)");
	}
}
