/* Loader waits -> what they cost: the idle time inside them, and the lead that the host lost. */
#include "ledger/blockers.h"
#include "ledger/cost.h"
#include "ledger/idle_sum.h"

#include <stdlib.h>

struct wait {
	int64_t start_ns, end_ns;
	int64_t stop_ns; /* until when its thread is blocked next */
};

struct job {
	const struct fw_ledger *ledger;
	const struct fw_device_ledger *device;
	struct fw_waits waits;
	struct fw_blockers blockers;
	struct fw_vec list; /* struct wait */
	/* Idle time that a lead uses up, and the part of it that is not inside loader waits. */
	struct fw_idle_sum used, outside;
	struct fw_intervals led;
};

/* The part inside the window: a lead from before it is no loss of the window's. */
static bool add_wait(struct job *job, uint32_t thread, const struct fw_interval *whole)
{
	const struct fw_window *w = &job->device->window;
	struct wait wait = { .start_ns = whole->start_ns, .end_ns = whole->end_ns }, *row;

	wait.stop_ns = fw_blockers_next(&job->blockers, thread, wait.end_ns);
	if (wait.start_ns < w->start_ns)
		wait.start_ns = w->start_ns;
	if (wait.end_ns > w->end_ns)
		wait.end_ns = w->end_ns;
	if (wait.start_ns >= wait.end_ns)
		return true;
	row = fw_vec_push(&job->list);
	if (row)
		*row = wait;
	return row != NULL;
}

static bool add_thread(struct job *job, uint32_t thread)
{
	struct fw_intervals set = { 0 };
	bool ok = fw_thread_class(job->ledger, thread, FW_CLASS_INPUT, &set);

	fw_intervals_merge(&set);
	for (size_t i = 0; ok && i < set.len; i++)
		ok = add_wait(job, thread, &set.items[i]);
	fw_intervals_release(&set);
	return ok;
}

static int by_start(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

/* The waits of threads that launch; others are between such a thread and its data. */
static bool collect(struct job *job)
{
	for (size_t i = 0; i < job->ledger->trace->threads.len; i++)
		if (job->ledger->private->threads[i].ops && !add_thread(job, (uint32_t)i))
			return false;
	if (job->list.len)
		qsort(job->list.data, job->list.len, sizeof(struct wait), by_start);
	return true;
}

/* Each wait's lead uses up the idle time from its start on, and none twice. */
static bool follow(struct job *job)
{
	const struct wait *list = job->list.data;
	int64_t used_ns = INT64_MIN, waited_ns = INT64_MIN;

	for (size_t i = 0; i < job->list.len; i++) {
		int64_t from = list[i].start_ns, lead = list[i].end_ns - list[i].start_ns, to;

		if (from < waited_ns)
			lead = list[i].end_ns - waited_ns;
		if (list[i].end_ns > waited_ns)
			waited_ns = list[i].end_ns;
		from = from > used_ns ? from : used_ns;
		if (lead <= 0 || from >= list[i].stop_ns)
			continue;
		to = fw_idle_sum_reach(&job->used, from, lead);
		to = to < list[i].stop_ns ? to : list[i].stop_ns;
		if (!fw_intervals_add(&job->led, from, to))
			return false;
		used_ns = to;
	}
	fw_intervals_merge(&job->led);
	return true;
}

static bool prepare(struct job *job)
{
	const uint32_t left_out =
		1u << FW_CLASS_INPUT | 1u << FW_CLASS_BLOCKING_COPY | 1u << FW_CLASS_ALLOC;
	uint32_t idle = 0;

	for (int c = 0; c < FW_CLASS_COUNT; c++)
		if (fw_class_is_idle((enum fw_class)c))
			idle |= 1u << c;
	idle &= ~left_out;
	/* What was not recorded is not known to be idle. */
	if (job->ledger->trace->blind_intervals.len)
		idle &= ~(1u << FW_CLASS_UNKNOWN);
	return fw_idle_sum_build(&job->outside, job->ledger, job->device, idle) &&
	       fw_idle_sum_build(&job->used, job->ledger, job->device,
				 idle | 1u << FW_CLASS_INPUT) &&
	       fw_waits_build(&job->waits, job->ledger, job->device) &&
	       fw_blockers_build(&job->blockers, &job->waits, NULL) && collect(job) && follow(job);
}

int64_t fw_cost_of_input(const struct fw_ledger *ledger, const struct fw_device_ledger *device)
{
	struct job job = { .ledger = ledger, .device = device, .list = FW_VEC(struct wait) };
	int64_t cost = -1;

	if (prepare(&job))
		cost = device->ns[FW_CLASS_INPUT] + fw_idle_sum_in_set(&job.outside, &job.led);
	fw_idle_sum_release(&job.outside);
	fw_idle_sum_release(&job.used);
	fw_waits_release(&job.waits);
	fw_blockers_release(&job.blockers);
	fw_vec_release(&job.list);
	fw_intervals_release(&job.led);
	return cost;
}
