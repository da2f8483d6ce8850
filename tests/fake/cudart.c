/*
 * A stand-in for libcudart.so: the runtime calls that programs make, each on top of the stand-in for libcuda.
 * A kernel is named by the function pointer of its launch, which here points to its name.
 */
#include "gpu.h"

#include <cuda.h>
#include <cudaProfiler.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <cupti_runtime_cbid.h>
#include <pthread.h>
#include <string.h>

#define KERNELS 64u

#define BEGIN(name, version)                                                                       \
	struct fake_call call;                                                                     \
	if (!is_ready() || !fake_call_begin(&call, FAKE_RUNTIME,                                   \
					    CUPTI_RUNTIME_TRACE_CBID_##name##_v##version, #name))  \
	return last_error = cudaErrorInitializationError
#define END(result) return end(&call, (int)(result))

static _Thread_local cudaError_t last_error;
static _Thread_local int context_of = -1; /* device whose context the thread has made current */
static _Thread_local int device;

static struct {
	const void *key;
	CUfunction function;
} kernels[KERNELS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static cudaError_t end(struct fake_call *call, int result)
{
	fake_call_end(call, result);
	if (result)
		last_error = (cudaError_t)result;
	return (cudaError_t)result;
}

/* The runtime starts the driver with a program's first call, and makes the device's context current. */
static bool is_ready(void)
{
	CUcontext context;

	if (cuInit(0))
		return false;
	if (context_of == device)
		return true;
	if (cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context))
		return false;
	context_of = device;
	return true;
}

static CUfunction function_of(const void *key)
{
	CUfunction function = NULL;
	CUmodule module;
	unsigned i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < KERNELS && kernels[i].key && kernels[i].key != key; i++)
		;
	if (i < KERNELS && !kernels[i].key && !cuModuleLoadData(&module, key) &&
	    !cuModuleGetFunction(&kernels[i].function, module, key))
		kernels[i].key = key;
	if (i < KERNELS)
		function = kernels[i].function;
	pthread_mutex_unlock(&lock);
	return function;
}

cudaError_t cudaGetLastError(void)
{
	cudaError_t error = last_error;

	last_error = cudaSuccess;
	return error;
}

cudaError_t cudaPeekAtLastError(void)
{
	return last_error;
}

cudaError_t cudaGetDeviceCount(int *count)
{
	BEGIN(cudaGetDeviceCount, 3020);
	END(cuDeviceGetCount(count));
}

cudaError_t cudaSetDevice(int which)
{
	int count = 0;

	BEGIN(cudaSetDevice, 3020);
	if (cuDeviceGetCount(&count) || which < 0 || which >= count)
		END(cudaErrorInvalidDevice);
	device = which;
	END(is_ready() ? cudaSuccess : cudaErrorInitializationError);
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
	CUdeviceptr address = 0;
	CUresult result;

	BEGIN(cudaMalloc, 3020);
	result = cuMemAlloc(&address, bytes);
	*memory = (void *)(uintptr_t)address;
	END(result);
}

cudaError_t cudaFree(void *memory)
{
	BEGIN(cudaFree, 3020);
	END(memory ? cuMemFree((CUdeviceptr)(uintptr_t)memory) : CUDA_SUCCESS);
}

cudaError_t cudaMallocHost(void **memory, size_t bytes)
{
	BEGIN(cudaMallocHost, 3020);
	END(cuMemAllocHost(memory, bytes));
}

cudaError_t cudaFreeHost(void *memory)
{
	BEGIN(cudaFreeHost, 3020);
	END(cuMemFreeHost(memory));
}

#define P(pointer) ((CUdeviceptr)(uintptr_t)(pointer))

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
	BEGIN(cudaMemcpy, 3020);
	if (kind == cudaMemcpyHostToDevice)
		END(cuMemcpyHtoD(P(to), from, bytes));
	if (kind == cudaMemcpyDeviceToHost)
		END(cuMemcpyDtoH(to, P(from), bytes));
	END(cudaErrorInvalidMemcpyDirection);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
			    cudaStream_t stream)
{
	BEGIN(cudaMemcpyAsync, 3020);
	if (kind == cudaMemcpyHostToDevice)
		END(cuMemcpyHtoDAsync(P(to), from, bytes, stream));
	if (kind == cudaMemcpyDeviceToHost)
		END(cuMemcpyDtoHAsync(to, P(from), bytes, stream));
	if (kind == cudaMemcpyDeviceToDevice)
		END(cuMemcpyDtoDAsync(P(to), P(from), bytes, stream));
	END(cudaErrorInvalidMemcpyDirection);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
	BEGIN(cudaMemsetAsync, 3020);
	END(cuMemsetD8Async(P(to), (unsigned char)value, bytes, stream));
}

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **parameters,
			     size_t smem, cudaStream_t stream)
{
	BEGIN(cudaLaunchKernel, 7000);
	call.symbol = kernel;
	END(cuLaunchKernel(function_of(kernel), grid.x, grid.y, grid.z, block.x, block.y, block.z,
			   (unsigned)smem, stream, parameters, NULL));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
	BEGIN(cudaStreamCreateWithFlags, 5000);
	END(cuStreamCreate(stream, flags));
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	BEGIN(cudaStreamDestroy, 5050);
	END(cuStreamDestroy(stream));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	BEGIN(cudaStreamSynchronize, 3020);
	END(cuStreamSynchronize(stream));
}

cudaError_t cudaDeviceSynchronize(void)
{
	BEGIN(cudaDeviceSynchronize, 3020);
	END(cuCtxSynchronize());
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
	BEGIN(cudaEventCreate, 3020);
	END(cuEventCreate(event, 0));
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
	BEGIN(cudaEventDestroy, 3020);
	END(cuEventDestroy(event));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	BEGIN(cudaEventRecord, 3020);
	END(cuEventRecord(event, stream));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
	BEGIN(cudaEventSynchronize, 3020);
	END(cuEventSynchronize(event));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
	BEGIN(cudaStreamWaitEvent, 3020);
	END(cuStreamWaitEvent(stream, event, flags));
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
	BEGIN(cudaStreamBeginCapture, 10000);
	END(cuStreamBeginCapture(stream, (CUstreamCaptureMode)mode));
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
	BEGIN(cudaStreamEndCapture, 10000);
	END(cuStreamEndCapture(stream, graph));
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
	BEGIN(cudaGraphInstantiate, 12000);
	END(cuGraphInstantiateWithFlags(exec, graph, flags));
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
	return (cudaError_t)cuGraphDestroy(graph);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
	return (cudaError_t)cuGraphExecDestroy(exec);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
	BEGIN(cudaGraphLaunch, 10000);
	END(cuGraphLaunch(exec, stream));
}

cudaError_t cudaProfilerStart(void)
{
	BEGIN(cudaProfilerStart, 4000);
	END(cuProfilerStart());
}

cudaError_t cudaProfilerStop(void)
{
	BEGIN(cudaProfilerStop, 4000);
	END(cuProfilerStop());
}
