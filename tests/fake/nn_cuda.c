#include "nn_script.h"

#include <stdio.h>

#define OUT_OF_MEMORY 2
#define MAX_READS     8

/* Copies from the GPU whose bytes are not there yet. */
struct reads {
	struct {
		void *memory;
		size_t bytes;
	} reads[MAX_READS];
	int n;
};

static _Thread_local int capturing;
static _Thread_local struct reads captured, waiting;
static struct fake_nn_call calls[FAKE_NN_CALLS];
static atomic_int n_calls;
static _Atomic size_t pinned;
static int byte_read;
static void (*fill_read)(void *memory, size_t bytes);

static void note(const struct fake_nn_call *call)
{
	int i = atomic_fetch_add(&n_calls, 1);

	if (i < FAKE_NN_CALLS)
		calls[i] = *call;
}
#define NOTE(...) note(&(const struct fake_nn_call){ .name = __func__, __VA_ARGS__ })

EXPORT const struct fake_nn_call *fake_nn_calls(int *n)
{
	*n = n_calls < FAKE_NN_CALLS ? n_calls : FAKE_NN_CALLS;
	return calls;
}
EXPORT void fake_nn_forget(void)
{
	n_calls = 0;
}
EXPORT size_t fake_nn_pinned(void)
{
	return pinned;
}
EXPORT void fake_nn_read_by(void (*fill)(void *memory, size_t bytes))
{
	fill_read = fill;
}

static void add_read(struct reads *reads, void *memory, size_t bytes)
{
	memset(memory, 0xee, bytes);
	if (reads->n == MAX_READS)
		abort();
	reads->reads[reads->n].memory = memory;
	reads->reads[reads->n++].bytes = bytes;
}

/* The thread has waited: all of its copies have arrived, or, after an error, none will. */
static int arrive(int result)
{
	for (int i = 0; i < waiting.n && !result; i++) {
		if (fill_read)
			fill_read(waiting.reads[i].memory, waiting.reads[i].bytes);
		else
			memset(waiting.reads[i].memory, byte_read, waiting.reads[i].bytes);
	}
	waiting.n = 0;
	return result;
}

EXPORT int cuInit(unsigned flags)
{
	(void)flags;
	return result_of("cuInit");
}
EXPORT int cuDriverGetVersion(int *version)
{
	*version = 13000;
	return 0;
}
EXPORT int cuGetErrorName(int error, const char **name)
{
	*name = error == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
		: error == 700         ? "CUDA_ERROR_ILLEGAL_ADDRESS"
				       : "CUDA_ERROR_UNKNOWN";
	return 0;
}
EXPORT int cuDeviceGetCount(int *count)
{
	*count = 1;
	return result_of("cuDeviceGetCount");
}
EXPORT int cuDeviceGet(int *device, int ordinal)
{
	*device = ordinal;
	return 0;
}
EXPORT int cuDeviceGetName(char *name, int len, int device)
{
	(void)device;
	snprintf(name, (size_t)len, "Fake GPU");
	return 0;
}
EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	(void)device;
	*value = attribute == 75 ? 9 : 0; /* compute capability 9.0 */
	return 0;
}
static void *primary;
static int primary_users;
EXPORT int cuDevicePrimaryCtxRetain(void **context, int device)
{
	int result = primary_users ? result_of("cuDevicePrimaryCtxRetain")
				   : make("cuDevicePrimaryCtxRetain", &primary);

	(void)device;
	primary_users += !result;
	*context = result ? NULL : primary;
	return result;
}
EXPORT int cuDevicePrimaryCtxRelease_v2(int device)
{
	(void)device;
	if (!--primary_users)
		drop(primary);
	return 0;
}
EXPORT int cuCtxSetCurrent(void *context)
{
	return context == primary ? result_of("cuCtxSetCurrent") : 1;
}
EXPORT int cuCtxGetDevice(int *device)
{
	*device = 0;
	return 0;
}
EXPORT int cuCtxSynchronize(void)
{
	return result_of("cuCtxSynchronize");
}
EXPORT int cuModuleLoadData(void **module, const void *image)
{
	(void)image;
	return make("cuModuleLoadData", module);
}
EXPORT int cuModuleUnload(void *module)
{
	return drop(module);
}
EXPORT int cuModuleGetFunction(void **function, void *module, const char *name)
{
	(void)name;
	*function = module;
	return result_of("cuModuleGetFunction");
}
EXPORT int cuFuncGetAttribute(int *value, int attribute, void *function)
{
	(void)attribute;
	(void)function;
	*value = 0;
	return 0;
}
EXPORT int cuFuncSetAttribute(void *function, int attribute, int value)
{
	(void)function;
	(void)attribute;
	(void)value;
	return 0;
}
EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int block,
						       size_t smem)
{
	(void)function;
	(void)block;
	(void)smem;
	*blocks = 1;
	return 0;
}
EXPORT int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
	int result = result_of("cuMemAlloc");

	(void)bytes; /* nothing writes there: a large network costs no memory */
	counts.allocations++;
	*address = result ? 0 : (uint64_t)(uintptr_t)malloc(8);
	return result;
}
EXPORT int cuMemFree_v2(uint64_t address)
{
	return drop((void *)(uintptr_t)address);
}
EXPORT int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags)
{
	size_t *block;
	int result = result_of("cuMemHostAlloc");

	(void)flags;
	*memory = NULL;
	if (result)
		return result;
	block = malloc(bytes + 64); /* its size stands before it */
	if (!block)
		return OUT_OF_MEMORY;
	*block = bytes;
	pinned += bytes;
	*memory = (char *)block + 64;
	return 0;
}
EXPORT int cuMemFreeHost(void *memory)
{
	size_t *block = (size_t *)((char *)memory - 64);

	pinned -= *block;
	return drop(block);
}
EXPORT int cuMemcpyHtoD_v2(uint64_t address, const void *memory, size_t bytes)
{
	NOTE(.address = address, .memory = memory, .bytes = bytes);
	return result_of("cuMemcpyHtoD");
}
EXPORT int cuMemcpyHtoDAsync_v2(uint64_t address, const void *memory, size_t bytes, void *stream)
{
	NOTE(.stream = stream, .address = address, .memory = memory, .bytes = bytes);
	return result_of(failing && !strcmp(failing, "cuMemcpyHtoD") ? "cuMemcpyHtoD"
								     : "cuMemcpyHtoDAsync");
}

