/* The simulated GPUs: a lock, times, ids, and a file that says what truly happened. */
#include "engine.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PINNED          256u
#define LINE_BYTES      1024
#define FIRST_LAUNCH_NS 500 /* from the call to the GPU's start on an empty stream */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct fake_hooks *_Atomic hooks;
static struct stream defaults[GPUS];
static int64_t device_end[GPUS];
static struct {
	const char *memory;
	size_t bytes;
} pinned[PINNED];
static _Atomic uint32_t next_correlation = 1, next_id = 100;
static atomic_bool started, forked;
static _Thread_local uint32_t device, correlation, depth;

static void in_child(void)
{
	if (started)
		forked = true;
}

void engine_start(void)
{
	if (atomic_exchange(&started, true))
		return;
	for (uint32_t i = 0; i < GPUS; i++)
		defaults[i] = (struct stream){ .id = 7, .device = i };
	pthread_atfork(NULL, NULL, in_child);
}

bool engine_is_started(void)
{
	return started;
}

bool engine_is_forked(void)
{
	return forked;
}

uint32_t engine_device(void)
{
	return device;
}

void engine_set_device(uint32_t which)
{
	device = which;
}

uint32_t engine_devices(void)
{
	long long n = fake_script_number("devices", 1);

	return n > 0 && n <= (long long)GPUS ? (uint32_t)n : 1;
}

uint32_t engine_next_id(void)
{
	return atomic_fetch_add(&next_id, 1);
}

uint32_t engine_correlation(void)
{
	return correlation;
}

struct stream *engine_stream(void *handle)
{
	/* cudaStreamLegacy and cudaStreamPerThread are 1 and 2. */
	return (uintptr_t)handle <= 2 ? &defaults[device] : handle;
}

/* A line into $FW_FAKE_TRUTH/truth-<pid>; opened each time, since a program may close every descriptor. */
static void write_truth(const char *line, int length)
{
	const char *folder = getenv("FW_FAKE_TRUTH");
	char path[512];
	int fd, kept = errno;

	if (!folder || length <= 0 || length >= LINE_BYTES)
		return;
	snprintf(path, sizeof(path), "%s/truth-%d", folder, getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd >= 0) {
		if (write(fd, line, (size_t)length) != length)
			abort();
		close(fd);
	}
	errno = kept;
}

static const char *const whats[] = { "kernel", "copy",   "memset", "graph",  "sync",
				     "event",  "memory", "module", "stream", "context" };

static void write_activity(const struct fake_activity *a)
{
	char line[LINE_BYTES];

	if (!getenv("FW_FAKE_TRUTH"))
		return;
	write_truth(
		line,
		snprintf(line, sizeof(line),
			 "{\"what\":\"%s\",\"correlation\":%u,\"device\":%u,\"context\":%u,"
			 "\"stream\":%u,\"start\":%lld,\"end\":%lld,\"name\":\"%s\",\"grid\":[%d,%"
			 "d,%d],"
			 "\"block\":[%d,%d,%d],\"smem_static\":%d,\"smem_dynamic\":%d,"
			 "\"registers\":%u,"
			 "\"bytes\":%llu,\"address\":%llu,\"direction\":%u,\"src\":%u,\"dst\":%u,"
			 "\"is_async\":%d,\"is_free\":%d,\"type\":%u,\"event\":%u,\"event_sync\":%"
			 "llu,"
			 "\"node\":%llu,\"graph\":%u}\n",
			 whats[a->what], a->correlation, a->device, a->context, a->stream,
			 (long long)a->start, (long long)a->end, a->name ? a->name : "", a->grid[0],
			 a->grid[1], a->grid[2], a->block[0], a->block[1], a->block[2],
			 a->smem_static, a->smem_dynamic, a->registers,
			 (unsigned long long)a->bytes, (unsigned long long)a->address, a->direction,
			 a->src, a->dst, a->is_async, a->is_free, a->type, a->event,
			 (unsigned long long)a->event_sync, (unsigned long long)a->node, a->graph));
}

