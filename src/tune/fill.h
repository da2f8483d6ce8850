#ifndef FW_TUNE_FILL_H
#define FW_TUNE_FILL_H
/* The content of an argument's buffer before the first launch. */
#include "tune/spec.h"

/*
 * Writes elements first to first + count - 1 of the argument into to. Random ones depend on seed, the argument and the
 * index alone: equal in every process. FW_TUNE_FILE is not made here.
 */
void fw_tune_fill(const struct fw_tune_spec *spec, uint32_t arg, uint64_t seed, uint64_t first,
		  uint64_t count, void *to);

#endif
