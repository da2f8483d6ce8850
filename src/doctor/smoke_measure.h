#ifndef FW_DOCTOR_SMOKE_MEASURE_H
#define FW_DOCTOR_SMOKE_MEASURE_H
/* Tries the first GPU, in a child process: a driver that crashes or hangs does not take us with it. */
#include "gpu/cuda.h"

#include <stdbool.h>

struct fw_smoke {
	double context_ms, pageable_gb_s, pinned_gb_s, launch_us;
	char failed[512]; /* what failed, with the driver's name of the error; "": nothing */
};

/* cuInit was not called yet in this process. About a second; at most timeout_ms. */
void fw_smoke_measure(const struct fw_cuda *cuda, int timeout_ms, struct fw_smoke *smoke);

#endif
