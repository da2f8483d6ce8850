#ifndef FW_RULES_STEPS_H
#define FW_RULES_STEPS_H
/* The steps of a device's program on the host: where each begins, from the marks of its processes. */
#include "rules/host.h"

struct fw_step {
	int64_t start_ns, end_ns; /* to the start of the next one */
};

/*
 * Steps inside the device's window, from step annotations, else from loader waits (one a step), of the
 * process that has most; in order of time. *is_annotated tells which. False when memory is out.
 */
bool fw_steps_of(const struct fw_ledger *ledger, size_t device, const struct fw_host *host,
		 struct fw_vec *steps, bool *is_annotated);

#endif
