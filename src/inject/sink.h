#ifndef FW_INJECT_SINK_H
#define FW_INJECT_SINK_H
/*
 * The process's file of the recording: records in, whole chunks out, by write(2). Used by one thread at a
 * time. Nothing here can end the program: signals are blocked by the writer thread, a full disk or a
 * folder that went away stops the recording.
 */
#include "trace/recording.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define FW_SINK_BYTES (1u << 20) /* of a chunk's payload, at most */

enum fw_sink_state {
	FW_SINK_CLOSED,
	FW_SINK_OPEN,
	FW_SINK_FULL,  /* the file has the size that was allowed */
	FW_SINK_FAILED /* a write failed */
};

struct fw_sink {
	enum fw_sink_state state;
	int fd;
	dev_t device;
	ino_t inode;
	char path[PATH_MAX];
	uint64_t bytes, max_bytes; /* whole chunks in the file; 0: no limit */
	uint32_t sequence;
	uint32_t used; /* of payload */
	int64_t stopped_mono;
	uint64_t lost; /* records not written since then */
	uint8_t *payload;
};

/* Creates process-<pid>-<n>.fwr in dir; false where that is not possible. */
bool fw_sink_open(struct fw_sink *sink, const char *dir, uint32_t pid, uint64_t max_bytes);

/*
 * Room for one record of `bytes` (a multiple of 8, at most 65,528), zeros but for its head; NULL once the
 * sink has stopped. Valid until the next call with this sink.
 */
void *fw_sink_add(struct fw_sink *sink, enum fw_rec_kind kind, size_t bytes, uint32_t extra);

/* Writes the records so far as one chunk. */
void fw_sink_flush(struct fw_sink *sink);

/* Notes a loss; possible even after the sink has stopped (then it tries to write that record alone). */
void fw_sink_loss(struct fw_sink *sink, const struct fw_rec_loss *loss);

/* Writes what is left and, if it could write all, the orderly end; closes. */
void fw_sink_end(struct fw_sink *sink);

int64_t fw_sink_now(void); /* CLOCK_MONOTONIC, ns */

#endif
