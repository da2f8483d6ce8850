#ifndef FW_REPORT_COUNTERS_JSON_H
#define FW_REPORT_COUNTERS_JSON_H
/* The member "counters" of a device in the JSON report. */
#include "base/json_writer.h"
#include "report/report.h"

void fw_json_counters(struct fw_json *json, const struct fw_report *report, size_t device);

#endif
