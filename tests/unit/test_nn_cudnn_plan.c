/*
 * cuDNN plans known networks for GPUs that are not here: every layer finds an engine, on every generation that we name. The
 * expectation is cuDNN's own answer; skips where no cuDNN 9.8 is installed.
 */
#include "nn/cudnn_network.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../nn/models.h"

/* Without a GPU, cuDNN's engines lose a cuBLASLt handle each, and code that is unloaded again what it had allocated. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

/* Public attributes of one GPU of each generation (CUDA C++ Programming Guide, table of compute capabilities). */
static const struct gpu_row {
	int cc, sms, smem_kib, threads, blocks, l2_mib;
	const char *name;
} gpus[] = {
	{ 75, 40, 64, 1024, 16, 4, "Tesla T4" },
	{ 80, 108, 163, 2048, 32, 40, "NVIDIA A100-SXM4-40GB" },
	{ 86, 72, 99, 1536, 16, 6, "NVIDIA A10" },
	{ 89, 128, 99, 1536, 24, 72, "NVIDIA GeForce RTX 4090" },
	{ 90, 132, 227, 2048, 32, 60, "NVIDIA H200" },
	{ 100, 148, 227, 2048, 32, 126, "NVIDIA B200" },
	{ 120, 170, 99, 1536, 24, 96, "NVIDIA GeForce RTX 5090" },
};

static struct fw_nn_gpu *open_gpu(const struct gpu_row *row, struct fw_error *err)
{
	struct fw_nn_gpu *gpu = NULL;
	char json[1024];

	snprintf(json, sizeof(json),
		 "{\"maxGridSize\":[2147483647,65535,65535],\"maxBlockSize\":[1024,1024,64],"
		 "\"regsPerBlock\":65536,\"multiProcessorCount\":%d,\"warpSize\":32,"
		 "\"maxSharedMemoryPerBlock\":49152,\"maxSharedMemoryPerBlockOptin\":%d,"
		 "\"reservedSharedMemoryPerBlock\":%d,\"maxRegistersPerSM\":65536,"
		 "\"maxCtasPerSM\":%d,\"maxThreadsPerBlock\":1024,\"maxThreadsPerSM\":%d,"
		 "\"pciDeviceId\":0,\"isTccDriver\":0,\"supportCoopLaunch\":1,"
		 "\"totalGlobalMem\":16000000000,\"smClockRateKHz\":1500000,"
		 "\"memClockRateKHz\":5000000,\"l2CacheSize\":%d,\"cudaDeviceId\":0,"
		 "\"deviceVer\":%d,\"driverVer\":13000,\"deviceName\":\"%s\"}",
		 row->sms, row->smem_kib * 1024, row->cc == 75 ? 0 : 1024, row->blocks,
		 row->threads, row->l2_mib << 20, row->cc * 10, row->name);
	return fw_nn_gpu_open_deviceless(json, &gpu, err) ? NULL : gpu;
}

/* The operations that run beside others, and what they wait for. */
static uint32_t count_beside(const struct fw_nn_program *program)
{
	const struct fw_nn_operation *operations = program->operations.data;
	uint32_t n = 0, joins = 0, starts = 0;

	for (size_t i = 0; i < program->operations.len; i++) {
		n += operations[i].is_beside;
		joins += operations[i].joins;
		starts += operations[i].start_beside != FW_NN_NONE;
	}
	assert_int_equal(n, starts);
	assert_true(joins <= n && (joins || !n));
	return n;
}

/* Loads a plan as far as a machine without a GPU can; returns the operations that cuDNN would run. */
static uint32_t load(struct fw_nn_gpu *gpu, const struct build *b, int64_t batch,
		     enum fw_nn_precision precision, uint32_t *beside)
{
	const struct fw_nn_plan_options wanted = { .batch = batch,
						   .precision = precision,
						   .channel_multiple = 4,
						   .concat_in_place = true,
						   .fuse = true };
	const struct fw_nn_network_options options = { .precision = precision };
	struct fw_error err = { 0 };
	struct fw_nn_plan plan;
	const struct fw_nn_plan *const plans[] = { &plan };
	struct fw_nn_gpu_network *network;
	const struct fw_nn_operation *operations;
	void *loaded = NULL;
	uint32_t n = 0;

