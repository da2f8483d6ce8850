/*
 * A stand-in for libcupti.so: what a client may ask of it, and the records that it then gets. It hears of the
 * program's calls from the stand-in for libcuda. A record is made for what is enabled, and for nothing else.
 *
 * Two things are stricter than in NVIDIA's: a call from a forked child aborts, since the real one may hang
 * there, and bytes between records are no record's.
 */
#include "cupti.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KINDS     1024u
#define CBIDS     1024u
#define DOMAINS   16u
#define DEPTH     16u
#define FUNCTIONS 64u

static atomic_bool kinds[KINDS];
static atomic_bool calls[2][CBIDS]; /* by enum fake_domain */
static atomic_bool callbacks[DOMAINS][CBIDS];
static atomic_bool contexts[8]; /* made, by device */
static _Atomic uint32_t thread_id_type;
static _Atomic(CUpti_CallbackFunc) subscriber;
static void *_Atomic subscriber_user;
static _Atomic(CUpti_TimestampCallbackFunc) client_clock;
static _Atomic int64_t client_offset;
static int64_t loaded_at, clock_offset;
static atomic_bool is_child;
static _Thread_local struct {
	CUpti_ExternalCorrelationKind kind;
	uint64_t id;
} external[DEPTH];
static _Thread_local unsigned external_depth;

enum toolkit cupti_toolkit(void)
{
	static const char *const names[] = { "11.8", "12.0", "12.2", "12.8", "13.0" };
	const char *version = fake_script("version");

	for (unsigned i = 0; version && i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(version, names[i]))
			return (enum toolkit)i;
	return FAKE_TOOLKIT;
}

