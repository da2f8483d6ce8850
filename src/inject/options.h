#ifndef FW_INJECT_OPTIONS_H
#define FW_INJECT_OPTIONS_H
/* What the environment asks for: see trace/recording_control.h. Read once, when the library starts. */
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/recording_control.h"

#define FW_INJECT_TEXT_BYTES (FW_REC_KERNELS_BYTES + 1)

struct fw_inject_options {
	char dir[PATH_MAX]; /* absolute; "": nothing is recorded */
	bool graph_nodes;
	bool syncs;                         /* synchronisation and event records */
	bool is_ranged;                     /* only between cudaProfilerStart and Stop */
	uint64_t max_bytes;                 /* of the file; 0: no limit */
	char kernels[FW_INJECT_TEXT_BYTES]; /* "": all are named */

	/* For tests and measurements; no promise to users. */
	unsigned buffers;        /* inject_buffers: how many CUPTI may hold */
	size_t buffer_bytes;     /* inject_buffer_bytes: the largest that is handed out */
	size_t buffer_bytes_min; /* inject_buffer_bytes_min: at low rates */
	unsigned flush_ms;       /* inject_flush_ms; 0: never but at the end */
	unsigned period_ms;      /* inject_period_ms: of CUPTI's own worker; 0: as CUPTI thinks */
	bool flush_forced;       /* inject_flush_forced=1: also what is not complete */
	char without[FW_INJECT_TEXT_BYTES]; /* inject_without: kinds not asked for, "module,sync" */
};

/* Texts may be NULL. What is not understood is left out, as if it had not been said. */
void fw_inject_options_parse(struct fw_inject_options *options, const char *dir, const char *text);

/* Whether inject_without names the kind. */
bool fw_inject_is_without(const struct fw_inject_options *options, const char *kind);

#endif
