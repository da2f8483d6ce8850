/* The fill table and the kernel table, by hand. The GPU: H200, compute capability 9.0, 132 SMs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fullwarp/occupancy.h"
#include "ledger_case.h"

/*
 * Launches and what fits on an SM of 9.0 (2048 threads, 32 blocks, 65536 registers, 228 KB with 1 KB
 * reserved a block):
 *	even: 256 threads, 32 registers: 8 blocks of 8 warps fill its 64 warps; 1056 on the GPU.
 *	wide: 128 threads, 255 registers, rounded to 256: a scheduler's 16384 registers hold 2 warps,
 *	so 8 warps, 2 blocks of 4, 12.5 %; 264 on the GPU.
 *	smem: 128 threads, 96 KB told as a total: 99328 bytes with the reserve, 233472 / 99328 = 2
 *	blocks, 8 of 64 warps; 264 on the GPU.
 *	lone: 1024 threads, 200 KB: 1 block of 32 warps, 50 %; 132 on the GPU.
 */
static const struct fw_shape even = { { 1056, 1, 1 }, { 256, 1, 1 }, 32, -1, -1, 0, 0 };
static const struct fw_shape wide = { { 264, 1, 2 }, { 32, 4, 1 }, 255, -1, -1, 0, 0 };
static const struct fw_shape smem = { { 264, 1, 1 }, { 128, 1, 1 }, 32, -1, -1, 98304, 0 };
static const struct fw_shape lone = { { 132, 1, 1 }, { 1024, 1, 1 }, 32, 0, 204800, 204800, 0 };

static void open_h200(struct ledger_case *c)
{
	case_open(c);
	c->trace->devices.cc[c->device] = 90;
	c->trace->devices.sms[c->device] = 132;
}

static uint32_t run(struct ledger_case *c, const struct fw_shape *shape, int64_t start, int64_t end)
{
	uint32_t op = case_kernel(c, 7, start, end, FW_CORR_NONE);

	c->trace->ops.detail[op] = fw_trace_shape(c->trace, shape);
	return op;
}

static struct fw_shape with_grid(struct fw_shape shape, uint32_t x)
{
	shape.grid[0] = x;
	shape.grid[1] = shape.grid[2] = 1;
	return shape;
}

/* A kernel of 1000 ns with this launch: where its time goes. */
static void expect_fill(const struct fw_shape *shape, enum fw_fill most, const int64_t *ns)
{
	const struct fw_device_ledger *d;
	struct ledger_case c;

	open_h200(&c);
	run(&c, shape, 0, 1000);
	d = case_build(&c, NULL);
	for (int f = 0; f < FW_FILL_COUNT; f++)
		assert_int_equal(d->fill_ns[f], ns[f]);
	assert_int_equal(d->kernels[0].fill, most);
	case_close(&c);
}

static void one_block_short_of_a_wave_is_grid_limited(void **state)
{
	const int64_t limited[FW_FILL_COUNT] = { [FW_FILL_GRID_LIMITED] = 1000 };
	const int64_t full[FW_FILL_COUNT] = { [FW_FILL_FULL] = 1000 };
	struct fw_shape shape = with_grid(even, 1055);

	(void)state;
	expect_fill(&shape, FW_FILL_GRID_LIMITED, limited);
	expect_fill(&even, FW_FILL_FULL, full);
}

static void last_wave_is_charged_for_its_empty_places(void **state)
{
	/* 1.5 waves take 2: a quarter of the places is empty. */
	const int64_t half[FW_FILL_COUNT] = { [FW_FILL_TAIL] = 250, [FW_FILL_FULL] = 750 };
	/* 133 blocks on 132 places: 131 of 264 empty, 496.2 of 1000 ns; efficiency 50.4 %. */
	const int64_t one_more[FW_FILL_COUNT] = { [FW_FILL_TAIL] = 496, [FW_FILL_FULL] = 504 };
	/* 2 x 1056 + 1: 1055 of 3168 empty, 333.02. */
	const int64_t third[FW_FILL_COUNT] = { [FW_FILL_TAIL] = 333, [FW_FILL_FULL] = 667 };
	struct fw_shape shape = with_grid(even, 1584);

	(void)state;
	expect_fill(&shape, FW_FILL_FULL, half);
	shape = with_grid(lone, 133);
	expect_fill(&shape, FW_FILL_FULL, one_more);
	shape = with_grid(even, 2113);
	expect_fill(&shape, FW_FILL_FULL, third);
}

