/*
 * The pipeline on a GPU that computes nothing: the order of copies, events and launches, what a failure does, what is given
 * back. The model's weights are zero, so that the right scores are known: zero, and the classes in the order of their ids.
 */
#include "fullwarp/pipeline.h"

#include "../fake/nn.h"
#include "../fake/nvjpeg.h"
#include "../pipeline/made_jpeg.h"
#include "../pipeline/zero_model.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jpeglib.h>

static char model[64], data[72];
static unsigned char *jpeg;
static unsigned long jpeg_bytes;

static struct {
	void (*make_fail)(const char *call, int after, int result);
	const struct fake_nn_counts *(*counts)(void);
	void (*read_by)(void (*fill)(void *memory, size_t bytes));
	const struct fake_nn_call *(*calls)(int *n);
	void (*forget)(void);
	size_t (*pinned)(void);
	struct fake_nvjpeg_script *(*nvjpeg)(void);
} fake;

static void *open_path(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return handle;
}

static void *open_library(const char *name)
{
	char path[1024];

	snprintf(path, sizeof(path), "%s/%s", FW_FAKE_NN, name);
	return open_path(path);
}

#define FIND(handle, field, name)                                                                  \
	do {                                                                                       \
		void *symbol = dlsym(handle, name);                                                \
                                                                                                   \
		memcpy(&fake.field, &symbol, sizeof(symbol));                                      \
	} while (0)

static void make_jpeg(void)
{
	struct jpeg_compress_struct c;
	struct jpeg_error_mgr errors;
	unsigned char row[3 * 48];
	JSAMPROW rows[1] = { row };

	c.err = jpeg_std_error(&errors);
	jpeg_create_compress(&c);
	jpeg_mem_dest(&c, &jpeg, &jpeg_bytes);
	c.image_width = 48;
	c.image_height = 40;
	c.input_components = 3;
	c.in_color_space = JCS_RGB;
	jpeg_set_defaults(&c);
	jpeg_start_compress(&c, TRUE);
	for (int y = 0; y < 40; y++) {
		for (int i = 0; i < 3 * 48; i++)
			row[i] = (unsigned char)(i + 4 * y);
		jpeg_write_scanlines(&c, rows, 1);
	}
	jpeg_finish_compress(&c);
	jpeg_destroy_compress(&c);
}

static int set_up(void **state)
{
	void *cuda = open_library("libcuda.so.1");

	(void)state;
	open_library("libcudnn_graph.so.9");
	open_library("libcublasLt.so.13");
	FIND(cuda, make_fail, "fake_nn_fail");
	FIND(cuda, counts, "fake_nn_counts");
	FIND(cuda, read_by, "fake_nn_read_by");
	FIND(cuda, calls, "fake_nn_calls");
	FIND(cuda, forget, "fake_nn_forget");
	FIND(cuda, pinned, "fake_nn_pinned");
	FIND(open_path(FW_FAKE_NVJPEG), nvjpeg, "fake_nvjpeg");
	make_jpeg();
	return make_zero_model("pipeline-gpu", model, data);
}

static int tear_down(void **state)
{
	(void)state;
	unlink(model);
	unlink(data);
	free(jpeg);
	return 0;
}

/* The same, but the second class of the first image. */
static void read_wrong_class(void *memory, size_t bytes)
{
	uint32_t wrong = 7;

	read_right(memory, bytes);
	if (bytes % (TOP * ANSWER_BYTES) == 0)
		memcpy((char *)memory + ANSWER_BYTES, &wrong, sizeof(wrong));
}

/* Not the single number that is read of an engine's first run. */
static bool are_scores(size_t bytes)
{
	return bytes % (TOP * ANSWER_BYTES) && bytes > sizeof(float);
}

static void read_wrong_score(void *memory, size_t bytes)
{
	float wrong = 0.25f;

	read_right(memory, bytes);
	if (are_scores(bytes))
		memcpy((char *)memory + bytes - sizeof(wrong), &wrong, sizeof(wrong));
}

