/*
 * fw_launch_advise_function with the driver that is here: for every kernel of the cubins named, no block
 * size may hold more warps, by the driver's own count, than the ones we call best, and all of those must
 * hold what we say. Exit 0: so it is, 1: not, 77: no GPU.
 */
#include "base/file.h"
#include "binary/binary.h"
#include "fullwarp/occupancy.h"
#include "gpu/cuda.h"

#include <stdbool.h>
#include <stdio.h>

struct run {
	struct fw_cuda api;
	int device;
	long kernels, sizes, differences;
};

static void differ(struct run *run, const char *kernel, unsigned threads, const char *what)
{
	run->differences++;
	printf("%s, %u threads: %s\n", kernel, threads, what);
}

static bool is_best(const struct fw_launch *launch, unsigned threads)
{
	for (unsigned i = 0; i < launch->best_count; i++)
		if (launch->best_threads[i] == threads)
			return true;
	return false;
}

static void compare(struct run *run, const struct fw_kernel *k, void *function)
{
	struct fw_cuda_driver driver = { sizeof(driver), run->api.func_get_attribute,
					 run->api.device_get_attribute };
	struct fw_occupancy_input in;
	struct fw_launch_request request;
	struct fw_launch launch;
	struct fw_error err;
	int most = 0, blocks;

	fw_occupancy_input_init(&in);
	fw_launch_request_init(&request);
	fw_launch_init(&launch);
	in.barriers = (unsigned)k->barriers;
	request.kernel = &in;
	request.items = 1000000;
	if (fw_launch_advise_function(&driver, function, run->device, &request, &launch, &err)) {
		differ(run, k->name, 0, err.message);
		return;
	}
	run->kernels++;
	run->api.func_get_attribute(&most, FW_CUDA_FUNC_MAX_THREADS, function);
	for (unsigned threads = 32; threads <= (unsigned)most; threads += 32) {
		double occupancy;

		if (run->api.occupancy_max_active_blocks(&blocks, function, (int)threads, 0))
			blocks = 0;
		occupancy = blocks * (threads / 32) / 64.0; /* an H200 has 64 warps an SM */
		run->sizes++;
		if (is_best(&launch, threads) ? occupancy != launch.occupancy
					      : occupancy >= launch.occupancy)
			differ(run, k->name, threads, "the driver disagrees");
		if (threads == launch.block_threads && (unsigned)blocks != launch.blocks_per_sm)
			differ(run, k->name, threads, "other blocks per SM");
	}
}

static int compare_file(struct run *run, const char *path)
{
	struct fw_file file = { 0 };
	struct fw_binary *binary = NULL;
	struct fw_error err;
	void *module = NULL, *function;
	int status = 1;

	if (fw_binary_open(&binary, &path, 1, NULL, &err) || fw_file_open(&file, path, &err)) {
		printf("%s\n", err.message);
		goto out;
	}
	if (run->api.module_load_data(&module, file.data)) {
		printf("%s: the driver does not load it\n", path);
		goto out;
	}
	for (size_t i = 0; i < binary->kernel_count; i++)
		if (run->api.module_get_function(&function, module, binary->kernels[i].name))
			differ(run, binary->kernels[i].name, 0,
			       "the driver does not find the kernel");
		else
			compare(run, &binary->kernels[i], function);
	run->api.module_unload(module);
	status = 0;
out:
	fw_file_close(&file);
	fw_binary_close(binary);
	return status;
}

int main(int argc, char **argv)
{
	struct run run = { 0 };
	struct fw_error err;
	void *context;
	int count = 0, major = 0, status = 0;

	if (fw_cuda_open(&run.api, &err)) {
		printf("skipped: no CUDA driver here: %s\n", err.message);
		return 77;
	}
	if (run.api.init(0) || run.api.device_get_count(&count) || !count ||
	    run.api.device_get(&run.device, 0) ||
	    run.api.device_get_attribute(&major, FW_CUDA_CC_MAJOR, run.device) || major != 9) {
		printf("skipped: no GPU of compute capability 9.0 here\n");
		return 77;
	}
	if (run.api.device_primary_ctx_retain(&context, run.device) ||
	    run.api.ctx_set_current(context)) {
		printf("the GPU is here but cannot be used\n");
		return 1;
	}
	for (int i = 1; i < argc; i++)
		status |= compare_file(&run, argv[i]);
	printf("%ld kernels, %ld block sizes, %ld differences\n", run.kernels, run.sizes,
	       run.differences);
	run.api.device_primary_ctx_release(run.device);
	fw_cuda_close(&run.api);
	return status || run.differences || !run.kernels;
}
