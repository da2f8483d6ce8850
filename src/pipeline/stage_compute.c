/*
 * The workers: each takes a batch of what is decoded and computes it with its own instance of the network. A worker that
 * is free takes what is there (or waits max_delay for more): batches form while all workers are busy.
 */
#include "pipeline/ranges.h"
#include "pipeline/stages.h"

/* When a worker takes what there is. Under the lock; there is something. */
static int64_t launch_at(const struct fw_flow *flow)
{
	const struct fw_flow_options *options = &flow->options;

	if (flow->to_compute.len >= options->sizes[options->n_sizes - 1] || flow->is_cancelled ||
	    (flow->is_closed && !flow->upstream))
		return INT64_MIN;
	return flow->slots[fw_ring_first(&flow->to_compute)].entered_ns + options->max_delay_ns;
}

/* Under the lock. False: the thread's end. */
static bool wait_for_batch(struct fw_flow *flow)
{
	while (!flow->is_ending) {
		int64_t at = INT64_MAX;

		if (flow->to_compute.len) {
			at = launch_at(flow);
			if (at <= fw_flow_now_ns())
				return true;
		}
		fw_flow_wait_until(flow, &flow->may_compute, at);
	}
	return false;
}

/* Under the lock. The images of a batch, as many as there are; 0: all of them were dropped. */
static uint32_t take_batch(struct fw_flow *flow, struct fw_flow_thread *thread)
{
	const struct fw_flow_options *options = &flow->options;
	uint32_t most = options->sizes[options->n_sizes - 1], n = 0, i = 0;
	int64_t now = fw_flow_now_ns();

	while (flow->to_compute.len && n < most) {
		uint32_t number = fw_ring_pop(&flow->to_compute);
		struct fw_flow_slot *slot = &flow->slots[number];

		if (fw_flow_drop(flow, number, now))
			continue;
		fw_flow_move(flow, slot, FW_PIPELINE_STAGE_COMPUTE, now);
		thread->slots[n] = number;
		thread->batch.items[n++] = (struct fw_flow_item){
			.cell = flow->cells + slot->cell * options->cell_bytes,
			.image = &slot->image,
			.ids = slot->ids,
			.probabilities = slot->probabilities,
			.err = &slot->err,
		};
	}
	if (flow->to_compute.len) /* for another worker */
		pthread_cond_signal(&flow->may_compute);
	if (!n)
		return 0;
	while (options->sizes[i] < n)
		i++;
	thread->batch.n = n;
	thread->batch.size = options->sizes[i];
	flow->stats.batches[n]++;
	flow->stats.padded += thread->batch.size - n;
	return n;
}

/* Under the lock. */
static void finish_batch(struct fw_flow *flow, const struct fw_flow_thread *thread,
			 fw_status status, const struct fw_error *err)
{
	for (uint32_t i = 0; i < thread->batch.n; i++) {
		const struct fw_flow_item *item = &thread->batch.items[i];
		struct fw_flow_slot *slot = &flow->slots[thread->slots[i]];
		bool is_failed = status || item->status;

		if (status)
			slot->err = *err;
		slot->batch = thread->batch.n;
		slot->count = is_failed ? 0 : item->count;
		fw_flow_finish(flow, thread->slots[i],
			       is_failed ? FW_PIPELINE_FAILED : FW_PIPELINE_CLASSIFIED);
	}
}

static void warm_up(struct fw_flow_thread *thread)
{
	struct fw_flow *flow = thread->flow;
	struct fw_error err = { .code = FW_OK };
	fw_status status = FW_OK;

	if (flow->work.warm_up)
		status = flow->work.warm_up(thread->worker, &err);
	pthread_mutex_lock(&flow->lock);
	flow->warm++;
	if (status && !flow->warm_status) {
		flow->warm_status = status;
		flow->warm_err = err;
	}
	pthread_cond_signal(&flow->is_warmer);
	pthread_mutex_unlock(&flow->lock);
}

void *fw_flow_compute_main(void *argument)
{
	struct fw_flow_thread *thread = argument;
	struct fw_flow *flow = thread->flow;

	warm_up(thread);
	pthread_mutex_lock(&flow->lock);
	while (wait_for_batch(flow)) {
		struct fw_error err = { .code = FW_OK };
		fw_status status;

		if (!take_batch(flow, thread))
			continue;
		pthread_mutex_unlock(&flow->lock);
		fw_range_push("compute");
		status = flow->work.compute(thread->worker, &thread->batch, &err);
		fw_range_pop();
		pthread_mutex_lock(&flow->lock);
		finish_batch(flow, thread, status, &err);
	}
	pthread_mutex_unlock(&flow->lock);
	return NULL;
}
