/* The small parts of the injected library: options, the pool of buffers, names of calls, the control file. */
#include "gpu/cupti_find.h"
#include "inject/calls.h"
#include "inject/control.h"
#include "inject/options.h"
#include "inject/pool.h"
#include "trace/recording.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void options_as_written(void **state)
{
	struct fw_inject_options o;

	(void)state;
	fw_inject_options_parse(&o, "/tmp/x",
				"graphs=node;kernels=a%7Cb%3b[c];max_bytes=123;range=cuda-profiler;"
				"inject_without=module,sync;inject_flush_ms=7");
	assert_string_equal(o.dir, "/tmp/x");
	assert_true(o.graph_nodes && o.is_ranged);
	assert_string_equal(o.kernels, "a|b;[c]");
	assert_int_equal(o.max_bytes, 123);
	assert_int_equal(o.flush_ms, 7);
	assert_true(fw_inject_is_without(&o, "module") && fw_inject_is_without(&o, "sync"));
	assert_false(fw_inject_is_without(&o, "mod") || fw_inject_is_without(&o, "kernel"));
}

static void options_that_are_nonsense(void **state)
{
	struct fw_inject_options plain, o;
	char text[3000];

	(void)state;
	fw_inject_options_parse(&plain, "relative", NULL);
	assert_string_equal(plain.dir, "");
	fw_inject_options_parse(&o, NULL,
				";;=;x;graphs=maybe;max_bytes=12x;max_bytes=99999999999999999999;"
				"kernels=a%00b;unknown=1;inject_buffers=;=y");
	assert_memory_equal(&o, &plain, sizeof(o));
	snprintf(text, sizeof(text), "kernels=%02500d;range=cuda-profiler", 1);
	fw_inject_options_parse(&o, "/", text);
	assert_string_equal(o.kernels, "");
	assert_true(o.is_ranged);
	fw_inject_options_parse(&o, "/", "inject_buffers=1000000;inject_buffer_bytes=1");
	assert_int_equal(o.buffers, 256);
	assert_true(o.buffer_bytes_min <= o.buffer_bytes);
}

static void calls_as_programs_name_them(void **state)
{
	static const char *const pairs[][2] = {
		{ "cudaLaunchKernel_v7000", "cudaLaunchKernel" },
		{ "cudaMemcpyAsync_ptsz_v7000", "cudaMemcpyAsync" },
		{ "cuMemcpyHtoD_v2_ptds", "cuMemcpyHtoD" },
		{ "cuCtxSynchronize_v2", "cuCtxSynchronize" },
		{ "cuLaunchKernelEx", "cuLaunchKernelEx" },
		{ "cuMemcpy3D", "cuMemcpy3D" },
		{ "cuMemsetD2D8", "cuMemsetD2D8" },
		{ "_v1", "_v1" },
		{ "", "" },
	};
	char plain[FW_CALLS_NAME_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		fw_calls_plain_name(pairs[i][0], plain);
		assert_string_equal(plain, pairs[i][1]);
	}
}

/* Each number once in a domain, in range, and names that fit. */
static void calls_are_a_sound_table(void **state)
{
	const struct fw_call_api *api;
	size_t count = 0;

	(void)state;
	for (; (api = fw_calls_at(count)); count++) {
		assert_true(api->cbid < FW_CALLS_CBIDS);
		assert_true(strlen(api->name) < FW_CALLS_NAME_BYTES);
		assert_ptr_equal(fw_calls_find(api->is_driver, api->cbid), api);
	}
	assert_true(count > 100);
	assert_null(fw_calls_find(false, 17)); /* cudaSetDevice */
}

