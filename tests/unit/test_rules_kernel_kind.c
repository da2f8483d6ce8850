/* Names of kernels as they stand in public recordings, and what the libraries' naming says of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rules/kernel_kind.h"

static void precision_is_read_from_names(void **state)
{
	static const struct {
		const char *name;
		enum fw_matrix_kind kind;
	} cases[] = {
		{ "volta_sgemm_128x64_nt", FW_MATRIX_FP32 },
		{ "ampere_sgemm_32x128_tn", FW_MATRIX_FP32 },
		{ "cudnn_volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1",
		  FW_MATRIX_FP32 },
		{ "void implicit_convolve_sgemm<float, float, 1024, 6, 7, 3, 3, 5, 1, false>(int)",
		  FW_MATRIX_FP32 },
		{ "void cudnn::cnn::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5, false, 512>(int)",
		  FW_MATRIX_FP32 },
		{ "void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int)",
		  FW_MATRIX_FP32 },
		{ "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8", FW_MATRIX_FP32 },
		{ "sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x128x32", FW_MATRIX_TF32 },
		{ "sm90_xmma_wgrad_indexed_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nhwc",
		  FW_MATRIX_TF32 },
		{ "cutlass_80_tensorop_s1688gemm_128x128_16x4_nn_align4", FW_MATRIX_TF32 },
		{ "cutlass_80_simt_sgemm_128x32_8x5_nn_align1", FW_MATRIX_FP32 },
		{ "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", FW_MATRIX_NARROW },
		{ "nvjet_sm90_hsh_256x128_64x4_1x2_h_ssched_bz_coopA_TNT", FW_MATRIX_NARROW },
		{ "nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT", FW_MATRIX_NARROW },
		{ "volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn", FW_MATRIX_NARROW },
		{ "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_tn", FW_MATRIX_NARROW },
		{ "void cudnn::engines_precompiled::nchwToNhwcKernel<float, float, float>(int)",
		  FW_MATRIX_NONE },
		{ "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor>(int)",
		  FW_MATRIX_NONE },
		{ "", FW_MATRIX_NONE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (fw_matrix_kind(cases[i].name) != cases[i].kind)
			fail_msg("%s: %d, not %d", cases[i].name,
				 (int)fw_matrix_kind(cases[i].name), (int)cases[i].kind);
}

static void elementwise_kernels_are_told(void **state)
{
	(void)state;
	assert_true(fw_is_elementwise("void at::native::vectorized_elementwise_kernel<4, F>(int)"));
	assert_true(fw_is_elementwise("triton_poi_fused__native_batch_norm_relu_10"));
	assert_false(fw_is_elementwise("volta_sgemm_128x64_nt"));
	assert_false(fw_is_elementwise("void pytorch_flash::flash_fwd_kernel<T>(P)"));
}

static void very_long_names_are_cut(void **state)
{
	static char name[9000];

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	memcpy(name + 4000, "sgemm", 5);
	assert_int_equal(fw_matrix_kind(name), FW_MATRIX_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(precision_is_read_from_names),
		cmocka_unit_test(elementwise_kernels_are_told),
		cmocka_unit_test(very_long_names_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
