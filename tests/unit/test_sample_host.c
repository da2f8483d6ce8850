/* The host sampler on processes that do known things. */
#include "host_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

static struct fw_host_sampler *sampler;

static int begin(void **state)
{
	(void)state;
	memset(&kept, 0, sizeof(kept));
	return 0;
}

static int end(void **state)
{
	(void)state;
	fw_host_sampler_close(sampler);
	sampler = NULL;
	return 0;
}

static void watch(pid_t pid, unsigned switch_threads)
{
	const struct fw_host_options options = { .root = "/",
						 .pid = (unsigned)pid,
						 .switch_threads_most = switch_threads };

	assert_int_equal(fw_host_sampler_open(&sampler, &options, &keeper, NULL), FW_OK);
}

static void sample_for(int64_t ns)
{
	int64_t until = clock_now() + ns;

	while (clock_now() < until) {
		int64_t due = fw_host_sampler_read(sampler, clock_now());
		const struct timespec t = { due / 1000000000, due % 1000000000 };

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	}
}

static void spin_for(int64_t ns)
{
	struct timespec t;
	int64_t until;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	until = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec + ns;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while ((int64_t)t.tv_sec * 1000000000 + t.tv_nsec < until);
}

/* Between the test and the processes that it starts: each waits for the other, however loaded the machine is. */
static struct {
	atomic_bool begin, go_on, is_done;
} * shared;

static void wait_for(atomic_bool *flag)
{
	while (!atomic_load(flag))
		usleep(5000);
}

