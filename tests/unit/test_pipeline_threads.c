/*
 * The public pipeline with the CPU engine on a small model and JPEG files made here: many threads get what one thread
 * gets, in the memory that was promised. The name ends in _threads: CI runs it under the thread sanitizer too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include <jpeglib.h>

#include "fullwarp/pipeline.h"
#include "nn/engine.h"
#include "pipeline/image.h"
#include "pipeline/preprocess.h"

#define PICTURES 16
#define LANES    6
#define A_LANE   200
#define CLASSES  10
#define TOP      3

static char model[64];

struct jpeg {
	unsigned char *bytes;
	unsigned long size;
};

static struct jpeg jpegs[PICTURES];

/* Blocks of colour that no two pictures share. */
static void make_jpeg(struct jpeg *jpeg, unsigned number)
{
	unsigned width = 40 + number * 11, height = 150 - number * 5;
	struct jpeg_compress_struct c;
	struct jpeg_error_mgr errors;
	unsigned char row[3 * 256];
	JSAMPROW rows[1] = { row };

	c.err = jpeg_std_error(&errors);
	jpeg_create_compress(&c);
	jpeg_mem_dest(&c, &jpeg->bytes, &jpeg->size);
	c.image_width = width;
	c.image_height = height;
	c.input_components = 3;
	c.in_color_space = JCS_RGB;
	jpeg_set_defaults(&c);
	jpeg_start_compress(&c, TRUE);
	for (unsigned y = 0; y < height; y++) {
		for (unsigned i = 0; i < 3 * width; i++)
			row[i] = (unsigned char)(((i / 48 + y / 20) * (number + 3) * 2654435761u +
						  i % 3 * 40503u * number) >>
						 11);
		jpeg_write_scanlines(&c, rows, 1);
	}
	jpeg_finish_compress(&c);
	jpeg_destroy_compress(&c);
}

static int make_model(const char *path, const char *options)
{
	char command[512];
	FILE *pipe;

	snprintf(command, sizeof(command),
		 "python3 -B %s/tests/nn/make_model.py resnet18 --width 0.125 %s -o %s 2>&1",
		 FW_SOURCE, options, path);
	pipe = popen(command, "r");
	return !pipe || pclose(pipe);
}

static int set_up(void **state)
{
	(void)state;
	snprintf(model, sizeof(model), "/tmp/pipeline-%d.onnx", (int)getpid());
	for (unsigned i = 0; i < PICTURES; i++)
		make_jpeg(&jpegs[i], i);
	return make_model(model, "--image 32 --classes 10 --dynamic");
}

static int tear_down(void **state)
{
	(void)state;
	unlink(model);
	for (unsigned i = 0; i < PICTURES; i++)
		free(jpegs[i].bytes);
	return 0;
}

struct ask {
	const struct jpeg *jpeg;
	bool is_corrupt;
	const unsigned char *tensor; /* instead of the JPEG */
	size_t tensor_bytes;
	atomic_int calls;
	enum fw_pipeline_outcome outcome;
	fw_status status;
	char message[128];
	uint32_t count, ids[TOP];
	float probabilities[TOP];
};

static struct ask asks[LANES * A_LANE], references[PICTURES];

static void on_answer(void *user, const struct fw_pipeline_answer *answer)
{
	struct ask *ask = user;

	ask->outcome = answer->outcome;
	ask->status = answer->error ? answer->error->code : FW_OK;
	if (answer->error)
		snprintf(ask->message, sizeof(ask->message), "%.100s", answer->error->message);
	ask->count = answer->count;
	for (uint32_t i = 0; i < answer->count && i < TOP; i++) {
		ask->ids[i] = answer->ids[i];
		ask->probabilities[i] = answer->probabilities[i];
	}
	atomic_fetch_add(&ask->calls, 1);
}

