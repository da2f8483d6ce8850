#include "record/child.h"

#include "record/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* Passed on to the program when they are sent to the recorder alone. */
static const int passed_on[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM };

static void listen_to(struct fw_record_child *child, sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
		sigaddset(set, passed_on[i]);
	if (child->toggle)
		sigaddset(set, child->toggle);
}

/* In the child: becomes the program, or tells the recorder why not. */
static _Noreturn void become(const struct fw_record_child *child, char *const *argv,
			     char *const *envp, int report)
{
	int why;

	sigaction(SIGCHLD, &child->chld_before, NULL);
	sigprocmask(SIG_SETMASK, &child->mask_before, NULL);
	execvpe(argv[0], argv, envp);
	why = errno;
	while (write(report, &why, sizeof(why)) < 0 && errno == EINTR)
		;
	_exit(127);
}

/* 0, or the errno of exec in the child. */
static int read_report(int fd)
{
	int why = 0;
	ssize_t n;

	do {
		n = read(fd, &why, sizeof(why));
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(why) ? why : 0;
}

static fw_status start(struct fw_record_child *child, char *const *argv, char *const *envp,
		       int *exec_errno, struct fw_error *err)
{
	int report[2];

	if (pipe2(report, O_CLOEXEC))
		return fw_fail(err, FW_ERR_IO, "pipe: %s", strerror(errno));
	child->pid = fork();
	if (child->pid < 0) {
		int why = errno;

		close(report[0]);
		close(report[1]);
		return fw_fail(err, FW_ERR_IO, "fork: %s", strerror(why));
	}
	if (!child->pid)
		become(child, argv, envp, report[1]);
	close(report[1]);
	*exec_errno = read_report(report[0]);
	close(report[0]);
	if (*exec_errno)
		while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
			;
	return FW_OK;
}

void fw_record_child_hold_streams(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/*
 * Else a reader of the program's output would not see its end, nor a writer to its input, when the program
 * closes them.
 */
static void let_go_of_streams(void)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (nothing < 0)
		return;
	dup2(nothing, STDIN_FILENO);
	dup2(nothing, STDOUT_FILENO);
	if (nothing > STDERR_FILENO)
		close(nothing);
}

fw_status fw_record_child_start(struct fw_record_child *child, char *const *argv, char *const *envp,
				int *exec_errno, struct fw_error *err)
{
	const struct sigaction plain = { .sa_handler = SIG_DFL };
	sigset_t set;
	fw_status status;

	child->pid = 0;
	listen_to(child, &set);
	child->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (child->signals < 0)
		return fw_fail(err, FW_ERR_IO, "signalfd: %s", strerror(errno));
	/* An ignored SIGCHLD, which is inherited, would leave no status to wait for. */
	sigaction(SIGCHLD, &plain, &child->chld_before);
	sigprocmask(SIG_BLOCK, &set, &child->mask_before);
	/* What the program leaves behind becomes our child, so that it still belongs to the tree. */
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	status = start(child, argv, envp, exec_errno, err);
	if (status || *exec_errno) {
		fw_record_child_release(child);
		return status;
	}
	let_go_of_streams();
	return FW_OK;
}

/*
 * Reaps one process: the program, or one that it left behind, which the main thread adopts. What a driver
 * starts in another thread of ours (nvidia-modprobe) is for the driver to wait for.
 */
static enum fw_record_event reap(struct fw_record_child *child, int *status)
{
	int how = 0;
	pid_t pid;

	do {
		pid = waitpid(-1, &how, WNOHANG | __WNOTHREAD);
	} while (pid < 0 && errno == EINTR);
	if (pid <= 0)
		return FW_RECORD_EVENT_NONE;
	if (pid != child->pid)
		return FW_RECORD_EVENT_CHILD;
	child->pid = 0;
	*status = WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how);
	return FW_RECORD_EVENT_ENDED;
}

/*
 * The kernel itself sends what a terminal causes (^C, a hang-up), to the whole foreground process
 * group, so that the program has it already.
 */
static enum fw_record_event take_signal(struct fw_record_child *child)
{
	struct signalfd_siginfo info;

	if (read(child->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return FW_RECORD_EVENT_NONE;
	if (child->toggle && (int)info.ssi_signo == child->toggle)
		return FW_RECORD_EVENT_TOGGLE;
	if (info.ssi_signo != SIGCHLD && info.ssi_code != SI_KERNEL && child->pid > 0)
		kill(child->pid, (int)info.ssi_signo);
	return FW_RECORD_EVENT_NONE;
}

/* Milliseconds to wait, rounded up; -1: for ever. */
static int milliseconds(int64_t until_mono)
{
	int64_t left;

	if (until_mono == INT64_MAX)
		return -1;
	left = until_mono - fw_record_now();
	if (left <= 0)
		return 0;
	return left > INT64_C(3600000000000) ? 3600000 : (int)((left + 999999) / 1000000);
}

enum fw_record_event fw_record_child_wait(struct fw_record_child *child, int64_t until_mono,
					  int *status)
{
	for (;;) {
		struct pollfd ready = { .fd = child->signals, .events = POLLIN };
		enum fw_record_event event = reap(child, status);
		int timeout = milliseconds(until_mono);

		if (event)
			return event;
		if (poll(&ready, 1, timeout) <= 0 && fw_record_now() >= until_mono)
			return FW_RECORD_EVENT_NONE;
		event = take_signal(child);
		if (event)
			return event;
	}
}

bool fw_record_child_is_interrupted(struct fw_record_child *child)
{
	struct signalfd_siginfo info;

	while (read(child->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		if (info.ssi_signo == SIGINT || info.ssi_signo == SIGTERM ||
		    info.ssi_signo == SIGQUIT || info.ssi_signo == SIGHUP)
			return true;
	return false;
}

void fw_record_child_release(struct fw_record_child *child)
{
	struct signalfd_siginfo info;

	if (child->signals < 0)
		return;
	/* What came too late to be passed on must not kill the recorder now. */
	while (read(child->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		;
	close(child->signals);
	child->signals = -1;
	sigaction(SIGCHLD, &child->chld_before, NULL);
	sigprocmask(SIG_SETMASK, &child->mask_before, NULL);
}
