/*
 * The stages of the pipeline with work that does nothing but what a test wants: every request is answered once, whatever
 * happens. The name ends in _threads: CI runs it under the thread sanitizer too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <malloc.h>
#include <stdatomic.h>
#include <unistd.h>

#include "pipeline/stages.h"

#define CELL 64
#define MS   INT64_C(1000000)

/* What a request's bytes are. */
struct picture {
	uint32_t value;
	bool is_corrupt;   /* cannot be decoded */
	bool breaks_batch; /* its batch cannot be computed */
	bool breaks_alone; /* it alone cannot be computed */
};

/* A picture and what came back. */
struct ask {
	struct picture picture;
	atomic_int calls;
	enum fw_pipeline_outcome outcome;
	enum fw_pipeline_stage failed;
	fw_status status;
	uint32_t id, batch, count;
	float probability;
	struct fw_flow *flow; /* of a callback that submits */
	struct ask *next;
	int wait_in_callback;
	fw_status nested;
};

/* While a gate is shut, the work behind it does not end. */
static struct gate {
	pthread_mutex_t lock;
	pthread_cond_t opened;
	bool is_shut;
	int waiting;
} decode_gate = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0 },
  compute_gate = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0 };

static atomic_int opened, closed, warmed;

static void set_gate(struct gate *gate, bool is_shut)
{
	pthread_mutex_lock(&gate->lock);
	gate->is_shut = is_shut;
	pthread_cond_broadcast(&gate->opened);
	pthread_mutex_unlock(&gate->lock);
}

static void pass(struct gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	gate->waiting++;
	while (gate->is_shut)
		pthread_cond_wait(&gate->opened, &gate->lock);
	gate->waiting--;
	pthread_mutex_unlock(&gate->lock);
}

static void await_at(struct gate *gate, int n)
{
	for (;;) {
		int waiting;

		pthread_mutex_lock(&gate->lock);
		waiting = gate->waiting;
		pthread_mutex_unlock(&gate->lock);
		if (waiting == n)
			return;
		usleep(200);
	}
}

static fw_status open_any(void *user, void **thing, struct fw_error *err)
{
	int *fail_at = user;

	if (fail_at && atomic_load(&opened) == *fail_at)
		return fw_fail(err, FW_ERR_IO, "no more");
	atomic_fetch_add(&opened, 1);
	*thing = malloc(1);
	return *thing ? FW_OK : fw_fail_nomem(err, 1);
}

static void close_any(void *thing)
{
	atomic_fetch_add(&closed, 1);
	free(thing);
}

static fw_status decode(void *decoder, const struct fw_flow_picture *job, struct fw_error *err)
{
	const struct picture *picture = job->bytes;

	(void)decoder;
	assert_int_equal(job->size, sizeof(*picture));
	pass(&decode_gate);
	if (picture->is_corrupt)
		return fw_fail(err, FW_ERR_FORMAT, "picture %u is corrupt", picture->value);
	memset(job->cell, (int)(picture->value & 0xff), job->cell_bytes);
	memcpy(job->cell, picture, sizeof(*picture));
	job->image->width = picture->value;
	return FW_OK;
}

static uint32_t answer_of(uint32_t value)
{
	return value * 2654435761u >> 8;
}

static fw_status compute(void *worker, struct fw_flow_batch *batch, struct fw_error *err)
{
	(void)worker;
	pass(&compute_gate);
	for (uint32_t i = 0; i < batch->n; i++) {
		struct fw_flow_item *item = &batch->items[i];
		struct picture picture;

		memcpy(&picture, item->cell, sizeof(picture));
		if (picture.breaks_batch)
			return fw_fail(err, FW_ERR_INTERNAL, "the network broke");
		assert_int_equal(item->image->width, picture.value);
		assert_int_equal(item->cell[CELL - 1], picture.value & 0xff);
		item->status = picture.breaks_alone
				       ? fw_fail(item->err, FW_ERR_FORMAT, "not a number")
				       : FW_OK;
		item->ids[0] = answer_of(picture.value);
		item->probabilities[0] = (float)picture.value;
		item->count = 1;
	}
	return FW_OK;
}

