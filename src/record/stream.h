#ifndef FW_RECORD_STREAM_H
#define FW_RECORD_STREAM_H
/*
 * A file of the recording that the recorder writes itself: records are gathered in a chunk, which is
 * sealed and appended when it is full or 100 ms old. Bounded memory. One thread at a time.
 *
 *	struct fw_rec_counter c = { .head = { FW_REC_COUNTER, sizeof(c), device } };
 *
 *	c.name = fw_record_stream_string(stream, "sm_busy_percent");
 *	...
 *	fw_record_stream_append(stream, &c);
 *
 * A write that fails is tried again with what comes later: the records in between are lost and counted
 * in the file, the names among them are kept. The writer never fails its caller for it.
 */
#include "base/error.h"
#include "trace/recording.h"

#include <stdbool.h>
#include <stdint.h>

#define FW_RECORD_SEAL_NS INT64_C(100000000)

struct fw_record_stream;

/* CLOCK_MONOTONIC, in ns: the clock of every *_mono field. */
int64_t fw_record_now(void);

/* max_bytes: records after so many are counted, not written; 0: no limit. Replaces an older file. */
fw_status fw_record_stream_open(struct fw_record_stream **stream, const char *path,
				enum fw_rec_file_kind kind, uint64_t max_bytes,
				struct fw_error *err);

/* The id of a name, written when it is new; 0, "unknown", if it is NULL or there are too many. */
uint32_t fw_record_stream_string(struct fw_record_stream *stream, const char *text);

/* One record: a struct of recording.h that begins with its kind and size. */
void fw_record_stream_append(struct fw_record_stream *stream, const void *record);

/* A fact about the file; text may be NULL. */
void fw_record_stream_info(struct fw_record_stream *stream, enum fw_rec_info_key key,
			   const char *text, int64_t value);

/* A time in which nothing was recorded, as asked for. */
void fw_record_stream_pause(struct fw_record_stream *stream, int64_t start_mono, int64_t end_mono);

/* Seals and writes what is gathered; before a wait of more than 100 ms. */
void fw_record_stream_flush(struct fw_record_stream *stream);

/* What became of the records so far. */
struct fw_record_stream_state {
	uint64_t bytes;  /* of the file */
	uint64_t lost;   /* records that could not be written */
	int write_error; /* errno of the last write that failed; 0: none did */
};

struct fw_record_stream_state fw_record_stream_state(const struct fw_record_stream *stream);

/* Marks the orderly end, writes the rest, closes. Accepts NULL. state may be NULL. */
void fw_record_stream_close(struct fw_record_stream *stream, struct fw_record_stream_state *state);

#endif
