/* The threads of the watched processes: when they ran, when they could not, what they do. */
#include "sample/host_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* A thread that does not run is looked at less and less often, at last every eighth round. */
#define SKIPPED_MOST 7u

/* A thread that fills its ring so often is left to its times in /proc: each switch costs it time too. */
#define LOSSES_MOST 2u

/* Where a thread's ring of switches fills slowly, it is emptied so often. */
#define DRAIN_NS INT64_C(40000000)

static int64_t moderate_ns(const struct fw_host_sampler *s)
{
	return fw_pace_wait(&s->threads, FW_SAMPLER_MODERATE_NS, FW_SAMPLER_MODERATE_PERIODS);
}

static int64_t slow_ns(const struct fw_host_sampler *s)
{
	return fw_pace_wait(&s->threads, FW_SAMPLER_SLOW_NS, FW_SAMPLER_SLOW_PERIODS);
}

static void open_switches(struct fw_host_sampler *s, const struct fw_teller *teller,
			  struct fw_tree_thread *thread, char state)
{
	char text[400];
	int error;

	if (!s->options.switch_threads_most || s->said & FW_SAMPLER_SAID_SWITCHES)
		return;
	if (s->switch_count == s->options.switch_threads_most) {
		snprintf(text, sizeof(text),
			 "Context switches of more than %u threads: the rest is told by the states "
			 "and times in /proc.",
			 s->switch_count);
		fw_sampler_say(s, FW_SAMPLER_SAID_SWITCHES, text);
		return;
	}
	error = fw_switches_open(&thread->switches, teller->pid, thread->tid, state,
				 teller->now_ns);
	if (!error) {
		s->switch_count++;
		fw_sampler_say(s, FW_SAMPLER_SAID_SHORT, "Times off the CPU below 5 us.");
	} else if (error != ESRCH) {
		snprintf(text, sizeof(text),
			 "Context switches of %s threads: %s. What they did is told by the states "
			 "and times in /proc.",
			 s->switch_count ? "more" : "the", fw_switches_error(error));
		fw_sampler_say(s, FW_SAMPLER_SAID_SWITCHES, text);
	}
}

/* State, CPU time in the program and in the kernel, name. */
static void read_thread_stat(struct fw_host_sampler *s, const struct fw_teller *teller,
			     struct fw_tree_thread *thread)
{
	const struct fw_held_name name = { teller->pid, thread->tid, "stat" };
	char text[FW_PROC_FILE_BYTES];
	struct fw_proc_stat stat;
	int error = fw_held_read(&s->tree.files, &thread->stat, name, text);
	bool is_new = !thread->stat_ns;

	thread->has_ended |= fw_sampler_is_gone(error);
	if (error || !fw_proc_parse_stat(text, &stat))
		return;
	fw_tell(teller, thread->told, FW_HOST_STATE, (double)(unsigned char)stat.state);
	fw_tell(teller, thread->told, FW_HOST_USER, (double)stat.user * s->tick_ns);
	fw_tell(teller, thread->told, FW_HOST_SYSTEM, (double)stat.kernel * s->tick_ns);
	if (strcmp(thread->name, stat.name)) {
		memcpy(thread->name, stat.name, sizeof(thread->name));
		s->sink.thread(s->sink.context, teller->pid, thread->tid, thread->name);
	}
	thread->stat_ns = teller->now_ns;
	if (is_new)
		open_switches(s, teller, thread, stat.state);
}

static void read_thread_status(struct fw_host_sampler *s, const struct fw_teller *teller,
			       struct fw_tree_thread *thread)
{
	struct fw_held_files unheld = { .root = s->tree.files.root };
	struct fw_held_file file = { .fd = -1 };
	const struct fw_held_name name = { teller->pid, thread->tid, "status" };
	char text[FW_PROC_FILE_BYTES];
	uint64_t count;

