/* A flow from its allocation to its end. */
#include "pipeline/flow.h"
#include "pipeline/stages.h"

#include <stdlib.h>
#include <string.h>

static size_t cells_bytes(const struct fw_flow_options *o)
{
	return o->cells * o->cell_bytes;
}

static fw_status take_cells(struct fw_flow *flow, struct fw_error *err)
{
	size_t bytes = cells_bytes(&flow->options);
	void *memory = NULL;
	fw_status status = FW_OK;

	if (flow->work.cells_take)
		status = flow->work.cells_take(flow->work.user, bytes, &memory, err);
	else if (!(memory = malloc(bytes)))
		status = fw_fail_nomem(err, bytes);
	if (status)
		return status;
	flow->cells = memory;
	memset(flow->cells, 0, bytes); /* the pages are taken now, not by the first images */
	flow->stats.cell_bytes = bytes;
	return FW_OK;
}

static void give_cells(struct fw_flow *flow)
{
	if (flow->cells && flow->work.cells_give)
		flow->work.cells_give(flow->work.user, flow->cells, cells_bytes(&flow->options));
	else
		free(flow->cells);
}

static void release_memory(struct fw_flow *flow)
{
	fw_ring_release(&flow->free_slots);
	fw_ring_release(&flow->free_cells);
	fw_ring_release(&flow->to_decode);
	fw_ring_release(&flow->to_compute);
	fw_ring_release(&flow->to_answer);
	free(flow->slots);
	free(flow->ids);
	free(flow->probabilities);
	give_cells(flow);
	free(flow->decoders);
	free(flow->workers);
	free(flow->answerer);
	free(flow);
}

static uint64_t bytes_of_slots(const struct fw_flow_options *o)
{
	uint64_t classes = (uint64_t)(o->slots + 1) * o->top * (sizeof(uint32_t) + sizeof(float));
	uint64_t rings = (uint64_t)(4 * o->slots + o->cells) * sizeof(uint32_t);
	uint64_t threads =
		(uint64_t)(o->decode_threads + o->workers + 1) * sizeof(struct fw_flow_thread);

	return sizeof(struct fw_flow) + o->slots * sizeof(struct fw_flow_slot) + classes + rings +
	       threads;
}

static void fill_rings(struct fw_flow *flow)
{
	const struct fw_flow_options *o = &flow->options;

	for (uint32_t i = 0; i < o->slots; i++) {
		flow->slots[i].ids = flow->ids + (size_t)i * o->top;
		flow->slots[i].probabilities = flow->probabilities + (size_t)i * o->top;
		fw_ring_push(&flow->free_slots, i);
	}
	for (uint32_t i = 0; i < o->cells; i++)
		fw_ring_push(&flow->free_cells, i);
}

static fw_status take_memory(struct fw_flow *flow, struct fw_error *err)
{
	const struct fw_flow_options *o = &flow->options;
	size_t answers = (size_t)(o->slots + 1) * o->top;

	flow->slots = calloc(o->slots, sizeof(*flow->slots));
	flow->ids = calloc(answers, sizeof(*flow->ids));
	flow->probabilities = calloc(answers, sizeof(*flow->probabilities));
	flow->decoders = calloc(o->decode_threads, sizeof(*flow->decoders));
	flow->workers = calloc(o->workers, sizeof(*flow->workers));
	flow->answerer = calloc(1, sizeof(*flow->answerer));
	if (!flow->slots || !flow->ids || !flow->probabilities || !flow->decoders ||
	    !flow->workers || !flow->answerer || !fw_ring_init(&flow->free_slots, o->slots) ||
	    !fw_ring_init(&flow->free_cells, o->cells) ||
	    !fw_ring_init(&flow->to_decode, o->slots) ||
	    !fw_ring_init(&flow->to_compute, o->slots) || !fw_ring_init(&flow->to_answer, o->slots))
		return fw_fail_nomem(err, bytes_of_slots(o));
	fill_rings(flow);
	flow->stats.slot_bytes = bytes_of_slots(o);
	return take_cells(flow, err);
}

static void make_locks(struct fw_flow *flow)
{
	pthread_condattr_t monotonic;

	/* With these attributes glibc's cannot fail. */
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_mutex_init(&flow->lock, NULL);
	pthread_cond_init(&flow->slot_freed, &monotonic);
	pthread_cond_init(&flow->may_decode, &monotonic);
	pthread_cond_init(&flow->may_compute, &monotonic);
	pthread_cond_init(&flow->may_answer, &monotonic);
	pthread_cond_init(&flow->is_quiet, &monotonic);
	pthread_cond_init(&flow->is_warmer, &monotonic);
	pthread_condattr_destroy(&monotonic);
	flow->has_locks = true;
}

static void destroy_locks(struct fw_flow *flow)
{
	if (!flow->has_locks)
		return;
	pthread_cond_destroy(&flow->slot_freed);
	pthread_cond_destroy(&flow->may_decode);
	pthread_cond_destroy(&flow->may_compute);
	pthread_cond_destroy(&flow->may_answer);
	pthread_cond_destroy(&flow->is_quiet);
	pthread_cond_destroy(&flow->is_warmer);
	pthread_mutex_destroy(&flow->lock);
}

