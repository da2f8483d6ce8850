#ifndef FW_TOP_EXPORTER_H
#define FW_TOP_EXPORTER_H
/* The newest OpenMetrics text over HTTP: /metrics, /healthz. */
#include "base/error.h"

#include <stdbool.h>

struct fw_exporter;

/*
 * address: "PORT" or ":PORT" (loopback), "IPv4:PORT" or "[IPv6]:PORT"; no names. Port 0: a free one,
 * which fw_exporter_port tells. stale_s: /healthz fails if the text is older.
 */
fw_status fw_exporter_open(struct fw_exporter **exporter, const char *address, double stale_s,
			   struct fw_error *err);

unsigned fw_exporter_port(const struct fw_exporter *exporter);

/* Any thread. Copies text and why; is_healthy: what /healthz says, with why where it is not. */
fw_status fw_exporter_publish(struct fw_exporter *exporter, const char *text, bool is_healthy,
			      const char *why);

void fw_exporter_close(struct fw_exporter *exporter);

#endif
