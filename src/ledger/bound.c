/* The most that removing something can gain: docs/ledger-cost.md. */
#include "ledger/cost.h"
#include "ledger/ledger_private.h"

#include <stdlib.h>

/* A thread counts from this share of the window's operations on: a hundredth. */
#define LAUNCHER_DIVISOR 100

/* A call that launches and takes longer waits for room in the GPU's queue; one that does not takes 5-15 us. */
#define STALLED_CALL_NS 100000

struct job {
	const struct fw_ledger *ledger;
	const struct fw_device_ledger *device;
	enum fw_bound_kind kind;
	uint32_t *calls; /* by thread */
	size_t count;
	uint64_t *launched; /* by thread: operations in the window */
	struct fw_interval
		*launching; /* by thread: from its first to its last launch in the window */
	uint64_t launches;
	uint32_t process;            /* whose spans are in blocked; FW_NONE: none yet */
	struct fw_intervals blocked; /* the finding's spans on all threads of the process */
	struct fw_intervals quiet;   /* the GPU works, and no thread that launches does */
};

static int by_thread(const void *ctx, uint32_t a, uint32_t b)
{
	const uint32_t *thread = ctx;

	return (thread[a] > thread[b]) - (thread[a] < thread[b]);
}

static bool in_window(const struct job *job, uint32_t op)
{
	const struct fw_trace_ops *ops = &job->ledger->trace->ops;

	return ops->start_ns[op] < job->device->window.end_ns &&
	       ops->end_ns[op] >= job->device->window.start_ns;
}

static void note_launch(struct job *job, uint32_t op, uint32_t call)
{
	const struct fw_trace_calls *calls = &job->ledger->trace->calls;
	uint32_t thread = calls->thread[call];
	struct fw_interval *span = &job->launching[thread];

	if (calls->start_ns[call] < span->start_ns)
		span->start_ns = calls->start_ns[call];
	if (calls->end_ns[call] > span->end_ns)
		span->end_ns = calls->end_ns[call];
	if (!in_window(job, op))
		return;
	job->launched[thread]++;
	job->launches++;
}

static bool count_launches(struct job *job)
{
	const struct fw_trace *t = job->ledger->trace;

	job->launched = calloc(t->threads.len + 1, sizeof(*job->launched));
	job->launching = malloc((t->threads.len + 1) * sizeof(*job->launching));
	if (!job->launched || !job->launching)
		return false;
	for (size_t i = 0; i < t->threads.len; i++)
		job->launching[i] = (struct fw_interval){ INT64_MAX, INT64_MIN };
	for (size_t i = 0; i < job->device->op_count; i++) {
		uint32_t op = job->device->ops[i], call = job->ledger->call_of_op[op];

		if (call != FW_NONE)
			note_launch(job, op, call);
	}
	return true;
}

static bool sort_calls(struct job *job, const uint32_t *calls)
{
	job->calls = malloc((job->count + 1) * sizeof(*job->calls));
	if (!job->calls)
		return false;
	for (size_t i = 0; i < job->count; i++)
		job->calls[i] = calls[i];
	return fw_sort_rows(job->calls, job->count, by_thread, job->ledger->trace->calls.thread);
}

