#include "inject/profiler.h"

#include "gpu/loader.h"
#include "inject/hooks.h"
#include "inject/pool.h"
#include "inject/sink.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MS INT64_C(1000000)

/* A call of the program's waits no longer than this for us to give CUPTI up. */
#define PATIENCE_NS (1000 * MS)

/* So long after its last call CUPTI is left to it: the next one may follow. */
#define REST_NS (100 * MS)

#define KINDS 128
#define CALLS 1024
#define PAIRS 4 /* of buffer callbacks that a program may register one after the other */

enum { PAIR_NONE = -1, PAIR_UNKNOWN = -2 };

/* A program's two callbacks. CUPTI gets functions of ours, so that we know how many of its buffers are out. */
struct pair {
	_Atomic(fw_cupti_buffer_request *) request;
	_Atomic(fw_cupti_buffer_complete *) complete;
};

static struct pair pairs[PAIRS];
static struct fw_profiler_state {
	atomic_bool kinds[KINDS];
	atomic_bool calls[2][CALLS]; /* runtime, driver */
	_Atomic int switched_on;     /* how many of those */
	_Atomic int pair;            /* the one that is registered */
	_Atomic int64_t buffers_out;
	_Atomic(fw_cupti_timestamp *) clock;
	atomic_bool had_clock;
	_Atomic int thread_ids;
	atomic_bool all_syncs, is_subscribed;
	atomic_bool is_early; /* began before its calls were seen */
	_Atomic uint32_t period_ms;
} own;

static atomic_bool is_known, is_live, was_taken;
static void *_Atomic lent; /* our subscriber */
static _Atomic int inside; /* calls under way */
static _Atomic uint32_t granted;
static _Atomic int64_t last_call_mono;
static _Atomic uint32_t *bell;

static struct real {
#define FW_PROFILER(name, parameters, arguments, before, after) int(*name) parameters;
#include "inject/profiler.def"
#undef FW_PROFILER
} real;

static void set_defaults(int thread_ids)
{
	for (int kind = 0; kind < KINDS; kind++)
		atomic_store(&own.kinds[kind], false);
	for (int i = 0; i < 2 * CALLS; i++)
		atomic_store(&own.calls[i / CALLS][i % CALLS], false);
	atomic_store(&own.switched_on, 0);
	atomic_store(&own.pair, PAIR_NONE);
	atomic_store(&own.buffers_out, 0);
	atomic_store(&own.clock, NULL);
	atomic_store(&own.thread_ids, thread_ids);
	atomic_store(&own.all_syncs, true);
	atomic_store(&own.is_subscribed, false);
	atomic_store(&own.is_early, false);
	atomic_store(&own.period_ms, 0);
}

static void note(atomic_bool *which, bool on)
{
	if (atomic_exchange(which, on) != on)
		atomic_fetch_add(&own.switched_on, on ? 1 : -1);
}

static void note_kind(int kind, bool on)
{
	if (kind >= 0 && kind < KINDS)
		note(&own.kinds[kind], on);
}

static void note_call(int domain, uint32_t cbid, bool on)
{
	if (cbid < CALLS)
		note(&own.calls[domain][cbid], on);
}

static void note_clock(fw_cupti_timestamp *now)
{
	atomic_store(&own.clock, now);
	atomic_store(&own.had_clock, true);
}

static void give_subscriber(void)
{
	void *subscriber = atomic_exchange(&lent, NULL);

	if (subscriber && real.cuptiUnsubscribe) {
		real.cuptiUnsubscribe(subscriber);
		atomic_store(&was_taken, true);
	}
}

static void ask_for(uint8_t **buffer, size_t *bytes, size_t *max_records, int i)
{
	fw_cupti_buffer_request *request = atomic_load(&pairs[i].request);

	request(buffer, bytes, max_records);
	if (*buffer)
		atomic_fetch_add(&own.buffers_out, 1);
}

