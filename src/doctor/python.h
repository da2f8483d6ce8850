#ifndef FW_DOCTOR_PYTHON_H
#define FW_DOCTOR_PYTHON_H
/* Python packages as their folders tell of them; nothing is run. */
#include "doctor/libraries.h"

struct fw_torch {
	const char *site, *version; /* "2.6.0+cu124"; site NULL: not found */
	const char *cuda;           /* "12.4"; NULL: built without CUDA */
};
struct fw_torch fw_torch_find(struct fw_host *host, const struct fw_folders *sites);

/* The version of the first package whose name begins so: "nvidia_cuda_runtime" finds
 * nvidia_cuda_runtime_cu12-12.4.127.dist-info; NULL: none. */
const char *fw_package_version(struct fw_host *host, const char *site, const char *name);

/* The folders of packages of the interpreter that --for names ("python", a path). False: it names none. */
bool fw_python_of_program(struct fw_host *host, struct fw_folders *sites);

#endif
