/* The compile pool on a stand-in for NVRTC: objects, limits, the cache, and workers that die. */
#include "tune_case.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>

#define SPEC                                                                                       \
	"// fullwarp: kernel scale ; grid = ceil(N / BX) ; block = BX\n"                           \
	"// fullwarp: param BX = 32 64 96 128 2048\n"                                              \
	"// fullwarp: set N = 1000 ; arg out f32[N] output ; arg in f32[N] random\n"               \
	"__global__ void scale(float *out, const float *in) { int i = BX + N; }\n"

struct pool {
	struct fw_tune_spec spec;
	struct fw_tune_compile_options options;
	struct fw_tune_compiler *compiler;
};

static void open_spec(struct pool *pool, const char *text)
{
	struct fw_error err = { 0 };

	*pool = (struct pool){ .options = { .cc = 90,
					    .workers = 2,
					    .nvrtc_path = FW_FAKE_TUNE_NVRTC,
					    .limit_s = 30 } };
	if (fw_tune_spec_parse("k.cu", text, strlen(text), &pool->spec, &err))
		fail_msg("%s", err.message);
}

static void open_pool(struct pool *pool)
{
	struct fw_error err = { 0 };

	if (fw_tune_compiler_open(&pool->spec, &pool->options, &pool->compiler, &err))
		fail_msg("%s", err.message);
}

static void close_pool(struct pool *pool)
{
	fw_tune_compiler_close(pool->compiler);
	fw_tune_spec_free(&pool->spec);
}

/* Compiles the configuration with that value of the first parameter. */
static struct fw_tune_object compile(struct pool *pool, uint16_t value)
{
	struct fw_tune_config config = { .value = { value } };
	struct fw_tune_object object;
	struct fw_error err = { 0 };

	assert_int_equal(fw_tune_compiler_submit(pool->compiler, &config, NULL, &err), FW_OK);
	if (fw_tune_compiler_next(pool->compiler, &object, &err))
		fail_msg("%s", err.message);
	assert_int_equal(object.result.config.value[0], value);
	return object;
}

static struct fw_tune_compile_stats stats_of(const struct pool *pool)
{
	struct fw_tune_compile_stats stats;

	fw_tune_compiler_stats(pool->compiler, &stats);
	return stats;
}

static void expect_failure(struct pool *pool, uint16_t value, enum fw_tune_status status,
			   const char *reason)
{
	struct fw_tune_object object = compile(pool, value);

	if (object.result.status != status || !strstr(object.result.reason, reason))
		fail_msg("%s: %s; expected %s: %s", fw_tune_status_name(object.result.status),
			 object.result.reason, fw_tune_status_name(status), reason);
	assert_null(object.cubin);
	fw_tune_object_release(&object);
}

/*
 * 128 threads x 80 registers on CC 9.0: a warp takes 80 * 32 = 2560 registers, 16384 / 2560 = 6 warps a sub-partition,
 * 24 an SM, 6 blocks of 4 warps: 24 of 64 warps.
 */
static void reads_what_the_code_takes(void **state)
{
	struct fw_tune_object object;
	struct pool pool;

	(void)state;
	open_spec(&pool, SPEC "// fake scale: registers 80\n// fake scale BX=128: smem 2048\n"
			      "// fake scale BX=128: spills 24\n// fake scale: max_threads 256\n");
	open_pool(&pool);
	object = compile(&pool, 3);
	assert_int_equal(object.result.status, FW_TUNE_OK);
	assert_string_equal(object.result.reason, "");
	assert_true(object.result.has_attributes);
	assert_int_equal(object.result.registers, 80);
	assert_int_equal(object.result.static_smem, 2048);
	assert_int_equal(object.result.spill_bytes, 24);
	assert_int_equal(object.result.max_threads, 256);
	assert_float_equal(object.result.occupancy, 24.0 / 64, 1e-9);
	assert_int_not_equal(object.result.cubin_hash, 0);
	assert_string_equal(object.lowered_name, "_Z5scale");
	assert_null(object.reference_name);
	assert_true(object.cubin_bytes > 100 && !memcmp(object.cubin, "\177ELF", 4));
	assert_int_equal(stats_of(&pool).nvrtc_major, 13);
	assert_string_equal(stats_of(&pool).nvrtc_path, FW_FAKE_TUNE_NVRTC);
	fw_tune_object_release(&object);
	close_pool(&pool);
}