static size_t first_of_thread(const struct job *job, uint32_t thread)
{
	const uint32_t *of = job->ledger->trace->calls.thread;
	size_t low = 0, high = job->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (of[job->calls[mid]] < thread)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Adds the time in which a thread waits for the GPU, or has nothing to launch. */
static bool add_waiting(const struct job *job, uint32_t thread, struct fw_intervals *set)
{
	const struct fw_thread_work *work = &job->ledger->private->threads[thread];
	const struct fw_trace_calls *calls = &job->ledger->trace->calls;
	const struct fw_window *window = &job->device->window;
	const struct fw_interval *launching = &job->launching[thread];

	if (!fw_thread_class(job->ledger, thread, FW_CLASS_SYNC, set) ||
	    !fw_thread_class(job->ledger, thread, FW_CLASS_BLOCKING_COPY, set))
		return false;
	for (size_t i = 0; i < work->call_count; i++) {
		uint32_t call = work->calls[i];

		if (job->ledger->private->call_class[call] == FW_CLASS_API &&
		    calls->end_ns[call] - calls->start_ns[call] > STALLED_CALL_NS &&
		    !fw_intervals_add(set, calls->start_ns[call], calls->end_ns[call]))
			return false;
	}
	return !job->launched[thread] ||
	       (fw_intervals_add(set, window->start_ns, launching->start_ns) &&
		fw_intervals_add(set, launching->end_ns, window->end_ns));
}

/* Adds what the finding takes away from a thread: the loader waits, the calls, or the waiting. */
static bool add_own(const struct job *job, uint32_t thread, struct fw_intervals *set)
{
	const struct fw_trace_calls *calls = &job->ledger->trace->calls;

	if (job->kind == FW_BOUND_INPUT)
		return fw_thread_class(job->ledger, thread, FW_CLASS_INPUT, set);
	if (job->kind == FW_BOUND_GPU)
		return add_waiting(job, thread, set);
	for (size_t i = first_of_thread(job, thread);
	     i < job->count && calls->thread[job->calls[i]] == thread; i++)
		if (!fw_intervals_add(set, calls->start_ns[job->calls[i]],
				      calls->end_ns[job->calls[i]]))
			return false;
	return true;
}

static bool is_asleep(const struct job *job, const struct fw_span *span)
{
	return span->class_id == FW_CLASS_HOST_NOT_RUNNING &&
	       job->ledger->trace->switches.why[span->item] == FW_OFF_BLOCKED;
}

/* Adds the time in which context switches show the thread asleep, outside calls and loader waits. */
static bool add_asleep(const struct job *job, uint32_t thread, struct fw_intervals *set)
{
	const struct fw_timeline *host = &job->ledger->private->threads[thread].host;

	for (size_t i = 0; i < host->len; i++)
		if (is_asleep(job, &host->spans[i]) &&
		    !fw_intervals_add(set, host->spans[i].start_ns, host->spans[i].end_ns))
			return false;
	return true;
}

/* Whether the thread launches enough of the window's operations to count. */
static bool is_launcher(const struct job *job, size_t thread)
{
	return job->launched[thread] &&
	       job->launched[thread] >= (job->launches + LAUNCHER_DIVISOR - 1) / LAUNCHER_DIVISOR;
}

/* Adds the part of the GPU's busy time in which the thread neither waits for the GPU nor sleeps. */
static bool add_awake(const struct job *job, const struct fw_intervals *busy, uint32_t thread,
		      struct fw_intervals *awake)
{
	struct fw_intervals still = { 0 };
	bool ok = add_waiting(job, thread, &still) && add_asleep(job, thread, &still);

	if (ok) {
		fw_intervals_merge(&still);
		ok = fw_intervals_subtract(awake, busy, &still);
	}
	fw_intervals_release(&still);
	return ok;
}

/*
 * A thread that sleeps while the GPU works may wait for it, in a way that is not recorded, but not if
 * another thread that launches is awake: then it may as well wait for that one.
 */
static bool find_quiet(struct job *job, uint32_t process)
{
	const struct fw_trace *t = job->ledger->trace;
	struct fw_intervals busy = { 0 }, awake = { 0 };
	bool ok = true;

	job->quiet.len = 0;
	for (size_t i = 0; ok && i < job->device->op_count; i++)
		if (in_window(job, job->device->ops[i]))
			ok = fw_intervals_add(&busy, t->ops.start_ns[job->device->ops[i]],
					      t->ops.end_ns[job->device->ops[i]]);
	fw_intervals_merge(&busy);
	for (size_t i = 0; ok && i < t->threads.len; i++)
		if (t->threads.process[i] == process && is_launcher(job, i))
			ok = add_awake(job, &busy, (uint32_t)i, &awake);
	ok = ok && fw_intervals_subtract(&job->quiet, &busy, &awake);
	fw_intervals_release(&busy);
	fw_intervals_release(&awake);
	return ok;
}

static bool block_process(struct job *job, uint32_t process)
{
	const struct fw_trace_threads *threads = &job->ledger->trace->threads;

	if (job->process == process)
		return true;
	job->process = process;
	job->blocked.len = 0;
	for (size_t i = 0; i < threads->len; i++)
		if (threads->process[i] == process && !add_own(job, (uint32_t)i, &job->blocked))
			return false;
	fw_intervals_merge(&job->blocked);
	return job->kind != FW_BOUND_GPU || find_quiet(job, process);
}

/* Calls, operators and loader waits of a thread, and when it was ready but off its core. */
static bool add_recorded(const struct job *job, uint32_t thread, struct fw_intervals *set)
{
	const struct fw_timeline *host = &job->ledger->private->threads[thread].host;

	for (size_t i = 0; i < host->len; i++)
		if (!is_asleep(job, &host->spans[i]) &&
		    !fw_intervals_add(set, host->spans[i].start_ns, host->spans[i].end_ns))
			return false;
	fw_intervals_merge(set);
	return true;
}

static int64_t length_in_window(const struct job *job, const struct fw_intervals *set)
{
	return fw_intervals_covered(set, job->device->window.start_ns, job->device->window.end_ns);
}

/* Adds the sleep of a thread that may have waited for the GPU. */
static bool add_quiet_sleep(const struct job *job, uint32_t thread, struct fw_intervals *set)
{
	struct fw_intervals asleep = { 0 };
	bool ok = add_asleep(job, thread, &asleep);

	if (ok) {
		fw_intervals_merge(&asleep);
		ok = fw_intervals_intersect(set, &asleep, &job->quiet);
	}
	fw_intervals_release(&asleep);
	return ok;
}

/*
 * The time that removing the finding would give back to a thread: its own spans, and, while another
 * thread of its process is in one of those, what shows nothing on this one. Threads hand over (a
 * forward thread waits for data while the backward thread waits for it): that silence is the same
 * wait seen from the other side. All other silence counts as work, but sleep while the GPU works where
 * that is what would go away.
 */
static bool freed_of_thread(struct job *job, uint32_t thread, int64_t *freed_ns)
{
	struct fw_intervals recorded = { 0 }, freed = { 0 };
	bool ok = block_process(job, job->ledger->trace->threads.process[thread]) &&
		  add_recorded(job, thread, &recorded) &&
		  fw_intervals_subtract(&freed, &job->blocked, &recorded) &&
		  add_own(job, thread, &freed) &&
		  (job->kind != FW_BOUND_GPU || add_quiet_sleep(job, thread, &freed));

	if (ok) {
		fw_intervals_merge(&freed);
		*freed_ns = length_in_window(job, &freed);
	}
	fw_intervals_release(&recorded);
	fw_intervals_release(&freed);
	return ok;
}

/* The busiest of the threads that feed the device. */
static bool host_other(struct job *job, int64_t *busy_ns)
{
	int64_t window = job->device->window.end_ns - job->device->window.start_ns;

	*busy_ns = 0;
	if (!count_launches(job))
		return false;
	for (size_t i = 0; i < job->ledger->trace->threads.len; i++) {
		int64_t freed;

		if (!is_launcher(job, i))
			continue;
		if (!freed_of_thread(job, (uint32_t)i, &freed))
			return false;
		if (window - freed > *busy_ns)
			*busy_ns = window - freed;
	}
	return true;
}

static int compare_rows(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* GPU busy time in the window without the copies of the calls. */
static bool gpu_other(const struct job *job, int64_t *busy_ns)
{
	const struct fw_trace_ops *ops = &job->ledger->trace->ops;
	struct fw_intervals busy = { 0 };
	bool ok = true;

	qsort(job->calls, job->count, sizeof(*job->calls), compare_rows);
	for (size_t i = 0; ok && i < job->device->op_count; i++) {
		uint32_t op = job->device->ops[i], call = job->ledger->call_of_op[op];
		bool is_own = ops->kind[op] == FW_OP_COPY && call != FW_NONE &&
			      bsearch(&call, job->calls, job->count, sizeof(call), compare_rows);

		if (!is_own)
			ok = fw_intervals_add(&busy, ops->start_ns[op], ops->end_ns[op]);
	}
	if (ok) {
		fw_intervals_merge(&busy);
		*busy_ns = length_in_window(job, &busy);
	}
	fw_intervals_release(&busy);
	return ok;
}

static bool busiest(struct job *job, const uint32_t *calls, int64_t *busy_ns)
{
	int64_t host_ns;

	*busy_ns = job->device->gpu_busy_ns;
	if (job->kind == FW_BOUND_HOST)
		return true;
	if (!sort_calls(job, calls) || !host_other(job, &host_ns))
		return false;
	if (job->kind == FW_BOUND_CALLS && !gpu_other(job, busy_ns))
		return false;
	if (host_ns > *busy_ns || job->kind == FW_BOUND_GPU)
		*busy_ns = host_ns;
	return true;
}

int64_t fw_bound(const struct fw_ledger *ledger, const struct fw_device_ledger *device,
		 enum fw_bound_kind kind, const uint32_t *calls, size_t count, int64_t cost_ns)
{
	struct job job = { .ledger = ledger,
			   .device = device,
			   .kind = kind,
			   .count = kind == FW_BOUND_CALLS ? count : 0,
			   .process = FW_NONE };
	int64_t busy_ns, most = -1;

	if (cost_ns >= 0 && busiest(&job, calls, &busy_ns)) {
		most = device->window.end_ns - device->window.start_ns - busy_ns;
		if (most > cost_ns)
			most = cost_ns;
		if (most < 0)
			most = 0;
	}
	free(job.calls);
	free(job.launched);
	free(job.launching);
	fw_intervals_release(&job.blocked);
	fw_intervals_release(&job.quiet);
	return most;
}
