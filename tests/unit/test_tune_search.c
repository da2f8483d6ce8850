#include "base/map.h"
#include "tune/search.h"
#include "tune_spaces.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define SEEDS  20
#define SPACES 12

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

struct outcome {
	double best;
	uint64_t asked, failed, path; /* a hash of the keys in their order */
};

/* Answers in the order of asking; no configuration may come twice. */
static struct outcome run(const struct made_space *made, const char *strategy, uint64_t seed,
			  uint64_t budget)
{
	const struct fw_tune_search_options options = { .strategy = strategy,
							.seed = seed,
							.budget = budget };
	struct outcome outcome = { .best = INFINITY };
	struct fw_map seen = { 0 };
	struct fw_tune_search *search = NULL;

	assert_int_equal(fw_tune_search_open(&made->space, &options, &search, NULL), FW_OK);
	while (!fw_tune_search_is_done(search)) {
		struct fw_tune_config configs[30];
		uint32_t n = fw_tune_search_ask(search, configs, 30);

		assert_true(n || fw_tune_search_is_done(search));
		for (uint32_t i = 0; i < n; i++) {
			uint64_t key = fw_tune_space_key(&made->space, &configs[i]);
			double s = made_seconds(made, &configs[i]);
			bool is_new;

			assert_true(fw_tune_space_is_valid(&made->space, &configs[i]));
			fw_map_at(&seen, key, 0, &is_new);
			assert_true(is_new);
			outcome.asked++;
			outcome.failed += s < 0;
			outcome.path = made_hash(outcome.path ^ key);
			if (s > 0 && s < outcome.best)
				outcome.best = s;
			assert_int_equal(fw_tune_search_tell(search, &configs[i],
							     s > 0 ? FW_TUNE_TIMED : FW_TUNE_FAILED,
							     s, NULL),
					 FW_OK);
		}
	}
	fw_map_release(&seen);
	fw_tune_search_close(search);
	return outcome;
}

static double fraction(const struct made_space *made, const char *strategy, uint64_t budget)
{
	double values[SEEDS];

	for (uint64_t seed = 0; seed < SEEDS; seed++)
		values[seed] = made->best / run(made, strategy, seed, budget).best;
	return median(values, SEEDS);
}

/* The house's target: the median over the spaces is 98 % of the optimum within 200 evaluations. */
static void finds_98_percent_of_the_optimum(void **state)
{
	double genetic[SPACES], local[SPACES], random[SPACES];
	unsigned wins = 0;

	(void)state;
	for (uint64_t i = 0; i < SPACES; i++) {
		struct made_space made;

		made_open(&made, i + 1, true);
		genetic[i] = fraction(&made, "genetic", 200);
		local[i] = fraction(&made, "local", 200);
		random[i] = fraction(&made, "random", 200);
		wins += genetic[i] >= random[i];
		print_message("space %d of %d: genetic %.3f, local %.3f, random %.3f\n", (int)i + 1,
			      (int)made.space.n_valid, genetic[i], local[i], random[i]);
		fw_tune_space_free(&made.space);
	}
	assert_true(wins >= SPACES - 1);
	assert_true(median(genetic, SPACES) >= 0.98);
	assert_true(median(local, SPACES) >= 0.98);
	assert_true(median(random, SPACES) < 0.95);
}

/* 135,000 configurations of which 5 to 150 lie within 5 %. */
static void beats_random_on_large_spaces(void **state)
{
	double genetic[4], random[4];

	(void)state;
	for (uint64_t i = 0; i < 4; i++) {
		struct made_space made;

		made_open(&made, i + 1, false);
		genetic[i] = fraction(&made, "genetic", 200);
		random[i] = fraction(&made, "random", 200);
		assert_true(genetic[i] > random[i] + 0.03);
		fw_tune_space_free(&made.space);
	}
	assert_true(median(genetic, 4) >= 0.94);
}

static void same_seed_same_path(void **state)
{
	struct made_space made;
	const char *name;

	(void)state;
	made_open(&made, 3, true);
	for (size_t i = 0; (name = fw_tune_strategy_name(i)); i++) {
		struct outcome a = run(&made, name, 5, 150), b = run(&made, name, 5, 150);

		assert_int_equal(a.asked, 150);
		assert_int_equal(a.path, b.path);
		assert_int_not_equal(a.path, run(&made, name, 6, 150).path);
	}
	fw_tune_space_free(&made.space);
}

/* A budget beyond the space ends when every configuration was asked. */
static void ends_when_the_space_does(void **state)
{
	struct made_space made, small = { 0 };
	const char *name;

	(void)state;
	made_open(&made, 2, true);
	small.space.allows = made_allows;
	small.seed = 1;
	for (uint32_t p = 0; p < MADE_PARAMS; p++) {
		struct fw_tune_param param = made.space.params[p];

		param.n_values = p == 2 || p == 3 ? 1 : param.n_values < 3 ? param.n_values : 3;
		param.preset = 0;
		assert_int_equal(fw_tune_space_add(&small.space, &param, NULL), FW_OK);
	}
	assert_int_equal(fw_tune_space_seal(&small.space, NULL), FW_OK);
	assert_in_range(small.space.n_valid, 50, 400);
	for (size_t i = 0; (name = fw_tune_strategy_name(i)); i++)
		assert_int_equal(run(&small, name, 1, 1000000).asked, small.space.n_valid);
	fw_tune_space_free(&small.space);
	fw_tune_space_free(&made.space);
}