static void equal_code_has_equal_hash(void **state)
{
	struct fw_tune_object a, b, c;
	struct pool pool;

	(void)state;
	open_spec(&pool, SPEC "// fake scale: effect one\n// fake scale BX=96: effect other\n");
	open_pool(&pool);
	a = compile(&pool, 0);
	b = compile(&pool, 1);
	c = compile(&pool, 2);
	assert_true(a.result.cubin_hash == b.result.cubin_hash);
	assert_true(a.result.cubin_hash != c.result.cubin_hash);
	fw_tune_object_release(&a);
	fw_tune_object_release(&b);
	fw_tune_object_release(&c);
	close_pool(&pool);
}

static void names_the_limit_that_forbids_a_launch(void **state)
{
	struct pool pool;

	(void)state;
	open_spec(&pool, SPEC "// fake scale BX=32: smem 300000\n"
			      "// fake scale BX=64: max_threads 63\n"
			      "// fake * BX=128: error no such type\n");
	open_pool(&pool);
	expect_failure(&pool, 0, FW_TUNE_NOT_LAUNCHABLE, "300000 bytes of shared memory");
	expect_failure(&pool, 1, FW_TUNE_NOT_LAUNCHABLE, "launch bounds allow 63");
	expect_failure(&pool, 3, FW_TUNE_COMPILE_FAILED, "k.cu(1): error: no such type");
	/* Never given to the compiler. */
	expect_failure(&pool, 4, FW_TUNE_NOT_LAUNCHABLE, "2048");
	assert_int_equal(stats_of(&pool).compiled, 3);
	close_pool(&pool);
}

/* 1024 threads x 80 registers: 81920 of 65536. */
static void too_many_registers_are_not_launched(void **state)
{
	struct pool pool;

	(void)state;
	open_spec(&pool, "// fullwarp: kernel scale ; grid = 1 ; block = BX\n"
			 "// fullwarp: param BX = 1024\n// fullwarp: arg out f32[8] output\n"
			 "__global__ void scale(float *out) { int i = BX; }\n"
			 "// fake scale: registers 80\n");
	open_pool(&pool);
	expect_failure(&pool, 0, FW_TUNE_NOT_LAUNCHABLE, "80 registers x 1024 threads");
	close_pool(&pool);
}

static void one_that_dies_costs_its_configuration_only(void **state)
{
	struct fw_tune_object object;
	struct pool pool;

	(void)state;
	open_spec(&pool, SPEC "// fake * BX=32: crash 11\n"
			      "// fake * BX=32: say terminate called by\x01us\n");
	pool.options.workers = 1;
	open_pool(&pool);
	expect_failure(&pool, 0, FW_TUNE_COMPILE_FAILED,
		       "the compiler died: signal 11 (Segmentation fault): terminate called by us");
	object = compile(&pool, 1);
	assert_int_equal(object.result.status, FW_TUNE_OK);
	assert_int_equal(stats_of(&pool).workers_lost, 1);
	fw_tune_object_release(&object);
	close_pool(&pool);
}

static void one_that_takes_too_long_is_ended(void **state)
{
	struct fw_tune_object object;
	struct pool pool;

	(void)state;
	open_spec(&pool, SPEC "// fake * BX=32: hang 1\n");
	pool.options.limit_s = 0.2;
	open_pool(&pool);
	expect_failure(&pool, 0, FW_TUNE_COMPILE_FAILED, "longer than 0.2 s");
	pool.options.limit_s = 30;
	object = compile(&pool, 1);
	assert_int_equal(object.result.status, FW_TUNE_OK);
	fw_tune_object_release(&object);
	close_pool(&pool);
}

/* Three workers, ten configurations, of which some die: each comes back once. */
static void every_configuration_comes_back_once(void **state)
{
	struct fw_error err = { 0 };
	unsigned seen[5] = { 0 };
	struct pool pool;

	(void)state;
	open_spec(&pool, SPEC "// fake * BX=32: crash 9\n// fake * BX=96: ms 20\n");
	pool.options.workers = 3;
	open_pool(&pool);
	for (unsigned i = 0; i < 10; i++) {
		struct fw_tune_config config = { .value = { (uint16_t)(i % 5) } };

		assert_int_equal(fw_tune_compiler_submit(pool.compiler, &config, NULL, &err), 0);
	}
	for (unsigned i = 0; i < 10; i++) {
		struct fw_tune_object object;

		if (fw_tune_compiler_next(pool.compiler, &object, &err))
			fail_msg("%s", err.message);
		seen[object.result.config.value[0]]++;
		assert_int_equal(object.result.status == FW_TUNE_OK,
				 object.result.config.value[0] % 4 != 0);
		fw_tune_object_release(&object);
	}
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(seen[i], 2);
	assert_int_equal(stats_of(&pool).workers_lost, 2);
	assert_int_equal(fw_tune_compiler_next(pool.compiler, &(struct fw_tune_object){ 0 }, &err),
			 FW_ERR_ARGUMENT);
	close_pool(&pool);
}

