/* Activity records in the layout of the version that the script asks for, with the toolkit's own structs. */
#include "cupti.h"

#include <cupti_activity_deprecated.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An older record is the beginning of a newer one. */
#define PREFIX(old, new, field)                                                                    \
	_Static_assert(offsetof(old, field) == offsetof(new, field), #field " has not moved")
PREFIX(CUpti_ActivityKernel8, CUpti_ActivityKernel10, graphId);
PREFIX(CUpti_ActivityKernel8, CUpti_ActivityKernel10, localMemoryTotal_v2);
PREFIX(CUpti_ActivityKernel9, CUpti_ActivityKernel10, maxActiveClusters);
PREFIX(CUpti_ActivityMemcpy5, CUpti_ActivityMemcpy6, channelType);
PREFIX(CUpti_ActivityMemory3, CUpti_ActivityMemory4, memoryPoolConfig);
PREFIX(CUpti_ActivitySynchronization, CUpti_ActivitySynchronization2, cudaEventId);
PREFIX(CUpti_ActivityCudaEvent, CUpti_ActivityCudaEvent2, eventId);
PREFIX(CUpti_ActivityGraphTrace, CUpti_ActivityGraphTrace2, streamId);
PREFIX(CUpti_ActivityOverhead, CUpti_ActivityOverhead3, end);

static size_t is_new(size_t new_bytes, size_t old_bytes)
{
	return cupti_toolkit() >= TOOLKIT_12_8 ? new_bytes : old_bytes;
}

static size_t kernel_bytes(void)
{
	if (cupti_toolkit() >= TOOLKIT_13_0)
		return sizeof(CUpti_ActivityKernel10);
	return cupti_toolkit() >= TOOLKIT_12_0 ? sizeof(CUpti_ActivityKernel9)
					       : sizeof(CUpti_ActivityKernel8);
}

size_t record_bytes(const CUpti_Activity *record)
{
	switch ((int)record->kind) {
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return kernel_bytes();
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		return is_new(sizeof(CUpti_ActivityMemcpy6), sizeof(CUpti_ActivityMemcpy5));
	case CUPTI_ACTIVITY_KIND_MEMSET: return sizeof(CUpti_ActivityMemset4);
	case CUPTI_ACTIVITY_KIND_MEMORY2:
		return is_new(sizeof(CUpti_ActivityMemory4), sizeof(CUpti_ActivityMemory3));
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
		return is_new(sizeof(CUpti_ActivitySynchronization2),
			      sizeof(CUpti_ActivitySynchronization));
	case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
		return is_new(sizeof(CUpti_ActivityCudaEvent2), sizeof(CUpti_ActivityCudaEvent));
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
		return is_new(sizeof(CUpti_ActivityGraphTrace2), sizeof(CUpti_ActivityGraphTrace));
	case CUPTI_ACTIVITY_KIND_OVERHEAD:
		return is_new(sizeof(CUpti_ActivityOverhead3), sizeof(CUpti_ActivityOverhead));
	case CUPTI_ACTIVITY_KIND_CONTEXT:
		return is_new(sizeof(CUpti_ActivityContext3), sizeof(CUpti_ActivityContext));
	case CUPTI_ACTIVITY_KIND_RUNTIME:
	case CUPTI_ACTIVITY_KIND_DRIVER: return sizeof(CUpti_ActivityAPI);
	case CUPTI_ACTIVITY_KIND_DEVICE: return sizeof(CUpti_ActivityDevice5);
	case CUPTI_ACTIVITY_KIND_MODULE: return sizeof(CUpti_ActivityModule);
	case CUPTI_ACTIVITY_KIND_STREAM: return sizeof(CUpti_ActivityStream);
	case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
		return sizeof(CUpti_ActivityExternalCorrelation);
	case KIND_UNKNOWN: return 40;
	default: return 0;
	}
}

void record_forget_times(CUpti_Activity *record)
{
	switch (record->kind) {
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		((CUpti_ActivityKernel10 *)record)->start = 0;
		((CUpti_ActivityKernel10 *)record)->end = 0;
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		((CUpti_ActivityMemcpy6 *)record)->start = 0;
		((CUpti_ActivityMemcpy6 *)record)->end = 0;
		break;
	case CUPTI_ACTIVITY_KIND_MEMSET:
		((CUpti_ActivityMemset4 *)record)->start = 0;
		((CUpti_ActivityMemset4 *)record)->end = 0;
		break;
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
		((CUpti_ActivityGraphTrace2 *)record)->start = 0;
		((CUpti_ActivityGraphTrace2 *)record)->end = 0;
		break;
	default: break;
	}
}

static void put_kernel(void *out, const struct fake_activity *a)
{
	CUpti_ActivityKernel10 *k = out;

	k->registersPerThread = a->registers;
	k->start = cupti_time(a->start);
	k->end = cupti_time(a->end);
	k->completed = k->end;
	k->deviceId = a->device;
	k->contextId = a->context;
	k->streamId = a->stream;
	k->gridX = a->grid[0];
	k->gridY = a->grid[1];
	k->gridZ = a->grid[2];
	k->blockX = a->block[0];
	k->blockY = a->block[1];
	k->blockZ = a->block[2];
	k->staticSharedMemory = a->smem_static;
	k->dynamicSharedMemory = a->smem_dynamic;
	k->sharedMemoryExecuted = 102400;
	k->correlationId = a->correlation;
	k->gridId = a->correlation;
	k->name = a->name;
	k->graphNodeId = a->node;
	k->graphId = a->graph;
	k->clusterX = a->cluster[0];
	k->clusterY = a->cluster[1];
	k->clusterZ = a->cluster[2];
}

static void put_copy(void *out, const struct fake_activity *a)
{
	CUpti_ActivityMemcpy6 *m = out;

	m->copyKind = a->direction;
	m->srcKind = a->src;
	m->dstKind = a->dst;
	m->flags = a->is_async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0;
	m->bytes = a->bytes;
	m->start = cupti_time(a->start);
	m->end = cupti_time(a->end);
	m->deviceId = a->device;
	m->contextId = a->context;
	m->streamId = a->stream;
	m->correlationId = a->correlation;
	m->graphNodeId = a->node;
	m->graphId = a->graph;
	m->copyCount = 1;
}

static void put_memset(void *out, const struct fake_activity *a)
{
	CUpti_ActivityMemset4 *m = out;

	m->bytes = a->bytes;
	m->start = cupti_time(a->start);
	m->end = cupti_time(a->end);
	m->deviceId = a->device;
	m->contextId = a->context;
	m->streamId = a->stream;
	m->correlationId = a->correlation;
	m->flags = a->is_async ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : 0;
	m->memoryKind = a->dst;
	m->graphNodeId = a->node;
	m->graphId = a->graph;
}

static void put_graph(void *out, const struct fake_activity *a)
{
	CUpti_ActivityGraphTrace2 *g = out;

	g->correlationId = a->correlation;
	g->start = cupti_time(a->start);
	g->end = cupti_time(a->end);
	g->deviceId = g->endDeviceId = a->device;
	g->contextId = g->endContextId = a->context;
	g->graphId = a->graph;
	g->streamId = a->stream;
}

static void put_sync(void *out, const struct fake_activity *a)
{
	CUpti_ActivitySynchronization2 *s = out;

	s->type = a->type;
	s->start = cupti_time(a->start);
	s->end = cupti_time(a->end);
	s->correlationId = a->correlation;
	s->contextId = a->context;
	s->streamId = a->stream;
	s->cudaEventId = a->event ? a->event : CUPTI_SYNCHRONIZATION_INVALID_VALUE;
	s->cudaEventSyncId = a->event_sync;
}

static void put_event(void *out, const struct fake_activity *a)
{
	CUpti_ActivityCudaEvent2 *e = out;

	e->correlationId = a->correlation;
	e->contextId = a->context;
	e->streamId = a->stream;
	e->eventId = a->event;
	e->deviceId = a->device;
	e->cudaEventSyncId = a->event_sync;
}

static void put_memory(void *out, const struct fake_activity *a)
{
	CUpti_ActivityMemory4 *m = out;

	m->memoryOperationType = a->is_free ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE
					    : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
	m->memoryKind = a->dst;
	m->correlationId = a->correlation;
	m->address = a->address;
	m->bytes = a->bytes;
	m->timestamp = cupti_time(a->start);
	m->processId = (uint32_t)getpid();
	m->deviceId = a->device;
	m->contextId = a->context;
	m->streamId = a->stream;
	m->isAsync = a->is_async;
}

static void put_module(void *out, const struct fake_activity *a)
{
	CUpti_ActivityModule *m = out;

	m->contextId = a->context;
	m->id = a->type;
	m->cubinSize = (uint32_t)a->bytes;
}

static void put_stream(void *out, const struct fake_activity *a)
{
	CUpti_ActivityStream *s = out;

	s->contextId = a->context;
	s->streamId = a->stream;
	s->flag = a->type;
	s->correlationId = a->correlation;
}

/* A record of zeros, and behind it bytes that nobody may take for a part of it. */
static size_t begin(uint8_t *out, CUpti_ActivityKind kind)
{
	size_t bytes;

	memset(out, 0, RECORD_BYTES);
	((CUpti_Activity *)out)->kind = kind;
	bytes = record_bytes((CUpti_Activity *)out);
	return bytes;
}

static size_t end(uint8_t *out, size_t bytes)
{
	memset(out + bytes, 0xee, RECORD_BYTES - bytes);
	return bytes;
}

size_t record_of_activity(uint8_t *out, const struct fake_activity *a, CUpti_ActivityKind kind)
{
	static void (*const put[])(void *, const struct fake_activity *) = {
		[FAKE_KERNEL] = put_kernel, [FAKE_COPY] = put_copy,     [FAKE_MEMSET] = put_memset,
		[FAKE_GRAPH] = put_graph,   [FAKE_SYNC] = put_sync,     [FAKE_EVENT] = put_event,
		[FAKE_MEMORY] = put_memory, [FAKE_MODULE] = put_module, [FAKE_STREAM] = put_stream,
	};
	size_t bytes = begin(out, kind);

	put[a->what](out, a);
	return end(out, bytes);
}

size_t record_of_call(uint8_t *out, const struct fake_call *call, uint32_t thread)
{
	CUpti_ActivityAPI *api = (CUpti_ActivityAPI *)out;
	size_t bytes = begin(out, call->domain == FAKE_RUNTIME ? CUPTI_ACTIVITY_KIND_RUNTIME
							       : CUPTI_ACTIVITY_KIND_DRIVER);

	api->cbid = call->cbid;
	api->start = cupti_time(call->start);
	api->end = cupti_time(call->end);
	api->processId = (uint32_t)getpid();
	api->threadId = thread;
	api->correlationId = call->correlation;
	api->returnValue = (uint32_t)call->result;
	return end(out, bytes);
}

size_t record_of_device(uint8_t *out, uint32_t device)
{
	CUpti_ActivityDevice5 *d = (CUpti_ActivityDevice5 *)out;
	size_t bytes = begin(out, CUPTI_ACTIVITY_KIND_DEVICE);

	d->globalMemorySize = 150000000000;
	d->numMultiprocessors = 132;
	d->numThreadsPerWarp = 32;
	d->maxWarpsPerMultiprocessor = 64;
	d->computeCapabilityMajor = 9;
	d->id = device;
	for (unsigned i = 0; i < sizeof(d->uuid); i++)
		d->uuid.bytes[i] = (char)(i + 16 * (device + 1));
	d->name = "NVIDIA H200";
	d->isCudaVisible = 1;
	return end(out, bytes);
}

size_t record_of_context(uint8_t *out, uint32_t device)
{
	CUpti_ActivityContext3 *c = (CUpti_ActivityContext3 *)out;
	size_t bytes = begin(out, CUPTI_ACTIVITY_KIND_CONTEXT);

	c->contextId = device + 1;
	c->deviceId = device;
	c->computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA;
	c->nullStreamId = 7;
	return end(out, bytes);
}

size_t record_of_external(uint8_t *out, uint32_t kind, uint64_t id, uint32_t correlation)
{
	CUpti_ActivityExternalCorrelation *e = (CUpti_ActivityExternalCorrelation *)out;
	size_t bytes = begin(out, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);

	e->externalKind = kind;
	e->externalId = id;
	e->correlationId = correlation;
	return end(out, bytes);
}

size_t record_of_overhead(uint8_t *out, int64_t start, int64_t until)
{
	CUpti_ActivityOverhead3 *o = (CUpti_ActivityOverhead3 *)out;
	size_t bytes = begin(out, CUPTI_ACTIVITY_KIND_OVERHEAD);

	o->overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH;
	o->objectKind = CUPTI_ACTIVITY_OBJECT_PROCESS;
	o->objectId.pt.processId = (uint32_t)getpid();
	o->start = cupti_time(start);
	o->end = cupti_time(until);
	return end(out, bytes);
}

size_t record_unknown(uint8_t *out)
{
	return end(out, begin(out, (CUpti_ActivityKind)KIND_UNKNOWN));
}
