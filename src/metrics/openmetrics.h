#ifndef FW_METRICS_OPENMETRICS_H
#define FW_METRICS_OPENMETRICS_H
/* Values to OpenMetrics 1.0 text, which Prometheus scrapes. */
#include "base/str.h"
#include "metrics/instruments.h"

#include <stdbool.h>

#define FW_OPENMETRICS_CONTENT_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

enum fw_metric_type { FW_METRIC_GAUGE, FW_METRIC_COUNTER, FW_METRIC_HISTOGRAM, FW_METRIC_INFO };

/* Constant texts of the program: name and unit hold [a-z0-9_], and the name ends in "_" unit. */
struct fw_metric_family {
	const char *name; /* without _total and _info, which the writer adds */
	enum fw_metric_type type;
	const char *unit; /* NULL: none */
	const char *help;
};

/* The value may hold any bytes: what is not UTF-8 becomes U+FFFD. */
struct fw_metric_label {
	const char *name, *value;
};

/* One thread. Initialise with {.out = &str}; failures of memory are those of out. */
struct fw_openmetrics {
	struct fw_str *out;
	const struct fw_metric_family *family;
};

/* Begins a family: its samples follow, and those of no other. Each family once a text. */
void fw_openmetrics_family(struct fw_openmetrics *writer, const struct fw_metric_family *family);

/* A sample of a gauge or counter; of an info, pass 1. Each set of labels once a family. */
void fw_openmetrics_value(struct fw_openmetrics *writer, const struct fw_metric_label *labels,
			  size_t count, double value);

/* A counter's sample to the last digit. */
void fw_openmetrics_count(struct fw_openmetrics *writer, const struct fw_metric_label *labels,
			  size_t count, uint64_t value);

/* Buckets, count and sum; the buckets and the count agree whatever other threads do meanwhile. */
void fw_openmetrics_histogram(struct fw_openmetrics *writer, const struct fw_metric_label *labels,
			      size_t count, const struct fw_histogram *histogram);

/* Ends the text. */
void fw_openmetrics_end(struct fw_openmetrics *writer);

#endif
