/* One sentence from the ledger and the findings, for the head of a report. */
#include "rules/rule.h"

/* A second cause is named when it costs at least this share of the window. */
#define SECOND_SHARE 0.1

static double busy_share(const struct fw_device_ledger *device)
{
	int64_t window_ns = device->window.end_ns - device->window.start_ns;

	return window_ns > 0 ? (double)device->kernel_busy_ns / (double)window_ns : 0;
}

/* Idle time that no rule can explain, as a share: no launch call, or waiting on the device's side. */
static double unexplained_share(const struct fw_device_ledger *device, enum fw_class *most)
{
	int64_t window_ns = device->window.end_ns - device->window.start_ns;

	*most = device->ns[FW_CLASS_UNKNOWN] >= device->ns[FW_CLASS_DEVICE_WAIT]
			? FW_CLASS_UNKNOWN
			: FW_CLASS_DEVICE_WAIT;
	return window_ns > 0 ? (double)device->ns[*most] / (double)window_ns : 0;
}

/* What a change can gain ranks causes here: a wait that hides nothing is no cause, however long. */
static int64_t weight(const struct fw_finding *finding)
{
	return finding->at_most_ns >= 0 ? finding->at_most_ns : finding->cost_ns;
}

/* The two findings of a device that weigh most and have something to say in a verdict; NULL: none. */
static void weightiest(const struct fw_findings *findings, size_t device,
		       const struct fw_finding **two)
{
	const struct fw_finding *list = findings->list.data;

	two[0] = two[1] = NULL;
	for (size_t i = 0; i < findings->list.len; i++) {
		const struct fw_finding *f = &list[i];

		if (f->device != device || !f->clause || weight(f) <= 0)
			continue;
		if (!two[0] || weight(f) > weight(two[0])) {
			two[1] = two[0];
			two[0] = f;
		} else if (!two[1] || weight(f) > weight(two[1])) {
			two[1] = f;
		}
	}
}

/* "it waited for the data loader 71 % of the time" and its like, for one device. */
static const char *cause(const struct fw_ledger *ledger, struct fw_findings *findings, size_t d)
{
	const struct fw_device_ledger *device = &ledger->devices[d];
	const struct fw_finding *two[2];
	enum fw_class most;
	double unexplained = unexplained_share(device, &most);

	weightiest(findings, d, two);
	if (unexplained >= FW_SHARE_PROBLEM && (!two[0] || two[0]->share < unexplained))
		return fw_finding_text(
			findings,
			most == FW_CLASS_UNKNOWN
				? "the trace does not show why it was idle %.0f %% of the "
				  "time"
				: "queued work waited on the device side %.0f %% of the time",
			100 * unexplained);
	if (!two[0] || two[0]->share < FW_SHARE_PROBLEM)
		return fw_finding_text(findings, "no single cause costs %.0f %% of it",
				       100 * FW_SHARE_PROBLEM);
	if (two[1] && two[1]->share >= SECOND_SHARE)
		return fw_finding_text(findings, "%s %.0f %% of the time, and %s %.0f %%",
				       two[0]->clause, 100 * two[0]->share, two[1]->clause,
				       100 * two[1]->share);
	return fw_finding_text(findings, "%s %.0f %% of the time", two[0]->clause,
			       100 * two[0]->share);
}

/* A finding of unknown cost: work that the trace does not show makes 'busy' a least figure. */
static bool is_blind(const struct fw_findings *findings)
{
	const struct fw_finding *list = findings->list.data;

	for (size_t i = 0; i < findings->list.len; i++)
		if (list[i].cost_ns < 0)
			return true;
	return false;
}

const char *fw_verdict(const struct fw_ledger *ledger, struct fw_findings *findings)
{
	double least = 1, most = 0;
	const char *text;
	size_t idlest = 0;

	if (!ledger->device_count)
		return "The trace shows no work on a GPU.";
	for (size_t d = 0; d < ledger->device_count; d++) {
		double busy = busy_share(&ledger->devices[d]);

		if (busy < least) {
			least = busy;
			idlest = d;
		}
		if (busy > most)
			most = busy;
	}
	if (ledger->device_count == 1)
		text = fw_finding_text(findings, "The GPU was busy %.0f %% of the window; %s.",
				       100 * most, cause(ledger, findings, 0));
	else
		text = fw_finding_text(
			findings,
			"The %zu GPUs were busy %.0f to %.0f %% of the window; the least "
			"busy one: %s.",
			ledger->device_count, 100 * least, 100 * most,
			cause(ledger, findings, idlest));
	if (is_blind(findings))
		text = fw_finding_text(findings, "%s Work ran that the trace does not show.", text);
	return findings->failed ? NULL : text;
}
