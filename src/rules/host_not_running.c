/* The thread that should launch was not scheduled: told by context-switch records only. */
#include "rules/rule.h"

extern const struct fw_rule fw_rule_host_not_running;

/* Idle time that such records could explain. */
static int64_t host_ns(const struct fw_device_ledger *device)
{
	return device->ns[FW_CLASS_HOST_OP] + device->ns[FW_CLASS_HOST_PYTHON] +
	       device->ns[FW_CLASS_HOST_UNRECORDED];
}

static void look(const struct fw_ledger *ledger, size_t d, struct fw_findings *findings)
{
	const struct fw_device_ledger *device = &ledger->devices[d];
	int64_t window_ns = device->window.end_ns - device->window.start_ns;
	int64_t cost = device->ns[FW_CLASS_HOST_NOT_RUNNING];
	struct fw_finding *f;

	if (!cost && (double)host_ns(device) >= FW_SHARE_WORTH_READING * (double)window_ns)
		fw_rule_lacks(ledger, findings, &fw_rule_host_not_running, FW_BLIND_NO_SCHEDULING,
			      "context switches of the host threads");
	if (!cost)
		return;
	f = fw_finding_add(findings, &fw_rule_host_not_running, d,
			   "The launching thread was not scheduled");
	fw_finding_cost(f, device, cost, fw_bound(ledger, device, FW_BOUND_HOST, NULL, 0, cost));
	fw_finding_evidence(findings, f, NULL, "idle while the launching thread was off its core",
			    "%s", fw_ns_text(findings, cost));
	fw_finding_change(
		findings, f,
		&(struct fw_change){ .text = "Give the process the cores that its threads need: "
					     "fewer threads a worker, fewer "
					     "workers, or a larger CPU limit.",
				     .pytorch = "torch.set_num_threads(cores // workers)  # in the "
						"loader's workers",
				     .when = "the cores are contended, or the container's CPU "
					     "limit throttles it (nr_throttled "
					     "in cpu.stat grows). One thread for everything is the "
					     "opposite mistake: it slows "
					     "transforms that need more" });
}

const struct fw_rule fw_rule_host_not_running = {
	.id = "host-not-running",
	.summary = "The launching thread was not scheduled",
	.clause = "it waited for a host thread that was not scheduled",
	.look = look,
};
