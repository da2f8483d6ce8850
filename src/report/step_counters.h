#ifndef FW_REPORT_STEP_COUNTERS_H
#define FW_REPORT_STEP_COUNTERS_H
/* What the counters measured, step by step. */
#include "ledger/counters.h"
#include "report/report.h"

/* A counter's means over the steps of a window; steps 0: unknown. */
struct fw_step_counter {
	int64_t steps; /* with samples of it */
	double least, median, most;
};

/*
 * Of all counters of a device (index into ledger->devices). Steps as the host began them. Nothing where
 * there are none, or where they are shorter than three samples. False: memory is out.
 */
bool fw_step_counters(const struct fw_report *report, size_t device,
		      struct fw_step_counter out[FW_COUNTER_COUNT]);

#endif
