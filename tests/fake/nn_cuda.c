#include "nn_script.h"

#include <stdio.h>

#define OUT_OF_MEMORY 2

static int capturing;

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
EXPORT int cuDevicePrimaryCtxRetain(void **context, int device)
{
	(void)device;
	return make("cuDevicePrimaryCtxRetain", context);
}
static void *current;
EXPORT int cuDevicePrimaryCtxRelease_v2(int device)
{
	(void)device;
	return drop(current);
}
EXPORT int cuCtxSetCurrent(void *context)
{
	current = context;
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
EXPORT int cuMemcpyHtoD_v2(uint64_t address, const void *memory, size_t bytes)
{
	(void)address;
	(void)memory;
	(void)bytes;
	return result_of("cuMemcpyHtoD");
}
EXPORT int cuMemcpyHtoDAsync_v2(uint64_t address, const void *memory, size_t bytes, void *stream)
{
	(void)stream;
	return cuMemcpyHtoD_v2(address, memory, bytes);
}
static int byte_read;

EXPORT void fake_nn_read_as(int byte)
{
	byte_read = byte;
}

EXPORT int cuMemcpyDtoHAsync_v2(void *memory, uint64_t address, size_t bytes, void *stream)
{
	(void)address;
	(void)stream;
	memset(memory, byte_read, bytes);
	return result_of("cuMemcpyDtoHAsync");
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
	(void)smem;
	(void)stream;
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
	(void)stream;
	counts.waits++;
	return result_of("cuStreamSynchronize");
}
EXPORT int cuStreamWaitEvent(void *stream, void *event, unsigned flags)
{
	(void)stream;
	(void)event;
	(void)flags;
	return 0;
}
EXPORT int cuStreamBeginCapture_v2(void *stream, int mode)
{
	(void)stream;
	(void)mode;
	if (capturing)
		return 900;
	capturing = 1;
	counts.captures++;
	counts.captured = 0;
	return 0;
}
EXPORT int cuStreamEndCapture(void *stream, void **graph)
{
	(void)stream;
	capturing = 0;
	return make("cuStreamEndCapture", graph);
}
EXPORT int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags)
{
	(void)graph;
	(void)flags;
	return make("cuGraphInstantiate", exec);
}
EXPORT int cuGraphLaunch(void *exec, void *stream)
{
	(void)stream;
	counts.launches++;
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
	(void)event;
	(void)stream;
	return 0;
}
EXPORT int cuEventSynchronize(void *event)
{
	(void)event;
	return result_of("cuEventSynchronize");
}
EXPORT int cuEventElapsedTime(float *ms, void *start, void *end)
{
	(void)start;
	(void)end;
	*ms = 1;
	return 0;
}
