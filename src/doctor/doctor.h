#ifndef FW_DOCTOR_DOCTOR_H
#define FW_DOCTOR_DOCTOR_H
/* Runs the checks of checks.def. A check looks at a host and says ok, problem and fix, or why it could not look. */
#include "doctor/host.h"

enum fw_doctor_status { FW_DOCTOR_OK, FW_DOCTOR_PROBLEM, FW_DOCTOR_UNKNOWN };

struct fw_doctor_result {
	struct fw_host *host;
	enum fw_doctor_status status;
	const char *message, *fix; /* never NULL after a check ran; fix "" unless it is a problem */
};

/* When a check runs without being named by --only. */
enum fw_doctor_when {
	FW_DOCTOR_ALWAYS,
	FW_DOCTOR_FOR,  /* --for names a program */
	FW_DOCTOR_SMOKE /* --smoke: it uses the GPU */
};

struct fw_doctor_check {
	const char *name;  /* "shm_size"; users see and type "shm-size" */
	const char *looks; /* what it looks at */
	enum fw_doctor_when when;
	void (*run)(struct fw_host *host, struct fw_doctor_result *result);
};

/* The table in the order of checks.def. */
const struct fw_doctor_check *fw_doctor_checks(size_t *count);

/* Runs one check; a check that says nothing, or runs out of memory, is unknown. */
void fw_doctor_run(const struct fw_doctor_check *check, struct fw_host *host,
		   struct fw_doctor_result *result);

/* "ok", "problem", "unknown". */
const char *fw_doctor_status_name(enum fw_doctor_status status);

#endif
