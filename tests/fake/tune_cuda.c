/*
 * A stand-in for libcuda.so.1 as far as tune's owner of the GPU calls it. Device memory is host memory, time is a
 * number that launches move, and a kernel is what the stand-in for NVRTC wrote into its cubin: lines KEY VALUE of
 * kernels launched with (out, in, n), floats but n:
 *
 *   effect scale        out[i] = 2 * in[i] + 1 for the threads launched
 *   effect accumulate   out[i] += in[i]
 *   effect half         scale, but only the first half
 *   effect wrong K      scale, but out[K] is 1 more; nan K: not a number; round: all a little more
 *   effect outside K    scale, and out[K] too; effect input K: scale, and in[K]; skip K: scale, but not out[K]
 *   effect crash CODE   every later call answers CODE; refuse CODE: the launch does
 *   effect die SIGNAL   the process gets it; effect hang: it never ends; effect nothing
 *   effect touch        all poisoned buffers get one value, whatever the arguments are
 *   from N EFFECT ...   that effect from the N-th launch on
 *   time_us T           of a launch, 100; cold_us T: of the first one; after_other_us T: of one behind another kernel's
 *   clock MHZ           writes what NVML answers from now on into $FW_FAKE_NVML; throttle REASONS likewise
 *   slow N MHZ          the N-th launch does so, and the one after it undoes it (1980)
 *
 * $FW_FAKE_TUNE_ERROR: "CALL CODE": that call fails. $FW_FAKE_TUNE_COUNTS names a file that takes a line for each module
 * that is loaded and each upload.
 */
#include "tune/compare.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))

struct function {
	char *text;
	unsigned launches;
	int is_check, is_wait, smem_allowed;
};

struct launch {
	struct function *function;
	unsigned blocks, threads;
	char arguments[64];
};

struct graph {
	unsigned count, room;
	struct launch *launches;
};

static double now_us;
static int sticky;
static const struct function *latest; /* launched, checks and waits aside */
static int is_hung;
static struct graph *captured;

static int answer(const char *call)
{
	const char *script = getenv("FW_FAKE_TUNE_ERROR");
	char name[64];
	int code;

	if (script && sscanf(script, "%63s %d", name, &code) == 2 && !strcmp(name, call))
		return code;
	return sticky;
}

static void count(const char *what)
{
	const char *path = getenv("FW_FAKE_TUNE_COUNTS");
	FILE *file = path ? fopen(path, "ae") : NULL;

	if (file) {
		fprintf(file, "%s\n", what);
		fclose(file);
	}
}

static void set_nvml(const char *format, ...)
{
	const char *path = getenv("FW_FAKE_NVML");
	FILE *file = path ? fopen(path, "we") : NULL;
	va_list args;

	if (!file)
		return;
	va_start(args, format);
	vfprintf(file, format, args);
	va_end(args);
	fclose(file);
}

#define CALL(name, args)                                                                           \
	API int name args                                                                          \
	{                                                                                          \
		return answer(#name);                                                              \
	}
CALL(cuInit, (unsigned flags __attribute__((unused))))
CALL(cuDevicePrimaryCtxRelease_v2, (int device __attribute__((unused))))
CALL(cuCtxSetCurrent, (void *context __attribute__((unused))))
CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor, (void))
CALL(cuFuncGetAttribute, (void))
CALL(cuMemAllocHost_v2, (void))
CALL(cuMemFreeHost, (void))

API int cuGetErrorName(int error, const char **name)
{
	*name = error == 700   ? "CUDA_ERROR_ILLEGAL_ADDRESS"
		: error == 701 ? "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
		: error == 719 ? "CUDA_ERROR_LAUNCH_FAILED"
		: error == 2   ? "CUDA_ERROR_OUT_OF_MEMORY"
		: error == 100 ? "CUDA_ERROR_NO_DEVICE"
			       : "CUDA_ERROR_UNKNOWN";
	return 0;
}

API int cuDriverGetVersion(int *version)
{
	*version = 13000;
	return answer("cuDriverGetVersion");
}

API int cuDeviceGetCount(int *number)
{
	*number = 1;
	return answer("cuDeviceGetCount");
}

API int cuDeviceGet(int *device, int ordinal)
{
	*device = ordinal;
	return answer("cuDeviceGet");
}