/* A child that does `work` once `begin` is set, then waits to be killed. */
static pid_t start(void (*work)(void))
{
	pid_t pid;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	assert_ptr_not_equal(shared, MAP_FAILED);
	pid = fork();
	assert_true(pid >= 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	wait_for(&shared->begin);
	work();
	atomic_store(&shared->is_done, true);
	for (;;)
		pause();
}

/* Samples until something is so, for 20 s at most. */
static bool sample_until(bool (*is_so)(unsigned pid), pid_t pid)
{
	for (int i = 0; i < 400 && !is_so((unsigned)pid); i++)
		sample_for(50 * MS);
	return is_so((unsigned)pid);
}

static bool work_is_done(unsigned pid)
{
	(void)pid;
	return atomic_load(&shared->is_done);
}

/* Until the work is done and a little longer. */
static void sample_all(void)
{
	atomic_store(&shared->begin, true);
	sample_until(work_is_done, 0);
	sample_for(300 * MS);
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void sleep_then_spin(void)
{
	usleep(300000);
	spin_for(300 * MS);
}

/* Between two samples of a thread, at most. */
static int64_t longest_pause(unsigned tid)
{
	int64_t before = 0, longest = 0;

	for (size_t i = 0; i < kept.count; i++) {
		const struct fw_host_reading *r = &kept.readings[i];

		if (r->which != FW_HOST_RUN || r->tid != tid)
			continue;
		if (before && r->time_ns - before > longest)
			longest = r->time_ns - before;
		before = r->time_ns;
	}
	return longest;
}

/* 300 ms asleep, then 300 ms of CPU time, whose wall time depends on the machine's load. */
static void tells_sleeping_from_running(void **state)
{
	pid_t pid = start(sleep_then_spin);
	unsigned id = (unsigned)pid;
	double run;
	int64_t first = 0, last = 0, pause_ms;

	(void)state;
	watch(pid, 0);
	sample_all();
	stop(pid);
	run = last_value(id, id, FW_HOST_RUN);
	assert_in_range((uint64_t)(run / 1e6), 300, 330);
	assert_in_range(
		(uint64_t)(last_value(id, id, FW_HOST_USER) + last_value(id, id, FW_HOST_SYSTEM)) /
			1000000,
		270, 330);
	assert_true(last_value(id, id, FW_HOST_STATE) == 'S');
	/* It ran between the samples that changed most. */
	for (size_t i = 1; i < kept.count; i++) {
		const struct fw_host_reading *r = &kept.readings[i];

		if (r->which != FW_HOST_RUN || r->tid != id || r->value < 5e6)
			continue;
		first = first ? first : r->time_ns;
		last = r->time_ns;
	}
	/* Between them it ran, or was ready to; they are as late as the sampler was. */
	pause_ms = longest_pause(id) / MS;
	assert_true((last - first) / MS >= 300 - 2 * pause_ms);
	assert_true((last - first) / MS <=
		    320 + pause_ms + (int64_t)(last_value(id, id, FW_HOST_RUN_DELAY) / 1e6));
}

static char written[64];

static void write_10_mb(void)
{
	static char block[1 << 20];
	int fd = open(written, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	memset(block, 'x', sizeof(block));
	for (int i = 0; i < 10 && fd >= 0; i++)
		if (write(fd, block, sizeof(block)) != sizeof(block))
			break;
	fsync(fd);
	close(fd);
}

static void counts_bytes_written(void **state)
{
	pid_t pid;
	unsigned id;

	(void)state;
	snprintf(written, sizeof(written), "/tmp/fw-written-%d", (int)getpid());
	pid = start(write_10_mb);
	id = (unsigned)pid;
	watch(pid, 0);
	sample_all();
	stop(pid);
	unlink(written);
	if (strstr(kept.cannot, "/proc/PID/io"))
		skip(); /* a container that forbids it */
	assert_true(last_value(id, 0, FW_HOST_WRITE_CALLS) == 10 << 20);
	/* A memory file system sends nothing to a disk. */
	assert_true(last_value(id, 0, FW_HOST_WRITE) == 0 ||
		    last_value(id, 0, FW_HOST_WRITE) >= 10 << 20);
}

static void lock_1_mb(void)
{
	void *memory =
		mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED ||
	    syscall(SYS_mlock, memory, 1 << 20)) /* sanitizers turn mlock off */
		_exit(1);
}

static bool locks_nothing(unsigned pid)
{
	return last_value(pid, 0, FW_HOST_LOCKED) == 0;
}

static bool locks_1_mb(unsigned pid)
{
	return last_value(pid, 0, FW_HOST_LOCKED) == 1 << 20;
}

static void counts_locked_memory(void **state)
{
	pid_t pid = start(lock_1_mb);

	(void)state;
	watch(pid, 0);
	assert_true(sample_until(locks_nothing, pid));
	atomic_store(&shared->begin, true);
	assert_true(sample_until(locks_1_mb, pid));
	stop(pid);
	assert_true(last_value((unsigned)pid, 0, FW_HOST_RESIDENT) >= 1 << 20);
}

#define LIST_BYTES ((size_t)64 << 20)

/* A worker that writes to all of what it shares with its parent, once it may go on. */
static void fork_a_copier(void)
{
	char *list =
		mmap(NULL, LIST_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (list == MAP_FAILED)
		_exit(1);
	memset(list, 1, LIST_BYTES);
	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "copier");
	wait_for(&shared->go_on);
	memset(list, 2, LIST_BYTES);
	for (;;)
		pause();
}

static unsigned pid_of_copier(void)
{
	for (size_t i = 0; i < kept.name_count; i++)
		if (!strcmp(kept.names[i].text, "copier"))
			return kept.names[i].tid;
	return 0;
}

static bool copier_is_seen(unsigned pid)
{
	(void)pid;
	return last_value(pid_of_copier(), 0, FW_HOST_PSS_ANON) >= 0;
}

static bool copier_has_all(unsigned pid)
{
	(void)pid;
	return last_value(pid_of_copier(), 0, FW_HOST_PSS_ANON) >= LIST_BYTES;
}

/* Half of the list is the worker's at first, all of it in the end; its resident memory stays. */
static void sees_pages_copied_after_a_fork(void **state)
{
	pid_t pid = start(fork_a_copier);
	double first;

	(void)state;
	watch(pid, 0);
	atomic_store(&shared->begin, true);
	assert_true(sample_until(copier_is_seen, pid));
	first = last_value(pid_of_copier(), 0, FW_HOST_PSS_ANON);
	atomic_store(&shared->go_on, true);
	sample_until(copier_has_all, pid);
	stop(pid);
	assert_true(first >= LIST_BYTES / 2.0 && first < 0.9 * LIST_BYTES);
	assert_true(last_value(pid_of_copier(), 0, FW_HOST_PSS_ANON) >= LIST_BYTES);
	assert_true(last_value(pid_of_copier(), 0, FW_HOST_RESIDENT) < 2.0 * LIST_BYTES);
	/* The watched program itself is not asked: it can be large. */
	assert_true(last_value((unsigned)pid, 0, FW_HOST_PSS_ANON) == -1);
}

/* Three workers: one ends at once when asked to, two stay. */
static void fork_3(void)
{
	for (int i = 0; i < 3; i++) {
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, i ? "stays" : "leaves");
		spin_for(5 * MS);
		wait_for(&shared->go_on);
		if (!i)
			_exit(0);
		for (;;)
			pause();
	}
	signal(SIGCHLD, SIG_IGN); /* no zombies */
}

static unsigned names_of(const char *text)
{
	unsigned count = 0;

	for (size_t i = 0; i < kept.name_count; i++)
		count += !strcmp(kept.names[i].text, text);
	return count;
}

/* Workers of a process that have ended, and those that are there and have run for 5 ms. */
static unsigned workers(unsigned pid, bool are_gone)
{
	unsigned count = 0, last = 0;

	for (size_t i = 0; i < kept.count; i++) {
		const struct fw_host_reading *r = &kept.readings[i];
		bool is_gone;

		if (r->which != FW_HOST_PARENT || r->value != (double)pid || r->pid <= last)
			continue;
		last = r->pid;
		is_gone = last_value(r->pid, 0, FW_HOST_STATE) == 'X';
		if (is_gone == are_gone)
			count += is_gone || last_value(r->pid, r->pid, FW_HOST_RUN) >= 5e6;
	}
	return count;
}

static bool all_workers_ran(unsigned pid)
{
	return workers(pid, false) == 3 && names_of("leaves") == 1 && names_of("stays") == 2;
}

static bool a_worker_is_gone(unsigned pid)
{
	return workers(pid, true) > 0;
}

static void finds_workers_and_their_end(void **state)
{
	pid_t pid = start(fork_3);

	(void)state;
	watch(pid, 0);
	atomic_store(&shared->begin, true);
	assert_true(sample_until(all_workers_ran, pid));
	atomic_store(&shared->go_on, true);
	assert_true(sample_until(a_worker_is_gone, pid));
	sample_for(200 * MS);
	stop(pid);
	assert_int_equal(workers((unsigned)pid, true), 1);
	assert_int_equal(workers((unsigned)pid, false), 2);
	assert_int_equal(names_of("stays"), 2);
}

static void spin_long(void)
{
	spin_for(2000 * MS);
}

static bool is_running(unsigned pid)
{
	return last_value(pid, pid, FW_HOST_RUN) > 50e6;
}

static bool is_stopped(unsigned pid)
{
	return last_value(pid, pid, FW_HOST_STATE) == 'T';
}

/* Stopped by a signal: no CPU time, state T. */
static void sees_a_stopped_process(void **state)
{
	pid_t pid = start(spin_long);
	unsigned id = (unsigned)pid;
	double before;

	(void)state;
	watch(pid, 0);
	atomic_store(&shared->begin, true);
	assert_true(sample_until(is_running, pid));
	kill(pid, SIGSTOP);
	assert_true(sample_until(is_stopped, pid));
	sample_for(100 * MS);
	before = last_value(id, id, FW_HOST_RUN);
	sample_for(300 * MS);
	assert_true(last_value(id, id, FW_HOST_RUN) == before);
	stop(pid);
}

static void *spin_in_thread(void *argument)
{
	(void)argument;
	pthread_setname_np(pthread_self(), "spinner");
	spin_for(100 * MS);
	wait_for(&shared->go_on);
	return NULL;
}

static void spin_two_threads(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, spin_in_thread, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static bool both_spinners_ran(unsigned pid)
{
	unsigned count = 0;

	for (size_t i = 0; i < kept.name_count; i++)
		count += !strcmp(kept.names[i].text, "spinner") &&
			 last_value(pid, kept.names[i].tid, FW_HOST_RUN) >= 100e6;
	return count == 2;
}

static void finds_threads_and_their_end(void **state)
{
	pid_t pid = start(spin_two_threads);
	unsigned found = 0;

	(void)state;
	watch(pid, 0);
	atomic_store(&shared->begin, true);
	assert_true(sample_until(both_spinners_ran, pid));
	atomic_store(&shared->go_on, true);
	sample_all();
	stop(pid);
	for (size_t i = 0; i < kept.name_count; i++) {
		unsigned tid = kept.names[i].tid;

		if (strcmp(kept.names[i].text, "spinner"))
			continue;
		found++;
		assert_in_range((uint64_t)(last_value((unsigned)pid, tid, FW_HOST_RUN) / 1e6), 100,
				120);
		assert_true(last_value((unsigned)pid, tid, FW_HOST_STATE) == 'X');
	}
	assert_int_equal(found, 2);
}

/*
 * 300 ms asleep is one interval off the CPU, to a few ms and what it waited to run; spinning makes
 * preempted ones.
 */
static void context_switches_give_intervals(void **state)
{
	pid_t pid = start(sleep_then_spin);
	bool is_found = false;
	int64_t delay;

	(void)state;
	watch(pid, 16);
	sample_all();
	stop(pid);
	delay = (int64_t)last_value((unsigned)pid, (unsigned)pid, FW_HOST_RUN_DELAY);
	if (strstr(kept.cannot, "not permitted"))
		skip();
	for (size_t i = 0; i < kept.off_count; i++) {
		const struct fw_off_cpu *off = &kept.off[i];

		assert_int_equal(off->tid, pid);
		assert_true(off->end_ns > off->start_ns);
		is_found |= !off->is_runnable && off->end_ns - off->start_ns >= 300 * MS &&
			    off->end_ns - off->start_ns < 340 * MS + delay;
	}
	assert_true(is_found);
	assert_int_equal(kept.lost, 0);
}

/* Two processes that wake each other up as fast as they can. */
static void play_ping_pong(void)
{
	int there[2], back[2];
	char c = 0;

	if (pipe(there) || pipe(back))
		_exit(1);
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
			;
		_exit(0);
	}
	for (int64_t until = clock_now() + 1500 * MS; clock_now() < until;)
		if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
			_exit(1);
}

/* Each switch costs the thread half a microsecond: one that does nothing else is let go, and said. */
static void lets_go_of_threads_that_switch_all_the_time(void **state)
{
	pid_t pid = start(play_ping_pong);

	(void)state;
	watch(pid, 16);
	sample_all();
	stop(pid);
	if (!kept.lost)
		skip(); /* not permitted, or too slow a machine */
	assert_non_null(strstr(kept.cannot, "tens of thousands"));
}

/* One thread in ten works a fiftieth of its time, the others wake up 10 times a second. */
static void *work_a_little(void *argument)
{
	bool is_busy = argument;

	for (;;) {
		if (is_busy)
			spin_for(MS / 5);
		usleep(is_busy ? 10000 : 100000);
	}
	return NULL;
}

static void start_threads(int threads)
{
	pthread_t thread;

	for (int i = 1; i < threads; i++)
		pthread_create(&thread, NULL, work_a_little, NULL);
	work_a_little(&thread);
}

static pid_t start_tree(int processes, int threads)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 1; i < processes; i++)
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			break;
		}
	start_threads(threads);
	_exit(0);
}

