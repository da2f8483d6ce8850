/* The space: which configurations are valid, and their numbers. */
#include "tune/space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

/* n_values values from first on, each step larger. */
static void add(struct fw_tune_space *space, const char *name, int64_t first, int64_t step,
		uint32_t n_values)
{
	static char texts[FW_TUNE_MAX_VALUES][24];
	struct fw_tune_value values[FW_TUNE_MAX_VALUES];
	struct fw_tune_param param = { .name = name, .n_values = n_values, .values = values };

	for (uint32_t i = 0; i < n_values; i++) {
		values[i].number = first + step * i;
		snprintf(texts[i], sizeof(texts[i]), "%lld", (long long)values[i].number);
		values[i].text = texts[i];
	}
	assert_int_equal(fw_tune_space_add(space, &param, NULL), FW_OK);
}

/* x * y <= 1024 and x * y % 32 == 0 with two numbers, z divides y with the third. */
static bool block_rule(const void *constraints, const int64_t *numbers, uint32_t n_bound)
{
	(void)constraints;
	if (n_bound == 2)
		return numbers[0] * numbers[1] <= 1024 && numbers[0] * numbers[1] % 32 == 0;
	return n_bound != 3 || numbers[1] % numbers[2] == 0;
}

static void lists_what_is_valid(void **state)
{
	struct fw_tune_space space = { .allows = block_rule };
	struct fw_tune_config config, back;
	uint64_t valid = 0;

	(void)state;
	add(&space, "x", 16, 16, 16);
	add(&space, "y", 1, 1, 16);
	add(&space, "z", 1, 1, 4);
	assert_int_equal(fw_tune_space_seal(&space, NULL), FW_OK);
	/*
	 * python3 -c "print(sum(x*y<=1024 and x*y%32==0 and y%z==0
	 *   for x in range(16,257,16) for y in range(1,17) for z in range(1,5)))"
	 */
	assert_true(space.is_listed);
	assert_int_equal(space.n_valid, 234);
	assert_true(space.cartesian == 1024);
	for (uint64_t key = 0; key < 1024; key++) {
		fw_tune_space_config(&space, key, &config);
		assert_int_equal(fw_tune_space_key(&space, &config), key);
		if (fw_tune_space_is_valid(&space, &config))
			assert_int_equal(space.keys[valid++], key);
	}
	assert_int_equal(valid, 234);
	/* x = 16, y = 1: 16 threads are no whole warp. */
	assert_false(fw_tune_space_preset(&space, &back));
	config.value[0] = 16;
	assert_false(fw_tune_space_is_valid(&space, &config));
	fw_tune_space_free(&space);
}

static bool never(const void *constraints, const int64_t *numbers, uint32_t n_bound)
{
	(void)constraints, (void)numbers;
	return n_bound < 2;
}

static bool not_even_first(const void *constraints, const int64_t *numbers, uint32_t n_bound)
{
	(void)constraints, (void)numbers;
	return n_bound > 0;
}

static void refuses_an_empty_space(void **state)
{
	fw_tune_allows *rules[] = { never, not_even_first };
	struct fw_error err = { 0 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct fw_tune_space space = { .allows = rules[i] };

		add(&space, "x", 1, 1, 10);
		add(&space, "y", 1, 1, 10);
		assert_int_equal(fw_tune_space_seal(&space, &err), FW_ERR_ARGUMENT);
		assert_string_equal(err.message,
				    "none of the 100 combinations of the parameters satisfies the "
				    "constraints");
		fw_tune_space_free(&space);
	}
}

/* The last of seven numbers is the sum of the others, modulo 1000: one combination in a thousand. */
static bool sparse(const void *constraints, const int64_t *numbers, uint32_t n_bound)
{
	int64_t sum = 0;

	(void)constraints;
	for (int i = 0; i < 6; i++)
		sum += n_bound == 7 ? numbers[i] : 0;
	return n_bound < 7 || sum % 1000 == numbers[6];
}

static void samples_what_is_too_large(void **state)
{
	struct fw_tune_space space = { .allows = sparse, .max_tests = 100000 };
	struct fw_tune_config config, first;
	struct fw_tune_rng rng, again;
	uint32_t different = 0;

	(void)state;
	fw_tune_rng_seed(&rng, 1);
	fw_tune_rng_seed(&again, 1);
	for (int i = 0; i < 7; i++) {
		char name[] = { 'a', (char)('0' + i), '\0' };

		add(&space, name, 0, 1, i < 6 ? 100 : 1000);
	}
	assert_int_equal(fw_tune_space_seal(&space, NULL), FW_OK);
	assert_false(space.is_listed);
	assert_null(space.keys);
	assert_true(fw_tune_space_random(&space, &rng, &first));
	assert_true(fw_tune_space_random(&space, &again, &config));
	assert_memory_equal(&first, &config, sizeof(first));
	for (int i = 0; i < 20; i++) {
		assert_true(fw_tune_space_random(&space, &rng, &config));
		assert_true(fw_tune_space_is_valid(&space, &config));
		different += config.value[3] != first.value[3];
	}
	assert_true(different > 10);
	fw_tune_space_free(&space);
}