API int cuDeviceGetName(char *name, int len, int device)
{
	(void)device;
	snprintf(name, (size_t)len, "NVIDIA H200 (stand-in)");
	return answer("cuDeviceGetName");
}

/* The first GPU of the stand-in for NVML. */
API int cuDeviceGetUuid_v2(unsigned char uuid[16], int device)
{
	(void)device;
	memset(uuid, 0, 16);
	return answer("cuDeviceGetUuid_v2");
}

API int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	(void)device;
	*value = attribute == 75   ? 9
		 : attribute == 76 ? 0
		 : attribute == 16 ? 132
		 : attribute == 38 ? 1 << 20
				   : 0;
	return answer("cuDeviceGetAttribute");
}

API int cuDevicePrimaryCtxRetain(void **context, int device)
{
	(void)device;
	*context = &now_us;
	return answer("cuDevicePrimaryCtxRetain");
}

static int wait_for_all(const char *call)
{
	while (is_hung)
		pause();
	return answer(call);
}

API int cuCtxSynchronize(void)
{
	return wait_for_all("cuCtxSynchronize");
}

API int cuStreamCreate(void **stream, unsigned flags)
{
	(void)flags;
	*stream = &now_us;
	return answer("cuStreamCreate");
}

API int cuStreamSynchronize(void *stream)
{
	(void)stream;
	return wait_for_all("cuStreamSynchronize");
}

API int cuEventCreate(void **event, unsigned flags)
{
	(void)flags;
	*event = calloc(1, sizeof(double));
	return answer("cuEventCreate");
}

API int cuEventRecord(void *event, void *stream)
{
	(void)stream;
	*(double *)event = now_us;
	return answer("cuEventRecord");
}

API int cuEventSynchronize(void *event)
{
	(void)event;
	return wait_for_all("cuEventSynchronize");
}

API int cuEventElapsedTime(float *ms, void *start, void *end)
{
	*ms = (float)((*(double *)end - *(double *)start) / 1000);
	return answer("cuEventElapsedTime");
}

/* What is allocated, for "effect touch". */
static struct {
	unsigned char *base;
	size_t bytes;
} blocks[256];

API int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
	unsigned i = 0;

	*address = bytes > (size_t)1 << 30 ? 0 : (uint64_t)(uintptr_t)malloc(bytes);
	while (i < 255 && blocks[i].base)
		i++;
	blocks[i].base = (unsigned char *)(uintptr_t)*address;
	blocks[i].bytes = bytes;
	return *address ? answer("cuMemAlloc_v2") : 2;
}

API int cuMemFree_v2(uint64_t address)
{
	for (unsigned i = 0; i < 256; i++)
		if (blocks[i].base == (unsigned char *)(uintptr_t)address)
			blocks[i].base = NULL;
	free((void *)(uintptr_t)address);
	return answer("cuMemFree_v2");
}

API int cuMemcpyHtoD_v2(uint64_t address, const void *memory, size_t bytes)
{
	memcpy((void *)(uintptr_t)address, memory, bytes);
	/* The findings of a check are cleared each time. */
	if (bytes != FW_TUNE_MAX_ARGS * sizeof(struct fw_tune_findings))
		count("upload");
	return answer("cuMemcpyHtoD_v2");
}

API int cuMemcpyDtoH_v2(void *memory, uint64_t address, size_t bytes)
{
	memcpy(memory, (const void *)(uintptr_t)address, bytes);
	return wait_for_all("cuMemcpyDtoH_v2");
}

API int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
	(void)stream;
	now_us += 5;
	memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
	return answer("cuMemcpyDtoDAsync_v2");
}

API int cuMemsetD8Async(uint64_t address, unsigned char value, size_t bytes, void *stream)
{
	(void)stream;
	now_us += 5;
	memset((void *)(uintptr_t)address, value, bytes);
	return answer("cuMemsetD8Async");
}

static uint64_t number_at(const unsigned char *p, unsigned bytes)
{
	uint64_t value = 0;

	memcpy(&value, p, bytes);
	return value;
}

API int cuModuleLoadData(void **module, const void *image)
{
	count("module");
	*module = (void *)(uintptr_t)image;
	return memcmp(image, "\177ELF", 4) ? 200 : answer("cuModuleLoadData");
}