static const struct fw_flow_work work = {
	.decoder_open = open_any,
	.decoder_close = close_any,
	.decode = decode,
	.worker_open = open_any,
	.worker_close = close_any,
	.compute = compute,
};

static void on_answer(void *user, const struct fw_pipeline_answer *answer)
{
	struct ask *ask = user;

	ask->outcome = answer->outcome;
	ask->failed = answer->failed;
	ask->batch = answer->batch;
	ask->count = answer->count;
	ask->status = answer->error ? answer->error->code : FW_OK;
	if (answer->count) {
		ask->id = answer->ids[0];
		ask->probability = answer->probabilities[0];
	}
	atomic_fetch_add(&ask->calls, 1);
}

static struct fw_pipeline_request request_of(struct ask *ask, int64_t timeout_ns, int is_waiting)
{
	return (struct fw_pipeline_request){
		.struct_size = sizeof(struct fw_pipeline_request),
		.bytes = &ask->picture,
		.size = sizeof(ask->picture),
		.timeout_ns = timeout_ns,
		.is_waiting = is_waiting,
		.callback = on_answer,
		.user = ask,
	};
}

static fw_status submit(struct fw_flow *flow, struct ask *ask, int64_t timeout_ns, int is_waiting)
{
	struct fw_pipeline_request request = request_of(ask, timeout_ns, is_waiting);
	struct fw_error err;

	return fw_flow_submit(flow, &request, &err);
}

static struct fw_flow *create(uint32_t threads, uint32_t slots, uint32_t cells, int64_t delay_ns)
{
	const struct fw_flow_options options = {
		.decode_threads = threads,
		.workers = threads,
		.slots = slots,
		.cells = cells,
		.top = 1,
		.n_sizes = 3,
		.sizes = { 1, 2, 4 },
		.cell_bytes = CELL,
		.max_delay_ns = delay_ns,
	};
	struct fw_flow *flow = NULL;

	assert_int_equal(fw_flow_create(&options, &work, &flow, NULL), FW_OK);
	return flow;
}

static void check_right(const struct ask *ask)
{
	assert_int_equal(atomic_load(&ask->calls), 1);
	if (ask->picture.is_corrupt || ask->picture.breaks_alone) {
		assert_int_equal(ask->outcome, FW_PIPELINE_FAILED);
		assert_int_equal(ask->status, FW_ERR_FORMAT);
		assert_int_equal(ask->failed, ask->picture.is_corrupt ? FW_PIPELINE_STAGE_DECODE
								      : FW_PIPELINE_STAGE_COMPUTE);
		assert_int_equal(ask->count, 0);
		return;
	}
	assert_int_equal(ask->outcome, FW_PIPELINE_CLASSIFIED);
	assert_int_equal(ask->status, FW_OK);
	assert_int_equal(ask->id, answer_of(ask->picture.value));
	assert_true(ask->probability == (float)ask->picture.value);
	assert_in_range(ask->batch, 1, 4);
}

#define LANES    8
#define A_LANE   250
#define REQUESTS (LANES * A_LANE)

static struct ask asks[REQUESTS];

/* Each twentieth is corrupt, each fiftieth of the others cannot be computed. */
static void make_asks(void)
{
	memset(asks, 0, sizeof(asks));
	for (uint32_t i = 0; i < REQUESTS; i++) {
		asks[i].picture.value = i;
		asks[i].picture.is_corrupt = i % 20 == 7;
		asks[i].picture.breaks_alone = i % 50 == 3;
	}
}

struct lane {
	pthread_t thread;
	struct fw_flow *flow;
	struct ask *asks;
	int n, refused;
	bool only_waits;
	fw_status last;
};

static void *submit_all(void *argument)
{
	struct lane *lane = argument;

	for (int i = 0; i < lane->n; i++) {
		/* Every third does not wait, and tries again. */
		while ((lane->last = submit(lane->flow, &lane->asks[i], 0,
					    lane->only_waits || i % 3)) == FW_ERR_NOMEM) {
			lane->refused++;
			usleep(50);
		}
		if (lane->last)
			break;
	}
	return NULL;
}

