/* How programs end, what they start, and what else they do with their process: signals, descriptors. */
#include "program.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void sleep_ms(long milliseconds)
{
	struct timespec t = { milliseconds / 1000, milliseconds % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

/* Waits for a child; prints how it ended. */
static void join(pid_t child, const char *what)
{
	int status = 0;

	if (child < 0 || waitpid(child, &status, 0) != child)
		exit(8);
	printf("%s ended with %d, signal %d\n", what, WIFEXITED(status) ? WEXITSTATUS(status) : -1,
	       WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

/* Children of a program that uses CUDA: they cannot use it, and go on or end in their own ways. */
static int forks(unsigned long count)
{
	static const char *const what[] = { "exit", "_exit", "abort", "cuda" };

	launches(count);
	for (int i = 0; i < 4; i++) {
		pid_t child;

		fflush(stdout);
		child = fork();
		if (!child) {
			sleep_ms(150);
			if (i == 3)
				_exit(cudaLaunchKernel(kernel_names[0], (dim3){ 1, 1, 1 },
						       (dim3){ 1, 1, 1 }, NULL, 0,
						       NULL) == cudaErrorInitializationError);
			if (i == 2)
				abort();
			if (i == 1)
				_exit(5);
			exit(4);
		}
		launches(count);
		join(child, what[i]);
	}
	return 0;
}

/* The parent has not begun with CUDA: each child may. */
static int forks_first(unsigned long count)
{
	for (int i = 0; i < 3; i++) {
		pid_t child;

		fflush(stdout);
		child = fork();
		if (!child) {
			launches(count);
			exit(0);
		}
		join(child, "child");
	}
	launches(count);
	return 0;
}

static _Atomic int foreign_signals, own_signals;

static void on_alarm(int number)
{
	(void)number;
	if (syscall(SYS_gettid) == getpid())
		own_signals++;
	else
		foreign_signals++;
}

/* A timer's signals, which must reach the program's own thread. */
static int signals(unsigned long count)
{
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } };
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };

	sigaction(SIGALRM, &action, NULL);
	launches(1);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < 10; i++) {
		launches(count);
		sleep_ms(20);
	}
	every = (struct itimerval){ { 0, 0 }, { 0, 0 } };
	setitimer(ITIMER_REAL, &every, NULL);
	printf("signals came: %d, to other threads: %d\n", own_signals > 0, foreign_signals);
	return 0;
}

/* Uses up all descriptors for a while. */
static int descriptors(unsigned long count)
{
	int taken = 0;

	launches(count);
	while (taken < 100000 && open("/dev/null", O_RDONLY) >= 0)
		taken++;
	launches(count);
	sleep_ms(300);
	launches(count);
	printf("%s\n", taken < 100000 ? "all descriptors taken" : "no limit");
	return 0;
}

int run_ending(const char *name, unsigned long count, char **argv)
{
	if (!strcmp(name, "forks"))
		return forks(count);
	if (!strcmp(name, "forks-first"))
		return forks_first(count);
	if (!strcmp(name, "signals"))
		return signals(count);
	if (!strcmp(name, "descriptors"))
		return descriptors(count);
	if (!strcmp(name, "nothing")) {
		printf("no CUDA\n");
		return 0;
	}
	if (strcmp(name, "exit") && strcmp(name, "_exit") && strcmp(name, "abort") &&
	    strcmp(name, "kill") && strcmp(name, "exec"))
		return 2;
	launches(count);
	fflush(stdout);
	/* What is older than 100 ms must be in the file, however the program ends. */
	sleep_ms(400);
	if (!strcmp(name, "_exit"))
		_exit(3);
	if (!strcmp(name, "abort"))
		abort();
	if (!strcmp(name, "kill"))
		raise(SIGKILL);
	if (!strcmp(name, "exec")) {
		char *again[] = { argv[0], (char[]){ "launch" }, argv[2], NULL };

		execv("/proc/self/exe", again);
		return 8;
	}
	return 3;
}