API int cuModuleUnload(void *module)
{
	(void)module;
	return answer("cuModuleUnload");
}

/* Our own kernels are known by name; of others the text lies in the section .text.NAME. */
API int cuModuleGetFunction(void **function, void *module, const char *name)
{
	const unsigned char *elf = module, *sections = elf + number_at(elf + 40, 8);
	const unsigned char *names =
		elf + number_at(sections + 64 * number_at(elf + 62, 2) + 24, 8);
	struct function *f = calloc(1, sizeof(*f));

	*function = f;
	if (!f)
		return 2;
	f->is_check = !strcmp(name, FW_TUNE_CHECK_KERNEL);
	f->is_wait = !strcmp(name, FW_TUNE_WAIT_KERNEL);
	for (unsigned i = 0; i < number_at(elf + 60, 2); i++) {
		const unsigned char *s = sections + 64 * i;
		const char *own = (const char *)names + number_at(s, 4);

		if (!strncmp(own, ".text.", 6) && !strcmp(own + 6, name))
			f->text = strdup((const char *)elf + number_at(s + 24, 8));
	}
	return f->text || f->is_check || f->is_wait ? answer("cuModuleGetFunction") : 500;
}

API int cuFuncSetAttribute(void *function, int attribute, int value)
{
	if (attribute == 8)
		((struct function *)function)->smem_allowed = value;
	return answer("cuFuncSetAttribute");
}

/* The value of a key; the last line counts. */
static const char *find(const struct function *f, const char *key)
{
	const char *found = NULL;

	for (const char *line = f->text; line && *line; line = strchr(line, '\n') + 1)
		if (!strncmp(line, key, strlen(key)) && line[strlen(key)] == ' ')
			found = line + strlen(key) + 1;
	return found;
}

static double setting(const struct function *f, const char *key, double otherwise)
{
	const char *value = find(f, key);

	return value ? strtod(value, NULL) : otherwise;
}

static void compute(const struct launch *l, const char *effect, long k)
{
	uint64_t arguments[3];
	float *out, *in;
	int n, threads = (int)(l->blocks * l->threads);

	memcpy(arguments, l->arguments, sizeof(arguments));
	out = (float *)(uintptr_t)arguments[0];
	in = (float *)(uintptr_t)arguments[1];
	memcpy(&n, &arguments[2], sizeof(n));
	n = n < threads ? n : threads;
	if (!strncmp(effect, "half", 4))
		n /= 2;
	for (int i = 0; i < n; i++)
		out[i] = !strncmp(effect, "accumulate", 10) ? out[i] + in[i] : 2 * in[i] + 1;
	if (!strncmp(effect, "wrong", 5))
		out[k] += 1;
	if (!strncmp(effect, "nan", 3))
		out[k] = NAN;
	for (int i = 0; i < n && !strncmp(effect, "round", 5); i++)
		out[i] *= 1 + 1e-6f;
	if (!strncmp(effect, "outside", 7))
		out[k] = 42;
	if (!strncmp(effect, "input", 5))
		in[k] = 5;
	if (!strncmp(effect, "skip", 4))
		memset(&out[k], FW_TUNE_POISON, sizeof(*out));
}

static void touch(void)
{
	for (unsigned i = 0; i < 256; i++) {
		unsigned char *data = blocks[i].base ? blocks[i].base + FW_TUNE_CANARY_BYTES : NULL;

		if (data && blocks[i].bytes > 2 * FW_TUNE_CANARY_BYTES &&
		    data[-1] == FW_TUNE_CANARY && data[0] == FW_TUNE_POISON)
			memset(data, 0x11, blocks[i].bytes - 2 * FW_TUNE_CANARY_BYTES);
	}
}

static void change_clocks(struct function *f)
{
	const char *clock = find(f, "clock"), *throttle = find(f, "throttle"),
		   *slow = find(f, "slow");
	unsigned nth, mhz;

	if (clock || throttle)
		set_nvml("0.sm_mhz %ld\n0.clocks_reasons %ld\n",
			 clock ? strtol(clock, NULL, 0) : 1980,
			 throttle ? strtol(throttle, NULL, 0) : 0);
	if (slow && sscanf(slow, "%u %u", &nth, &mhz) == 2 && f->launches >= nth)
		set_nvml("0.sm_mhz %u\n0.clocks_reasons 0\n", f->launches == nth ? mhz : 1980);
}

