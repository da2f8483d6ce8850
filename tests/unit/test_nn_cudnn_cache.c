/* Stored engine choices: what is written is read, and nothing else is. */
#include "nn/cudnn_cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#define HEAD "fullwarp engine choices 1\nGPU\n"

static fw_status parse(const char *body, struct fw_nn_cache *cache)
{
	char text[4096];
	struct fw_error err;
	int length = snprintf(text, sizeof(text), "%send %08lx\n", body,
			      crc32(0, (const unsigned char *)body, (unsigned)strlen(body)));

	return fw_nn_cache_parse(text, (size_t)length, "GPU", cache, &err);
}

static void reads_both_kinds(void **state)
{
	struct fw_nn_cache cache;
	const struct fw_nn_cache_entry *entry;

	(void)state;
	assert_int_equal(parse(HEAD
			       "a 1.5 cudnn 41 1024 12=3 13=-1\nb 2 cublaslt 16 1 2 3 4 5 6 7 ff\n",
			       &cache),
			 FW_OK);
	assert_int_equal(cache.n, 2);
	entry = fw_nn_cache_find(&cache, "a");
	assert_non_null(entry);
	assert_false(entry->is_gemm);
	assert_int_equal(entry->config.engine, 41);
	assert_int_equal(entry->config.n_knobs, 2);
	assert_int_equal(entry->config.knobs[1].type, 13);
	assert_int_equal(entry->config.knobs[1].value, -1);
	entry = fw_nn_cache_find(&cache, "b");
	assert_non_null(entry);
	assert_true(entry->is_gemm);
	assert_int_equal(entry->algo.data[7], 255);
	assert_null(fw_nn_cache_find(&cache, "c"));
	fw_nn_cache_release(&cache);
}

static void rejects_what_is_not_a_choice(void **state)
{
	static const char *const bodies[] = {
		"",
		"fullwarp engine choices 2\nGPU\n",
		HEAD "a\n",
		HEAD "a x cudnn 41 0\n",
		HEAD "a nan cudnn 41 0\n",
		HEAD "a -1 cudnn 41 0\n",
		HEAD "a 1 cudnn -41 0\n",
		HEAD "a 1 cudnn 41 99999999999999999999999\n",
		HEAD "a 1 cudnn 41 0 12\n",
		HEAD "a 1 cublaslt 0 1 2 3 4 5 6 7\n",
		HEAD "a 1 cublaslt 0 1 2 3 4 5 6 7 8 9\n",
		HEAD "a 1 cublaslt 999999999999 1 2 3 4 5 6 7 8\n",
		HEAD "\n",
	};
	struct fw_nn_cache cache;

	(void)state;
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
		if (parse(bodies[i], &cache) != FW_ERR_FORMAT)
			fail_msg("%s was read", bodies[i]);
}

static void rejects_damage_and_other_settings(void **state)
{
	static const char body[] = HEAD "a 1 cudnn 41 0\n";
	char text[256];
	struct fw_nn_cache cache;
	size_t length =
		(size_t)snprintf(text, sizeof(text), "%send %08lx\n", body,
				 crc32(0, (const unsigned char *)body, (unsigned)strlen(body)));

	(void)state;
	assert_int_equal(fw_nn_cache_parse(text, length, "another GPU", &cache, NULL),
			 FW_ERR_UNSUPPORTED);
	for (size_t i = 0; i < length; i++) {
		text[i] ^= 1;
		assert_int_not_equal(fw_nn_cache_parse(text, length, "GPU", &cache, NULL), FW_OK);
		text[i] ^= 1;
		assert_int_not_equal(fw_nn_cache_parse(text, i, "GPU", &cache, NULL), FW_OK);
	}
	assert_int_equal(fw_nn_cache_parse(text, length, "GPU", &cache, NULL), FW_OK);
	fw_nn_cache_release(&cache);
}

static void count(void *user, const char *text)
{
	(void)text;
	++*(int *)user;
}

/* Written, read, damaged, written again. */
static void a_file_comes_back(void **state)
{
	char folder[] = "/tmp/fw-nn-cache-XXXXXX", path[512];
	int said = 0;
	struct fw_nn_gpu gpu = { .say = count, .user = &said };
	struct fw_nn_choice choice = { .key = "conv", .us = 2.5f, .workspace_bytes = 64 };
	struct fw_nn_choice unmeasured = { .key = "other", .us = -1 };
	const struct fw_nn_choice *const choices[] = { &choice, &unmeasured };
	struct fw_nn_cache cache;
	FILE *file, *list;

	(void)state;
	assert_non_null(mkdtemp(folder));
	gpu.cache_dir = folder;
	choice.config.engine = 7;
	choice.config.n_knobs = 1;
	choice.config.knobs[0].type = 3;
	choice.config.knobs[0].value = 9;
	fw_nn_cache_load(&gpu, "GPU", &cache);
	assert_int_equal(cache.n, 0);
	fw_nn_cache_save(&gpu, "GPU", choices, 2);
	fw_nn_cache_load(&gpu, "GPU", &cache);
	assert_int_equal(cache.n, 1);
	assert_int_equal(cache.entries[0].config.knobs[0].value, 9);
	fw_nn_cache_release(&cache);
	assert_int_equal(said, 0);
	snprintf(path, sizeof(path), "ls %s", folder);
	list = popen(path, "r");
	assert_non_null(list);
	assert_non_null(fgets(path, 200, list));
	path[strcspn(path, "\n")] = 0;
	pclose(list);
	memmove(path + strlen(folder) + 1, path, strlen(path) + 1);
	memcpy(path, folder, strlen(folder));
	path[strlen(folder)] = '/';
	file = fopen(path, "r+");
	assert_non_null(file);
	fputc('X', file);
	fclose(file);
	fw_nn_cache_load(&gpu, "GPU", &cache);
	assert_int_equal(cache.n, 0);
	assert_int_equal(said, 1);
	unlink(path);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_both_kinds),
		cmocka_unit_test(rejects_what_is_not_a_choice),
		cmocka_unit_test(rejects_damage_and_other_settings),
		cmocka_unit_test(a_file_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
