/* Load on a pipeline that this file makes up, which stalls when it is told to: what counts as latency, what is refused. */
#include "serve/bench_load.h"
#include "serve/steady_clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SLOTS    400
#define STALL_NS INT64_C(200000000)

/* Answers every request on a thread of its own, as soon as it is there. */
struct fw_pipeline {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct fw_pipeline_request requests[SLOTS];
	uint32_t first, used;
	uint32_t taken_slots, most; /* free again before a callback; the most at a time */
	uint32_t inside;            /* until the callback has returned */
	uint32_t slots;
	uint64_t taken;
	bool is_ending, is_held; /* held: nothing is answered */
	int64_t stall_at;        /* submit itself takes STALL_NS for this one; negative: none */
	enum fw_pipeline_outcome outcome;
	pthread_t thread;
};

static void answer(struct fw_pipeline *p, const struct fw_pipeline_request *request)
{
	const struct fw_error error = { .message = "made up" };
	struct fw_pipeline_answer made = {
		.struct_size = sizeof(made),
		.outcome = p->outcome,
		.error = p->outcome == FW_PIPELINE_CLASSIFIED ? NULL : &error,
		.stage_ns = { 1000 },
	};

	request->callback(request->user, &made);
}

static void *answer_main(void *user)
{
	struct fw_pipeline *p = user;

	pthread_mutex_lock(&p->lock);
	while (!p->is_ending) {
		struct fw_pipeline_request request;

		if (!p->used || p->is_held) {
			pthread_cond_wait(&p->changed, &p->lock);
			continue;
		}
		request = p->requests[p->first];
		p->first = (p->first + 1) % SLOTS;
		p->used--;
		p->taken_slots--;
		pthread_mutex_unlock(&p->lock);
		answer(p, &request);
		pthread_mutex_lock(&p->lock);
		p->inside--;
		pthread_cond_broadcast(&p->changed);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

void fw_pipeline_request_init(struct fw_pipeline_request *request)
{
	*request = (struct fw_pipeline_request){ .struct_size = sizeof(*request), .is_waiting = 1 };
}

fw_status fw_pipeline_submit(struct fw_pipeline *p, const struct fw_pipeline_request *request,
			     struct fw_error *err)
{
	bool is_full, stalls;

	pthread_mutex_lock(&p->lock);
	is_full = p->used == p->slots;
	stalls = (int64_t)p->taken == p->stall_at;
	if (!is_full) {
		p->taken++;
		p->requests[(p->first + p->used++) % SLOTS] = *request;
		p->inside++;
		if (++p->taken_slots > p->most)
			p->most = p->taken_slots;
	}
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	if (stalls)
		fw_steady_sleep_until(fw_steady_ns() + STALL_NS);
	return is_full ? fw_fail(err, FW_ERR_NOMEM, "full") : FW_OK;
}

int fw_pipeline_wait(struct fw_pipeline *p, int64_t timeout_ns)
{
	(void)timeout_ns;
	pthread_mutex_lock(&p->lock);
	p->is_held = false;
	pthread_cond_broadcast(&p->changed);
	while (p->inside)
		pthread_cond_wait(&p->changed, &p->lock);
	pthread_mutex_unlock(&p->lock);
	return 1;
}

static struct fw_pipeline pipeline;
static struct fw_bench_phase phases[3];
static unsigned char byte;
static struct fw_bench_image image = { &byte, 1 };
static uint32_t order;
static const struct fw_bench_images images = {
	.images = { .data = &image, .len = 1, .size = sizeof(image) }, .order = &order
};

static int start(void **state)
{
	(void)state;
	memset(phases, 0, sizeof(phases));
	pipeline = (struct fw_pipeline){ .slots = SLOTS, .stall_at = -1 };
	pthread_mutex_init(&pipeline.lock, NULL);
	pthread_cond_init(&pipeline.changed, NULL);
	return pthread_create(&pipeline.thread, NULL, answer_main, &pipeline);
}

static int stop(void **state)
{
	(void)state;
	pthread_mutex_lock(&pipeline.lock);
	pipeline.is_ending = true;
	pthread_cond_broadcast(&pipeline.changed);
	pthread_mutex_unlock(&pipeline.lock);
	pthread_join(pipeline.thread, NULL);
	pthread_cond_destroy(&pipeline.changed);
	pthread_mutex_destroy(&pipeline.lock);
	return 0;
}

static void run(double rate, uint32_t in_flight, int64_t ns)
{
	const struct fw_bench_load_options options = {
		.pipeline = &pipeline,
		.images = &images,
		.in_flight = in_flight,
		.rate = rate,
		.seed = 1,
		.slots = pipeline.slots,
		.phases = phases,
	};
	struct fw_bench_load *load;
	struct fw_error err;

	assert_int_equal(fw_bench_load_start(&options, &load, &err), FW_OK);
	fw_steady_sleep_until(fw_steady_ns() + ns / 2);
	fw_bench_load_phase(load, 1);
	fw_steady_sleep_until(fw_steady_ns() + ns / 2);
	fw_bench_load_phase(load, 2);
	assert_int_equal(fw_bench_load_end(load, &err), FW_OK);
}

static uint64_t count_longer(const struct fw_latency *latency, int64_t ns)
{
	uint64_t under = 0;
	struct fw_latency one = { 0 };
	size_t bucket = 0;

	fw_latency_add(&one, ns);
	while (!one.buckets[bucket])
		under += latency->buckets[bucket++];
	return latency->count - under;
}

/*
 * 1,000 arrivals a second, and a submit that takes 200 ms: about 100 of the 200 that were meant to come meanwhile waited
 * over 100 ms. Counted from when they were sent, none but one did.
 */
static void a_stall_counts_for_all_that_were_meant_to_come(void **state)
{
	uint64_t longer, arrived;

	(void)state;
	pipeline.stall_at = 20;
	run(1000, 0, 2 * STALL_NS);
	fw_latency_merge(&phases[0].latency, &phases[1].latency);
	longer = count_longer(&phases[0].latency, 100000000);
	arrived = phases[0].arrived + phases[1].arrived;
	assert_true(longer > 60);
	assert_true(arrived > 250);
	assert_int_equal(phases[0].refused + phases[1].refused, 0);
	assert_true(phases[0].latency.max_ns >= STALL_NS * 9 / 10);
}

static void what_finds_no_slot_is_refused_and_counted(void **state)
{
	uint64_t arrived = 0, refused = 0, classified = 0;

	(void)state;
	pipeline.slots = 5;
	pipeline.is_held = true;
	run(2000, 0, 60000000);
	for (int i = 0; i < 3; i++) {
		arrived += phases[i].arrived;
		refused += phases[i].refused;
		classified += phases[i].classified;
	}
	assert_int_equal(classified, 5);
	assert_true(arrived > 20);
	assert_int_equal(refused, arrived - 5);
}

static void a_closed_loop_keeps_as_many_inside(void **state)
{
	(void)state;
	run(0, 7, 60000000);
	assert_int_equal(pipeline.most, 7);
	assert_true(phases[0].classified > 100 && phases[1].classified > 100);
	assert_int_equal(phases[0].classified + phases[1].classified + phases[2].classified,
			 pipeline.taken);
	assert_int_equal(phases[1].latency.count, phases[1].classified);
	assert_int_equal(fw_latency_quantile(&phases[1].stages[0], 500), 1000);
}

static void failures_are_counted_and_go_on(void **state)
{
	int64_t took;
	struct fw_error err;

	(void)state;
	pipeline.outcome = FW_PIPELINE_FAILED;
	run(0, 3, 40000000);
	assert_true(phases[1].failed > 10);
	assert_int_equal(phases[1].classified, 0);
	assert_string_equal(phases[1].why.message, "made up");
	assert_int_equal(fw_bench_load_one(&pipeline, &image, &took, &err), FW_OK);
	assert_int_equal(took, -1);
	assert_string_equal(err.message, "made up");
	pipeline.outcome = FW_PIPELINE_EXPIRED;
	run(0, 3, 40000000);
	assert_true(phases[1].expired > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_stall_counts_for_all_that_were_meant_to_come,
						start, stop),
		cmocka_unit_test_setup_teardown(what_finds_no_slot_is_refused_and_counted, start,
						stop),
		cmocka_unit_test_setup_teardown(a_closed_loop_keeps_as_many_inside, start, stop),
		cmocka_unit_test_setup_teardown(failures_are_counted_and_go_on, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
