#ifndef FW_RULES_BEFORE_H
#define FW_RULES_BEFORE_H
/*
 * What the time of a device before its window went into: costs that are paid once and that no figure of
 * the window holds. Host times are unions over the threads of the device's processes; they may overlap
 * each other and the GPU's work.
 */
#include "rules/rule.h"

struct fw_before {
	int64_t duration_ns; /* from its first record to the window; 0: there is nothing to tell */
	int64_t gpu_busy_ns;
	bool has_calls;     /* CUDA calls are recorded: the next five are known */
	int64_t loading_ns; /* module and library loads, graph instantiation, first calls over 1 ms */
	int64_t loading_calls;
	uint32_t longest; /* row of calls, the longest of them; FW_NONE: none */
	int64_t alloc_ns; /* allocating, freeing, page-locking */
	int64_t alloc_calls;
	int64_t compile_ns, compilations; /* 0: none is recorded */
};

/* One for every device of the ledger, as findings->before. False when memory is out. */
bool fw_before_build(const struct fw_ledger *ledger, struct fw_findings *findings);

#endif
