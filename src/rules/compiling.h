#ifndef FW_RULES_COMPILING_H
#define FW_RULES_COMPILING_H
/* Host time in which the framework compiled. */
#include "ledger/intervals.h"
#include "rules/host.h"

/*
 * Adds the ranges in which the framework compiled, of the device's processes, that begin before end_ns
 * (merged), and counts the compilations. False when memory is out.
 */
bool fw_compiling(const struct fw_ledger *ledger, const struct fw_host *host, size_t device,
		  int64_t end_ns, struct fw_intervals *set, int64_t *compilations);

#endif
