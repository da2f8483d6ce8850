#ifndef FW_RULES_PAGE_LOCKING_H
#define FW_RULES_PAGE_LOCKING_H
/* PyTorch's threads that copy batches into page-locked memory, one a loader. */
#include "trace/trace.h"

#define FW_PAGE_LOCKERS 16 /* more are not looked at */

/* CPU time of such a thread at its first and last sample in the time asked about. */
struct fw_page_locker {
	uint32_t thread;
	int64_t first_ns, last_ns;
	double first_run_ns, last_run_ns;
};

/* Those with samples in [start_ns, end_ns), in the order of the samples; how many. */
size_t fw_page_lockers(const struct fw_trace *trace, int64_t start_ns, int64_t end_ns,
		       struct fw_page_locker lockers[FW_PAGE_LOCKERS]);

/* The share of the time between its samples in which it ran, 0..1; < 0: one sample does not tell. */
double fw_page_locker_share(const struct fw_page_locker *locker);

#endif
