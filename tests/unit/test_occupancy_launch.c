#include "fullwarp/occupancy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct fw_occupancy_input kernel_of(unsigned cc, unsigned registers, unsigned smem)
{
	struct fw_occupancy_input in;

	fw_occupancy_input_init(&in);
	in.cc = cc;
	in.registers = registers;
	in.dynamic_smem_bytes = smem;
	return in;
}

static void assert_threads(const struct fw_launch *launch, const unsigned *want, size_t count)
{
	assert_int_equal(launch->best_count, count);
	assert_memory_equal(launch->best_threads, want, count * sizeof(*want));
}

/*
 * 92 registers are 96 allocated = 3072 a warp; 16384 / 3072 = 5 warps in each of 4 sub-partitions: 20
 * warps. Blocks of 1, 2, 4, 5, 10 and 20 warps fill them: 20/64 = 31.25 %. 10^6 items in blocks of 128
 * are 7813 blocks (7812.5); 108 SMs x 5 blocks = 540; 7813/540 = 14.4685 waves, 14.4685/15 = 0.96457.
 */
static void finds_the_best_blocks_and_their_grid(void **state)
{
	static const unsigned want[] = { 32, 64, 128, 160, 320, 640 };
	struct fw_occupancy_input kernel = kernel_of(80, 92, 0);
	struct fw_launch_request request;
	struct fw_launch launch;

	(void)state;
	fw_launch_request_init(&request);
	fw_launch_init(&launch);
	request.kernel = &kernel;
	request.items = 1000000;
	request.sms = 108;
	assert_int_equal(fw_launch_advise(&request, &launch, NULL), FW_OK);
	assert_threads(&launch, want, 6);
	assert_int_equal(launch.block_threads, 128);
	assert_int_equal(launch.blocks_per_sm, 5);
	assert_int_equal(launch.grid_blocks, 7813);
	assert_int_equal(launch.resident_blocks, 540);
	assert_int_equal(launch.limiters, FW_LIMITER_REGISTERS);
	assert_float_equal(launch.occupancy, 0.3125, 1e-12);
	assert_float_equal(launch.waves, 7813.0 / 540, 1e-9);
	assert_float_equal(launch.efficiency, 7813.0 / 540 / 15, 1e-9);
}

/* 48 warps on 8.6: 16 blocks at most, so at least 3 warps each; 6 warps (192 threads) are fine. */
static void forty_eight_warps_like_192_threads(void **state)
{
	static const unsigned want[] = { 96, 128, 192, 256, 384, 512, 768 };
	struct fw_occupancy_input kernel = kernel_of(86, 32, 0);
	struct fw_launch_request request;
	struct fw_launch launch;

	(void)state;
	fw_launch_request_init(&request);
	fw_launch_init(&launch);
	request.kernel = &kernel;
	assert_int_equal(fw_launch_advise(&request, &launch, NULL), FW_OK);
	assert_threads(&launch, want, 7);
	assert_float_equal(launch.occupancy, 1, 0);
	assert_int_equal(launch.grid_blocks, 0);
	assert_true(launch.waves == -1 && launch.efficiency == -1);
}

/* The size with the most warps is none of the usual ones. */
static void shared_memory_that_grows_with_the_block_counts(void **state)
{
	struct fw_occupancy_input kernel = kernel_of(90, 32, 0);
	struct fw_launch_request request;
	struct fw_launch launch;

	(void)state;
	fw_launch_request_init(&request);
	fw_launch_init(&launch);
	request.kernel = &kernel;
	request.smem_per_thread_bytes = 256;
	request.max_threads = 256;
	/* 8 warps: 64 KB + 1 KB, 3 blocks = 24 warps; 1 warp: 9 KB, 25 blocks = 25 warps;
	 * 2 warps: 17 KB, 13 = 26; 3: 25 KB, 9 = 27; 4: 33 KB, 6 = 24; 5: 41 KB, 5 = 25;
	 * 6: 49 KB, 4 = 24; 7: 57 KB, 4 = 28 (best). */
	assert_int_equal(fw_launch_advise(&request, &launch, NULL), FW_OK);
	assert_int_equal(launch.best_count, 1);
	assert_int_equal(launch.block_threads, 224);
	assert_int_equal(launch.blocks_per_sm, 4);
	assert_int_equal(launch.limiters, FW_LIMITER_SHARED_MEMORY);
}

