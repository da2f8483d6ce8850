#ifndef FW_HW_CUDA_VERSIONS_H
#define FW_HW_CUDA_VERSIONS_H
/* Which NVIDIA driver runs which version of CUDA, and how well. */
#include <stdbool.h>
#include <stddef.h>

/* "525.60.13"; a part that is missing is 0. */
struct fw_driver_version {
	unsigned part[3];
};

/* The version at the start of text, whatever follows; false: there is none of at least two parts. */
bool fw_driver_version_parse(const char *text, struct fw_driver_version *version);
int fw_driver_version_compare(const struct fw_driver_version *a, const struct fw_driver_version *b);

enum fw_cuda_fit {
	FW_CUDA_FIT_UNKNOWN, /* a version of CUDA that the table does not have */
	FW_CUDA_FIT_NATIVE,  /* the driver has all that this CUDA has */
	FW_CUDA_FIT_MINOR,   /* minor-version compatibility: runs, with a limited feature set */
	FW_CUDA_FIT_FORWARD, /* only with the cuda-compat package, on data-centre GPUs */
	FW_CUDA_FIT_TOO_OLD
};

/* cuda: major x 10 + minor, 124 is 12.4. */
enum fw_cuda_fit fw_hw_cuda_fit(unsigned cuda, const struct fw_driver_version *driver);

/* The oldest driver with all of this CUDA, "550.54.14", and the oldest that runs it with a limited
 * feature set; static storage, NULL: not known. */
const char *fw_hw_cuda_native_driver(unsigned cuda);
const char *fw_hw_cuda_floor_driver(unsigned cuda);

#endif
