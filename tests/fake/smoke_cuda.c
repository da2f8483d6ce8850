/*
 * A stand-in for libcuda.so.1 as far as doctor's smoke test calls it. $FW_FAKE_SMOKE is "CALL fail CODE",
 * "CALL slow MILLISECONDS", "CALL hang 0" or "CALL crash 0": what that call does; the others succeed.
 */
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))

static int answer(const char *call)
{
	const char *script = getenv("FW_FAKE_SMOKE");
	char name[64], what[16];
	int number;

	if (!script || sscanf(script, "%63s %15s %d", name, what, &number) != 3 ||
	    strcmp(name, call))
		return 0;
	if (!strcmp(what, "fail"))
		return number;
	if (!strcmp(what, "crash"))
		raise(SIGKILL); /* a crash that no sanitizer turns into an exit */
	if (!strcmp(what, "slow"))
		usleep((unsigned)number * 1000);
	while (!strcmp(what, "hang"))
		pause();
	return 0;
}

#define CALL(name, args)                                                                           \
	API int name args                                                                          \
	{                                                                                          \
		return answer(#name);                                                              \
	}
CALL(cuInit, (unsigned flags __attribute__((unused))))
CALL(cuDevicePrimaryCtxRelease_v2, (int device __attribute__((unused))))
CALL(cuCtxSetCurrent, (void *context __attribute__((unused))))
CALL(cuModuleUnload, (void *module __attribute__((unused))))
CALL(cuCtxSynchronize, (void))
CALL(cuMemFree_v2, (uint64_t address __attribute__((unused))))
CALL(cuMemcpyHtoD_v2,
     (uint64_t address __attribute__((unused)), const void *memory __attribute__((unused)),
      size_t bytes __attribute__((unused))))
CALL(cuLaunchKernel, (void *function __attribute__((unused))))
/* Not called here. */
CALL(cuDriverGetVersion, (void))
CALL(cuDeviceGetCount, (void))
CALL(cuDeviceGetName, (void))
CALL(cuDeviceGetAttribute, (void))
CALL(cuFuncGetAttribute, (void))
CALL(cuFuncSetAttribute, (void))
CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor, (void))

API int cuGetErrorName(int error, const char **name)
{
	*name = error == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
		: error == 100 ? "CUDA_ERROR_NO_DEVICE"
			       : "CUDA_ERROR_UNKNOWN";
	return 0;
}

API int cuDeviceGet(int *device, int ordinal)
{
	*device = ordinal;
	return answer("cuDeviceGet");
}

API int cuDevicePrimaryCtxRetain(void **context, int device)
{
	(void)device;
	*context = &answer;
	return answer("cuDevicePrimaryCtxRetain");
}

API int cuModuleLoadData(void **module, const void *image)
{
	(void)image;
	*module = &answer;
	return answer("cuModuleLoadData");
}

API int cuModuleGetFunction(void **function, void *module, const char *name)
{
	(void)module;
	(void)name;
	*function = &answer;
	return answer("cuModuleGetFunction");
}

API int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
	*address = bytes;
	return answer("cuMemAlloc_v2");
}

API int cuMemAllocHost_v2(void **memory, size_t bytes)
{
	*memory = malloc(bytes);
	return answer("cuMemAllocHost_v2");
}

API int cuMemFreeHost(void *memory)
{
	free(memory);
	return answer("cuMemFreeHost");
}
