/*
 * A stand-in for libcuda.so.1: enough of the driver API for programs that launch, copy, wait and capture.
 * Kernels do nothing; device memory is host memory, so copies move bytes and results can be checked.
 *
 * The injection, in the driver's order: the first cuInit of a process opens $CUDA_INJECTION64_PATH and calls
 * its InitializeInjection, once, on the thread that called cuInit, while the driver is not yet up (other
 * calls answer CUDA_ERROR_NOT_INITIALIZED there); only then does cuInit finish. A library that cannot be
 * opened, and what InitializeInjection returns, change nothing. A forked child cannot use CUDA if its parent
 * had begun to.
 */
#include "engine.h"

#include <cuda.h>
#include <cudaProfiler.h>
#include <cupti_activity.h>
#include <cupti_driver_cbid.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN(name, cbid)                                                                          \
	struct fake_call call;                                                                     \
	if (!fake_call_begin(&call, FAKE_DRIVER, CUPTI_DRIVER_TRACE_CBID_##cbid, name))            \
	return CUDA_ERROR_NOT_INITIALIZED
#define END(result) return (CUresult)fake_call_end(&call, (int)(result))

#define PAGEABLE CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE
#define PINNED   CUPTI_ACTIVITY_MEMORY_KIND_PINNED
#define DEVICE   CUPTI_ACTIVITY_MEMORY_KIND_DEVICE

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load_injection(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *handle = path && *path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*initialize)(void) = NULL;

	if (handle)
		*(void **)&initialize = dlsym(handle, "InitializeInjection");
	if (initialize)
		initialize();
	engine_start();
}

CUresult CUDAAPI cuInit(unsigned flags)
{
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (engine_is_forked())
		return CUDA_ERROR_NOT_INITIALIZED;
	pthread_once(&once, load_injection);
	return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGetErrorName(CUresult error, const char **name)
{
	*name = error == CUDA_SUCCESS ? "CUDA_SUCCESS" : "CUDA_ERROR_UNKNOWN";
	return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetCount(int *count)
{
	BEGIN("cuDeviceGetCount", cuDeviceGetCount);
	*count = (int)engine_devices();
	END(CUDA_SUCCESS);
}

CUresult CUDAAPI cuDeviceGet(CUdevice *device, int ordinal)
{
	BEGIN("cuDeviceGet", cuDeviceGet);
	if (ordinal < 0 || ordinal >= (int)engine_devices())
		END(CUDA_ERROR_INVALID_DEVICE);
	*device = ordinal;
	END(CUDA_SUCCESS);
}

CUresult CUDAAPI cuDeviceGetName(char *name, int length, CUdevice device)
{
	(void)device;
	if (length < 12)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(name, "NVIDIA H200", 12);
	return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
	for (unsigned i = 0; i < sizeof(uuid->bytes); i++)
		uuid->bytes[i] = (char)(i + 16 * ((unsigned)device + 1));
	return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
	(void)device;
	*bytes = 150000000000;
	return CUDA_SUCCESS;
}

/* Those of an H200 that are asked for; the others are 0. */
CUresult CUDAAPI cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
	(void)device;
	switch (attribute) {
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = 9; break;
	case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 132; break;
	default: *value = 0; break;
	}
	return CUDA_SUCCESS;
}

CUresult CUDAAPI cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
	(void)value, (void)attribute, (void)function;
	return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult CUDAAPI cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
	(void)value, (void)attribute, (void)function;
	return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function,
							     int block, size_t smem)
{
	(void)blocks, (void)function, (void)block, (void)smem;
	return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
	static bool made[GPUS];
	struct fake_activity a = { .what = FAKE_CONTEXT,
				   .device = (uint32_t)device,
				   .context = (uint32_t)device + 1 };

	BEGIN("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain);
	if (device < 0 || device >= (int)engine_devices())
		END(CUDA_ERROR_INVALID_DEVICE);
	*context = (CUcontext)(uintptr_t)(device + 1);
	if (!__atomic_exchange_n(&made[device], true, __ATOMIC_RELAXED)) {
		a.correlation = engine_correlation();
		a.start = a.end = fake_now();
		engine_tell(&a);
	}
	END(CUDA_SUCCESS);
}

CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice device)
{
	(void)device;
	return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxSetCurrent(CUcontext context)
{
	if (!context || (uintptr_t)context > engine_devices())
		return CUDA_ERROR_INVALID_CONTEXT;
	engine_set_device((uint32_t)(uintptr_t)context - 1);
	return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxGetCurrent(CUcontext *context)
{
	*context = (CUcontext)(uintptr_t)(engine_device() + 1);
	return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxGetDevice(CUdevice *device)
{
	*device = (CUdevice)engine_device();
	return CUDA_SUCCESS;
}

/* A synchronisation of that type, over the work that ends at `until`. */
static void wait_for(uint32_t type, uint32_t stream, const struct event *event, int64_t until)
{
	struct fake_activity a = {
		.what = FAKE_SYNC,
		.type = type,
		.correlation = engine_correlation(),
		.device = engine_device(),
		.context = engine_device() + 1,
		.stream = stream,
		.event = event ? event->id : 0,
		.event_sync = event ? event->sync : 0,
		.start = fake_now(),
	};

	engine_wait(until);
	a.end = fake_now();
	engine_tell(&a);
}

CUresult CUDAAPI cuCtxSynchronize(void)
{
	BEGIN("cuCtxSynchronize", cuCtxSynchronize);
	wait_for(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE,
		 CUPTI_SYNCHRONIZATION_INVALID_VALUE, NULL, engine_device_end(engine_device()));
	END(CUDA_SUCCESS);
}

CUresult CUDAAPI cuModuleLoadData(CUmodule *module, const void *image)
{
	struct fake_activity a = { .what = FAKE_MODULE, .bytes = 4096 };

	(void)image;
	BEGIN("cuModuleLoadData", cuModuleLoadData);
	a.type = engine_next_id();
	a.context = engine_device() + 1;
	a.correlation = engine_correlation();
	a.start = a.end = fake_now();
	*module = (CUmodule)(uintptr_t)a.type;
	engine_tell(&a);
	END(CUDA_SUCCESS);
}

CUresult CUDAAPI cuModuleUnload(CUmodule module)
{
	(void)module;
	return CUDA_SUCCESS;
}

/* Every name is a kernel; its registers and shared memory follow from its length. */
CUresult CUDAAPI cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
	struct function *f;

	(void)module;
	BEGIN("cuModuleGetFunction", cuModuleGetFunction);
	f = malloc(sizeof(*f));
	if (!f)
		END(CUDA_ERROR_OUT_OF_MEMORY);
	f->name = strdup(name);
	f->registers = (uint16_t)(16 + strlen(name));
	f->smem_static = (int32_t)strlen(name) * 128;
	*function = (CUfunction)f;
	END(CUDA_SUCCESS);
}

CUresult CUDAAPI cuDriverGetVersion(int *version)
{
	BEGIN("cuDriverGetVersion", cuDriverGetVersion);
	*version = (int)fake_script_number("driver", 13000);
	END(CUDA_SUCCESS);
}

CUresult CUDAAPI cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz,
				unsigned bx, unsigned by, unsigned bz, unsigned smem,
				CUstream stream, void **parameters, void **extra)
{
	const struct function *f = (const struct function *)function;
	struct fake_activity a = {
		.what = FAKE_KERNEL,
		.grid = { (int32_t)gx, (int32_t)gy, (int32_t)gz },
		.block = { (int32_t)bx, (int32_t)by, (int32_t)bz },
		.smem_dynamic = (int32_t)smem,
		.cluster = { 2, 1, 1 },
	};

	(void)parameters, (void)extra;
	BEGIN("cuLaunchKernel", cuLaunchKernel);
	if (!f || !gx || !gy || !gz || !bx || !by || !bz || bx * by * bz > 1024)
		END(CUDA_ERROR_INVALID_VALUE);
	a.correlation = engine_correlation();
	a.name = f->name;
	a.registers = f->registers;
	a.smem_static = f->smem_static;
	engine_run(engine_stream(stream), &a, fake_script_number("kernel_ns", 2000));
	END(CUDA_SUCCESS);
}

static CUresult allocate(void **memory, size_t bytes, uint8_t kind)
{
	struct fake_activity a = { .what = FAKE_MEMORY, .dst = kind, .bytes = bytes };

	*memory = bytes ? calloc(1, bytes) : NULL;
	if (!*memory)
		return bytes ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
	if (kind == PINNED)
		engine_pin(*memory, bytes);
	a.address = (uintptr_t)*memory;
	a.device = engine_device();
	a.context = a.device + 1;
	a.correlation = engine_correlation();
	a.start = a.end = fake_now();
	engine_tell(&a);
	return CUDA_SUCCESS;
}

static CUresult give_back(void *memory, uint8_t kind)
{
	struct fake_activity a = { .what = FAKE_MEMORY, .dst = kind, .is_free = true };

	if (kind == PINNED && !engine_unpin(memory))
		return CUDA_ERROR_INVALID_VALUE;
	a.address = (uintptr_t)memory;
	a.device = engine_device();
	a.context = a.device + 1;
	a.correlation = engine_correlation();
	a.start = a.end = fake_now();
	engine_tell(&a);
	free(memory);
	return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemAlloc(CUdeviceptr *address, size_t bytes)
{
	void *memory = NULL;
	CUresult result;

	BEGIN("cuMemAlloc_v2", cuMemAlloc_v2);
	result = allocate(&memory, bytes, DEVICE);
	*address = (CUdeviceptr)(uintptr_t)memory;
	END(result);
}

CUresult CUDAAPI cuMemFree(CUdeviceptr address)
{
	BEGIN("cuMemFree_v2", cuMemFree_v2);
	END(give_back((void *)(uintptr_t)address, DEVICE));
}

CUresult CUDAAPI cuMemAllocHost(void **memory, size_t bytes)
{
	BEGIN("cuMemAllocHost_v2", cuMemAllocHost_v2);
	END(allocate(memory, bytes, PINNED));
}

CUresult CUDAAPI cuMemFreeHost(void *memory)
{
	BEGIN("cuMemFreeHost", cuMemFreeHost);
	END(give_back(memory, PINNED));
}

/* Moves the bytes now; on the timeline at 10 GB/s unless the script says how long. */
static CUresult copy(void *to, const void *from, size_t bytes, int direction, CUstream handle,
		     bool is_async)
{
	const void *host = direction == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD ? from : to;
	uint8_t side = engine_is_pinned(host) ? PINNED : PAGEABLE;
	struct stream *stream = engine_stream(handle);
	struct fake_activity a = {
		.what = FAKE_COPY,
		.correlation = engine_correlation(),
		.bytes = bytes,
		.direction = (uint8_t)direction,
		.src = direction == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD ? side : DEVICE,
		.dst = direction == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH ? side : DEVICE,
		.is_async = is_async,
	};

	if (!to || !from)
		return CUDA_ERROR_INVALID_VALUE;
	memmove(to, from, bytes);
	engine_run(stream, &a, fake_script_number("copy_ns", 1000 + (long long)bytes / 10));
	if ((!is_async || side == PAGEABLE) && direction != CUPTI_ACTIVITY_MEMCPY_KIND_DTOD)
		engine_wait(a.end);
	return CUDA_SUCCESS;
}

#define P(address) ((void *)(uintptr_t)(address))

CUresult CUDAAPI cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
	BEGIN("cuMemcpyHtoD_v2", cuMemcpyHtoD_v2);
	END(copy(P(to), from, bytes, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, NULL, false));
}

CUresult CUDAAPI cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
	BEGIN("cuMemcpyDtoH_v2", cuMemcpyDtoH_v2);
	END(copy(to, P(from), bytes, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, NULL, false));
}

CUresult CUDAAPI cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
	BEGIN("cuMemcpyHtoDAsync_v2", cuMemcpyHtoDAsync_v2);
	END(copy(P(to), from, bytes, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, stream, true));
}