static fw_status open_work(struct fw_flow *flow, struct fw_error *err)
{
	const struct fw_flow_work *work = &flow->work;
	fw_status status = FW_OK;

	for (uint32_t i = 0; i < flow->options.decode_threads && !status; i++)
		status = work->decoder_open(work->user, &flow->decoders[i].decoder, err);
	for (uint32_t i = 0; i < flow->options.workers && !status; i++)
		status = work->worker_open(work->user, &flow->workers[i].worker, err);
	return status;
}

static void close_work(struct fw_flow *flow)
{
	for (uint32_t i = 0; flow->decoders && i < flow->options.decode_threads; i++)
		if (flow->decoders[i].decoder)
			flow->work.decoder_close(flow->decoders[i].decoder);
	for (uint32_t i = 0; flow->workers && i < flow->options.workers; i++)
		if (flow->workers[i].worker)
			flow->work.worker_close(flow->workers[i].worker);
}

static fw_status start(struct fw_flow *flow, struct fw_flow_thread *thread, void *(*main)(void *),
		       struct fw_error *err)
{
	int code;

	thread->flow = flow;
	code = pthread_create(&thread->thread, NULL, main, thread);
	if (code)
		return fw_fail(err, FW_ERR_IO, "cannot start a thread of the pipeline: %s",
			       strerror(code));
	thread->is_started = true;
	return FW_OK;
}

static fw_status start_all(struct fw_flow *flow, struct fw_error *err)
{
	fw_status status = start(flow, flow->answerer, fw_flow_answer_main, err);

	for (uint32_t i = 0; i < flow->options.decode_threads && !status; i++)
		status = start(flow, &flow->decoders[i], fw_flow_decode_main, err);
	for (uint32_t i = 0; i < flow->options.workers && !status; i++)
		status = start(flow, &flow->workers[i], fw_flow_compute_main, err);
	return status;
}

static void tell_warm(const struct fw_flow *flow, uint32_t warm)
{
	const struct fw_flow_options *o = &flow->options;
	char text[64];

	if (!o->progress || !flow->work.warm_up)
		return;
	snprintf(text, sizeof(text), "warming up: %u of %u workers are done", warm, o->workers);
	o->progress(o->progress_user, text);
}

static fw_status await_warmth(struct fw_flow *flow, struct fw_error *err)
{
	uint32_t warm = 0;
	fw_status status;

	pthread_mutex_lock(&flow->lock);
	while (warm < flow->options.workers) {
		pthread_mutex_unlock(&flow->lock);
		tell_warm(flow, warm);
		pthread_mutex_lock(&flow->lock);
		while (flow->warm == warm)
			pthread_cond_wait(&flow->is_warmer, &flow->lock);
		warm = flow->warm;
	}
	status = flow->warm_status;
	if (status && err)
		*err = flow->warm_err;
	pthread_mutex_unlock(&flow->lock);
	return status;
}

static void join(struct fw_flow_thread *threads, uint32_t n)
{
	for (uint32_t i = 0; threads && i < n; i++)
		if (threads[i].is_started)
			pthread_join(threads[i].thread, NULL);
}

fw_status fw_flow_create(const struct fw_flow_options *options, const struct fw_flow_work *work,
			 struct fw_flow **flow, struct fw_error *err)
{
	struct fw_flow *made = calloc(1, sizeof(*made));
	fw_status status;

	if (!made)
		return fw_fail_nomem(err, sizeof(*made));
	made->options = *options;
	made->work = *work;
	status = take_memory(made, err);
	if (!status)
		status = open_work(made, err);
	if (!status) {
		make_locks(made);
		status = start_all(made, err);
	}
	if (!status)
		status = await_warmth(made, err);
	if (status) {
		fw_flow_destroy(made);
		return status;
	}
	*flow = made;
	return FW_OK;
}

static void end_threads(struct fw_flow *flow)
{
	pthread_mutex_lock(&flow->lock);
	flow->is_closed = flow->is_cancelled = true;
	pthread_cond_broadcast(&flow->slot_freed);
	pthread_cond_broadcast(&flow->may_decode);
	pthread_cond_broadcast(&flow->may_compute);
	while (flow->inside || flow->callers)
		pthread_cond_wait(&flow->is_quiet, &flow->lock);
	flow->is_ending = true;
	pthread_cond_broadcast(&flow->may_decode);
	pthread_cond_broadcast(&flow->may_compute);
	pthread_cond_broadcast(&flow->may_answer);
	pthread_mutex_unlock(&flow->lock);
	join(flow->decoders, flow->options.decode_threads);
	join(flow->workers, flow->options.workers);
	join(flow->answerer, 1);
}

void fw_flow_destroy(struct fw_flow *flow)
{
	if (!flow)
		return;
	if (flow->has_locks)
		end_threads(flow);
	destroy_locks(flow);
	close_work(flow);
	release_memory(flow);
}

void fw_flow_get_stats(struct fw_flow *flow, struct fw_pipeline_stats *stats)
{
	pthread_mutex_lock(&flow->lock);
	*stats = flow->stats;
	stats->slots_used = flow->options.slots - flow->free_slots.len;
	pthread_mutex_unlock(&flow->lock);
	stats->struct_size = sizeof(*stats);
	stats->slots = flow->options.slots;
	stats->cells = flow->options.cells;
	stats->decode_threads = flow->options.decode_threads;
	stats->workers = flow->options.workers;
	stats->max_batch = flow->options.sizes[flow->options.n_sizes - 1];
	stats->top = flow->options.top;
}
