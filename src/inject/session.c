#include "inject/session.h"

#include "inject/layout.h"
#include "inject/pool.h"
#include "inject/registered.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const struct kind {
	enum fw_cupti_kind kind;
	const char *name; /* as inject_without has it */
	const char *what; /* is missing where CUPTI refuses; NULL: nothing that matters */
} kinds[] = {
	{ FW_CUPTI_DEVICE, "device", "devices" },
	{ FW_CUPTI_CONTEXT, "context", "contexts" },
	{ FW_CUPTI_STREAM, "stream", "streams" },
	{ FW_CUPTI_CONCURRENT_KERNEL, "kernel", "kernels" },
	{ FW_CUPTI_MEMCPY, "copy", "copies" },
	{ FW_CUPTI_MEMCPY2, "peer", "copies between devices" },
	{ FW_CUPTI_MEMSET, "memset", "memsets" },
	{ FW_CUPTI_SYNCHRONIZATION, "sync", "synchronisations" },
	{ FW_CUPTI_CUDA_EVENT, "event", "event records" },
	{ FW_CUPTI_GRAPH_TRACE, "graph", "graph launches" },
	{ FW_CUPTI_MEMORY2, "memory", "allocations" },
	{ FW_CUPTI_MODULE, "module", NULL }, /* the calls that load are recorded in any case */
	{ FW_CUPTI_OVERHEAD, "overhead", "CUPTI's own work" },
	{ FW_CUPTI_EXTERNAL_CORRELATION, "external", "external correlation" },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static _Atomic bool is_refusing;

/* Called by threads of the program and of CUPTI. */
static void request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	*max_records = 0;
	*bytes = 0;
	*buffer = atomic_load_explicit(&is_refusing, memory_order_relaxed) ? NULL
									   : fw_pool_take(bytes);
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
		     size_t valid_bytes)
{
	(void)context;
	(void)stream;
	(void)bytes;
	fw_pool_give(buffer, valid_bytes);
}

void fw_session_refuse(bool on)
{
	atomic_store(&is_refusing, on);
}

static void note(struct fw_session *s, const char *what, int result)
{
	char *text = s->cannot[s->cannot_count];

	if (s->cannot_count == FW_SESSION_CANNOT || s->was_yielded)
		return;
	snprintf(text, FW_SESSION_CANNOT_BYTES, "%s: CUPTI %u answers %d (%s)", what, s->version,
		 result, fw_cupti_error_text(&s->cupti, result));
	s->cannot_count++;
}

static void note_missing(struct fw_session *s, const char *what)
{
	if (s->cannot_count == FW_SESSION_CANNOT || s->was_yielded)
		return;
	snprintf(s->cannot[s->cannot_count++], FW_SESSION_CANNOT_BYTES,
		 "%s: CUPTI %u has no call for it", what, s->version);
}

/* cupti_callbacks.h: the beginning of CUpti_CallbackData. */
enum { SITE_ENTER, SITE_EXIT };

/* cupti_runtime_cbid.h and cupti_driver_cbid.h. */
enum { RUNTIME_START = 171, RUNTIME_STOP = 172, DRIVER_START = 308, DRIVER_STOP = 309 };

/* A call of cudaProfilerStart or Stop waits so long for the writer, so that what follows is in or out. */
#define FOLLOW_MS 100

static _Atomic bool is_in_range, has_followed;

bool fw_session_in_range(void)
{
	return atomic_load(&is_in_range);
}

void fw_session_follow_range(bool in_range)
{
	if (in_range == atomic_load(&is_in_range))
		atomic_store(&has_followed, true);
}

/* The thread that calls cudaProfilerStart or Stop. */
static void on_profiler_call(void *user, int domain, uint32_t cbid, const void *data)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	bool is_start = cbid == (domain == FW_CUPTI_DRIVER_API ? DRIVER_START : RUNTIME_START);
	int saved = errno;
	uint32_t site;

	(void)user;
	memcpy(&site, data, sizeof(site));
	if (site == (is_start ? SITE_EXIT : SITE_ENTER)) {
		atomic_store(&has_followed, false);
		atomic_store(&is_in_range, is_start);
		for (int i = 0; i < FOLLOW_MS && !atomic_load(&has_followed); i++)
			nanosleep(&moment, NULL);
	}
	errno = saved;
}

static void subscribe(struct fw_session *s)
{
	static const struct {
		int domain;
		uint32_t cbid;
	} calls[] = {
		{ FW_CUPTI_RUNTIME_API, RUNTIME_START },
		{ FW_CUPTI_RUNTIME_API, RUNTIME_STOP },
		{ FW_CUPTI_DRIVER_API, DRIVER_START },
		{ FW_CUPTI_DRIVER_API, DRIVER_STOP },
	};
	int result = -1;

	if (s->cupti.subscribe && s->cupti.enable_callback)
		result = s->cupti.subscribe(&s->subscriber, on_profiler_call, NULL);
	for (size_t i = 0; !result && i < sizeof(calls) / sizeof(calls[0]); i++)
		result = s->cupti.enable_callback(1, s->subscriber, calls[i].domain, calls[i].cbid);
	if (result) {
		note(s, "only what is between cudaProfilerStart and Stop (all is recorded)",
		     result);
		s->options->is_ranged = false;
	} else {
		fw_profiler_lend_subscriber(s->subscriber);
	}
}

