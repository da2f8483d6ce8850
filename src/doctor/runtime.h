#ifndef FW_DOCTOR_RUNTIME_H
#define FW_DOCTOR_RUNTIME_H
/* CUDA runtimes and what the driver makes of them. */
#include "doctor/check.h"

/* "12.4.127" as 124; 0: it names no minor version. */
unsigned fw_cuda_of_version(const char *version);

/*
 * The full version of a library ("12.4.127"): what its file is called, or, as Python packages keep only
 * libcudart.so.12, the package's; NULL: not known.
 */
const char *fw_cuda_library_version(struct fw_host *host, const char *path);

/* Judges CUDA `cuda` (124) that `what` brings; cuda 0: only its major version is known. */
void fw_doctor_judge_cuda(struct fw_host *host, struct fw_doctor_result *result, const char *what,
			  unsigned major, unsigned cuda);

#endif
