#include "doctor/smoke_measure.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COPY_BYTES ((size_t)64 << 20)
#define COPIES     8
#define LAUNCHES   2000

/* A kernel that does nothing, for every GPU from compute capability 5.0 on. */
static const char ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
			  ".visible .entry nothing()\n{\n\tret;\n}\n";

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Notes the first call that failed; true: this one did not. */
static bool check(const struct fw_cuda *cuda, struct fw_smoke *smoke, const char *call, int result)
{
	struct fw_error err = { 0 };

	if (!result)
		return true;
	fw_cuda_fail(cuda, result, call, &err);
	if (!smoke->failed[0])
		snprintf(smoke->failed, sizeof(smoke->failed), "%s", err.message);
	return false;
}

/* GB/s of the best of some copies, the first of which is not counted; 0: a call failed. */
static double copy(const struct fw_cuda *cuda, struct fw_smoke *smoke, uint64_t address,
		   const void *memory)
{
	double best = 0;

	for (int i = 0; i <= COPIES; i++) {
		double start = now_s(), speed;

		if (!check(cuda, smoke, "cuMemcpyHtoD of 64 MiB",
			   cuda->memcpy_host_to_device(address, memory, COPY_BYTES)) ||
		    !check(cuda, smoke, "cuCtxSynchronize after a copy", cuda->ctx_synchronize()))
			return 0;
		speed = (double)COPY_BYTES / (now_s() - start) / 1e9;
		best = i && speed > best ? speed : best;
	}
	return best;
}

static void measure_copies(const struct fw_cuda *cuda, struct fw_smoke *smoke)
{
	void *pageable = malloc(COPY_BYTES), *pinned = NULL;
	uint64_t address = 0;

	if (!pageable) {
		snprintf(smoke->failed, sizeof(smoke->failed), "no 64 MiB of host memory");
		return;
	}
	if (check(cuda, smoke, "cuMemAlloc of 64 MiB", cuda->mem_alloc(&address, COPY_BYTES))) {
		memset(pageable, 1, COPY_BYTES);
		smoke->pageable_gb_s = copy(cuda, smoke, address, pageable);
		if (check(cuda, smoke, "cuMemAllocHost of 64 MiB",
			  cuda->mem_alloc_host(&pinned, COPY_BYTES))) {
			memset(pinned, 1, COPY_BYTES);
			smoke->pinned_gb_s = copy(cuda, smoke, address, pinned);
			cuda->mem_free_host(pinned);
		}
		cuda->mem_free(address);
	}
	free(pageable);
}

static bool launch(const struct fw_cuda *cuda, struct fw_smoke *smoke, void *function, int times)
{
	for (int i = 0; i < times; i++)
		if (!check(cuda, smoke, "cuLaunchKernel",
			   cuda->launch_kernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL)))
			return false;
	return check(cuda, smoke, "cuCtxSynchronize after launches", cuda->ctx_synchronize());
}

static void measure_launches(const struct fw_cuda *cuda, struct fw_smoke *smoke)
{
	void *module = NULL, *function = NULL;

	if (!check(cuda, smoke, "cuModuleLoadData of a PTX kernel",
		   cuda->module_load_data(&module, ptx)))
		return;
	if (check(cuda, smoke, "cuModuleGetFunction",
		  cuda->module_get_function(&function, module, "nothing")) &&
	    launch(cuda, smoke, function, 100)) {
		double start = now_s();

		launch(cuda, smoke, function, LAUNCHES);
		smoke->launch_us = (now_s() - start) / LAUNCHES * 1e6;
	}
	cuda->module_unload(module);
}

static bool begin(const struct fw_cuda *cuda, struct fw_smoke *smoke, int *device)
{
	void *context = NULL;
	double start = now_s();

	if (!check(cuda, smoke, "cuInit", cuda->init(0)) ||
	    !check(cuda, smoke, "cuDeviceGet (no GPU is shown to CUDA?)",
		   cuda->device_get(device, 0)) ||
	    !check(cuda, smoke, "cuDevicePrimaryCtxRetain",
		   cuda->device_primary_ctx_retain(&context, *device)))
		return false;
	check(cuda, smoke, "cuCtxSetCurrent", cuda->ctx_set_current(context));
	smoke->context_ms = (now_s() - start) * 1e3;
	return true;
}

static void measure(const struct fw_cuda *cuda, struct fw_smoke *smoke)
{
	int device = 0;

	if (!cuda->mem_alloc || !cuda->mem_free || !cuda->mem_alloc_host || !cuda->mem_free_host ||
	    !cuda->memcpy_host_to_device || !cuda->launch_kernel || !cuda->ctx_synchronize) {
		snprintf(smoke->failed, sizeof(smoke->failed), "libcuda lacks a call");
		return;
	}
	if (!begin(cuda, smoke, &device))
		return;
	if (!smoke->failed[0])
		measure_copies(cuda, smoke);
	if (!smoke->failed[0])
		measure_launches(cuda, smoke);
	cuda->ctx_set_current(NULL);
	cuda->device_primary_ctx_release(device);
}

/* What the child found comes in one piece: it is shorter than a pipe. False: not in time. */
static bool has_answer(int fd, int timeout_ms)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	int got;

	do
		got = poll(&ready, 1, timeout_ms);
	while (got < 0 && errno == EINTR);
	return got > 0;
}

/* A process that hangs inside the driver may not even die; it is not waited for. */
static void end_child(pid_t pid, bool has_answered, int *status)
{
	if (!has_answered)
		kill(pid, SIGKILL);
	*status = 0;
	waitpid(pid, status, has_answered ? 0 : WNOHANG);
}

void fw_smoke_measure(const struct fw_cuda *cuda, int timeout_ms, struct fw_smoke *smoke)
{
	int ends[2], status;
	ssize_t got = 0;
	bool has_answered;
	pid_t pid;

	*smoke = (struct fw_smoke){ .failed = "no process to try it in could be started" };
	if (pipe(ends))
		return;
	pid = fork();
	if (!pid) {
		*smoke = (struct fw_smoke){ 0 };
		measure(cuda, smoke);
		_exit(write(ends[1], smoke, sizeof(*smoke)) != (ssize_t)sizeof(*smoke));
	}
	close(ends[1]);
	if (pid > 0) {
		has_answered = has_answer(ends[0], timeout_ms);
		if (has_answered)
			got = read(ends[0], smoke, sizeof(*smoke));
		end_child(pid, has_answered, &status);
		if (!has_answered)
			snprintf(smoke->failed, sizeof(smoke->failed),
				 "the driver did not answer within %d s", timeout_ms / 1000);
		else if (got != (ssize_t)sizeof(*smoke))
			snprintf(smoke->failed, sizeof(smoke->failed),
				 "the process that tried it died in the driver (signal %d)",
				 WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	}
	close(ends[0]);
}
