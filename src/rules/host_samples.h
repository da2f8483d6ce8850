#ifndef FW_RULES_HOST_SAMPLES_H
#define FW_RULES_HOST_SAMPLES_H
/*
 * Where the samples of memory are: those of each process and of each recorder's machine, and who started whom.
 * Built on first use, kept with the findings.
 */
#include "rules/rule.h"

struct fw_host_samples {
	uint32_t *
		rows; /* of host_samples, by process, then by file of the machine's; each in order of time */
	size_t *first; /* in rows, of each process, then of each file; one more */
	size_t processes;
	uint32_t *file; /* of each process: the file with its samples; FW_NONE: there are none */
	uint32_t *child,
		*next; /* its first child and its next sibling, as rows of processes + 1; 0: none */
};

/* NULL when memory is out; findings->failed is set then. */
const struct fw_host_samples *fw_host_samples_of(const struct fw_trace *trace,
						 struct fw_findings *findings);
void fw_host_samples_destroy(struct fw_host_samples *samples);

#endif
