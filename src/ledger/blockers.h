#ifndef FW_LEDGER_BLOCKERS_H
#define FW_LEDGER_BLOCKERS_H
/*
 * Where host threads are blocked by copies and by synchronisations that waited for the device in fact:
 * a lead that the host had before is gone there. Read-only once built.
 */
#include "ledger/waits.h"

struct fw_block {
	int64_t start_ns; /* of the call */
	int64_t until_ns; /* a lead from before it shortens no gap after this */
};

struct fw_blockers {
	struct fw_block *list; /* by thread, then start */
	size_t *first_of;      /* by thread; one past the last thread */
};

/*
 * is_left_out: by call, those to leave out; NULL: none. False when memory is out; fw_blockers_release
 * is due in both cases.
 */
bool fw_blockers_build(struct fw_blockers *blockers, const struct fw_waits *waits,
		       const bool *is_left_out);
void fw_blockers_release(struct fw_blockers *blockers);

/* Until when the thread is blocked by the first such call that begins at or after t; INT64_MAX: none. */
int64_t fw_blockers_next(const struct fw_blockers *blockers, uint32_t thread, int64_t t);

#endif