/* How often each function was called, for errors at the N-th call. */
CUptiResult cupti_error(const char *function)
{
	static struct {
		const char *name;
		unsigned long count;
	} counts[FUNCTIONS];
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	CUptiResult result = CUPTI_SUCCESS;
	const char *line;
	unsigned i = 0;

	if (is_child) {
		fprintf(stderr, "fake libcupti: %s called in a forked child\n", function);
		abort();
	}
	for (unsigned n = 0; (line = fake_script_line("hang", n)); n++)
		while (!strcmp(line, function))
			pause();
	if (!fake_script("error"))
		return CUPTI_SUCCESS;
	pthread_mutex_lock(&lock);
	while (i < FUNCTIONS - 1 && counts[i].name && counts[i].name != function)
		i++;
	counts[i].name = function;
	counts[i].count++;
	for (unsigned n = 0; (line = fake_script_line("error", n)); n++) {
		char name[64];
		unsigned long code = 0, nth = 0;

		if (sscanf(line, "%63s %lu %lu", name, &code, &nth) >= 2 &&
		    !strcmp(name, function) && (!nth || nth == counts[i].count))
			result = (CUptiResult)code;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

#define CHECK(function)                                                                            \
	do {                                                                                       \
		CUptiResult error_ = cupti_error(function);                                        \
		if (error_)                                                                        \
			return error_;                                                             \
	} while (0)

static void in_child(void)
{
	is_child = true;
}

uint64_t cupti_time(int64_t mono)
{
	long long offset = clock_offset, ppm = 0, after = INT64_MAX, step = 0;
	const char *clock = fake_script("clock"), *jump = fake_script("clock_step");

	if (client_clock)
		return (uint64_t)(mono + client_offset);
	if (clock)
		sscanf(clock, "%lld %lld", &offset, &ppm);
	if (jump)
		sscanf(jump, "%lld %lld", &after, &step);
	offset += (mono - loaded_at) / 1000 * ppm / 1000;
	if (mono - loaded_at >= after)
		offset += step;
	return (uint64_t)(mono + offset);
}

static bool is_callback(unsigned domain, uint32_t cbid)
{
	return subscriber && domain < DOMAINS && cbid < CBIDS && callbacks[domain][cbid];
}

static void call_back(struct fake_call *call, CUpti_ApiCallbackSite site)
{
	unsigned domain = call->domain == FAKE_RUNTIME ? CUPTI_CB_DOMAIN_RUNTIME_API
						       : CUPTI_CB_DOMAIN_DRIVER_API;
	CUpti_CallbackFunc function = subscriber;
	CUpti_CallbackData data = {
		.callbackSite = site,
		.functionName = call->name,
		.functionReturnValue = &call->result,
		.symbolName = call->symbol,
		.contextUid = 1,
		.correlationData = &call->user,
		.correlationId = call->correlation,
	};

	if (function && is_callback(domain, call->cbid))
		function(subscriber_user, (CUpti_CallbackDomain)domain, call->cbid, &data);
}

static void tell_resource(uint32_t cbid, const struct fake_activity *a)
{
	CUpti_CallbackFunc function = subscriber;
	CUpti_ResourceData data = { .context = (CUcontext)(uintptr_t)a->context };

	if (function && is_callback(CUPTI_CB_DOMAIN_RESOURCE, cbid))
		function(subscriber_user, CUPTI_CB_DOMAIN_RESOURCE, cbid, &data);
}

static void put_device(uint32_t device, bool is_context)
{
	uint8_t record[RECORD_BYTES];

	buffers_put(record,
		    is_context ? record_of_context(record, device)
			       : record_of_device(record, device),
		    0);
}

/* The runtime does not go through the driver's public entries, so CUPTI does not see what it calls there. */
static bool is_visible(const struct fake_call *call)
{
	return !call->is_nested || fake_script_number("nested", 0);
}

static void on_enter(struct fake_call *call)
{
	if (is_visible(call))
		call_back(call, CUPTI_API_ENTER);
}

static void on_exit_of(struct fake_call *call)
{
	CUpti_ActivityKind kind = call->domain == FAKE_RUNTIME ? CUPTI_ACTIVITY_KIND_RUNTIME
							       : CUPTI_ACTIVITY_KIND_DRIVER;
	uint32_t thread = thread_id_type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM
				  ? (uint32_t)syscall(SYS_gettid)
				  : (uint32_t)(uintptr_t)pthread_self();
	uint8_t record[RECORD_BYTES];

	if (!is_visible(call))
		return;
	call_back(call, CUPTI_API_EXIT);
	if (!kinds[kind] && !calls[call->domain][call->cbid])
		return;
	for (unsigned i = external_depth; i > 0 && kinds[CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION];
	     i--)
		buffers_put(record,
			    record_of_external(record, external[i - 1].kind, external[i - 1].id,
					       call->correlation),
			    0);
	buffers_put(record, record_of_call(record, call, thread), 0);
}

/* The kind that a client enables to get it; 0: nobody wants it now. */
static CUpti_ActivityKind wanted(const struct fake_activity *a)
{
	static const CUpti_ActivityKind of[] = {
		[FAKE_KERNEL] = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
		[FAKE_COPY] = CUPTI_ACTIVITY_KIND_MEMCPY,
		[FAKE_MEMSET] = CUPTI_ACTIVITY_KIND_MEMSET,
		[FAKE_GRAPH] = CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
		[FAKE_SYNC] = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
		[FAKE_EVENT] = CUPTI_ACTIVITY_KIND_CUDA_EVENT,
		[FAKE_MEMORY] = CUPTI_ACTIVITY_KIND_MEMORY2,
		[FAKE_MODULE] = CUPTI_ACTIVITY_KIND_MODULE,
		[FAKE_STREAM] = CUPTI_ACTIVITY_KIND_STREAM,
		[FAKE_CONTEXT] = CUPTI_ACTIVITY_KIND_INVALID,
	};

	/* A graph is recorded as a whole or node by node. */
	if (a->node && kinds[CUPTI_ACTIVITY_KIND_GRAPH_TRACE])
		return CUPTI_ACTIVITY_KIND_INVALID;
	if (a->what == FAKE_KERNEL && kinds[CUPTI_ACTIVITY_KIND_KERNEL])
		return CUPTI_ACTIVITY_KIND_KERNEL;
	return kinds[of[a->what]] ? of[a->what] : CUPTI_ACTIVITY_KIND_INVALID;
}

static void put_uninvited(const struct fake_activity *a)
{
	uint8_t record[RECORD_BYTES];
	const char *line;

	for (unsigned n = 0; (line = fake_script_line("uninvited", n)); n++) {
		unsigned long kind = strtoul(line, NULL, 0);

		if (kind == CUPTI_ACTIVITY_KIND_OVERHEAD)
			buffers_put(record, record_of_overhead(record, a->start, a->end), 0);
		else if (kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)
			buffers_put(record, record_of_external(record, 5, 1, a->correlation), 0);
		else
			buffers_put(record, record_unknown(record), 0);
	}
}

static void on_context(const struct fake_activity *a)
{
	contexts[a->device] = true;
	tell_resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, a);
	if (kinds[CUPTI_ACTIVITY_KIND_DEVICE])
		put_device(a->device, false);
	if (kinds[CUPTI_ACTIVITY_KIND_CONTEXT])
		put_device(a->device, true);
}

static void on_activity(const struct fake_activity *a)
{
	uint8_t record[RECORD_BYTES];
	CUpti_ActivityKind kind = wanted(a);

	if (a->what == FAKE_CONTEXT)
		on_context(a);
	if (a->what == FAKE_MODULE)
		tell_resource(CUPTI_CBID_RESOURCE_MODULE_LOADED, a);
	if (kind)
		buffers_put(record, record_of_activity(record, a, kind), a->end);
	if (a->what == FAKE_KERNEL)
		put_uninvited(a);
}

__attribute__((constructor)) static void start(void)
{
	static const struct fake_hooks hooks = { on_enter, on_exit_of, on_activity };
	struct timespec real;

	clock_gettime(CLOCK_REALTIME, &real);
	loaded_at = fake_now();
	clock_offset = (int64_t)real.tv_sec * 1000000000 + real.tv_nsec - loaded_at;
	pthread_atfork(NULL, NULL, in_child);
	fake_gpu_attach(&hooks);
}

CUptiResult cuptiGetVersion(uint32_t *version)
{
	/* As the libraries of those toolkits answer; 12.0 and 12.1 say the same as 11.8. */
	static const uint32_t versions[] = { 18, 18, 20, 26, 130001 };

	CHECK("cuptiGetVersion");
	*version = versions[cupti_toolkit()];
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t *timestamp)
{
	CHECK("cuptiGetTimestamp");
	*timestamp = cupti_time(fake_now());
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
	*text = result ? "CUPTI_ERROR_OF_THE_SCRIPT" : "CUPTI_SUCCESS";
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetLastError(void)
{
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock)
{
	CHECK("cuptiActivityRegisterTimestampCallback");
	if (!clock)
		return CUPTI_ERROR_INVALID_PARAMETER;
	client_offset = (int64_t)clock() - fake_now();
	client_clock = clock;
	return CUPTI_SUCCESS;
}

static CUptiResult enable(CUpti_ActivityKind kind, bool on)
{
	if (kind <= CUPTI_ACTIVITY_KIND_INVALID || (unsigned)kind >= KINDS)
		return CUPTI_ERROR_INVALID_KIND;
	kinds[kind] = on;
	if (kind == CUPTI_ACTIVITY_KIND_DRIVER || kind == CUPTI_ACTIVITY_KIND_RUNTIME)
		for (unsigned i = 0; i < CBIDS; i++)
			calls[kind == CUPTI_ACTIVITY_KIND_RUNTIME][i] = false;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
	CHECK("cuptiActivityEnable");
	return enable(kind, true);
}

/* Also what there is already: devices and contexts. */
CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind kind)
{
	CUptiResult result;

	CHECK("cuptiActivityEnableAndDump");
	result = enable(kind, true);
	for (uint32_t i = 0; i < 8 && !result; i++)
		if (contexts[i] &&
		    (kind == CUPTI_ACTIVITY_KIND_DEVICE || kind == CUPTI_ACTIVITY_KIND_CONTEXT))
			put_device(i, kind == CUPTI_ACTIVITY_KIND_CONTEXT);
	return result;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
	CHECK("cuptiActivityDisable");
	return enable(kind, false);
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type)
{
	CHECK("cuptiSetThreadIdType");
	thread_id_type = type;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType *type)
{
	CHECK("cuptiGetThreadIdType");
	*type = (CUpti_ActivityThreadIdType)thread_id_type;
	return CUPTI_SUCCESS;
}

/* Calls one by one came with CUDA 12.3 to 12.8; the library of an older toolkit lacks these. */
#if !FAKE_IS_OLD
static CUptiResult enable_call(enum fake_domain domain, CUpti_CallbackId cbid, uint8_t on)
{
	if (cbid >= CBIDS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	calls[domain][cbid] = on;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t on)
{
	CHECK("cuptiActivityEnableRuntimeApi");
	return enable_call(FAKE_RUNTIME, cbid, on);
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t on)
{
	CHECK("cuptiActivityEnableDriverApi");
	return enable_call(FAKE_DRIVER, cbid, on);
}

CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t on)
{
	(void)on;
	CHECK("cuptiActivityEnableAllSyncRecords");
	return CUPTI_SUCCESS;
}
#endif

CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t on)
{
	(void)on;
	CHECK("cuptiActivityEnableLatencyTimestamps");
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id)
{
	if (external_depth == DEPTH)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	external[external_depth].kind = kind;
	external[external_depth++].id = id;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
						  uint64_t *last)
{
	(void)kind;
	if (!external_depth)
		return CUPTI_ERROR_QUEUE_EMPTY;
	external_depth--;
	if (last)
		*last = external[external_depth].id;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *user)
{
	CHECK("cuptiSubscribe");
	if (subscriber)
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	subscriber_user = user;
	subscriber = callback;
	*handle = (CUpti_SubscriberHandle)&subscriber;
	return CUPTI_SUCCESS;
}

