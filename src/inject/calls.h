#ifndef FW_INJECT_CALLS_H
#define FW_INJECT_CALLS_H
/* The CUDA calls that are recorded: apis.def, by number. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FW_CALLS_CBIDS      1024u
#define FW_CALLS_NAME_BYTES 64u

/* cuDriverGetVersion: is counted, not written. The library makes it itself, to see whether records still come. */
#define FW_CALLS_PROBE 2u

struct fw_call_api {
	bool is_driver;
	uint16_t cbid;
	const char *name; /* "cudaLaunchKernel_v7000" */
};

/* NULL past the last one. */
const struct fw_call_api *fw_calls_at(size_t i);

/* NULL: not one of those that are recorded. */
const struct fw_call_api *fw_calls_find(bool is_driver, uint32_t cbid);

/* The name as programs write it: without "_v7000", "_v2", "_ptsz", "_ptds". */
void fw_calls_plain_name(const char *name, char plain[FW_CALLS_NAME_BYTES]);

#endif
