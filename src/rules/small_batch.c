/* Each step brings so little work that neither the GPU's SMs nor the host's launches pay. */
#include "base/amount.h"
#include "rules/measured.h"
#include "rules/rule.h"

#include <inttypes.h>

/* Small: at least this share of the computing time has grids that do not fill the GPU ... */
#define GRID_LIMITED_SHARE 0.5
/* ... and at least this share of the window passes between launches. */
#define HOST_SHARE 0.2
/* GPU memory beyond this share in use leaves no room for twice the batch. */
#define MEMORY_SHARE 0.5

extern const struct fw_rule fw_rule_small_batch;

/* Idle time that stays the same per step when the batch grows. */
static int64_t per_step_ns(const struct fw_device_ledger *device)
{
	return device->ns[FW_CLASS_LAUNCH_LATENCY] + device->ns[FW_CLASS_HOST_OP] +
	       device->ns[FW_CLASS_HOST_PYTHON] + device->ns[FW_CLASS_HOST_UNRECORDED];
}

/* Time that grows with the batch and that a larger one therefore does not hide. */
static int64_t per_item_ns(const struct fw_device_ledger *device)
{
	return device->ns[FW_CLASS_INPUT] + device->ns[FW_CLASS_COPY_H2D] +
	       device->ns[FW_CLASS_COPY_D2H] + device->ns[FW_CLASS_BLOCKING_COPY];
}

/* The most memory in use on the device, as the framework recorded it; -1: not recorded. */
static int64_t most_memory(const struct fw_ledger *ledger, const struct fw_device_ledger *device)
{
	const struct fw_trace_allocations *a = &ledger->trace->allocations;
	int64_t most = -1;

	for (size_t i = 0; i < a->len; i++)
		if (a->device[i] == device->device && a->total_bytes[i] > most)
			most = a->total_bytes[i];
	return most;
}

static void add_memory(const struct fw_ledger *ledger, const struct fw_device_ledger *device,
		       struct fw_findings *findings, struct fw_finding *f, int64_t used)
{
	int64_t all = ledger->trace->devices.memory_bytes[device->device];

	if (used < 0)
		fw_finding_evidence(
			findings, f, NULL, "GPU memory in use",
			"not recorded: profile with profile_memory=True to see the room "
			"for a larger batch");
	else if (all > 0)
		fw_finding_evidence(findings, f, NULL, "GPU memory in use",
				    "at most %s of %s: room for about %.1f times the batch",
				    fw_amount_bytes(used).text, fw_amount_bytes(all).text,
				    (double)all / (double)used);
	else
		fw_finding_evidence(findings, f, NULL, "GPU memory in use", "at most %s",
				    fw_amount_bytes(used).text);
}

static void look(const struct fw_ledger *ledger, size_t d, struct fw_findings *findings)
{
	const struct fw_device_ledger *device = &ledger->devices[d];
	int64_t window_ns = device->window.end_ns - device->window.start_ns;
	int64_t compute = device->ns[FW_CLASS_COMPUTE], cost = per_step_ns(device);
	int64_t limited = device->fill_ns[FW_FILL_GRID_LIMITED], used, all;
	struct fw_finding *f;

	if (fw_rule_lacks(ledger, findings, &fw_rule_small_batch, FW_BLIND_NO_DEVICE_PROPERTIES,
			  "the GPU's number of SMs"))
		return;
	if (!compute || (double)limited < GRID_LIMITED_SHARE * (double)compute ||
	    (double)cost < HOST_SHARE * (double)window_ns || per_item_ns(device) > cost)
		return;
	used = most_memory(ledger, device);
	all = ledger->trace->devices.memory_bytes[device->device];
	if (used > 0 && all > 0 && (double)used > MEMORY_SHARE * (double)all)
		return;
	f = fw_finding_add(findings, &fw_rule_small_batch, d,
			   "Each step brings the GPU too little work");
	/* A model: twice the batch halves, for each item, what a step costs the host. */
	fw_finding_cost(f, device, cost / 2,
			fw_bound(ledger, device, FW_BOUND_HOST, NULL, 0, cost / 2));
	fw_finding_evidence(
		findings, f, NULL, "computing with grids that do not fill the GPU (model)",
		"%.0f %% of the computing time", 100 * (double)limited / (double)compute);
	fw_finding_evidence(findings, f, NULL, "idle between launches",
			    "%s: a step costs it whatever its batch; twice the batch halves it "
			    "for each item",
			    fw_ns_text(findings, cost));
	fw_measured_evidence(ledger, d, findings, f);
	add_memory(ledger, device, findings, f, used);
	fw_finding_change(findings, f,
			  &(struct fw_change){
				  .text = "Raise the batch size, or gather requests into batches; "
					  "where that is not "
					  "wanted, run several instances on one GPU.",
				  .pytorch = "loader = DataLoader(dataset, batch_size=2 * B)",
				  .when = "memory allows it, latency and convergence too. It gains "
					  "nothing where copies "
					  "or the loader grow with the batch and are the limit" });
}

const struct fw_rule fw_rule_small_batch = {
	.id = "small-batch",
	.summary = "Each step brings too little work for the GPU and its launches",
	.look = look,
};