EXPORT void fake_nn_read_as(int byte)
{
	byte_read = byte;
}

EXPORT int cuMemcpyDtoHAsync_v2(void *memory, uint64_t address, size_t bytes, void *stream)
{
	int result = result_of("cuMemcpyDtoHAsync");

	NOTE(.stream = stream, .address = address, .memory = memory, .bytes = bytes);
	if (result)
		return result;
	add_read(capturing ? &captured : &waiting, memory, bytes);
	return 0;
}
EXPORT int cuMemsetD8Async(uint64_t address, unsigned char value, size_t bytes, void *stream)
{
	(void)address;
	(void)value;
	(void)bytes;
	(void)stream;
	return result_of("cuMemsetD8Async");
}
EXPORT int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned block_x,
			  unsigned block_y, unsigned block_z, unsigned smem, void *stream,
			  void **parameters, void **extra)
{
	NOTE(.stream = stream, .object = function);
	(void)smem;
	(void)extra;
	counts.kernels++;
	counts.captured += capturing;
	if (!function || !x || !y || !z || !parameters || block_x * block_y * block_z > 1024)
		return 1;
	return result_of("cuLaunchKernel");
}
EXPORT int cuStreamCreate(void **stream, unsigned flags)
{
	(void)flags;
	return make("cuStreamCreate", stream);
}
EXPORT int cuStreamDestroy_v2(void *stream)
{
	return drop(stream);
}
EXPORT int cuStreamSynchronize(void *stream)
{
	NOTE(.stream = stream);
	counts.waits++;
	return arrive(result_of("cuStreamSynchronize"));
}
EXPORT int cuStreamWaitEvent(void *stream, void *event, unsigned flags)
{
	(void)flags;
	NOTE(.stream = stream, .object = event);
	return result_of("cuStreamWaitEvent");
}
EXPORT int cuStreamBeginCapture_v2(void *stream, int mode)
{
	int result = result_of("cuStreamBeginCapture");

	(void)stream;
	(void)mode;
	if (capturing)
		return 900;
	if (result)
		return result;
	captured.n = 0;
	capturing = 1;
	counts.captures++;
	counts.captured = 0;
	return 0;
}
EXPORT int cuStreamEndCapture(void *stream, void **graph)
{
	int result = result_of("cuStreamEndCapture");

	(void)stream;
	capturing = 0;
	*graph = NULL;
	if (result)
		return result;
	*graph = calloc(1, sizeof(captured));
	memcpy(*graph, &captured, sizeof(captured));
	return 0;
}
EXPORT int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags)
{
	int result = result_of("cuGraphInstantiate");

	(void)flags;
	*exec = NULL;
	if (result)
		return result;
	*exec = calloc(1, sizeof(struct reads));
	memcpy(*exec, graph, sizeof(struct reads));
	return 0;
}
EXPORT int cuGraphLaunch(void *exec, void *stream)
{
	const struct reads *reads = exec;

	NOTE(.stream = stream, .object = exec);
	counts.launches++;
	for (int i = 0; exec && i < reads->n; i++)
		add_read(&waiting, reads->reads[i].memory, reads->reads[i].bytes);
	return exec ? result_of("cuGraphLaunch") : 1;
}
EXPORT int cuGraphExecDestroy(void *exec)
{
	return drop(exec);
}
EXPORT int cuGraphDestroy(void *graph)
{
	return drop(graph);
}
EXPORT int cuEventCreate(void **event, unsigned flags)
{
	(void)flags;
	return make("cuEventCreate", event);
}
EXPORT int cuEventDestroy_v2(void *event)
{
	return drop(event);
}
EXPORT int cuEventRecord(void *event, void *stream)
{
	NOTE(.stream = stream, .object = event);
	return result_of("cuEventRecord");
}
EXPORT int cuEventSynchronize(void *event)
{
	NOTE(.object = event);
	return arrive(result_of("cuEventSynchronize"));
}
EXPORT int cuEventQuery(void *event)
{
	NOTE(.object = event);
	return arrive(result_of("cuEventQuery"));
}
EXPORT int cuEventElapsedTime(float *ms, void *start, void *end)
{
	(void)start;
	(void)end;
	*ms = 1;
	return 0;
}
