/* The program waits for the GPU by name, and the GPU runs dry meanwhile. */
#include "rules/call_groups.h"
#include "rules/copies.h"

#include <inttypes.h>
#include <string.h>

#define GROUPS_SHOWN 4

extern const struct fw_rule fw_rule_explicit_sync;

/* A synchronisation that completes a bulk copy cannot be removed without the copy: blocking-copy's. */
static bool belongs_to_bulk_copy(const struct fw_ledger *ledger, const struct fw_host *host,
				 uint32_t sync)
{
	uint32_t copy = fw_sync_copy(ledger, host, sync);
	int64_t bytes = copy == FW_NONE ? 0 : fw_copy_bytes(ledger, host, copy);

	return copy != FW_NONE && (bytes < 0 || bytes > FW_SMALL_COPY_BYTES);
}

static void add_sync(const struct fw_ledger *ledger, const struct fw_host *host, uint32_t call,
		     struct fw_call_groups *groups)
{
	const struct fw_trace_calls *calls = &ledger->trace->calls;
	uint32_t op = fw_host_operator(host, calls->thread[call], calls->start_ns[call]);
	struct fw_call_group *group = fw_call_groups_at(
		groups, calls->name[call], op == FW_NONE ? 0 : ledger->trace->ranges.name[op]);

	fw_call_groups_add(groups, group, call);
	if (!group)
		return;
	group->count++;
	group->host_ns += calls->end_ns[call] - calls->start_ns[call];
}

static void collect(const struct fw_ledger *ledger, size_t d, const struct fw_host *host,
		    struct fw_call_groups *groups)
{
	struct fw_rows calls;

	for (size_t p = 0; fw_host_calls(host, d, p, &calls); p++)
		for (size_t i = 0; i < calls.count; i++) {
			uint32_t call = calls.rows[i];

			if (fw_ledger_call_class(ledger, call) == FW_CLASS_SYNC &&
			    fw_host_in_window(host, d, call) && !fw_host_is_repeat(host, call) &&
			    !belongs_to_bulk_copy(ledger, host, call))
				add_sync(ledger, host, call, groups);
		}
}

/* x.to(device) of page-locked memory without non_blocking: the copy is asynchronous, the wait is not. */
static bool waits_for_copies(const struct fw_ledger *ledger, const struct fw_call_groups *groups)
{
	const struct fw_call_group *list = groups->list.data;

	return groups->list.len &&
	       !strcmp(fw_trace_text(ledger->trace, list[0].place), "aten::copy_");
}

static bool is_read_back(const char *operator_name)
{
	return !strcmp(operator_name, "aten::_local_scalar_dense") ||
	       !strcmp(operator_name, "aten::item") || strstr(operator_name, ".item()");
}

static void add_evidence(const struct fw_ledger *ledger, struct fw_findings *findings,
			 struct fw_finding *f, const struct fw_call_groups *groups)
{
	const struct fw_call_group *list = groups->list.data;

	for (size_t i = 0; i < groups->list.len && i < GROUPS_SHOWN; i++) {
		const char *place = fw_trace_text(ledger->trace, list[i].place);
		const char *label = fw_finding_text(
			findings, "%s%s", fw_trace_text(ledger->trace, list[i].name),
			is_read_back(place) ? ", a read-back such as .item()" : "");

		fw_finding_evidence(findings, f, list[i].place ? place : NULL, label,
				    "%" PRId64
				    " calls, host blocked %s, GPU idle because of them %s",
				    list[i].count, fw_ns_text(findings, list[i].host_ns),
				    fw_ns_text(findings, list[i].cost_ns));
	}
}

static void add_changes(struct fw_findings *findings, struct fw_finding *f,
			const struct fw_device_ledger *device, bool is_copy)
{
	int64_t window_ns = device->window.end_ns - device->window.start_ns;
	int64_t at_most = f ? f->at_most_ns : 0;
	const char *when;

	if ((double)at_most < FW_SHARE_WORTH_READING * (double)window_ns)
		when = fw_finding_text(
			findings,
			"the host has work left to issue while it waits. Here it has not: removing "
			"these calls gains at most %s, because the host is as slow as the GPU "
			"without them",
			fw_ns_text(findings, at_most));
	else
		when = fw_finding_text(
			findings,
			"the host has work to issue while it waits: removing these calls "
			"gains at most %s of the %s, since the host then becomes the limit",
			fw_ns_text(findings, at_most), fw_ns_text(findings, f ? f->cost_ns : 0));
	if (is_copy)
		fw_finding_change(
			findings, f,
			&(struct fw_change){ .text = "The memory is page-locked, but the copy is "
						     "waited for: let the "
						     "host run on.",
					     .pytorch = "x = x.to(device, non_blocking=True)",
					     .when = when });
	fw_finding_change(
		findings, f,
		&(struct fw_change){
			.text = "Keep values on the GPU and read them back rarely, or one step "
				"late.",
			.pytorch = "total += loss.detach()        # instead of loss.item()\n"
				   "if step % 50 == 0:\n"
				   "    log(total.item())",
			.cuda = "cudaEventRecord(done, stream);      /* instead of "
				"cudaStreamSynchronize(stream) */\n"
				"if (step > 0)\n\tcudaEventSynchronize(done_of_previous_step);",
			.when = when });
}

static void look(const struct fw_ledger *ledger, size_t d, struct fw_findings *findings)
{
	const struct fw_device_ledger *device = &ledger->devices[d];
	struct fw_call_groups groups = FW_CALL_GROUPS;
	const struct fw_host *host;
	int64_t cost, at_most;
	struct fw_finding *f;

	if (fw_rule_lacks(ledger, findings, &fw_rule_explicit_sync, FW_BLIND_NO_CALLS,
			  "CUDA calls"))
		return;
	host = fw_host_of(ledger, findings);
	if (!host)
		return;
	collect(ledger, d, host, &groups);
	cost = fw_call_groups_rank(&groups, ledger, device);
	if (cost > 0) {
		at_most = fw_bound(ledger, device, FW_BOUND_CALLS, groups.calls.data,
				   groups.calls.len, cost);
		f = fw_finding_add(findings, &fw_rule_explicit_sync, d,
				   "The program waits for the GPU and lets it run dry");
		fw_finding_cost(f, device, cost, at_most);
		if (f)
			f->blind_spots =
				ledger->trace->blind_spots & (1u << FW_BLIND_NO_SYNC_RECORDS);
		add_evidence(ledger, findings, f, &groups);
		add_changes(findings, f, device, waits_for_copies(ledger, &groups));
	}
	findings->failed |= groups.failed || cost < 0;
	fw_call_groups_release(&groups);
}

const struct fw_rule fw_rule_explicit_sync = {
	.id = "explicit-sync",
	.summary = "Synchronisation calls let the GPU run dry",
	.clause = "it ran dry around synchronisation calls",
	.look = look,
};