	thread->status_ns = teller->now_ns;
	if (fw_held_read(&unheld, &file, name, text))
		return;
	if (fw_proc_number(text, "voluntary_ctxt_switches:", &count))
		fw_tell(teller, thread->told, FW_HOST_VOLUNTARY, (double)count);
	if (fw_proc_number(text, "nonvoluntary_ctxt_switches:", &count))
		fw_tell(teller, thread->told, FW_HOST_INVOLUNTARY, (double)count);
}

/* True: it ran since, as far as can be told. */
static bool read_schedstat(struct fw_host_sampler *s, const struct fw_teller *teller,
			   struct fw_tree_thread *thread)
{
	const struct fw_held_name name = { teller->pid, thread->tid, "schedstat" };
	char text[FW_PROC_FILE_BYTES];
	struct fw_proc_schedstat stat;
	int error;

	if (!s->has_schedstat) {
		fw_sampler_say(
			s, FW_SAMPLER_SAID_SCHED,
			"Time that threads waited for a CPU: the kernel has no /proc/PID/schedstat "
			"(CONFIG_SCHED_INFO).");
		return true;
	}
	error = fw_held_read(&s->tree.files, &thread->schedstat, name, text);
	thread->has_ended |= fw_sampler_is_gone(error);
	if (error || !fw_proc_parse_schedstat(text, &stat))
		return false;
	fw_tell(teller, thread->told, FW_HOST_RUN, (double)stat.run_ns);
	fw_tell(teller, thread->told, FW_HOST_RUN_DELAY, (double)stat.delay_ns);
	if (thread->stat_ns && stat.run_ns == thread->run_ns && stat.delay_ns == thread->delay_ns)
		return false;
	thread->run_ns = stat.run_ns;
	thread->delay_ns = stat.delay_ns;
	return true;
}

/* CPU time, state and name, where it ran since they were read. */
static void read_slowly(struct fw_host_sampler *s, const struct fw_teller *teller,
			struct fw_tree_thread *thread, bool has_run)
{
	thread->is_stale |= has_run;
	if (!thread->is_stale)
		return;
	if (!thread->stat_ns || teller->now_ns - thread->stat_ns >= moderate_ns(s)) {
		read_thread_stat(s, teller, thread);
		thread->is_stale = has_run;
	}
	if (!thread->status_ns || teller->now_ns - thread->status_ns >= slow_ns(s))
		read_thread_status(s, teller, thread);
}

/* The time on a CPU, where it can have changed; true: it has. */
static bool read_run(struct fw_host_sampler *s, const struct fw_teller *teller,
		     struct fw_tree_thread *thread, int64_t same_ns)
{
	fw_told_hold(&thread->told[FW_HOST_RUN], same_ns);
	fw_told_hold(&thread->told[FW_HOST_RUN_DELAY], same_ns);
	return read_schedstat(s, teller, thread);
}

static void give_up_switches(struct fw_host_sampler *s, const struct fw_teller *teller,
			     struct fw_tree_thread *thread)
{
	char text[200];

	fw_switches_close(&thread->switches, &s->sink, teller->now_ns, true);
	s->switch_count--;
	snprintf(
		text, sizeof(text),
		"Context switches of threads that switch tens of thousands of times a second, such "
		"as thread %u (%s).",
		thread->tid, thread->name);
	fw_sampler_say(s, FW_SAMPLER_SAID_OFTEN, text);
}

/*
 * A thread whose switches are recorded: they tell when it ran, so that how long in all is asked less
 * often, and only if it did. Before the first record it may have run all the time: the time on a CPU
 * tells whether it did.
 */
static void read_switching(struct fw_host_sampler *s, const struct fw_teller *teller,
			   struct fw_tree_thread *thread)
{
	struct fw_switches *switches = &thread->switches;
	bool has_run;

