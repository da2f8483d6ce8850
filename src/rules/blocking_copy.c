/* Copies that block the host: synchronous ones, and 'async' ones of pageable memory. */
#include "base/amount.h"
#include "rules/call_groups.h"
#include "rules/copies.h"

#include <inttypes.h>
#include <string.h>

#define GROUPS_SHOWN 4

extern const struct fw_rule fw_rule_blocking_copy;

/* What kind of memory the copies move and what the trace says about page-locked memory. */
struct memory {
	bool is_pageable, has_host_to_device, has_device_to_host, is_small;
	bool has_pinned; /* page-locked memory is used or allocated elsewhere in the trace */
};

static void add_copy(const struct fw_ledger *ledger, const struct fw_host *host, uint32_t call,
		     struct fw_call_groups *groups)
{
	const struct fw_trace *t = ledger->trace;
	uint32_t op = fw_host_op_of_call(host, call), sync = fw_copy_sync(ledger, host, call);
	uint32_t frame = fw_host_operator(host, t->calls.thread[call], t->calls.start_ns[call]);
	int64_t bytes = fw_copy_bytes(ledger, host, call);
	struct fw_call_group *group =
		fw_call_groups_at(groups, op == FW_NONE ? t->calls.name[call] : t->ops.name[op],
				  frame == FW_NONE ? t->calls.name[call] : t->ranges.name[frame]);

	fw_call_groups_add(groups, group, call);
	if (!group)
		return;
	group->count++;
	group->host_ns += t->calls.end_ns[call] - t->calls.start_ns[call];
	group->bytes = bytes < 0 || group->bytes < 0 ? -1 : group->bytes + bytes;
	if (op != FW_NONE)
		group->gpu_ns += t->ops.end_ns[op] - t->ops.start_ns[op];
	if (sync == FW_NONE)
		return;
	group->host_ns += t->calls.end_ns[sync] - t->calls.start_ns[sync];
	fw_call_groups_add(groups, group, sync);
}

static void collect(const struct fw_ledger *ledger, size_t d, const struct fw_host *host,
		    struct fw_call_groups *groups)
{
	struct fw_rows calls;

	for (size_t p = 0; fw_host_calls(host, d, p, &calls); p++)
		for (size_t i = 0; i < calls.count; i++)
			if (fw_ledger_call_class(ledger, calls.rows[i]) == FW_CLASS_BLOCKING_COPY &&
			    fw_host_in_window(host, d, calls.rows[i]) &&
			    !fw_host_is_repeat(host, calls.rows[i]))
				add_copy(ledger, host, calls.rows[i], groups);
}

static void describe(const struct fw_ledger *ledger, const struct fw_host *host,
		     const struct fw_call_groups *groups, struct memory *m)
{
	const struct fw_trace *t = ledger->trace;
	const uint32_t *calls = groups->calls.data;

	m->is_small = true;
	for (size_t i = 0; i < groups->calls.len; i++) {
		uint32_t op = fw_host_op_of_call(host, calls[i]), row;

		if (op == FW_NONE || t->ops.detail[op] == FW_NONE)
			continue;
		row = t->ops.detail[op];
		m->is_pageable |= t->transfers.src[row] == FW_MEM_PAGEABLE ||
				  t->transfers.dst[row] == FW_MEM_PAGEABLE;
		m->has_host_to_device |= t->ops.owner[op] == FW_CLASS_COPY_H2D;
		m->has_device_to_host |= t->ops.owner[op] == FW_CLASS_COPY_D2H;
		m->is_small &= t->transfers.bytes[row] >= 0 &&
			       t->transfers.bytes[row] <= FW_SMALL_COPY_BYTES;
	}
}

/* Page-locked memory is copied, or allocated, by the processes of the device. */
static bool uses_pinned(const struct fw_ledger *ledger, size_t d, const struct fw_host *host)
{
	const struct fw_device_ledger *device = &ledger->devices[d];
	const struct fw_trace *t = ledger->trace;
	struct fw_rows calls;

	for (size_t i = 0; i < device->op_count; i++) {
		uint32_t op = device->ops[i], row = t->ops.detail[op];

		if (t->ops.kind[op] == FW_OP_COPY && row != FW_NONE &&
		    (t->transfers.src[row] == FW_MEM_PINNED ||
		     t->transfers.dst[row] == FW_MEM_PINNED))
			return true;
	}
	for (size_t p = 0; fw_host_calls(host, d, p, &calls); p++)
		for (size_t i = 0; i < calls.count; i++)
			if (strstr(fw_trace_text(t, t->calls.name[calls.rows[i]]), "HostAlloc"))
				return true;
	return false;
}

static void add_evidence(const struct fw_ledger *ledger, struct fw_findings *findings,
			 struct fw_finding *f, const struct fw_call_groups *groups)
{
	const struct fw_call_group *list = groups->list.data;

	for (size_t i = 0; i < groups->list.len && i < GROUPS_SHOWN; i++) {
		const struct fw_call_group *g = &list[i];
		const char *rate = "bytes unknown";

		if (g->bytes > 0 && g->gpu_ns > 0)
			rate = fw_finding_text(findings, "%s at %s", fw_amount_bytes(g->bytes).text,
					       fw_amount_rate(g->bytes, g->gpu_ns).text);
		fw_finding_evidence(
			findings, f, fw_trace_text(ledger->trace, g->place),
			fw_trace_text(ledger->trace, g->name),
			"%" PRId64 " copies, %s, copying %s, host blocked %s, GPU without a kernel "
			"because of them %s",
			g->count, rate, fw_ns_text(findings, g->gpu_ns),
			fw_ns_text(findings, g->host_ns), fw_ns_text(findings, g->cost_ns));
	}
}

