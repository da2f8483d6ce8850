#include "sample/host_sampler.h"

#include "sample/host_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_NS  INT64_C(10000000)
#define LONGEST_NS INT64_C(2000000000)
#define LOOK_NS    INT64_C(50000000) /* between looks for new processes and threads */
#define MOST_CPU   0.009

/* The time over which costs are averaged: at least two readings, at most twenty. */
#define MEAN_NS 1e9

/* So long a time's share may be spent in advance, as on a look through all of /proc. */
#define AHEAD_NS 2e9

static int64_t cpu_time_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Half of what the process may open: the rest is its own. */
static unsigned files_most(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY ||
	    limit.rlim_cur > 4 * FW_TREE_THREADS)
		return 2 * FW_TREE_THREADS;
	return (unsigned)limit.rlim_cur / 2;
}

/* Whether the root is this machine's: then its processes' clocks can be read too. */
static bool is_here(int root)
{
	struct stat given, own;

	return !fstat(root, &given) && !stat("/", &own) && given.st_dev == own.st_dev &&
	       given.st_ino == own.st_ino;
}

static bool has_schedstat(int root, unsigned pid)
{
	char path[48], text[FW_PROC_FILE_BYTES];
	struct fw_proc_schedstat stat;

	snprintf(path, sizeof(path), "proc/%u/schedstat", pid);
	return fw_proc_file(root, path, text) && fw_proc_parse_schedstat(text, &stat);
}

fw_status fw_host_sampler_open(struct fw_host_sampler **sampler,
			       const struct fw_host_options *options,
			       const struct fw_host_sink *sink, struct fw_error *err)
{
	struct fw_host_sampler *s = calloc(1, sizeof(*s));
	int root;

	*sampler = NULL;
	if (!s)
		return fw_fail_nomem(err, sizeof(*s));
	root = open(options->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root < 0) {
		free(s);
		return fw_fail(err, FW_ERR_IO, "%s: %s", options->root, strerror(errno));
	}
	s->options = *options;
	s->options.root = NULL;
	s->sink = *sink;
	if (s->options.period_ns <= 0)
		s->options.period_ns = PERIOD_NS;
	s->looks = (struct fw_pace){ .shortest_ns = LOOK_NS, .share = 0.1 };
	s->threads = (struct fw_pace){ .shortest_ns = s->options.period_ns, .share = 0.5 };
	s->processes = (struct fw_pace){ .shortest_ns = s->options.period_ns, .share = 0.25 };
	if (!(s->options.most_cpu > 0))
		s->options.most_cpu = MOST_CPU;
	fw_tree_init(&s->tree, root, options);
	s->tree.files.most = files_most();
	s->machine = (struct fw_host_machine){ .root = root, .pid = options->pid };
	s->tick_ns = 1e9 / (double)sysconf(_SC_CLK_TCK);
	s->page_bytes = (double)sysconf(_SC_PAGESIZE);
	s->is_here = is_here(root);
	s->has_schedstat = has_schedstat(root, options->pid);
	*sampler = s;
	return FW_OK;
}

void fw_sampler_say(struct fw_host_sampler *s, enum fw_sampler_said what, const char *text)
{
	if (!(s->said & what))
		s->sink.cannot(s->sink.context, text);
	s->said |= what;
}

bool fw_sampler_is_gone(int error)
{
	return error == ENOENT || error == ESRCH;
}

static void sweep(struct fw_host_sampler *s, int64_t now_ns)
{
	for (size_t i = s->tree.processes.len; i-- > 0;) {
		struct fw_tree_process *process =
			((struct fw_tree_process **)s->tree.processes.data)[i];
		struct fw_tree_thread *threads = process->threads.data;

		if (process->has_ended) {
			fw_sampler_end_process(s, process, now_ns, true);
			fw_tree_drop_process(&s->tree, i);
			continue;
		}
		for (size_t j = process->threads.len; j-- > 0;) {
			if (!threads[j].has_ended)
				continue;
			fw_sampler_end_thread(s, process, &threads[j], now_ns, true);
			fw_tree_drop_thread(&s->tree, process, j);
		}
	}
}