/* y must be x + 1 where both have 1000 values: a uniform try hits one time in a thousand, an early test always finds one. */
static bool successor(const void *constraints, const int64_t *numbers, uint32_t n_bound)
{
	(void)constraints;
	return n_bound == 0 || n_bound % 2 || numbers[n_bound - 1] == numbers[n_bound - 2] + 1;
}

static void finds_the_needle(void **state)
{
	struct fw_tune_space space = { .allows = successor, .max_tests = 1000 };
	struct fw_tune_config config;
	struct fw_tune_rng rng;

	(void)state;
	fw_tune_rng_seed(&rng, 7);
	for (int i = 0; i < 6; i++) {
		char name[] = { 'a', (char)('0' + i), '\0' };

		add(&space, name, i % 2, 1, 1000);
	}
	assert_int_equal(fw_tune_space_seal(&space, NULL), FW_OK);
	assert_false(space.is_listed);
	for (int i = 0; i < 5; i++) {
		assert_true(fw_tune_space_random(&space, &rng, &config));
		assert_true(fw_tune_space_is_valid(&space, &config));
	}
	fw_tune_space_free(&space);
}

static void takes_a_recorded_space(void **state)
{
	const uint64_t keys[] = { 70, 3, 70, 12 }, outside = 100;
	struct fw_tune_space space = { 0 }, other = { 0 };
	struct fw_tune_config config;
	struct fw_tune_rng rng;

	(void)state;
	fw_tune_rng_seed(&rng, 0);
	add(&space, "x", 1, 1, 10);
	add(&space, "y", 1, 1, 10);
	assert_int_equal(fw_tune_space_seal_keys(&space, keys, 4, NULL), FW_OK);
	assert_int_equal(space.n_valid, 3);
	assert_int_equal(space.keys[0], 3);
	assert_int_equal(space.keys[2], 70);
	fw_tune_space_config(&space, 12, &config);
	assert_int_equal(config.value[0], 1);
	assert_int_equal(config.value[1], 2);
	assert_true(fw_tune_space_is_valid(&space, &config));
	config.value[1] = 3;
	assert_false(fw_tune_space_is_valid(&space, &config));
	assert_true(fw_tune_space_random(&space, &rng, &config));
	assert_true(fw_tune_space_is_valid(&space, &config));
	fw_tune_space_free(&space);
	add(&other, "x", 1, 1, 10);
	add(&other, "y", 1, 1, 10);
	assert_int_equal(fw_tune_space_seal_keys(&other, &outside, 1, NULL), FW_ERR_ARGUMENT);
	fw_tune_space_free(&other);
}

static void refuses_impossible_parameters(void **state)
{
	struct fw_tune_value values[2] = { { "1", 1 }, { "0x1", 1 } };
	struct fw_tune_param twice = { .name = "p", .n_values = 2, .values = values };
	struct fw_tune_param none = { .name = "p", .n_values = 0, .values = values };
	struct fw_tune_space space = { 0 };
	struct fw_error err = { 0 };

	(void)state;
	assert_int_equal(fw_tune_space_add(&space, &twice, &err), FW_ERR_ARGUMENT);
	assert_string_equal(err.message, "parameter p has the value 0x1 twice");
	assert_int_equal(fw_tune_space_add(&space, &none, &err), FW_ERR_ARGUMENT);
	assert_string_equal(err.message, "parameter p has 0 values: 1 to 1024 are possible");
	/* 1000^6 = 10^18 keys are possible (2^63 is 9.2 * 10^18), 10 times as many are not. */
	for (int i = 0; i < 6; i++) {
		char name[] = { 'a', (char)('0' + i), '\0' };

		add(&space, name, 0, 1, 1000);
	}
	twice.name = "a3";
	twice.n_values = 1;
	assert_int_equal(fw_tune_space_add(&space, &twice, &err), FW_ERR_ARGUMENT);
	assert_string_equal(err.message, "parameter a3 is there already");
	values[1] = (struct fw_tune_value){ "2", 2 };
	twice.n_values = 2;
	for (int i = 0; i < 4; i++) {
		char name[] = { 'b', (char)('0' + i), '\0' };

		twice.name = name;
		assert_int_equal(fw_tune_space_add(&space, &twice, &err),
				 i < 3 ? FW_OK : FW_ERR_ARGUMENT);
	}
	assert_string_equal(err.message, "with parameter b3 there are more than 2^63 combinations");
	assert_int_equal(space.n_params, 9);
	fw_tune_space_free(&space);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_what_is_valid),
		cmocka_unit_test(refuses_an_empty_space),
		cmocka_unit_test(samples_what_is_too_large),
		cmocka_unit_test(finds_the_needle),
		cmocka_unit_test(takes_a_recorded_space),
		cmocka_unit_test(refuses_impossible_parameters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