static void read_no_number(void *memory, size_t bytes)
{
	read_right(memory, bytes);
	if (are_scores(bytes))
		memset((char *)memory + bytes - 4, 0xff, 4);
}

static struct fw_pipeline_config config_of(void)
{
	struct fw_pipeline_config config;

	fw_pipeline_config_init(&config);
	config.model = model;
	config.max_batch = 4;
	config.workers = 1;
	config.decode_threads = 1;
	config.top = TOP;
	config.autotune_s = 0;
	return config;
}

static struct fw_pipeline *create(const struct fw_pipeline_config *config)
{
	struct fw_pipeline *pipeline = NULL;
	struct fw_error err = { .code = FW_OK };

	fake.read_by(read_right);
	if (fw_pipeline_create(config, &pipeline, &err))
		fail_msg("%s", err.message);
	return pipeline;
}

static fw_status create_fails(const struct fw_pipeline_config *config, const char *text)
{
	struct fw_pipeline *pipeline = NULL;
	struct fw_error err = { .code = FW_OK };
	fw_status status = fw_pipeline_create(config, &pipeline, &err);

	assert_null(pipeline);
	if (!strstr(err.message, text))
		fail_msg("'%s' does not say '%s'", err.message, text);
	assert_int_equal(fake.pinned(), 0);
	return status;
}

struct ask {
	int calls;
	enum fw_pipeline_outcome outcome;
	uint32_t ids[TOP];
	float probabilities[TOP];
	char message[256];
};

static void on_answer(void *user, const struct fw_pipeline_answer *answer)
{
	struct ask *ask = user;

	ask->calls++;
	ask->outcome = answer->outcome;
	for (uint32_t i = 0; i < answer->count; i++) {
		ask->ids[i] = answer->ids[i];
		ask->probabilities[i] = answer->probabilities[i];
	}
	if (answer->error)
		snprintf(ask->message, sizeof(ask->message), "%.255s", answer->error->message);
}

static void submit(struct fw_pipeline *pipeline, struct ask *ask)
{
	struct fw_pipeline_request request;

	fw_pipeline_request_init(&request);
	request.bytes = jpeg;
	request.size = jpeg_bytes;
	request.callback = on_answer;
	request.user = ask;
	assert_int_equal(fw_pipeline_submit(pipeline, &request, NULL), FW_OK);
}

static struct ask classify(struct fw_pipeline *pipeline)
{
	struct ask ask = { .calls = 0 };

	submit(pipeline, &ask);
	assert_true(fw_pipeline_wait(pipeline, -1));
	assert_int_equal(ask.calls, 1);
	return ask;
}

static void check_right(const struct ask *ask)
{
	assert_string_equal(ask->message, "");
	assert_int_equal(ask->outcome, FW_PIPELINE_CLASSIFIED);
	for (uint32_t i = 0; i < TOP; i++) {
		assert_int_equal(ask->ids[i], i);
		assert_true(ask->probabilities[i] == 1.0f / CLASSES);
	}
}

static struct fw_pipeline_stats stats_of(struct fw_pipeline *pipeline)
{
	struct fw_pipeline_stats stats;

	fw_pipeline_stats_init(&stats);
	assert_int_equal(fw_pipeline_get_stats(pipeline, &stats, NULL), FW_OK);
	return stats;
}

static void note_line(void *user, const char *text)
{
	char *all = user;
	size_t len = strlen(all);

	snprintf(all + len, 2048 - len, "%s\n", text);
}

