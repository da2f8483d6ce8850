#include "trace/recording_chunks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

/* Read at once while looking for the next chunk after damage. */
#define SEARCH_BYTES (64u << 10)

/*
 * A made-up file can have the start of a chunk at every eighth byte, each to be checked over 4 MB.
 * Real damage costs a chunk or two; past this many times the file's size the rest is given up.
 */
#define VAIN_SIZES 4

/* No clock of a machine shows more: 73 years. Sums of two such times fit 64 bits. */
#define LATEST_NS (INT64_C(1) << 61)

void fw_rec_flaw(struct fw_integrity *flaws, uint64_t *count, uint64_t n, uint64_t offset)
{
	*count += n;
	if (offset < flaws->first_flaw_offset)
		flaws->first_flaw_offset = offset;
}

/* Exactly size bytes from an offset; an end that comes earlier is an error of FW_ERR_FORMAT. */
static fw_status read_at(const struct fw_rec_chunks *c, uint64_t offset, void *buffer, size_t size,
			 struct fw_error *err)
{
	unsigned char *to = buffer;
	size_t done = 0;

	if (offset > c->size || size > c->size - offset)
		return fw_fail(err, FW_ERR_FORMAT, "%s: ends at byte %" PRIu64, c->path, c->size);
	if (c->fd < 0) {
		if (size)
			memcpy(to, c->bytes + offset, size);
		return FW_OK;
	}
	while (done < size) {
		ssize_t n = pread(c->fd, to + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fw_fail(err, FW_ERR_IO, "%s: cannot read at byte %" PRIu64 ": %s",
				       c->path, offset + done, strerror(errno));
		if (!n)
			return fw_fail(err, FW_ERR_IO, "%s: became shorter while it was read",
				       c->path);
		done += (size_t)n;
	}
	return FW_OK;
}

static bool is_sane_time(int64_t ns)
{
	return ns >= 0 && ns < LATEST_NS;
}

static fw_status check_header(const struct fw_rec_chunks *c, struct fw_error *err)
{
	const struct fw_rec_file *h = &c->header;
	uint32_t crc = (uint32_t)crc32(0, (const void *)h, offsetof(struct fw_rec_file, crc));

	if (memcmp(h->magic, FW_REC_MAGIC, sizeof(h->magic)))
		return fw_fail(err, FW_ERR_FORMAT,
			       "%s: not a file of a recording (it does not begin with FWREC)",
			       c->path);
	if (h->version != FW_REC_VERSION)
		return fw_fail(
			err, FW_ERR_UNSUPPORTED,
			"%s: version %u of the recording format; this fullwarp reads version "
			"%d",
			c->path, h->version, FW_REC_VERSION);
	if (h->crc != crc)
		return fw_fail(err, FW_ERR_FORMAT,
			       "%s: the header is damaged (CRC at byte %zu: %08" PRIx32
			       ", should be %08" PRIx32 ")",
			       c->path, offsetof(struct fw_rec_file, crc), h->crc, crc);
	if (h->kind < FW_REC_FILE_PROCESS || h->kind > FW_REC_FILE_PYTHON)
		return fw_fail(err, FW_ERR_UNSUPPORTED, "%s: file of unknown kind %u (byte %zu)",
			       c->path, h->kind, offsetof(struct fw_rec_file, kind));
	if (!is_sane_time(h->start_mono) || !is_sane_time(h->start_realtime))
		return fw_fail(err, FW_ERR_FORMAT,
			       "%s: impossible start times %" PRId64 " and %" PRId64 " (byte %zu)",
			       c->path, h->start_mono, h->start_realtime,
			       offsetof(struct fw_rec_file, start_mono));
	return FW_OK;
}

static fw_status begin(struct fw_rec_chunks *c, struct fw_error *err)
{
	fw_status status;

	if (c->size < sizeof(c->header))
		return fw_fail(err, FW_ERR_FORMAT,
			       "%s: %" PRIu64 " bytes, shorter than the header of a recording's "
			       "file (%zu)",
			       c->path, c->size, sizeof(c->header));
	status = read_at(c, 0, &c->header, sizeof(c->header), err);
	if (!status)
		status = check_header(c, err);
	if (status)
		return status;
	c->at = sizeof(c->header);
	/* No payload is longer than the file. */
	c->stored = malloc(c->size < FW_REC_CHUNK_BYTES ? (size_t)c->size : FW_REC_CHUNK_BYTES);
	return c->stored ? FW_OK : fw_fail_nomem(err, FW_REC_CHUNK_BYTES);
}

fw_status fw_rec_chunks_open(struct fw_rec_chunks *c, const char *path, struct fw_error *err)
{
	struct stat info;

	*c = (struct fw_rec_chunks){ .path = path };
	/* Opening a pipe would wait for its writer. */
	c->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (c->fd < 0 || fstat(c->fd, &info))
		return fw_fail(err, FW_ERR_IO, "%s: %s", path, strerror(errno));
	if (!S_ISREG(info.st_mode))
		return fw_fail(err, FW_ERR_UNSUPPORTED, "%s: not a regular file", path);
	c->size = (uint64_t)info.st_size;
	return begin(c, err);
}

fw_status fw_rec_chunks_open_bytes(struct fw_rec_chunks *c, const char *name, const void *bytes,
				   size_t size, struct fw_error *err)
{
	*c = (struct fw_rec_chunks){ .path = name, .fd = -1, .bytes = bytes, .size = size };
	return begin(c, err);
}

void fw_rec_chunks_close(struct fw_rec_chunks *c)
{
	if (c->fd >= 0)
		close(c->fd);
	free(c->stored);
	free(c->raw);
	ZSTD_freeDCtx(c->unpacker);
	*c = (struct fw_rec_chunks){ .fd = -1 };
}

static bool is_plausible(const struct fw_rec_chunk *h)
{
	if (h->magic != FW_REC_CHUNK_MAGIC || !h->stored_bytes || !h->raw_bytes ||
	    h->stored_bytes > FW_REC_CHUNK_BYTES || h->raw_bytes > FW_REC_CHUNK_BYTES)
		return false;
	return h->compression == FW_REC_ZSTD ||
	       (h->compression == FW_REC_PLAIN && h->stored_bytes == h->raw_bytes);
}

static fw_status unpack(struct fw_rec_chunks *c, const struct fw_rec_chunk *h, bool *good,
			struct fw_error *err)
{
	size_t n;

