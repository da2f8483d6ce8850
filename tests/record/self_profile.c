/*
 * A program that profiles itself through CUPTI: self_profile SCENARIO [COUNT]. It prints what it got: of each kind the
 * records, and a number that their order makes; of callbacks the same; every answer of CUPTI that is no success. So
 * a run with a recorder and one without can be compared. Without SELF_IS_LINKED it opens CUPTI when it needs it.
 */
#include "self_profile.h"

#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_BYTES (64u << 10)
#define KINDS        64
#define BUFFERS      4096

/* The recording comes back a tenth of a second after the last call. */
#define REST_MS 300

static struct {
	unsigned long count;
	uint64_t order;
} kinds[KINDS], callbacks[3];
static void *given[BUFFERS];
static unsigned given_count, foreign, errors;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUpti_SubscriberHandle subscriber;

#ifdef SELF_IS_LINKED
#define CUPTI(function) function
#else
static void *find(const char *name)
{
	static void *library;

	if (!library)
		library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_LOCAL);
	if (!library || !dlsym(library, name)) {
		fprintf(stderr, "self_profile: %s: %s\n", name, dlerror());
		exit(77);
	}
	return dlsym(library, name);
}
#define CUPTI(function) ((__typeof__(&function))find(#function))
#endif

static void answer(const char *call, int result)
{
	if (result)
		printf("%s answers %d\n", call, result);
}
#define ASK(function, ...) answer(#function, (int)CUPTI(function)(__VA_ARGS__))

static void mix(uint64_t *order, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		*order = (*order ^ ((const unsigned char *)bytes)[i]) * UINT64_C(1099511628211);
}

static void CUPTIAPI request(uint8_t **buffer, size_t *bytes, size_t *most)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*bytes = BUFFER_BYTES;
	*most = 0;
	pthread_mutex_lock(&lock);
	given[given_count++ % BUFFERS] = *buffer;
	pthread_mutex_unlock(&lock);
}

/* What of a record does not depend on the moment. */
static void note(const CUpti_Activity *record)
{
	unsigned kind = (unsigned)record->kind < KINDS ? (unsigned)record->kind : 0;
	uint64_t *order = &kinds[kind].order;

	kinds[kind].count++;
	if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
		const CUpti_ActivityKernel10 *k = (const void *)record;

		mix(order, k->name, strlen(k->name));
		mix(order, &k->gridX, sizeof(k->gridX));
		errors += !k->start || !k->end;
	} else if (record->kind == CUPTI_ACTIVITY_KIND_RUNTIME ||
		   record->kind == CUPTI_ACTIVITY_KIND_DRIVER) {
		const CUpti_ActivityAPI *call = (const void *)record;

		mix(order, &call->cbid, sizeof(call->cbid));
	}
}

static void CUPTIAPI take(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
			  size_t valid)
{
	CUpti_Activity *record = NULL;
	int is_ours = 0;

	(void)context, (void)stream, (void)bytes;
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < BUFFERS && !is_ours; i++)
		if (given[i] == buffer) {
			given[i] = NULL;
			is_ours = 1;
		}
	foreign += !is_ours;
	while (is_ours &&
	       CUPTI(cuptiActivityGetNextRecord)(buffer, valid, &record) == CUPTI_SUCCESS)
		note(record);
	pthread_mutex_unlock(&lock);
	if (is_ours)
		free(buffer);
}

static void CUPTIAPI on_call(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
			     const void *data)
{
	unsigned place = (unsigned)domain < 3 ? (unsigned)domain : 0;

	(void)user, (void)data;
	pthread_mutex_lock(&lock);
	callbacks[place].count++;
	mix(&callbacks[place].order, &cbid, sizeof(cbid));
	pthread_mutex_unlock(&lock);
}

static void show(const char *when)
{
	pthread_mutex_lock(&lock);
	printf("%s:", when);
	for (int i = 0; i < KINDS; i++)
		if (kinds[i].count)
			printf(" kind %d %lu (%016llx)", i, kinds[i].count,
			       (unsigned long long)kinds[i].order);
	for (int i = 0; i < 3; i++)
		if (callbacks[i].count)
			printf(" domain %d %lu (%016llx)", i, callbacks[i].count,
			       (unsigned long long)callbacks[i].order);
	printf("; %u without times, %u foreign buffers\n", errors, foreign);
	memset(kinds, 0, sizeof(kinds));
	memset(callbacks, 0, sizeof(callbacks));
	errors = foreign = 0;
	pthread_mutex_unlock(&lock);
}

static void rest(void)
{
	const struct timespec pause = { REST_MS / 1000, REST_MS % 1000 * 1000000L };

	nanosleep(&pause, NULL);
}