static void advise_pinning(struct fw_findings *findings, struct fw_finding *f,
			   const struct memory *m)
{
	fw_finding_change(
		findings, f,
		&(struct fw_change){ .text = "Copy from page-locked memory without waiting: the "
					     "copy is faster and "
					     "the host runs on.",
				     .pytorch = "loader = DataLoader(dataset, pin_memory=True)\n"
						"x = x.to(device, non_blocking=True)",
				     .cuda = "cudaHostAlloc(&staging, bytes, "
					     "cudaHostAllocDefault);  /* once */\n"
					     "cudaMemcpyAsync(device, staging, bytes, "
					     "cudaMemcpyHostToDevice, stream);",
				     .when = "page-locked memory is allocated once and reused. On "
					     "the stream that "
					     "computes, the copy still queues behind the kernels; "
					     "to overlap it with "
					     "them it also needs a stream of its own. non_blocking "
					     "alone, on pageable "
					     "memory, saves only the wait after each copy" });
	if (m->has_pinned)
		fw_finding_change(
			findings, f,
			&(struct fw_change){
				.text = "This program has page-locked memory, but these copies do "
					"not use "
					"it: a batch of a custom class is not pinned by the "
					"loader, and a "
					"name bound to a new array is no longer the pinned buffer.",
				.pytorch = "class Batch:\n"
					   "    def pin_memory(self):\n"
					   "        self.x = self.x.pin_memory()\n"
					   "        return self",
				.when = "pin_memory=True is set, and the copies still say "
					"Pageable" });
}

static void add_changes(struct fw_findings *findings, struct fw_finding *f, const struct memory *m)
{
	if (m->is_small)
		fw_finding_change(
			findings, f,
			&(struct fw_change){ .text = "These copies move a few bytes: the wait for "
						     "the GPU costs, not "
						     "the copy. Keep the values on the GPU, or "
						     "read them one step late.",
					     .pytorch = "total += loss.detach()  # instead of "
							"loss.item(), loss.cpu()",
					     .when = "the values are not needed to decide what to "
						     "launch next" });
	else if (m->is_pageable && m->has_host_to_device)
		advise_pinning(findings, f, m);
	if (!m->is_small && m->has_device_to_host)
		fw_finding_change(
			findings, f,
			&(struct fw_change){
				.text = "Read back into page-locked memory without waiting, and "
					"look at the "
					"values after an event.",
				.pytorch = "host = torch.empty(y.shape, dtype=y.dtype, "
					   "pin_memory=True)\n"
					   "host.copy_(y, non_blocking=True); event.record()\n"
					   "...  # other work\n"
					   "event.synchronize(); use(host)",
				.cuda = "cudaMemcpyAsync(pinned, y, bytes, cudaMemcpyDeviceToHost, "
					"stream);\ncudaEventRecord(done, stream);",
				.when = "the values are not needed at once; they must not be read "
					"before "
					"the event" });
	if (!m->is_pageable && !m->is_small)
		fw_finding_change(findings, f,
				  &(struct fw_change){
					  .text = "Use the asynchronous copy: the memory is "
						  "page-locked already.",
					  .pytorch = "x = x.to(device, non_blocking=True)",
					  .cuda = "cudaMemcpyAsync(device, pinned, bytes, "
						  "cudaMemcpyHostToDevice, stream);",
					  .when = "the host has other work to issue meanwhile" });
}

static void look(const struct fw_ledger *ledger, size_t d, struct fw_findings *findings)
{
	const struct fw_device_ledger *device = &ledger->devices[d];
	struct fw_call_groups groups = FW_CALL_GROUPS;
	const struct fw_host *host;
	struct memory m = { 0 };
	struct fw_finding *f;
	int64_t cost;

	if (fw_rule_lacks(ledger, findings, &fw_rule_blocking_copy, FW_BLIND_NO_CALLS,
			  "CUDA calls"))
		return;
	host = fw_host_of(ledger, findings);
	if (!host)
		return;
	collect(ledger, d, host, &groups);
	cost = fw_call_groups_rank(&groups, ledger, device);
	if (cost > 0) {
		describe(ledger, host, &groups, &m);
		m.has_pinned = uses_pinned(ledger, d, host);
		f = fw_finding_add(findings, &fw_rule_blocking_copy, d,
				   m.is_pageable ? "Copies of pageable memory block the host"
						 : "Synchronous copies block the host");
		fw_finding_cost(f, device, cost,
				fw_bound(ledger, device, FW_BOUND_CALLS, groups.calls.data,
					 groups.calls.len, cost));
		add_evidence(ledger, findings, f, &groups);
		add_changes(findings, f, &m);
	}
	findings->failed |= groups.failed || cost < 0;
	fw_call_groups_release(&groups);
}

const struct fw_rule fw_rule_blocking_copy = {
	.id = "blocking-copy",
	.summary = "Synchronous copies, or 'async' ones of pageable memory, block the host",
	.clause = "it waited for blocking copies",
	.look = look,
};
