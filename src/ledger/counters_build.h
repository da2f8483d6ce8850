#ifndef FW_LEDGER_COUNTERS_BUILD_H
#define FW_LEDGER_COUNTERS_BUILD_H
/* The counters of a device while its ledger is built. */
#include "ledger/ledger_private.h"

/* Gives samples to kernels; stretches come in order of time. Initialise with {0}. */
struct fw_counter_cursor {
	size_t next[FW_COUNTER_COUNT];
};

/*
 * [start, end) is a stretch in which only the kernels of one row ran: samples that lie wholly in it, a
 * margin away from its ends, are added to the row.
 */
void fw_counters_credit(const struct fw_ledger *ledger, const struct fw_device_ledger *device,
			struct fw_counter_cursor *cursor, struct fw_kernel_row *row,
			int64_t start_ns, int64_t end_ns);

#endif
