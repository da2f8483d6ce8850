#include "fullwarp/occupancy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct fw_occupancy_result compute(const struct fw_occupancy_input *in)
{
	struct fw_occupancy_result out;

	fw_occupancy_result_init(&out);
	assert_int_equal(fw_occupancy(in, &out, NULL), FW_OK);
	return out;
}

static unsigned blocks(unsigned cc, unsigned block, unsigned regs, unsigned smem)
{
	struct fw_occupancy_input in;

	fw_occupancy_input_init(&in);
	in.cc = cc;
	in.block_threads = block;
	in.registers = regs;
	in.dynamic_smem_bytes = smem;
	return compute(&in).blocks_per_sm;
}

/* Each line was computed by a program that includes NVIDIA's header. */
static void equals_the_header_on_every_golden_vector(void **state)
{
	FILE *file = fopen(FW_CORPUS "/occupancy/occ_golden.txt", "r");
	struct fw_occupancy_input in;
	struct fw_occupancy_result out;
	unsigned want_blocks, want_mask, want_regs, want_smem;
	size_t rows = 0;

	(void)state;
	if (!file) {
		printf("no " FW_CORPUS "/occupancy/occ_golden.txt\n");
		skip();
	}
	fw_occupancy_input_init(&in);
	while (fscanf(file, "%u %u %u %u %u %d %u %d %u %u %u %u %u", &in.cc, &in.block_threads,
		      &in.registers, &in.static_smem_bytes, &in.dynamic_smem_bytes,
		      &in.carveout_pct, &in.barriers, &in.is_optin, &in.virtual_resources,
		      &want_blocks, &want_mask, &want_regs, &want_smem) == 13) {
		out = compute(&in);
		if (out.blocks_per_sm != want_blocks || out.limiters != want_mask ||
		    out.allocated_registers != want_regs || out.allocated_smem_bytes != want_smem)
			fail_msg("vector %zu: blocks %u (want %u), limiters %u (%u)", rows + 1,
				 out.blocks_per_sm, want_blocks, out.limiters, want_mask);
		rows++;
	}
	fclose(file);
	assert_int_equal(rows, 2520);
}

/* The traps of docs/occupancy.md, each checked with the header when it was written down. */
static void knows_the_traps(void **state)
{
	(void)state;
	assert_int_equal(blocks(80, 224, 92, 0), 2);     /* not 3: sub-partition floor */
	assert_int_equal(blocks(80, 256, 32, 0), 8);     /* 100 %: the article says 4 */
	assert_int_equal(blocks(80, 9 * 32, 224, 0), 0); /* launch check counts 12 warps */
	assert_int_equal(blocks(80, 257, 255, 0), 0);
	assert_int_equal(blocks(80, 256, 255, 0), 1);
	assert_int_equal(blocks(86, 128, 32, 50 * 1024), 1); /* the reserve of 1 KB */
	assert_int_equal(blocks(86, 128, 32, 49 * 1024), 2);
	assert_int_equal(blocks(80, 128, 32, 32 * 1024), 4);
	assert_int_equal(blocks(86, 192, 32, 0), 8);
	assert_int_equal(blocks(80, 192, 32, 0), 10);
	/* 228 KB / (12 KB + 1 KB): 17, not the 19 of 228/12. */
	assert_int_equal(blocks(90, 32, 32, 12 * 1024), 17);
	/* 48,000 bytes: 2 on V100, 1 on T4, 3 on A100, 4 on H100. */
	assert_int_equal(blocks(70, 128, 32, 48000), 2);
	assert_int_equal(blocks(75, 128, 32, 48000), 1);
	assert_int_equal(blocks(80, 128, 32, 48000), 3);
	assert_int_equal(blocks(90, 128, 32, 48000), 4);
}

static void sixteen_barriers_limit_from_9_0_on(void **state)
{
	struct fw_occupancy_input in;

	(void)state;
	fw_occupancy_input_init(&in);
	in.block_threads = 32;
	in.registers = 32;
	in.barriers = 16;
	in.cc = 90;
	assert_int_equal(compute(&in).blocks_per_sm, 4);
	/* As the header: the next limit (32 blocks) is named beside the barriers. */
	assert_int_equal(compute(&in).limiters, FW_LIMITER_BARRIERS | FW_LIMITER_BLOCKS);
	assert_int_equal(compute(&in).limit_barriers, 4);
	in.cc = 120;
	assert_int_equal(compute(&in).blocks_per_sm, 1);
	in.cc = 89;
	assert_int_equal(compute(&in).blocks_per_sm, 24);
}