static void begin(void)
{
	ASK(cuptiActivityEnable, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	ASK(cuptiActivityEnable, CUPTI_ACTIVITY_KIND_MEMCPY);
	ASK(cuptiActivityEnable, CUPTI_ACTIVITY_KIND_RUNTIME);
}

static void end(void)
{
	ASK(cuptiActivityFlushAll, 0);
	ASK(cuptiActivityFlushAll, 1);
	ASK(cuptiActivityDisable, CUPTI_ACTIVITY_KIND_RUNTIME);
	ASK(cuptiActivityDisable, CUPTI_ACTIVITY_KIND_MEMCPY);
	ASK(cuptiActivityDisable, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

/* One session in the middle of the work. */
static void run_after(unsigned long count)
{
	work(count);
	ASK(cuptiActivityRegisterCallbacks, request, take);
	begin();
	work(count);
	end();
	show("session");
	rest();
	work(count);
	show("afterwards");
}

/* From before CUDA starts. */
static void run_before(unsigned long count)
{
	ASK(cuptiActivityRegisterCallbacks, request, take);
	begin();
	work(count);
	end();
	show("session");
	rest();
	work(count);
	show("afterwards");
}

/* The second session relies on the callbacks of the first, and ends in the other order. */
static void run_twice(unsigned long count)
{
	run_after(count);
	begin();
	ASK(cuptiActivityEnableAndDump, CUPTI_ACTIVITY_KIND_MEMSET);
	work(count);
	ASK(cuptiActivityDisable, CUPTI_ACTIVITY_KIND_MEMSET);
	ASK(cuptiActivityDisable, CUPTI_ACTIVITY_KIND_RUNTIME);
	ASK(cuptiActivityDisable, CUPTI_ACTIVITY_KIND_MEMCPY);
	ASK(cuptiActivityDisable, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	/* Its buffers are still out: they must not go to another. */
	rest();
	ASK(cuptiActivityFlushAll, 1);
	show("second session");
	rest();
	work(count);
	show("afterwards");
}

static void subscribe(void)
{
	ASK(cuptiSubscribe, &subscriber, on_call, NULL);
	ASK(cuptiEnableDomain, 1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
	ASK(cuptiEnableDomain, 1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
}

/* Callbacks only, no records; from before CUDA starts, or in the middle. */
static void run_callbacks(unsigned long count, int is_before)
{
	if (is_before)
		subscribe();
	work(count);
	show(is_before ? "callbacks" : "before");
	if (!is_before)
		subscribe();
	rest();
	work(count);
	rest();
	ASK(cuptiUnsubscribe, subscriber);
	show("callbacks");
	work(count);
	show("afterwards");
}

/* As PyTorch's profiler may end; what follows begins anew. */
static void run_finalize(unsigned long count)
{
	/* What a compiler makes of a launch: the second since CUDA 13. */
	static const CUpti_CallbackId launches[] = {
		CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
		CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000
	};

	run_after(count);
	ASK(cuptiFinalize);
	rest();
	work(count);
	ASK(cuptiActivityRegisterCallbacks, request, take);
	for (int i = 0; i < 2; i++)
		ASK(cuptiActivityEnableRuntimeApi, launches[i], 1);
	work(count);
	for (int i = 0; i < 2; i++)
		ASK(cuptiActivityEnableRuntimeApi, launches[i], 0);
	ASK(cuptiActivityFlushAll, 1);
	show("calls");
}

/* Settings without a session: what CUPTI answers to them is what it answers without us. */
static void run_settings(unsigned long count)
{
	CUpti_ActivityThreadIdType type = CUPTI_ACTIVITY_THREAD_ID_TYPE_SIZE;
	size_t dropped = 99;

	/* Nobody has registered callbacks for buffers: what CUPTI says to that is how we know. */
	ASK(cuptiActivityFlushAll, 0);
	work(count);
	ASK(cuptiActivityFlushAll, 0);
	ASK(cuptiGetThreadIdType, &type);
	printf("ids of threads: %d\n", (int)type);
	ASK(cuptiSetThreadIdType, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
	rest();
	work(count);
	ASK(cuptiGetThreadIdType, &type);
	ASK(cuptiActivityRegisterCallbacks, NULL, NULL);
	ASK(cuptiActivityEnable, (CUpti_ActivityKind)0);
	ASK(cuptiActivityRegisterCallbacks, request, take);
	ASK(cuptiActivityGetNumDroppedRecords, NULL, 0, &dropped);
	printf("ids of threads: %d, dropped %zu\n", (int)type, dropped);
	rest();
	work(count);
	show("settings");
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 10) : 100;

	if (!strcmp(name, "after"))
		run_after(count);
	else if (!strcmp(name, "before"))
		run_before(count);
	else if (!strcmp(name, "twice"))
		run_twice(count);
	else if (!strcmp(name, "callbacks"))
		run_callbacks(count, 0);
	else if (!strcmp(name, "callbacks-before"))
		run_callbacks(count, 1);
	else if (!strcmp(name, "finalize"))
		run_finalize(count);
	else if (!strcmp(name, "settings"))
		run_settings(count);
	else
		return 2;
	return 0;
}
