#ifndef FW_TUNE_RESOURCES_H
#define FW_TUNE_RESOURCES_H
/* What a configuration takes of an SM, from its cubin, and whether the GPU can launch it at all. */
#include "hw/limits.h"
#include "tune/result.h"

/* Limits that need no compiled code; false: reason names the one that is exceeded. */
bool fw_tune_launch_fits(const struct fw_hw_limits *hw, const struct fw_tune_launch *launch,
			 char reason[FW_TUNE_REASON_BYTES]);

struct fw_tune_cubin {
	const void *cubin;
	size_t bytes;
	const char *kernel; /* mangled */
	const char *
		log; /* of the compiler with --ptxas-options=-v: bytes spilled; NULL or "": they are estimated */
};

/*
 * Fills attributes, occupancy, hash, and status: OK or NOT_LAUNCHABLE with the reason. FW_ERR_FORMAT: the code could not
 * be read.
 */
fw_status fw_tune_read_resources(const struct fw_hw_limits *hw, const struct fw_tune_launch *launch,
				 const struct fw_tune_cubin *code, struct fw_tune_result *result,
				 struct fw_error *err);

/* Equal for equal machine code and constants of that kernel, whatever its name and options were; never 0. */
uint64_t fw_tune_code_hash(const struct fw_tune_cubin *code);

#endif
