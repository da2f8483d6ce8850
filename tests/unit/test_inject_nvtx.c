/* NVTX ranges on their way from the program's calls to the ring: nesting, names, bounds, threads. */
#include "inject/nvtx_open.h"
#include "inject/ring.h"
#include "trace/recording.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <cmocka.h>

#define MOST_SEEN 8192

struct seen {
	char name[64], domain[64];
	struct fw_ring_range range;
	uint32_t tid;
};
static struct seen seen[MOST_SEEN];
static size_t seen_count;

static void look(void *context, uint32_t tid, const struct fw_ring_range *range, const char *name)
{
	(void)context;
	assert_true(seen_count < MOST_SEEN);
	snprintf(seen[seen_count].name, sizeof(seen[0].name), "%s", name);
	snprintf(seen[seen_count].domain, sizeof(seen[0].domain), "%s",
		 range->domain ? range->domain : "-");
	seen[seen_count].range = *range;
	seen[seen_count++].tid = tid;
}

static void drain(void)
{
	seen_count = 0;
	fw_rings_drain(look, NULL);
}

/* "name@domain name@domain": what has come since the last drain. */
static const char *said(void)
{
	static char text[4096];
	size_t used = 0;

	drain();
	text[0] = 0;
	for (size_t i = 0; i < seen_count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s@%s", i ? " " : "",
					 seen[i].name, seen[i].domain);
	return text;
}

static struct fw_nvtx_message narrow(const char *text)
{
	return (struct fw_nvtx_message){ FW_NVTX_ASCII, text };
}

static struct fw_nvtx_message wide(const wchar_t *text)
{
	return (struct fw_nvtx_message){ FW_NVTX_WIDE, text };
}

static int open_rings(void **state)
{
	(void)state;
	assert_true(fw_rings_open());
	fw_rings_enable(true);
	return 0;
}

static void nests(void **state)
{
	(void)state;
	fw_nvtx_push(NULL, narrow("outer"));
	fw_nvtx_push(NULL, narrow("inner"));
	fw_nvtx_pop(NULL);
	fw_nvtx_mark(NULL, narrow("mark"));
	fw_nvtx_pop(NULL);
	assert_string_equal(said(), "inner@- mark@- outer@-");
	assert_int_equal(seen[0].range.kind, FW_REC_RANGE_NVTX);
	assert_int_equal(seen[1].range.kind, FW_REC_RANGE_MARK);
	assert_true(seen[1].range.start_mono == seen[1].range.end_mono);
	assert_true(seen[2].range.start_mono <= seen[0].range.start_mono);
	assert_true(seen[0].range.end_mono <= seen[1].range.start_mono);
	assert_true(seen[1].range.end_mono <= seen[2].range.end_mono);
}

static void pops_that_have_no_push_do_nothing(void **state)
{
	(void)state;
	fw_nvtx_pop(NULL);
	fw_nvtx_push(NULL, narrow("a"));
	fw_nvtx_pop(fw_nvtx_intern(narrow("other domain")));
	fw_nvtx_pop(NULL);
	fw_nvtx_pop(NULL);
	fw_nvtx_end(0);
	fw_nvtx_end(12345);
	assert_string_equal(said(), "a@-");
}

static void domains_have_stacks_of_their_own(void **state)
{
	const char *x = fw_nvtx_intern(narrow("x")), *y = fw_nvtx_intern(wide(L"y"));

	(void)state;
	assert_ptr_equal(x, fw_nvtx_intern(wide(L"x")));
	assert_ptr_not_equal(x, y);
	fw_nvtx_push(x, narrow("1"));
	fw_nvtx_push(y, narrow("2"));
	fw_nvtx_push(x, narrow("3"));
	fw_nvtx_push(NULL, narrow("4"));
	fw_nvtx_pop(y);
	fw_nvtx_pop(x);
	fw_nvtx_pop(x);
	fw_nvtx_pop(NULL);
	fw_nvtx_pop(x);
	assert_string_equal(said(), "2@y 3@x 1@x 4@-");
}

