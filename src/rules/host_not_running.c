/* The thread that should launch was not scheduled: told by context-switch records only. */
#include "rules/rule.h"

extern const struct fw_rule fw_rule_host_not_running;

/* Idle time that such records could explain. */
static int64_t host_ns(const struct fw_device_ledger *device)
{
	return device->ns[FW_CLASS_HOST_OP] + device->ns[FW_CLASS_HOST_PYTHON] +
	       device->ns[FW_CLASS_HOST_UNRECORDED];
}

/* Of host-not-running the part in which the thread was ready and no core was free. */
static int64_t ready_ns(const struct fw_ledger *ledger, const struct fw_device_ledger *device)
{
	const struct fw_trace_switches *switches = &ledger->trace->switches;
	int64_t ns = 0;

	for (size_t i = 0; i < device->idle_count; i++) {
		const struct fw_idle *piece = &device->idle[i];

		if (piece->off_cpu != FW_NONE && switches->why[piece->off_cpu] == FW_OFF_RUNNABLE)
			ns += piece->end_ns - piece->start_ns;
	}
	return ns;
}

static void advise_cores(struct fw_findings *findings, struct fw_finding *f)
{
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

static void advise_waking(struct fw_findings *findings, struct fw_finding *f)
{
	fw_finding_change(findings, f,
			  &(struct fw_change){
				  .text = "The thread slept outside CUDA calls and loader waits: "
					  "find out on what. A lock, a queue, a file, the network, "
					  "another thread's work, or sleep().",
				  .pytorch = "# py-spy dump --pid PID, a few times while it runs",
				  .when = "it sleeps in every step; what it waits for then has "
					  "to be faster, or be done by another thread" });
}

static void look(const struct fw_ledger *ledger, size_t d, struct fw_findings *findings)
{
	const struct fw_device_ledger *device = &ledger->devices[d];
	int64_t window_ns = device->window.end_ns - device->window.start_ns;
	int64_t cost = device->ns[FW_CLASS_HOST_NOT_RUNNING], ready = ready_ns(ledger, device);
	struct fw_finding *f;

	if (!cost && (double)host_ns(device) >= FW_SHARE_WORTH_READING * (double)window_ns)
		fw_rule_lacks(ledger, findings, &fw_rule_host_not_running, FW_BLIND_NO_SCHEDULING,
			      "context switches of the host threads");
	if (!cost)
		return;
	f = fw_finding_add(findings, &fw_rule_host_not_running, d,
			   2 * ready >= cost ? "The launching thread was not scheduled"
					     : "The launching thread slept");
	fw_finding_cost(f, device, cost, fw_bound(ledger, device, FW_BOUND_HOST, NULL, 0, cost));
	if (ready)
		fw_finding_evidence(findings, f, NULL,
				    "idle while the launching thread was ready, but off its core",
				    "%s", fw_ns_text(findings, ready));
	if (cost > ready)
		fw_finding_evidence(findings, f, NULL, "idle while the launching thread slept",
				    "%s", fw_ns_text(findings, cost - ready));
	if (2 * ready >= cost)
		advise_cores(findings, f);
	else
		advise_waking(findings, f);
}

const struct fw_rule fw_rule_host_not_running = {
	.id = "host-not-running",
	.summary = "The launching thread was not scheduled",
	.clause = "it waited for a host thread that was not scheduled",
	.look = look,
};
