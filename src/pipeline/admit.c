/* The door of the flow: taking requests, waiting for the last answer. */
#include "pipeline/stages.h"

static bool is_answering_thread(const struct fw_flow *flow)
{
	return pthread_equal(pthread_self(), flow->answerer->thread);
}

static void enter(struct fw_flow *flow)
{
	pthread_mutex_lock(&flow->lock);
	flow->callers++;
}

/* fw_flow_destroy waits for the last one to leave. */
static void leave(struct fw_flow *flow)
{
	if (!--flow->callers)
		pthread_cond_broadcast(&flow->is_quiet);
	pthread_mutex_unlock(&flow->lock);
}

static fw_status wait_for_slot(struct fw_flow *flow, const struct fw_pipeline_request *request,
			       int64_t deadline_ns, struct fw_error *err)
{
	/* In a callback it would wait for itself. */
	bool is_waiting = request->is_waiting && !is_answering_thread(flow);

	while (!flow->is_closed && !flow->free_slots.len && is_waiting)
		is_waiting = fw_flow_wait_until(flow, &flow->slot_freed, deadline_ns);
	if (flow->is_closed)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "the pipeline is ending and takes no more images");
	if (flow->free_slots.len)
		return FW_OK;
	flow->stats.refused++;
	return fw_fail(err, FW_ERR_NOMEM, "all %u slots of the pipeline are taken: try again later",
		       flow->options.slots);
}

static void fill_slot(struct fw_flow_slot *slot, const struct fw_pipeline_request *request,
		      int64_t start_ns, int64_t deadline_ns)
{
	uint32_t *ids = slot->ids;
	float *probabilities = slot->probabilities;

	*slot = (struct fw_flow_slot){
		.request = *request,
		.stage = FW_PIPELINE_STAGE_QUEUE,
		.deadline_ns = deadline_ns,
		.entered_ns = start_ns,
		.cell = FW_NO_CELL,
		.ids = ids,
		.probabilities = probabilities,
	};
}

/* A slot's wait is a part of the stage QUEUE: its time starts when submit is called. */
fw_status fw_flow_submit(struct fw_flow *flow, const struct fw_pipeline_request *request,
			 struct fw_error *err)
{
	int64_t start = fw_flow_now_ns(), deadline = INT64_MAX;
	fw_status status;
	uint32_t used;

	if (request->timeout_ns && request->timeout_ns < INT64_MAX - start)
		deadline = start + request->timeout_ns;
	enter(flow);
	status = wait_for_slot(flow, request, deadline, err);
	if (!status) {
		uint32_t number = fw_ring_pop(&flow->free_slots);

		fill_slot(&flow->slots[number], request, start, deadline);
		fw_ring_push(&flow->to_decode, number);
		flow->upstream++;
		flow->inside++;
		flow->stats.submitted++;
		used = flow->options.slots - flow->free_slots.len;
		if (used > flow->stats.max_slots_used)
			flow->stats.max_slots_used = used;
		pthread_cond_signal(&flow->may_decode);
	}
	leave(flow);
	return status;
}

/* Under the lock. Whether nothing is inside. */
static bool wait_for_quiet(struct fw_flow *flow, int64_t timeout_ns)
{
	int64_t now = fw_flow_now_ns(), until = INT64_MAX;
	bool is_waiting = timeout_ns && !is_answering_thread(flow);

	if (timeout_ns >= 0 && timeout_ns < INT64_MAX - now)
		until = now + timeout_ns;
	while (flow->inside && is_waiting)
		is_waiting = fw_flow_wait_until(flow, &flow->is_quiet, until);
	return !flow->inside;
}

int fw_flow_wait(struct fw_flow *flow, int64_t timeout_ns)
{
	bool is_quiet;

	enter(flow);
	is_quiet = wait_for_quiet(flow, timeout_ns);
	leave(flow);
	return is_quiet;
}

void fw_flow_drain(struct fw_flow *flow)
{
	enter(flow);
	flow->is_closed = true;
	pthread_cond_broadcast(&flow->slot_freed);
	pthread_cond_broadcast(&flow->may_compute);
	wait_for_quiet(flow, -1);
	leave(flow);
}
