#ifndef FW_RULES_PLACES_H
#define FW_RULES_PLACES_H
/* Where time went, by name: operators, calls, kernels. */
#include "base/map.h"
#include "rules/rule.h"

struct fw_place {
	uint32_t name; /* string of the trace */
	int64_t ns, count;
};

/* One thread. Initialise with FW_PLACES. */
struct fw_places {
	struct fw_vec list; /* struct fw_place */
	struct fw_map index;
	bool failed;
};

#define FW_PLACES                                                                                  \
	{                                                                                          \
		.list = FW_VEC(struct fw_place)                                                    \
	}

void fw_places_add(struct fw_places *places, uint32_t name, int64_t ns);

/*
 * Adds the longest `most` places to the finding as evidence: label, time, share of the window, count;
 * kernel names in readable form. Then empties them.
 */
void fw_places_report(struct fw_places *places, const struct fw_ledger *ledger,
		      struct fw_findings *findings, struct fw_finding *finding, const char *label);

void fw_places_release(struct fw_places *places);

/* Idle time of one class of a device by the name of what owned it (for LAUNCH_LATENCY: the kernel). */
void fw_places_of_class(struct fw_places *places, const struct fw_ledger *ledger,
			const struct fw_device_ledger *device, enum fw_class c);

#endif