static void large_objects_and_other_sizes_travel(void **state)
{
	static const int64_t sizes[] = { 777 };
	struct fw_tune_config config = { .value = { 1 } };
	struct fw_tune_object object;
	struct pool pool;

	(void)state;
	open_spec(&pool, SPEC "// fake * N=777: bytes 4000000\n"
			      "// fullwarp: reference kernel simple grid = 1 block = 1\n");
	open_pool(&pool);
	assert_int_equal(fw_tune_compiler_submit(pool.compiler, &config, sizes, NULL), FW_OK);
	assert_int_equal(fw_tune_compiler_next(pool.compiler, &object, NULL), FW_OK);
	assert_int_equal(object.result.status, FW_TUNE_OK);
	assert_true(object.cubin_bytes > 4000000);
	assert_string_equal(object.reference_name, "_Z6simple");
	fw_tune_object_release(&object);
	close_pool(&pool);
}

static void says_where_no_compiler_is(void **state)
{
	struct fw_error err = { 0 };
	struct pool pool;

	(void)state;
	open_spec(&pool, SPEC);
	pool.options.nvrtc_path = "/nonexistent/libnvrtc.so.13";
	assert_int_equal(fw_tune_compiler_open(&pool.spec, &pool.options, &pool.compiler, &err),
			 FW_ERR_UNSUPPORTED);
	assert_non_null(strstr(err.message, "/nonexistent/libnvrtc.so.13"));
	assert_null(pool.compiler);
	pool.options.cc = 33;
	assert_int_not_equal(fw_tune_compiler_open(&pool.spec, &pool.options, &pool.compiler, &err),
			     FW_OK);
	close_pool(&pool);
}

static char folder[] = "/tmp/fw-tune-XXXXXX";

/* The path of the one object in the folder. */
static char *only_object(char path[600])
{
	DIR *dir = opendir(folder);
	struct dirent *at;
	unsigned count = 0;

	assert_non_null(dir);
	while ((at = readdir(dir)))
		if (at->d_name[0] != '.') {
			snprintf(path, 600, "%s/%s", folder, at->d_name);
			count++;
		}
	closedir(dir);
	assert_int_equal(count, 1);
	return path;
}

static void compile_and_free(struct pool *pool, uint16_t value)
{
	struct fw_tune_object object = compile(pool, value);

	assert_int_equal(object.result.status, FW_TUNE_OK);
	assert_int_equal(object.result.registers, 40);
	assert_string_equal(object.lowered_name, "_Z5scale");
	fw_tune_object_release(&object);
}

