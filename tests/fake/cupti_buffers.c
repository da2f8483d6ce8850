/*
 * The client's buffers, as CUPTI treats them: asked for on the thread that makes the record, filled when the
 * call is made, complete when the GPU is done, handed over by a thread of CUPTI's own (or, as the script says,
 * late, in another order, or on the thread that flushes).
 */
#include "cupti.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define QUEUE     256u
#define ENTRIES   65536u
#define GAP_BYTES 32 /* between two records: bytes that belong to none */
#define LOOK_NS   1000000

/* A record in a buffer that was not complete when it was put. */
struct entry {
	uint32_t offset;
	int64_t complete;
};

struct buffer {
	uint8_t *bytes;
	size_t size, used, records, max_records;
	int64_t complete; /* when its last record is */
	int64_t due;      /* when it is handed over */
	struct entry *late;
	size_t late_count;
	CUpti_BuffersCallbackCompleteFunc completed;
	bool is_forced;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct {
	CUpti_BuffersCallbackRequestFunc request;
	CUpti_BuffersCallbackCompleteFunc complete;
} client; /* side by side, as CUPTI has them */
static struct buffer current, queue[QUEUE];
static unsigned queued, handing_over;
static size_t dropped;
static uint32_t period_ms;
static bool has_thread;
static _Thread_local bool is_inside; /* in a callback of the client's */

/* With the lock: the current buffer goes to the end of the queue. */
static void seal(bool is_forced)
{
	if (!current.bytes || queued == QUEUE)
		return;
	current.is_forced = is_forced;
	current.due = fake_now() + fake_script_number("late_ms", 0) * 1000000;
	queue[queued++] = current;
	current = (struct buffer){ .bytes = NULL };
	pthread_cond_broadcast(&changed);
}

static bool ask(void)
{
	struct buffer b = { .completed = client.complete };

	is_inside = true;
	client.request(&b.bytes, &b.size, &b.max_records);
	is_inside = false;
	if (!b.bytes || b.size < RECORD_BYTES + GAP_BYTES)
		return false;
	if ((uintptr_t)b.bytes % 8)
		abort();
	b.late = malloc(ENTRIES * sizeof(*b.late));
	if (!b.late)
		abort();
	current = b;
	return true;
}

static bool is_full(size_t bytes)
{
	long long most = fake_script_number("buffer_records", 0);

	return current.used + bytes + GAP_BYTES > current.size ||
	       (current.max_records && current.records == current.max_records) ||
	       (most > 0 && current.records >= (size_t)most) || current.late_count == ENTRIES;
}

void buffers_put(const uint8_t *record, size_t bytes, int64_t done)
{
	if (!bytes)
		return;
	pthread_mutex_lock(&lock);
	if (current.bytes && is_full(bytes))
		seal(false);
	if (!client.request || (!current.bytes && !ask()) || is_full(bytes)) {
		dropped++;
		pthread_mutex_unlock(&lock);
		return;
	}
	memcpy(current.bytes + current.used, record, bytes);
	memset(current.bytes + current.used + bytes, 0xee, GAP_BYTES);
	if (done > fake_now())
		current.late[current.late_count++] = (struct entry){ (uint32_t)current.used, done };
	if (current.complete < done)
		current.complete = done;
	current.used += bytes + GAP_BYTES;
	current.records++;
	pthread_mutex_unlock(&lock);
}

void buffers_reset(void)
{
	pthread_mutex_lock(&lock);
	client.request = NULL;
	client.complete = NULL;
	current = (struct buffer){ .bytes = NULL };
	queued = 0;
	period_ms = 0;
	dropped = 0;
	while (handing_over && !is_inside)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

/* With the lock: the buffer to hand over next; QUEUE: none yet. */
static unsigned next_due(int64_t now)
{
	const char *order = fake_script("order");
	unsigned found = QUEUE;

	for (unsigned i = 0; i < queued; i++) {
		if (queue[i].due > now || (!queue[i].is_forced && queue[i].complete > now))
			continue;
		found = i;
		if (!order || strcmp(order, "reverse"))
			break;
	}
	return found;
}

/* With the lock, which is given up meanwhile: hands one buffer over; whether there was one. */
static bool hand_over(void)
{
	int64_t now = fake_now();
	unsigned i = next_due(now);
	struct buffer b;

	if (i == QUEUE)
		return false;
	b = queue[i];
	memmove(queue + i, queue + i + 1, (--queued - i) * sizeof(*queue));
	handing_over++;
	pthread_mutex_unlock(&lock);
	for (size_t e = 0; e < b.late_count; e++)
		if (b.late[e].complete > now)
			record_forget_times((CUpti_Activity *)(b.bytes + b.late[e].offset));
	free(b.late);
	is_inside = true;
	b.completed(NULL, 0, b.bytes, b.size, b.used);
	is_inside = false;
	pthread_mutex_lock(&lock);
	handing_over--;
	pthread_cond_broadcast(&changed);
	return true;
}

static void wait_a_little(void)
{
	struct timespec t;
	int64_t until;

	clock_gettime(CLOCK_REALTIME, &t);
	until = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec + LOOK_NS;
	t = (struct timespec){ until / 1000000000, until % 1000000000 };
	pthread_cond_timedwait(&changed, &lock, &t);
}

static void *run(void *unused)
{
	int64_t flushed = fake_now();

	pthread_mutex_lock(&lock);
	for (;;) {
		if (period_ms && fake_now() - flushed >= (int64_t)period_ms * 1000000) {
			if (current.records && current.complete <= fake_now())
				seal(false);
			flushed = fake_now();
		}
		if (hand_over())
			continue;
		if (queued || period_ms)
			wait_a_little();
		else
			pthread_cond_wait(&changed, &lock);
	}
	return unused;
}

/* With the lock. The program's signals are for the program's own threads. */
static void start_thread(void)
{
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (!has_thread && !pthread_create(&thread, NULL, run, NULL)) {
		has_thread = true;
		pthread_detach(thread);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
					   CUpti_BuffersCallbackCompleteFunc completed)
{
	CUptiResult error = cupti_error("cuptiActivityRegisterCallbacks");
	const char *mixed;

	if (error || !requested || !completed)
		return error ? error : CUPTI_ERROR_INVALID_PARAMETER;
	pthread_mutex_lock(&lock);
	/* What the client before asked for goes back to it, or else to the one that comes now. */
	mixed = fake_script("register");
	if (mixed && !strcmp(mixed, "mixed")) {
		current.completed = completed;
		for (unsigned i = 0; i < queued; i++)
			queue[i].completed = completed;
	} else {
		seal(true);
	}
	client.request = requested;
	client.complete = completed;
	start_thread();
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

/* With the lock: may the caller wait for this buffer? */
static bool is_awaited(bool is_forced)
{
	for (unsigned i = 0; i < queued; i++)
		if (is_forced || queue[i].is_forced || queue[i].complete <= fake_now())
			return true;
	return handing_over > 0;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
	CUptiResult error = cupti_error("cuptiActivityFlushAll");
	const char *deliver = fake_script("deliver"), *forced = fake_script("forced");
	bool is_forced = flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED;
	bool is_caller = deliver && !strcmp(deliver, "caller");

	if (error)
		return error;
	if (forced && !strcmp(forced, "keep"))
		is_forced = false;
	pthread_mutex_lock(&lock);
	/* CUPTI 13 answers success where nobody has registered callbacks, whatever its header says. */
	if (current.records && (is_forced || current.complete <= fake_now()))
		seal(is_forced);
	for (unsigned i = 0; i < queued && is_forced; i++)
		queue[i].is_forced = true;
	while (!is_inside && is_awaited(is_forced)) {
		if (is_caller && hand_over())
			continue;
		pthread_cond_broadcast(&changed);
		wait_a_little();
	}
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushPeriod(uint32_t time)
{
	CUptiResult error = cupti_error("cuptiActivityFlushPeriod");

	if (error)
		return error;
	pthread_mutex_lock(&lock);
	period_ms = time;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *count)
{
	CUptiResult error = cupti_error("cuptiActivityGetNumDroppedRecords");

	(void)context, (void)stream;
	if (error)
		return error;
	pthread_mutex_lock(&lock);
	*count = dropped;
	dropped = 0;
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
	CUptiResult error = cupti_error("cuptiActivityGetNextRecord");
	uint8_t *next = buffer;

	if (error || !buffer || !record)
		return error ? error : CUPTI_ERROR_INVALID_PARAMETER;
	if (*record)
		next = (uint8_t *)*record + record_bytes(*record) + GAP_BYTES;
	if (next >= buffer + valid)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record = (CUpti_Activity *)next;
	return record_bytes(*record) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_KIND;
}
