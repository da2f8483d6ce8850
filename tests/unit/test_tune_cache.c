#include "tune/cache.h"
#include "tune/race.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct fw_error err;
static char path[64];
static struct fw_tune_space space;
static struct fw_tune_conditions conditions;

/* Parameters A (1, 2, 3) and B ("x y", z). */
static void build(struct fw_tune_space *s, uint32_t n_a)
{
	static const struct fw_tune_value a[] = { { "1", 1 }, { "2", 2 }, { "3", 3 } };
	static const struct fw_tune_value b[] = { { "x \"y\"", 0 }, { "z", 1 } };
	const struct fw_tune_param pa = { .name = "A", .n_values = n_a, .values = a };
	const struct fw_tune_param pb = { .name = "B", .n_values = 2, .values = b };

	*s = (struct fw_tune_space){ 0 };
	assert_int_equal(fw_tune_space_add(s, &pa, NULL), FW_OK);
	assert_int_equal(fw_tune_space_add(s, &pb, NULL), FW_OK);
	assert_int_equal(fw_tune_space_seal(s, NULL), FW_OK);
}

static int set_up(void **state)
{
	int fd;

	(void)state;
	memcpy(path, "/tmp/fw-tune-cache-XXXXXX", 26);
	fd = mkstemp(path);
	if (fd < 0)
		return -1;
	close(fd);
	build(&space, 2);
	conditions = (struct fw_tune_conditions){ .gpu = "H200",
						  .uuid = "GPU-1",
						  .cc = 90,
						  .driver = 13000,
						  .nvrtc = "13.0",
						  .l2 = "warm",
						  .kernel = "conv",
						  .source = 5,
						  .spec = 6 };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	fw_tune_space_free(&space);
	return 0;
}

static struct fw_tune_cache *open_cache(const struct fw_tune_space *s,
					const struct fw_tune_conditions *c)
{
	const struct fw_tune_cache_options options = { .path = path, .space = s, .conditions = c };
	struct fw_tune_cache *cache = NULL;

	assert_int_equal(fw_tune_cache_open(&options, &cache, &err), FW_OK);
	return cache;
}

static struct fw_tune_result made(uint16_t a, uint16_t b)
{
	struct fw_tune_result r = { .config = { { a, b } },
				    .has_attributes = true,
				    .registers = 40,
				    .static_smem = 1024,
				    .dynamic_smem = 2048,
				    .spill_bytes = 8,
				    .max_threads = 1024,
				    .occupancy = 0.5,
				    .limiters = 2,
				    .cubin_hash = UINT64_C(0xfedcba9876543210),
				    .n_samples = 3,
				    .samples_s = { 3e-6, 1.25e-6, 2e-6 },
				    .sm_clock_mhz = 1980,
				    .discarded = 1,
				    .unsteady = 2,
				    .compile_s = 0.5 };

	fw_tune_summarize(&r);
	return r;
}

static void append(struct fw_tune_cache *cache, const struct fw_tune_result *r)
{
	assert_int_equal(fw_tune_cache_append(cache, r, &err), FW_OK);
}

static void gives_back_what_it_got(void **state)
{
	struct fw_tune_result ok = made(1, 0), failed = { .config = { { 0, 1 } }, .occupancy = -1 };
	struct fw_tune_cache *cache = open_cache(&space, &conditions);
	const struct fw_tune_result *got;
	struct fw_tune_cache_stats stats;

	(void)state;
	failed.status = FW_TUNE_WRONG_OUTPUT;
	memcpy(failed.reason, "row 3: 1.5, not 2 \"\\\n", 22);
	fw_tune_summarize(&failed);
	append(cache, &ok);
	append(cache, &failed);
	assert_int_equal(fw_tune_cache_close(cache, &err), FW_OK);
	cache = open_cache(&space, &conditions);
	fw_tune_cache_stats(cache, &stats);
	assert_int_equal(stats.results, 2);
	assert_int_equal(stats.foreign + stats.foreign_space + stats.damaged + stats.is_torn, 0);
	got = fw_tune_cache_find(cache, &ok.config);
	assert_non_null(got);
	assert_memory_equal(got, &ok, sizeof(ok));
	got = fw_tune_cache_find(cache, &failed.config);
	assert_non_null(got);
	assert_memory_equal(got, &failed, sizeof(failed));
	assert_null(fw_tune_cache_find(cache, &(struct fw_tune_config){ { 0 } }));
	fw_tune_cache_close(cache, NULL);
}

static off_t size_of_file(void)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_size;
}

/* The header is written once; a value more in the space re-uses the rest, a value less leaves its lines out. */
static void keys_are_names_and_values(void **state)
{
	struct fw_tune_cache *cache = open_cache(&space, &conditions);
	struct fw_tune_result r = made(1, 1);
	struct fw_tune_cache_stats stats;
	struct fw_tune_space larger, smaller;
	off_t first, second;

	(void)state;
	append(cache, &r);
	first = size_of_file();
	append(cache, &r);
	second = size_of_file() - first;
	fw_tune_cache_close(cache, NULL);
	assert_true(second < first);
	build(&larger, 3);
	cache = open_cache(&larger, &conditions);
	assert_non_null(fw_tune_cache_find(cache, &r.config));
	append(cache, &r);
	assert_int_equal(size_of_file(), first + 2 * second);
	fw_tune_cache_close(cache, NULL);
	build(&smaller, 1);
	cache = open_cache(&smaller, &conditions);
	fw_tune_cache_stats(cache, &stats);
	assert_int_equal(stats.results, 0);
	assert_int_equal(stats.foreign_space, 3);
	fw_tune_cache_close(cache, NULL);
	fw_tune_space_free(&larger);
	fw_tune_space_free(&smaller);
}