static fw_status submit(struct fw_pipeline *pipeline, struct ask *ask)
{
	struct fw_pipeline_request request;

	fw_pipeline_request_init(&request);
	request.bytes = ask->jpeg->bytes;
	request.size = ask->is_corrupt ? ask->jpeg->size * 2 / 3 : ask->jpeg->size;
	if (ask->tensor) {
		request.bytes = ask->tensor;
		request.size = ask->tensor_bytes;
		request.is_tensor = 1;
	}
	request.callback = on_answer;
	request.user = ask;
	return fw_pipeline_submit(pipeline, &request, NULL);
}

static struct fw_pipeline_config config_of(uint32_t threads, uint32_t batch)
{
	struct fw_pipeline_config config;

	fw_pipeline_config_init(&config);
	config.model = model;
	config.engine = "onednn";
	config.decode_threads = config.workers = threads;
	config.max_batch = batch;
	config.top = TOP;
	return config;
}

static struct fw_pipeline *create(uint32_t threads, uint32_t batch)
{
	struct fw_pipeline_config config = config_of(threads, batch);
	struct fw_pipeline *pipeline = NULL;
	struct fw_error err = { .code = FW_OK };

	if (fw_pipeline_create(&config, &pipeline, &err))
		fail_msg("%s", err.message);
	return pipeline;
}

static void get_stats(struct fw_pipeline *pipeline, struct fw_pipeline_stats *stats)
{
	fw_pipeline_stats_init(stats);
	assert_int_equal(fw_pipeline_get_stats(pipeline, stats, NULL), FW_OK);
}

/* One image at a time, one thread of each kind. */
static void make_references(void)
{
	struct fw_pipeline *pipeline = create(1, 1);

	for (unsigned i = 0; i < PICTURES; i++) {
		references[i].jpeg = &jpegs[i];
		assert_int_equal(submit(pipeline, &references[i]), FW_OK);
		assert_true(fw_pipeline_wait(pipeline, -1));
		assert_int_equal(references[i].outcome, FW_PIPELINE_CLASSIFIED);
		assert_int_equal(references[i].count, TOP);
	}
	fw_pipeline_destroy(pipeline);
}

static void check(const struct ask *ask)
{
	const struct ask *want = &references[ask->jpeg - jpegs];

	assert_int_equal(atomic_load(&ask->calls), 1);
	if (ask->is_corrupt) {
		assert_int_equal(ask->outcome, FW_PIPELINE_FAILED);
		assert_int_equal(ask->status, FW_ERR_FORMAT);
		return;
	}
	assert_int_equal(ask->outcome, FW_PIPELINE_CLASSIFIED);
	for (int i = 0; i < TOP; i++) {
		assert_int_equal(ask->ids[i], want->ids[i]);
		assert_true(fabsf(ask->probabilities[i] - want->probabilities[i]) < 1e-5f);
	}
}

struct lane {
	pthread_t thread;
	struct fw_pipeline *pipeline;
	struct ask *asks;
	int n;
};

static void *submit_all(void *argument)
{
	struct lane *lane = argument;

	for (int i = 0; i < lane->n; i++)
		if (submit(lane->pipeline, &lane->asks[i]))
			break;
	return NULL;
}

static void run_lanes(struct fw_pipeline *pipeline, int n)
{
	struct lane lanes[LANES];

	memset(asks, 0, sizeof(asks));
	for (int i = 0; i < LANES * n; i++) {
		asks[i].jpeg = &jpegs[i * 7 % PICTURES];
		asks[i].is_corrupt = i % 20 == 11;
	}
	for (int i = 0; i < LANES; i++) {
		lanes[i] = (struct lane){ .pipeline = pipeline, .asks = asks + i * n, .n = n };
		assert_int_equal(pthread_create(&lanes[i].thread, NULL, submit_all, &lanes[i]), 0);
	}
	for (int i = 0; i < LANES; i++)
		pthread_join(lanes[i].thread, NULL);
	assert_true(fw_pipeline_wait(pipeline, -1));
	for (int i = 0; i < LANES * n; i++)
		check(&asks[i]);
}

