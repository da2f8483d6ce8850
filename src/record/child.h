#ifndef FW_RECORD_CHILD_H
#define FW_RECORD_CHILD_H
/*
 * The program that is recorded, run as a shell would run it: the same standard streams, process group
 * and terminal, and the signal mask and dispositions that the recorder was started with. Signals sent
 * to the recorder reach it; those that a terminal sends reach it anyway, and are not sent twice.
 */
#include "base/error.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct fw_record_child {
	pid_t pid;
	int signals; /* a signalfd of what the recorder listens to */
	int toggle;  /* the signal that is the recorder's own; 0: none */
	sigset_t mask_before;
	struct sigaction chld_before;
};

/*
 * Takes the numbers of standard streams that are closed, so that no file of ours gets one: what is printed
 * would go into it. The program finds them closed.
 */
void fw_record_child_hold_streams(void);

/*
 * Starts the program, found by PATH; envp is its environment. To be called in the main thread. Standard
 * input and output are the program's from then on, and /dev/null for this process. Signals stay blocked in this thread, and
 * in those that it makes, until fw_record_child_release. *exec_errno: 0, or why the program could
 * not be executed, which is no failure of this function.
 */
fw_status fw_record_child_start(struct fw_record_child *child, char *const *argv, char *const *envp,
				int *exec_errno, struct fw_error *err);

enum fw_record_event {
	FW_RECORD_EVENT_NONE,   /* the time is up */
	FW_RECORD_EVENT_ENDED,  /* the program: *status is set */
	FW_RECORD_EVENT_TOGGLE, /* the recorder's own signal */
	FW_RECORD_EVENT_CHILD   /* another process below us ended */
};

/*
 * Waits up to until_mono (CLOCK_MONOTONIC, ns; INT64_MAX: for ever) for something to happen. *status:
 * the exit status as a shell gives it, 128 + the number of the signal that killed it.
 */
enum fw_record_event fw_record_child_wait(struct fw_record_child *child, int64_t until_mono,
					  int *status);

/* Whether a terminal, or a signal, asks the recorder to be done; consumes it. */
bool fw_record_child_is_interrupted(struct fw_record_child *child);

/* Gives the signals back as they were. */
void fw_record_child_release(struct fw_record_child *child);

#endif
