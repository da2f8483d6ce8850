#ifndef FW_RULES_RANKS_H
#define FW_RULES_RANKS_H
/*
 * Collectives that several devices took part in, matched by name and order, and how long each device
 * waited in them, where it lies in the windows of all of them. A collective ends together everywhere, so who came last spent the shortest time in it:
 * durations tell, and clocks need not agree. Built on first use, kept with the findings.
 */
#include "rules/rule.h"

struct fw_rank {
	int64_t collectives; /* of the device that were matched */
	int64_t late;        /* in which it came last */
	int64_t waited_ns;   /* its own time in them beyond that of the last */
	int64_t caused_ns;   /* where it came last: what the others waited, on average over them */
};

struct fw_ranks {
	struct fw_rank *of_device; /* by index in ledger->devices */
	size_t devices;            /* with matched collectives */
	bool is_matched; /* at least two devices, and every name equally often on all of them */
};

/* NULL when memory is out; findings->failed is set then. */
const struct fw_ranks *fw_ranks_of(const struct fw_ledger *ledger, struct fw_findings *findings);
void fw_ranks_destroy(struct fw_ranks *ranks);

#endif
