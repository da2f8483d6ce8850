/*
 * The least that a client of CUPTI can do: kernel records, looked at by kind and thrown away. What recording
 * costs is measured against this; it also shows that the stand-ins work by themselves. FW_FLOOR_MODE adds one way
 * to learn when a launch was called.
 */
#include <cupti.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

#define BUFFER_BYTES (1u << 20)
#define NOTES        8192u

int InitializeInjection(void);

static atomic_ulong kernels, others;

static void CUPTIAPI request(uint8_t **buffer, size_t *bytes, size_t *most)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*bytes = BUFFER_BYTES;
	*most = 0;
}

static void CUPTIAPI take(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
			  size_t valid)
{
	CUpti_Activity *record = NULL;

	(void)context, (void)stream, (void)bytes;
	while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
		if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
			kernels++;
		else
			others++;
	}
	free(buffer);
}

static uint64_t clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t counter_now(void)
{
#ifdef __x86_64__
	return __rdtsc();
#else
	return clock_now();
#endif
}

static uint64_t (*now)(void); /* NULL: a callback that does nothing */

/* A launch in 24 bytes. Of one thread only, as the loop that is measured has it. */
static struct note {
	uint64_t start, end;
	uint32_t correlation, cbid;
} notes[NOTES];
static unsigned long callbacks;

static void CUPTIAPI on_call(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
			     const void *data)
{
	const CUpti_CallbackData *call = data;
	struct note *note = &notes[callbacks % NOTES];

	(void)user, (void)domain;
	if (!now)
		return;
	if (call->callbackSite == CUPTI_API_ENTER) {
		*call->correlationData = now();
		return;
	}
	note->start = *call->correlationData;
	note->end = now();
	note->correlation = call->correlationId;
	note->cbid = cbid;
	callbacks++;
}

static unsigned long notes_in_order(void)
{
	unsigned long count = 0;

	for (unsigned long i = 0; i < callbacks && i < NOTES; i++)
		count += notes[i].start <= notes[i].end && notes[i].correlation;
	return count;
}

/* What a compiler makes of a launch: the second since CUDA 13. */
static const CUpti_CallbackId runtime_launches[] = {
	CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
	CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000,
};
static const CUpti_CallbackId driver_launches[] = { CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
						    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx };

static int add_callbacks(CUpti_CallbackDomain domain, uint64_t (*clock)(void))
{
	static CUpti_SubscriberHandle subscriber;
	int result = cuptiSubscribe(&subscriber, on_call, NULL);

	now = clock;
	for (int i = 0; i < 2 && !result; i++)
		result = cuptiEnableCallback(1, subscriber, domain,
					     domain == CUPTI_CB_DOMAIN_RUNTIME_API
						     ? runtime_launches[i]
						     : driver_launches[i]);
	return result;
}

static int add_records(int is_driver)
{
	int result = 0;

	for (int i = 0; i < 2 && !result; i++)
		result = is_driver ? cuptiActivityEnableDriverApi(driver_launches[i], 1)
				   : cuptiActivityEnableRuntimeApi(runtime_launches[i], 1);
	return result;
}

static int add(const char *mode)
{
	/* The same records of a launch as a recording has. */
	if (!strcmp(mode, "calls"))
		return add_records(0);
	if (!strcmp(mode, "driver-calls"))
		return add_records(1);
	if (!strcmp(mode, "callback-empty"))
		return add_callbacks(CUPTI_CB_DOMAIN_RUNTIME_API, NULL);
	if (!strcmp(mode, "callback"))
		return add_callbacks(CUPTI_CB_DOMAIN_RUNTIME_API, clock_now);
	if (!strcmp(mode, "callback-tsc"))
		return add_callbacks(CUPTI_CB_DOMAIN_RUNTIME_API, counter_now);
	if (!strcmp(mode, "driver-callback"))
		return add_callbacks(CUPTI_CB_DOMAIN_DRIVER_API, clock_now);
	if (!strcmp(mode, "latency"))
		return cuptiActivityEnableLatencyTimestamps(1);
	return 1;
}

static void finish(void)
{
	const char *mode = getenv("FW_FLOOR_MODE");

	cuptiActivityFlushAll(1);
	if (getenv("FW_FLOOR_COUNT"))
		fprintf(stderr, "floor: %lu kernels, %lu others%s%s\n", kernels,
			others + notes_in_order(), mode ? ", " : "", mode ? mode : "");
}

int InitializeInjection(void)
{
	const char *mode = getenv("FW_FLOOR_MODE");

	/* Latency time stamps are to be chosen before kernels are. */
	if (mode && add(mode))
		fprintf(stderr, "floor: no mode %s\n", mode);
	if (cuptiActivityRegisterCallbacks(request, take) ||
	    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL))
		return 0;
	atexit(finish);
	return 1;
}
