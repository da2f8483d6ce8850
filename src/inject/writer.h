#ifndef FW_INJECT_WRITER_H
#define FW_INJECT_WRITER_H
/* The thread that turns what CUPTI and the program's threads leave into the file. */
#include "inject/control.h"
#include "inject/convert.h"
#include "inject/options.h"
#include "inject/ring.h"
#include "inject/session.h"

#include <stdatomic.h>

enum fw_writer_phase { FW_WRITER_IDLE, FW_WRITER_RUNS, FW_WRITER_DONE };

struct fw_writer {
	struct fw_inject_options options;
	struct fw_sink sink;
	struct fw_names names;
	struct fw_convert convert;
	struct fw_control control;
	struct fw_session session;       /* of the writer thread once has_cuda is set */
	struct fw_rec_clock first_clock; /* read before anything was recorded; after_mono 0: none */
	_Atomic int wanted;              /* enum fw_rec_wanted, as last read */
	_Atomic bool has_cuda;
	_Atomic uint32_t is_stopping; /* a futex */
	_Atomic int phase;

	/* The rest is the writer thread's. */
	bool is_blind; /* nothing is recorded now, since blind_mono, for blind_reason */
	enum fw_rec_loss_reason blind_reason;
	int64_t blind_mono;
	bool is_granted;      /* CUPTI is the program's own profiler's, until it is armed again */
	bool is_shim_granted; /* and the shim has been told so */
	bool is_ended, has_facts, has_driver_version;
	int64_t next_control_mono, next_flush_mono, next_second_mono, next_clock_mono;
	int64_t checked_mono; /* losses were last asked for */
	uint64_t tick_bytes;  /* of records since the last flush */
	int64_t moved_mono;   /* a buffer was asked for or came back */
	uint64_t moves;       /* how often that was */
};

/* Reads the options and begins the file; false: there is nothing to record to. */
bool fw_writer_open(struct fw_writer *writer, const char *dir, const char *options);
void fw_writer_close(struct fw_writer *writer);

/* Opens CUPTI and, if it is wanted now, begins. The thread of InitializeInjection, once. */
void fw_writer_attach_cuda(struct fw_writer *writer);

/* The thread. */
void *fw_writer_run(void *writer);

/* Asks the thread to write all that is there and end the file; waits at most so long. */
void fw_writer_finish(struct fw_writer *writer, unsigned most_ms);

#endif
