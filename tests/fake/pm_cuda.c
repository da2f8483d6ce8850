/*
 * A stand-in for libcuda.so.1 as far as PM sampling asks it: the devices and their UUIDs, as the file
 * $FW_FAKE_PM says (see pm_cupti.c). The other calls that the table of src/gpu wants are there and fail.
 */
#include "pm_script.h"

#include <stddef.h>

#define API __attribute__((visibility("default")))

API int cuInit(unsigned flags)
{
	return (int)fake_pm_number("cuInit", (double)flags);
}

API int cuGetErrorName(int error, const char **name)
{
	*name = error == 100 ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_UNKNOWN";
	return 0;
}

API int cuDriverGetVersion(int *version)
{
	*version = 13000;
	return 0;
}

API int cuDeviceGetCount(int *count)
{
	*count = (int)fake_pm_number("devices", 1);
	return 0;
}

API int cuDeviceGet(int *device, int ordinal)
{
	*device = ordinal;
	return 0;
}

/* Device N is GPU-00000000-0000-0000-0000-00000000000N, or what `uuid N` names. */
API int cuDeviceGetUuid_v2(unsigned char uuid[16], int device)
{
	for (int i = 0; i < 16; i++)
		uuid[i] = 0;
	uuid[15] = (unsigned char)(fake_pm_number("first_uuid", 0) + device);
	return 0;
}

/* Not asked for here. */
#define FAILS(name)                                                                                \
	API int name(void);                                                                        \
	API int name(void)                                                                         \
	{                                                                                          \
		return 999;                                                                        \
	}
FAILS(cuDeviceGetName)
FAILS(cuDeviceGetAttribute)
FAILS(cuDevicePrimaryCtxRetain)
FAILS(cuDevicePrimaryCtxRelease_v2)
FAILS(cuCtxSetCurrent)
FAILS(cuModuleLoadData)
FAILS(cuModuleUnload)
FAILS(cuModuleGetFunction)
FAILS(cuFuncGetAttribute)
FAILS(cuFuncSetAttribute)
FAILS(cuOccupancyMaxActiveBlocksPerMultiprocessor)