static void under_half_of_the_warps_is_occupancy(void **state)
{
	const int64_t low[FW_FILL_COUNT] = { [FW_FILL_OCCUPANCY] = 1000 };
	/* 265 blocks on 264 places: 263 of 528 empty, 498.1. */
	const int64_t tail[FW_FILL_COUNT] = { [FW_FILL_TAIL] = 498, [FW_FILL_OCCUPANCY] = 502 };
	struct fw_shape shape = with_grid(smem, 265);

	(void)state;
	expect_fill(&wide, FW_FILL_OCCUPANCY, low);
	expect_fill(&smem, FW_FILL_OCCUPANCY, low);
	expect_fill(&shape, FW_FILL_OCCUPANCY, tail);
}

/* What cannot be known is not guessed: no registers, no block, no grid, no shared memory, too many
 * threads. */
static void what_the_trace_does_not_tell_is_unknown(void **state)
{
	const int64_t unknown[FW_FILL_COUNT] = { [FW_FILL_UNKNOWN] = 1000 };
	struct fw_shape shapes[6] = { even, even, even, even, even, even };

	(void)state;
	shapes[0].registers = -1;
	shapes[1].registers = 0;
	shapes[2].block[1] = 0;
	shapes[3].grid[2] = 0;
	shapes[4].smem_total = -1;
	shapes[5].block[2] = 5;
	for (size_t i = 0; i < 6; i++)
		expect_fill(&shapes[i], FW_FILL_UNKNOWN, unknown);
}

