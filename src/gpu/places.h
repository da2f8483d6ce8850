#ifndef FW_GPU_PLACES_H
#define FW_GPU_PLACES_H
/* Where a library of CUDA may lie on this machine: the loader's folders, a toolkit, a Python's wheels. */
#include "base/error.h"

struct fw_library {
	const char *const *names;  /* best first, ends with NULL */
	const char *const *wheels; /* folders below site-packages, best first, ends with NULL */
};

/*
 * Calls open with each candidate, all names in one place before the next place, until it returns FW_OK. After a failure
 * err holds what the loader said of the first name.
 */
fw_status fw_library_open(const struct fw_library *library,
			  fw_status (*open)(const char *path, void *user, struct fw_error *err),
			  void *user, struct fw_error *err);

#endif
