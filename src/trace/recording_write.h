#ifndef FW_TRACE_RECORDING_WRITE_H
#define FW_TRACE_RECORDING_WRITE_H
/*
 * The bytes of a recording's files, for every writer: no allocation, no lock, nothing but libc, since
 * the library injected into the watched program uses it too. Any thread.
 */
#include "trace/recording.h"

#include <stddef.h>

/* CRC-32 (IEEE 802.3, reflected 0xedb88320, as zlib's crc32): crc 0 to begin, the last result to go on. */
uint32_t fw_rec_crc(uint32_t crc, const void *bytes, size_t size);

/* The header of a file that begins now; the boot id is zeros where it cannot be read. Keeps errno. */
void fw_rec_begin_file(struct fw_rec_file *file, enum fw_rec_file_kind kind, uint32_t pid);

/*
 * The header of a plain chunk of size bytes (at most FW_REC_CHUNK_BYTES). The payload is written after
 * it, then zeros up to fw_rec_padded(size).
 */
void fw_rec_seal_chunk(struct fw_rec_chunk *chunk, uint32_t sequence, const void *payload,
		       uint32_t size);

static inline uint32_t fw_rec_padded(uint32_t size)
{
	return (size + 7u) & ~7u;
}

#endif