static void hand_over(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
		      size_t valid_bytes, int i)
{
	fw_cupti_buffer_complete *complete = atomic_load(&pairs[i].complete);

	/* One that we gave out before: the program must not be asked to free it. */
	if (fw_pool_give(buffer, valid_bytes))
		return;
	complete(context, stream, buffer, bytes, valid_bytes);
	/* Those from before cuptiFinalize are not counted any more. */
	if (atomic_fetch_sub(&own.buffers_out, 1) <= 0)
		atomic_fetch_add(&own.buffers_out, 1);
}

#define PAIR(i)                                                                                    \
	static void request_##i(uint8_t **buffer, size_t *bytes, size_t *max_records)              \
	{                                                                                          \
		ask_for(buffer, bytes, max_records, i);                                            \
	}                                                                                          \
	static void complete_##i(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,    \
				 size_t valid_bytes)                                               \
	{                                                                                          \
		hand_over(context, stream, buffer, bytes, valid_bytes, i);                         \
	}
PAIR(0)
PAIR(1)
PAIR(2)
PAIR(3)

/* Which functions CUPTI gets for the program's. */
struct way {
	fw_cupti_buffer_request *request;
	fw_cupti_buffer_complete *complete;
	int pair;
};

static const struct way ways[PAIRS] = {
	{ request_0, complete_0, 0 },
	{ request_1, complete_1, 1 },
	{ request_2, complete_2, 2 },
	{ request_3, complete_3, 3 },
};

/* The program's own where they are not valid, or where there is no room for them. */
static struct way choose(bool is_counted, fw_cupti_buffer_request *request,
			 fw_cupti_buffer_complete *complete)
{
	for (int i = 0; is_counted && request && complete && i < PAIRS; i++) {
		fw_cupti_buffer_request *none = NULL;

		if (atomic_compare_exchange_strong(&pairs[i].request, &none, request))
			atomic_store(&pairs[i].complete, complete);
		else if (none != request || atomic_load(&pairs[i].complete) != complete)
			continue;
		return ways[i];
	}
	return (struct way){ request, complete, PAIR_UNKNOWN };
}

static void futex(_Atomic uint32_t *word, int operation, uint32_t value,
		  const struct timespec *timeout)
{
	syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
}

static void wait_for_grant(void)
{
	const struct timespec moment = { .tv_nsec = 10 * MS };
	int64_t deadline = fw_sink_now() + PATIENCE_NS;

	while (!atomic_load(&granted) && atomic_load(&is_live) && fw_sink_now() < deadline) {
		futex(bell, FUTEX_WAKE_PRIVATE, 1, NULL);
		futex(&granted, FUTEX_WAIT_PRIVATE, 0, &moment);
	}
}

/* False: the call is none of our business. */
static bool enter(void)
{
	int saved = errno;

	if (!atomic_load(&is_live))
		return false;
	/* Before granted is looked at: fw_profiler_take_back() does it the other way round. */
	atomic_fetch_add(&inside, 1);
	if (!atomic_load(&granted))
		wait_for_grant();
	errno = saved;
	return true;
}

static void leave(void)
{
	atomic_store(&last_call_mono, fw_sink_now());
	atomic_fetch_sub(&inside, 1);
}

#define FW_PROFILER(name, parameters, arguments, before, after)                                    \
	static int on_##name parameters                                                            \
	{                                                                                          \
		bool is_counted = enter();                                                         \
		int result;                                                                        \
		before;                                                                            \
		result = real.name arguments;                                                      \
		if (is_counted && !result) {                                                       \
			after;                                                                     \
		}                                                                                  \
		if (is_counted)                                                                    \
			leave();                                                                   \
		return result;                                                                     \
	}
#include "inject/profiler.def"
#undef FW_PROFILER

