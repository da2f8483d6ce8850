#include "top/verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct fw_gpu_sample gpu;
static struct fw_verdict verdict;

static int begin(void **state)
{
	(void)state;
	memset(&gpu, 0, sizeof(gpu));
	fw_values_forget(gpu.values, FW_GPU_VALUE_COUNT, "GPM needs Hopper or newer");
	return 0;
}

static void put(enum fw_gpu_value id, double number)
{
	gpu.values[id] = fw_value_measured(number, "GPM");
}

static void put_all(double busy, double sm, double warps, double tensor, double dram)
{
	put(FW_GPU_BUSY, busy);
	put(FW_GPU_SM_BUSY, sm);
	put(FW_GPU_WARPS, warps);
	put(FW_GPU_TENSOR, tensor);
	put(FW_GPU_DRAM, dram);
	put(FW_GPU_FP32, 1);
}

static void expect(enum fw_verdict_kind kind, const char *part)
{
	fw_verdict_make(&gpu, &verdict);
	assert_int_equal(verdict.kind, kind);
	assert_non_null(strstr(verdict.text, part));
	assert_true(strlen(verdict.text) <= 78); /* a line of 80 columns, indented */
}

/* The figures of a bf16 GEMM loop on an H200. */
static void few_warps_with_busy_tensor_pipes_are_healthy(void **state)
{
	(void)state;
	put_all(97, 66, 9.8, 64, 12.7);
	expect(FW_VERDICT_FULL, "normal for a GEMM");
}

static void busy_with_all_units_low_is_not_full(void **state)
{
	(void)state;
	put_all(97, 21, 4, 3, 4);
	expect(FW_VERDICT_NOT_FULL, "21 % of the SMs");
}

/* C071: a collective that spins holds warps on all SMs and uses nothing. */
static void full_of_warps_that_do_nothing_is_not_full(void **state)
{
	(void)state;
	put_all(100, 100, 90, 0, 1);
	expect(FW_VERDICT_NOT_FULL, "spinning collective");
}

static void the_memory_or_another_pipe_may_be_the_limit(void **state)
{
	(void)state;
	put_all(99, 95, 60, 0, 78);
	expect(FW_VERDICT_FULL, "memory-bound");
	put_all(99, 95, 60, 0, 8);
	put(FW_GPU_FP64, 71);
	expect(FW_VERDICT_FULL, "FP64");
}

static void waiting_for_the_host_is_said(void **state)
{
	(void)state;
	put_all(30, 20, 10, 5, 5);
	expect(FW_VERDICT_NOT_FULL, "nothing ran 70 %");
	put_all(1, 0.5, 0.1, 0, 0.1);
	expect(FW_VERDICT_IDLE, "idle");
}

static void busy_alone_proves_nothing(void **state)
{
	(void)state;
	put(FW_GPU_BUSY, 97);
	expect(FW_VERDICT_UNKNOWN, "how full is unknown: GPM needs Hopper");
	put(FW_GPU_BUSY, 40);
	expect(FW_VERDICT_NOT_FULL, "nothing ran 60 %");
	put(FW_GPU_BUSY, 0);
	expect(FW_VERDICT_IDLE, "idle");
	gpu.values[FW_GPU_BUSY] = fw_value_unknown("no permission");
	expect(FW_VERDICT_UNKNOWN, "no permission");
}

static void heat_and_loss_come_first_but_a_power_limit_does_not(void **state)
{
	(void)state;
	put_all(97, 66, 9.8, 64, 12.7);
	gpu.has_reasons = true;
	gpu.reasons = FW_NVML_CLOCKS_POWER_CAP;
	expect(FW_VERDICT_FULL, "tensor");
	gpu.reasons |= FW_NVML_CLOCKS_HW_THERMAL;
	expect(FW_VERDICT_TROUBLE, "too hot");
	gpu.result = FW_NVML_GPU_IS_LOST;
	expect(FW_VERDICT_TROUBLE, "lost");
}

/* C076: an integrated GPU whose power steps from 4 to 20 W while NVML answers 0 % and 0 %. */
static void zero_with_power_above_idle_is_doubted(void **state)
{
	(void)state;
	put(FW_GPU_BUSY, 0);
	put(FW_GPU_MEMORY_BUSY, 0);
	put(FW_GPU_POWER, 4);
	assert_false(fw_verdict_doubts_zero(&gpu, 4));
	put(FW_GPU_POWER, 20);
	assert_true(fw_verdict_doubts_zero(&gpu, 4));
	assert_false(fw_verdict_doubts_zero(&gpu, 0)); /* nothing to compare with */
	put(FW_GPU_POWER, 400);
	put(FW_GPU_POWER_LIMIT, 700);
	assert_true(fw_verdict_doubts_zero(&gpu, 0));
	put(FW_GPU_POWER, 76); /* an idle H200 */
	assert_false(fw_verdict_doubts_zero(&gpu, 70));
	put(FW_GPU_POWER, 400);
	put(FW_GPU_BUSY, 1);
	assert_false(fw_verdict_doubts_zero(&gpu, 70));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(few_warps_with_busy_tensor_pipes_are_healthy, begin),
		cmocka_unit_test_setup(busy_with_all_units_low_is_not_full, begin),
		cmocka_unit_test_setup(full_of_warps_that_do_nothing_is_not_full, begin),
		cmocka_unit_test_setup(the_memory_or_another_pipe_may_be_the_limit, begin),
		cmocka_unit_test_setup(waiting_for_the_host_is_said, begin),
		cmocka_unit_test_setup(busy_alone_proves_nothing, begin),
		cmocka_unit_test_setup(heat_and_loss_come_first_but_a_power_limit_does_not, begin),
		cmocka_unit_test_setup(zero_with_power_above_idle_is_doubted, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
