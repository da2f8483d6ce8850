/*
 * Compares what we read from binaries, and what we compute from it, with the driver of the GPU that is
 * here: every attribute of every kernel, and the blocks an SM holds for every block size and amount of
 * dynamic shared memory. Prints one JSON object; exit 0: no difference, 1: differences, 77: no GPU.
 *
 * usage: gpu_occupancy [--step BYTES] [--max-kernels N] FILE...
 */
#include "base/file.h"
#include "binary/binary.h"
#include "fullwarp/occupancy.h"
#include "gpu/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_STEP  32
#define BLOCK_MOST  1024
#define SHOWN_DIFFS 20

struct counts {
	long containers, not_loaded, kernels, attributes, vectors, differences, refused;
};

struct gpu {
	struct fw_cuda api;
	int device, cc, sms, smem_optin;
	void *context;
};

struct run {
	struct gpu gpu;
	long step, max_kernels;
	struct counts counts;
};

static int attribute(const struct gpu *gpu, int which)
{
	int value = -1;

	gpu->api.device_get_attribute(&value, which, gpu->device);
	return value;
}

/* 0: a GPU is ready. */
static int open_gpu(struct gpu *gpu)
{
	struct fw_error err;
	int count = 0;

	if (fw_cuda_open(&gpu->api, &err)) {
		printf("skipped: no CUDA driver here: %s\n", err.message);
		return 77;
	}
	if (gpu->api.init(0) || gpu->api.device_get_count(&count) || !count) {
		printf("skipped: no GPU here\n");
		return 77;
	}
	if (gpu->api.device_get(&gpu->device, 0) ||
	    gpu->api.device_primary_ctx_retain(&gpu->context, gpu->device) ||
	    gpu->api.ctx_set_current(gpu->context)) {
		fprintf(stderr, "the GPU is here but cannot be used\n");
		return 1;
	}
	gpu->cc = attribute(gpu, FW_CUDA_CC_MAJOR) * 10 + attribute(gpu, FW_CUDA_CC_MINOR);
	gpu->sms = attribute(gpu, FW_CUDA_SM_COUNT);
	gpu->smem_optin = attribute(gpu, FW_CUDA_SMEM_OPTIN);
	return 0;
}

static void differ(struct run *run, const char *kernel, const char *what, long ours, long theirs)
{
	if (run->counts.differences++ < SHOWN_DIFFS)
		fprintf(stderr, "%s: %s: ours %ld, the driver's %ld\n", kernel, what, ours, theirs);
}

static long product(const int dims[3])
{
	return dims[0] == FW_UNKNOWN ? -1 : (long)dims[0] * dims[1] * dims[2];
}

static int function_attribute(const struct run *run, void *function, int which)
{
	int value = -1;

	run->gpu.api.func_get_attribute(&value, which, function);
	return value;
}

static void compare_attributes(struct run *run, const struct fw_kernel *k, void *function)
{
	long bound = product(k->required_threads) > 0 ? product(k->required_threads)
						      : product(k->max_threads);
	int most = function_attribute(run, function, FW_CUDA_FUNC_MAX_THREADS);
	int registers = function_attribute(run, function, FW_CUDA_FUNC_REGISTERS);
	int smem = function_attribute(run, function, FW_CUDA_FUNC_STATIC_SMEM);
	int version = function_attribute(run, function, FW_CUDA_FUNC_BINARY_VERSION);

	run->counts.attributes += 4;
	if (registers != k->registers)
		differ(run, k->name, "registers", k->registers, registers);
	if (smem != k->static_smem)
		differ(run, k->name, "static shared memory", k->static_smem, smem);
	if (version != k->target.cc)
		differ(run, k->name, "binary version", k->target.cc, version);
	/* Without bounds the driver reports what the registers allow, which is the rule's business below. */
	if (bound > 0 && most != bound && most != BLOCK_MOST)
		differ(run, k->name, "most threads a block", bound, most);
}

static void compare_point(struct run *run, const struct fw_kernel *k, void *function,
			  struct fw_occupancy_input *in)
{
	struct fw_occupancy_result out;
	char what[96];
	int blocks = -1;
	int error = run->gpu.api.occupancy_max_active_blocks(
		&blocks, function, (int)in->block_threads, in->dynamic_smem_bytes);

	fw_occupancy_result_init(&out);
	if (fw_occupancy(in, &out, NULL)) {
		differ(run, k->name, "our rule failed", -1, blocks);
		return;
	}
	run->counts.vectors++;
	if (error) {
		run->counts.refused++;
		blocks = 0;
	}
	if ((long)out.blocks_per_sm != blocks) {
		snprintf(what, sizeof(what),
			 "blocks a SM at block %u, dynamic %u (driver result %d)",
			 in->block_threads, in->dynamic_smem_bytes, error);
		differ(run, k->name, what, (long)out.blocks_per_sm, blocks);
	}
}

