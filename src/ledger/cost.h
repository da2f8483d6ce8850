#ifndef FW_LEDGER_COST_H
#define FW_LEDGER_COST_H
/*
 * What a blocking call cost, and the most that removing something can gain (design contract, ledger
 * section). Costs are counterfactual and may overlap between findings: never add them up.
 */
#include "ledger/ledger.h"

/*
 * Cost of a set of distinct calls on a device inside its window, in ns: for a synchronisation the
 * idle time from the end of the last operation it waited for (not from before the call) to the start
 * of the first operation that its process launches after it returns, and on until it is as long as
 * the call blocked the host, without what `input`, `blocking-copy` and `alloc` own; for a blocking
 * copy the same, minus `input` and `alloc`, plus its own exposed copy time (docs/ledger-cost.md).
 * Each nanosecond counts once. costs[i] (may be NULL) receives the cost of calls[i] alone. -1 when
 * memory is out: unknown.
 */
int64_t fw_cost_of_calls(const struct fw_ledger *ledger, const struct fw_device_ledger *device,
			 const uint32_t *calls, size_t count, int64_t *costs);

/*
 * Cost of the loader waits: the idle time that `input` owns, and later gaps that would have been
 * shorter if the host had been ahead by as long as it waited, as above; -1 when memory is out.
 */
int64_t fw_cost_of_input(const struct fw_ledger *ledger, const struct fw_device_ledger *device);

/* What a finding would take away, for its bound. */
enum fw_bound_kind {
	FW_BOUND_CALLS, /* host calls: syncs (their blocked span), copies (the calls and their own copy time) */
	FW_BOUND_INPUT, /* the loader waits */
	FW_BOUND_HOST,  /* idle time itself: launches, operators, Python; only gpu_busy bounds it */
	FW_BOUND_GPU /* GPU work that would take no time: kernels, copies; only the host bounds it */
};

/*
 * at_most_ns = min(cost, W - max(gpu_busy, host_other)); gpu_busy without the copies of `calls`;
 * host_other: the most time that a thread which launches at least 1 % of the window's operations
 * does something other than this finding's own spans. Unrecorded host time counts as busy, except
 * while another thread of the process is in such a span: threads hand over. -1: unknown (memory is
 * out, or cost_ns is -1); else never below 0.
 *
 * FW_BOUND_GPU: min(cost, W - host_other), where a thread waits in synchronisations, blocking copies
 * and calls of over 100 us (a full launch queue), before its first and after its last launch, and where
 * context switches show it asleep outside calls and loader waits while the GPU works and no other
 * launching thread of the process is awake.
 */
int64_t fw_bound(const struct fw_ledger *ledger, const struct fw_device_ledger *device,
		 enum fw_bound_kind kind, const uint32_t *calls, size_t count, int64_t cost_ns);

#endif
