#include "serve/serve.h"

#include "base/amount.h"
#include "serve/flow_options.h"
#include "serve/http.h"
#include "serve/steady_clock.h"
#include "serve/warm_images.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* What a broken service takes to answer those who wait. */
#define BROKEN_NS INT64_C(3000000000)
/* How often the engine is looked at. */
#define LOOK_MS 1000
/* Beside connections: the log, libraries, the model. */
#define OTHER_FILES 64

static void say(const struct fw_serve_job *job, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void say(const struct fw_serve_job *job, const char *fmt, ...)
{
	va_list ap;

	if (job->is_quiet)
		return;
	va_start(ap, fmt);
	fputs("fullwarp-serve: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
}

static int fail(const struct fw_error *err)
{
	fprintf(stderr, "fullwarp-serve serve: %s\n", err->message);
	return 1;
}

/* Signals come to a descriptor, and to no thread. */
static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	if (pthread_sigmask(SIG_BLOCK, &set, NULL))
		return -1;
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static fw_status raise_files(uint32_t connections, struct fw_error *err)
{
	struct rlimit limit;
	rlim_t wanted = (rlim_t)connections + OTHER_FILES;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= wanted)
		return FW_OK;
	limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
	if (limit.rlim_cur < wanted || setrlimit(RLIMIT_NOFILE, &limit))
		return fw_fail(
			err, FW_ERR_IO,
			"--max-connections %u needs %llu open files, the limit is %llu: raise "
			"it (ulimit -n, LimitNOFILE=)",
			connections, (unsigned long long)wanted,
			(unsigned long long)limit.rlim_max);
	return FW_OK;
}

/* What the pipeline tells while it is made. */
static void say_line(void *user, const char *text)
{
	say(user, "%s", text);
}

static void say_ready(const struct fw_serve_job *job, const struct fw_service *s)
{
	say(job,
	    "ready after %.2f s: /v2/models/%s, %s %s%s%s, %u workers, batches up to %u, %u slots; "
	    "at most %s of memory, and the weights' %s",
	    (double)(s->ready_ns - s->start_ns) / 1e9, s->options.name, s->fixed.engine,
	    s->fixed.precision, s->fixed.gpu[0] ? ", " : "", s->fixed.gpu, s->fixed.workers,
	    s->fixed.max_batch, s->fixed.slots,
	    fw_amount_bytes((int64_t)fw_service_memory_bytes(s)).text,
	    fw_amount_bytes((int64_t)(2 * s->fixed.weight_bytes)).text);
	if (job->is_explaining)
		fw_flow_explain(s->pipeline);
}

/* The signal that has come; 0: none. */
static int next_signal(int fd)
{
	struct signalfd_siginfo info;

	return read(fd, &info, sizeof(info)) == sizeof(info) ? (int)info.ssi_signo : 0;
}

/* Until the state is one that ends the service. */
static enum fw_service_state watch(const struct fw_serve_job *job, struct fw_service *s,
				   int signals)
{
	enum fw_service_state state = FW_SERVICE_LOADING, before = state;
	struct fw_error err;
	uint64_t count;

	while (state == FW_SERVICE_LOADING || state == FW_SERVICE_READY) {
		struct pollfd fds[] = { { .fd = signals, .events = POLLIN },
					{ .fd = s->events, .events = POLLIN } };
		int got;

		if (poll(fds, 2, LOOK_MS) < 0 && errno != EINTR)
			break;
		fw_service_check(s);
		while ((got = next_signal(signals))) {
			if (got != SIGHUP)
				return FW_SERVICE_DRAINING;
			if (fw_access_log_reopen(&s->log, &err))
				fail(&err);
		}
		if (read(s->events, &count, sizeof(count)) < 0 && errno != EAGAIN)
			break;
		before = state;
		state = fw_service_state(s, NULL, 0);
		if (state == FW_SERVICE_READY && before == FW_SERVICE_LOADING)
			say_ready(job, s);
	}
	return state;
}

static int end(const struct fw_serve_job *job, struct fw_service *s, struct fw_http *http,
	       enum fw_service_state why)
{
	bool was_loading = fw_service_set_state(s, FW_SERVICE_DRAINING, NULL) == FW_SERVICE_LOADING;

	if (why == FW_SERVICE_FAILED || why == FW_SERVICE_BROKEN)
		fail(&s->err);
	else
		say(job, "ending");
	if (!was_loading &&
	    !fw_service_drain(s, fw_steady_ns() +
					 (why == FW_SERVICE_BROKEN ? BROKEN_NS : job->drain_ns)))
		say(job, "some requests were cut off: they were not done after --drain");
	fw_http_close(http);
	if (was_loading) /* which cannot be stopped */
		_exit(0);
	fw_service_close(s);
	if (why == FW_SERVICE_FAILED)
		return 1;
	return why == FW_SERVICE_BROKEN ? FW_SERVE_ENGINE_FAILED : 0;
}

static fw_status listen_to(const struct fw_serve_job *job, struct fw_service *service,
			   struct fw_http **http, struct fw_error *err)
{
	fw_status status = fw_http_open(http, service, &job->address, err);

	if (status)
		fw_error_prefix(err, "%s", job->listen);
	return status;
}

int fw_serve_http(const struct fw_serve_job *job)
{
	struct fw_service_options options = job->service;
	struct fw_service service;
	struct fw_http *http = NULL;
	struct fw_error err = { .code = FW_OK };
	int signals = open_signals(), code;

	options.warm = fw_warm_images;
	options.pipeline.say = say_line;
	options.pipeline.say_user = (void *)(uintptr_t)job;
	if (signals < 0 || raise_files(job->service.max_connections, &err))
		return fail(&err);
	if (fw_service_open(&service, &options, &err) || listen_to(job, &service, &http, &err) ||
	    fw_service_load(&service, &err)) {
		code = fail(&err);
		fw_http_close(http);
		fw_service_close(&service);
		return code;
	}
	say(job, "listening on port %u (--listen %s)", fw_http_port(http), job->listen);
	if (!fw_address_is_loopback(&job->address) && !job->service.token_file)
		say(job, "whoever reaches %s may use it: there is no --token-file", job->listen);
	code = end(job, &service, http, watch(job, &service, signals));
	close(signals);
	return code;
}
