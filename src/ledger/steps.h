#ifndef FW_LEDGER_STEPS_H
#define FW_LEDGER_STEPS_H
/* The steps of a process, found from its annotations or from the sequence of its kernels. */
#include "ledger/build.h"

/* Operations of one process on one device, by time of launch. */
struct fw_launches {
	const struct fw_build *b;
	const uint32_t *ops;
	size_t len;
	uint32_t
		process; /* FW_NONE: all operations, whoever launched them; their starts stand in */
};

/* A step lasts from one launch time to another; steps come in order and do not overlap. */
struct fw_step {
	int64_t start_ns, end_ns;
};

struct fw_steps {
	struct fw_vec steps; /* struct fw_step */
	bool has_more;       /* work of a step that is not whole follows the last one */
};

static inline int64_t fw_launch_ns(const struct fw_launches *l, size_t i)
{
	const struct fw_trace *t = l->b->trace;

	if (l->process == FW_NONE)
		return t->ops.start_ns[l->ops[i]];
	return t->calls.start_ns[l->b->call_of_op[l->ops[i]]];
}

/* Room for one number a string, all 0 between calls. */
struct fw_name_counts {
	uint32_t *wanted, *seen;
};

/* Adds the steps found in the repeating sequence of kernel names, if any. False: memory is out. */
bool fw_find_pattern(const struct fw_launches *launches, struct fw_name_counts *counts,
		     struct fw_steps *out);

#endif
