#ifndef FW_TRACE_RECORDING_CHUNKS_H
#define FW_TRACE_RECORDING_CHUNKS_H
/*
 * A file of a recording as a sequence of payloads, checked and unpacked; damage is skipped and
 * counted. One chunk is held at a time. One thread.
 */
#include "base/error.h"
#include "trace/recording.h"
#include "trace/trace.h"

#include <stdbool.h>
#include <stddef.h>

struct fw_rec_chunks {
	const char *path;           /* for messages; borrowed */
	int fd;                     /* -1: bytes in memory */
	const unsigned char *bytes; /* borrowed */
	uint64_t size, at;          /* of the file; where to go on */
	uint64_t checked_in_vain;   /* bytes whose CRC did not fit */
	uint32_t next_sequence;
	struct fw_rec_file header;
	unsigned char *stored, *raw;
	void *unpacker;               /* ZSTD_DCtx */
	const unsigned char *payload; /* of the chunk found last */
	uint32_t payload_bytes;
	uint64_t offset;      /* where that chunk begins */
	uint32_t lost_before; /* chunks missing or damaged between it and the one before */
};

/*
 * Opens a file and checks its header: FW_ERR_FORMAT, FW_ERR_UNSUPPORTED for another version or what
 * is no regular file, FW_ERR_IO. Close in any case.
 */
fw_status fw_rec_chunks_open(struct fw_rec_chunks *chunks, const char *path, struct fw_error *err);
fw_status fw_rec_chunks_open_bytes(struct fw_rec_chunks *chunks, const char *name,
				   const void *bytes, size_t size, struct fw_error *err);
void fw_rec_chunks_close(struct fw_rec_chunks *chunks);

/*
 * Goes to the next whole chunk; *found false at the end. What was skipped on the way is counted in
 * flaws.
 */
fw_status fw_rec_chunks_next(struct fw_rec_chunks *chunks, struct fw_integrity *flaws, bool *found,
			     struct fw_error *err);

/* Notes a flaw at an offset of the file. */
void fw_rec_flaw(struct fw_integrity *flaws, uint64_t *count, uint64_t n, uint64_t offset);

#endif
