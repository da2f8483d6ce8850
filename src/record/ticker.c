#include "record/ticker.h"

#include "record/stream.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* How often a paused ticker looks whether it is wanted again. */
#define LOOK_NS INT64_C(20000000)

/* How long a thread may take to end. */
#define PATIENCE_NS INT64_C(3000000000)

/* The thread owns all but what `lock` guards. */
struct fw_record_ticker {
	struct fw_record_sampler sampler;
	const struct fw_rec_control *control;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool is_stopping, has_ended; /* under lock */
};

/* False: it is to stop. */
static bool sleep_until(struct fw_record_ticker *ticker, int64_t mono)
{
	const struct timespec until = { .tv_sec = mono / 1000000000, .tv_nsec = mono % 1000000000 };
	bool is_stopping;

	pthread_mutex_lock(&ticker->lock);
	while (!ticker->is_stopping && fw_record_now() < mono)
		if (pthread_cond_timedwait(&ticker->wake, &ticker->lock, &until) == ETIMEDOUT)
			break;
	is_stopping = ticker->is_stopping;
	pthread_mutex_unlock(&ticker->lock);
	return !is_stopping;
}

/* Waits until the recording is wanted, and tells of the pause; false: it is to stop. */
static bool wait_until_wanted(struct fw_record_ticker *ticker)
{
	int64_t start = fw_record_now();
	bool is_wanted = atomic_load(&ticker->control->wanted) == FW_REC_WANT_RECORD;
	bool is_on = true;

	if (is_wanted)
		return true;
	while (is_on && !is_wanted) {
		is_on = sleep_until(ticker, fw_record_now() + LOOK_NS);
		is_wanted = atomic_load(&ticker->control->wanted) == FW_REC_WANT_RECORD;
	}
	ticker->sampler.paused(ticker->sampler.user, start, fw_record_now());
	return is_on;
}

static void *run(void *arg)
{
	struct fw_record_ticker *ticker = arg;
	const struct fw_record_sampler *sampler = &ticker->sampler;
	bool is_on = sampler->begin(sampler->user) && sleep_until(ticker, 0);
	int64_t next = fw_record_now();

	while (is_on && wait_until_wanted(ticker)) {
		int64_t now = fw_record_now();

		sampler->tick(sampler->user, now);
		next += sampler->interval_ns;
		now = fw_record_now();
		if (next < now)
			next = now + sampler->interval_ns - (now - next) % sampler->interval_ns;
		is_on = sleep_until(ticker, next);
	}
	sampler->end(sampler->user);
	pthread_mutex_lock(&ticker->lock);
	ticker->has_ended = true;
	pthread_cond_broadcast(&ticker->wake);
	pthread_mutex_unlock(&ticker->lock);
	return NULL;
}

static void discard(struct fw_record_ticker *ticker)
{
	pthread_cond_destroy(&ticker->wake);
	pthread_mutex_destroy(&ticker->lock);
	free(ticker);
}

fw_status fw_record_ticker_start(struct fw_record_ticker **ticker,
				 const struct fw_record_sampler *sampler,
				 const struct fw_rec_control *control, struct fw_error *err)
{
	struct fw_record_ticker *made = calloc(1, sizeof(*made));
	pthread_condattr_t clock;
	int failed;

	if (!made)
		return fw_fail_nomem(err, sizeof(*made));
	made->sampler = *sampler;
	made->control = control;
	pthread_mutex_init(&made->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&made->wake, &clock);
	pthread_condattr_destroy(&clock);
	failed = pthread_create(&made->thread, NULL, run, made);
	if (failed) {
		discard(made);
		return fw_fail(err, FW_ERR_IO, "cannot start a thread: %s", strerror(failed));
	}
	*ticker = made;
	return FW_OK;
}

bool fw_record_ticker_stop(struct fw_record_ticker *ticker)
{
	const int64_t end = fw_record_now() + PATIENCE_NS;
	const struct timespec until = { .tv_sec = end / 1000000000, .tv_nsec = end % 1000000000 };
	bool has_ended;

	if (!ticker)
		return true;
	pthread_mutex_lock(&ticker->lock);
	ticker->is_stopping = true;
	pthread_cond_broadcast(&ticker->wake);
	while (!ticker->has_ended && fw_record_now() < end)
		pthread_cond_timedwait(&ticker->wake, &ticker->lock, &until);
	has_ended = ticker->has_ended;
	pthread_mutex_unlock(&ticker->lock);
	if (!has_ended)
		return false;
	pthread_join(ticker->thread, NULL);
	discard(ticker);
	return true;
}