static void many_threads_get_what_one_gets(void **state)
{
	struct fw_pipeline *pipeline;
	struct fw_pipeline_stats stats;
	bool differs = false;

	(void)state;
	make_references();
	for (int i = 1; i < PICTURES; i++)
		differs = differs || references[i].ids[0] != references[0].ids[0];
	assert_true(differs);
	pipeline = create(2, 5);
	run_lanes(pipeline, A_LANE);
	get_stats(pipeline, &stats);
	assert_int_equal(stats.outcomes[FW_PIPELINE_CLASSIFIED], LANES * A_LANE * 19 / 20);
	assert_int_equal(stats.outcomes[FW_PIPELINE_FAILED], LANES * A_LANE / 20);
	assert_int_equal(stats.classes, CLASSES);
	assert_int_equal(stats.crop, 32);
	assert_int_equal(stats.resize, 37); /* 32 * 8 / 7 = 36.6 */
	assert_true(stats.max_slots_used <= stats.slots && stats.max_cells_used <= stats.cells);
	fw_pipeline_destroy(pipeline);
}

static size_t used_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* Under a sanitizer mallinfo2 tells nothing, and this shows nothing. */
static void stays_in_the_memory_that_it_told(void **state)
{
	size_t before = used_bytes(), created, after;
	struct fw_pipeline *pipeline = create(2, 4);
	struct fw_pipeline_stats stats;

	(void)state;
	created = used_bytes() - before;
	get_stats(pipeline, &stats);
	assert_int_equal(stats.memory_bytes, stats.slot_bytes + stats.cell_bytes +
						     stats.worker_bytes + stats.decoder_bytes);
	/* The weights in the file's form and the engine's; 4 MiB for its primitives and the graph. */
	assert_true(created <=
		    stats.memory_bytes - stats.decoder_bytes + 2 * stats.weight_bytes + (4u << 20));
	run_lanes(pipeline, 40);
	created = used_bytes();
	run_lanes(pipeline, 40);
	after = used_bytes();
	/* The C library keeps what decoders gave back; nothing is in use but what was before. */
	assert_true(after <= created + 65536);
	fw_pipeline_destroy(pipeline);
}

static void destroy_under_load_ends_every_request(void **state)
{
	struct fw_pipeline *pipeline = create(2, 4);
	int sum = 0;

	(void)state;
	memset(asks, 0, sizeof(asks));
	for (int i = 0; i < 40; i++) {
		asks[i].jpeg = &jpegs[i % PICTURES];
		assert_int_equal(submit(pipeline, &asks[i]), FW_OK);
	}
	fw_pipeline_destroy(pipeline);
	for (int i = 0; i < 40; i++) {
		sum += atomic_load(&asks[i].calls);
		assert_true(asks[i].outcome == FW_PIPELINE_CLASSIFIED ||
			    asks[i].outcome == FW_PIPELINE_CANCELLED);
	}
	assert_int_equal(sum, 40);
	fw_pipeline_destroy(NULL);
}

static fw_status create_fails(const struct fw_pipeline_config *config, const char *text)
{
	struct fw_pipeline *pipeline = NULL;
	struct fw_error err = { .code = FW_OK };
	fw_status status = fw_pipeline_create(config, &pipeline, &err);

	assert_null(pipeline);
	if (!strstr(err.message, text))
		fail_msg("'%s' does not say '%s'", err.message, text);
	return status;
}