	if (!c->raw)
		c->raw = malloc(FW_REC_CHUNK_BYTES);
	if (!c->unpacker)
		c->unpacker = ZSTD_createDCtx();
	if (!c->raw || !c->unpacker)
		return fw_fail_nomem(err, FW_REC_CHUNK_BYTES);
	n = ZSTD_decompressDCtx(c->unpacker, c->raw, h->raw_bytes, c->stored, h->stored_bytes);
	*good = !ZSTD_isError(n) && n == h->raw_bytes;
	return FW_OK;
}

enum verdict { CHUNK_GOOD, CHUNK_BAD, CHUNK_CUT };

/* What stands at c->at: a whole chunk, whose payload is then there, or not. */
static fw_status try_chunk(struct fw_rec_chunks *c, struct fw_rec_chunk *h, enum verdict *verdict,
			   struct fw_error *err)
{
	uint64_t left = c->size - c->at;
	uint32_t crc;
	fw_status status;
	bool good = true;

	*verdict = CHUNK_CUT;
	if (left < sizeof(*h))
		return FW_OK;
	status = read_at(c, c->at, h, sizeof(*h), err);
	if (status)
		return status;
	*verdict = CHUNK_BAD;
	if (!is_plausible(h))
		return FW_OK;
	*verdict = CHUNK_CUT;
	if (left - sizeof(*h) < h->stored_bytes)
		return FW_OK;
	status = read_at(c, c->at + sizeof(*h), c->stored, h->stored_bytes, err);
	if (status)
		return status;
	crc = (uint32_t)crc32(0, (const void *)h, offsetof(struct fw_rec_chunk, crc));
	crc = (uint32_t)crc32(crc, c->stored, h->stored_bytes);
	*verdict = CHUNK_BAD;
	if (crc != h->crc) {
		c->checked_in_vain += h->stored_bytes;
		return FW_OK;
	}
	if (h->compression == FW_REC_ZSTD)
		status = unpack(c, h, &good, err);
	if (!status && good)
		*verdict = CHUNK_GOOD;
	return status;
}

/* Moves c->at to the next place at or after `from` that looks like the start of a chunk, or to the end. */
static fw_status search(struct fw_rec_chunks *c, uint64_t from, struct fw_error *err)
{
	static const uint32_t magic = FW_REC_CHUNK_MAGIC;
	unsigned char window[SEARCH_BYTES];

	for (c->at = from; c->at < c->size; c->at += sizeof(window)) {
		uint64_t left = c->size - c->at;
		size_t n = left < sizeof(window) ? (size_t)left : sizeof(window);
		fw_status status = read_at(c, c->at, window, n, err);

		if (status)
			return status;
		for (size_t i = 0; i + sizeof(magic) <= n; i += 8)
			if (!memcmp(window + i, &magic, sizeof(magic))) {
				c->at += i;
				return FW_OK;
			}
	}
	c->at = c->size;
	return FW_OK;
}

/* The chunk is good: hands it out, unless its number shows that it was there before. */
static bool accept(struct fw_rec_chunks *c, const struct fw_rec_chunk *h)
{
	uint64_t end = c->at + sizeof(*h) + ((h->stored_bytes + 7u) & ~7u);
	bool is_new = h->sequence >= c->next_sequence && h->sequence < UINT32_MAX;

	c->payload = h->compression == FW_REC_ZSTD ? c->raw : c->stored;
	c->payload_bytes = h->raw_bytes;
	c->offset = c->at;
	c->at = end < c->size ? end : c->size;
	if (is_new) {
		c->lost_before = h->sequence - c->next_sequence;
		c->next_sequence = h->sequence + 1;
	}
	return is_new;
}

/* Counts what lies between the last chunk and this one, or the end of the file. */
static void count_lost(struct fw_rec_chunks *c, struct fw_integrity *flaws, enum verdict first,
		       uint64_t damage, bool found)
{
	uint64_t n = found && c->lost_before ? c->lost_before : 1;

	if (first == CHUNK_GOOD && c->lost_before)
		fw_rec_flaw(flaws, &flaws->missing_chunks, c->lost_before, c->offset);
	else if (first == CHUNK_CUT && !found)
		fw_rec_flaw(flaws, &flaws->truncated, 1, damage);
	else if (first != CHUNK_GOOD)
		fw_rec_flaw(flaws, &flaws->damaged_chunks, n, damage);
}

fw_status fw_rec_chunks_next(struct fw_rec_chunks *c, struct fw_integrity *flaws, bool *found,
			     struct fw_error *err)
{
	enum verdict verdict = CHUNK_GOOD, first = CHUNK_GOOD;
	uint64_t damage = c->at;
	fw_status status = FW_OK;

	*found = false;
	c->lost_before = 0;
	while (!status && !*found && c->at < c->size) {
		struct fw_rec_chunk h;
		uint64_t at = c->at;

		status = try_chunk(c, &h, &verdict, err);
		if (!status && verdict == CHUNK_GOOD && accept(c, &h)) {
			*found = true;
			continue;
		}
		if (first == CHUNK_GOOD)
			first = verdict == CHUNK_GOOD ? CHUNK_BAD : verdict;
		if (!status && verdict != CHUNK_GOOD)
			status = search(c, at + 8, err);
		if (c->checked_in_vain / VAIN_SIZES > c->size)
			c->at = c->size;
	}
	if (!status)
		count_lost(c, flaws, first, damage, *found);
	return status;
}
