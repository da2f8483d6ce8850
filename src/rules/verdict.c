/* One sentence from the ledger and the findings, for the head of a report. */
#include "rules/rule.h"

#include <inttypes.h>
#include <string.h>

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

/* Whether the device's file names no other one. */
static bool is_alone(const struct fw_ledger *ledger, size_t device)
{
	const uint32_t *file = ledger->trace->devices.file;

	for (size_t d = 0; d < ledger->device_count; d++)
		if (d != device &&
		    file[ledger->devices[d].device] == file[ledger->devices[device].device])
			return false;
	return true;
}

/* What weighs most on a device: up to two findings, or else time that no rule explains. */
struct cause {
	const struct fw_finding *two[2];
	enum fw_class unexplained; /* FW_CLASS_COUNT: the findings explain more */
	double share;              /* of what stands first; 0: nothing costs enough to be named */
};

static struct cause find_cause(const struct fw_ledger *ledger, const struct fw_findings *findings,
			       size_t d)
{
	struct cause cause = { .unexplained = FW_CLASS_COUNT };
	enum fw_class most;
	double unexplained = unexplained_share(&ledger->devices[d], &most);

	weightiest(findings, d, cause.two);
	if (unexplained >= FW_SHARE_PROBLEM &&
	    (!cause.two[0] || cause.two[0]->share < unexplained)) {
		cause.unexplained = most;
		cause.share = unexplained;
	} else if (cause.two[0] && cause.two[0]->share >= FW_SHARE_PROBLEM) {
		cause.share = cause.two[0]->share;
	}
	return cause;
}

const char *fw_top_cause(const struct fw_ledger *ledger, const struct fw_findings *findings,
			 size_t device, double *share)
{
	struct cause cause = find_cause(ledger, findings, device);

	*share = cause.share;
	if (cause.unexplained != FW_CLASS_COUNT)
		return fw_class_id(cause.unexplained);
	return cause.share > 0 ? cause.two[0]->id : NULL;
}

/* "it waited for the data loader 71 % of the time" and its like, for one device. */
static const char *tell_cause(const struct fw_ledger *ledger, struct fw_findings *findings,
			      size_t d)
{
	struct cause cause = find_cause(ledger, findings, d);
	const struct fw_finding *const *two = cause.two;

	if (cause.unexplained != FW_CLASS_COUNT)
		return fw_finding_text(
			findings,
			cause.unexplained == FW_CLASS_UNKNOWN
				? "the trace does not show why it was idle %.0f %% of the "
				  "time"
				: "queued work waited on the device side %.0f %% of the time",
			100 * cause.share);
	if (cause.share <= 0)
		return fw_finding_text(findings, "no single cause costs %.0f %% of it",
				       100 * FW_SHARE_PROBLEM);
	if (two[1] && two[1]->share >= FW_SHARE_SECOND)
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
		if (list[i].cost_ns < 0 && !list[i].harm)
			return true;
	return false;
}

/* "rank 3"; "GPU 1 of FILE" where no rank is recorded. */
static const char *device_name(const struct fw_ledger *ledger, struct fw_findings *findings,
			       size_t device)
{
	const struct fw_trace *trace = ledger->trace;
	uint32_t row = ledger->devices[device].device, file = trace->devices.file[row];
	const char *path = fw_trace_text(trace, trace->files.path[file]);
	const char *slash = strrchr(path, '/');
	const char *rank = "";

	if (trace->files.rank[file] >= 0)
		rank = fw_finding_text(findings, "rank %" PRId32, trace->files.rank[file]);
	if (*rank && is_alone(ledger, device))
		return rank;
	return fw_finding_text(findings, "GPU %" PRId64 " of %s", trace->devices.id[row],
			       *rank ? rank : (slash && slash[1] ? slash + 1 : path));
}

/* A share in percent; what is there is not rounded to nothing. */
static const char *percent(struct fw_findings *findings, double share)
{
	if (share > 0 && share < 0.005)
		return "under 1";
	return fw_finding_text(findings, "%.0f", 100 * share);
}

/* "24 %", or "24 to 26 %" where rounding leaves a difference. */
static const char *range(struct fw_findings *findings, double least, double most)
{
	const char *low = percent(findings, least);
	const char *high = percent(findings, most);

	return strcmp(low, high) ? fw_finding_text(findings, "%s to %s %%", low, high)
				 : fw_finding_text(findings, "%s %%", high);
}

static const char *tell_several(const struct fw_ledger *ledger, struct fw_findings *findings)
{
	double least = 2, most = 0;
	size_t idlest = 0;

	for (size_t d = 0; d < ledger->device_count; d++) {
		double busy = busy_share(&ledger->devices[d]);

		if (busy < least) {
			least = busy;
			idlest = d;
		}
		most = busy > most ? busy : most;
	}
	return fw_finding_text(
		findings, "The %zu GPUs were busy %s of their windows. The least busy, %s: %s.",
		ledger->device_count, range(findings, least, most),
		device_name(ledger, findings, idlest), tell_cause(ledger, findings, idlest));
}

const char *fw_verdict(const struct fw_ledger *ledger, struct fw_findings *findings)
{
	const char *text;

	if (!ledger->device_count)
		return "The trace shows no work on a GPU.";
	if (ledger->device_count == 1)
		text = fw_finding_text(findings, "The GPU was busy %s %% of the window; %s.",
				       percent(findings, busy_share(&ledger->devices[0])),
				       tell_cause(ledger, findings, 0));
	else
		text = tell_several(ledger, findings);
	if (is_blind(findings))
		text = fw_finding_text(findings, "%s Work ran that the trace does not show.", text);
	return findings->failed ? NULL : text;
}
