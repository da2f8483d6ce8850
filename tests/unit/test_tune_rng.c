#include "tune/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* SplitMix64 of 1234567 (the published sequence) and xoshiro256** of the state 1, 2, 3, 4 (as in its ports' tests). */
static void gives_the_published_numbers(void **state)
{
	static const uint64_t filled[] = { UINT64_C(6457827717110365317),
					   UINT64_C(3203168211198807973),
					   UINT64_C(9817491932198370423),
					   UINT64_C(4593380528125082431) };
	static const uint64_t drawn[] = { 11520, 0, 1509978240, UINT64_C(1215971899390074240),
					  UINT64_C(1216172134540287360) };
	struct fw_tune_rng rng;

	(void)state;
	fw_tune_rng_seed(&rng, 1234567);
	for (int i = 0; i < 4; i++)
		assert_int_equal(rng.state[i], filled[i]);
	rng = (struct fw_tune_rng){ { 1, 2, 3, 4 } };
	for (int i = 0; i < 5; i++)
		assert_int_equal(fw_tune_rng_next(&rng), drawn[i]);
}

/* 70,000 draws of 7: 10,000 each, standard deviation 93; five of them allowed. */
static void is_even(void **state)
{
	unsigned count[7] = { 0 };
	struct fw_tune_rng rng;

	(void)state;
	fw_tune_rng_seed(&rng, 1);
	assert_int_equal(fw_tune_rng_below(&rng, 0), 0);
	for (int i = 0; i < 70000; i++) {
		double unit = fw_tune_rng_unit(&rng);

		assert_true(unit >= 0 && unit < 1);
		count[fw_tune_rng_below(&rng, 7)]++;
	}
	for (int i = 0; i < 7; i++)
		assert_in_range(count[i], 10000 - 465, 10000 + 465);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(gives_the_published_numbers),
					    cmocka_unit_test(is_even) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