static void forget_subscriber(void)
{
	subscriber = NULL;
	for (unsigned d = 0; d < DOMAINS; d++)
		for (unsigned i = 0; i < CBIDS; i++)
			callbacks[d][i] = false;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle)
{
	CHECK("cuptiUnsubscribe");
	if ((void *)handle != (void *)&subscriber || !subscriber)
		return CUPTI_ERROR_INVALID_PARAMETER;
	forget_subscriber();
	return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t on, CUpti_SubscriberHandle handle,
				CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	CHECK("cuptiEnableCallback");
	if ((void *)handle != (void *)&subscriber || (unsigned)domain >= DOMAINS || cbid >= CBIDS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	callbacks[domain][cbid] = on;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableDomain(uint32_t on, CUpti_SubscriberHandle handle,
			      CUpti_CallbackDomain domain)
{
	CHECK("cuptiEnableDomain");
	if ((void *)handle != (void *)&subscriber || (unsigned)domain >= DOMAINS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (unsigned i = 0; i < CBIDS; i++)
		callbacks[domain][i] = on;
	return CUPTI_SUCCESS;
}

/* As if CUPTI had never been used; buffers that are out do not come back. */
CUptiResult cuptiFinalize(void)
{
	CHECK("cuptiFinalize");
	for (unsigned i = 0; i < KINDS; i++)
		kinds[i] = false;
	for (unsigned i = 0; i < CBIDS; i++)
		calls[0][i] = calls[1][i] = false;
	forget_subscriber();
	client_clock = NULL;
	buffers_reset();
	return CUPTI_SUCCESS;
}
