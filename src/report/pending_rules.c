/* Stands in for layers that are on their way: gives way to them (weak), and goes when they are in. */
#include "report/report.h"

__attribute__((weak)) fw_status fw_findings_build(const struct fw_ledger *ledger,
						  struct fw_findings *findings,
						  struct fw_error *err)
{
	(void)ledger;
	(void)err;
	*findings = (struct fw_findings){ .list = FW_VEC(struct fw_finding),
					  .unable = FW_VEC(struct fw_unable) };
	return FW_OK;
}

__attribute__((weak)) void fw_findings_release(struct fw_findings *findings)
{
	(void)findings;
}

__attribute__((weak)) const char *fw_verdict(const struct fw_ledger *ledger,
					     struct fw_findings *findings)
{
	(void)ledger;
	(void)findings;
	return "The causes are not ranked in this build.";
}
