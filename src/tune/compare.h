#ifndef FW_TUNE_COMPARE_H
#define FW_TUNE_COMPARE_H
/*
 * The check of a buffer after a launch: its elements against those wanted, and the canaries at both ends. The same on
 * the GPU (fw_tune_check_source) and, for tests and as its definition, on the host.
 */
#include "tune/spec.h"

#define FW_TUNE_CANARY_BYTES 4096 /* before and after a buffer's elements */
#define FW_TUNE_CANARY       0xc5 /* each byte of them */
#define FW_TUNE_POISON       0xff /* each byte of an output before the launch: NaN, -1 */

/* The argument of the kernel; addresses are of the GPU, or of the host. */
struct fw_tune_check {
	uint64_t base;     /* of the first canary */
	uint64_t want;     /* elements to compare with; 0: only the canaries are looked at */
	uint64_t findings; /* struct fw_tune_findings, added to */
	uint64_t elements;
	double rel, abs;   /* tolerances of floating elements; |got - want| <= abs + rel * |want| */
	uint32_t type;     /* enum fw_tune_type */
	uint32_t width;    /* bytes of an element */
	uint32_t is_exact; /* equal bits, whatever the type */
	uint32_t pad;
};

#define FW_TUNE_NO_PLACE UINT64_MAX

struct fw_tune_findings {
	uint64_t wrong, first_wrong;     /* elements; index */
	uint64_t outside, first_outside; /* bytes of the canaries; offset from base */
};

/* CUDA C++ source of `extern "C" __global__ void fullwarp_check(struct fw_tune_check)`, and of fullwarp_wait(cycles). */
extern const char fw_tune_check_source[];
#define FW_TUNE_CHECK_KERNEL "fullwarp_check"
#define FW_TUNE_WAIT_KERNEL  "fullwarp_wait"

void fw_tune_check_host(const struct fw_tune_check *check);

#endif