static void takes_the_gpu_and_says_so(void **state)
{
	struct fw_pipeline_config config = config_of();
	char said[2048] = "", explained[2048] = "";
	struct fw_pipeline *pipeline;
	struct fw_pipeline_stats stats;
	struct ask ask;

	(void)state;
	config.say = note_line;
	config.say_user = said;
	config.workers = 0;
	pipeline = create(&config);
	assert_non_null(strstr(said, "Fake GPU"));
	ask = classify(pipeline);
	check_right(&ask);
	stats = stats_of(pipeline);
	assert_string_equal(stats.engine, "cudnn");
	assert_string_equal(stats.gpu, "Fake GPU");
	assert_string_equal(stats.precision, "fp16");
	assert_string_equal(stats.memory, "pinned");
	assert_string_equal(stats.copy, "async");
	assert_int_equal(stats.engine_failed, 0);
	assert_true(stats.workers >= 1 && stats.workers <= 3);
	/* Cells, and for each worker 4 descriptions and 4 x 3 answers. */
	assert_int_equal(stats.pinned_bytes, fake.pinned());
	assert_true(stats.pinned_bytes > stats.cell_bytes);
	assert_true(stats.device_bytes > stats.workers * 4 * (4u << 20));
	assert_int_equal(stats.copies, 2);
	fw_pipeline_explain(pipeline, note_line, explained, NULL);
	assert_non_null(strstr(explained, "engine cudnn on Fake GPU, fp16, batches of up to 4"));
	assert_non_null(strstr(explained, "the fewest within 3 %"));
	assert_non_null(strstr(explained, "decoding threads: 1"));
	fw_pipeline_destroy(pipeline);
	assert_int_equal(fake.pinned(), 0);
}

static void refuse_name(const struct fake_nn_call *call, const char *name)
{
	if (strcmp(call->name, name))
		fail_msg("%s is called, not %s", call->name, name);
}

/* The image, its description, the event that says so, and only then the graph; what comes back is read after the wait. */
static void one_batch_is_seven_calls(void **state)
{
	const struct fw_pipeline_config config = config_of();
	struct fw_pipeline *pipeline = create(&config);
	const struct fake_nn_call *calls;
	struct ask ask;
	int n;

	(void)state;
	fake.forget();
	ask = classify(pipeline);
	check_right(&ask);
	calls = fake.calls(&n);
	assert_int_equal(n, 7);
	refuse_name(&calls[0], "cuMemcpyHtoDAsync_v2");
	/* 48 x 40 in 4:2:0 of whole blocks: rows of 64 and of 32 bytes, 48 and 24 of them. */
	assert_true(calls[0].bytes >= 48 * 40 * 3 / 2 && calls[0].bytes <= 64 * 48 * 2);
	refuse_name(&calls[1], "cuMemcpyHtoDAsync_v2");
	assert_ptr_equal(calls[0].stream, calls[1].stream);
	refuse_name(&calls[2], "cuEventRecord");
	assert_ptr_equal(calls[2].stream, calls[0].stream);
	refuse_name(&calls[3], "cuStreamWaitEvent");
	assert_ptr_equal(calls[3].object, calls[2].object);
	assert_ptr_not_equal(calls[3].stream, calls[0].stream);
	refuse_name(&calls[4], "cuGraphLaunch");
	assert_ptr_equal(calls[4].stream, calls[3].stream);
	refuse_name(&calls[5], "cuEventRecord");
	assert_ptr_equal(calls[5].stream, calls[3].stream);
	assert_ptr_not_equal(calls[5].object, calls[2].object);
	refuse_name(&calls[6], "cuEventSynchronize");
	assert_ptr_equal(calls[6].object, calls[5].object);
	fw_pipeline_destroy(pipeline);
}

