#include "ledger/intervals.h"
#include "ledger/ledger_private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* Time 0..63 as bits of a word: the second opinion. */
static uint64_t bits(int64_t start, int64_t end)
{
	uint64_t word = 0;

	for (int64_t t = start; t < end; t++)
		word |= (uint64_t)1 << t;
	return word;
}

static uint64_t random_set(struct fw_intervals *set, unsigned *seed)
{
	uint64_t word = 0;

	for (int n = rand_r(seed) % 9; n > 0; n--) {
		int64_t a = rand_r(seed) % 64, b = rand_r(seed) % 65;

		assert_true(fw_intervals_add(set, a, b));
		word |= bits(a, b);
	}
	fw_intervals_merge(set);
	return word;
}

static void expect(const struct fw_intervals *set, uint64_t word)
{
	uint64_t seen = 0;

	for (size_t i = 0; i < set->len; i++) {
		assert_true(set->items[i].start_ns < set->items[i].end_ns);
		assert_true(!i || set->items[i - 1].end_ns < set->items[i].start_ns);
		seen |= bits(set->items[i].start_ns, set->items[i].end_ns);
	}
	assert_true(seen == word);
	assert_int_equal(fw_intervals_length(set), __builtin_popcountll(word));
}

static void sets_agree_with_bit_masks(void **state)
{
	unsigned seed = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct fw_intervals a = { 0 }, b = { 0 }, both = { 0 }, rest = { 0 };
		uint64_t x = random_set(&a, &seed), y = random_set(&b, &seed);
		int64_t from = rand_r(&seed) % 64, to = rand_r(&seed) % 65;

		expect(&a, x);
		assert_true(fw_intervals_intersect(&both, &a, &b));
		expect(&both, x & y);
		assert_true(fw_intervals_subtract(&rest, &a, &b));
		expect(&rest, x & ~y);
		assert_int_equal(fw_intervals_covered(&a, from, to),
				 __builtin_popcountll(x & bits(from, to)));
		fw_intervals_release(&a);
		fw_intervals_release(&b);
		fw_intervals_release(&both);
		fw_intervals_release(&rest);
	}
}

static int by_key(const void *ctx, uint32_t a, uint32_t b)
{
	const int *keys = ctx;

	return (keys[a] > keys[b]) - (keys[a] < keys[b]);
}

static void sorting_rows_is_stable(void **state)
{
	unsigned seed = 2;
	int keys[300];
	uint32_t rows[300];

	(void)state;
	for (int round = 0; round < 2000; round++) {
		uint32_t n = (uint32_t)rand_r(&seed) % 300;

		for (uint32_t i = 0; i < n; i++) {
			keys[i] = rand_r(&seed) % 20 + (round % 2 ? (int)i / 10 : 0);
			rows[i] = i;
		}
		assert_true(fw_sort_rows(rows, n, by_key, keys));
		for (uint32_t i = 1; i < n; i++)
			assert_true(keys[rows[i - 1]] < keys[rows[i]] ||
				    (keys[rows[i - 1]] == keys[rows[i]] && rows[i - 1] < rows[i]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_agree_with_bit_masks),
		cmocka_unit_test(sorting_rows_is_stable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
