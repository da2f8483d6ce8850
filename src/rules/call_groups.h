#ifndef FW_RULES_CALL_GROUPS_H
#define FW_RULES_CALL_GROUPS_H
/* Host calls sorted into groups that a reader knows by name, with what each group cost. */
#include "base/map.h"
#include "rules/rule.h"

/* Calls of one name under one operator, or copies of one kind; and the calls that follow from them. */
struct fw_call_group {
	uint32_t name, place; /* strings of the trace; place 0: none */
	int64_t count;
	int64_t host_ns;     /* summed time of the calls */
	int64_t bytes;       /* of copies; -1: unknown for one of them */
	int64_t gpu_ns;      /* summed time of the copies on the GPU */
	int64_t cost_ns;     /* set by fw_call_groups_rank, or by the rule */
	struct fw_vec calls; /* uint32_t */
};

/* One thread. Initialise with FW_CALL_GROUPS. */
struct fw_call_groups {
	struct fw_vec list;  /* struct fw_call_group */
	struct fw_vec calls; /* uint32_t: the calls of all groups */
	struct fw_map index;
	bool failed;
};

#define FW_CALL_GROUPS                                                                             \
	{                                                                                          \
		.list = FW_VEC(struct fw_call_group), .calls = FW_VEC(uint32_t)                    \
	}

/* The group of that name and place, created when absent; NULL when memory is out. */
struct fw_call_group *fw_call_groups_at(struct fw_call_groups *groups, uint32_t name,
					uint32_t place);
void fw_call_groups_add(struct fw_call_groups *groups, struct fw_call_group *group, uint32_t call);

/* Puts the dearest first, by cost_ns as it stands. */
void fw_call_groups_sort(struct fw_call_groups *groups);

/* Works out what each group cost and puts the dearest first; the cost of all calls together. */
int64_t fw_call_groups_rank(struct fw_call_groups *groups, const struct fw_ledger *ledger,
			    const struct fw_device_ledger *device);
void fw_call_groups_release(struct fw_call_groups *groups);

#endif
