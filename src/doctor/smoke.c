/* smoke: a context, copies from pageable and pinned memory, launches: about a second on the first GPU. */
#include "doctor/check.h"
#include "gpu/cuda.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COPY_BYTES ((size_t)64 << 20)
#define COPIES     8
#define LAUNCHES   2000

/* A kernel that does nothing, for every GPU from compute capability 5.0 on. */
static const char ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
			  ".visible .entry nothing()\n{\n\tret;\n}\n";

struct measured {
	double context_ms, pageable_gb_s, pinned_gb_s, launch_us;
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* GB/s of the best of some copies, the first of which is not counted; 0: a call failed. */
static double copy(const struct fw_cuda *cuda, uint64_t address, const void *memory)
{
	double best = 0;

	for (int i = 0; i <= COPIES; i++) {
		double start = now_s(), speed;

		if (cuda->memcpy_host_to_device(address, memory, COPY_BYTES) ||
		    cuda->ctx_synchronize())
			return 0;
		speed = (double)COPY_BYTES / (now_s() - start) / 1e9;
		best = i && speed > best ? speed : best;
	}
	return best;
}

static bool measure_copies(const struct fw_cuda *cuda, struct measured *measured)
{
	void *pageable = malloc(COPY_BYTES), *pinned = NULL;
	uint64_t address = 0;

	if (pageable && !cuda->mem_alloc(&address, COPY_BYTES)) {
		memset(pageable, 1, COPY_BYTES);
		measured->pageable_gb_s = copy(cuda, address, pageable);
		if (!cuda->mem_alloc_host(&pinned, COPY_BYTES)) {
			memset(pinned, 1, COPY_BYTES);
			measured->pinned_gb_s = copy(cuda, address, pinned);
			cuda->mem_free_host(pinned);
		}
		cuda->mem_free(address);
	}
	free(pageable);
	return measured->pageable_gb_s > 0 && measured->pinned_gb_s > 0;
}

static bool measure_launches(const struct fw_cuda *cuda, struct measured *measured)
{
	void *module = NULL, *function = NULL;
	double start = 0;
	bool is_done = !cuda->module_load_data(&module, ptx) &&
		       !cuda->module_get_function(&function, module, "nothing");

	for (int i = -100; is_done && i < LAUNCHES; i++) {
		if (!i) {
			is_done = !cuda->ctx_synchronize();
			start = now_s();
		}
		is_done = is_done &&
			  !cuda->launch_kernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
	}
	is_done = is_done && !cuda->ctx_synchronize();
	measured->launch_us = (now_s() - start) / LAUNCHES * 1e6;
	if (module)
		cuda->module_unload(module);
	return is_done;
}

/* What failed; NULL: nothing. */
static const char *measure(const struct fw_cuda *cuda, struct measured *measured)
{
	double start = now_s();
	const char *failed = NULL;
	void *context = NULL;
	int device = 0;

	if (!cuda->mem_alloc || !cuda->mem_free || !cuda->mem_alloc_host || !cuda->mem_free_host ||
	    !cuda->memcpy_host_to_device || !cuda->launch_kernel || !cuda->ctx_synchronize)
		return "libcuda lacks a call";
	if (cuda->init(0))
		return "cuInit";
	if (cuda->device_get(&device, 0))
		return "cuDeviceGet: no GPU is shown to CUDA";
	if (cuda->device_primary_ctx_retain(&context, device))
		return "cuDevicePrimaryCtxRetain";
	if (cuda->ctx_set_current(context))
		failed = "cuCtxSetCurrent";
	measured->context_ms = (now_s() - start) * 1e3;
	if (!failed && !measure_copies(cuda, measured))
		failed = "copying 64 MiB to the GPU";
	if (!failed && !measure_launches(cuda, measured))
		failed = "launching a kernel";
	cuda->ctx_set_current(NULL);
	cuda->device_primary_ctx_release(device);
	return failed;
}

void fw_check_smoke(struct fw_host *host, struct fw_doctor_result *result)
{
	struct measured measured = { 0 };
	struct fw_error err;
	struct fw_cuda cuda;
	const char *failed;

	if (host->is_other) {
		fw_doctor_unknown(result, "another root has no GPU that could be tried");
		return;
	}
	if (fw_cuda_open(&cuda, &err)) {
		fw_doctor_unknown(result, "skipped: %s", err.message);
		return;
	}
	failed = measure(&cuda, &measured);
	if (failed) {
		fw_doctor_problem(result, "failed: %s", failed);
		fw_doctor_fix(result,
			      "the other checks name the usual causes; dmesg | grep -i -e nvrm "
			      "-e xid has the driver's words");
	} else {
		fw_doctor_ok(result,
			     "measured: context %.0f ms, host to GPU %.1f GB/s pageable and %.1f "
			     "GB/s pinned, %.1f us a launch",
			     measured.context_ms, measured.pageable_gb_s, measured.pinned_gb_s,
			     measured.launch_us);
	}
	fw_cuda_close(&cuda);
}
