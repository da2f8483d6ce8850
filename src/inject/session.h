#ifndef FW_INJECT_SESSION_H
#define FW_INJECT_SESSION_H
/*
 * CUPTI's activity API in this process: what is asked for, and when. One thread at a time; the buffers go
 * through pool.h. No callback is subscribed to, but for cudaProfilerStart and Stop when that is asked for.
 */
#include "gpu/cupti.h"
#include "inject/calls.h"
#include "inject/options.h"
#include "inject/profiler.h"
#include "inject/sink.h"

#define FW_SESSION_CANNOT       16u
#define FW_SESSION_CANNOT_BYTES 192u

struct fw_session {
	struct fw_cupti cupti;
	uint32_t version;
	struct fw_inject_options *options;
	bool is_open, is_armed;
	bool was_armed;                   /* before that there is nothing of ours in CUPTI */
	bool was_yielded;                 /* another tool may have changed CUPTI's clock since */
	struct fw_profiler_before before; /* what the program had done until then */
	bool enabled_kinds[64];
	bool enabled_calls[2][FW_CALLS_CBIDS];
	void *subscriber;
	char cannot[FW_SESSION_CANNOT]
		   [FW_SESSION_CANNOT_BYTES]; /* what could not be had, and why */
	unsigned cannot_count;
};

/* Opens CUPTI. FW_ERR_UNSUPPORTED with the reason where there is none that can be used. */
fw_status fw_session_open(struct fw_session *session, struct fw_inject_options *options,
			  struct fw_error *err);

/* Begins to record, ends it. What CUPTI refuses is left out and noted in cannot, once. */
void fw_session_arm(struct fw_session *session);
void fw_session_disarm(struct fw_session *session);

/* Sees the program's calls of CUPTI from now on, before which the session is to be yielded. */
void fw_session_watch(struct fw_session *session);

/* After disarming: puts back what the program has set for itself. */
void fw_session_yield(struct fw_session *session);

/* Whether the program is between cudaProfilerStart and Stop; the writer then says that it has followed. */
bool fw_session_in_range(void);
void fw_session_follow_range(bool in_range);

/* From now on CUPTI gets no buffers: what it still records is lost. Any thread; false takes it back. */
void fw_session_refuse(bool on);

void fw_session_flush(struct fw_session *session, enum fw_cupti_flush how);
uint64_t
fw_session_dropped(struct fw_session *session); /* records CUPTI dropped since the last call */

/* Reads CUPTI's clock between two readings of CLOCK_MONOTONIC; false: it has none. */
bool fw_session_read_clock(struct fw_session *session, struct fw_rec_clock *clock);

/* The record in buffer after *record; NULL: no more. */
const void *fw_session_next(struct fw_session *session, uint8_t *buffer, size_t valid_bytes,
			    void **record);

#endif
