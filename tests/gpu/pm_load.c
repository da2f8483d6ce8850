#include "pm_load.h"

#include "gpu/cuda.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PULSES 4096

/* Spins for `ns` of %globaltimer; block 0 writes when it began and ended. */
static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
			  ".visible .entry pulse(.param .u64 out, .param .u64 ns)\n{\n"
			  ".reg .pred %p<3>;\n.reg .b32 %r<4>;\n.reg .b64 %rd<8>;\n"
			  "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [ns];\n"
			  "mov.u64 %rd3, %globaltimer;\n"
			  "again:\nmov.u64 %rd4, %globaltimer;\nsub.u64 %rd5, %rd4, %rd3;\n"
			  "setp.lt.u64 %p1, %rd5, %rd2;\n@%p1 bra again;\n"
			  "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nor.b32 %r3, %r1, %r2;\n"
			  "setp.ne.u32 %p2, %r3, 0;\n@%p2 bra done;\n"
			  "st.global.u64 [%rd1], %rd3;\nst.global.u64 [%rd1+8], %rd4;\n"
			  "done:\nret;\n}\n";

static struct pulse pulses[PULSES];
static size_t pulse_count, record_count;

struct load {
	struct fw_cuda cuda;
	void *function;
	volatile uint64_t *times; /* page-locked, which the kernel writes */
	int sms;
	int (*timestamp)(uint64_t *);
};

static int64_t nanoseconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void must(int result, const char *what)
{
	if (!result)
		return;
	fprintf(stderr, "load: %s: %d\n", what, result);
	exit(1);
}

static void prepare(struct load *load)
{
	struct fw_error err = { 0 };
	void *context = NULL, *module = NULL, *memory = NULL;

	if (fw_cuda_open(&load->cuda, &err)) {
		fprintf(stderr, "load: %s\n", err.message);
		exit(77);
	}
	must(load->cuda.init(0), "cuInit");
	must(load->cuda.device_primary_ctx_retain(&context, 0), "context");
	must(load->cuda.ctx_set_current(context), "current");
	must(load->cuda.module_load_data(&module, ptx), "module");
	must(load->cuda.module_get_function(&load->function, module, "pulse"), "function");
	must(load->cuda.mem_alloc_host(&memory, 4096), "memory");
	must(load->cuda.device_get_attribute(&load->sms, FW_CUDA_SM_COUNT, 0), "SMs");
	load->times = memory;
}

static void launch(struct load *load, unsigned blocks, uint64_t ns, struct pulse *pulse)
{
	uint64_t out = (uint64_t)(uintptr_t)load->times;
	void *arguments[] = { &out, &ns };

	pulse->before_mono = nanoseconds(CLOCK_MONOTONIC);
	must(load->cuda.launch_kernel(load->function, blocks, 1, 1, 1024, 1, 1, 0, NULL, arguments,
				      NULL),
	     "launch");
	must(load->cuda.ctx_synchronize(), "synchronize");
	pulse->after_mono = nanoseconds(CLOCK_MONOTONIC);
	pulse->start_timer = load->times[0];
	pulse->end_timer = load->times[1];
}

static void fill(struct load *load, double seconds)
{
	int64_t end = nanoseconds(CLOCK_MONOTONIC) + (int64_t)(seconds * 1e9);
	struct pulse ignored;

	while (nanoseconds(CLOCK_MONOTONIC) < end)
		launch(load, (unsigned)load->sms / 2, 20000000, &ignored);
}

static void copy(struct load *load, double seconds)
{
	int64_t end = nanoseconds(CLOCK_MONOTONIC) + (int64_t)(seconds * 1e9);
	size_t bytes = (size_t)64 << 20;
	uint64_t device = 0;
	void *memory = NULL;

	must(load->cuda.mem_alloc(&device, bytes), "device memory");
	must(load->cuda.mem_alloc_host(&memory, bytes), "page-locked memory");
	while (nanoseconds(CLOCK_MONOTONIC) < end)
		must(load->cuda.memcpy_host_to_device(device, memory, bytes), "copy");
}