static void clusters_need_9_0_and_a_size_the_hardware_allows(void **state)
{
	struct fw_occupancy_input in;

	(void)state;
	fw_occupancy_input_init(&in);
	in.block_threads = 256;
	in.registers = 32;
	in.cluster_blocks = 16;
	in.cc = 90;
	assert_int_equal(compute(&in).blocks_per_sm, 8);
	in.cc = 120;
	assert_int_equal(compute(&in).blocks_per_sm, 0);
	assert_int_equal(compute(&in).limiters, FW_LIMITER_CLUSTER);
	in.cluster_blocks = 2;
	assert_int_equal(compute(&in).blocks_per_sm, 6);
	in.cc = 80;
	assert_int_equal(compute(&in).limiters, FW_LIMITER_CLUSTER);
}

static void rejects_values_out_of_range(void **state)
{
	struct fw_occupancy_input in, good;
	struct fw_occupancy_result out;
	struct fw_error err;

	(void)state;
	fw_occupancy_result_init(&out);
	fw_occupancy_input_init(&good);
	good.cc = 90;
	good.block_threads = 256;
	assert_int_equal(fw_occupancy(&good, &out, &err), FW_OK);
	in = good, in.block_threads = 0;
	assert_int_equal(fw_occupancy(&in, &out, &err), FW_ERR_ARGUMENT);
	in = good, in.dynamic_smem_bytes = 0x80000000u;
	assert_int_equal(fw_occupancy(&in, &out, &err), FW_ERR_ARGUMENT);
	in = good, in.carveout_pct = 101;
	assert_int_equal(fw_occupancy(&in, &out, &err), FW_ERR_ARGUMENT);
	in = good, in.cc = 99;
	assert_int_equal(fw_occupancy(&in, &out, &err), FW_ERR_UNSUPPORTED);
	assert_non_null(strstr(err.message, "9.0 and 10.0"));
	in = good, in.struct_size = 4;
	assert_int_equal(fw_occupancy(&in, &out, &err), FW_ERR_ARGUMENT);
	assert_int_equal(fw_occupancy(NULL, &out, &err), FW_ERR_ARGUMENT);
}

static void extreme_values_do_not_overflow(void **state)
{
	struct fw_occupancy_input in;

	(void)state;
	fw_occupancy_input_init(&in);
	in.cc = 90;
	in.block_threads = in.registers = in.static_smem_bytes = in.dynamic_smem_bytes = 0x7fffffff;
	in.barriers = in.virtual_resources = in.cluster_blocks = 0x7fffffff;
	assert_int_equal(compute(&in).blocks_per_sm, 0);
	assert_int_equal(compute(&in).allocated_registers, FW_NO_LIMIT);
}

static void newer_callers_are_served_or_refused_never_misread(void **state)
{
	struct {
		struct fw_occupancy_input in;
		unsigned more[4];
	} newer;
	struct fw_occupancy_result out;

	(void)state;
	memset(&newer, 0, sizeof(newer));
	fw_occupancy_result_init(&out);
	fw_occupancy_input_init(&newer.in);
	newer.in.struct_size = sizeof(newer);
	newer.in.cc = 90;
	newer.in.block_threads = 256;
	assert_int_equal(fw_occupancy(&newer.in, &out, NULL), FW_OK);
	newer.more[3] = 1;
	assert_int_equal(fw_occupancy(&newer.in, &out, NULL), FW_ERR_UNSUPPORTED);
}

static void limiters_have_the_names_of_the_json(void **state)
{
	(void)state;
	assert_string_equal(fw_limiter_name(FW_LIMITER_SHARED_MEMORY), "shared_memory");
	assert_string_equal(fw_limiter_name(FW_LIMITER_CLUSTER), "cluster");
	assert_null(fw_limiter_name(3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equals_the_header_on_every_golden_vector),
		cmocka_unit_test(knows_the_traps),
		cmocka_unit_test(sixteen_barriers_limit_from_9_0_on),
		cmocka_unit_test(clusters_need_9_0_and_a_size_the_hardware_allows),
		cmocka_unit_test(rejects_values_out_of_range),
		cmocka_unit_test(extreme_values_do_not_overflow),
		cmocka_unit_test(newer_callers_are_served_or_refused_never_misread),
		cmocka_unit_test(limiters_have_the_names_of_the_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
