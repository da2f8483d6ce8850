#ifndef FW_RECORD_SESSION_H
#define FW_RECORD_SESSION_H
/* A recording in the making: what the files of this layer share. */
#include "base/arena.h"
#include "base/vec.h"
#include "record/child.h"
#include "record/counters.h"
#include "record/environment.h"
#include "record/folder.h"
#include "record/host_samples.h"
#include "record/record.h"
#include "record/ticker.h"

struct fw_record_session {
	const struct fw_record_options *options;
	struct fw_record_result *result;
	struct fw_arena arena;
	struct fw_record_parts parts;
	struct fw_record_folder folder;
	struct fw_record_child child;
	int64_t start_mono, end_mono;
	int64_t start_realtime, end_realtime; /* Unix, ns; end 0: it still runs */
	struct fw_record_counters *counters;  /* NULL: not at work */
	struct fw_record_ticker *counters_ticker;
	const char *counters_why; /* why a GPU had a lesser source than the best; NULL: none had */
	struct fw_record_host *host;
	struct fw_record_ticker *host_ticker;
	bool counters_hang, host_hangs; /* their files are still in use */
	struct fw_vec notes;            /* const char *, in the arena */
	bool has_stragglers;            /* as last seen */
};

/* Tells the user now, and meta.json at the end. */
void fw_record_note(struct fw_record_session *session, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* A path in the recording's folder; NULL when memory is out. */
const char *fw_record_path(struct fw_record_session *session, const char *name);

/* Writes meta.json, or meta-<pid>.json where this recorder joined. */
void fw_record_write_meta(struct fw_record_session *session);

/* The threads that sample while the program runs. */
void fw_record_start_samplers(struct fw_record_session *session);
void fw_record_stop_samplers(struct fw_record_session *session);

/* Waits a little for processes that outlive the program and are recorded. */
void fw_record_await_stragglers(struct fw_record_session *session);

/*
 * Ends the recording: by the last recorder, packs the files and takes away what is of no use any more;
 * adds up what there is.
 */
void fw_record_finish(struct fw_record_session *session);

#endif
