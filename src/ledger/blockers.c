/* Calls of a thread -> the places where it waits for the device. */
#include "ledger/blockers.h"

#include <stdlib.h>

static bool blocks(const struct fw_waits *waits, uint32_t call, struct fw_block *block)
{
	const struct fw_trace_calls *calls = &waits->ledger->trace->calls;
	enum fw_class class_id = fw_ledger_call_class(waits->ledger, call);
	bool elsewhere;

	block->start_ns = calls->start_ns[call];
	block->until_ns = calls->end_ns[call];
	if (class_id != FW_CLASS_SYNC)
		return class_id == FW_CLASS_BLOCKING_COPY;
	block->until_ns = fw_waits_last_end(waits, call, &elsewhere);
	return block->until_ns > block->start_ns;
}

bool fw_blockers_build(struct fw_blockers *blockers, const struct fw_waits *waits,
		       const bool *is_left_out)
{
	const struct fw_trace *t = waits->ledger->trace;
	size_t n = 0;

	blockers->list = malloc((t->calls.len + 1) * sizeof(*blockers->list));
	blockers->first_of = malloc((t->threads.len + 1) * sizeof(*blockers->first_of));
	if (!blockers->list || !blockers->first_of)
		return false;
	for (size_t i = 0; i < t->threads.len; i++) {
		const struct fw_thread_work *work = &waits->ledger->private->threads[i];

		blockers->first_of[i] = n;
		for (size_t k = 0; k < work->call_count; k++)
			if (!(is_left_out && is_left_out[work->calls[k]]) &&
			    blocks(waits, work->calls[k], &blockers->list[n]))
				n++;
	}
	blockers->first_of[t->threads.len] = n;
	return true;
}

void fw_blockers_release(struct fw_blockers *blockers)
{
	free(blockers->list);
	free(blockers->first_of);
	*blockers = (struct fw_blockers){ 0 };
}

int64_t fw_blockers_next(const struct fw_blockers *blockers, uint32_t thread, int64_t t)
{
	size_t low = blockers->first_of[thread], end = blockers->first_of[thread + 1], high = end;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (blockers->list[mid].start_ns < t)
			low = mid + 1;
		else
			high = mid;
	}
	return low < end ? blockers->list[low].until_ns : INT64_MAX;
}