static void pool_gives_and_takes(void **state)
{
	uint8_t *buffers[8], own[16];
	size_t bytes = 0, valid = 0;

	(void)state;
	assert_true(fw_pool_open(8, 4096));
	fw_pool_offer(1024);
	for (int i = 0; i < 8; i++) {
		buffers[i] = fw_pool_take(&bytes);
		assert_non_null(buffers[i]);
		assert_int_equal(bytes, 1024);
	}
	assert_null(fw_pool_take(&bytes));
	assert_int_equal(bytes, 0);
	assert_int_equal(fw_pool_take_refused(), 1);
	assert_int_equal(fw_pool_take_refused(), 0);
	assert_int_equal(fw_pool_out(), 8);
	assert_null(fw_pool_next(&valid));
	assert_false(fw_pool_give(own, 16));
	assert_false(fw_pool_give(NULL, 0));
	/* In the order in which they come back, whatever their place; no more valid bytes than there are. */
	assert_true(fw_pool_give(buffers[5], 10));
	assert_true(fw_pool_give(buffers[2], 1u << 30));
	assert_false(fw_pool_give(buffers[5], 10));
	assert_ptr_equal(fw_pool_next(&valid), buffers[5]);
	assert_int_equal(valid, 10);
	assert_ptr_equal(fw_pool_next(&valid), buffers[2]);
	assert_int_equal(valid, 4096);
	assert_null(fw_pool_take(&bytes));
	fw_pool_release(buffers[5]);
	assert_ptr_equal(fw_pool_take(&bytes), buffers[5]);
	/* After a fork. */
	assert_true(fw_pool_open(8, 4096));
	assert_int_equal(fw_pool_out(), 0);
}

static _Atomic bool is_over;

static void *fill(void *arg)
{
	uint64_t *given = arg;

	while (!atomic_load(&is_over)) {
		size_t bytes = 0;
		uint8_t *buffer = fw_pool_take(&bytes);

		if (!buffer)
			continue;
		memset(buffer, (int)(*given & 0x7f), 64);
		assert_true(fw_pool_give(buffer, 64));
		(*given)++;
	}
	return NULL;
}

static void pool_with_threads(void **state)
{
	uint64_t given[3] = { 0 }, emptied = 0;
	pthread_t threads[3];
	size_t valid;
	uint8_t *buffer;

	(void)state;
	assert_true(fw_pool_open(8, 4096));
	for (int t = 0; t < 3; t++)
		assert_int_equal(pthread_create(&threads[t], NULL, fill, &given[t]), 0);
	while (emptied < 20000) {
		buffer = fw_pool_next(&valid);
		if (!buffer)
			continue;
		assert_int_equal(buffer[0], buffer[63]);
		fw_pool_release(buffer);
		emptied++;
	}
	atomic_store(&is_over, true);
	for (int t = 0; t < 3; t++)
		pthread_join(threads[t], NULL);
	while ((buffer = fw_pool_next(&valid))) {
		fw_pool_release(buffer);
		emptied++;
	}
	assert_int_equal(emptied, given[0] + given[1] + given[2]);
}

static void write_words(const char *dir, const char *name, const uint32_t *words, size_t bytes)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, words, bytes), bytes);
	close(fd);
}

static void control_and_yield(void **state)
{
	char dir[] = "/tmp/fullwarp-control-XXXXXX", path[128];
	uint32_t control_words[3] = { FW_REC_CONTROL_MAGIC, FW_REC_VERSION, FW_REC_WANT_PAUSE };
	uint32_t yield_words[2] = { 0, 0 };
	struct fw_control control;
	int64_t now = 1;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	fw_control_open(&control, dir, 42);
	assert_int_equal(fw_control_wanted(&control, now), FW_REC_WANT_RECORD); /* no recorder */
	assert_false(fw_control_is_asked(&control, now));
	write_words(dir, "control", control_words, 12);
	assert_int_equal(fw_control_wanted(&control, ++now), FW_REC_WANT_RECORD); /* too soon */
	now += 300000000;
	assert_int_equal(fw_control_wanted(&control, now), FW_REC_WANT_PAUSE);
	control_words[2] = 17;
	write_words(dir, "control", control_words, 12);
	assert_int_equal(fw_control_wanted(&control, now), FW_REC_WANT_RECORD);
	write_words(dir, "control", control_words, 5);
	assert_int_equal(fw_control_wanted(&control, now), FW_REC_WANT_RECORD);
	/* The program has closed it: it is opened again, above the low numbers. */
	control_words[2] = FW_REC_WANT_STOP;
	write_words(dir, "control", control_words, 12);
	close(control.control.fd);
	now += 300000000;
	assert_int_equal(fw_control_wanted(&control, now), FW_REC_WANT_STOP);
	assert_true(control.control.fd >= 300);

	write_words(dir, "yield-42", yield_words, 8);
	assert_false(fw_control_is_asked(&control, now += 300000000));
	yield_words[0] = 1;
	write_words(dir, "yield-42", yield_words, 8);
	assert_true(fw_control_is_asked(&control, ++now));
	fw_control_grant(&control, true);
	snprintf(path, sizeof(path), "%s/yield-42", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, yield_words, 8), 8);
	close(fd);
	assert_int_equal(yield_words[0], 1);
	assert_int_equal(yield_words[1], 1);
	unlink(path);
	snprintf(path, sizeof(path), "%s/control", dir);
	unlink(path);
	rmdir(dir);
	close(control.control.fd);
	close(control.yield.fd);
}