static void start_lanes(struct lane *lanes, struct fw_flow *flow, bool only_waits)
{
	make_asks();
	for (int i = 0; i < LANES; i++) {
		lanes[i] = (struct lane){ .flow = flow,
					  .asks = asks + i * A_LANE,
					  .n = A_LANE,
					  .only_waits = only_waits };
		assert_int_equal(pthread_create(&lanes[i].thread, NULL, submit_all, &lanes[i]), 0);
	}
}

static void join_lanes(struct lane *lanes)
{
	for (int i = 0; i < LANES; i++)
		pthread_join(lanes[i].thread, NULL);
}

static void answers_every_request_once_and_rightly(void **state)
{
	struct fw_flow *flow = create(3, 16, 10, 0);
	struct fw_pipeline_stats stats;
	struct lane lanes[LANES];
	uint64_t images = 0, refused = 0;

	(void)state;
	start_lanes(lanes, flow, false);
	join_lanes(lanes);
	assert_true(fw_flow_wait(flow, -1));
	for (int i = 0; i < REQUESTS; i++)
		check_right(&asks[i]);
	for (int i = 0; i < LANES; i++)
		refused += (uint64_t)lanes[i].refused;
	fw_flow_get_stats(flow, &stats);
	assert_int_equal(stats.submitted, REQUESTS);
	assert_int_equal(stats.answered, REQUESTS);
	assert_int_equal(stats.refused, refused);
	assert_int_equal(stats.outcomes[FW_PIPELINE_FAILED], 100 + 40);
	assert_int_equal(stats.outcomes[FW_PIPELINE_CLASSIFIED], REQUESTS - 140);
	assert_int_equal(stats.stages[FW_PIPELINE_STAGE_DECODE].failed, 100);
	assert_int_equal(stats.stages[FW_PIPELINE_STAGE_COMPUTE].failed, 40);
	for (uint32_t n = 1; n <= 4; n++)
		images += n * stats.batches[n];
	assert_int_equal(images, REQUESTS - 100);
	assert_int_equal(stats.stages[FW_PIPELINE_STAGE_COMPUTE].count, REQUESTS - 100);
	assert_int_equal(stats.slots_used, 0);
	assert_in_range(stats.max_slots_used, 1, 16);
	assert_in_range(stats.max_cells_used, 1, 10);
	fw_flow_destroy(flow);
}

static void counts_every_stage_in_its_buckets(void **state)
{
	struct fw_flow *flow = create(1, 2, 2, 0);
	struct fw_pipeline_stats stats;
	struct ask ask = { .picture.value = 5 };

	(void)state;
	set_gate(&decode_gate, true);
	assert_int_equal(submit(flow, &ask, 0, 1), FW_OK);
	await_at(&decode_gate, 1);
	usleep(3000);
	set_gate(&decode_gate, false);
	assert_true(fw_flow_wait(flow, -1));
	fw_flow_get_stats(flow, &stats);
	for (int stage = 0; stage < FW_PIPELINE_STAGE_COUNT; stage++) {
		uint64_t sum = 0;

		for (int i = 0; i < FW_PIPELINE_BUCKETS; i++)
			sum += stats.stages[stage].buckets[i];
		assert_int_equal(sum, 1);
		assert_int_equal(stats.stages[stage].count, 1);
		assert_int_equal(stats.stages[stage].total_ns, stats.stages[stage].max_ns);
	}
	/* 3 ms and more are not under 2^11 us. */
	assert_true(stats.stages[FW_PIPELINE_STAGE_DECODE].max_ns >= 3 * MS);
	for (int i = 0; i <= 11; i++)
		assert_int_equal(stats.stages[FW_PIPELINE_STAGE_DECODE].buckets[i], 0);
	fw_flow_destroy(flow);
}

