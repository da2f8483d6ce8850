#include "occupancy/advice.h"
#include "occupancy/resource.h"
#include "occupancy/tail.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct fw_hw_limits *limits(unsigned cc)
{
	const struct fw_hw_limits *hw = NULL;

	assert_int_equal(fw_hw_limits_find(cc, &hw, NULL), FW_OK);
	return hw;
}

static struct fw_occupancy_input kernel(unsigned block, unsigned registers, unsigned smem)
{
	struct fw_occupancy_input in;

	fw_occupancy_input_init(&in);
	in.block_threads = block;
	in.registers = registers;
	in.static_smem_bytes = smem;
	return in;
}

/*
 * 8.0, 224 threads (7 warps), 92 registers (96 allocated, 3072 a warp, 5 warps a sub-partition, 20 in
 * all): 2 blocks. 3 blocks need 21 warps, so 6 a sub-partition: 16384 / 6 = 2730, 2560 a warp, 80
 * registers. 2 blocks are 14 warps, 4 a sub-partition: 4096 a warp, 128 registers, but the launch check
 * asks 8 warps for one block only: 8 * 4096 = 32768 fits. From 129 (136: 4352 a warp, 3 a
 * sub-partition, 12 warps) one block is left.
 */
static void registers_have_cliffs_in_both_directions(void **state)
{
	struct fw_occupancy_input in = kernel(224, 92, 0);
	struct fw_cliffs cliffs = fw_cliffs_find(limits(80), &in, FW_RESOURCE_REGISTERS);

	(void)state;
	assert_true(cliffs.less.exists);
	assert_int_equal(cliffs.less.value, 80);
	assert_int_equal(cliffs.less.result.blocks_per_sm, 3);
	assert_int_equal(cliffs.free_to, 128);
	assert_true(cliffs.more.exists);
	assert_int_equal(cliffs.more.value, 129);
	assert_int_equal(cliffs.more.result.blocks_per_sm, 1);
}

/*
 * The same kernel with 1000 B: 2 blocks by registers; 164 KB / 2 = 82 KB, less the reserve of 1 KB:
 * 82944 B are free. Less shared memory does not help: registers limit.
 */
static void shared_memory_is_free_while_registers_limit(void **state)
{
	struct fw_occupancy_input in = kernel(224, 92, 1000);
	struct fw_cliffs cliffs = fw_cliffs_find(limits(80), &in, FW_RESOURCE_SMEM);

	(void)state;
	assert_false(cliffs.less.exists);
	assert_int_equal(cliffs.free_to, 81 * 1024);
	assert_int_equal(cliffs.more.value, 81 * 1024 + 1);
	assert_int_equal(cliffs.more.result.blocks_per_sm, 1);
}

/* 9.0, 64 barriers: 16 a block hold 4 blocks; 12 hold 5. More than 16 no block has. */
static void barriers_have_cliffs(void **state)
{
	struct fw_occupancy_input in = kernel(32, 32, 0);
	struct fw_cliffs cliffs;

	(void)state;
	in.barriers = 16;
	cliffs = fw_cliffs_find(limits(90), &in, FW_RESOURCE_BARRIERS);
	assert_int_equal(cliffs.less.value, 12);
	assert_int_equal(cliffs.less.result.blocks_per_sm, 5);
	assert_false(cliffs.more.exists);
	assert_int_equal(cliffs.free_to, 16);
}

/* 8.0, 256 threads, 32 registers: 8 blocks fill 64 warps; 7 warps allow 9 blocks; 9 warps only 7. */
static void block_sizes_have_cliffs_at_whole_warps(void **state)
{
	struct fw_occupancy_input in = kernel(256, 32, 0);
	struct fw_cliffs cliffs = fw_cliffs_find(limits(80), &in, FW_RESOURCE_BLOCK);

	(void)state;
	assert_int_equal(cliffs.less.value, 224);
	assert_int_equal(cliffs.less.result.blocks_per_sm, 9);
	assert_int_equal(cliffs.more.value, 257);
	assert_int_equal(cliffs.more.result.blocks_per_sm, 7);
}

/* Every cliff, found by bisection, against trying all values one by one. */
static void cliffs_equal_a_linear_search(void **state)
{
	static const unsigned ccs[] = { 60, 75, 80, 86, 90, 120 };
	unsigned seed = 7;

	(void)state;
	for (int i = 0; i < 60; i++) {
		const struct fw_hw_limits *hw = limits(ccs[i % 6]);
		struct fw_occupancy_input in;
		struct fw_occupancy_result now, then;
		struct fw_cliffs cliffs;
		unsigned value;

		seed = seed * 1103515245 + 12345;
		in = kernel(1 + (seed >> 8) % 1024, 1 + (seed >> 3) % 255, (seed >> 5) % 40000);
		in.carveout_pct = i % 3 ? -1 : (int)(seed >> 9) % 101;
		fw_occupancy_compute(hw, &in, &now);
		if (!now.blocks_per_sm)
			continue;
		cliffs = fw_cliffs_find(hw, &in, FW_RESOURCE_SMEM);
		for (value = in.static_smem_bytes; value <= hw->smem_optin; value++) {
			struct fw_occupancy_input with =
				fw_resource_set(&in, FW_RESOURCE_SMEM, value);

			fw_occupancy_compute(hw, &with, &then);
			if (then.blocks_per_sm < now.blocks_per_sm)
				break;
		}
		assert_int_equal(cliffs.free_to, value - 1);
		for (value = in.static_smem_bytes; value; value--) {
			struct fw_occupancy_input with =
				fw_resource_set(&in, FW_RESOURCE_SMEM, value - 1);

			fw_occupancy_compute(hw, &with, &then);
			if (then.blocks_per_sm > now.blocks_per_sm)
				break;
		}
		assert_int_equal(cliffs.less.exists, value != 0);
		if (value)
			assert_int_equal(cliffs.less.value, value - 1);
	}
}

