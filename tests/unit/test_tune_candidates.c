#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ledger_case.h"
#include "tune/candidates.h"

/* Names as PyTorch traces of the corpus have them. */
static void names_tell_whose_a_kernel_is(void **state)
{
	static const struct {
		const char *name;
		enum fw_tune_owner owner;
	} cases[] = {
		{ "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", FW_TUNE_COLLECTIVE },
		{ "void cudnn::bn_fw_inf_1C11_kernel_NCHW<float>(float)", FW_TUNE_CUDNN },
		{ "sm80_xmma_fprop_implicit_gemm_tf32f32", FW_TUNE_CUDNN },
		{ "ampere_sgemm_128x64_tn", FW_TUNE_BLAS },
		{ "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm>(x)", FW_TUNE_CUTLASS },
		{ "void flash_fwd_kernel<Flash_fwd_kernel_traits<64>>(P)", FW_TUNE_ATTENTION },
		{ "triton_poi_fused_add_relu_0", FW_TUNE_TRITON },
		{ "void at::native::vectorized_elementwise_kernel<4, F>(int)", FW_TUNE_FRAMEWORK },
		{ "_ZN2at6native18elementwise_kernelILi128EEEvi", FW_TUNE_FRAMEWORK },
		{ "void cub::DeviceScanKernel<P>(int)", FW_TUNE_FRAMEWORK },
		{ "conv2d(float const*, float*)", FW_TUNE_OWN },
		{ "_Z6vecaddPKfS0_Pfi", FW_TUNE_OWN },
		{ "", FW_TUNE_OWN }
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (fw_tune_owner_of(cases[i].name) != cases[i].owner)
			fail_msg("%s: %s", cases[i].name,
				 fw_tune_owner_name(fw_tune_owner_of(cases[i].name)));
	for (int o = FW_TUNE_OWN + 1; o < FW_TUNE_OWNERS; o++)
		assert_non_null(fw_tune_owner_reason((enum fw_tune_owner)o));
}

/*
 * On 132 SMs of 9.0: 66 blocks leave half of them without one; 1056 blocks of 256 threads and 32 registers are one whole
 * wave (8 an SM), 1584 one and a half: half of the second wave's time, a quarter of all; 48 threads leave 16 of 64
 * lanes idle; 255 registers allow 8 of 64 warps.
 */
static void launches_have_signs(void **state)
{
	static const struct {
		struct fw_shape shape;
		double empty_sms, tail, idle_lanes;
		bool has_low_occupancy, has_sign;
	} cases[] = {
		{ { { 66, 1, 1 }, { 256, 1, 1 }, 32, -1, -1, 0, 0 }, 0.5, 0, 0, false, true },
		{ { { 1056, 1, 1 }, { 256, 1, 1 }, 32, -1, -1, 0, 0 }, 0, 0, 0, false, false },
		{ { { 1584, 1, 1 }, { 256, 1, 1 }, 32, -1, -1, 0, 0 }, 0, 0.25, 0, false, true },
		{ { { 132, 1, 1 }, { 48, 1, 1 }, 32, -1, -1, 0, 0 }, 0, 0, 0.25, false, true },
		{ { { 264, 1, 1 }, { 128, 1, 1 }, 255, -1, -1, 0, 0 }, 0, 0, 0, true, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fw_tune_candidate found;
		const struct fw_device_ledger *d;
		struct ledger_case c;
		uint32_t op;

		case_open(&c);
		c.trace->devices.cc[c.device] = 90;
		c.trace->devices.sms[c.device] = 132;
		op = case_kernel(&c, 7, 0, 1000, FW_CORR_NONE);
		c.trace->ops.detail[op] = fw_trace_shape(c.trace, &cases[i].shape);
		d = case_build(&c, NULL);
		found = fw_tune_candidate_of(c.ledger, d, 0, fw_tune_kernels_ns(d));
		assert_true(found.share == 1);
		assert_float_equal(found.empty_sms, cases[i].empty_sms, 1e-9);
		assert_float_equal(found.tail, cases[i].tail, 1e-9);
		assert_float_equal(found.idle_lanes, cases[i].idle_lanes, 1e-9);
		assert_int_equal(found.has_low_occupancy, cases[i].has_low_occupancy);
		assert_int_equal(fw_tune_has_sign(&found), cases[i].has_sign);
		case_close(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(names_tell_whose_a_kernel_is),
					    cmocka_unit_test(launches_have_signs) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
