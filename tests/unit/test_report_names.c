/* Names and numbers for people. Expected values: worked out by hand from the names of real traces. */
#include "report/amounts.h"
#include "report/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void short_names_keep_what_the_author_wrote(void **state)
{
	static const char *const pairs[][2] = {
		{ "volta_sgemm_128x64_nt", "volta_sgemm_128x64_nt" },
		{ "void at::native::vectorized_elementwise_kernel<4, "
		  "at::native::CUDAFunctor_add<float>, "
		  "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, "
		  "std::array<char*, 3ul>)",
		  "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, array<char*, 3ul>>" },
		{ "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true, "
		  "false>(float*, float const*, int, int, int, bool const*, int, bool)",
		  "softmax_warp_forward<float, float, float, 10, true, false>" },
		{ "void at::native::vectorized_elementwise_kernel<4, at::native::exp_kernel_cuda("
		  "at::TensorIteratorBase&)::{lambda()#2}::operator()() "
		  "const::{lambda()#2}::operator()("
		  ") const::{lambda(float)#1}, at::detail::Array<char*, 2> >(int)",
		  "vectorized_elementwise_kernel<4, exp_kernel_cuda, Array<char*, 2>>" },
		{ "void vllm::reshape_and_cache_flash_kernel<__hip_bfloat16, "
		  "(vllm::Fp8KVCacheDataType)0>(__hip_bfloat16 const*, int)",
		  "reshape_and_cache_flash_kernel<__hip_bfloat16, 0>" },
		{ "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, float>(int)",
		  "kernel<int, float>" },
		{ "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		  "ncclDevKernel_AllGather_RING_LL" },
		{ "_ZN2at6native4fillEPfi", "fill" },
		/* Not C++ that we can read: as it is. */
		{ "weird<name", "weird<name" },
		{ "odd(", "odd" },
		{ "a>b::c", "a>b::c" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct fw_arena arena = { 0 };

		assert_string_equal(fw_short_name(&arena, pairs[i][0]), pairs[i][1]);
		fw_arena_release(&arena);
	}
}

static void deep_names_stay_as_they_are(void **state)
{
	struct fw_arena arena = { 0 };
	char name[2 * 100 + 2];

	(void)state;
	name[0] = 'k';
	memset(name + 1, '<', 100);
	memset(name + 101, '>', 100);
	name[201] = '\0';
	assert_string_equal(fw_short_name(&arena, name), name);
	fw_arena_release(&arena);
}

static void times_and_shares_are_rounded(void **state)
{
	(void)state;
	assert_string_equal(fw_amount_ms(1290123456).text, "1290.123 ms");
	assert_string_equal(fw_amount_share(1, 3).text, "33.3 %");
	assert_string_equal(fw_amount_share(-1, 3).text, "unknown");
	assert_string_equal(fw_amount_share(0, 0).text, "unknown");
	assert_string_equal(fw_amount_tenths(1000).text, "100.0 %");
}

static void shares_add_up(void **state)
{
	int64_t tenths[5];

	(void)state;
	/* 333.33 each: the first of the smallest takes the rest. */
	fw_apportion((int64_t[]){ 1, 1, 1 }, 3, 3, tenths);
	assert_int_equal(tenths[0], 334);
	assert_int_equal(tenths[1], 333);
	assert_int_equal(tenths[2], 333);
	/* 760.44 + 0.15 + 0.13 show as 761: of the two that show 0, the larger one gets the tenth. */
	fw_apportion((int64_t[]){ 760440, 150, 130 }, 3, 1000000, tenths);
	assert_int_equal(tenths[0], 760);
	assert_int_equal(tenths[1], 1);
	assert_int_equal(tenths[2], 0);
	/* Four times 0.4 tenths are 1.6: the two that lose most of a tenth, here the first ones, get it. */
	fw_apportion((int64_t[]){ 42, 41, 40, 39 }, 4, 100000, tenths);
	assert_int_equal(tenths[0], 1);
	assert_int_equal(tenths[1], 1);
	assert_int_equal(tenths[2], 0);
	assert_int_equal(tenths[3], 0);
	/* 333.33 and four times 166.67, which would round to 1001: one of the smallest gives way. */
	fw_apportion((int64_t[]){ 2, 1, 1, 1, 1 }, 5, 6, tenths);
	assert_int_equal(tenths[0], 333);
	assert_int_equal(tenths[1], 166);
	assert_int_equal(tenths[2] + tenths[3] + tenths[4], 501);
	/* A group of a larger total: 760.44 + 23.24 + 0.15 = 783.83 shows as 784, the smallest as 1. */
	fw_apportion((int64_t[]){ 760440, 23240, 150 }, 3, 1000000, tenths);
	assert_int_equal(tenths[0], 760);
	assert_int_equal(tenths[1], 23);
	assert_int_equal(tenths[2], 1);
	/* 2^62 and next to nothing: 999.999... and 0.000... */
	fw_apportion((int64_t[]){ INT64_C(1) << 62, 1, 1 }, 3, (INT64_C(1) << 62) + 2, tenths);
	assert_int_equal(tenths[0], 1000);
	assert_int_equal(tenths[1] + tenths[2], 0);
	fw_apportion((int64_t[]){ 0, 0 }, 2, 0, tenths);
	assert_int_equal(tenths[0] + tenths[1], 0);
}

static void random_shares_add_up_and_stay_near(void **state)
{
	uint64_t seed = 42;

	(void)state;
	for (int round = 0; round < 1000; round++) {
		int64_t values[21], tenths[21], sum = 0, total, given = 0;

		for (int i = 0; i < 21; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			values[i] = (int64_t)(seed >> 33) >> (seed & 31);
			sum += values[i];
		}
		total = sum + (int64_t)(seed >> 40);
		if (!total)
			continue;
		fw_apportion(values, 21, total, tenths);
		for (int i = 0; i < 21; i++) {
			double exact = (double)values[i] * 1000 / (double)total;

			assert_true((double)tenths[i] > exact - 1 && (double)tenths[i] < exact + 1);
			given += tenths[i];
		}
		assert_int_equal(given, fw_tenths(sum, total));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_names_keep_what_the_author_wrote),
		cmocka_unit_test(deep_names_stay_as_they_are),
		cmocka_unit_test(times_and_shares_are_rounded),
		cmocka_unit_test(shares_add_up),
		cmocka_unit_test(random_shares_add_up_and_stay_near),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