static void write_call(const struct fake_call *c)
{
	char line[LINE_BYTES];

	if (!getenv("FW_FAKE_TRUTH"))
		return;
	write_truth(line, snprintf(line, sizeof(line),
				   "{\"what\":\"call\",\"domain\":\"%s\",\"name\":\"%s\","
				   "\"correlation\":%u,\"tid\":%ld,\"start\":%lld,\"end\":%lld,"
				   "\"result\":%d,\"is_nested\":%d}\n",
				   c->domain == FAKE_RUNTIME ? "runtime" : "driver", c->name,
				   c->correlation, syscall(SYS_gettid), (long long)c->start,
				   (long long)c->end, c->result, c->is_nested));
}

void fake_gpu_attach(const struct fake_hooks *h)
{
	hooks = h;
}

bool fake_call_begin(struct fake_call *call, enum fake_domain domain, uint32_t cbid,
		     const char *name)
{
	const struct fake_hooks *h = hooks;

	if (forked || !started)
		return false;
	if (!depth++)
		correlation = atomic_fetch_add(&next_correlation, 1);
	*call = (struct fake_call){ .domain = domain,
				    .cbid = cbid,
				    .name = name,
				    .correlation = correlation,
				    .is_nested = depth > 1,
				    .start = fake_now() };
	if (h)
		h->enter(call);
	return true;
}

int fake_call_end(struct fake_call *call, int result)
{
	const struct fake_hooks *h = hooks;

	call->end = fake_now();
	call->result = result;
	if (h)
		h->exit(call);
	write_call(call);
	depth--;
	return result;
}

void engine_tell(const struct fake_activity *activity)
{
	const struct fake_hooks *h = hooks;

	if (h)
		h->activity(activity);
	write_activity(activity);
}

void engine_run(struct stream *stream, struct fake_activity *activity, long long length_ns)
{
	int64_t now = fake_now() + FIRST_LAUNCH_NS;

	activity->device = stream->device;
	activity->context = stream->device + 1;
	activity->stream = stream->id;
	pthread_mutex_lock(&lock);
	if (stream->capture) {
		if (stream->capture->count < GRAPH_NODES)
			stream->capture->nodes[stream->capture->count++] = *activity;
		pthread_mutex_unlock(&lock);
		return;
	}
	activity->start = stream->end > now ? stream->end : now;
	activity->end = activity->start + length_ns;
	stream->end = activity->end;
	if (device_end[stream->device] < stream->end)
		device_end[stream->device] = stream->end;
	pthread_mutex_unlock(&lock);
	engine_tell(activity);
}

int64_t engine_device_end(uint32_t which)
{
	int64_t end;

	pthread_mutex_lock(&lock);
	end = device_end[which];
	pthread_mutex_unlock(&lock);
	return end;
}

void engine_wait(int64_t until)
{
	struct timespec t = { until / 1000000000, until % 1000000000 };

	/* Short waits spin, as the driver does by default. */
	while (fake_now() < until)
		if (until - fake_now() > 200000)
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

void engine_pin(const void *memory, size_t bytes)
{
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < PINNED; i++) {
		if (!pinned[i].memory) {
			pinned[i].memory = memory;
			pinned[i].bytes = bytes;
			break;
		}
	}
	pthread_mutex_unlock(&lock);
}

static int find_pinned(const void *memory)
{
	for (unsigned i = 0; i < PINNED; i++)
		if (pinned[i].memory && (const char *)memory >= pinned[i].memory &&
		    (const char *)memory < pinned[i].memory + pinned[i].bytes)
			return (int)i;
	return -1;
}

bool engine_unpin(const void *memory)
{
	int i;

	pthread_mutex_lock(&lock);
	i = find_pinned(memory);
	if (i >= 0)
		pinned[i].memory = NULL;
	pthread_mutex_unlock(&lock);
	return i >= 0;
}

bool engine_is_pinned(const void *memory)
{
	bool is;

	pthread_mutex_lock(&lock);
	is = find_pinned(memory) >= 0;
	pthread_mutex_unlock(&lock);
	return is;
}