static void ignore_call(void *user, int domain, uint32_t cbid, const void *data)
{
	(void)user, (void)domain, (void)cbid, (void)data;
}

/*
 * Where the program brought CUPTI along, it may have begun with it already. A second subscriber is refused.
 * Where CUPTI's data do not tell whether callbacks are registered, none are: who brings CUPTI along is mostly PyTorch.
 */
static void look_for_profiler(struct fw_session *s)
{
	void *subscriber = NULL;

	s->before.thread_ids = FW_CUPTI_THREAD_ID_PTHREAD;
	if (!s->cupti.was_loaded)
		return;
	if (s->cupti.get_thread_id_type && s->cupti.get_thread_id_type(&s->before.thread_ids))
		s->before.thread_ids = FW_CUPTI_THREAD_ID_PTHREAD;
	s->before.has_callbacks = fw_registered_look(&s->cupti) == FW_REGISTERED_SOME;
	if (!s->cupti.subscribe || !s->cupti.unsubscribe)
		return;
	s->before.has_subscriber = s->cupti.subscribe(&subscriber, ignore_call, NULL) != 0;
	if (!s->before.has_subscriber)
		s->cupti.unsubscribe(subscriber);
}

fw_status fw_session_open(struct fw_session *session, struct fw_inject_options *options,
			  struct fw_error *err)
{
	fw_status status;

	memset(session, 0, sizeof(*session));
	session->options = options;
	status = fw_cupti_open(&session->cupti, err);
	if (status)
		return status;
	if (session->cupti.get_version(&session->version) ||
	    session->version < FW_CUPTI_VERSION_LEAST)
		return fw_fail(err, FW_ERR_UNSUPPORTED,
			       "%s: CUPTI %u; 18 (CUDA 11.8) or later is needed",
			       session->cupti.path, session->version);
	if (session->version > FW_CUPTI_VERSION_KNOWN)
		snprintf(session->cannot[session->cannot_count++], FW_SESSION_CANNOT_BYTES,
			 "what CUPTI %u has added since %u (CUDA 13.0)", session->version,
			 FW_CUPTI_VERSION_KNOWN);
	session->is_open = true;
	look_for_profiler(session);
	if (options->is_ranged)
		subscribe(session);
	return FW_OK;
}

/* Thread ids as the kernel numbers them, and no records of polling. */
static void set_manners(struct fw_session *s)
{
	int result;

	if (!s->cupti.set_thread_id_type) {
		note_missing(s, "ids of threads");
	} else {
		result = s->cupti.set_thread_id_type(FW_CUPTI_THREAD_ID_SYSTEM);
		if (result)
			note(s, "ids of threads", result);
	}
	if (s->cupti.activity_enable_all_sync_records)
		s->cupti.activity_enable_all_sync_records(0);
}

/*
 * With either of the kinds that `syncs` stands for, an eager fp16 ResNet-50 took 76 to 83 % longer on an
 * H200 (bench/results/record-kinds-h200.json): cuDNN records and awaits an event around each convolution.
 * All other kinds together cost about what kernel records alone do.
 */
static bool is_wanted(const struct fw_inject_options *options, const struct kind *kind)
{
	if (kind->kind == FW_CUPTI_GRAPH_TRACE && options->graph_nodes)
		return false;
	if (kind->kind == FW_CUPTI_SYNCHRONIZATION || kind->kind == FW_CUPTI_CUDA_EVENT)
		return options->syncs && !fw_inject_is_without(options, kind->name);
	return !fw_inject_is_without(options, kind->name);
}

static void enable_kinds(struct fw_session *s)
{
	for (size_t i = 0; i < KINDS; i++) {
		int result;

		if (!is_wanted(s->options, &kinds[i]))
			continue;
		result = s->cupti.activity_enable(kinds[i].kind);
		s->enabled_kinds[kinds[i].kind] = !result;
		if (result && kinds[i].what)
			note(s, kinds[i].what, result);
	}
}

/*
 * For measurements. A runtime's launch calls the driver's, whose record costs less: on an H200 the runtime's took
 * 1.4 to 8.6 % of a launch more. But the runtime loads a kernel before it calls the driver.
 */
static bool is_left_to_driver(const struct fw_session *s, const struct fw_call_api *api)
{
	return !api->is_driver && strstr(api->name, "LaunchKernel") &&
	       fw_inject_is_without(s->options, "runtime-launches");
}

/* Without a choice all calls are asked for, and fw_convert_record leaves out what is not in apis.def. */
static void enable_domain(struct fw_session *s, bool is_driver,
			  int (*choose)(uint32_t cbid, uint8_t enable))
{
	int kind = is_driver ? FW_CUPTI_DRIVER : FW_CUPTI_RUNTIME;
	const struct fw_call_api *api;

	if (!choose) {
		int result = s->cupti.activity_enable(kind);

		s->enabled_kinds[kind] = !result;
		note_missing(s,
			     is_driver ? "a choice of driver calls (all are traced, which costs)"
				       : "a choice of runtime calls (all are traced, which costs)");
		return;
	}
	for (size_t i = 0; (api = fw_calls_at(i)); i++)
		if (api->is_driver == is_driver && !is_left_to_driver(s, api))
			s->enabled_calls[is_driver][api->cbid] = choose(api->cbid, 1) == 0;
}