/* Without a list only draws tell what is valid; a third of this space is. */
static void searches_spaces_that_are_not_listed(void **state)
{
	const struct fw_tune_search_options all = { .strategy = "exhaustive", .budget = 10 };
	struct made_space made;
	struct fw_tune_search *search;
	struct fw_error err;
	uint64_t n_valid;

	(void)state;
	made_open(&made, 4, false);
	n_valid = made.space.n_valid;
	made.space.is_listed = false;
	made.space.n_valid = 0;
	assert_int_equal(run(&made, "genetic", 1, 200).asked, 200);
	assert_true(fraction(&made, "genetic", 200) > fraction(&made, "random", 200));
	assert_int_equal(run(&made, "local", 1, 200).asked, 200);
	assert_int_equal(fw_tune_search_open(&made.space, &all, &search, &err), FW_ERR_UNSUPPORTED);
	made.space.is_listed = true;
	made.space.n_valid = n_valid;
	fw_tune_space_free(&made.space);
}

static void asks_for_what_is_known_first(void **state)
{
	struct fw_tune_config starts[2] = { 0 }, preset, asked[3];
	struct fw_tune_search_options options = {
		.strategy = "genetic", .budget = 50, .starts = starts, .n_starts = 2
	};
	struct fw_tune_search *search;
	struct made_space made;

	(void)state;
	made_open(&made, 5, true);
	fw_tune_space_config(&made.space, made.space.keys[77],
			     &starts[1]); /* starts[0]: 8 threads */
	assert_false(fw_tune_space_is_valid(&made.space, &starts[0]));
	assert_true(fw_tune_space_preset(&made.space, &preset));
	assert_int_equal(fw_tune_search_open(&made.space, &options, &search, NULL), FW_OK);
	assert_int_equal(fw_tune_search_ask(search, asked, 3), 3);
	assert_memory_equal(&asked[0], &preset, sizeof(preset));
	assert_memory_equal(&asked[1], &starts[1], sizeof(preset));
	fw_tune_search_close(search);
	fw_tune_space_free(&made.space);
}

static void refuses_what_was_not_asked(void **state)
{
	struct fw_tune_search_options options = { .strategy = "random", .budget = 5 };
	struct fw_tune_config asked, other;
	struct fw_tune_search *search;
	struct made_space made;

	(void)state;
	made_open(&made, 6, true);
	assert_int_equal(fw_tune_search_open(&made.space, &options, &search, NULL), FW_OK);
	assert_int_equal(fw_tune_search_ask(search, &asked, 1), 1);
	fw_tune_space_config(&made.space, made.space.keys[0], &other);
	assert_int_equal(fw_tune_search_tell(search, &other, FW_TUNE_TIMED, 1, NULL),
			 FW_ERR_ARGUMENT);
	assert_int_equal(fw_tune_search_tell(search, &asked, FW_TUNE_TIMED, 1, NULL), FW_OK);
	assert_int_equal(fw_tune_search_tell(search, &asked, FW_TUNE_TIMED, 1, NULL),
			 FW_ERR_ARGUMENT);
	fw_tune_search_close(search);
	options.strategy = "clever";
	assert_int_equal(fw_tune_search_open(&made.space, &options, &search, NULL),
			 FW_ERR_ARGUMENT);
	fw_tune_space_free(&made.space);
}

/* Every configuration fails: the budget is spent, nothing else happens. */
static void survives_a_space_of_failures(void **state)
{
	const char *name;
	struct made_space made;

	(void)state;
	made_open(&made, 7, true);
	for (size_t i = 0; (name = fw_tune_strategy_name(i)); i++) {
		const struct fw_tune_search_options options = { .strategy = name, .budget = 300 };
		struct fw_tune_search *search;
		struct fw_tune_config config;
		unsigned asked = 0;

		assert_int_equal(fw_tune_search_open(&made.space, &options, &search, NULL), FW_OK);
		while (fw_tune_search_ask(search, &config, 1)) {
			asked++;
			fw_tune_search_tell(search, &config, FW_TUNE_FAILED, 0, NULL);
		}
		assert_int_equal(asked, 300);
		assert_true(fw_tune_search_is_done(search));
		fw_tune_search_close(search);
	}
	fw_tune_space_free(&made.space);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(finds_98_percent_of_the_optimum),
					    cmocka_unit_test(beats_random_on_large_spaces),
					    cmocka_unit_test(same_seed_same_path),
					    cmocka_unit_test(ends_when_the_space_does),
					    cmocka_unit_test(searches_spaces_that_are_not_listed),
					    cmocka_unit_test(asks_for_what_is_known_first),
					    cmocka_unit_test(refuses_what_was_not_asked),
					    cmocka_unit_test(survives_a_space_of_failures) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