static void refuses_when_full_or_waits(void **state)
{
	struct fw_flow *flow = create(1, 3, 3, 0);
	struct fw_pipeline_stats stats;
	struct ask all[6] = { 0 };

	(void)state;
	set_gate(&compute_gate, true);
	for (int i = 0; i < 3; i++)
		assert_int_equal(submit(flow, &all[i], 0, 0), FW_OK);
	assert_int_equal(submit(flow, &all[3], 0, 0), FW_ERR_NOMEM);
	assert_int_equal(submit(flow, &all[4], 5 * MS, 1), FW_ERR_NOMEM);
	assert_false(fw_flow_wait(flow, 0));
	assert_false(fw_flow_wait(flow, MS));
	fw_flow_get_stats(flow, &stats);
	assert_int_equal(stats.refused, 2);
	assert_int_equal(stats.slots_used, 3);
	set_gate(&compute_gate, false);
	assert_int_equal(submit(flow, &all[5], 0, 1), FW_OK);
	assert_true(fw_flow_wait(flow, 60000 * MS));
	for (int i = 0; i < 6; i++)
		assert_int_equal(atomic_load(&all[i].calls), i < 3 || i == 5);
	fw_flow_destroy(flow);
}

static void drops_what_is_late_before_decode_and_before_launch(void **state)
{
	struct fw_flow *flow = create(1, 8, 8, 0);
	struct fw_pipeline_stats stats;
	struct ask all[4] = { 0 };

	(void)state;
	set_gate(&decode_gate, true);
	assert_int_equal(submit(flow, &all[0], 0, 1), FW_OK);
	await_at(&decode_gate, 1);
	assert_int_equal(submit(flow, &all[1], MS, 1), FW_OK);
	usleep(3000);
	set_gate(&compute_gate, true);
	set_gate(&decode_gate, false); /* 0 is decoded and occupies the worker */
	await_at(&compute_gate, 1);
	assert_int_equal(submit(flow, &all[2], 20 * MS, 1), FW_OK);
	assert_int_equal(submit(flow, &all[3], 60000 * MS, 1), FW_OK);
	usleep(40000);
	set_gate(&compute_gate, false);
	assert_true(fw_flow_wait(flow, -1));
	check_right(&all[0]);
	check_right(&all[3]);
	for (int i = 1; i < 3; i++) {
		assert_int_equal(atomic_load(&all[i].calls), 1);
		assert_int_equal(all[i].outcome, FW_PIPELINE_EXPIRED);
		assert_int_equal(all[i].count, 0);
	}
	assert_int_equal(all[1].failed, FW_PIPELINE_STAGE_QUEUE);
	fw_flow_get_stats(flow, &stats);
	assert_int_equal(stats.stages[FW_PIPELINE_STAGE_QUEUE].expired +
				 stats.stages[FW_PIPELINE_STAGE_BATCH].expired,
			 2);
	assert_int_equal(stats.outcomes[FW_PIPELINE_EXPIRED], 2);
	assert_int_equal(stats.stages[FW_PIPELINE_STAGE_COMPUTE].count, 2);
	fw_flow_destroy(flow);
}

/* Until the flow has this many requests in front of its workers. */
static void await_batch(struct fw_flow *flow, uint32_t n)
{
	uint32_t len;

	do {
		usleep(200);
		pthread_mutex_lock(&flow->lock);
		len = flow->to_compute.len;
		pthread_mutex_unlock(&flow->lock);
	} while (len < n);
}

static void batches_form_while_the_worker_is_busy(void **state)
{
	struct fw_flow *flow = create(1, 16, 16, 0);
	struct fw_pipeline_stats stats;
	struct ask all[8] = { 0 };

	(void)state;
	set_gate(&compute_gate, true);
	assert_int_equal(submit(flow, &all[0], 0, 1), FW_OK);
	await_at(&compute_gate, 1); /* launched alone, at once */
	for (int i = 1; i < 8; i++)
		assert_int_equal(submit(flow, &all[i], 0, 1), FW_OK);
	await_batch(flow, 7);
	set_gate(&compute_gate, false);
	assert_true(fw_flow_wait(flow, -1));
	fw_flow_get_stats(flow, &stats);
	assert_int_equal(stats.batches[1], 1);
	assert_int_equal(stats.batches[4], 1);
	assert_int_equal(stats.batches[3], 1); /* in a batch of 4, one of zeros */
	assert_int_equal(stats.padded, 1);
	assert_int_equal(all[0].batch, 1);
	assert_int_equal(all[1].batch, 4);
	assert_int_equal(all[7].batch, 3);
	fw_flow_destroy(flow);
}

