/* The rings that carry ranges from the program's threads to the writer: order, drops, threads that die. */
#include "inject/ring.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct seen {
	size_t count;
	int64_t last_start;
	bool in_order, names_right;
	char name[FW_RING_NAME_BYTES + 1];
	const char *domain;
};

static void look(void *context, uint32_t tid, const struct fw_ring_range *range, const char *name)
{
	struct seen *seen = context;
	char expected[32];

	assert_true(tid != 0);
	if (range->start_mono <= seen->last_start)
		seen->in_order = false;
	snprintf(expected, sizeof(expected), "range %lld", (long long)range->start_mono);
	if (strcmp(expected, name))
		seen->names_right = false;
	seen->last_start = range->start_mono;
	seen->domain = range->domain;
	memcpy(seen->name, name, range->name_bytes + 1);
	seen->count++;
}

static struct seen drain(void)
{
	struct seen seen = { .in_order = true, .names_right = true };

	fw_rings_drain(look, &seen);
	return seen;
}

static bool put(int64_t number)
{
	struct fw_ring_range range = { .start_mono = number, .end_mono = number + 5 };
	char name[32];
	int length = snprintf(name, sizeof(name), "range %lld", (long long)number);

	return fw_ring_put(&range, name, (size_t)length);
}

static void keeps_order_across_the_end(void **state)
{
	int64_t number = 1;

	(void)state;
	/* An entry is 32 bytes and its name padded to 8 (48 in all): 400 x 1,000 of them go round many times. */
	for (int round = 0; round < 400; round++) {
		struct seen seen;

		for (int i = 0; i < 1000; i++)
			assert_true(put(number++));
		seen = drain();
		assert_int_equal(seen.count, 1000);
		assert_true(seen.in_order && seen.names_right);
	}
	assert_int_equal(fw_rings_take_dropped(), 0);
}

static void counts_what_does_not_fit(void **state)
{
	uint64_t taken = 0, refused = 0;

	(void)state;
	for (int i = 0; i < 20000; i++)
		if (put(i + 1000000))
			taken++;
		else
			refused++;
	assert_true(refused > 0);
	/* "range 1000000": 13 bytes, so 32 + 16 an entry. */
	assert_int_equal(taken, FW_RING_BYTES / 48);
	assert_int_equal(fw_rings_take_dropped(), refused);
	assert_int_equal(fw_rings_take_dropped(), 0);
	assert_int_equal(drain().count, taken);
	assert_true(put(5));
	assert_int_equal(drain().count, 1);
}

static void cuts_long_names(void **state)
{
	struct fw_ring_range range = { .start_mono = 1, .end_mono = 2, .domain = "NCCL" };
	char name[3000];
	struct seen seen;

	(void)state;
	memset(name, 'x', sizeof(name));
	errno = 77;
	assert_true(fw_ring_put(&range, name, sizeof(name)));
	assert_int_equal(errno, 77);
	seen = drain();
	assert_int_equal(strlen(seen.name), FW_RING_NAME_BYTES);
	assert_string_equal(seen.domain, "NCCL");
}

static void takes_nothing_while_off(void **state)
{
	(void)state;
	fw_rings_enable(false);
	assert_false(put(1));
	assert_int_equal(fw_rings_take_dropped(), 0);
	fw_rings_enable(true);
	assert_int_equal(drain().count, 0);
}

static void *put_some(void *arg)
{
	uint8_t *scratch = fw_ring_scratch();

	(void)arg;
	assert_non_null(scratch);
	for (unsigned i = 0; i < FW_RING_SCRATCH_BYTES; i++)
		assert_int_equal(scratch[i], 0);
	memset(scratch, 1, FW_RING_SCRATCH_BYTES);
	for (int i = 1; i <= 100; i++)
		put(i);
	return NULL;
}

/* Four times as many threads as rings, a few at a time: the rings of the dead serve again. */
static void survives_threads_that_die(void **state)
{
	size_t count = 0;

	(void)state;
	for (unsigned i = 0; i < FW_RING_THREADS * 4; i += 4) {
		pthread_t threads[4];

		for (int t = 0; t < 4; t++)
			assert_int_equal(pthread_create(&threads[t], NULL, put_some, NULL), 0);
		for (int t = 0; t < 4; t++)
			pthread_join(threads[t], NULL);
		for (unsigned tries = 0; tries < 2; tries++) {
			struct seen seen = { .in_order = true };

			count += fw_rings_drain(look, &seen);
			fw_rings_reap();
		}
	}
	assert_int_equal(count, FW_RING_THREADS * 4 * 100);
	assert_int_equal(fw_rings_take_dropped(), 0);
}

static _Atomic bool is_over;

static void *put_until_over(void *arg)
{
	uint64_t *taken = arg;

	for (int64_t i = 1; !atomic_load(&is_over); i++)
		if (put(i))
			(*taken)++;
	return NULL;
}

static void drains_while_threads_put(void **state)
{
	uint64_t taken[3] = { 0 }, sum = 0;
	pthread_t threads[3];

	(void)state;
	for (int t = 0; t < 3; t++)
		assert_int_equal(pthread_create(&threads[t], NULL, put_until_over, &taken[t]), 0);
	for (int i = 0; i < 300; i++) {
		struct seen seen = { .names_right = true };

		sum += fw_rings_drain(look, &seen);
		assert_true(seen.names_right);
	}
	atomic_store(&is_over, true);
	for (int t = 0; t < 3; t++)
		pthread_join(threads[t], NULL);
	sum += drain().count;
	assert_int_equal(sum, taken[0] + taken[1] + taken[2]);
	fw_rings_take_dropped();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_order_across_the_end),
		cmocka_unit_test(counts_what_does_not_fit),
		cmocka_unit_test(cuts_long_names),
		cmocka_unit_test(takes_nothing_while_off),
		cmocka_unit_test(survives_threads_that_die),
		cmocka_unit_test(drains_while_threads_put),
	};

	if (!fw_rings_open())
		return 77;
	fw_rings_enable(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
