/* The remedies one at a time, on a GPU that computes nothing: which switches each row has. The model's weights are zero. */
#include "serve/bench_steps.h"

#include "../fake/nn.h"
#include "../fake/nvjpeg.h"
#include "../pipeline/zero_model.h"

#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char model[64], data[72];
static struct fw_bench_images images = { .images = FW_VEC(struct fw_bench_image) };
static struct fake_nvjpeg_script *(*nvjpeg)(void);

static void *open_library(const char *folder, const char *name)
{
	char path[1024];
	void *handle;

	snprintf(path, sizeof(path), "%s%s", folder, name);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return handle;
}

static int set_up(void **state)
{
	const struct fw_bench_picture picture = { 48, 40, 1 };
	void *cuda = open_library(FW_FAKE_NN, "/libcuda.so.1"), *symbol;
	void (*read_by)(void (*)(void *, size_t));
	struct fw_error err;

	(void)state;
	open_library(FW_FAKE_NN, "/libcudnn_graph.so.9");
	open_library(FW_FAKE_NN, "/libcublasLt.so.13");
	symbol = dlsym(cuda, "fake_nn_read_by");
	memcpy(&read_by, &symbol, sizeof(symbol));
	read_by(read_right);
	symbol = dlsym(open_library("", FW_FAKE_NVJPEG), "fake_nvjpeg");
	memcpy(&nvjpeg, &symbol, sizeof(symbol));
	return make_zero_model("serve-steps", model, data) ||
	       fw_bench_images_draw(&images, &picture, 4, 1 << 20, &err) ||
	       fw_bench_images_shuffle(&images, 1, &err);
}

static int tear_down(void **state)
{
	(void)state;
	unlink(model);
	unlink(data);
	fw_bench_images_release(&images);
	return 0;
}

static struct fw_bench_job job_of(void)
{
	struct fw_bench_job job = { .images = &images, .seconds_ns = 30000000, .repeats = 1 };

	fw_pipeline_config_init(&job.config);
	job.config.model = model;
	job.config.max_batch = 1;
	job.config.top = TOP;
	job.config.autotune_s = 0;
	return job;
}

struct expected {
	const char *memory, *copy, *precision, *decoder;
	int fuse, graph;
};

/* What each row adds to the one before it, as docs/serve-bench.md says. */
static const struct expected rows[FW_BENCH_STEP_COUNT] = {
	[FW_BENCH_STEP_BEFORE] = { "pageable", "blocking", "fp32", "cpu", 0, 0 },
	[FW_BENCH_STEP_WORKERS] = { "pageable", "blocking", "fp32", "cpu", 0, 0 },
	[FW_BENCH_STEP_PINNED] = { "pinned", "blocking", "fp32", "cpu", 0, 0 },
	[FW_BENCH_STEP_ASYNC] = { "pinned", "async", "fp32", "cpu", 0, 0 },
	[FW_BENCH_STEP_STREAMS] = { "pinned", "async", "fp32", "cpu", 0, 0 },
	[FW_BENCH_STEP_FUSED] = { "pinned", "async", "fp32", "cpu", 1, 0 },
	[FW_BENCH_STEP_GRAPH] = { "pinned", "async", "fp32", "cpu", 1, 1 },
	[FW_BENCH_STEP_HALF] = { "pinned", "async", "fp16", "cpu", 1, 1 },
	[FW_BENCH_STEP_NVJPEG] = { "pinned", "async", "fp16", "auto", 1, 1 },
};

static void check_row(const struct fw_bench_step_row *row, const struct expected *want)
{
	const struct fw_pipeline_stats *stats = &row->result.stats;

	if (!row->is_measured)
		fail_msg("%s", row->why.message);
	assert_string_equal(stats->engine, "cudnn");
	assert_string_equal(stats->memory, want->memory);
	assert_string_equal(stats->copy, want->copy);
	assert_string_equal(stats->precision, want->precision);
	assert_string_equal(stats->decoder, want->decoder);
	assert_int_equal(row->result.config.fuse, want->fuse);
	assert_int_equal(row->result.config.graph, want->graph);
	assert_int_equal(row->result.n_runs, 1);
	assert_true(row->result.runs[0]->sum.classified > 0);
	assert_int_equal(row->result.runs[0]->sum.failed, 0);
}

static void each_row_adds_one_remedy(void **state)
{
	const struct fw_bench_job job = job_of();
	struct fw_bench_page page = { .job = &job, .images = &images };
	struct fw_bench_steps_result steps;
	struct fw_str text = { 0 };
	struct fw_error err = { 0 };

	(void)state;
	if (fw_bench_steps_run(&job, &steps, &err))
		fail_msg("%s", err.message);
	assert_int_equal(steps.n_rows, FW_BENCH_STEP_COUNT);
	for (int i = 0; i < FW_BENCH_STEP_COUNT; i++) {
		check_row(&steps.rows[i], &rows[i]);
		assert_int_equal(isnan(steps.rows[i].gain), i == 0);
	}
	assert_int_equal(steps.rows[FW_BENCH_STEP_BEFORE].result.stats.workers, 1);
	assert_int_equal(steps.rows[FW_BENCH_STEP_BEFORE].result.stats.decode_threads, 1);
	assert_int_equal(steps.rows[FW_BENCH_STEP_ASYNC].result.stats.workers, 1);
	assert_true(steps.rows[FW_BENCH_STEP_PINNED].result.stats.pinned_bytes >
		    steps.rows[FW_BENCH_STEP_WORKERS].result.stats.pinned_bytes);
	fw_bench_steps_text(&text, &page, &steps);
	assert_non_null(strstr(fw_str_text(&text), "all that were turned on: x"));
	assert_null(strstr(fw_str_text(&text), "left out"));
	fw_str_release(&text);
	fw_bench_steps_release(&steps);
}

static void a_remedy_that_is_not_here_is_left_out(void **state)
{
	struct fw_bench_job job = job_of();
	struct fw_bench_steps_result steps;
	struct fw_error err = { 0 };
	const struct fw_bench_step_row *row = &steps.rows[FW_BENCH_STEP_NVJPEG];

	(void)state;
	nvjpeg()->lacks_hardware = 1;
	if (fw_bench_steps_run(&job, &steps, &err))
		fail_msg("%s", err.message);
	nvjpeg()->lacks_hardware = 0;
	assert_false(row->is_measured || row->has_failed);
	assert_non_null(strstr(row->why.message, "no nvJPEG"));
	assert_true(steps.rows[FW_BENCH_STEP_HALF].is_measured);
	fw_bench_steps_release(&steps);
}

int main(void)
{
#ifdef FW_FAKE_NVJPEG
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_row_adds_one_remedy),
		cmocka_unit_test(a_remedy_that_is_not_here_is_left_out),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
#else
	return 77;
#endif
}
