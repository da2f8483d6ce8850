#ifndef FW_TESTS_GPU_PM_LOAD_H
#define FW_TESTS_GPU_PM_LOAD_H
/* Work of known times and fill for pm_probe, in a process of its own. */
#include <stdint.h>

/* One kernel, and what each clock said of it; 0: not known. */
struct pulse {
	int64_t before_mono, after_mono; /* around launch and synchronisation */
	uint64_t start_timer, end_timer; /* %globaltimer, read by the kernel's first block */
	uint64_t start_cupti, end_cupti; /* of its activity record */
};

/* A reading of CUPTI's clock between two of CLOCK_MONOTONIC, and CLOCK_REALTIME after. */
struct clock_pair {
	int64_t before_mono, after_mono, realtime;
	uint64_t cupti;
};

/*
 * The main function of the process: fill SECONDS (half of the SMs, all their warp slots), pulse SECONDS
 * PERIOD_MS (all SMs for 10 ms each period), copy SECONDS (pinned memory to the GPU), and activity
 * SECONDS PERIOD_MS LIBCUPTI (pulse with CUPTI's kernel records on). Writes "P" and "C" lines.
 */
int load_main(int argc, char **argv);

#endif
