/* Which image a thread reads next, with a bound on the memory that unpacked images take. */
#include "binary/schedule.h"

#include <sys/mman.h>

/* Buffers of up to this size are counted apart, so that large images do not hold up small ones. */
#define SMALL_BYTES ((size_t)2 << 20)
/* All small buffers together, and all large ones; one image above the limit is read alone. */
#define SMALL_LIMIT (UINT64_C(32) << 20)
#define LARGE_LIMIT (UINT64_C(96) << 20)
/* Page faults of a new buffer cost as much as unpacking; below this it is not worth being exact. */
#define LEAST_BYTES ((size_t)256 << 10)

void fw_schedule_init(struct fw_schedule *schedule, struct fw_job **jobs, size_t count)
{
	*schedule = (struct fw_schedule){ .jobs = jobs, .back = count };
	pthread_mutex_init(&schedule->lock, NULL);
	pthread_cond_init(&schedule->freed, NULL);
}

void fw_schedule_release(struct fw_schedule *schedule)
{
	pthread_cond_destroy(&schedule->freed);
	pthread_mutex_destroy(&schedule->lock);
}

/* The counter that a buffer of that size belongs to. */
static uint64_t *counter(struct fw_schedule *schedule, size_t bytes)
{
	return bytes <= SMALL_BYTES ? &schedule->small_bytes : &schedule->large_bytes;
}

/* Size of the buffer that the job should have: the present one unless it is too small or far too large. */
static size_t wanted(const struct fw_reader *reader, const struct fw_job *job)
{
	size_t size = (size_t)job->image.bytes;

	if (job->packing == FW_PACKING_NONE)
		return reader->buffer_bytes;
	if (reader->buffer_bytes >= size &&
	    (reader->buffer_bytes / 2 <= size || reader->buffer_bytes <= LEAST_BYTES))
		return reader->buffer_bytes;
	return size > LEAST_BYTES ? size : LEAST_BYTES;
}

static bool fits(struct fw_schedule *schedule, const struct fw_reader *reader,
		 const struct fw_job *job)
{
	size_t size = wanted(reader, job);
	uint64_t others, limit = size <= SMALL_BYTES ? SMALL_LIMIT : LARGE_LIMIT;

	if (size == reader->buffer_bytes)
		return true;
	others = *counter(schedule, size);
	if (counter(schedule, reader->buffer_bytes) == counter(schedule, size))
		others -= reader->buffer_bytes;
	return !others || others + size <= limit;
}

static void drop_buffer(struct fw_schedule *schedule, struct fw_reader *reader)
{
	if (reader->buffer)
		munmap(reader->buffer, reader->buffer_bytes);
	*counter(schedule, reader->buffer_bytes) -= reader->buffer_bytes;
	reader->buffer = NULL;
	reader->buffer_bytes = 0;
	pthread_cond_broadcast(&schedule->freed);
}

/* Memory is asked of the system directly, so that what is given back is really free. */
static void make_buffer(struct fw_schedule *schedule, struct fw_reader *reader, size_t size)
{
	void *p;

	if (size == reader->buffer_bytes)
		return;
	drop_buffer(schedule, reader);
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return;
	reader->buffer = p;
	reader->buffer_bytes = size;
	*counter(schedule, size) += size;
}

/* With the lock held: a job that there is room for; NULL when none is left. */
static struct fw_job *pick(struct fw_schedule *schedule, struct fw_reader *reader)
{
	while (schedule->front < schedule->back) {
		struct fw_job *job = schedule->jobs[schedule->front];

		if (fits(schedule, reader, job)) {
			schedule->front++;
			return job;
		}
		job = schedule->jobs[schedule->back - 1];
		if (fits(schedule, reader, job)) {
			schedule->back--;
			return job;
		}
		/* One's own buffer may be what is in the way. */
		if (reader->buffer_bytes)
			drop_buffer(schedule, reader);
		else
			pthread_cond_wait(&schedule->freed, &schedule->lock);
	}
	return NULL;
}

struct fw_job *fw_schedule_next(struct fw_schedule *schedule, struct fw_reader *reader)
{
	struct fw_job *job;

	pthread_mutex_lock(&schedule->lock);
	job = pick(schedule, reader);
	if (job)
		make_buffer(schedule, reader, wanted(reader, job));
	else
		drop_buffer(schedule, reader);
	pthread_mutex_unlock(&schedule->lock);
	return job;
}
