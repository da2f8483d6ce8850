/* The table of checks, and how one is run. */
#include "doctor/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FW_CHECK(name, when, looks) { #name, looks, FW_DOCTOR_##when, fw_check_##name },
static const struct fw_doctor_check checks[] = {
#include "doctor/checks.def"
};
#undef FW_CHECK

const struct fw_doctor_check *fw_doctor_checks(size_t *count)
{
	*count = sizeof(checks) / sizeof(checks[0]);
	return checks;
}

void fw_doctor_run(const struct fw_doctor_check *check, struct fw_host *host,
		   struct fw_doctor_result *result)
{
	*result = (struct fw_doctor_result){ .host = host,
					     .status = FW_DOCTOR_UNKNOWN,
					     .message = "the check came to no result",
					     .fix = "" };
	check->run(host, result);
	if (!*result->message) {
		result->status = FW_DOCTOR_UNKNOWN;
		result->message = "out of memory";
	}
}

const char *fw_doctor_status_name(enum fw_doctor_status status)
{
	static const char *const names[] = { "ok", "problem", "unknown" };

	return names[status];
}

static const char *text(struct fw_doctor_result *result, const char *fmt, va_list args)
{
	char line[2048]; /* longer ones are cut */

	vsnprintf(line, sizeof(line), fmt, args);
	return fw_host_text(result->host, "%s", line);
}

#define SAY(name, value)                                                                           \
	void fw_doctor_##name(struct fw_doctor_result *result, const char *fmt, ...)               \
	{                                                                                          \
		va_list args;                                                                      \
                                                                                                   \
		va_start(args, fmt);                                                               \
		result->status = value;                                                            \
		result->message = text(result, fmt, args);                                         \
		result->fix = "";                                                                  \
		va_end(args);                                                                      \
	}
SAY(ok, FW_DOCTOR_OK)
SAY(problem, FW_DOCTOR_PROBLEM)
SAY(unknown, FW_DOCTOR_UNKNOWN)
#undef SAY

void fw_doctor_fix(struct fw_doctor_result *result, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	result->fix = text(result, fmt, args);
	va_end(args);
}

void fw_doctor_no_file(struct fw_doctor_result *result, const char *path, int error)
{
	fw_doctor_unknown(result, "%s: %s", path, fw_host_error(error));
}

bool fw_doctor_has_gpus(const struct fw_host *host, struct fw_doctor_result *result)
{
	const struct fw_gpus *gpus = &host->gpus;

	if (!gpus->was_asked)
		fw_doctor_unknown(result, "NVML was not asked: it answers for this machine only");
	else if (gpus->why[0])
		fw_doctor_unknown(result, "NVML does not answer: see nvml");
	else if (!gpus->count)
		fw_doctor_unknown(result, "NVML sees no GPU");
	else
		return true;
	return false;
}

bool fw_doctor_has_environment(const struct fw_host *host, struct fw_doctor_result *result)
{
	if (!host->environment)
		fw_doctor_unknown(result, "the environment variables are not known: the root has "
					  "no file environ");
	return host->environment;
}

struct fw_gpu_verdict fw_gpu_unknown(struct fw_host *host, const char *what,
				     const struct fw_nvml_figure *figure)
{
	return (struct fw_gpu_verdict){
		.unknown = fw_host_text(host, "%s: %s", what, fw_nvml_result_text(figure->result))
	};
}

/* "GPU 0, 3: text" for the GPUs from `first` on that have the same text. */
static const char *join(struct fw_host *host, const char *const *texts, unsigned count)
{
	const char *all = "";

	for (unsigned i = 0; i < count; i++) {
		const char *numbers = "";
		bool is_told = false;

		for (unsigned j = 0; texts[i] && j < count; j++) {
			if (!texts[j] || strcmp(texts[i], texts[j]))
				continue;
			is_told = is_told || j < i;
			numbers = fw_host_text(host, "%s%s%u", numbers, *numbers ? ", " : "", j);
		}
		if (texts[i] && !is_told)
			all = fw_host_text(host, "%s%sGPU %s: %s", all, *all ? "; " : "", numbers,
					   texts[i]);
	}
	return all;
}

void fw_doctor_judge_gpus(struct fw_host *host, struct fw_doctor_result *result,
			  fw_gpu_judge *judge, const char *ok)
{
	const char *problems[FW_GPUS_MAX] = { NULL }, *unknowns[FW_GPUS_MAX] = { NULL };
	const char *problem, *unknown;

	if (!fw_doctor_has_gpus(host, result))
		return;
	for (unsigned i = 0; i < host->gpus.read; i++) {
		const struct fw_gpu *gpu = &host->gpus.gpus[i];
		struct fw_gpu_verdict verdict = { .unknown = fw_nvml_result_text(gpu->result) };

		if (!gpu->result)
			verdict = judge(host, gpu);
		problems[i] = verdict.problem;
		unknowns[i] = verdict.unknown;
	}
	problem = join(host, problems, host->gpus.read);
	unknown = join(host, unknowns, host->gpus.read);
	if (*problem)
		fw_doctor_problem(result, "%s", problem);
	else if (*unknown)
		fw_doctor_unknown(result, "%s", unknown);
	else if (host->gpus.read < host->gpus.count)
		fw_doctor_unknown(result, "only %u of %u GPUs were read", host->gpus.read,
				  host->gpus.count);
	else
		fw_doctor_ok(result, "%s", ok);
}
