#ifndef FW_RULES_HOST_H
#define FW_RULES_HOST_H
/*
 * What the host did, in order: the calls and marks of the processes that drive a device, the call before
 * and after a call, the operator around it, the operation it launched. Built on first use, kept with the
 * findings; borrows the ledger.
 */
#include "ledger/intervals.h"
#include "rules/rule.h"

/* A call that takes longer, with the GPU idle, does not launch: something holds it. */
#define FW_STALLED_CALL_NS 1000000

struct fw_host;

/* NULL when memory is out; findings->failed is set then. */
const struct fw_host *fw_host_of(const struct fw_ledger *ledger, struct fw_findings *findings);
void fw_host_destroy(struct fw_host *host);

/* Rows of a table, by thread and start. */
struct fw_rows {
	const uint32_t *rows;
	size_t count;
};

/*
 * The calls, the operators, and the marks (loader waits, steps, annotations: every range but operators, Python functions
 * and the profiler's own work), of the nth process that launches operations on the device (index into
 * ledger->devices). False: it has fewer processes.
 */
bool fw_host_calls(const struct fw_host *host, size_t device, size_t nth, struct fw_rows *calls);
bool fw_host_operators(const struct fw_host *host, size_t device, size_t nth,
		       struct fw_rows *operators);
bool fw_host_marks(const struct fw_host *host, size_t device, size_t nth, struct fw_rows *marks);

/* Adds the profiler's own work, as the device's file records it, to the set (not merged). */
bool fw_host_overhead(const struct fw_host *host, size_t device, struct fw_intervals *set);

/* The call of the same thread that starts next, or before; FW_NONE: none. */
uint32_t fw_host_next_call(const struct fw_host *host, uint32_t call);
uint32_t fw_host_previous_call(const struct fw_host *host, uint32_t call);

/* True for a call recorded twice (runtime and driver): it lies inside the previous one, with its id. */
bool fw_host_is_repeat(const struct fw_host *host, uint32_t call);

/* True if the call and the device's window overlap. */
bool fw_host_in_window(const struct fw_host *host, size_t device, uint32_t call);

/*
 * The innermost and the outermost operator of the thread around time t; FW_NONE: none. Recordings have
 * no operators: there the source line of a call that waits stands in, where it is recorded.
 */
uint32_t fw_host_operator(const struct fw_host *host, uint32_t thread, int64_t t);
uint32_t fw_host_outer_operator(const struct fw_host *host, uint32_t thread, int64_t t);

/* The first operation that the call launched; FW_NONE: none. */
uint32_t fw_host_op_of_call(const struct fw_host *host, uint32_t call);

/*
 * fw_bound with FW_BOUND_GPU, worked out once a device: how long the busiest launching thread waits for
 * the GPU bounds all findings about kernels and copies. -1: unknown.
 */
int64_t fw_gpu_bound(const struct fw_ledger *ledger, struct fw_findings *findings, size_t device,
		     int64_t cost_ns);

#endif