static void a_delay_fills_batches_and_does_not_hold_up_a_drain(void **state)
{
	struct fw_flow *flow = create(2, 16, 16, 600000 * MS);
	struct fw_pipeline_stats stats;
	struct ask all[6] = { 0 };

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(submit(flow, &all[i], 0, 1), FW_OK);
	assert_true(fw_flow_wait(flow, 60000 * MS)); /* full: at once */
	for (int i = 4; i < 6; i++)
		assert_int_equal(submit(flow, &all[i], 0, 1), FW_OK);
	await_batch(flow, 2);
	assert_false(fw_flow_wait(flow, 5 * MS)); /* it waits for two more */
	fw_flow_drain(flow);
	assert_int_equal(submit(flow, &all[0], 0, 1), FW_ERR_UNSUPPORTED);
	fw_flow_get_stats(flow, &stats);
	assert_int_equal(stats.batches[4], 1);
	assert_int_equal(stats.batches[2], 1);
	assert_int_equal(stats.answered, 6);
	fw_flow_drain(flow);
	fw_flow_destroy(flow);
}

static void a_delay_ends(void **state)
{
	struct fw_flow *flow = create(1, 16, 16, 10 * MS);
	struct ask ask = { 0 };

	(void)state;
	assert_int_equal(submit(flow, &ask, 0, 1), FW_OK);
	assert_true(fw_flow_wait(flow, 60000 * MS));
	check_right(&ask);
	fw_flow_destroy(flow);
}

static void a_broken_batch_fails_alone(void **state)
{
	struct fw_flow *flow = create(1, 16, 16, 0);
	struct ask all[6] = { [2].picture.breaks_batch = true };

	(void)state;
	set_gate(&compute_gate, true);
	assert_int_equal(submit(flow, &all[0], 0, 1), FW_OK);
	await_at(&compute_gate, 1);
	for (int i = 1; i < 6; i++)
		assert_int_equal(submit(flow, &all[i], 0, 1), FW_OK);
	await_batch(flow, 5);
	set_gate(&compute_gate, false);
	assert_true(fw_flow_wait(flow, -1));
	for (int i = 0; i < 6; i++) {
		bool is_broken = i > 0 && i < 5; /* the four that went together */

		assert_int_equal(all[i].outcome,
				 is_broken ? FW_PIPELINE_FAILED : FW_PIPELINE_CLASSIFIED);
		assert_int_equal(all[i].status, is_broken ? FW_ERR_INTERNAL : FW_OK);
	}
	fw_flow_destroy(flow);
}

/* Until fw_flow_destroy has begun; it cannot end while a gate is shut. */
static void await_cancel(struct fw_flow *flow)
{
	bool is_cancelled = false;

	while (!is_cancelled) {
		usleep(200);
		pthread_mutex_lock(&flow->lock);
		is_cancelled = flow->is_cancelled;
		pthread_mutex_unlock(&flow->lock);
	}
}

static void *destroy(void *flow)
{
	fw_flow_destroy(flow);
	return NULL;
}

