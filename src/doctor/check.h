#ifndef FW_DOCTOR_CHECK_H
#define FW_DOCTOR_CHECK_H
/* What a check is made with. */
#include "doctor/doctor.h"
#include "hw/cuda_versions.h"

#define FW_CHECK(name, when, looks)                                                                \
	void fw_check_##name(struct fw_host *host, struct fw_doctor_result *result);
#include "doctor/checks.def"
#undef FW_CHECK

/* One of them is called once; the last call counts. */
void fw_doctor_ok(struct fw_doctor_result *result, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void fw_doctor_problem(struct fw_doctor_result *result, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void fw_doctor_unknown(struct fw_doctor_result *result, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* What to do about a problem: a sentence, or lines to paste. */
void fw_doctor_fix(struct fw_doctor_result *result, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Unknown, because a file was not read. */
void fw_doctor_no_file(struct fw_doctor_result *result, const char *path, int error);

/* False, and result is unknown: NVML did not answer, or sees no GPU. */
bool fw_doctor_has_gpus(const struct fw_host *host, struct fw_doctor_result *result);

/* False, and result is unknown: the environment variables are not known. */
bool fw_doctor_has_environment(const struct fw_host *host, struct fw_doctor_result *result);

/* What one GPU is found to be; both NULL: nothing is wrong with it. */
struct fw_gpu_verdict {
	const char *problem, *unknown;
};
typedef struct fw_gpu_verdict fw_gpu_judge(struct fw_host *host, const struct fw_gpu *gpu);

/* Judges every GPU: a problem if one has any, else unknown if one is, else ok with that text. */
void fw_doctor_judge_gpus(struct fw_host *host, struct fw_doctor_result *result,
			  fw_gpu_judge *judge, const char *ok);

/* For judges: the text of a figure that NVML did not give. */
struct fw_gpu_verdict fw_gpu_unknown(struct fw_host *host, const char *what,
				     const struct fw_nvml_figure *figure);

/* The version of the kernel's driver; NULL: not known. */
const char *fw_doctor_driver(struct fw_host *host);

enum fw_container {
	FW_CONTAINER_NONE,
	FW_CONTAINER_DOCKER,
	FW_CONTAINER_PODMAN,
	FW_CONTAINER_KUBERNETES,
	FW_CONTAINER_OTHER
};
enum fw_container fw_doctor_container(struct fw_host *host);

#endif