static void keeps_objects_and_builds_damaged_ones_again(void **state)
{
	struct fw_tune_compile_stats stats;
	struct pool pool;
	char path[600];
	int fd;

	(void)state;
	assert_non_null(mkdtemp(folder));
	open_spec(&pool, SPEC "// fake scale: registers 40\n");
	pool.options.cache_dir = folder;
	open_pool(&pool);
	compile_and_free(&pool, 1);
	compile_and_free(&pool, 1);
	stats = stats_of(&pool);
	assert_int_equal(stats.compiled, 1);
	assert_int_equal(stats.from_cache, 1);
	/* One byte in the middle is another. */
	fd = open(only_object(path), O_RDWR);
	assert_int_equal(pwrite(fd, "!", 1, 200), 1);
	close(fd);
	compile_and_free(&pool, 1);
	/* Cut off. */
	assert_int_equal(truncate(path, 100), 0);
	compile_and_free(&pool, 1);
	compile_and_free(&pool, 1);
	stats = stats_of(&pool);
	assert_int_equal(stats.damaged, 2);
	assert_int_equal(stats.compiled, 3);
	assert_int_equal(stats.from_cache, 2);
	assert_non_null(strstr(stats.trouble, "damaged"));
	unlink(path);
	close_pool(&pool);
	rmdir(folder);
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* Removes a folder and the files in it. */
static void empty(const char *name)
{
	DIR *dir = opendir(name);
	struct dirent *at;

	assert_non_null(dir);
	while ((at = readdir(dir)))
		unlinkat(dirfd(dir), at->d_name, 0);
	closedir(dir);
	assert_int_equal(rmdir(name), 0);
}

/* A header that changed, or another version of the compiler: another object. */
static void an_object_of_an_older_header_is_not_used(void **state)
{
	char name[] = "/tmp/fw-tune-XXXXXX", header[64], source[64], cache[64];
	static const unsigned compiled[] = { 1, 0, 1, 1 };

	(void)state;
	assert_non_null(mkdtemp(name));
	snprintf(header, sizeof(header), "%s/a.h", name);
	snprintf(source, sizeof(source), "%s/k.cu", name);
	snprintf(cache, sizeof(cache), "%s/cache", name);
	write_text(source,
		   SPEC "#include <b.h>\n#  include \"a.h\"\n// fake scale: registers 40\n");
	write_text(header, "#include \"a.h\"\n");
	for (unsigned i = 0; i < 4; i++) {
		struct pool pool = { .options = { .cc = 90,
						  .workers = 1,
						  .cache_dir = cache,
						  .nvrtc_path = FW_FAKE_TUNE_NVRTC } };

		if (i == 2)
			write_text(header, "#include \"a.h\"\n// changed\n");
		if (i == 3)
			setenv("FW_FAKE_NVRTC_VERSION", "12.9", 1);
		assert_int_equal(fw_tune_spec_read(source, &pool.spec, NULL), FW_OK);
		open_pool(&pool);
		compile_and_free(&pool, 1);
		assert_int_equal(stats_of(&pool).compiled, compiled[i]);
		close_pool(&pool);
	}
	unsetenv("FW_FAKE_NVRTC_VERSION");
	empty(cache);
	empty(name);
}

/* A limit on the length of files stands for a full disk: the object is used all the same. */
static void a_full_disk_costs_the_cache_only(void **state)
{
	char name[] = "/tmp/fw-tune-XXXXXX";
	struct rlimit old, limit;
	struct pool pool;

	(void)state;
	assert_non_null(mkdtemp(name));
	open_spec(&pool, SPEC "// fake scale: registers 40\n");
	pool.options.cache_dir = name;
	pool.options.workers = 1;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = (struct rlimit){ 64, old.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	open_pool(&pool);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	compile_and_free(&pool, 0);
	assert_int_equal(stats_of(&pool).not_kept, 1);
	assert_non_null(strstr(stats_of(&pool).trouble, "File too large"));
	/* No half of one is left. */
	assert_int_equal(rmdir(name), 0);
	close_pool(&pool);
}

/* A parent that is killed while its workers compile leaves none of them. */
static void none_outlives_its_parent(void **state)
{
	struct fw_tune_config config = { .value = { 0 } };
	struct pool pool;
	pid_t parent;

	(void)state;
	open_spec(&pool, SPEC "// fake * BX=32: hang 1\n");
	parent = fork();
	if (parent == 0) {
		if (fw_tune_compiler_open(&pool.spec, &pool.options, &pool.compiler, NULL) ||
		    fw_tune_compiler_submit(pool.compiler, &config, NULL, NULL))
			_exit(1);
		pause();
	}
	kill_with_children(parent, 2);
	fw_tune_spec_free(&pool.spec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_the_code_takes),
		cmocka_unit_test(equal_code_has_equal_hash),
		cmocka_unit_test(names_the_limit_that_forbids_a_launch),
		cmocka_unit_test(too_many_registers_are_not_launched),
		cmocka_unit_test(one_that_dies_costs_its_configuration_only),
		cmocka_unit_test(one_that_takes_too_long_is_ended),
		cmocka_unit_test(every_configuration_comes_back_once),
		cmocka_unit_test(large_objects_and_other_sizes_travel),
		cmocka_unit_test(says_where_no_compiler_is),
		cmocka_unit_test(keeps_objects_and_builds_damaged_ones_again),
		cmocka_unit_test(an_object_of_an_older_header_is_not_used),
		cmocka_unit_test(a_full_disk_costs_the_cache_only),
		cmocka_unit_test(none_outlives_its_parent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
