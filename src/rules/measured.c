#include "rules/measured.h"

#include <inttypes.h>

/* Fewer samples are a glimpse of a kernel, not a figure. */
#define KERNEL_SAMPLES 3

/* Little is not nothing. */
static const char *percent(struct fw_findings *findings, double value)
{
	return value > 0 && value < 0.05 ? "<0.1 %" : fw_finding_text(findings, "%.1f %%", value);
}

void fw_measured_evidence(const struct fw_ledger *ledger, size_t device,
			  struct fw_findings *findings, struct fw_finding *finding)
{
	const struct fw_device_ledger *d = &ledger->devices[device];
	const char *text = "", *label;
	double busy = fw_counter_while_busy(d, FW_COUNTER_SM_BUSY);

	if (!d->measured[FW_COUNTER_SM_BUSY].samples)
		return;
	for (unsigned c = 0; c < FW_COUNTER_COUNT; c++) {
		if (!d->measured[c].samples)
			continue;
		text = fw_finding_text(findings, "%s%s%s %s", text, *text ? ", " : "",
				       fw_counter_text((enum fw_counter)c),
				       percent(findings, d->measured[c].value));
		if (c == FW_COUNTER_SM_BUSY && busy >= 0)
			text = fw_finding_text(findings, "%s (%s while kernels ran)", text,
					       percent(findings, busy));
	}
	label = fw_finding_text(findings, "measured (%s, %" PRId64 " samples)",
				fw_counters_are_fine(ledger, d) ? "PM sampling" : "GPM",
				d->measured[FW_COUNTER_SM_BUSY].samples);
	fw_finding_evidence(findings, finding, NULL, label, "%s", text);
}

const char *fw_measured_kernel(struct fw_findings *findings, const struct fw_kernel_row *row)
{
	const struct fw_counter_mean *sm = &row->measured[FW_COUNTER_SM_BUSY];
	const struct fw_counter_mean *warps = &row->measured[FW_COUNTER_WARPS];

	if (sm->samples < KERNEL_SAMPLES || warps->samples < KERNEL_SAMPLES)
		return "";
	return fw_finding_text(findings, ", measured SMs busy %s, warp slots %s",
			       percent(findings, sm->value), percent(findings, warps->value));
}

int64_t fw_measured_empty_ns(const struct fw_device_ledger *device)
{
	double busy = fw_counter_while_busy(device, FW_COUNTER_SM_BUSY);

	if (busy < 0)
		return -1;
	return (int64_t)((double)device->kernel_busy_ns * (100 - busy) / 100);
}