/* Position of a library among those that are tried; -1: not among them. */
static int place_of(const struct fw_cupti_places *places, const char *library)
{
	char candidate[FW_CUPTI_PATH_BYTES];

	for (unsigned i = 0; fw_cupti_candidate(places, i, candidate); i++)
		if (!strcmp(candidate, library))
			return (int)i;
	return -1;
}

#define SITE "/venv/lib/python3.12/site-packages"

static void cupti_of_the_program_comes_first(void **state)
{
	struct fw_cupti_places places = { .loaded = "" };

	(void)state;
	/* A C program: the loader, then the toolkit, new before old. */
	assert_true(place_of(&places, "libcupti.so.13") > 0);
	assert_true(place_of(&places, "libcupti.so.13") <
		    place_of(&places, "/usr/local/cuda/lib64/libcupti.so.13"));
	assert_true(place_of(&places, "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13") <
		    place_of(&places, "libcupti.so.12"));
	/* PyTorch for CUDA 12, its CUPTI not loaded yet: the wheel's, not the toolkit's of CUDA 13. */
	fw_cupti_look_at(&places, "/usr/bin/python3");
	fw_cupti_look_at(&places, SITE "/torch/lib/libtorch_cuda.so");
	fw_cupti_look_at(&places, SITE "/nvidia/cuda_runtime/lib/libcudart.so.12");
	assert_int_equal(places.major, 12);
	assert_true(place_of(&places,
			     SITE "/nvidia/cuda_runtime/lib/../../cuda_cupti/lib/libcupti.so.12") <
		    place_of(&places, "libcupti.so.12"));
	assert_true(place_of(&places, SITE "/nvidia/cuda_cupti/lib/libcupti.so.12") <
		    place_of(&places, "libcupti.so.13"));
	/* Loaded: that one before all. */
	fw_cupti_look_at(&places, SITE "/nvidia/cuda_cupti/lib/libcupti.so.12");
	assert_int_equal(place_of(&places, SITE "/nvidia/cuda_cupti/lib/libcupti.so.12"), 0);
}

static void cupti_of_cuda_13_wheels(void **state)
{
	struct fw_cupti_places places = { .loaded = "" };
	char long_path[2 * FW_CUPTI_PATH_BYTES];

	(void)state;
	fw_cupti_look_at(&places, SITE "/nvidia/cu13/lib/libcudart.so.13");
	assert_true(place_of(&places, SITE "/nvidia/cu13/lib/libcupti.so.13") > 0);
	assert_true(place_of(&places, SITE "/nvidia/cu13/lib/libcupti.so.13") <
		    place_of(&places, "libcupti.so.13"));
	assert_int_equal(places.major, 13);
	/* A path too long to be kept is not cut. */
	memset(long_path, 'x', sizeof(long_path));
	memcpy(long_path, "/", 1);
	snprintf(long_path + sizeof(long_path) - 40, 40, "/libcupti.so.13");
	fw_cupti_look_at(&places, long_path);
	assert_string_equal(places.loaded, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_as_written),
		cmocka_unit_test(options_that_are_nonsense),
		cmocka_unit_test(calls_as_programs_name_them),
		cmocka_unit_test(calls_are_a_sound_table),
		cmocka_unit_test(pool_gives_and_takes),
		cmocka_unit_test(pool_with_threads),
		cmocka_unit_test(control_and_yield),
		cmocka_unit_test(cupti_of_the_program_comes_first),
		cmocka_unit_test(cupti_of_cuda_13_wheels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