/* All slots are taken, threads wait in submit, work is under way: what was taken is answered once, the rest never. */
static void destroy_under_load_answers_what_was_taken(void **state)
{
	struct fw_flow *flow = create(2, 12, 6, 0);
	struct lane lanes[LANES];
	pthread_t destroyer;
	uint32_t callers = 0;
	int taken = 0;

	(void)state;
	set_gate(&compute_gate, true);
	start_lanes(lanes, flow, true);
	while (callers <
	       LANES) { /* in the end all are held up at the door, and begin no call any more */
		usleep(200);
		pthread_mutex_lock(&flow->lock);
		callers = flow->free_slots.len ? 0 : flow->callers;
		pthread_mutex_unlock(&flow->lock);
	}
	assert_int_equal(pthread_create(&destroyer, NULL, destroy, flow), 0);
	await_cancel(flow);
	set_gate(&compute_gate, false);
	pthread_join(destroyer, NULL);
	join_lanes(lanes);
	for (int i = 0; i < REQUESTS; i++) {
		assert_in_range(atomic_load(&asks[i].calls), 0, 1);
		taken += atomic_load(&asks[i].calls);
		if (asks[i].outcome == FW_PIPELINE_CLASSIFIED && asks[i].calls)
			check_right(&asks[i]);
	}
	assert_true(taken >= 12);
	for (int i = 0; i < LANES; i++)
		assert_int_equal(lanes[i].last, FW_ERR_UNSUPPORTED);
	assert_int_equal(atomic_load(&opened), atomic_load(&closed));
}

static void destroy_cancels_what_waits(void **state)
{
	struct fw_flow *flow = create(1, 8, 8, 0);
	struct ask all[5] = { 0 };
	pthread_t destroyer;

	(void)state;
	set_gate(&compute_gate, true);
	for (int i = 0; i < 5; i++)
		assert_int_equal(submit(flow, &all[i], 0, 1), FW_OK);
	await_at(&compute_gate, 1);
	assert_int_equal(pthread_create(&destroyer, NULL, destroy, flow), 0);
	await_cancel(flow);
	set_gate(&compute_gate, false);
	pthread_join(destroyer, NULL);
	/* The first was being computed. The last waited behind a worker that was never free. */
	check_right(&all[0]);
	assert_int_equal(atomic_load(&all[4].calls), 1);
	assert_int_equal(all[4].outcome, FW_PIPELINE_CANCELLED);
	fw_flow_destroy(NULL);
}

static void drain_under_load_answers_what_was_taken(void **state)
{
	struct fw_flow *flow = create(2, 12, 6, 0);
	struct fw_pipeline_stats stats;
	struct lane lanes[LANES];
	uint64_t taken = 0;

	(void)state;
	start_lanes(lanes, flow, false);
	usleep(3000);
	fw_flow_drain(flow);
	join_lanes(lanes);
	fw_flow_get_stats(flow, &stats);
	for (int i = 0; i < REQUESTS; i++) {
		if (!atomic_load(&asks[i].calls))
			continue;
		check_right(&asks[i]);
		taken++;
	}
	assert_int_equal(taken, stats.submitted);
	assert_int_equal(taken, stats.answered);
	fw_flow_destroy(flow);
}

/* A chain: each answer submits the next request, with no slot but its own. */
static void on_chain(void *user, const struct fw_pipeline_answer *answer)
{
	struct ask *ask = user;
	struct ask *next = ask->next;

	on_answer(user, answer);
	ask->wait_in_callback = fw_flow_wait(ask->flow, -1);
	if (next) {
		struct fw_pipeline_request request = request_of(next, 0, 1);

		next->flow = ask->flow;
		request.callback = on_chain;
		ask->nested = fw_flow_submit(ask->flow, &request, NULL);
	}
}

static void a_callback_submits_and_never_waits(void **state)
{
	struct fw_flow *flow = create(1, 1, 1, 0);
	struct ask all[20] = { 0 };
	struct fw_pipeline_request request;

	(void)state;
	for (int i = 0; i < 19; i++)
		all[i].next = &all[i + 1];
	all[0].flow = flow;
	request = request_of(&all[0], 0, 1);
	request.callback = on_chain;
	assert_int_equal(fw_flow_submit(flow, &request, NULL), FW_OK);
	assert_true(fw_flow_wait(flow, -1));
	for (int i = 0; i < 20; i++) {
		check_right(&all[i]);
		assert_false(all[i].wait_in_callback);
		assert_int_equal(all[i].nested, FW_OK);
	}
	fw_flow_destroy(flow);
}

