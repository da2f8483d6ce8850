#include "doctor/runtime.h"

#include "doctor/python.h"

#include <string.h>

unsigned fw_cuda_of_version(const char *version)
{
	struct fw_driver_version parts;

	if (!version || !fw_driver_version_parse(version, &parts) || parts.part[1] > 9 ||
	    parts.part[0] < 9 || parts.part[0] > 99)
		return 0;
	return parts.part[0] * 10 + parts.part[1];
}

/* Packages of libraries, by the folder below site-packages/nvidia. */
static const char *package_of(const char *folder)
{
	static const struct {
		const char *folder, *package;
	} known[] = {
		{ "cuda_runtime/", "nvidia_cuda_runtime" },
		{ "cudnn/", "nvidia_cudnn" },
		{ "nccl/", "nvidia_nccl" },
		{ "cublas/", "nvidia_cublas" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strncmp(folder, known[i].folder, strlen(known[i].folder)))
			return known[i].package;
	return NULL;
}

const char *fw_cuda_library_version(struct fw_host *host, const char *path)
{
	const char *name = fw_host_last_name(host, path), *nvidia = strstr(path, "/nvidia/");
	const char *package = nvidia ? package_of(nvidia + strlen("/nvidia/")) : NULL;
	const char *version = name ? strstr(name, ".so.") : NULL;
	struct fw_driver_version parts;

	if (package)
		return fw_package_version(
			host, fw_host_text(host, "%.*s", (int)(nvidia - path), path), package);
	/* Every 11.x has the name libcudart.so.11.0: two parts tell nothing of the minor version. */
	if (!version || !fw_driver_version_parse(version + 4, &parts) ||
	    strchr(version + 4, '.') == strrchr(version + 4, '.'))
		return NULL;
	return version + 4;
}

static void tell_limited(struct fw_doctor_result *result, const char *what, unsigned cuda,
			 const char *driver)
{
	fw_doctor_problem(result,
			  "%s: CUDA %u.%u runs on driver %s by minor-version compatibility, "
			  "with a limited feature set: PTX of that version is refused (error "
			  "222), and calls new in it fail (error 36)",
			  what, cuda / 10, cuda % 10, driver);
	fw_doctor_fix(result,
		      "driver %s or newer has all of it; if the program works, and compiles no "
		      "PTX at run time, this may stay",
		      fw_hw_cuda_native_driver(cuda));
}

static void tell_too_old(struct fw_doctor_result *result, const char *what, unsigned cuda,
			 const char *driver)
{
	fw_doctor_problem(result,
			  "%s: CUDA %u.%u does not run on driver %s ('CUDA driver version is "
			  "insufficient')",
			  what, cuda / 10, cuda % 10, driver);
	fw_doctor_fix(result, "driver %s or newer (%s has all of it), or a build for an older CUDA",
		      fw_hw_cuda_floor_driver(cuda), fw_hw_cuda_native_driver(cuda));
}

static void judge_exact(struct fw_doctor_result *result, const char *what, unsigned cuda,
			const char *driver, const struct fw_driver_version *version)
{
	switch (fw_hw_cuda_fit(cuda, version)) {
	case FW_CUDA_FIT_NATIVE:
		fw_doctor_ok(result, "%s: CUDA %u.%u, all of which driver %s has", what, cuda / 10,
			     cuda % 10, driver);
		break;
	case FW_CUDA_FIT_MINOR: tell_limited(result, what, cuda, driver); break;
	case FW_CUDA_FIT_FORWARD:
		fw_doctor_problem(result,
				  "%s: CUDA %u.%u runs on driver %s only with the package "
				  "cuda-compat-%u-%u, and only on data-centre GPUs",
				  what, cuda / 10, cuda % 10, driver, cuda / 10, cuda % 10);
		fw_doctor_fix(result,
			      "driver %s or newer, or sudo apt-get install cuda-compat-%u-%u",
			      fw_hw_cuda_floor_driver(cuda), cuda / 10, cuda % 10);
		break;
	case FW_CUDA_FIT_TOO_OLD: tell_too_old(result, what, cuda, driver); break;
	case FW_CUDA_FIT_UNKNOWN:
		fw_doctor_unknown(result, "%s: CUDA %u.%u is not in our table of drivers", what,
				  cuda / 10, cuda % 10);
		break;
	}
}

/* libcudart.so.12 and no more: sure only if the driver is of a newer major version, or too old for any. */
static void judge_major(struct fw_doctor_result *result, const char *what, unsigned major,
			const char *driver, const struct fw_driver_version *version)
{
	const char *newer = fw_hw_cuda_floor_driver((major + 1) * 10);
	const char *floor = fw_hw_cuda_floor_driver(major * 10);
	struct fw_driver_version least;

	if (newer && fw_driver_version_parse(newer, &least) &&
	    fw_driver_version_compare(version, &least) >= 0) {
		fw_doctor_ok(result, "%s: CUDA %u, driver %s is of a newer one", what, major,
			     driver);
	} else if (floor && fw_driver_version_parse(floor, &least) &&
		   fw_driver_version_compare(version, &least) < 0) {
		fw_doctor_problem(result, "%s: no CUDA %u runs on driver %s", what, major, driver);
		fw_doctor_fix(result, "driver %s or newer", floor);
	} else {
		fw_doctor_unknown(result,
				  "%s: CUDA %u runs on driver %s, but not known is its minor "
				  "version, and so whether all of it does",
				  what, major, driver);
	}
}

void fw_doctor_judge_cuda(struct fw_host *host, struct fw_doctor_result *result, const char *what,
			  unsigned major, unsigned cuda)
{
	const char *driver = fw_doctor_driver(host);
	const struct fw_nvml_figure *has = &host->gpus.cuda; /* 13000 is 13.0 */
	struct fw_driver_version version;

	if (!driver || !fw_driver_version_parse(driver, &version))
		fw_doctor_unknown(result, "%s: the driver's version is not known", what);
	else if (cuda && has->is_known && has->value / 1000 * 10 + has->value % 1000 / 10 >= cuda)
		fw_doctor_ok(result, "%s: CUDA %u.%u, all of which driver %s has", what, cuda / 10,
			     cuda % 10, driver);
	else if (cuda)
		judge_exact(result, what, cuda, driver, &version);
	else
		judge_major(result, what, major, driver, &version);
}
