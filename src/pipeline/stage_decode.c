/* The decoding threads: compressed bytes into a cell. A cell is taken before a request, so that none waits half done. */
#include "pipeline/ranges.h"
#include "pipeline/stages.h"

/* Under the lock. False: the thread's end. */
static bool wait_for_request(struct fw_flow *flow)
{
	while (!flow->is_ending &&
	       !(flow->to_decode.len && (flow->free_cells.len || flow->is_cancelled)))
		pthread_cond_wait(&flow->may_decode, &flow->lock);
	return !flow->is_ending;
}

static void take_cell(struct fw_flow *flow, struct fw_flow_slot *slot)
{
	uint32_t used;

	slot->cell = fw_ring_pop(&flow->free_cells);
	used = flow->options.cells - flow->free_cells.len;
	if (used > flow->stats.max_cells_used)
		flow->stats.max_cells_used = used;
}

static fw_status decode(const struct fw_flow_thread *thread, struct fw_flow_slot *slot)
{
	const struct fw_flow *flow = thread->flow;
	const struct fw_flow_picture picture = {
		.bytes = slot->request.bytes,
		.size = slot->request.size,
		.is_tensor = slot->request.is_tensor,
		.cell = flow->cells + slot->cell * flow->options.cell_bytes,
		.cell_bytes = flow->options.cell_bytes,
		.image = &slot->image,
	};

	fw_status status;

	fw_range_push("decode");
	status = flow->work.decode(thread->decoder, &picture, &slot->err);
	fw_range_pop();
	return status;
}

void *fw_flow_decode_main(void *argument)
{
	struct fw_flow_thread *thread = argument;
	struct fw_flow *flow = thread->flow;

	pthread_mutex_lock(&flow->lock);
	while (wait_for_request(flow)) {
		uint32_t number = fw_ring_pop(&flow->to_decode);
		struct fw_flow_slot *slot = &flow->slots[number];
		int64_t now = fw_flow_now_ns();
		fw_status status;

		if (fw_flow_drop(flow, number, now))
			continue;
		take_cell(flow, slot);
		fw_flow_move(flow, slot, FW_PIPELINE_STAGE_DECODE, now);
		pthread_mutex_unlock(&flow->lock);
		status = decode(thread, slot);
		pthread_mutex_lock(&flow->lock);
		if (status) {
			fw_flow_finish(flow, number, FW_PIPELINE_FAILED);
			continue;
		}
		fw_ring_push(&flow->to_compute, number);
		fw_flow_move(flow, slot, FW_PIPELINE_STAGE_BATCH, fw_flow_now_ns());
		pthread_cond_signal(&flow->may_compute);
	}
	pthread_mutex_unlock(&flow->lock);
	return NULL;
}