static void refuses_what_it_cannot_do(void **state)
{
	struct fw_pipeline_config config = config_of(1, 1);

	(void)state;
	config.engine = "cudnn";
	assert_int_equal(create_fails(&config, "libcuda.so.1"), FW_ERR_UNSUPPORTED);
	config = config_of(1, 1);
	config.struct_size--;
	assert_int_equal(create_fails(&config, "struct_size"), FW_ERR_ARGUMENT);
	config = config_of(1, 1);
	config.model = "/nonexistent.onnx";
	assert_int_equal(create_fails(&config, "/nonexistent.onnx"), FW_ERR_IO);
	config = config_of(1, FW_PIPELINE_MAX_BATCH + 1);
	assert_int_equal(create_fails(&config, "max_batch"), FW_ERR_ARGUMENT);
	config = config_of(1, 1);
	config.precision = "fp16";
	assert_int_equal(create_fails(&config, "leave precision at its default"), FW_ERR_ARGUMENT);
	config = config_of(1, 1);
	config.graph = 0;
	assert_int_equal(create_fails(&config, "leave graph at its default"), FW_ERR_ARGUMENT);
	config = config_of(1, 1);
	config.copy = "late";
	assert_int_equal(create_fails(&config, "copy is 'late': there are async, blocking"),
			 FW_ERR_ARGUMENT);
	config = config_of(1, 1);
	config.top = 0;
	assert_int_equal(create_fails(&config, "top is 0"), FW_ERR_ARGUMENT);
	config = config_of(1, 1);
	config.crop = 31;
	assert_int_equal(create_fails(&config, "takes 32 x 32"), FW_ERR_ARGUMENT);
	config = config_of(1, 1);
	config.resize = 31;
	assert_int_equal(create_fails(&config, "resize is 31"), FW_ERR_ARGUMENT);
	config = config_of(1, 1);
	config.std[1] = 0;
	assert_int_equal(create_fails(&config, "channel 1"), FW_ERR_ARGUMENT);
	config = config_of(1, 1);
	config.cell_bytes = UINT64_MAX;
	assert_int_equal(create_fails(&config, "cell_bytes"), FW_ERR_ARGUMENT);
	config = config_of(1, 1);
	config.max_delay_ns = -1;
	assert_int_equal(create_fails(&config, "max_delay_ns"), FW_ERR_ARGUMENT);
}

static void an_image_too_large_for_its_cell_fails_alone(void **state)
{
	struct fw_pipeline_config config = config_of(1, 1);
	struct fw_pipeline *pipeline = NULL;
	struct ask small = { .jpeg = &jpegs[8] }, large = { .jpeg = &jpegs[0] };

	(void)state;
	/*
	 * Rows are padded to 32 bytes. Picture 0 is decoded to its 40 x 150 pixels: 64 x 150 and chroma of 32 x 75 twice are
	 * 14400. Picture 8, of 128 x 110, to half of that: 64 x 56 and at the most as much chroma twice are 10752.
	 */
	config.cell_bytes = 12000;
	config.slots = 1;
	assert_int_equal(fw_pipeline_create(&config, &pipeline, NULL), FW_OK);
	assert_int_equal(submit(pipeline, &large), FW_OK);
	assert_int_equal(submit(pipeline, &small), FW_OK);
	fw_pipeline_drain(pipeline);
	assert_string_equal(small.message, "");
	assert_int_equal(small.outcome, FW_PIPELINE_CLASSIFIED);
	assert_int_equal(large.outcome, FW_PIPELINE_FAILED);
	assert_int_equal(large.status, FW_ERR_UNSUPPORTED);
	fw_pipeline_destroy(pipeline);
}

#define SIDE 32u

/* What the pipeline makes of a picture, in ONNX's order; at an odd address. */
static void make_tensor(const struct jpeg *jpeg, unsigned char *to)
{
	size_t cell_bytes = 4u << 20;
	uint8_t *cell = malloc(cell_bytes);
	float pixels[SIDE * SIDE * 3];
	struct fw_image_limits limits;
	struct fw_preprocess preprocess;
	struct fw_image_decoder *decoder;
	struct fw_preprocess_scratch *scratch;
	struct fw_image image;

	fw_image_limits_init(&limits);
	limits.min_short_side = 37; /* 32 * 8 / 7 */
	fw_preprocess_init(&preprocess);
	preprocess.resize = 37;
	preprocess.crop = SIDE;
	assert_non_null(cell);
	assert_int_equal(fw_image_decoder_open(&limits, &decoder, NULL), FW_OK);
	assert_int_equal(
		fw_image_decode(decoder, jpeg->bytes, jpeg->size, cell, cell_bytes, &image, NULL),
		FW_OK);
	assert_int_equal(fw_preprocess_open(&preprocess, cell_bytes, &scratch, NULL), FW_OK);
	assert_int_equal(fw_preprocess_cpu(scratch, cell, &image, pixels, 3, NULL), FW_OK);
	for (unsigned i = 0; i < SIDE * SIDE * 3; i++)
		memcpy(to + (i % 3 * SIDE * SIDE + i / 3) * sizeof(float), &pixels[i],
		       sizeof(float));
	fw_preprocess_close(scratch);
	fw_image_decoder_close(decoder);
	free(cell);
}

