#ifndef FW_RULES_MEASURED_H
#define FW_RULES_MEASURED_H
/* What the GPU's counters measured, as evidence. */
#include "ledger/counters.h"
#include "rules/rule.h"

/* A row with the means of the device's window; none where nothing was sampled. */
void fw_measured_evidence(const struct fw_ledger *ledger, size_t device,
			  struct fw_findings *findings, struct fw_finding *finding);

/* The same of one kernel: ", measured SMs busy 51 %, warp slots 25 %"; "" without samples of its own. */
const char *fw_measured_kernel(struct fw_findings *findings, const struct fw_kernel_row *row);

/* SMs without a warp while kernels ran, as whole SMs over time: ns; -1: unknown. */
int64_t fw_measured_empty_ns(const struct fw_device_ledger *device);

#endif
