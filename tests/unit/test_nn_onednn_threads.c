/*
 * What a launch of the CPU engine takes from the process: no thread, no memory that it keeps; and two instances at once.
 * The name ends in _threads: CI runs it under the thread sanitizer too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <malloc.h>
#include <pthread.h>

#include "nn/engine.h"

extern const struct fw_nn_engine_class fw_nn_onednn;

#define SIZE  16
#define STEPS 3

/* Convolution, pool, product: 3 x 16 x 16 pixels to 10 values. */
struct model {
	struct fw_nn_tensor tensors[STEPS + 1];
	struct fw_nn_step steps[STEPS];
	struct fw_nn_plan plan;
	float filter[32 * 16 * 9], bias[32], matrix[10 * 32];
	void *engine, *network;
};

static struct model model;

static void set_tensor(struct model *m, unsigned i, const int64_t shape[4])
{
	struct fw_nn_tensor *t = &m->tensors[i];

	*t = (struct fw_nn_tensor){
		.name = "t",
		.n = shape[0],
		.h = shape[1],
		.w = shape[2],
		.c = shape[3],
		.padded_c = shape[3],
		.pixel_stride = shape[3],
		.offset = m->plan.arena_bytes,
		.bytes = (uint64_t)(shape[0] * shape[1] * shape[2] * shape[3]) * sizeof(float),
	};
	m->plan.arena_bytes += (t->bytes + 255) / 256 * 256;
}

static void fill(float *data, size_t n)
{
	for (size_t i = 0; i < n; i++)
		data[i] = (float)(i * 2654435761u % 1024) / 512 - 1;
}

static void set_steps(struct model *m)
{
	for (uint32_t i = 0; i < STEPS; i++)
		m->steps[i] =
			(struct fw_nn_step){ .input = i, .output = i + 1, .second = FW_NN_NONE };
	m->steps[0].kind = FW_NN_STEP_CONV;
	m->steps[0].window = (struct fw_nn_window){ 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, false };
	m->steps[0].weight = (struct fw_nn_weight){
		.id = 0, .data = m->filter, .k = 32, .c = 16, .r = 3, .s = 3
	};
	m->steps[0].bias = (struct fw_nn_weight){ .id = 1, .data = m->bias, .k = 32 };
	m->steps[1].kind = FW_NN_STEP_GLOBAL_AVERAGE;
	m->steps[2].kind = FW_NN_STEP_GEMM;
	m->steps[2].weight = (struct fw_nn_weight){
		.id = 2, .data = m->matrix, .k = 10, .c = 32, .r = 1, .s = 1
	};
}

static int set_up(void **state)
{
	struct fw_nn_engine_options options = { .name = "onednn" };
	struct fw_nn_network_options wanted = { .precision = FW_NN_FP32 };
	const struct fw_nn_plan *plans[] = { &model.plan };
	struct fw_error err;

	(void)state;
	/* OpenMP reads it at its first call: the engine must not follow it. */
	setenv("OMP_NUM_THREADS", "4", 1);
	fill(model.filter, sizeof(model.filter) / sizeof(float));
	fill(model.bias, 32);
	fill(model.matrix, 320);
	set_tensor(&model, 0, (const int64_t[]){ 2, SIZE, SIZE, 16 });
	set_tensor(&model, 1, (const int64_t[]){ 2, SIZE, SIZE, 32 });
	set_tensor(&model, 2, (const int64_t[]){ 2, 1, 1, 32 });
	set_tensor(&model, 3, (const int64_t[]){ 2, 1, 1, 10 });
	set_steps(&model);
	model.plan.batch = 2;
	model.plan.n_tensors = STEPS + 1;
	model.plan.n_steps = STEPS;
	model.plan.tensors = model.tensors;
	model.plan.steps = model.steps;
	model.plan.output = STEPS;
	if (fw_nn_onednn.open(&options, &model.engine, &err))
		return 1;
	return fw_nn_onednn.load(model.engine, plans, 1, &wanted, &model.network, &err);
}

static int tear_down(void **state)
{
	(void)state;
	fw_nn_onednn.unload(model.network);
	fw_nn_onednn.close(model.engine);
	return 0;
}

static unsigned count_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	unsigned n = 0;

	assert_non_null(tasks);
	for (struct dirent *entry; (entry = readdir(tasks));)
		n += entry->d_name[0] != '.';
	closedir(tasks);
	return n;
}

static void *open_instance(float *input)
{
	struct fw_error err;
	void *instance = NULL;

	fill(input, 2 * 16 * SIZE * SIZE);
	assert_int_equal(fw_nn_onednn.instance_open(model.network, &instance, &err), FW_OK);
	assert_int_equal(fw_nn_onednn.write(instance, 0, input, &err), FW_OK);
	return instance;
}

static void a_launch_starts_no_thread(void **state)
{
	static float input[2 * 16 * SIZE * SIZE];
	unsigned before = count_threads();
	void *instance = open_instance(input);
	struct fw_error err;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(fw_nn_onednn.launch(instance, 0, NULL, &err), FW_OK);
	assert_int_equal(count_threads(), before);
	fw_nn_onednn.instance_close(instance);
}

/* oneDNN takes and gives back small blocks for the lists of arguments; nothing may stay, at no launch but the first. */
static void a_launch_keeps_no_memory(void **state)
{
	static float input[2 * 16 * SIZE * SIZE];
	void *instance = open_instance(input);
	struct fw_error err;
	struct mallinfo2 before, after;

	(void)state;
	assert_int_equal(fw_nn_onednn.launch(instance, 0, NULL, &err), FW_OK);
	before = mallinfo2();
	for (int i = 0; i < 1000; i++)
		assert_int_equal(fw_nn_onednn.launch(instance, 0, NULL, &err), FW_OK);
	after = mallinfo2();
	assert_int_equal(after.uordblks, before.uordblks);
	assert_int_equal(after.hblkhd, before.hblkhd);
	assert_int_equal(after.arena, before.arena);
	fw_nn_onednn.instance_close(instance);
}

struct lane {
	pthread_t thread;
	void *instance;
	float input[2 * 16 * SIZE * SIZE], out[20];
	fw_status status;
};

static void *run_lane(void *arg)
{
	struct lane *lane = arg;
	struct fw_error err;

	for (int i = 0; i < 50 && !lane->status; i++)
		lane->status = fw_nn_onednn.launch(lane->instance, 0, NULL, &err);
	if (!lane->status)
		lane->status = fw_nn_onednn.read(lane->instance, 0, lane->out, &err);
	return NULL;
}

static void instances_run_side_by_side(void **state)
{
	static struct lane lanes[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		lanes[i].instance = open_instance(lanes[i].input);
		assert_int_equal(pthread_create(&lanes[i].thread, NULL, run_lane, &lanes[i]), 0);
	}
	for (int i = 0; i < 2; i++) {
		pthread_join(lanes[i].thread, NULL);
		assert_int_equal(lanes[i].status, FW_OK);
	}
	assert_memory_equal(lanes[0].out, lanes[1].out, sizeof(lanes[0].out));
	for (int i = 0; i < 2; i++)
		fw_nn_onednn.instance_close(lanes[i].instance);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_launch_starts_no_thread),
		cmocka_unit_test(a_launch_keeps_no_memory),
		cmocka_unit_test(instances_run_side_by_side),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