/* The same steps in a plain loop: copies that block, on the stream of all, and every operation launched. */
static void the_plain_loop_keeps_the_order(void **state)
{
	struct fw_pipeline_config config = config_of();
	struct fw_pipeline *pipeline;
	const struct fake_nn_call *calls;
	void *compute;
	struct ask ask;
	int n;

	(void)state;
	config.copy = "blocking";
	config.memory = "pageable";
	config.graph = config.fuse = 0;
	config.precision = "fp32";
	pipeline = create(&config);
	assert_true(fake.pinned() < 65536); /* descriptions and answers */
	fake.forget();
	ask = classify(pipeline);
	check_right(&ask);
	calls = fake.calls(&n);
	assert_true(n > 10);
	refuse_name(&calls[0], "cuMemcpyHtoD_v2");
	refuse_name(&calls[1], "cuMemcpyHtoD_v2");
	refuse_name(&calls[2], "cuEventRecord");
	assert_null(calls[2].stream);
	refuse_name(&calls[3], "cuStreamWaitEvent");
	assert_ptr_equal(calls[3].object, calls[2].object);
	compute = calls[3].stream;
	for (int i = 4; i < n - 3; i++)
		if (strcmp(calls[i].name, "cuEventRecord") &&
		    strcmp(calls[i].name, "cuStreamWaitEvent"))
			refuse_name(&calls[i], "cuLaunchKernel");
	refuse_name(&calls[n - 3], "cuMemcpyDtoHAsync_v2");
	assert_ptr_equal(calls[n - 3].stream, compute);
	assert_int_equal(calls[n - 3].bytes, TOP * ANSWER_BYTES);
	refuse_name(&calls[n - 2], "cuEventRecord");
	assert_ptr_equal(calls[n - 2].stream, compute);
	refuse_name(&calls[n - 1], "cuEventSynchronize");
	assert_ptr_equal(calls[n - 1].object, calls[n - 2].object);
	fw_pipeline_destroy(pipeline);
}

static void nothing_is_allocated_later(void **state)
{
	const struct fw_pipeline_config config = config_of();
	struct fw_pipeline *pipeline = create(&config);
	static struct ask asks[50];
	int allocations = fake.counts()->allocations, captures = fake.counts()->captures;
	size_t pinned = fake.pinned();

	(void)state;
	memset(asks, 0, sizeof(asks));
	for (int i = 0; i < 50; i++)
		submit(pipeline, &asks[i]);
	fw_pipeline_drain(pipeline);
	for (int i = 0; i < 50; i++)
		check_right(&asks[i]);
	assert_int_equal(fake.counts()->allocations, allocations);
	assert_int_equal(fake.counts()->captures, captures);
	assert_int_equal(fake.pinned(), pinned);
	fw_pipeline_destroy(pipeline);
}

static void wrong_results_are_no_service(void **state)
{
	const struct fw_pipeline_config config = config_of();

	(void)state;
	fake.read_by(read_wrong_class);
	assert_int_equal(create_fails(&config, "has class 7 at rank 1"), FW_ERR_INTERNAL);
	fake.read_by(read_wrong_score);
	assert_int_equal(create_fails(&config, "0.25 for class 255 on the GPU, but 0 is right"),
			 FW_ERR_INTERNAL);
	fake.read_by(read_no_number);
	assert_int_equal(create_fails(&config, "nan for class 255"), FW_ERR_INTERNAL);
}

static void says_how_to_do_without_page_locked_memory(void **state)
{
	struct fw_pipeline_config config = config_of();
	struct fw_pipeline *pipeline;
	struct ask ask;

	(void)state;
	fake.read_by(read_right);
	fake.make_fail("cuMemHostAlloc", 0, 2);
	assert_int_equal(create_fails(&config, "--memory pageable"), FW_ERR_NOMEM);
	fake.make_fail("cuMemHostAlloc", 3, 2); /* the cells */
	assert_int_equal(
		create_fails(&config, "decoded images: cuMemHostAlloc: CUDA_ERROR_OUT_OF_MEMORY"),
		FW_ERR_NOMEM);
	fake.make_fail("cuMemHostAlloc", 2, 2);
	config.memory = "pageable";
	pipeline = create(&config);
	assert_string_equal(stats_of(pipeline).memory, "pageable");
	ask = classify(pipeline);
	check_right(&ask);
	fw_pipeline_destroy(pipeline);
	fake.make_fail(NULL, 0, 0);
}