static const struct fw_symbol symbols[] = {
#define FW_PROFILER(name, parameters, arguments, before, after)                                    \
	{ #name, offsetof(struct real, name), false },
#include "inject/profiler.def"
#undef FW_PROFILER
};
#define SYMBOLS (sizeof(symbols) / sizeof(symbols[0]))

static bool install(void)
{
	const struct fw_hook hooks[] = {
#define FW_PROFILER(name, parameters, arguments, before, after)                                    \
	{ #name, (uintptr_t)real.name, (uintptr_t)on_##name },
#include "inject/profiler.def"
#undef FW_PROFILER
	};

	return fw_hooks_install(hooks, SYMBOLS) > 0;
}

void fw_profiler_open(struct fw_profiler_before before, _Atomic uint32_t *writers_bell)
{
	bell = writers_bell;
	set_defaults(before.thread_ids);
	atomic_store(&own.is_early, before.has_callbacks);
	atomic_store(&own.is_subscribed, before.has_subscriber);
	atomic_store(&inside, 0);
	atomic_store(&granted, 0);
	atomic_store(&is_live, true);
}

void fw_profiler_watch(const struct fw_cupti *cupti)
{
	/* A process in which CUDA was started before it forked cannot use it. */
	if (real.cuptiActivityEnable)
		return;
	fw_symbols_find(cupti->handle, symbols, SYMBOLS, &real);
	if (real.cuptiActivityEnable && real.cuptiActivityRegisterCallbacks && install())
		atomic_store(&is_known, true);
}

void fw_profiler_close(void)
{
	atomic_store(&is_live, false);
	atomic_store(&granted, 1);
	futex(&granted, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL);
}

void fw_profiler_end_early(void)
{
	atomic_store(&own.is_early, false);
}

bool fw_profiler_is_waiting(void)
{
	return atomic_load(&inside) && !atomic_load(&granted);
}

bool fw_profiler_is_at_work(int64_t now_mono)
{
	if (!atomic_load(&is_live))
		return false;
	return atomic_load(&inside) || atomic_load(&own.switched_on) ||
	       atomic_load(&own.buffers_out) > 0 || atomic_load(&own.is_early) ||
	       atomic_load(&own.pair) == PAIR_UNKNOWN ||
	       (atomic_load(&last_call_mono) && now_mono - atomic_load(&last_call_mono) < REST_NS);
}

void fw_profiler_grant(void)
{
	atomic_store(&granted, 1);
	futex(&granted, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL);
}

bool fw_profiler_take_back(void)
{
	atomic_store(&granted, 0);
	if (!atomic_load(&inside))
		return true;
	fw_profiler_grant();
	return false;
}

bool fw_profiler_has_subscriber(void)
{
	return atomic_load(&own.is_subscribed);
}

static bool has_call(int domain)
{
	for (int i = 0; i < CALLS; i++)
		if (atomic_load(&own.calls[domain][i]))
			return true;
	return false;
}

bool fw_profiler_has_kind(int kind)
{
	if (kind < 0 || kind >= KINDS)
		return false;
	return atomic_load(&own.kinds[kind]) || (kind == FW_CUPTI_RUNTIME && has_call(0)) ||
	       (kind == FW_CUPTI_DRIVER && has_call(1));
}

struct fw_profiler_own fw_profiler_own(void)
{
	int pair = atomic_load(&own.pair);

	if (!atomic_load(&is_known))
		return (struct fw_profiler_own){ .all_syncs = true };
	return (struct fw_profiler_own){
		.is_known = true,
		.request = pair >= 0 ? ways[pair].request : NULL,
		.complete = pair >= 0 ? ways[pair].complete : NULL,
		.clock = atomic_load(&own.clock),
		.had_clock = atomic_load(&own.had_clock),
		.thread_ids = atomic_load(&own.thread_ids),
		.all_syncs = atomic_load(&own.all_syncs),
		.period_ms = atomic_load(&own.period_ms),
	};
}

void fw_profiler_lend_subscriber(void *subscriber)
{
	atomic_store(&lent, subscriber);
}

bool fw_profiler_took_subscriber(void)
{
	return atomic_exchange(&was_taken, false);
}