static void compare_kernel(struct run *run, const struct fw_kernel *k, void *function)
{
	int most = function_attribute(run, function, FW_CUDA_FUNC_MAX_THREADS);
	int dynamic_most = run->gpu.smem_optin - k->static_smem;
	struct fw_occupancy_input in;

	run->counts.kernels++;
	compare_attributes(run, k, function);
	if (dynamic_most < 0 || run->gpu.api.func_set_attribute(
					function, FW_CUDA_FUNC_MAX_DYNAMIC_SMEM, dynamic_most)) {
		differ(run, k->name, "opt-in to all shared memory refused", dynamic_most, -1);
		return;
	}
	fw_occupancy_input_init(&in);
	in.cc = (unsigned)run->gpu.cc;
	in.registers = (unsigned)k->registers;
	in.static_smem_bytes = (unsigned)k->static_smem;
	in.barriers = (unsigned)k->barriers;
	for (int block = BLOCK_STEP; block <= BLOCK_MOST && block <= most; block += BLOCK_STEP)
		for (long smem = 0; smem <= dynamic_most; smem += run->step) {
			in.block_threads = (unsigned)block;
			in.dynamic_smem_bytes = (unsigned)smem;
			compare_point(run, k, function, &in);
		}
}

/* All kernels of one image, out of the container that begins at `bytes`. */
static void compare_image(struct run *run, const struct fw_binary *binary,
			  const struct fw_image *image, const void *bytes)
{
	void *module = NULL;

	run->counts.containers++;
	if (run->gpu.api.module_load_data(&module, bytes)) {
		run->counts.not_loaded++;
		return;
	}
	for (uint32_t i = 0; i < image->kernel_count; i++) {
		const struct fw_kernel *k =
			&binary->kernels[binary->kernel_of_image[image->first_kernel + i]];
		void *function = NULL;

		if (run->gpu.api.module_get_function(&function, module, k->name))
			differ(run, k->name, "the driver does not find the kernel", 1, 0);
		else
			compare_kernel(run, k, function);
	}
	run->gpu.api.module_unload(module);
}

/* Images are taken evenly over the file until enough kernels were compared. */
static int compare_file(struct run *run, const char *path)
{
	struct fw_file file = { 0 };
	struct fw_binary *binary = NULL;
	struct fw_error err;
	enum fw_load *load = NULL;
	long until = run->counts.kernels + run->max_kernels;
	size_t stride = 1, found = 0;
	int status = 1;

	if (fw_binary_open(&binary, &path, 1, NULL, &err) || fw_file_open(&file, path, &err)) {
		fprintf(stderr, "%s\n", err.message);
		goto out;
	}
	load = calloc(binary->image_count ? binary->image_count : 1, sizeof(*load));
	if (!load)
		goto out;
	fw_binary_choose(binary, run->gpu.cc, load);
	for (size_t i = 0; i < binary->image_count; i++)
		if (load[i] == FW_LOAD_CUBIN)
			found += binary->images[i].kernel_count;
	if (found > (size_t)run->max_kernels)
		stride = found / (size_t)run->max_kernels;
	for (size_t i = 0, n = 0; i < binary->image_count && run->counts.kernels < until; i++) {
		const struct fw_image *image = &binary->images[i];

		if (load[i] == FW_LOAD_CUBIN && image->kernel_count && n++ % stride == 0)
			compare_image(run, binary, image, file.data + image->offset);
	}
	fprintf(stderr, "%s: %zu kernels for this GPU\n", path, found);
	status = 0;
out:
	free(load);
	fw_file_close(&file);
	fw_binary_close(binary);
	return status;
}

static void print(const struct run *run)
{
	const struct counts *c = &run->counts;

	printf("{\"cc\":%d,\"sms\":%d,\"smem_optin\":%d,\"smem_per_sm\":%d,\"smem_reserved\":%d,"
	       "\"threads_per_sm\":%d,\"blocks_per_sm\":%d,\"registers_per_sm\":%d,"
	       "\"registers_per_block\":%d,\"step\":%ld,\"modules\":%ld,\"not_loaded\":%ld,"
	       "\"kernels\":%ld,\"attributes\":%ld,\"vectors\":%ld,\"refused\":%ld,"
	       "\"differences\":%ld}\n",
	       run->gpu.cc, run->gpu.sms, run->gpu.smem_optin,
	       attribute(&run->gpu, FW_CUDA_SMEM_PER_SM),
	       attribute(&run->gpu, FW_CUDA_SMEM_RESERVED),
	       attribute(&run->gpu, FW_CUDA_THREADS_PER_SM),
	       attribute(&run->gpu, FW_CUDA_BLOCKS_PER_SM),
	       attribute(&run->gpu, FW_CUDA_REGISTERS_PER_SM),
	       attribute(&run->gpu, FW_CUDA_REGISTERS_PER_BLOCK), run->step, c->containers,
	       c->not_loaded, c->kernels, c->attributes, c->vectors, c->refused, c->differences);
}

int main(int argc, char **argv)
{
	struct run run = { .step = 1024, .max_kernels = 1000000 };
	int status = open_gpu(&run.gpu), first = 1;

	if (status)
		return status;
	for (; first + 1 < argc && argv[first][0] == '-'; first += 2) {
		if (!strcmp(argv[first], "--step"))
			run.step = strtol(argv[first + 1], NULL, 10);
		else if (!strcmp(argv[first], "--max-kernels"))
			run.max_kernels = strtol(argv[first + 1], NULL, 10);
	}
	if (first >= argc || run.step < 1 || run.max_kernels < 1) {
		fprintf(stderr, "usage: %s [--step BYTES] [--max-kernels N] FILE...\n", argv[0]);
		return 2;
	}
	for (int i = first; i < argc; i++)
		status |= compare_file(&run, argv[i]);
	print(&run);
	run.gpu.api.device_primary_ctx_release(run.gpu.device);
	fw_cuda_close(&run.gpu.api);
	return status || run.counts.differences || !run.counts.vectors;
}
