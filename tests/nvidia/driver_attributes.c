/*
 * What we hand to the driver against <cuda.h>: a wrong number fails to compile. Run, it takes the
 * addresses through the casts that the public header shows.
 */
#include "fullwarp/occupancy.h"
#include "occupancy/cuda_attributes.h"

#include <cuda.h>

#include <stdio.h>

#define SAME(ours, theirs) _Static_assert((int)FW_CU_##ours == (int)CU_##theirs, #ours)

SAME(FUNC_MAX_THREADS, FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(FUNC_STATIC_SMEM, FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME(FUNC_REGISTERS, FUNC_ATTRIBUTE_NUM_REGS);
SAME(FUNC_MAX_DYNAMIC_SMEM, FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME(FUNC_CARVEOUT, FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
SAME(FUNC_CLUSTER_WIDTH, FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
SAME(FUNC_CLUSTER_HEIGHT, FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT);
SAME(FUNC_CLUSTER_DEPTH, FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH);
SAME(DEVICE_SMEM_PER_BLOCK, DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
SAME(DEVICE_REGS_PER_BLOCK, DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
SAME(DEVICE_SMS, DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(DEVICE_THREADS_PER_SM, DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
SAME(DEVICE_CC_MAJOR, DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(DEVICE_CC_MINOR, DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(DEVICE_SMEM_PER_SM, DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
SAME(DEVICE_SMEM_OPTIN, DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME(DEVICE_BLOCKS_PER_SM, DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
SAME(DEVICE_SMEM_RESERVED, DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);

/* With the driver's own signatures: an H200, and a kernel of 92 registers. */
static CUresult device_attribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
	(void)device;
	switch (attribute) {
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = 9; return CUDA_SUCCESS;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = 0; return CUDA_SUCCESS;
	case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 132; return CUDA_SUCCESS;
	default: return CUDA_ERROR_INVALID_VALUE;
	}
}

static CUresult func_attribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
	(void)function;
	switch (attribute) {
	case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = 640; return CUDA_SUCCESS;
	case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = 92; return CUDA_SUCCESS;
	case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = 0; return CUDA_SUCCESS;
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = 49152; return CUDA_SUCCESS;
	default: return CUDA_ERROR_INVALID_VALUE;
	}
}

int main(void)
{
	struct fw_cuda_driver driver = { sizeof(driver),
					 (int (*)(int *, int, void *))func_attribute,
					 (int (*)(int *, int, int))device_attribute };
	struct fw_launch_request request;
	struct fw_launch launch;
	struct fw_error err = { 0 };

	fw_launch_request_init(&request);
	fw_launch_init(&launch);
	request.items = 1000000;
	if (fw_launch_advise_function(&driver, &driver, 0, &request, &launch, &err)) {
		printf("%s\n", err.message);
		return 1;
	}
	/* 20 warps by registers: 5 blocks of 128; 7813 blocks on 132 x 5. */
	printf("%u threads, %u an SM, %zu blocks, %zu at once\n", launch.block_threads,
	       launch.blocks_per_sm, launch.grid_blocks, launch.resident_blocks);
	return launch.block_threads != 128 || launch.blocks_per_sm != 5 ||
	       launch.grid_blocks != 7813 || launch.resident_blocks != 660;
}