/* Each call that may fail while a batch is computed fails it, and all that come after it. */
static void a_failure_stays(void **state)
{
	static const char *const graph[] = { "cuCtxSetCurrent", "cuMemcpyHtoDAsync",
					     "cuEventRecord",   "cuStreamWaitEvent",
					     "cuGraphLaunch",   "cuEventSynchronize" };
	static const char *const loop[] = { "cuMemcpyHtoD", "cuLaunchKernel", "cuMemcpyDtoHAsync" };
	const char *said;

	(void)state;
	for (unsigned i = 0; i < 9; i++) {
		struct fw_pipeline_config config = config_of();
		const char *call = i < 6 ? graph[i] : loop[i - 6];
		struct fw_pipeline *pipeline;
		struct fw_pipeline_stats stats;
		struct ask ask;

		if (i >= 6) {
			config.copy = "blocking";
			config.graph = 0;
		}
		pipeline = create(&config);
		fake.make_fail(call, 0, 700);
		ask = classify(pipeline);
		assert_int_equal(ask.outcome, FW_PIPELINE_FAILED);
		said = strcmp(call, "cuLaunchKernel") ? call : "launching";
		if (!strstr(ask.message, said) || !strstr(ask.message, "ILLEGAL_ADDRESS"))
			fail_msg("'%s' does not name %s", ask.message, said);
		fake.make_fail(NULL, 0, 0);
		ask = classify(pipeline);
		assert_int_equal(ask.outcome, FW_PIPELINE_FAILED);
		assert_non_null(strstr(ask.message, "the GPU failed before"));
		stats = stats_of(pipeline);
		assert_int_equal(stats.engine_failed, 1);
		assert_non_null(strstr(stats.failure, said));
		fw_pipeline_destroy(pipeline);
		assert_int_equal(fake.pinned(), 0);
	}
}

/* A start that fails anywhere gives everything back: the address sanitizer sees the rest. */
static void a_start_that_fails_leaves_nothing(void **state)
{
	static const char *const calls[] = {
		"cuInit",
		"cuDevicePrimaryCtxRetain",
		"cuCtxSetCurrent",
		"cuModuleLoadData",
		"cuModuleGetFunction",
		"cuMemAlloc",
		"cuStreamCreate",
		"cuEventCreate",
		"cuMemHostAlloc",
		"cuMemsetD8Async",
		"cuLaunchKernel",
		"cuStreamSynchronize",
		"cuStreamBeginCapture",
		"cuStreamEndCapture",
		"cuGraphInstantiate",
		"cuGraphLaunch",
		"cuMemcpyHtoDAsync",
		"cuMemcpyDtoHAsync",
		"cuEventRecord",
		"cuStreamWaitEvent",
		"cuEventSynchronize",
		"cuEventQuery",
	};
	struct fw_pipeline_config config = config_of();
	int failed = 0;

	(void)state;
	config.engine = "cudnn";
	for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		for (int after = 0; after < 12; after = 6 * after + 5) {
			struct fw_pipeline *pipeline = NULL;
			struct fw_error err = { .code = FW_OK };

			fake.read_by(read_right);
			fake.make_fail(calls[i], after, 700);
			if (!fw_pipeline_create(&config, &pipeline, &err)) {
				fake.make_fail(NULL, 0, 0);
				fw_pipeline_destroy(pipeline);
				assert_true(after > 0);
				continue;
			}
			fake.make_fail(NULL, 0, 0);
			failed++;
			assert_null(pipeline);
			assert_true(err.message[0]);
			assert_int_equal(fake.pinned(), 0);
		}
	assert_true(failed > 25);
}

/* Four JPEGs of 100 to 103 pixels and a small one, as the lane of nvJPEG takes them and does not. */
static struct fw_pipeline_stats classify_jpegs(const char *decoder, uint32_t workers,
					       struct ask asks[5])
{
	struct fw_pipeline_config config = config_of();
	struct fw_pipeline *pipeline;
	struct fw_pipeline_stats stats;
	uint8_t *bytes[4];