static void names_become_utf8(void **state)
{
	char text[16], big[2000];
	const wchar_t characters[] = { 'a', 0xe4, 0x4e2d, 0x1f600, 0xd800, 0x110000, 0 };

	(void)state;
	/* U+00E4, U+4E2D, U+1F600 in UTF-8 by hand; a surrogate and one past the last become '?'. */
	assert_int_equal(fw_nvtx_copy(text, sizeof(text), wide(characters)), 12);
	assert_memory_equal(text, "a\xc3\xa4\xe4\xb8\xad\xf0\x9f\x98\x80??", 12);
	/* Cut between characters, not inside one. */
	assert_int_equal(fw_nvtx_copy(text, 5, wide(characters)), 3);
	assert_int_equal(fw_nvtx_copy(text, 5, narrow("a\xc3\xa4\xe4\xb8\xad")), 3);
	assert_int_equal(fw_nvtx_copy(text, 6, narrow("a\xc3\xa4\xe4\xb8\xad")), 6);
	/* Latin-1 is no UTF-8. */
	assert_int_equal(fw_nvtx_copy(text, sizeof(text), narrow("M\xfcller")), 6);
	assert_memory_equal(text, "M?ller", 6);
	memset(big, 'b', sizeof(big) - 1);
	big[sizeof(big) - 1] = 0;
	assert_int_equal(fw_nvtx_copy(big, FW_NVTX_TEXT_BYTES, narrow(big)), FW_NVTX_TEXT_BYTES);
	assert_int_equal(fw_nvtx_copy(text, sizeof(text), narrow(NULL)), 0);
	assert_int_equal(
		fw_nvtx_copy(text, sizeof(text), (struct fw_nvtx_message){ 77, "unknown" }), 0);
	assert_null(fw_nvtx_intern(narrow(NULL)));
}

static void attributes_shorter_than_ours_have_no_message(void **state)
{
	struct fw_nvtx_attributes attributes = { .version = 3,
						 .size = sizeof(attributes),
						 .message_type = FW_NVTX_ASCII,
						 .message = "text" };

	(void)state;
	assert_string_equal(fw_nvtx_message_of(&attributes).text, "text");
	attributes.size = sizeof(attributes) - 8;
	assert_null(fw_nvtx_message_of(&attributes).text);
	assert_null(fw_nvtx_message_of(NULL).text);
}

static void deep_stacks_stay_bounded(void **state)
{
	char name[1000];
	size_t named = 0;

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	fw_rings_take_dropped();
	for (int i = 0; i < 5000; i++)
		fw_nvtx_push(NULL, narrow(name));
	for (int i = 0; i < 5000; i++)
		fw_nvtx_pop(NULL);
	drain();
	assert_int_equal(seen_count + fw_rings_take_dropped(), 5000);
	assert_true(seen_count > 50);
	for (size_t i = 0; i < seen_count; i++)
		named += seen[i].range.name_bytes > 0;
	assert_true(named > 40);
	assert_true(seen[seen_count - 1].range.name_bytes > 990);
	/* Balanced again. */
	fw_nvtx_push(NULL, narrow("after"));
	fw_nvtx_pop(NULL);
	assert_string_equal(said(), "after@-");
}

static void short_names_nest_deeper(void **state)
{
	(void)state;
	for (int i = 0; i < 400; i++)
		fw_nvtx_push(NULL, narrow("conv2d"));
	for (int i = 0; i < 400; i++)
		fw_nvtx_pop(NULL);
	drain();
	assert_int_equal(seen_count, 400);
	for (int i = 0; i < 400; i++)
		assert_string_equal(seen[i].name, "conv2d");
}

static void started_ranges_end_in_any_order(void **state)
{
	uint64_t a = fw_nvtx_start(NULL, narrow("a")), b = fw_nvtx_start(NULL, wide(L"b"));

	(void)state;
	assert_true(a && b && a != b);
	fw_nvtx_end(a);
	fw_nvtx_end(a);
	fw_nvtx_end(b);
	assert_string_equal(said(), "a@- b@-");
}

static void ranges_that_never_end_fill_the_table_only(void **state)
{
	static uint64_t ids[3 * FW_NVTX_STARTED];
	size_t dropped;

	(void)state;
	fw_rings_take_dropped();
	for (size_t i = 0; i < 3 * FW_NVTX_STARTED; i++)
		ids[i] = fw_nvtx_start(NULL, narrow("open"));
	dropped = fw_rings_take_dropped();
	assert_true(dropped >= 2 * FW_NVTX_STARTED);
	for (size_t i = 0; i < 3 * FW_NVTX_STARTED; i++)
		fw_nvtx_end(ids[i]);
	drain();
	assert_int_equal(seen_count + dropped, 3 * FW_NVTX_STARTED);
	fw_nvtx_end(fw_nvtx_start(NULL, narrow("again")));
	assert_string_equal(said(), "again@-");
}

static void *leaves_a_range_open(void *argument)
{
	(void)argument;
	fw_nvtx_push(NULL, narrow("left open"));
	fw_nvtx_push(NULL, narrow("closed"));
	fw_nvtx_pop(NULL);
	return NULL;
}

static void *pops_once(void *argument)
{
	(void)argument;
	fw_nvtx_pop(NULL);
	return NULL;
}

