/* Which synchronisation belongs to which copy. */
#include "rules/copies.h"

#include <string.h>

/* A framework synchronises right after the copy call; what comes later is the program's own doing. */
#define FOLLOWS_NS 20000

static bool belongs(const struct fw_ledger *ledger, uint32_t copy, uint32_t sync)
{
	const struct fw_trace_calls *calls = &ledger->trace->calls;

	return fw_ledger_call_class(ledger, copy) == FW_CLASS_BLOCKING_COPY &&
	       strstr(fw_trace_text(ledger->trace, calls->name[sync]), "StreamSynchronize") &&
	       calls->start_ns[sync] >= calls->end_ns[copy] &&
	       calls->start_ns[sync] - calls->end_ns[copy] <= FOLLOWS_NS;
}

uint32_t fw_copy_sync(const struct fw_ledger *ledger, const struct fw_host *host, uint32_t copy)
{
	uint32_t next = fw_host_next_call(host, copy);

	while (next != FW_NONE && fw_host_is_repeat(host, next))
		next = fw_host_next_call(host, next);
	return next != FW_NONE && belongs(ledger, copy, next) ? next : FW_NONE;
}

uint32_t fw_sync_copy(const struct fw_ledger *ledger, const struct fw_host *host, uint32_t sync)
{
	uint32_t previous = fw_host_previous_call(host, sync);

	while (previous != FW_NONE && fw_host_is_repeat(host, previous))
		previous = fw_host_previous_call(host, previous);
	return previous != FW_NONE && belongs(ledger, previous, sync) ? previous : FW_NONE;
}

int64_t fw_copy_bytes(const struct fw_ledger *ledger, const struct fw_host *host, uint32_t call)
{
	const struct fw_trace *t = ledger->trace;
	uint32_t op = fw_host_op_of_call(host, call);

	if (op == FW_NONE || t->ops.kind[op] != FW_OP_COPY || t->ops.detail[op] == FW_NONE)
		return -1;
	return t->transfers.bytes[t->ops.detail[op]];
}
