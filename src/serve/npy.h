#ifndef FW_SERVE_NPY_H
#define FW_SERVE_NPY_H
/* Arrays of fp32 in NumPy's .npy files, versions 1 to 3, little-endian, C order. */
#include "base/error.h"
#include "base/file.h"

#include <stdint.h>

#define FW_NPY_MAX_RANK 8

/* Borrows its elements from the mapped file; close with fw_npy_close. */
struct fw_npy {
	struct fw_file file;
	uint32_t rank;
	int64_t dims[FW_NPY_MAX_RANK];
	uint64_t count;
	const unsigned char *bytes; /* count x 4, at any alignment */
};

fw_status fw_npy_open(struct fw_npy *npy, const char *path, struct fw_error *err);
void fw_npy_close(struct fw_npy *npy);

fw_status fw_npy_write(const char *path, uint32_t rank, const int64_t *dims, const float *data,
		       struct fw_error *err);

#endif