	if (!switches->is_filling && teller->now_ns - switches->drained_ns < DRAIN_NS)
		return;
	thread->has_run |= fw_switches_drain(switches, &s->sink, teller->now_ns);
	if (switches->losses > LOSSES_MOST) {
		give_up_switches(s, teller, thread);
		return;
	}
	if (teller->now_ns - thread->read_ns < FW_SAMPLER_MODERATE_NS)
		return;
	has_run = thread->has_run || !switches->is_certain || !switches->off_since_ns;
	if (has_run) {
		has_run = read_run(s, teller, thread, thread->read_ns);
		if (!has_run && s->has_schedstat)
			switches->is_certain = true;
	}
	thread->read_ns = teller->now_ns;
	thread->has_run = false;
	read_slowly(s, teller, thread, has_run);
}

/* is_forced: whatever it did so far. same_ns: until when its process did not run. */
static void read_thread(struct fw_host_sampler *s, const struct fw_teller *teller,
			struct fw_tree_thread *thread, bool is_forced, int64_t same_ns)
{
	bool has_run;

	if (thread->switches.fd >= 0) {
		read_switching(s, teller, thread);
		return;
	}
	if (thread->skip && !is_forced) {
		thread->skip--;
		return;
	}
	has_run = read_run(s, teller, thread, same_ns);
	if (has_run)
		thread->idle = 0;
	else if (thread->idle <= SKIPPED_MOST)
		thread->idle++;
	thread->skip = thread->idle ? thread->idle - 1 : 0;
	read_slowly(s, teller, thread, has_run);
}

/*
 * The process's CPU clock, which any process may read, cheaper than a file: while it stands still, no
 * thread of it runs. (It is up to date for threads that are on a CPU.)
 */
static bool stands_still(const struct fw_host_sampler *s, struct fw_tree_process *process)
{
	const clockid_t clock =
		(clockid_t)(~process->pid << 3 | 2); /* 2: scheduler's, of all threads */
	struct timespec t;
	int64_t ns, before = process->cpu_ns;

	if (!s->is_here || clock_gettime(clock, &t))
		return false;
	ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
	process->cpu_ns = ns;
	return ns == before;
}

/* In the first round without running all threads are read, in the next ones only what is left over. */
void fw_sampler_read_threads(struct fw_host_sampler *s, struct fw_tree_process *process,
			     int64_t now_ns)
{
	struct fw_teller teller = { &s->sink, now_ns, process->pid, 0 };
	struct fw_tree_thread *threads = process->threads.data;
	int64_t same_ns = process->same_ns;

	if (stands_still(s, process)) {
		process->still++;
		process->same_ns = now_ns;
		if (process->still > 1 && !process->has_stale &&
		    now_ns - process->threads_ns < slow_ns(s))
			return;
	} else {
		process->still = 0;
		process->has_run = true;
	}
	process->threads_ns = now_ns;
	process->has_stale = false;
	for (size_t i = 0; i < process->threads.len; i++) {
		teller.tid = threads[i].tid;
		read_thread(s, &teller, &threads[i], process->still == 1, same_ns);
		process->has_stale |= threads[i].is_stale;
	}
}

void fw_sampler_end_thread(struct fw_host_sampler *s, struct fw_tree_process *process,
			   struct fw_tree_thread *thread, int64_t now_ns, bool has_ended)
{
	const struct fw_teller teller =
		(struct fw_teller){ &s->sink, now_ns, process->pid, thread->tid };

	if (thread->switches.fd >= 0)
		s->switch_count--;
	fw_switches_close(&thread->switches, &s->sink, now_ns, has_ended);
	if (has_ended)
		fw_tell(&teller, thread->told, FW_HOST_STATE, 'X');
	fw_tell_end(&teller, thread->told);
}

void fw_sampler_end_process(struct fw_host_sampler *s, struct fw_tree_process *process,
			    int64_t now_ns, bool has_ended)
{
	const struct fw_teller teller = (struct fw_teller){ &s->sink, now_ns, process->pid, 0 };
	struct fw_tree_thread *threads = process->threads.data;

	for (size_t i = 0; i < process->threads.len; i++)
		fw_sampler_end_thread(s, process, &threads[i], now_ns, has_ended);
	if (has_ended)
		fw_tell(&teller, process->told, FW_HOST_STATE, 'X');
	fw_tell_end(&teller, process->told);
}