	config.decoder = decoder;
	config.workers = workers;
	fake.nvjpeg()->writes_nothing = 1;
	pipeline = create(&config);
	for (uint32_t i = 0; i < 5; i++) {
		const struct made_jpeg wish = {
			.width = 100 + i, .height = 70, .h = 2, .v = 2, .quality = 90
		};
		struct fw_pipeline_request request;

		asks[i] = (struct ask){ .calls = 0 };
		fw_pipeline_request_init(&request);
		request.bytes = jpeg;
		request.size = jpeg_bytes;
		if (i < 4)
			request.bytes = bytes[i] = made_jpeg_write(&wish, &request.size);
		request.callback = on_answer;
		request.user = &asks[i];
		assert_int_equal(fw_pipeline_submit(pipeline, &request, NULL), FW_OK);
	}
	assert_true(fw_pipeline_wait(pipeline, -1));
	stats = stats_of(pipeline);
	fw_pipeline_destroy(pipeline);
	for (uint32_t i = 0; i < 4; i++)
		free(bytes[i]);
	*fake.nvjpeg() = (struct fake_nvjpeg_script){ 0 };
	assert_int_equal(fake.pinned(), 0);
	return stats;
}

static void nvjpeg_decodes_what_it_takes(void **state)
{
	struct fw_pipeline_stats stats;
	struct ask asks[5];

	(void)state;
	stats = classify_jpegs("nvjpeg", 0, asks);
	for (uint32_t i = 0; i < 5; i++)
		check_right(&asks[i]);
	assert_string_equal(stats.decoder, "nvjpeg");
	assert_int_equal(stats.nvjpeg_decoded, 4);
	assert_int_equal(stats.nvjpeg_returned, 0);
	assert_int_equal(stats.workers, 4); /* two wait for nvJPEG, two compute */
}

static void what_nvjpeg_fails_at_is_classified_too(void **state)
{
	struct fw_pipeline_stats stats;
	struct ask asks[5];

	(void)state;
	fake.nvjpeg()->fails_width = 102;
	stats = classify_jpegs("nvjpeg", 1, asks);
	for (uint32_t i = 0; i < 5; i++)
		check_right(&asks[i]);
	assert_int_equal(stats.nvjpeg_decoded + stats.nvjpeg_returned, 4);
	assert_true(stats.nvjpeg_returned >= 1);
}

static void without_an_engine_auto_is_the_cpu(void **state)
{
	struct fw_pipeline_stats stats;
	struct ask asks[5];

	(void)state;
	fake.nvjpeg()->lacks_hardware = 1;
	stats = classify_jpegs("auto", 0, asks);
	for (uint32_t i = 0; i < 5; i++)
		check_right(&asks[i]);
	assert_string_equal(stats.decoder, "cpu");
	assert_int_equal(stats.nvjpeg_decoded, 0);
	stats = classify_jpegs("auto", 0, asks);
	assert_string_equal(stats.decoder, "auto");
}

static void the_cpus_engine_has_no_nvjpeg(void **state)
{
	struct fw_pipeline_config config = config_of();

	(void)state;
	config.engine = "onednn";
	config.decoder = "nvjpeg";
	assert_int_equal(create_fails(&config, "decoder"), FW_ERR_ARGUMENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_the_gpu_and_says_so),
		cmocka_unit_test(one_batch_is_seven_calls),
		cmocka_unit_test(the_plain_loop_keeps_the_order),
		cmocka_unit_test(nothing_is_allocated_later),
		cmocka_unit_test(wrong_results_are_no_service),
		cmocka_unit_test(says_how_to_do_without_page_locked_memory),
		cmocka_unit_test(a_failure_stays),
		cmocka_unit_test(a_start_that_fails_leaves_nothing),
		cmocka_unit_test(nvjpeg_decodes_what_it_takes),
		cmocka_unit_test(what_nvjpeg_fails_at_is_classified_too),
		cmocka_unit_test(without_an_engine_auto_is_the_cpu),
		cmocka_unit_test(the_cpus_engine_has_no_nvjpeg),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