static int64_t thread_cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Sanitizers make our part of it several times slower; the kernel's is the same. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MOST_PERCENT 3
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MOST_PERCENT 3
#endif
#endif
#ifndef MOST_PERCENT
#define MOST_PERCENT 1
#endif

/*
 * CPU of the sampling thread, with its waking up, in percent of a core: the least of six windows, since
 * other work makes the same readings dearer before they become rarer.
 */
static double cost_of(int processes, int threads, unsigned switch_threads)
{
	pid_t pid = start_tree(processes, threads);
	double percent = 100;

	watch(pid, switch_threads);
	sample_for(1000 * MS);
	for (int i = 0; i < 6 && percent >= MOST_PERCENT; i++) {
		int64_t cpu = thread_cpu(), wall = clock_now();
		double window;

		sample_for(1000 * MS);
		window = 100 * (double)(thread_cpu() - cpu) / (double)(clock_now() - wall);
		percent = window < percent ? window : percent;
	}
	stop(pid);
	print_message(
		"%d processes x %d threads, switches of %u: %.2f %% of a core; threads every %.1f "
		"ms, processes every %.1f ms; %zu values and %zu intervals; %zu names\n",
		processes, threads, switch_threads, percent,
		last_value(0, 0, FW_HOST_THREAD_PERIOD) / 1e6,
		last_value(0, 0, FW_HOST_PROCESS_PERIOD) / 1e6, kept.count, kept.off_count,
		kept.name_count);
	return percent;
}

