/* What the pipeline chooses from measurements and from the machine. */
#include "pipeline/cores.h"
#include "pipeline/gpu_timing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void takes_the_fewest_workers_that_are_nearly_as_fast(void **state)
{
	/* As three runs on an H200 gave them: 2 are 6.1 % behind 3, then 1.9 %. */
	struct fw_gpu_trial trials[] = {
		{ .workers = 1, .size = 64, .images_s = 26399.8 },
		{ .workers = 1, .size = 1, .images_s = 99999 },
		{ .workers = 2, .size = 64, .images_s = 33916.1 },
		{ .workers = 3, .size = 64, .images_s = 36128.2 },
		{ .workers = 1, .size = 64, .images_s = 99999, .spins = true },
	};

	(void)state;
	assert_int_equal(fw_gpu_fewest(trials, 5, 64), 3);
	trials[2].images_s = 35442; /* 0.981 of the best */
	assert_int_equal(fw_gpu_fewest(trials, 5, 64), 2);
	trials[0].images_s = 35443;
	assert_int_equal(fw_gpu_fewest(trials, 5, 64), 1);
	assert_int_equal(fw_gpu_fewest(trials, 5, 32), 0);
}

static void counts_the_cores_that_it_may_use(void **state)
{
	struct fw_cores all, near, nowhere;

	(void)state;
	fw_cores_look(-1, &all);
	assert_true(all.count >= 1 && all.count <= all.allowed);
	assert_true(all.quota == 0 || all.count <= all.quota || all.count == 1);
	assert_int_equal(all.node, -1);
	fw_cores_look(0, &near);
	assert_true(near.count >= 1 && near.count <= all.count);
	assert_int_equal(near.allowed, all.allowed);
	/* A node that is not there has no cores to prefer. */
	fw_cores_look(100000, &nowhere);
	assert_int_equal(nowhere.count, all.count);
	assert_int_equal(nowhere.node, -1);
}

/* Half precision may be further off, and a probability further than a score, but never as far as to mean nothing. */
static void allows_what_rounding_costs(void **state)
{
	(void)state;
	assert_true(fw_gpu_tolerance(FW_NN_FP32, false) < fw_gpu_tolerance(FW_NN_FP16, false));
	assert_true(fw_gpu_tolerance(FW_NN_FP16, false) < fw_gpu_tolerance(FW_NN_BFLOAT16, false));
	assert_true(fw_gpu_tolerance(FW_NN_FP16, false) < fw_gpu_tolerance(FW_NN_FP16, true));
	assert_true(fw_gpu_tolerance(FW_NN_BFLOAT16, true) <= 0.5f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_the_fewest_workers_that_are_nearly_as_fast),
		cmocka_unit_test(counts_the_cores_that_it_may_use),
		cmocka_unit_test(allows_what_rounding_costs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