/* The name of the GPU serves where its properties are missing; AMD's rule is another. */
static void gpu_is_known_by_its_properties_or_its_name(void **state)
{
	static const struct {
		const char *name;
		int32_t cc, sms;
		uint8_t is_amd;
		enum fw_fill fill;
	} gpus[] = {
		{ "", -1, -1, 0, FW_FILL_UNKNOWN },
		{ "NVIDIA H200", -1, -1, 0, FW_FILL_FULL },
		{ "NVIDIA H200", 90, 133, 0, FW_FILL_GRID_LIMITED }, /* the trace's word counts */
		{ "", 90, -1, 0, FW_FILL_UNKNOWN },
		{ "", 15, 132, 0, FW_FILL_UNKNOWN }, /* no such compute capability */
		{ "AMD Instinct MI300X", 90, 132, 1, FW_FILL_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(gpus) / sizeof(gpus[0]); i++) {
		const struct fw_device_ledger *d;
		struct ledger_case c;

		case_open(&c);
		c.trace->devices.name[c.device] = case_text(&c, gpus[i].name);
		c.trace->devices.cc[c.device] = gpus[i].cc;
		c.trace->devices.sms[c.device] = gpus[i].sms;
		c.trace->devices.is_amd[c.device] = gpus[i].is_amd;
		run(&c, &even, 0, 1000);
		d = case_build(&c, NULL);
		assert_int_equal(d->fill_ns[gpus[i].fill], 1000);
		/* Occupancy needs no number of SMs. */
		assert_true((d->kernels[0].occupancy < 0) ==
			    (gpus[i].fill == FW_FILL_UNKNOWN && i != 3));
		case_close(&c);
	}
}

/*
 * Kernels [0,100) and [60,150), a collective in [130,140), a copy in [10,20): alone are [0,60),
 * [100,130) and [140,150), 60 of the first and 40 of the second; 50 of 150 are shared.
 */
static void kernels_at_once_are_unknown(void **state)
{
	const struct fw_device_ledger *d;
	struct ledger_case c;
	uint32_t op;

	(void)state;
	open_h200(&c);
	run(&c, &even, 0, 100);
	op = run(&c, &wide, 60, 150);
	c.trace->ops.stream[op] = fw_trace_stream(c.trace, c.device, 8);
	op = run(&c, &even, 130, 140);
	c.trace->ops.stream[op] = fw_trace_stream(c.trace, c.device, 9);
	c.trace->ops.name[op] = case_text(&c, "ncclDevKernel_AllReduce");
	c.trace->ops.owner[op] = FW_CLASS_COLLECTIVE;
	case_copy(&c, 10, 10, 20, FW_CORR_NONE);
	d = case_build(&c, NULL);
	assert_int_equal(d->fill_ns[FW_FILL_FULL], 60);
	assert_int_equal(d->fill_ns[FW_FILL_OCCUPANCY], 40);
	assert_int_equal(d->fill_ns[FW_FILL_UNKNOWN], 50);
	assert_int_equal(d->kernel_count, 3);
	assert_int_equal(d->kernels[0].fill, FW_FILL_FULL);    /* 60 of 100 */
	assert_int_equal(d->kernels[1].fill, FW_FILL_UNKNOWN); /* 50 of 90 */
	assert_int_equal(d->kernels[2].fill, FW_FILL_UNKNOWN); /* the collective */
	case_close(&c);
}

/* Only the part inside the window counts; a launch that only touches it does not. */
static void window_cuts_the_tables(void **state)
{
	const struct fw_ledger_options options = { .has_window = true,
						   .window_start_ns = 50,
						   .window_end_ns = 220 };
	const struct fw_device_ledger *d;
	struct ledger_case c;

	(void)state;
	open_h200(&c);
	run(&c, &even, 0, 50);
	run(&c, &even, 50, 100);
	run(&c, &even, 200, 300);
	run(&c, &even, 300, 310);
	d = case_build(&c, &options);
	assert_int_equal(d->fill_ns[FW_FILL_FULL], 70);
	assert_int_equal(d->kernel_count, 1);
	assert_int_equal(d->kernels[0].count, 2);
	assert_int_equal(d->kernels[0].total_ns, 70);
	assert_int_equal(d->kernels[0].min_ns, 50);
	assert_int_equal(d->kernels[0].max_ns, 100);
	case_close(&c);
}

static void name_op(struct ledger_case *c, uint32_t op, const char *name)
{
	c->trace->ops.name[op] = case_text(c, name);
}

/* One row for a name and a launch, longest first, equal ones by name. */
static void kernels_are_grouped_and_ranked(void **state)
{
	const struct fw_device_ledger *d;
	struct ledger_case c;

	(void)state;
	open_h200(&c);
	name_op(&c, run(&c, &even, 0, 10), "b");
	name_op(&c, run(&c, &even, 20, 50), "c");
	name_op(&c, run(&c, &wide, 50, 75), "a");
	name_op(&c, run(&c, &even, 80, 95), "b");
	name_op(&c, run(&c, &even, 100, 125), "a");
	name_op(&c, case_kernel(&c, 7, 130, 131, FW_CORR_NONE), "d");
	c.trace->ops.detail[5] = FW_NONE;
	d = case_build(&c, NULL);
	assert_int_equal(d->kernel_count, 5);
	for (size_t i = 0; i < 5; i++) {
		static const char *const names[] = { "c", "a", "a", "b", "d" };
		static const int64_t totals[] = { 30, 25, 25, 25, 1 };

		assert_string_equal(fw_trace_text(c.trace, d->kernels[i].name), names[i]);
		assert_int_equal(d->kernels[i].total_ns, totals[i]);
	}
	assert_int_equal(d->kernels[3].count, 2);
	assert_int_equal(d->kernels[3].min_ns, 10);
	assert_int_equal(d->kernels[3].max_ns, 15);
	/* Launches of "a" in the order in which they ran: the wide one first. */
	assert_true(d->kernels[1].occupancy == 0.125);
	assert_int_equal(d->kernels[1].limiters, FW_LIMITER_REGISTERS);
	assert_int_equal(d->kernels[1].blocks_per_sm, 2);
	assert_true(d->kernels[1].waves == 2.0); /* 528 of 264 */
	assert_true(d->kernels[2].occupancy == 1.0);
	assert_int_equal(d->kernels[2].blocks_per_sm, 8);
	/* No launch configuration: nothing is known, and nothing is 0. */
	assert_true(d->kernels[4].occupancy < 0 && d->kernels[4].waves < 0);
	assert_int_equal(d->kernels[4].blocks_per_sm, -1);
	case_close(&c);
}

#define SPAN 400

/* Instants at which one kernel of `even` runs, and nothing else that computes. */
static int64_t slow_alone(const struct ledger_case *c, const struct fw_window *w, bool *unsure)
{
	const struct fw_trace_ops *ops = &c->trace->ops;
	int64_t alone = 0;

	for (int64_t t = w->start_ns; t < w->end_ns; t++) {
		int kernels = 0, others = 0, known = 0;

		for (size_t i = 0; i < ops->len; i++) {
			bool runs = ops->start_ns[i] <= t && t < ops->end_ns[i];

			kernels += runs && ops->owner[i] == FW_CLASS_COMPUTE;
			known += runs && ops->owner[i] == FW_CLASS_COMPUTE &&
				 ops->detail[i] != FW_NONE;
			others += runs && ops->owner[i] == FW_CLASS_COLLECTIVE;
		}
		alone += kernels == 1 && known == 1 && !others;
		*unsure = *unsure || kernels > 1 || (kernels && others);
	}
	return alone;
}

static void tables_sum_to_compute_on_random_traces(void **state)
{
	bool unsure = false;

	(void)state;
	for (unsigned round = 0; round < 500; round++) {
		struct fw_ledger_options options = { .all = round % 2,
						     .has_window = !(round % 2),
						     .window_start_ns = 40,
						     .window_end_ns = 200 };
		const struct fw_device_ledger *d;
		int64_t sum = 0, alone, totals = 0, longest = INT64_MAX;
		struct ledger_case c;
		unsigned seed = round;

		open_h200(&c);
		run(&c, &even, 0, 1);
		for (int i = 0; i < 20; i++) {
			int64_t start = rand_r(&seed) % (SPAN - 40);
			uint32_t op = run(&c, &even, start, start + rand_r(&seed) % 40);
			int kind = (int)(rand_r(&seed) % 4);

			c.trace->ops.stream[op] = fw_trace_stream(c.trace, c.device, i);
			if (kind == 0)
				c.trace->ops.owner[op] = FW_CLASS_COLLECTIVE;
			if (kind == 1)
				c.trace->ops.detail[op] = FW_NONE;
		}
		d = case_build(&c, &options);
		alone = slow_alone(&c, &d->window, &unsure);
		for (int f = 0; f < FW_FILL_COUNT; f++)
			sum += d->fill_ns[f];
		assert_int_equal(sum, d->ns[FW_CLASS_COMPUTE]);
		assert_int_equal(d->fill_ns[FW_FILL_FULL], alone);
		for (size_t i = 0; i < d->kernel_count; i++) {
			assert_true(d->kernels[i].total_ns <= longest);
			longest = d->kernels[i].total_ns;
			totals += longest;
		}
		assert_true(totals >= d->kernel_busy_ns);
		case_close(&c);
	}
	assert_true(unsure);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_block_short_of_a_wave_is_grid_limited),
		cmocka_unit_test(last_wave_is_charged_for_its_empty_places),
		cmocka_unit_test(under_half_of_the_warps_is_occupancy),
		cmocka_unit_test(what_the_trace_does_not_tell_is_unknown),
		cmocka_unit_test(gpu_is_known_by_its_properties_or_its_name),
		cmocka_unit_test(kernels_at_once_are_unknown),
		cmocka_unit_test(window_cuts_the_tables),
		cmocka_unit_test(kernels_are_grouped_and_ranked),
		cmocka_unit_test(tables_sum_to_compute_on_random_traces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
