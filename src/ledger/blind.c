/* When a device's processes were not recorded: merged intervals, one set a device. */
#include "ledger/build.h"

#include <stdlib.h>

/* Marks the processes that have operations on the device. */
static void mark_processes(const struct fw_trace *t, const struct fw_device_ledger *d,
			   uint8_t *uses)
{
	for (size_t i = 0; i < t->processes.len; i++)
		uses[i] = 0;
	for (size_t i = 0; i < d->op_count; i++)
		if (t->ops.process[d->ops[i]] < t->processes.len)
			uses[t->ops.process[d->ops[i]]] = 1;
}

static bool add_intervals(const struct fw_trace *t, const uint8_t *uses, struct fw_intervals *set)
{
	const struct fw_trace_blind_intervals *blind = &t->blind_intervals;

	for (size_t i = 0; i < blind->len; i++)
		if (uses[blind->process[i]] &&
		    !fw_intervals_add(set, blind->start_ns[i], blind->end_ns[i]))
			return false;
	fw_intervals_merge(set);
	return true;
}

fw_status fw_build_blind(struct fw_build *b)
{
	const struct fw_trace *t = b->trace;
	uint8_t *uses;
	bool ok = true;

	if (!t->blind_intervals.len)
		return FW_OK;
	uses = malloc(t->processes.len + 1);
	ok = uses != NULL;
	for (size_t i = 0; ok && i < b->ledger->device_count; i++) {
		struct fw_device_ledger *d = &b->ledger->devices[i];

		mark_processes(t, d, uses);
		ok = add_intervals(t, uses, &fw_device_work(b->ledger, d)->blind);
	}
	free(uses);
	return ok ? FW_OK
		  : fw_fail_nomem(b->err, t->blind_intervals.len * sizeof(struct fw_interval));
}