CUresult CUDAAPI cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	BEGIN("cuMemcpyDtoHAsync_v2", cuMemcpyDtoHAsync_v2);
	END(copy(to, P(from), bytes, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, stream, true));
}

CUresult CUDAAPI cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	BEGIN("cuMemcpyDtoDAsync_v2", cuMemcpyDtoDAsync_v2);
	END(copy(P(to), P(from), bytes, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, stream, true));
}

CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream)
{
	struct fake_activity a = { .what = FAKE_MEMSET, .bytes = bytes, .dst = DEVICE };

	BEGIN("cuMemsetD8Async", cuMemsetD8Async);
	memset(P(to), value, bytes);
	a.correlation = engine_correlation();
	a.is_async = true;
	engine_run(engine_stream(stream), &a, fake_script_number("memset_ns", 1500));
	END(CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamCreate(CUstream *stream, unsigned flags)
{
	struct fake_activity a = { .what = FAKE_STREAM };
	struct stream *s;

	BEGIN("cuStreamCreate", cuStreamCreate);
	s = calloc(1, sizeof(*s));
	if (!s)
		END(CUDA_ERROR_OUT_OF_MEMORY);
	s->id = engine_next_id();
	s->device = engine_device();
	a.stream = s->id;
	a.device = s->device;
	a.context = s->device + 1;
	a.type = flags ? CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING
		       : CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT;
	a.correlation = engine_correlation();
	a.start = a.end = fake_now();
	engine_tell(&a);
	*stream = (CUstream)s;
	END(CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamDestroy(CUstream stream)
{
	BEGIN("cuStreamDestroy_v2", cuStreamDestroy_v2);
	if ((uintptr_t)stream > 2)
		free(stream);
	END(CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamSynchronize(CUstream stream)
{
	const struct stream *s = engine_stream(stream);

	BEGIN("cuStreamSynchronize", cuStreamSynchronize);
	wait_for(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, s->id, NULL, s->end);
	END(CUDA_SUCCESS);
}

CUresult CUDAAPI cuEventCreate(CUevent *event, unsigned flags)
{
	struct event *e;

	(void)flags;
	BEGIN("cuEventCreate", cuEventCreate);
	e = calloc(1, sizeof(*e));
	if (!e)
		END(CUDA_ERROR_OUT_OF_MEMORY);
	e->id = engine_next_id();
	*event = (CUevent)e;
	END(CUDA_SUCCESS);
}

CUresult CUDAAPI cuEventDestroy(CUevent event)
{
	BEGIN("cuEventDestroy_v2", cuEventDestroy_v2);
	free(event);
	END(CUDA_SUCCESS);
}

CUresult CUDAAPI cuEventRecord(CUevent event, CUstream stream)
{
	const struct stream *s = engine_stream(stream);
	struct event *e = (struct event *)event;
	struct fake_activity a = { .what = FAKE_EVENT };

	BEGIN("cuEventRecord", cuEventRecord);
	e->end = s->end;
	e->stream = s->id;
	e->sync = engine_next_id();
	a.correlation = engine_correlation();
	a.device = s->device;
	a.context = s->device + 1;
	a.stream = s->id;
	a.event = e->id;
	a.event_sync = e->sync;
	a.start = a.end = fake_now();
	engine_tell(&a);
	END(CUDA_SUCCESS);
}

CUresult CUDAAPI cuEventSynchronize(CUevent event)
{
	const struct event *e = (const struct event *)event;

	BEGIN("cuEventSynchronize", cuEventSynchronize);
	wait_for(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, e->stream, e, e->end);
	END(CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
	const struct event *e = (const struct event *)event;
	struct stream *s = engine_stream(stream);

	(void)flags;
	BEGIN("cuStreamWaitEvent", cuStreamWaitEvent);
	if (s->end < e->end)
		s->end = e->end;
	wait_for(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT, s->id, e, 0);
	END(CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
	struct stream *s = engine_stream(stream);

	(void)mode;
	BEGIN("cuStreamBeginCapture_v2", cuStreamBeginCapture_v2);
	s->capture = calloc(1, sizeof(*s->capture));
	END(s->capture ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult CUDAAPI cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
	struct stream *s = engine_stream(stream);

	BEGIN("cuStreamEndCapture", cuStreamEndCapture);
	*graph = (CUgraph)s->capture;
	s->capture = NULL;
	END(*graph ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph,
					     unsigned long long flags)
{
	struct graph *g;

	(void)flags;
	BEGIN("cuGraphInstantiateWithFlags", cuGraphInstantiateWithFlags);
	g = malloc(sizeof(*g));
	if (!g)
		END(CUDA_ERROR_OUT_OF_MEMORY);
	*g = *(const struct graph *)graph;
	g->id = engine_next_id();
	*exec = (CUgraphExec)g;
	END(CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphDestroy(CUgraph graph)
{
	free(graph);
	return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec exec)
{
	free(exec);
	return CUDA_SUCCESS;
}

/* A graph is told as a whole first, then its nodes, with one correlation; the listener takes what it wants. */
CUresult CUDAAPI cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
	const struct graph *g = (const struct graph *)exec;
	struct stream *s = engine_stream(stream);
	struct fake_activity whole = { .what = FAKE_GRAPH, .graph = g->id };
	long long length = fake_script_number("kernel_ns", 2000);

	BEGIN("cuGraphLaunch", cuGraphLaunch);
	whole.correlation = engine_correlation();
	engine_run(s, &whole, length * g->count);
	for (unsigned i = 0; i < g->count; i++) {
		struct fake_activity a = g->nodes[i];

		a.correlation = whole.correlation;
		a.graph = g->id;
		a.node = ((uint64_t)g->id << 32) + i + 1;
		a.device = whole.device;
		a.context = whole.context;
		a.stream = whole.stream;
		a.start = whole.start + length * i;
		a.end = a.start + length;
		engine_tell(&a);
	}
	END(CUDA_SUCCESS);
}

CUresult CUDAAPI cuProfilerStart(void)
{
	BEGIN("cuProfilerStart", cuProfilerStart);
	END(CUDA_SUCCESS);
}

CUresult CUDAAPI cuProfilerStop(void)
{
	BEGIN("cuProfilerStop", cuProfilerStop);
	END(CUDA_SUCCESS);
}
