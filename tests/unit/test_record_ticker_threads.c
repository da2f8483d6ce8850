/* The thread of a sampler: it ticks while the recording is wanted, tells of pauses, and ends. */
#include "record/stream.h"
#include "record/ticker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

struct sampler {
	bool can_begin;
	int64_t interval_ns, busy_ns;
	_Atomic unsigned ticks, pauses, ends;
	int64_t paused_ns;
};

static void sleep_ns(int64_t ns)
{
	struct timespec t = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	nanosleep(&t, NULL);
}

static bool begin(void *user)
{
	return ((struct sampler *)user)->can_begin;
}

static void tick(void *user, int64_t now)
{
	struct sampler *sampler = user;

	(void)now;
	atomic_fetch_add(&sampler->ticks, 1);
	sleep_ns(sampler->busy_ns);
}

static void paused(void *user, int64_t start, int64_t end)
{
	struct sampler *sampler = user;

	sampler->paused_ns += end - start;
	atomic_fetch_add(&sampler->pauses, 1);
}

static void end(void *user)
{
	atomic_fetch_add(&((struct sampler *)user)->ends, 1);
}

static struct fw_record_ticker *start(struct sampler *sampler, const struct fw_rec_control *control)
{
	const struct fw_record_sampler functions = { .user = sampler,
						     .interval_ns = sampler->interval_ns,
						     .begin = begin,
						     .tick = tick,
						     .paused = paused,
						     .end = end };
	struct fw_record_ticker *ticker = NULL;

	assert_int_equal(fw_record_ticker_start(&ticker, &functions, control, NULL), FW_OK);
	return ticker;
}

static void wait_for(_Atomic unsigned *count, unsigned least)
{
	for (int i = 0; i < 3000 && atomic_load(count) < least; i++)
		sleep_ns(MS);
	assert_in_range(atomic_load(count), least, UINT32_MAX);
}

static void ticks_while_wanted_and_tells_of_pauses(void **state)
{
	static struct fw_rec_control control;
	struct sampler sampler = { .can_begin = true, .interval_ns = 2 * MS };
	struct fw_record_ticker *ticker;
	unsigned before;

	(void)state;
	atomic_store(&control.wanted, FW_REC_WANT_PAUSE);
	ticker = start(&sampler, &control);
	sleep_ns(50 * MS);
	assert_int_equal(atomic_load(&sampler.ticks), 0);
	atomic_store(&control.wanted, FW_REC_WANT_RECORD);
	wait_for(&sampler.ticks, 5);
	assert_int_equal(atomic_load(&sampler.pauses), 1);
	atomic_store(&control.wanted, FW_REC_WANT_STOP);
	sleep_ns(30 * MS);
	before = atomic_load(&sampler.ticks);
	sleep_ns(30 * MS);
	assert_int_equal(atomic_load(&sampler.ticks), before);
	assert_true(fw_record_ticker_stop(ticker));
	assert_int_equal(atomic_load(&sampler.pauses), 2);
	assert_int_equal(atomic_load(&sampler.ends), 1);
	assert_true(sampler.paused_ns >= 70 * MS);
}

static void ends_at_once_in_a_long_wait(void **state)
{
	static struct fw_rec_control control;
	struct sampler sampler = { .can_begin = true, .interval_ns = 3600000 * MS };
	struct fw_record_ticker *ticker;
	int64_t before;

	(void)state;
	atomic_store(&control.wanted, FW_REC_WANT_RECORD);
	ticker = start(&sampler, &control);
	wait_for(&sampler.ticks, 1);
	before = fw_record_now();
	assert_true(fw_record_ticker_stop(ticker));
	assert_true(fw_record_now() - before < 2000 * MS);
	assert_int_equal(atomic_load(&sampler.ticks), 1);
}

static void does_not_tick_if_it_cannot_begin(void **state)
{
	static struct fw_rec_control control;
	struct sampler sampler = { .can_begin = false, .interval_ns = MS };
	struct fw_record_ticker *ticker;

	(void)state;
	atomic_store(&control.wanted, FW_REC_WANT_RECORD);
	ticker = start(&sampler, &control);
	wait_for(&sampler.ends, 1);
	assert_true(fw_record_ticker_stop(ticker));
	assert_int_equal(atomic_load(&sampler.ticks), 0);
}

/* As a call into a driver that hangs. */
static void leaves_a_thread_that_does_not_end(void **state)
{
	static struct fw_rec_control control;
	static struct sampler sampler = { .can_begin = true,
					  .interval_ns = MS,
					  .busy_ns = 4000 * MS };
	struct fw_record_ticker *ticker;

	(void)state;
	atomic_store(&control.wanted, FW_REC_WANT_RECORD);
	ticker = start(&sampler, &control);
	wait_for(&sampler.ticks, 1);
	assert_false(fw_record_ticker_stop(ticker));
	wait_for(&sampler.ends, 1);
	assert_true(fw_record_ticker_stop(ticker));
}

static void accepts_null(void **state)
{
	(void)state;
	assert_true(fw_record_ticker_stop(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticks_while_wanted_and_tells_of_pauses),
		cmocka_unit_test(ends_at_once_in_a_long_wait),
		cmocka_unit_test(does_not_tick_if_it_cannot_begin),
		cmocka_unit_test(leaves_a_thread_that_does_not_end),
		cmocka_unit_test(accepts_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
