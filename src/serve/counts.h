#ifndef FW_SERVE_COUNTS_H
#define FW_SERVE_COUNTS_H
/* What the service counts of its requests, and its metrics. Any thread. */
#include "base/str.h"
#include "metrics/instruments.h"
#include "serve/endpoint.h"

#include <stdbool.h>

struct fw_service;

/* Status codes that are told apart; others count as the last. */
#define FW_COUNTED_CODES 14

struct fw_counts {
	struct fw_counter requests[FW_ENDPOINT_COUNT][FW_COUNTED_CODES];
	struct fw_histogram seconds
		[FW_ENDPOINT_COUNT]; /* from the head of a request to the end of its answer */
	struct fw_counter bytes_in, bytes_out;
	struct fw_gauge connections;
	struct fw_counter slow; /* connections closed because the client was */
};

void fw_counts_init(struct fw_counts *counts);
void fw_counts_request(struct fw_counts *counts, enum fw_endpoint endpoint, unsigned status,
		       double seconds);

/* OpenMetrics text of the counts, the pipeline, the process. */
void fw_counts_write(struct fw_service *service, struct fw_str *out);

#endif
