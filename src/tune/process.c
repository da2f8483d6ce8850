/* Child processes and length-checked messages over a socket pair. */
#include "tune/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHILD_FD      3
#define END_WAIT_NS   (INT64_C(30) * 1000000000)
#define SEND_WAIT_S   30
#define LOG_TAIL      2048
#define MESSAGE_MAGIC 0x65756e74u

struct header {
	uint32_t magic, type;
	uint64_t bytes;
};

int64_t fw_tune_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The parent's other sockets must not stay open in here: their readers would wait for ever for an end. */
static void close_others(void)
{
	if (!close_range(CHILD_FD + 1, ~0U, 0))
		return;
	for (int fd = CHILD_FD + 1; fd < 65536; fd++)
		close(fd);
}

static void set_limits(void)
{
	const struct rlimit no_core = { 0, 0 };

	setrlimit(RLIMIT_CORE, &no_core);
	signal(SIGPIPE, SIG_IGN);
	/* A Ctrl-C is the parent's to answer; when it ends, so do its children. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
}

static void live(pid_t parent, int fd, int log)
{
	int null;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	null = open("/dev/null", O_RDONLY);
	if (null < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0 ||
	    (fd != CHILD_FD && dup2(fd, CHILD_FD) < 0))
		_exit(1);
	/* What the parent has yet to write is the parent's. */
	__fpurge(stdout);
	close_others();
	set_limits();
}

static int open_log(void)
{
	int log = memfd_create("fullwarp-tune-log", MFD_CLOEXEC);

	if (log >= 0)
		fcntl(log, F_SETFL, O_APPEND);
	return log;
}

fw_status fw_tune_process_start(struct fw_tune_process *process, fw_tune_process_main *run,
				void *user, struct fw_error *err)
{
	const struct timeval wait = { SEND_WAIT_S, 0 };
	pid_t parent = getpid();
	int ends[2], log;

	*process = (struct fw_tune_process){ .fd = -1, .log = -1 };
	log = open_log();
	if (log < 0)
		return fw_fail(err, FW_ERR_IO, "memfd_create: %s", strerror(errno));
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
		close(log);
		return fw_fail(err, FW_ERR_IO, "socketpair: %s", strerror(errno));
	}
	process->pid = fork();
	if (process->pid == 0) {
		live(parent, ends[1], log);
		run(CHILD_FD, user);
		_exit(0);
	}
	close(ends[1]);
	if (process->pid < 0) {
		int code = errno;

		close(ends[0]);
		close(log);
		process->pid = 0;
		return fw_fail(err, FW_ERR_IO, "fork: %s", strerror(code));
	}
	setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	process->fd = ends[0];
	process->log = log;
	return FW_OK;
}

void fw_tune_process_clear_log(void)
{
	/* No other stream: the parent's may stand for descriptors that are now something else. */
	fflush(stdout);
	if (ftruncate(STDERR_FILENO, 0))
		return; /* a longer text to choose the last line from */
}

/* The last line that is not empty, without control characters. */
static void last_line(int log, char *line, size_t bytes)
{
	char tail[LOG_TAIL + 1];
	off_t size = lseek(log, 0, SEEK_END);
	ssize_t n =
		size <= 0 ? 0 : pread(log, tail, LOG_TAIL, size > LOG_TAIL ? size - LOG_TAIL : 0);
	char *start;

	while (n > 0 && (unsigned char)tail[n - 1] <= ' ')
		n--;
	tail[n > 0 ? n : 0] = 0;
	start = strrchr(tail, '\n');
	snprintf(line, bytes, "%.*s", (int)bytes - 1, start ? start + 1 : tail); /* what fits */
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = ' ';
}

