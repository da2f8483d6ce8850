/* The warm-up of a network with networks that are right, and wrong in one place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "pipeline/warm_up.h"

#define ELEMENTS 12
#define CLASSES  3
#define MOST     5

static const uint32_t sizes[] = { 1, 2, 4, 5 };

/* Its scores are the first elements of its input; in one batch size, one place, one class it adds `wrong`. */
struct network {
	float inputs[MOST][ELEMENTS];
	uint32_t runs[MOST + 1];
	uint32_t wrong_size, wrong_place, wrong_run;
	float wrong;
	bool swaps; /* the rows of a batch of two */
	fw_status status;
};

static fw_status fill(void *user, uint32_t size, uint32_t place, const float *input,
		      struct fw_error *err)
{
	struct network *n = user;

	(void)err;
	assert_true(place < size);
	memcpy(n->inputs[place], input, sizeof(n->inputs[place]));
	return FW_OK;
}

static fw_status run(void *user, uint32_t size, float *scores, struct fw_error *err)
{
	struct network *n = user;

	for (uint32_t i = 0; i < size; i++)
		memcpy(scores + i * CLASSES, n->inputs[n->swaps && size == 2 ? 1 - i : i],
		       CLASSES * sizeof(float));
	n->runs[size]++;
	if (size == n->wrong_size && n->runs[size] == n->wrong_run)
		scores[n->wrong_place * CLASSES + 1] += n->wrong;
	return n->status && size == 4 ? fw_fail(err, n->status, "broke") : FW_OK;
}

static fw_status warm_up(struct network *n, const float *reference, struct fw_error *err)
{
	const struct fw_warm_up job = {
		.n_sizes = 4,
		.sizes = sizes,
		.elements = ELEMENTS,
		.classes = CLASSES,
		.fill = fill,
		.run = run,
		.user = n,
		.reference = reference,
		.tolerance = 1e-3f,
	};

	return fw_warm_up_run(&job, err);
}

static void runs_every_size_twice(void **state)
{
	struct network n = { .wrong = 0 };

	(void)state;
	assert_int_equal(warm_up(&n, NULL, NULL), FW_OK);
	assert_int_equal(n.runs[1], 3 + 2); /* three for what the others are compared with */
	assert_int_equal(n.runs[2], 2);
	assert_int_equal(n.runs[3], 0);
	assert_int_equal(n.runs[4], 2);
	assert_int_equal(n.runs[5], 2);
}

static void finds(struct network n, const float *reference, const char *text)
{
	struct fw_error err = { .code = FW_OK };

	assert_int_equal(warm_up(&n, reference, &err), FW_ERR_INTERNAL);
	if (!strstr(err.message, text))
		fail_msg("'%s' does not say '%s'", err.message, text);
}

static void finds_one_wrong_score(void **state)
{
	(void)state;
	/* Scores go from -2 to 2: 0.01 is over a thousandth of the largest. */
	finds((struct network){ .wrong_size = 5, .wrong_place = 4, .wrong_run = 2, .wrong = 0.01f },
	      NULL, "image 4 of a batch of 5 has the score");
	finds((struct network){ .wrong_size = 2, .wrong_place = 1, .wrong_run = 1, .wrong = -9 },
	      NULL, "but a batch of one gives");
	finds((struct network){ .wrong_size = 4, .wrong_place = 3, .wrong_run = 1, .wrong = NAN },
	      NULL, "image 3 of a batch of 4 has the score nan for class 1");
	finds(
		(struct network){
			.wrong_size = 1, .wrong_place = 0, .wrong_run = 1, .wrong = INFINITY },
		NULL, "image 0 of a batch of 1");
	finds((struct network){ .swaps = true }, NULL, "image 0 of a batch of 2");
}

static void takes_rounding_for_right(void **state)
{
	struct network n = { .wrong_size = 4, .wrong_place = 2, .wrong_run = 1, .wrong = 1e-6f };

	(void)state;
	assert_int_equal(warm_up(&n, NULL, NULL), FW_OK);
}

static void compares_with_another_engine(void **state)
{
	float reference[FW_WARM_UP_INPUTS * CLASSES], input[ELEMENTS];
	struct network n = { .wrong = 0 };

	(void)state;
	for (uint32_t i = 0; i < FW_WARM_UP_INPUTS; i++) {
		fw_warm_up_input(i, ELEMENTS, input);
		memcpy(reference + i * CLASSES, input, CLASSES * sizeof(float));
	}
	assert_int_equal(warm_up(&n, reference, NULL), FW_OK);
	assert_int_equal(n.runs[1], 2);
	reference[CLASSES * 2] += 0.1f;
	finds((struct network){ .wrong = 0 }, reference, "but the other engine gives");
}

static void hands_on_what_the_engine_says(void **state)
{
	struct network n = { .status = FW_ERR_IO };
	struct fw_error err = { .code = FW_OK };

	(void)state;
	assert_int_equal(warm_up(&n, NULL, &err), FW_ERR_IO);
	assert_string_equal(err.message, "broke");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_every_size_twice),
		cmocka_unit_test(finds_one_wrong_score),
		cmocka_unit_test(takes_rounding_for_right),
		cmocka_unit_test(compares_with_another_engine),
		cmocka_unit_test(hands_on_what_the_engine_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
