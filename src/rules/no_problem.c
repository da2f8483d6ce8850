/* Says so when the GPU was busy and no cause of idleness costs enough to matter. Runs last. */
#include "rules/measured.h"

#include <inttypes.h>

/* The GPU counts as busy when something ran on it for at least this share of the window. */
#define BUSY_SHARE 0.8

extern const struct fw_rule fw_rule_no_problem;

static double share(const struct fw_device_ledger *device, int64_t ns)
{
	int64_t window_ns = device->window.end_ns - device->window.start_ns;

	return window_ns > 0 ? (double)ns / (double)window_ns : 0;
}

static bool has_problem(const struct fw_findings *findings, size_t device)
{
	const struct fw_finding *list = findings->list.data;

	for (size_t i = 0; i < findings->list.len; i++)
		if (list[i].device == device && (list[i].share >= FW_SHARE_PROBLEM || list[i].harm))
			return true;
	return false;
}

static enum fw_class largest_idle(const struct fw_device_ledger *device)
{
	enum fw_class best = FW_CLASS_UNKNOWN;

	for (int c = 0; c < FW_CLASS_COUNT; c++)
		if (fw_class_is_idle((enum fw_class)c) && device->ns[c] > device->ns[best])
			best = (enum fw_class)c;
	return best;
}

static bool could_look(const struct fw_findings *findings, const struct fw_rule *rule)
{
	const struct fw_unable *unable = findings->unable.data;

	for (size_t i = 0; i < findings->unable.len; i++)
		if (unable[i].id == rule->id)
			return false;
	return true;
}

/* Causes of lost time that the others looked for. */
static size_t count_checked(const struct fw_findings *findings)
{
	size_t count, checked = 0;
	const struct fw_rule *const *rules = fw_rules(&count);

	for (size_t i = 0; i < count; i++)
		if (rules[i] != &fw_rule_no_problem && !rules[i]->costs_no_time &&
		    could_look(findings, rules[i]))
			checked++;
	return checked;
}

static void add_evidence(const struct fw_ledger *ledger, const struct fw_device_ledger *device,
			 struct fw_findings *findings, struct fw_finding *f)
{
	const struct fw_unable *unable = findings->unable.data;
	enum fw_class idle = largest_idle(device);
	fw_finding_evidence(findings, f, NULL, "GPU busy", "%.1f %% of the window, kernels %.1f %%",
			    100 * share(device, device->gpu_busy_ns),
			    100 * share(device, device->kernel_busy_ns));
	fw_measured_evidence(ledger, (size_t)(device - ledger->devices), findings, f);
	if (device->ns[idle])
		fw_finding_evidence(findings, f, NULL, "largest idle class", "%s, %.1f %%",
				    fw_class_id(idle), 100 * share(device, device->ns[idle]));
	fw_finding_evidence(findings, f, NULL, "checked",
			    "%zu causes; none costs %.0f %% of the window", count_checked(findings),
			    100 * FW_SHARE_PROBLEM);
	for (size_t i = 0; i < findings->unable.len; i++)
		fw_finding_evidence(findings, f, unable[i].id, "could not look", "lacks %s",
				    unable[i].lacks);
	if (device->ns[FW_CLASS_GRAPH_OPAQUE])
		fw_finding_evidence(findings, f, fw_class_id(FW_CLASS_GRAPH_OPAQUE),
				    "could not look inside", "%.1f %% of the window",
				    100 * share(device, device->ns[FW_CLASS_GRAPH_OPAQUE]));
	if (f)
		f->blind_spots = ledger->trace->blind_spots;
}

static void look(const struct fw_ledger *ledger, size_t d, struct fw_findings *findings)
{
	const struct fw_device_ledger *device = &ledger->devices[d];
	struct fw_finding *f;

	if (has_problem(findings, d) || share(device, device->gpu_busy_ns) < BUSY_SHARE)
		return;
	f = fw_finding_add(findings, &fw_rule_no_problem, d,
			   "The GPU is kept busy; nothing outside the kernels is worth changing");
	if (f)
		f->is_all_clear = true;
	fw_finding_cost(f, device, 0, 0);
	add_evidence(ledger, device, findings, f);
	fw_finding_change(findings, f,
			  &(struct fw_change){ .text = "Busy is not full: go on with the kernels "
						       "themselves. The fill table says "
						       "how many of the SMs they can use (a "
						       "model), the kernel table where the "
						       "time goes.",
					       .when = "the program must be faster still" });
}

const struct fw_rule fw_rule_no_problem = {
	.id = "no-problem",
	.summary = "The GPU is busy and no cause of idleness matters",
	.look = look,
};
