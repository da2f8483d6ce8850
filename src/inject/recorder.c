#include "inject/recorder.h"

#include "inject/writer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Exit waits no longer than this for the writer to finish. */
#define FINISH_MS 2000

#define STACK_BYTES (1u << 20)

enum state { STATE_IDLE, STATE_STARTING, STATE_RUNNING, STATE_OFF };

static _Atomic int state;
static struct fw_writer *writer; /* mapped once */
static pid_t owner;              /* the process that started it */

/* The threads of the parent are not here: forget them. Only calls that are safe between fork and exec. */
static void in_child(void)
{
	fw_session_refuse(true);
	fw_profiler_close();
	fw_rings_enable(false);
	fw_rings_forget();
	atomic_store(&state, STATE_IDLE);
}

static void at_exit(void)
{
	int saved = errno, running = STATE_RUNNING;

	if (owner == getpid() && atomic_compare_exchange_strong(&state, &running, STATE_OFF))
		fw_writer_finish(writer, FINISH_MS);
	errno = saved;
}

/* Once for this process and those it forks, which inherit them. */
static void register_handlers(void)
{
	static bool is_registered;

	if (is_registered)
		return;
	is_registered = true;
	pthread_atfork(NULL, NULL, in_child);
	atexit(at_exit);
}

static bool start_thread(void)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	pthread_t thread;
	bool started;

	if (pthread_attr_init(&attributes))
		return false;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	/* No signal is ever handled there; SIGXFSZ stays blocked, and write answers EFBIG. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(&thread, &attributes, fw_writer_run, writer) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return started;
}

static bool start(void)
{
	if (!writer) {
		void *memory = mmap(NULL, sizeof(*writer), PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED)
			return false;
		writer = memory;
	}
	if (!fw_writer_open(writer, getenv(FW_REC_ENV_DIR), getenv(FW_REC_ENV_OPTIONS)))
		return false;
	owner = getpid();
	register_handlers();
	if (start_thread())
		return true;
	fw_writer_close(writer);
	return false;
}

bool fw_recorder_start(void)
{
	int saved = errno, expected = STATE_IDLE;

	if (atomic_compare_exchange_strong(&state, &expected, STATE_STARTING))
		atomic_store(&state, start() ? STATE_RUNNING : STATE_OFF);
	errno = saved;
	return atomic_load(&state) == STATE_RUNNING;
}

void fw_recorder_attach_cuda(void)
{
	int saved = errno;

	if (atomic_load(&state) == STATE_RUNNING) {
		fw_writer_attach_cuda(writer);
		/* Once more, after CUPTI's own handler, so that it runs before that. */
		atexit(at_exit);
	}
	errno = saved;
}
