/*
 * What the host sampler costs: the sampler on a tree of processes and threads, or a program that switches
 * between two processes, with and without it.
 *
 *	sample_tree PROCESSES THREADS SWITCH_THREADS SECONDS
 *	sample_tree ping-pong SAMPLED SWITCH_THREADS	CPU time of one of two processes, a round trip
 *
 * In the tree, one thread of each process works 0.2 ms of every 10; the others wake up 10 times a second.
 */
#include "sample/host_sampler.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double thread_period_ms, process_period_ms;
static unsigned long values, intervals;

static int64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void take_value(void *context, const struct fw_host_reading *reading)
{
	(void)context;
	values++;
	if (reading->which == FW_HOST_THREAD_PERIOD)
		thread_period_ms = reading->value / 1e6;
	else if (reading->which == FW_HOST_PROCESS_PERIOD)
		process_period_ms = reading->value / 1e6;
}

static void take_thread(void *context, unsigned pid, unsigned tid, const char *name)
{
	(void)context;
	(void)pid;
	(void)tid;
	(void)name;
}

static void take_off(void *context, const struct fw_off_cpu *off)
{
	(void)context;
	(void)off;
	intervals++;
}

static void take_lost(void *context, int64_t start_ns, int64_t end_ns, uint64_t count)
{
	(void)context;
	(void)start_ns;
	(void)end_ns;
	(void)count;
}

static void take_cannot(void *context, const char *what)
{
	(void)context;
	fprintf(stderr, "%s\n", what);
}

static struct fw_host_sampler *open_sampler(pid_t pid, unsigned switch_threads)
{
	static const struct fw_host_sink sink = { NULL,     take_value, take_thread,
						  take_off, take_lost,  take_cannot };
	const struct fw_host_options options = { .root = "/",
						 .pid = (unsigned)pid,
						 .switch_threads_most = switch_threads };
	struct fw_host_sampler *sampler;
	struct fw_error err;

	if (!fw_host_sampler_open(&sampler, &options, &sink, &err))
		return sampler;
	fprintf(stderr, "%s\n", err.message);
	exit(1);
}

static void sample_for(struct fw_host_sampler *sampler, int64_t ns)
{
	int64_t until = clock_ns(CLOCK_MONOTONIC) + ns;

	while (clock_ns(CLOCK_MONOTONIC) < until) {
		int64_t due = fw_host_sampler_read(sampler, clock_ns(CLOCK_MONOTONIC));
		const struct timespec t = { due / 1000000000, due % 1000000000 };

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	}
}

static void *work(void *is_busy)
{
	for (;;) {
		int64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + 200000;

		while (is_busy && clock_ns(CLOCK_THREAD_CPUTIME_ID) < until)
			;
		usleep(is_busy ? 10000 : 100000);
	}
	return NULL;
}

static pid_t start_tree(int processes, int threads)
{
	pid_t pid = fork();
	pthread_t thread;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 1; i < processes && !prctl(PR_SET_PDEATHSIG, SIGKILL); i++)
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			break;
		}
	for (int i = 1; i < threads; i++)
		pthread_create(&thread, NULL, work, NULL);
	work(&thread);
	_exit(0);
}

static void measure_tree(char **argv)
{
	int64_t seconds = atol(argv[4]), cpu, wall;
	pid_t pid = start_tree((int)atol(argv[1]), (int)atol(argv[2]));
	struct fw_host_sampler *sampler;

	usleep(500000);
	sampler = open_sampler(pid, (unsigned)atol(argv[3]));
	sample_for(sampler, 2000000000);
	values = intervals = 0;
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	wall = clock_ns(CLOCK_MONOTONIC);
	sample_for(sampler, seconds * 1000000000);
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	wall = clock_ns(CLOCK_MONOTONIC) - wall;
	printf("%.4f %.1f %.1f %lu %lu\n", 100 * (double)cpu / (double)wall, thread_period_ms,
	       process_period_ms, values, intervals);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	fw_host_sampler_close(sampler);
}

#define ROUND_TRIPS 5000

/* Two processes on one CPU that wake each other up, in bursts that the rings of switches hold. */
static pid_t start_ping_pong(int out)
{
	int there[2], back[2];
	pid_t pid = fork();
	char c = 0;
	cpu_set_t cpu;
	int64_t used;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CPU_ZERO(&cpu);
	CPU_SET(0, &cpu);
	sched_setaffinity(0, sizeof(cpu), &cpu);
	if (pipe(there) || pipe(back))
		_exit(1);
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
			;
		_exit(0);
	}
	usleep(1500000); /* until it is watched */
	used = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (int i = 0; i < ROUND_TRIPS; i++) {
		if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
			_exit(1);
		if (i % 50 == 0)
			usleep(40000);
	}
	used = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - used;
	dprintf(out, "%.4f\n", (double)used / ROUND_TRIPS / 1e3);
	_exit(0);
}

static void measure_ping_pong(char **argv)
{
	pid_t pid = start_ping_pong(STDOUT_FILENO);
	struct fw_host_sampler *sampler =
		atol(argv[2]) ? open_sampler(pid, (unsigned)atol(argv[3])) : NULL;

	while (waitpid(pid, NULL, sampler ? WNOHANG : 0) == 0)
		sample_for(sampler, 50000000);
	fw_host_sampler_close(sampler);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "ping-pong")) {
		measure_ping_pong(argv);
	} else if (argc == 5) {
		measure_tree(argv);
	} else {
		fprintf(stderr, "usage: see the head of the source\n");
		return 2;
	}
	return 0;
}