	if (fw_nn_plan_make(&b->graph, &wanted, &plan, &err))
		fail_msg("%s", err.message);
	if (fw_nn_gpu_network_load(gpu, plans, 1, &options, &loaded, &err))
		fail_msg("%s", err.message);
	network = loaded;
	operations = network->programs[0].operations.data;
	for (size_t i = 0; i < network->programs[0].operations.len; i++) {
		if (operations[i].is_kernel)
			continue;
		assert_non_null(operations[i].choice);
		assert_non_null(operations[i].choice->plan.plan);
		n++;
	}
	if (beside)
		*beside = count_beside(&network->programs[0]);
	fw_nn_gpu_network_unload(network);
	fw_nn_plan_free(&plan);
	return n;
}

static void plans_every_layer(void **state)
{
	static struct build b;
	struct fw_error err = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(gpus) / sizeof(gpus[0]); i++) {
		struct fw_nn_gpu *gpu = open_gpu(&gpus[i], &err);

		if (!gpu) {
			printf("skipped: %s\n", err.message);
			skip();
		}
		/* 53 convolutions and one product; cuBLASLt needs a GPU, so cuDNN plans the product too. */
		model_resnet50(&b);
		assert_int_equal(load(gpu, &b, 64, FW_NN_FP16, NULL), 54);
		build_end(&b);
		if (gpus[i].cc != 75 && gpus[i].cc != 90) { /* for the time it takes */
			fw_nn_gpu_close(gpu);
			continue;
		}
		/* 52 convolutions, 17 of them depthwise (ours), one product. */
		model_mobilenetv2(&b);
		assert_int_equal(
			load(gpu, &b, 1, gpus[i].cc < 80 ? FW_NN_FP16 : FW_NN_BFLOAT16, NULL),
			52 - 17 + 1);
		build_end(&b);
		model_squeezenet(&b);
		assert_true(load(gpu, &b, 8, FW_NN_FP16, NULL) >= 25);
		build_end(&b);
		fw_nn_gpu_close(gpu);
	}
}

/* Without TF32: an fp32 layer must not get an engine of the tensor cores. */
static void keeps_fp32_exact(void **state)
{
	static struct build b;
	struct fw_error err = { 0 };
	struct fw_nn_gpu *gpu = open_gpu(&gpus[4], &err);

	(void)state;
	if (!gpu) {
		printf("skipped: %s\n", err.message);
		skip();
	}
	model_resnet50(&b);
	assert_int_equal(load(gpu, &b, 2, FW_NN_FP32, NULL), 54);
	build_end(&b);
	fw_nn_gpu_close(gpu);
}

static uint32_t beside(struct fw_nn_gpu *gpu, void (*model)(struct build *b), int64_t batch)
{
	static struct build b;
	uint32_t n = 0;

	model(&b);
	load(gpu, &b, batch, FW_NN_FP16, &n);
	build_end(&b);
	return n;
}

/* The downsampling of ResNet's four stages; one of the two expanding layers in each of SqueezeNet's eight modules. */
static void runs_independent_layers_beside_each_other(void **state)
{
	struct fw_error err = { 0 };
	struct fw_nn_gpu *gpu = open_gpu(&gpus[4], &err);

	(void)state;
	if (!gpu) {
		printf("skipped: %s\n", err.message);
		skip();
	}
	assert_int_equal(beside(gpu, model_resnet50, 1), 4);
	assert_int_equal(beside(gpu, model_squeezenet, 1), 8);
	assert_int_equal(beside(gpu, model_resnet50, 64), 0);
	fw_nn_gpu_close(gpu);
}

int main(void)
{
	struct fw_cudnn
		kept; /* so that the library is loaded once, and named in reports of leaks */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plans_every_layer),
		cmocka_unit_test(keeps_fp32_exact),
		cmocka_unit_test(runs_independent_layers_beside_each_other),
	};

	fw_cudnn_open(&kept, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
