/* The thread that calls the callbacks, one after the other. A slot is free again before its callback is called. */
#include "pipeline/ranges.h"
#include "pipeline/stages.h"

#include <string.h>

/* Where the answers to the callbacks lie: behind the slots'. */
static void copy_classes(struct fw_flow *flow, struct fw_flow_slot *slot)
{
	size_t top = flow->options.top, at = top * flow->options.slots;

	memcpy(flow->ids + at, slot->ids, slot->count * sizeof(*slot->ids));
	memcpy(flow->probabilities + at, slot->probabilities,
	       slot->count * sizeof(*slot->probabilities));
	slot->ids = flow->ids + at;
	slot->probabilities = flow->probabilities + at;
}

static void call(const struct fw_flow_slot *slot)
{
	bool is_classified = slot->outcome == FW_PIPELINE_CLASSIFIED;
	struct fw_pipeline_answer answer = {
		.struct_size = sizeof(answer),
		.outcome = slot->outcome,
		.count = slot->count,
		.ids = slot->ids,
		.probabilities = slot->probabilities,
		.error = is_classified ? NULL : &slot->err,
		.failed = slot->failed,
		.batch = slot->batch,
	};

	memcpy(answer.stage_ns, slot->stage_ns, sizeof(answer.stage_ns));
	fw_range_push("answer");
	slot->request.callback(slot->request.user, &answer);
	fw_range_pop();
}

void *fw_flow_answer_main(void *argument)
{
	struct fw_flow_thread *thread = argument;
	struct fw_flow *flow = thread->flow;
	struct fw_flow_slot slot;

	pthread_mutex_lock(&flow->lock);
	for (;;) {
		uint32_t number;

		while (!flow->is_ending && !flow->to_answer.len)
			pthread_cond_wait(&flow->may_answer, &flow->lock);
		if (flow->is_ending)
			break;
		number = fw_ring_pop(&flow->to_answer);
		fw_flow_count_answer(flow, &flow->slots[number]);
		slot = flow->slots[number];
		copy_classes(flow, &slot);
		fw_ring_push(&flow->free_slots, number);
		pthread_cond_signal(&flow->slot_freed);
		pthread_mutex_unlock(&flow->lock);
		call(&slot);
		pthread_mutex_lock(&flow->lock);
		flow->stats.answered++;
		if (!--flow->inside)
			pthread_cond_broadcast(&flow->is_quiet);
	}
	pthread_mutex_unlock(&flow->lock);
	return NULL;
}