static void a_dead_threads_open_ranges_die_with_it(void **state)
{
	pthread_t thread;

	(void)state;
	pthread_create(&thread, NULL, leaves_a_range_open, NULL);
	pthread_join(thread, NULL);
	assert_string_equal(said(), "closed@-");
	fw_rings_reap();
	pthread_create(&thread, NULL, pops_once, NULL);
	pthread_join(thread, NULL);
	assert_string_equal(said(), "");
}

static void pushed_while_nothing_is_recorded(void **state)
{
	(void)state;
	fw_nvtx_push(NULL, narrow("before"));
	fw_rings_enable(false);
	fw_nvtx_push(NULL, narrow("never"));
	fw_nvtx_pop(NULL);
	fw_nvtx_push(NULL, narrow("longer"));
	fw_rings_enable(true);
	fw_nvtx_pop(NULL);
	fw_nvtx_pop(NULL);
	assert_string_equal(said(), "longer@- before@-");
}

static void names_a_thread(void **state)
{
	(void)state;
	fw_nvtx_name_thread(77, narrow("loader"));
	assert_string_equal(said(), "loader@-");
	assert_int_equal(seen[0].range.kind, FW_RING_THREAD_NAME);
	assert_int_equal(seen[0].range.start_mono, 77);
}

#define THREADS 6
#define ROUNDS  400

static _Atomic uint64_t handed_over[THREADS * ROUNDS];

static void *works(void *argument)
{
	size_t me = *(size_t *)argument;
	char name[32];

	for (size_t i = 0; i < ROUNDS; i++) {
		const char *domain;

		snprintf(name, sizeof(name), "domain %zu", i % 50);
		domain = fw_nvtx_intern(narrow(name));
		if (strcmp(domain, name))
			return argument;
		fw_nvtx_push(domain, narrow(name));
		atomic_store(&handed_over[me * ROUNDS + i], fw_nvtx_start(NULL, narrow(name)));
		/* Ends what its neighbour started, if it did already. */
		fw_nvtx_end(atomic_exchange(&handed_over[(me + 1) % THREADS * ROUNDS + i], 0));
		fw_nvtx_pop(domain);
	}
	return NULL;
}

static void threads_do_not_disturb_each_other(void **state)
{
	pthread_t threads[THREADS];
	size_t numbers[THREADS], pushed = 0, ended = 0;

	(void)state;
	fw_rings_take_dropped();
	for (size_t i = 0; i < THREADS; i++) {
		numbers[i] = i;
		pthread_create(&threads[i], NULL, works, &numbers[i]);
	}
	for (size_t i = 0; i < THREADS; i++) {
		void *result = NULL;

		pthread_join(threads[i], &result);
		assert_ptr_equal(result, NULL);
	}
	for (size_t i = 0; i < THREADS * ROUNDS; i++)
		fw_nvtx_end(atomic_load(&handed_over[i]));
	/* The main thread's ring has ranges too. */
	seen_count = 0;
	fw_rings_drain(look, NULL);
	for (size_t i = 0; i < seen_count; i++) {
		bool has_domain = seen[i].range.domain != NULL;

		pushed += has_domain;
		ended += !has_domain;
		if (has_domain)
			assert_string_equal(seen[i].name, seen[i].domain);
	}
	assert_int_equal(pushed, THREADS * ROUNDS);
	assert_int_equal(ended + fw_rings_take_dropped(), THREADS * ROUNDS);
}

static void interned_texts_are_bounded(void **state)
{
	char name[1000];
	const char *last = NULL;

	(void)state;
	for (int i = 0; i < 6000; i++) {
		snprintf(name, sizeof(name), "%0990d", i);
		last = fw_nvtx_intern(narrow(name));
		assert_non_null(last);
	}
	assert_string_equal(last, "(further names)");
	snprintf(name, sizeof(name), "%0990d", 5);
	assert_string_equal(fw_nvtx_intern(narrow(name)), name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nests),
		cmocka_unit_test(pops_that_have_no_push_do_nothing),
		cmocka_unit_test(domains_have_stacks_of_their_own),
		cmocka_unit_test(names_become_utf8),
		cmocka_unit_test(attributes_shorter_than_ours_have_no_message),
		cmocka_unit_test(deep_stacks_stay_bounded),
		cmocka_unit_test(short_names_nest_deeper),
		cmocka_unit_test(started_ranges_end_in_any_order),
		cmocka_unit_test(ranges_that_never_end_fill_the_table_only),
		cmocka_unit_test(a_dead_threads_open_ranges_die_with_it),
		cmocka_unit_test(pushed_while_nothing_is_recorded),
		cmocka_unit_test(names_a_thread),
		cmocka_unit_test(threads_do_not_disturb_each_other),
		cmocka_unit_test(interned_texts_are_bounded),
	};

	return cmocka_run_group_tests(tests, open_rings, NULL);
}