/* What ptxas 13.0 wrote into cubins (the cap of .nv.info) for kernels compiled with these bounds. */
static void register_cap_is_what_the_compiler_obeys(void **state)
{
	static const struct {
		unsigned cc, threads, min_blocks, cap;
	} rows[] = {
		{ 80, 256, 4, 64 },  { 90, 384, 1, 168 }, { 80, 160, 2, 168 },  { 80, 192, 3, 96 },
		{ 80, 224, 3, 80 },  { 75, 33, 7, 128 },  { 80, 512, 3, 40 },   { 90, 32, 32, 64 },
		{ 80, 640, 3, 32 },  { 80, 96, 5, 128 },  { 80, 64, 1, 255 },   { 90, 1024, 2, 32 },
		{ 86, 1024, 2, 64 }, { 86, 640, 3, 96 },  { 120, 32, 32, 255 }, { 75, 512, 3, 128 },
		{ 89, 65, 20, 255 }, { 89, 33, 24, 40 },  { 110, 97, 14, 255 }, { 100, 97, 14, 32 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(
			fw_register_cap(limits(rows[i].cc), rows[i].threads, rows[i].min_blocks),
			rows[i].cap);
	assert_false(fw_launch_bounds_hold(limits(86), 1024, 2));
	assert_true(fw_launch_bounds_hold(limits(80), 1024, 2));
}

/* H200: 132 SMs. 133 blocks of one an SM take two waves: 133 / 264 = 50.4 %. */
static void tail_of_a_wave_and_one_block(void **state)
{
	struct fw_tail tail = fw_tail_of(133, 132, 1);

	(void)state;
	assert_int_equal(tail.full_waves, 1);
	assert_int_equal(tail.last_wave_blocks, 1);
	assert_float_equal(tail.efficiency, 0.50378, 1e-5);
	assert_false(tail.may_be_persistent);
	tail = fw_tail_of(132, 132, 1);
	assert_true(tail.may_be_persistent);
	assert_float_equal(tail.efficiency, 1, 0);
	/* 10 blocks on 108 SMs: less than one wave. */
	tail = fw_tail_of(10, 108, 2);
	assert_int_equal(tail.full_waves, 0);
	assert_float_equal(tail.waves, 10.0 / 216, 1e-12);
	tail = fw_tail_of(0, 108, 2);
	assert_true(tail.waves == 0 && tail.efficiency == 0);
	tail = fw_tail_of(5, 0, 2);
	assert_int_equal(tail.resident_blocks, 0);
	assert_int_equal(fw_tail_of(UINT64_MAX, 132, 32).resident_blocks, 4224);
}

static void tile_kernels_are_low_on_purpose(void **state)
{
	struct fw_kernel_traits plain = { .name = "elementwise_kernel", .smem_bytes = 48 * 1024 };
	struct fw_kernel_traits traits = plain;

	(void)state;
	assert_null(fw_intended_low(&plain));
	traits.has_setmaxnreg = true;
	assert_non_null(strstr(fw_intended_low(&traits), "setmaxnreg"));
	traits = plain, traits.has_cluster = true;
	assert_non_null(fw_intended_low(&traits));
	traits = plain, traits.has_tensor_memory = true;
	assert_non_null(fw_intended_low(&traits));
	traits = plain, traits.smem_bytes = 96 * 1024 + 1;
	assert_non_null(fw_intended_low(&traits));
	traits = plain, traits.name = "ampere_fp16_s16816GEMM_128x128";
	assert_non_null(fw_intended_low(&traits));
	traits.name = NULL;
	assert_null(fw_intended_low(&traits));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_have_cliffs_in_both_directions),
		cmocka_unit_test(shared_memory_is_free_while_registers_limit),
		cmocka_unit_test(barriers_have_cliffs),
		cmocka_unit_test(block_sizes_have_cliffs_at_whole_warps),
		cmocka_unit_test(cliffs_equal_a_linear_search),
		cmocka_unit_test(register_cap_is_what_the_compiler_obeys),
		cmocka_unit_test(tail_of_a_wave_and_one_block),
		cmocka_unit_test(tile_kernels_are_low_on_purpose),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
