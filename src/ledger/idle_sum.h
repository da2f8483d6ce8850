#ifndef FW_LEDGER_IDLE_SUM_H
#define FW_LEDGER_IDLE_SUM_H
/* Idle time of a device by class, summed up to any instant. Read-only once built; O(log n) a question. */
#include "ledger/intervals.h"
#include "ledger/ledger.h"

/*
 * Beside the bits of classes: leave out gaps before an operation whose launch was over FW_QUEUED_NS
 * before the gap began. The work was there, and an earlier host would not have shortened them.
 */
#define FW_IDLE_NOT_QUEUED (1u << 31)
#define FW_QUEUED_NS       10000

struct fw_idle_sum {
	const struct fw_ledger *ledger; /* borrowed */
	const struct fw_idle *idle;     /* borrowed */
	size_t len;
	uint32_t classes; /* bit 1 << enum fw_class: those that count; FW_IDLE_NOT_QUEUED */
	int64_t *before;  /* such time before idle[i] */
};

/* False when memory is out; fw_idle_sum_release is due in both cases. */
bool fw_idle_sum_build(struct fw_idle_sum *sum, const struct fw_ledger *ledger,
		       const struct fw_device_ledger *device, uint32_t classes);
void fw_idle_sum_release(struct fw_idle_sum *sum);

/* Such time in [from, to); 0 if reversed. */
int64_t fw_idle_sum_in(const struct fw_idle_sum *sum, int64_t from, int64_t to);
int64_t fw_idle_sum_in_set(const struct fw_idle_sum *sum, const struct fw_intervals *merged);

/* The first t with at least ns (> 0) of such time in [from, t); INT64_MAX: there is not as much. */
int64_t fw_idle_sum_reach(const struct fw_idle_sum *sum, int64_t from, int64_t ns);

#endif