static void print_clock(struct load *load)
{
	struct clock_pair pair = { 0 };

	if (!load->timestamp)
		return;
	pair.before_mono = nanoseconds(CLOCK_MONOTONIC);
	must(load->timestamp(&pair.cupti), "cuptiGetTimestamp");
	pair.after_mono = nanoseconds(CLOCK_MONOTONIC);
	pair.realtime = nanoseconds(CLOCK_REALTIME);
	printf("C %" PRId64 " %" PRId64 " %" PRId64 " %" PRIu64 "\n", pair.before_mono,
	       pair.after_mono, pair.realtime, pair.cupti);
}

static void run_pulses(struct load *load, double seconds, unsigned period_ms)
{
	int64_t end = nanoseconds(CLOCK_MONOTONIC) + (int64_t)(seconds * 1e9);

	while (nanoseconds(CLOCK_MONOTONIC) < end && pulse_count < PULSES) {
		struct timespec pause = { period_ms / 1000, (period_ms % 1000) * 1000000L };

		nanosleep(&pause, NULL);
		launch(load, (unsigned)load->sms, 10000000, &pulses[pulse_count++]);
		print_clock(load);
	}
}

/* CUPTI's activity API, of which only what stays the same in all versions is used. */
static int (*next_record)(uint8_t *, size_t, void **);

static void give_buffer(uint8_t **buffer, size_t *size, size_t *most)
{
	*size = (size_t)1 << 20;
	*buffer = aligned_alloc(8, *size);
	*most = 0;
}

static void take_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	void *record = NULL;

	(void)context;
	(void)stream;
	(void)size;
	while (!next_record(buffer, valid, &record)) {
		uint64_t times[2];

		if (*(uint32_t *)record != 10) /* concurrent kernel */
			continue;
		memcpy(times, (char *)record + 16, sizeof(times)); /* of CUpti_ActivityKernel4 on */
		if (record_count < PULSES) {
			pulses[record_count].start_cupti = times[0];
			pulses[record_count++].end_cupti = times[1];
		}
	}
	free(buffer);
}

static void *find(void *library, const char *name)
{
	void *symbol = dlsym(library, name);

	must(!symbol, name);
	return symbol;
}

static void *begin_activity(struct load *load, const char *path)
{
	void *library = dlopen(path, RTLD_LAZY);
	int (*enable)(uint32_t);
	int (*callbacks)(void *, void *);

	must(!library, path);
	*(void **)&enable = find(library, "cuptiActivityEnable");
	*(void **)&callbacks = find(library, "cuptiActivityRegisterCallbacks");
	*(void **)&next_record = find(library, "cuptiActivityGetNextRecord");
	*(void **)&load->timestamp = find(library, "cuptiGetTimestamp");
	must(callbacks((void *)(uintptr_t)give_buffer, (void *)(uintptr_t)take_buffer),
	     "callbacks");
	must(enable(10), "cuptiActivityEnable");
	return library;
}

static void end_activity(void *library)
{
	int (*flush)(uint32_t);

	*(void **)&flush = find(library, "cuptiActivityFlushAll");
	must(flush(1), "cuptiActivityFlushAll");
}

int load_main(int argc, char **argv)
{
	struct load load = { 0 };
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
	unsigned period_ms = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 50;
	bool has_activity = argc > 3 && !strcmp(argv[0], "activity");
	void *library = NULL;

	if (has_activity)
		library = begin_activity(&load, argv[3]);
	prepare(&load);
	puts("R");
	fflush(stdout);
	if (!strcmp(argv[0], "fill"))
		fill(&load, seconds);
	else if (!strcmp(argv[0], "copy"))
		copy(&load, seconds);
	else
		run_pulses(&load, seconds, period_ms);
	if (has_activity)
		end_activity(library);
	for (size_t i = 0; i < pulse_count; i++)
		printf("P %" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		       "\n",
		       pulses[i].before_mono, pulses[i].after_mono, pulses[i].start_timer,
		       pulses[i].end_timer, pulses[i].start_cupti, pulses[i].end_cupti);
	fflush(stdout);
	return 0;
}