/* The target is 1 % of a core; sampling less often keeps it where a reading costs too much. */
static void costs_less_than_a_percent(void **state)
{
	(void)state;
	assert_true(cost_of(20, 10, 0) < MOST_PERCENT);
	assert_int_equal(kept.name_count, 200);
}

static void costs_less_than_a_percent_with_switches(void **state)
{
	(void)state;
	assert_true(cost_of(20, 10, 64) < MOST_PERCENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(tells_sleeping_from_running, begin, end),
		cmocka_unit_test_setup_teardown(counts_bytes_written, begin, end),
		cmocka_unit_test_setup_teardown(counts_locked_memory, begin, end),
		cmocka_unit_test_setup_teardown(sees_pages_copied_after_a_fork, begin, end),
		cmocka_unit_test_setup_teardown(finds_workers_and_their_end, begin, end),
		cmocka_unit_test_setup_teardown(sees_a_stopped_process, begin, end),
		cmocka_unit_test_setup_teardown(finds_threads_and_their_end, begin, end),
		cmocka_unit_test_setup_teardown(context_switches_give_intervals, begin, end),
		cmocka_unit_test_setup_teardown(lets_go_of_threads_that_switch_all_the_time, begin,
						end),
		cmocka_unit_test_setup_teardown(costs_less_than_a_percent, begin, end),
		cmocka_unit_test_setup_teardown(costs_less_than_a_percent_with_switches, begin,
						end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