static int perform(const struct launch *l)
{
	struct function *f = l->function;
	struct fw_tune_check check;
	const char *effect, *from;
	unsigned nth;
	char what[16] = "";
	long value = 0;

	if (f->is_wait)
		return 0;
	if (f->is_check) {
		memcpy(&check, l->arguments, sizeof(check));
		fw_tune_check_host(&check);
		return 0;
	}
	f->launches++;
	effect = find(f, "effect");
	from = find(f, "from");
	if (from && (nth = (unsigned)strtoul(from, (char **)(uintptr_t)&from, 10)) &&
	    f->launches >= nth)
		effect = from + 1;
	effect = effect ? effect : "nothing";
	sscanf(effect, "%15s %ld", what, &value);
	now_us += setting(f,
			  f->launches == 1 ? "cold_us"
			  : f != latest    ? "after_other_us"
					   : "time_us",
			  setting(f, "time_us", 100));
	latest = f;
	change_clocks(f);
	if (!strcmp(what, "refuse"))
		return (int)value;
	if (!strcmp(what, "crash"))
		sticky = (int)value;
	else if (!strcmp(what, "die")) {
		signal((int)value, SIG_DFL);
		raise((int)value);
	} else if (!strcmp(what, "hang"))
		is_hung = 1;
	else if (!strcmp(what, "touch"))
		touch();
	else if (strcmp(what, "nothing"))
		compute(l, effect, value);
	return 0;
}

static int launch(struct launch *l, void **parameters)
{
	struct launch *grown;

	if (l->function->is_check)
		memcpy(l->arguments, parameters[0], sizeof(struct fw_tune_check));
	/* Only the effects on (out, in, n) read them. */
	for (int i = 0; i < 3 && l->function->text && !strstr(l->function->text, "effect touch");
	     i++)
		memcpy(l->arguments + 8 * i, parameters[i], 8);
	if (!captured)
		return perform(l);
	grown = realloc(captured->launches, (captured->count + 1) * sizeof(*l));
	if (!grown)
		return 2;
	captured->launches = grown;
	captured->launches[captured->count++] = *l;
	return 0;
}

API int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
		       unsigned block_x, unsigned block_y, unsigned block_z, unsigned smem_bytes,
		       void *stream, void **parameters, void **extra)
{
	struct launch l = { function, grid_x * grid_y * grid_z, block_x * block_y * block_z, "" };
	int code = answer("cuLaunchKernel");

	(void)stream;
	(void)extra;
	/* More than 48 KB has to be asked for. */
	if ((int)smem_bytes > 48 * 1024 && (int)smem_bytes > l.function->smem_allowed)
		return 1;
	return code ? code : launch(&l, parameters);
}

API int cuLaunchKernelEx(const unsigned *config, void *function, void **parameters, void **extra)
{
	(void)extra;
	return cuLaunchKernel(function, config[0], config[1], config[2], config[3], config[4],
			      config[5], config[6], NULL, parameters, NULL);
}

API int cuStreamBeginCapture_v2(void *stream, int mode)
{
	(void)stream;
	(void)mode;
	captured = calloc(1, sizeof(*captured));
	return captured ? answer("cuStreamBeginCapture_v2") : 2;
}

API int cuStreamEndCapture(void *stream, void **graph)
{
	(void)stream;
	*graph = captured;
	captured = NULL;
	return answer("cuStreamEndCapture");
}

API int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags)
{
	struct graph *from = graph, *to = calloc(1, sizeof(*to));

	(void)flags;
	*exec = to;
	if (!to)
		return 2;
	*to = *from;
	from->launches = NULL;
	return answer("cuGraphInstantiateWithFlags");
}

API int cuGraphLaunch(void *exec, void *stream)
{
	struct graph *g = exec;
	int code = answer("cuGraphLaunch");

	(void)stream;
	for (unsigned i = 0; !code && i < g->count; i++)
		code = perform(&g->launches[i]);
	return code;
}

static int destroy(struct graph *g)
{
	free(g->launches);
	free(g);
	return 0;
}

API int cuGraphDestroy(void *graph)
{
	return destroy(graph);
}

API int cuGraphExecDestroy(void *exec)
{
	return destroy(exec);
}
