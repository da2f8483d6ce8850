#ifndef FW_RECORD_ENVIRONMENT_H
#define FW_RECORD_ENVIRONMENT_H
/* The environment of the recorded program, and where what it loads lies. */
#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>

struct fw_record_parts {
	const char *library; /* libfullwarp_inject.so, absolute */
	const char *python;  /* the folder of the shim's sitecustomize.py; NULL: not found */
};

/*
 * Finds them beside this executable, where an installation or a build puts them, or where FULLWARP_INJECT
 * says. FW_ERR_UNSUPPORTED: there is no library.
 */
fw_status fw_record_parts_find(struct fw_record_parts *parts, struct fw_arena *arena,
			       struct fw_error *err);

/*
 * FW_ERR_ARGUMENT: another tool has put a library of its own into this environment, and CUDA takes one.
 */
fw_status fw_record_environment_check(struct fw_error *err);

/* Another tool has put its NVTX library into the environment, and it stays: no ranges for us. */
bool fw_record_environment_has_nvtx(void);

struct fw_record_setting {
	const char *name, *value;
};

/* This process's environment with count settings changed or added; NULL when memory is out. */
char **fw_record_environment_with(struct fw_arena *arena, const struct fw_record_setting *settings,
				  size_t count);

#endif