static void a_tensor_is_what_its_image_is(void **state)
{
	static unsigned char tensors[PICTURES][SIDE * SIDE * 12 + 1], infinite[SIDE * SIDE * 12];
	struct fw_pipeline *pipeline = create(1, 4);
	struct ask endless = { .tensor = infinite, .tensor_bytes = SIDE * SIDE * 12 };
	struct ask wrong = { .tensor = tensors[0], .tensor_bytes = SIDE * SIDE * 12 - 4 };

	(void)state;
	memset(asks, 0, sizeof(asks));
	for (unsigned i = 0; i < PICTURES; i++) {
		make_tensor(&jpegs[i], tensors[i] + 1);
		asks[i] = (struct ask){ .jpeg = &jpegs[i],
					.tensor = tensors[i] + 1,
					.tensor_bytes = SIDE * SIDE * 12 };
		assert_int_equal(submit(pipeline, &asks[i]), FW_OK);
		asks[PICTURES + i].jpeg = &jpegs[i]; /* in the same batches */
		assert_int_equal(submit(pipeline, &asks[PICTURES + i]), FW_OK);
	}
	endless.jpeg = wrong.jpeg = &jpegs[0];
	memcpy(infinite + 2 * sizeof(float), &(float){ INFINITY }, sizeof(float));
	assert_int_equal(submit(pipeline, &wrong), FW_OK);
	assert_int_equal(submit(pipeline, &endless), FW_OK);
	fw_pipeline_drain(pipeline);
	for (unsigned i = 0; i < 2 * PICTURES; i++)
		check(&asks[i]);
	assert_int_equal(wrong.outcome, FW_PIPELINE_FAILED);
	assert_int_equal(wrong.status, FW_ERR_ARGUMENT);
	assert_string_equal(wrong.message, "a tensor of 12284 bytes: 3 x 32 x 32 floats are 12288");
	assert_int_equal(endless.outcome, FW_PIPELINE_FAILED);
	assert_string_equal(endless.message, "element 2 of the tensor is inf");
	fw_pipeline_destroy(pipeline);
}

static void note_progress(void *user, const char *text)
{
	char *all = user;
	size_t len = strlen(all);

	snprintf(all + len, 1024 - len, "%s\n", text);
}

static void warms_up_before_it_is_created(void **state)
{
	struct fw_pipeline_config config = config_of(2, 5);
	struct fw_pipeline *pipeline = NULL;
	struct fw_pipeline_stats stats;
	struct fw_error err = { .code = FW_OK };
	char all[1024] = "";

	(void)state;
	config.warm_up = 1;
	config.progress = note_progress;
	config.progress_user = all;
	if (fw_pipeline_create(&config, &pipeline, &err))
		fail_msg("%s", err.message);
	assert_true(!strncmp(all, "reading /tmp/pipeline-", 22));
	assert_non_null(strstr(all, "planning for the engine onednn\nwarming up: 0 of 2"));
	get_stats(pipeline, &stats);
	assert_int_equal(stats.submitted, 0);
	fw_pipeline_destroy(pipeline);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_threads_get_what_one_gets),
		cmocka_unit_test(stays_in_the_memory_that_it_told),
		cmocka_unit_test(destroy_under_load_ends_every_request),
		cmocka_unit_test(a_tensor_is_what_its_image_is),
		cmocka_unit_test(warms_up_before_it_is_created),
		cmocka_unit_test(refuses_what_it_cannot_do),
		cmocka_unit_test(an_image_too_large_for_its_cell_fails_alone),
	};

	if (!fw_nn_engine_is_built_in("onednn")) {
		puts("skipped: built without oneDNN 2");
		return 77;
	}
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