static void takes_no_memory_after_its_start(void **state)
{
	struct fw_flow *flow = create(2, 8, 6, 0);
	struct mallinfo2 before, after;
	struct lane lane = { .flow = flow, .asks = asks, .n = 1000, .only_waits = true };

	(void)state;
	make_asks();
	submit_all(&lane);
	assert_true(fw_flow_wait(flow, -1));
	before = mallinfo2();
	for (int i = 0; i < 1000; i++)
		atomic_store(&asks[i].calls, 0);
	submit_all(&lane);
	assert_true(fw_flow_wait(flow, -1));
	after = mallinfo2();
	assert_int_equal(after.uordblks, before.uordblks);
	assert_int_equal(after.hblkhd, before.hblkhd);
	fw_flow_destroy(flow);
}

/* Each of the three decoders and three workers may be the one that cannot open. */
static void a_start_that_fails_closes_what_it_opened(void **state)
{
	(void)state;
	for (int at = 0; at < 6; at++) {
		struct fw_flow_options options = { .decode_threads = 3,
						   .workers = 3,
						   .slots = 4,
						   .cells = 4,
						   .top = 1,
						   .n_sizes = 1,
						   .sizes = { 1 },
						   .cell_bytes = CELL };
		struct fw_flow_work failing = work;
		struct fw_flow *flow = NULL;

		failing.user = &at;
		atomic_store(&opened, 0);
		atomic_store(&closed, 0);
		assert_int_equal(fw_flow_create(&options, &failing, &flow, NULL), FW_ERR_IO);
		assert_null(flow);
		assert_int_equal(atomic_load(&opened), at);
		assert_int_equal(atomic_load(&closed), at);
	}
}

static int reset(void **state)
{
	(void)state;
	set_gate(&decode_gate, false);
	set_gate(&compute_gate, false);
	atomic_store(&opened, 0);
	atomic_store(&closed, 0);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup(name, reset)

static fw_status warm_second_fails(void *worker, struct fw_error *err)
{
	(void)worker;
	return atomic_fetch_add(&warmed, 1) == 1 ? fw_fail(err, FW_ERR_INTERNAL, "cold") : FW_OK;
}

static void note_progress(void *user, const char *text)
{
	snprintf(user, 64, "%s", text);
}

/* Created only when all workers are warm; what one of them meets is what the creation meets. */
static void warms_every_worker_before_it_is_created(void **state)
{
	char progress[64] = "";
	struct fw_flow_options options = { .decode_threads = 1,
					   .workers = 3,
					   .slots = 4,
					   .cells = 4,
					   .top = 1,
					   .n_sizes = 1,
					   .sizes = { 1 },
					   .cell_bytes = CELL,
					   .progress = note_progress,
					   .progress_user = progress };
	struct fw_flow_work warming = work;
	struct fw_error err = { .code = FW_OK };
	struct fw_flow *flow = NULL;

	(void)state;
	warming.warm_up = warm_second_fails;
	atomic_store(&warmed, 2); /* none will be the second */
	assert_int_equal(fw_flow_create(&options, &warming, &flow, &err), FW_OK);
	assert_int_equal(atomic_load(&warmed), 5);
	assert_non_null(strstr(progress, "of 3 workers are done"));
	fw_flow_destroy(flow);
	flow = NULL;
	atomic_store(&warmed, 0);
	assert_int_equal(fw_flow_create(&options, &warming, &flow, &err), FW_ERR_INTERNAL);
	assert_string_equal(err.message, "cold");
	assert_null(flow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(answers_every_request_once_and_rightly),
		TEST(counts_every_stage_in_its_buckets),
		TEST(refuses_when_full_or_waits),
		TEST(drops_what_is_late_before_decode_and_before_launch),
		TEST(warms_every_worker_before_it_is_created),
		TEST(batches_form_while_the_worker_is_busy),
		TEST(a_delay_fills_batches_and_does_not_hold_up_a_drain),
		TEST(a_delay_ends),
		TEST(a_broken_batch_fails_alone),
		TEST(destroy_under_load_answers_what_was_taken),
		TEST(destroy_cancels_what_waits),
		TEST(drain_under_load_answers_what_was_taken),
		TEST(a_callback_submits_and_never_waits),
		TEST(takes_no_memory_after_its_start),
		TEST(a_start_that_fails_closes_what_it_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