/* The mean cost of a reading decides the period; it grows at once and shrinks by a quarter at least. */
static void set_period(struct fw_pace *pace, double rate, int64_t used_ns)
{
	double weight = (double)pace->period_ns / MEAN_NS, want;

	weight = weight < 0.05 ? 0.05 : weight > 0.5 ? 0.5 : weight;
	if (pace->period_ns) /* the first reading opens the files */
		pace->cost_ns += weight * ((double)used_ns - pace->cost_ns);
	want = pace->cost_ns / rate;
	if (want > (double)LONGEST_NS)
		want = (double)LONGEST_NS;
	if (want < (double)pace->shortest_ns)
		want = (double)pace->shortest_ns;
	if (want > (double)pace->period_ns || want < 0.75 * (double)pace->period_ns)
		pace->period_ns = (int64_t)want;
}

/* How long to wait for what was spent too much; some of it is left to the mean to make good. */
static int64_t pay_debt(struct fw_pace *pace, double rate, int64_t now_ns, int64_t used_ns)
{
	double wait_ns;

	if (pace->read_ns)
		pace->debt_ns += (double)used_ns - rate * (double)(now_ns - pace->read_ns);
	if (pace->debt_ns < 0)
		pace->debt_ns = 0;
	pace->read_ns = now_ns;
	wait_ns = pace->debt_ns / rate - AHEAD_NS;
	return wait_ns < (double)LONGEST_NS ? (int64_t)wait_ns : LONGEST_NS;
}

/* Sets when the next reading is due: so that they cost no more than their share. */
static void set_pace(struct fw_host_sampler *s, struct fw_pace *pace, int64_t now_ns,
		     int64_t used_ns)
{
	double rate = pace->share * s->options.most_cpu;
	int64_t wait_ns = pay_debt(pace, rate, now_ns, used_ns);

	s->cpu_ns += (uint64_t)used_ns;
	set_period(pace, rate, used_ns);
	/* On a grid, so that readings fall together where they can. */
	pace->due_ns += pace->period_ns;
	if (pace->due_ns <= now_ns)
		pace->due_ns = now_ns + pace->period_ns;
	if (pace->due_ns < now_ns + wait_ns)
		pace->due_ns = now_ns + wait_ns;
}

static void read_all_threads(struct fw_host_sampler *s, const struct fw_teller *machine)
{
	struct fw_tree_process **processes = s->tree.processes.data;

	for (size_t i = 0; i < s->tree.processes.len; i++)
		fw_sampler_read_threads(s, processes[i], machine->now_ns);
	sweep(s, machine->now_ns);
	fw_tell(machine, s->machine.told, FW_HOST_THREAD_PERIOD, (double)s->threads.period_ns);
}

static void read_machine(struct fw_host_sampler *s, const struct fw_teller *machine)
{
	int64_t moderate_ns =
		fw_pace_wait(&s->processes, FW_SAMPLER_MODERATE_NS, FW_SAMPLER_MODERATE_PERIODS);
	int64_t slow_ns = fw_pace_wait(&s->processes, FW_SAMPLER_SLOW_NS, FW_SAMPLER_SLOW_PERIODS);

	if (!s->has_read || machine->now_ns - s->moderate_ns >= moderate_ns) {
		s->moderate_ns = machine->now_ns;
		fw_host_machine_read(&s->machine, machine);
	}
	if (!s->has_read || machine->now_ns - s->slow_ns >= slow_ns) {
		s->slow_ns = machine->now_ns;
		fw_host_machine_read_limits(&s->machine, machine, !s->has_read);
		fw_tell(machine, s->machine.told, FW_HOST_SAMPLER_CPU, (double)s->cpu_ns);
	}
}