static void enable_calls(struct fw_session *s)
{
	if (!fw_inject_is_without(s->options, "runtime"))
		enable_domain(s, false, s->cupti.activity_enable_runtime_api);
	if (!fw_inject_is_without(s->options, "driver"))
		enable_domain(s, true, s->cupti.activity_enable_driver_api);
}

/* CUPTI's own clock where no other tool has set one. */
static uint64_t realtime_ns(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The program's clock, or one of another tool that nobody has told us of, is not ours. */
static bool is_clock_foreign(const struct fw_session *s)
{
	struct fw_profiler_own own = fw_profiler_own();

	return s->was_yielded && (!own.is_known || own.had_clock);
}

void fw_session_arm(struct fw_session *session)
{
	int result;

	if (!session->is_open || session->is_armed)
		return;
	fw_session_refuse(false);
	session->was_armed = true;
	result = session->cupti.activity_register_callbacks(request, complete);
	if (result) {
		note(session, "anything of the GPU", result);
		session->is_open = false;
		return;
	}
	if (is_clock_foreign(session) && session->cupti.activity_register_timestamp_callback)
		session->cupti.activity_register_timestamp_callback(realtime_ns);
	set_manners(session);
	enable_kinds(session);
	enable_calls(session);
	if (session->options->period_ms && session->cupti.activity_flush_period)
		session->cupti.activity_flush_period(session->options->period_ms);
	session->is_armed = true;
}

void fw_session_disarm(struct fw_session *session)
{
	struct fw_cupti *cupti = &session->cupti;
	const struct fw_call_api *api;

	if (!session->is_armed)
		return;
	for (size_t i = 0; (api = fw_calls_at(i)); i++) {
		if (!session->enabled_calls[api->is_driver][api->cbid])
			continue;
		if (api->is_driver)
			cupti->activity_enable_driver_api(api->cbid, 0);
		else
			cupti->activity_enable_runtime_api(api->cbid, 0);
		session->enabled_calls[api->is_driver][api->cbid] = false;
	}
	for (int kind = 0; kind < 64; kind++) {
		/* Where it did not wait for us, it may be the program's by now. */
		if (session->enabled_kinds[kind] && !fw_profiler_has_kind(kind))
			cupti->activity_disable(kind);
		session->enabled_kinds[kind] = false;
	}
	session->is_armed = false;
}

void fw_session_watch(struct fw_session *session)
{
	if (session->is_open && !fw_inject_is_without(session->options, "hooks"))
		fw_profiler_watch(&session->cupti);
}

void fw_session_yield(struct fw_session *session)
{
	const struct fw_cupti *cupti = &session->cupti;
	struct fw_profiler_own own = fw_profiler_own();

	session->was_yielded = true;
	if (!session->was_armed)
		return;
	if (own.request)
		cupti->activity_register_callbacks(own.request, own.complete);
	else
		fw_session_refuse(true);
	if (own.clock && cupti->activity_register_timestamp_callback)
		cupti->activity_register_timestamp_callback(own.clock);
	if (cupti->set_thread_id_type)
		cupti->set_thread_id_type(own.thread_ids);
	if (cupti->activity_enable_all_sync_records)
		cupti->activity_enable_all_sync_records(own.all_syncs);
	if (session->options->period_ms && cupti->activity_flush_period)
		cupti->activity_flush_period(own.period_ms);
}

void fw_session_flush(struct fw_session *session, enum fw_cupti_flush how)
{
	if (session->was_armed)
		session->cupti.activity_flush_all(how);
}

uint64_t fw_session_dropped(struct fw_session *session)
{
	size_t dropped = 0;

	if (!session->was_armed ||
	    session->cupti.activity_get_num_dropped_records(NULL, 0, &dropped))
		return 0;
	return dropped;
}

bool fw_session_read_clock(struct fw_session *session, struct fw_rec_clock *clock)
{
	*clock = (struct fw_rec_clock){ .before_mono = 0, .after_mono = INT64_MAX };
	if (!session->is_open)
		return false;
	/* The pair whose readings lie closest together. */
	for (int i = 0; i < 3; i++) {
		struct fw_rec_clock pair = { .before_mono = fw_sink_now() };

		if (session->cupti.get_timestamp(&pair.cupti))
			return false;
		pair.after_mono = fw_sink_now();
		pair.realtime = (int64_t)realtime_ns();
		if (pair.after_mono - pair.before_mono < clock->after_mono - clock->before_mono)
			*clock = pair;
	}
	return true;
}

const void *fw_session_next(struct fw_session *session, uint8_t *buffer, size_t valid_bytes,
			    void **record)
{
	if (session->cupti.activity_get_next_record(buffer, valid_bytes, record))
		return NULL;
	return *record;
}
