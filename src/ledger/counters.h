#ifndef FW_LEDGER_COUNTERS_H
#define FW_LEDGER_COUNTERS_H
/* What the GPU's counters measured, over the window, any stretch of it, and single kernels. */
#include "ledger/ledger.h"

/* "sm_busy_percent", and "SMs busy" for people. */
const char *fw_counter_name(enum fw_counter counter);
const char *fw_counter_text(enum fw_counter counter);

/* Whether a sample of the device's source is short enough to tell of single kernels. */
bool fw_counters_are_fine(const struct fw_ledger *ledger, const struct fw_device_ledger *device);

/* The mean over [start, end): each sample counts by the part of it that lies inside. O(log n + samples). */
struct fw_counter_mean fw_counter_over(const struct fw_ledger *ledger,
				       const struct fw_device_ledger *device,
				       enum fw_counter counter, int64_t start_ns, int64_t end_ns);

/*
 * The mean over the time in which kernels ran: the window's, divided by the share of the samples' time
 * in which kernels ran, as no counter of the SMs moves otherwise. Percent; < 0: unknown, DRAM always.
 */
double fw_counter_while_busy(const struct fw_device_ledger *device, enum fw_counter counter);

/*
 * Achieved occupancy: the warps that SMs with work held, of those that they can hold. Percent; < 0:
 * unknown.
 */
double fw_counter_occupancy(const struct fw_counter_mean measured[FW_COUNTER_COUNT]);

#endif