static void bad_requests_are_refused_with_a_reason(void **state)
{
	struct fw_occupancy_input kernel = kernel_of(80, 32, 200 * 1024);
	struct fw_launch_request request;
	struct fw_launch launch;
	struct fw_error err;

	(void)state;
	fw_launch_request_init(&request);
	fw_launch_init(&launch);
	assert_int_equal(fw_launch_advise(&request, &launch, &err), FW_ERR_ARGUMENT);
	request.kernel = &kernel;
	assert_int_equal(fw_launch_advise(&request, &launch, &err), FW_ERR_UNSUPPORTED);
	assert_non_null(strstr(err.message, "exceed the limit of shared_memory"));
	kernel.dynamic_smem_bytes = 0;
	request.required_threads = 1025;
	assert_int_equal(fw_launch_advise(&request, &launch, &err), FW_ERR_ARGUMENT);
	request.required_threads = 0xffffffff;
	assert_int_equal(fw_launch_advise(&request, &launch, &err), FW_ERR_ARGUMENT);
	request.required_threads = 0;
	request.items = SIZE_MAX;
	assert_int_equal(fw_launch_advise(&request, &launch, &err), FW_ERR_ARGUMENT);
	assert_non_null(strstr(err.message, "grid-stride"));
	kernel.cc = 99;
	assert_int_equal(fw_launch_advise(&request, &launch, &err), FW_ERR_UNSUPPORTED);
	request.struct_size = 3;
	assert_int_equal(fw_launch_advise(&request, &launch, &err), FW_ERR_ARGUMENT);
}

/* An A100 and a kernel, told as cuDeviceGetAttribute and cuFuncGetAttribute would. */
static int device_attribute(int *value, int attribute, int device)
{
	static const int table[][2] = { { 8, 49152 }, { 12, 65536 }, { 16, 108 },    { 39, 2048 },
					{ 75, 8 },    { 76, 0 },     { 81, 167936 }, { 97, 166912 },
					{ 106, 32 },  { 111, 1024 } };

	assert_int_equal(device, 0);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i][0] == attribute) {
			*value = table[i][1];
			return 0;
		}
	return 1; /* CUDA_ERROR_INVALID_VALUE */
}

static int function_attribute(int *value, int attribute, void *function)
{
	const int *kernel = function; /* by attribute; -2: the driver refuses */

	if (attribute > 13 || kernel[attribute] == -2)
		return 1;
	*value = kernel[attribute];
	return 0;
}

static int function_attribute_fails(int *value, int attribute, void *function)
{
	(void)value;
	(void)attribute;
	(void)function;
	return 400; /* CUDA_ERROR_INVALID_HANDLE */
}

static void asks_the_driver_about_a_function(void **state)
{
	int kernel[14] = { 640, 0, 0, 0, 92, 80, 80, 0, 49152, -1, 0, 0, 0, 0 };
	struct fw_cuda_driver driver = { sizeof(driver), function_attribute, device_attribute };
	struct fw_launch_request request;
	struct fw_launch launch;
	struct fw_error err;

	(void)state;
	fw_launch_request_init(&request);
	fw_launch_init(&launch);
	request.items = 1000000;
	assert_int_equal(fw_launch_advise_function(&driver, kernel, 0, &request, &launch, &err),
			 FW_OK);
	assert_int_equal(launch.best_count, 6);
	assert_int_equal(launch.block_threads, 128);
	assert_int_equal(launch.resident_blocks, 540);
	kernel[0] = 256; /* the launch bound of the kernel */
	assert_int_equal(fw_launch_advise_function(&driver, kernel, 0, &request, &launch, &err),
			 FW_OK);
	assert_int_equal(launch.best_count, 4);
	driver.func_get_attribute = function_attribute_fails;
	assert_int_equal(fw_launch_advise_function(&driver, kernel, 0, &request, &launch, &err),
			 FW_ERR_UNSUPPORTED);
	assert_non_null(strstr(err.message, "CUresult 400"));
	assert_int_equal(fw_launch_advise_function(&driver, NULL, 0, &request, &launch, &err),
			 FW_ERR_ARGUMENT);
}

static void dynamic_shared_memory_needs_the_opt_in(void **state)
{
	int kernel[14] = { 1024, 0, 0, 0, 32, 80, 80, 0, 49152, -1, 0, 0, 0, 0 };
	struct fw_cuda_driver driver = { sizeof(driver), function_attribute, device_attribute };
	struct fw_occupancy_input launch_input = kernel_of(0, 0, 64 * 1024);
	struct fw_launch_request request;
	struct fw_launch launch;
	struct fw_error err;

	(void)state;
	fw_launch_request_init(&request);
	fw_launch_init(&launch);
	request.kernel = &launch_input;
	assert_int_equal(fw_launch_advise_function(&driver, kernel, 0, &request, &launch, &err),
			 FW_ERR_UNSUPPORTED);
	assert_non_null(strstr(err.message,
			       "65536 bytes of dynamic shared memory are more than the 49152"));
	kernel[8] = 64 * 1024;
	assert_int_equal(fw_launch_advise_function(&driver, kernel, 0, &request, &launch, &err),
			 FW_OK);
	/* 65 KB a block: 2 of 164 KB; 2 x 1024 threads fill 64 warps. */
	assert_int_equal(launch.block_threads, 1024);
	assert_int_equal(launch.blocks_per_sm, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_best_blocks_and_their_grid),
		cmocka_unit_test(forty_eight_warps_like_192_threads),
		cmocka_unit_test(shared_memory_that_grows_with_the_block_counts),
		cmocka_unit_test(bad_requests_are_refused_with_a_reason),
		cmocka_unit_test(asks_the_driver_about_a_function),
		cmocka_unit_test(dynamic_shared_memory_needs_the_opt_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