static void describe(int status, int log, char *how, size_t bytes)
{
	char line[128], end[64];

	if (WIFSIGNALED(status))
		snprintf(end, sizeof(end), "signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else
		snprintf(end, sizeof(end), "exit status %d", WEXITSTATUS(status));
	last_line(log, line, sizeof(line));
	snprintf(how, bytes, "%s%s%s", end, line[0] ? ": " : "", line);
}

bool fw_tune_process_end(struct fw_tune_process *process, char *how, size_t how_bytes)
{
	const struct timespec pause = { 0, 2000000 };
	int64_t start = fw_tune_now();
	int status = 0;
	pid_t got;

	if (how_bytes)
		how[0] = 0;
	if (!process->pid)
		return true;
	while ((got = waitpid(process->pid, &status, WNOHANG)) == 0 &&
	       fw_tune_now() - start < END_WAIT_NS) {
		kill(process->pid, SIGKILL);
		nanosleep(&pause, NULL);
	}
	if (got > 0 && how_bytes)
		describe(status, process->log, how, how_bytes);
	close(process->fd);
	close(process->log);
	*process = (struct fw_tune_process){ .fd = -1, .log = -1 };
	return got != 0;
}

/* Reads all of them; the time that is left is asked before each wait. */
static enum fw_tune_received read_all(int fd, int64_t deadline_ns, void *to, size_t bytes)
{
	unsigned char *at = to;

	while (bytes) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int64_t left = deadline_ns ? (deadline_ns - fw_tune_now()) / 1000000 + 1 : -1;
		int ready = deadline_ns && left <= 0
				    ? 0
				    : poll(&p, 1, left > 60000 ? 60000 : (int)left);
		ssize_t n;

		if (ready < 0 && errno != EINTR)
			return FW_TUNE_ENDED;
		if (ready == 0 && deadline_ns && fw_tune_now() >= deadline_ns)
			return FW_TUNE_TIMED_OUT;
		if (ready <= 0)
			continue;
		n = read(fd, at, bytes);
		if (n == 0 || (n < 0 && errno != EINTR))
			return FW_TUNE_ENDED;
		at += n > 0 ? n : 0;
		bytes -= n > 0 ? (size_t)n : 0;
	}
	return FW_TUNE_RECEIVED;
}

enum fw_tune_received fw_tune_receive(int fd, int64_t deadline_ns, struct fw_tune_message *message)
{
	enum fw_tune_received got;
	struct header header;

	*message = (struct fw_tune_message){ 0 };
	got = read_all(fd, deadline_ns, &header, sizeof(header));
	if (got)
		return got;
	if (header.magic != MESSAGE_MAGIC || header.bytes > FW_TUNE_MAX_MESSAGE)
		return FW_TUNE_ENDED;
	message->type = header.type;
	message->bytes = (size_t)header.bytes;
	if (!message->bytes)
		return FW_TUNE_RECEIVED;
	message->data = malloc(message->bytes);
	if (!message->data)
		return FW_TUNE_ENDED;
	got = read_all(fd, deadline_ns, message->data, message->bytes);
	if (got)
		fw_tune_message_release(message);
	return got;
}

void fw_tune_message_release(struct fw_tune_message *message)
{
	free(message->data);
	*message = (struct fw_tune_message){ 0 };
}

static bool send_all(int fd, const void *data, size_t bytes)
{
	const unsigned char *at = data;

	while (bytes) {
		ssize_t n = send(fd, at, bytes, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		bytes -= (size_t)n;
	}
	return true;
}

bool fw_tune_send(int fd, uint32_t type, const struct fw_str *payload)
{
	struct header header = { MESSAGE_MAGIC, type, payload ? payload->len : 0 };

	if (payload && payload->failed)
		return false;
	return send_all(fd, &header, sizeof(header)) &&
	       (!header.bytes || send_all(fd, payload->data, payload->len));
}

bool fw_tune_message_take(struct fw_tune_message *message, void *to, size_t bytes)
{
	if (message->bytes - message->at < bytes) {
		message->is_short = true;
		message->at = message->bytes;
		memset(to, 0, bytes);
		return false;
	}
	memcpy(to, message->data + message->at, bytes);
	message->at += bytes;
	return true;
}

const void *fw_tune_message_take_block(struct fw_tune_message *message, size_t *bytes)
{
	uint64_t len;
	const void *block;

	*bytes = 0;
	if (!fw_tune_message_take(message, &len, sizeof(len)) || !len)
		return NULL;
	if (len > message->bytes - message->at) {
		message->is_short = true;
		return NULL;
	}
	block = message->data + message->at;
	message->at += (size_t)len;
	*bytes = (size_t)len;
	return block;
}

const char *fw_tune_message_take_text(struct fw_tune_message *message)
{
	size_t bytes;
	const char *text = fw_tune_message_take_block(message, &bytes);

	return text && !text[bytes - 1] ? text : NULL;
}

void fw_tune_put_block(struct fw_str *payload, const void *data, size_t bytes)
{
	uint64_t len = bytes;

	fw_str_append(payload, (const char *)&len, sizeof(len));
	if (bytes)
		fw_str_append(payload, data, bytes);
}

void fw_tune_put_text(struct fw_str *payload, const char *text)
{
	fw_tune_put_block(payload, text, text ? strlen(text) + 1 : 0);
}
