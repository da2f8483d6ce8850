/* host.fwr written by its thread while a program runs, and read back as rows of a trace. */
#include "record/host_samples.h"
#include "record/ticker.h"
#include "trace/recording_read.h"
#include "trace/trace.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static struct fw_rec_control control = { .wanted = FW_REC_WANT_RECORD };
static char path[] = "/tmp/fw-host-XXXXXX";

/* Sleeps for 200 ms, then works for 50 ms of CPU time, and again. */
static pid_t start_child(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		clock_t until;

		usleep(200000);
		until = clock() + CLOCKS_PER_SEC / 20;
		while (clock() < until)
			;
	}
}

static void record(pid_t pid)
{
	const struct fw_record_host_options options = { .path = path, .pid = (unsigned)pid };
	struct fw_record_sampler sampler = { .interval_ns = FW_RECORD_HOST_TICK_NS,
					     .begin = fw_record_host_begin,
					     .tick = fw_record_host_tick,
					     .paused = fw_record_host_paused,
					     .end = fw_record_host_end };
	struct fw_record_stream_state state;
	struct fw_record_ticker *ticker;
	struct fw_record_host *host;

	assert_int_equal(fw_record_host_open(&host, &options, NULL), FW_OK);
	sampler.user = host;
	assert_int_equal(fw_record_ticker_start(&ticker, &sampler, &control, NULL), FW_OK);
	usleep(600000);
	atomic_store(&control.wanted, FW_REC_WANT_PAUSE);
	usleep(200000);
	atomic_store(&control.wanted, FW_REC_WANT_RECORD);
	usleep(700000);
	fw_record_ticker_stop(ticker);
	fw_record_host_close(host, &state);
	assert_int_equal(state.lost, 0);
	assert_int_equal(state.write_error, 0);
}

/* The last sample of that name, of the process and its main thread if pid is not 0; -1: none. */
static double last_sample(const struct fw_trace *trace, const char *name, unsigned pid)
{
	const struct fw_trace_host_samples *samples = &trace->host_samples;
	double value = -1;
	char wanted[16];

	snprintf(wanted, sizeof(wanted), "%u", pid);
	for (size_t i = 0; i < samples->len; i++) {
		uint32_t process = samples->process[i], thread = samples->thread[i];

		if (strcmp(fw_trace_text(trace, samples->name[i]), name))
			continue;
		if (pid ? process == FW_NONE ||
				    strcmp(fw_trace_text(trace, trace->processes.pid[process]),
					   wanted)
			: process != FW_NONE)
			continue;
		if (thread != FW_NONE && /* the thread sanitizer has one of its own */
		    strcmp(fw_trace_text(trace, trace->threads.tid[thread]), wanted))
			continue;
		value = samples->value[i];
	}
	return value;
}

static void a_recording_of_the_host_reads_back(void **state)
{
	const char *const paths[] = { path };
	pid_t pid = start_child();
	struct fw_trace *trace;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	record(pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(fw_trace_create(&trace, NULL), FW_OK);
	assert_int_equal(fw_recording_read(paths, 1, NULL, trace, NULL), FW_OK);
	assert_true(last_sample(trace, "run_ns", (unsigned)pid) >= 50e6);
	assert_true(last_sample(trace, "rss_bytes", (unsigned)pid) > 0);
	assert_true(last_sample(trace, "thread_period_ns", 0) >= 10e6);
	assert_true(last_sample(trace, "memory_limit_bytes", 0) > 0);
	assert_int_equal(trace->integrity.bad_records, 0);
	assert_int_equal(trace->processes.len, 1);
	assert_string_equal(fw_trace_text(trace, trace->processes.name[0]), "test_record_hos");
	for (size_t i = 0; i < trace->switches.len; i++)
		assert_true(trace->switches.end_ns[i] - trace->switches.start_ns[i] >= 5000);
	fw_trace_destroy(trace);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recording_of_the_host_reads_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
