#ifndef FW_TOP_METRICS_H
#define FW_TOP_METRICS_H
#include "base/str.h"
#include "top/model.h"

/* The model as OpenMetrics text. hostname labels each sample as dcgm-exporter's "Hostname" does. */
void fw_top_metrics(struct fw_str *out, const struct fw_top *top, const char *hostname);

#endif
