#include "trace/recording_pack.h"

#include "trace/recording_chunks.h"
#include "trace/recording_write.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

/* Level 3 packs records about fourfold at some 300 MB/s; higher ones cost more than they gain. */
#define LEVEL 3

struct packer {
	struct fw_rec_chunks in;
	int out;
	const char *path; /* of the new file */
	uint64_t written;
	uint32_t sequence;
	unsigned char *raw, *packed; /* a chunk being gathered; its compressed form */
	uint32_t raw_bytes;
	size_t packed_cap;
	ZSTD_CCtx *zstd;
};

static fw_status put(struct packer *p, const void *bytes, size_t size, struct fw_error *err)
{
	const unsigned char *from = bytes;

	while (size) {
		ssize_t n = write(p->out, from, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fw_fail(err, FW_ERR_IO, "%s: cannot write at byte %" PRIu64 ": %s",
				       p->path, p->written, strerror(n ? errno : ENOSPC));
		from += n;
		size -= (size_t)n;
		p->written += (uint64_t)n;
	}
	return FW_OK;
}

/* Writes what was gathered as one chunk, compressed where that makes it smaller. */
static fw_status flush(struct packer *p, struct fw_error *err)
{
	static const unsigned char zeros[8];
	struct fw_rec_chunk h = { .magic = FW_REC_CHUNK_MAGIC,
				  .raw_bytes = p->raw_bytes,
				  .sequence = p->sequence,
				  .compression = FW_REC_ZSTD };
	const unsigned char *stored = p->packed;
	fw_status status;
	size_t n;

	if (!p->raw_bytes)
		return FW_OK;
	n = ZSTD_compressCCtx(p->zstd, p->packed, p->packed_cap, p->raw, p->raw_bytes, LEVEL);
	if (ZSTD_isError(n) || n >= p->raw_bytes) {
		h.compression = FW_REC_PLAIN;
		stored = p->raw;
		n = p->raw_bytes;
	}
	h.stored_bytes = (uint32_t)n;
	h.crc = fw_rec_crc(0, &h, offsetof(struct fw_rec_chunk, crc));
	h.crc = fw_rec_crc(h.crc, stored, n);
	status = put(p, &h, sizeof(h), err);
	if (!status)
		status = put(p, stored, n, err);
	if (!status)
		status = put(p, zeros, fw_rec_padded(h.stored_bytes) - n, err);
	p->sequence++;
	p->raw_bytes = 0;
	return status;
}

static fw_status gather(struct packer *p, struct fw_error *err)
{
	fw_status status = FW_OK;

	if (p->in.payload_bytes > FW_REC_CHUNK_BYTES - p->raw_bytes)
		status = flush(p, err);
	if (status)
		return status;
	memcpy(p->raw + p->raw_bytes, p->in.payload, p->in.payload_bytes);
	p->raw_bytes += p->in.payload_bytes;
	return FW_OK;
}

static fw_status copy_all(struct packer *p, struct fw_error *err)
{
	struct fw_integrity flaws = { .first_flaw_offset = UINT64_MAX };
	fw_status status = put(p, &p->in.header, sizeof(p->in.header), err);
	bool found = true;

	while (!status && found) {
		status = fw_rec_chunks_next(&p->in, &flaws, &found, err);
		if (!status && (flaws.damaged_chunks || flaws.missing_chunks))
			status = fw_fail(err, FW_ERR_FORMAT,
					 "%s: damaged near byte %" PRIu64 ": left as it is",
					 p->in.path, flaws.first_flaw_offset);
		if (!status && found)
			status = gather(p, err);
	}
	return status ? status : flush(p, err);
}

static fw_status prepare(struct packer *p, struct fw_error *err)
{
	struct stat info;

	p->packed_cap = ZSTD_compressBound(FW_REC_CHUNK_BYTES);
	p->raw = malloc(FW_REC_CHUNK_BYTES);
	p->packed = malloc(p->packed_cap);
	p->zstd = ZSTD_createCCtx();
	if (!p->raw || !p->packed || !p->zstd)
		return fw_fail_nomem(err, p->packed_cap);
	if (fstat(p->in.fd, &info))
		return fw_fail(err, FW_ERR_IO, "%s: %s", p->in.path, strerror(errno));
	p->out = open(p->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		      info.st_mode & 0777);
	if (p->out < 0)
		return fw_fail(err, FW_ERR_IO, "%s: %s", p->path, strerror(errno));
	return FW_OK;
}

/* Puts the new file in the place of the old one. */
static fw_status replace(const struct packer *p, struct fw_error *err)
{
	if (fsync(p->out) || rename(p->path, p->in.path))
		return fw_fail(err, FW_ERR_IO, "%s: %s", p->path, strerror(errno));
	return FW_OK;
}

static fw_status pack(struct packer *p, struct fw_recording_packed *packed, struct fw_error *err)
{
	uint64_t before = p->in.size;
	bool is_replaced = false;
	fw_status status = prepare(p, err);

	if (status)
		return status;
	status = copy_all(p, err);
	if (!status && p->written < before) {
		status = replace(p, err);
		is_replaced = !status;
	}
	if (!is_replaced)
		unlink(p->path);
	if (packed)
		*packed = (struct fw_recording_packed){ before, is_replaced ? p->written : before };
	return status;
}

fw_status fw_recording_pack(const char *path, struct fw_recording_packed *packed,
			    struct fw_error *err)
{
	static const char suffix[] = ".packing";
	size_t len = strlen(path);
	char *beside = malloc(len + sizeof(suffix));
	struct packer p = { .out = -1, .path = beside };
	fw_status status;

	if (!beside)
		return fw_fail_nomem(err, len + sizeof(suffix));
	memcpy(beside, path, len);
	memcpy(beside + len, suffix, sizeof(suffix));
	status = fw_rec_chunks_open(&p.in, path, err);
	if (!status)
		status = pack(&p, packed, err);
	fw_rec_chunks_close(&p.in);
	if (p.out >= 0)
		close(p.out);
	ZSTD_freeCCtx(p.zstd);
	free(p.raw);
	free(p.packed);
	free(beside);
	return status;
}
