/* How a request goes from stage to stage, and what is counted on the way. */
#include "pipeline/stages.h"

#include <errno.h>
#include <time.h>

int64_t fw_flow_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bool fw_flow_wait_until(struct fw_flow *flow, pthread_cond_t *cond, int64_t until_ns)
{
	struct timespec t = { .tv_sec = (time_t)(until_ns / 1000000000),
			      .tv_nsec = (long)(until_ns % 1000000000) };

	if (until_ns == INT64_MAX) {
		pthread_cond_wait(cond, &flow->lock);
		return true;
	}
	return pthread_cond_timedwait(cond, &flow->lock, &t) != ETIMEDOUT;
}

static uint32_t bucket_of(int64_t ns)
{
	uint32_t bucket = 0;

	while (bucket < FW_PIPELINE_BUCKETS - 1 && ns >= (INT64_C(1000) << bucket))
		bucket++;
	return bucket;
}

/* The time in the stage that it is in, up to now. */
static void count_stage(struct fw_flow *flow, struct fw_flow_slot *slot, int64_t now_ns)
{
	struct fw_pipeline_stage_stats *stats = &flow->stats.stages[slot->stage];
	int64_t ns = now_ns - slot->entered_ns;

	slot->stage_ns[slot->stage] = ns;
	stats->count++;
	stats->total_ns += ns;
	if (ns > stats->max_ns)
		stats->max_ns = ns;
	stats->buckets[bucket_of(ns)]++;
}

void fw_flow_move(struct fw_flow *flow, struct fw_flow_slot *slot, enum fw_pipeline_stage stage,
		  int64_t now_ns)
{
	count_stage(flow, slot, now_ns);
	if (slot->stage < FW_PIPELINE_STAGE_BATCH && stage >= FW_PIPELINE_STAGE_BATCH &&
	    !--flow->upstream)
		pthread_cond_broadcast(&flow->may_compute); /* no batch fills up any more */
	slot->stage = stage;
	slot->entered_ns = now_ns;
}

void fw_flow_finish(struct fw_flow *flow, uint32_t number, enum fw_pipeline_outcome outcome)
{
	struct fw_flow_slot *slot = &flow->slots[number];
	struct fw_pipeline_stage_stats *stats = &flow->stats.stages[slot->stage];

	slot->outcome = outcome;
	slot->failed = slot->stage;
	if (outcome == FW_PIPELINE_FAILED)
		stats->failed++;
	else if (outcome == FW_PIPELINE_EXPIRED)
		stats->expired++;
	else if (outcome == FW_PIPELINE_CANCELLED)
		stats->cancelled++;
	if (slot->cell != FW_NO_CELL) {
		fw_ring_push(&flow->free_cells, slot->cell);
		slot->cell = FW_NO_CELL;
		pthread_cond_signal(&flow->may_decode);
	}
	fw_flow_move(flow, slot, FW_PIPELINE_STAGE_ANSWER, fw_flow_now_ns());
	fw_ring_push(&flow->to_answer, number);
	pthread_cond_signal(&flow->may_answer);
}

bool fw_flow_drop(struct fw_flow *flow, uint32_t number, int64_t now_ns)
{
	struct fw_flow_slot *slot = &flow->slots[number];

	if (flow->is_cancelled) {
		fw_fail(&slot->err, FW_ERR_UNSUPPORTED,
			"cancelled: the pipeline was destroyed before this image was done");
		fw_flow_finish(flow, number, FW_PIPELINE_CANCELLED);
		return true;
	}
	if (now_ns < slot->deadline_ns)
		return false;
	fw_fail(&slot->err, FW_ERR_UNSUPPORTED,
		"its time of %lld ms was over before it was %s: the pipeline has more work than it "
		"can do",
		(long long)(slot->request.timeout_ns / 1000000),
		slot->stage == FW_PIPELINE_STAGE_QUEUE ? "decoded" : "computed");
	fw_flow_finish(flow, number, FW_PIPELINE_EXPIRED);
	return true;
}

void fw_flow_count_answer(struct fw_flow *flow, struct fw_flow_slot *slot)
{
	count_stage(flow, slot, fw_flow_now_ns());
	flow->stats.outcomes[slot->outcome]++;
}