static void read_all_processes(struct fw_host_sampler *s, const struct fw_teller *machine)
{
	struct fw_tree_process **processes = s->tree.processes.data;

	for (size_t i = 0; i < s->tree.processes.len; i++)
		fw_sampler_read_process(s, processes[i], machine->now_ns);
	sweep(s, machine->now_ns);
	read_machine(s, machine);
	fw_tell(machine, s->machine.told, FW_HOST_PROCESS_PERIOD, (double)s->processes.period_ns);
}

static void look_for_new(struct fw_host_sampler *s, const struct fw_teller *machine)
{
	struct fw_error err;
	fw_status status = fw_tree_look(&s->tree, machine->now_ns, &err);

	s->has_seen = s->has_seen || s->tree.processes.len;
	if (status || s->tree.is_blind || !s->has_seen)
		fw_sampler_say(
			s, FW_SAMPLER_SAID_TREE,
			status ? "Processes and threads: no memory for all of them."
			       : "The watched process is not to be seen in /proc (hidepid, or "
				 "another PID namespace).");
	if (s->tree.left_out)
		fw_sampler_say(s, FW_SAMPLER_SAID_MOST,
			       "Some processes or threads: more than 512 or 4096.");
}

/* A kind of readings, if it is due. */
static void take_turn(struct fw_host_sampler *s, struct fw_pace *pace, int64_t now_ns,
		      void (*read)(struct fw_host_sampler *s, const struct fw_teller *machine))
{
	const struct fw_teller machine = { &s->sink, now_ns, 0, 0 };
	int64_t begin_ns;

	if (now_ns < pace->due_ns)
		return;
	begin_ns = s->end_ns;
	read(s, &machine);
	s->end_ns = cpu_time_ns();
	set_pace(s, pace, now_ns, s->end_ns - begin_ns);
}

static void take_share(struct fw_host_sampler *s, int64_t now_ns)
{
	int64_t begin_ns = s->end_ns;

	if (now_ns < s->share_due_ns || !fw_sampler_read_share(s, now_ns))
		return;
	s->end_ns = cpu_time_ns();
	s->cpu_ns += (uint64_t)(s->end_ns - begin_ns);
	s->share_due_ns = now_ns + fw_sampler_share_wait(s, s->end_ns - begin_ns);
}

int64_t fw_host_sampler_read(struct fw_host_sampler *s, int64_t now_ns)
{
	int64_t due_ns;

	/* What the thread used since, to wait and to wake up, is a cost of the first that is due. */
	if (!s->has_read)
		s->end_ns = cpu_time_ns();
	take_turn(s, &s->looks, now_ns, look_for_new);
	take_turn(s, &s->threads, now_ns, read_all_threads);
	take_turn(s, &s->processes, now_ns, read_all_processes);
	take_share(s, now_ns);
	s->has_read = true;
	due_ns = s->threads.due_ns < s->processes.due_ns ? s->threads.due_ns : s->processes.due_ns;
	return due_ns < s->looks.due_ns ? due_ns : s->looks.due_ns;
}

void fw_host_sampler_skip(struct fw_host_sampler *s, int64_t now_ns)
{
	struct fw_tree_process **processes = s->tree.processes.data;

	for (size_t i = 0; i < s->tree.processes.len; i++) {
		struct fw_tree_thread *threads = processes[i]->threads.data;

		for (size_t j = 0; j < processes[i]->threads.len; j++)
			fw_switches_skip(&threads[j].switches, now_ns);
	}
}

void fw_host_sampler_close(struct fw_host_sampler *s)
{
	struct timespec t;
	struct fw_teller machine;
	int64_t now_ns;

	if (!s)
		return;
	clock_gettime(CLOCK_MONOTONIC, &t);
	now_ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
	machine = (struct fw_teller){ &s->sink, now_ns, 0, 0 };
	for (size_t i = 0; i < s->tree.processes.len; i++)
		fw_sampler_end_process(s, ((struct fw_tree_process **)s->tree.processes.data)[i],
				       now_ns, false);
	fw_tell_end(&machine, s->machine.told);
	fw_tree_release(&s->tree);
	free(s);
}