static void others_conditions_are_not_used(void **state)
{
	struct fw_tune_cache *cache = open_cache(&space, &conditions);
	struct fw_tune_result r = made(1, 1);
	struct fw_tune_conditions other = conditions;
	struct fw_tune_cache_stats stats;

	(void)state;
	append(cache, &r);
	fw_tune_cache_close(cache, NULL);
	memcpy(other.gpu, "A100", 5);
	cache = open_cache(&space, &other);
	fw_tune_cache_stats(cache, &stats);
	assert_int_equal(stats.results, 0);
	assert_int_equal(stats.foreign, 1);
	assert_string_equal(stats.difference, "measured on another GPU: H200");
	append(cache, &r);
	fw_tune_cache_close(cache, NULL);
	other = conditions;
	other.source++;
	cache = open_cache(&space, &other);
	fw_tune_cache_stats(cache, &stats);
	assert_int_equal(stats.foreign, 2);
	fw_tune_cache_close(cache, NULL);
	cache = open_cache(&space, &conditions);
	fw_tune_cache_stats(cache, &stats);
	assert_int_equal(stats.results, 1);
	fw_tune_cache_close(cache, NULL);
}

/* Cut at any byte, what stands before the last line is read, and what is appended then is whole. */
static void a_torn_line_costs_itself(void **state)
{
	struct fw_tune_cache *cache = open_cache(&space, &conditions);
	struct fw_tune_result a = made(1, 0), b = made(1, 1), c = made(0, 0);
	struct fw_tune_cache_stats stats;
	off_t whole, all;

	(void)state;
	append(cache, &a);
	whole = size_of_file();
	append(cache, &b);
	all = size_of_file();
	fw_tune_cache_close(cache, NULL);
	for (off_t cut = all - 2; cut > whole; cut -= 37) {
		assert_int_equal(truncate(path, cut), 0);
		cache = open_cache(&space, &conditions);
		fw_tune_cache_stats(cache, &stats);
		assert_true(stats.is_torn);
		assert_int_equal(stats.results, 1);
		append(cache, &c);
		fw_tune_cache_close(cache, NULL);
		cache = open_cache(&space, &conditions);
		fw_tune_cache_stats(cache, &stats);
		assert_int_equal(stats.results, 2);
		assert_int_equal(stats.damaged, 1);
		assert_int_equal(stats.first_damaged, 3);
		fw_tune_cache_close(cache, NULL);
	}
}

/* A full disk, as a limit on the size of files makes it: told once; what is in memory stays. */
static void a_full_disk_is_told(void **state)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	struct fw_tune_cache *cache = open_cache(&space, &conditions);
	struct fw_tune_result a = made(1, 0), b = made(1, 1);
	struct rlimit limit = { 0, RLIM_INFINITY };

	(void)state;
	append(cache, &a);
	signal(SIGXFSZ, SIG_IGN);
	limit.rlim_cur = (rlim_t)size_of_file() + 10;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(fw_tune_cache_append(cache, &b, &err), FW_ERR_IO);
	assert_non_null(strstr(err.message, path));
	assert_int_equal(fw_tune_cache_append(cache, &b, &err), FW_OK);
	assert_non_null(fw_tune_cache_find(cache, &b.config));
	setrlimit(RLIMIT_FSIZE, &unlimited);
	fw_tune_cache_close(cache, NULL);
	memcpy(path, "/nowhere/there", 15);
	assert_int_equal(fw_tune_cache_open(&(struct fw_tune_cache_options){ path, &space,
									     &conditions, false },
					    &cache, &err),
			 FW_ERR_IO);
}

/* Lines for us may change: they hold the parameters. Everything else is another source. */
static void lines_for_us_are_not_the_source(void **state)
{
	static const char a[] = "// fullwarp: param A = 1 2\n__global__ void k() {}\n";
	static const char b[] =
		"  //fullwarp: param A = 1 2 3\n//  fullwarp: where A\n__global__ void k() {}\n";
	static const char c[] = "// fullwarp: param A = 1 2\n__global__ void k() { }\n";
	struct fw_tune_spec spec = { .kernel = "k", .source = a, .source_bytes = sizeof(a) - 1 };
	struct fw_tune_conditions x = { .l2 = "warm" }, y = x;

	(void)state;
	fw_tune_conditions_of_spec(&spec, &x);
	spec.source = b;
	spec.source_bytes = sizeof(b) - 1;
	fw_tune_conditions_of_spec(&spec, &y);
	assert_int_equal(fw_tune_conditions_hash(&x), fw_tune_conditions_hash(&y));
	spec.source = c;
	spec.source_bytes = sizeof(c) - 1;
	fw_tune_conditions_of_spec(&spec, &y);
	assert_int_not_equal(x.source, y.source);
	spec.grid[0].text = "4";
	fw_tune_conditions_of_spec(&spec, &x);
	assert_int_equal(x.source, y.source);
	assert_int_not_equal(x.spec, y.spec);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = { CASE(gives_back_what_it_got),
					    CASE(keys_are_names_and_values),
					    CASE(others_conditions_are_not_used),
					    CASE(a_torn_line_costs_itself),
					    CASE(a_full_disk_is_told),
					    cmocka_unit_test(lines_for_us_are_not_the_source) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
