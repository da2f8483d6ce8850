#ifndef FW_REPORT_REPORT_H
#define FW_REPORT_REPORT_H
/* Findings out: what the writers of the report share. Nothing here prints; text goes into a fw_str. */
#include "fullwarp/report.h"
#include "base/str.h"
#include "ledger/ledger.h"
#include "rules/rule.h"

/* Immutable after fw_report_open. */
struct fw_report {
	struct fw_trace *trace;
	struct fw_ledger *ledger;
	struct fw_findings findings;
	const char *verdict; /* one sentence; lives in findings */
};

#define FW_FORMAT(name)                                                                            \
	void fw_write_##name(const struct fw_report *report, const struct fw_report_style *style,  \
			     struct fw_str *out);
#include "report/formats.def"
#undef FW_FORMAT
void fw_write_explanation(const struct fw_report_style *style, struct fw_str *out);

#endif
