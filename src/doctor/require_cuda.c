/*
 * require-cuda: NVIDIA_REQUIRE_CUDA and its relatives, by which the toolkit refuses to start an image.
 * Blanks mean or, commas mean and: "cuda>=12.8 brand=tesla,driver>=535,driver<536".
 */
#include "doctor/check.h"

#include <stdio.h>
#include <string.h>

struct facts {
	struct fw_driver_version driver, cuda;
	bool has_cuda, is_geforce;
};

/* -1, 0, 1 as an operator allows it. */
static bool holds(const char *op, int order)
{
	if (!strncmp(op, ">=", 2))
		return order >= 0;
	if (!strncmp(op, "<=", 2))
		return order <= 0;
	if (!strncmp(op, "!=", 2))
		return order != 0;
	return *op == '>' ? order > 0 : *op == '<' ? order < 0 : order == 0;
}

/* One condition; a kind of condition not known here is taken as met. */
static bool is_met(const struct facts *facts, const char *term)
{
	size_t name = strcspn(term, "<>=!");
	const char *op = term + name, *value = op + strspn(op, "<>=!");
	struct fw_driver_version wanted;
	char padded[32];

	if (name == 5 && !strncmp(term, "brand", 5))
		return holds(op,
			     strncmp(value, "geforce", 7) ? facts->is_geforce : !facts->is_geforce);
	snprintf(padded, sizeof(padded), "%.16s%s", value, strchr(value, '.') ? "" : ".0");
	if (!fw_driver_version_parse(padded, &wanted))
		return true;
	if (name == 4 && !strncmp(term, "cuda", 4))
		return !facts->has_cuda ||
		       holds(op, fw_driver_version_compare(&facts->cuda, &wanted));
	if (name == 6 && !strncmp(term, "driver", 6))
		return holds(op, fw_driver_version_compare(&facts->driver, &wanted));
	return true;
}

/* The alternatives of the list, up to one that is met. */
static bool is_satisfied(struct fw_host *host, const struct facts *facts, const char *list)
{
	for (; *list; list += strspn(list, " ")) {
		size_t len = strcspn(list, " "), at = 0;
		bool all = len > 0;

		while (all && at < len) {
			size_t size = strcspn(list + at, ", ");

			all = is_met(facts, fw_host_text(host, "%.*s", (int)size, list + at));
			at += size + 1;
		}
		if (all)
			return true;
		list += len;
	}
	return false;
}

void fw_check_require_cuda(struct fw_host *host, struct fw_doctor_result *result)
{
	const char *driver = fw_doctor_driver(host), *list;
	const struct fw_gpus *gpus = &host->gpus;
	struct facts facts = { .has_cuda = gpus->cuda.is_known };

	if (!fw_doctor_has_environment(host, result))
		return;
	list = fw_host_env(host, "NVIDIA_REQUIRE_CUDA");
	if (!list || !*list) {
		fw_doctor_ok(result, "not set: the image demands no driver");
		return;
	}
	if (fw_host_env(host, "NVIDIA_DISABLE_REQUIRE")) {
		fw_doctor_ok(result, "NVIDIA_DISABLE_REQUIRE is set: nothing is demanded");
		return;
	}
	if (!driver || !fw_driver_version_parse(driver, &facts.driver) || !facts.has_cuda) {
		fw_doctor_unknown(result,
				  "the driver's version, or its CUDA version, is not known");
		return;
	}
	facts.cuda.part[0] = (unsigned)(gpus->cuda.value / 1000);
	facts.cuda.part[1] = (unsigned)(gpus->cuda.value % 1000 / 10);
	facts.is_geforce = gpus->read && strstr(gpus->gpus[0].id.name, "GeForce");
	if (is_satisfied(host, &facts, list)) {
		fw_doctor_ok(result, "driver %s meets %.*s", driver, (int)strcspn(list, " "), list);
		return;
	}
	fw_doctor_problem(result,
			  "the image demands %.*s, driver %s has CUDA %u.%u: the toolkit "
			  "refuses to start it, even where minor-version compatibility would "
			  "let it run",
			  (int)strcspn(list, " "), list, driver, facts.cuda.part[0],
			  facts.cuda.part[1]);
	fw_doctor_fix(result, "newer driver, or: docker run -e NVIDIA_DISABLE_REQUIRE=1 (then "
			      "check the versions yourself: fullwarp doctor --only cuda-runtime)");
}
