/* Deflated zip members -> an unnamed temporary file, so that a large library takes no memory. */
#include "binary/zip.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#define CHUNK_BYTES ((size_t)256 << 10)

size_t fw_zip_peek(struct fw_span packed, unsigned char *out, size_t size)
{
	z_stream stream = {
		.next_in = (unsigned char *)(uintptr_t)packed.data,
		.avail_in = packed.size < UINT32_MAX ? (unsigned)packed.size : UINT32_MAX,
		.next_out = out,
		.avail_out = (unsigned)size,
	};
	int code;

	if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
		return 0;
	code = inflate(&stream, Z_SYNC_FLUSH);
	inflateEnd(&stream);
	return code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR ? size - stream.avail_out
									   : 0;
}

static int open_unnamed(void)
{
	const char *dir = getenv("TMPDIR");
	char path[4096];
	int fd;

	if (!dir || !*dir)
		dir = "/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	/* Some file systems have no unnamed files. */
	if (snprintf(path, sizeof(path), "%s/fullwarp-XXXXXX", dir) >= (int)sizeof(path))
		return -1;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static fw_status write_all(int fd, const unsigned char *bytes, size_t size, struct fw_error *err)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fw_fail(err, FW_ERR_IO, "temporary file (TMPDIR): %s",
				       strerror(errno));
		bytes += n;
		size -= (size_t)n;
	}
	return FW_OK;
}

/* Feeds all of packed; at most limit bytes come out. */
static fw_status inflate_all(z_stream *stream, struct fw_span packed, uint64_t limit, int fd,
			     uint32_t *crc, struct fw_error *err)
{
	unsigned char *chunk = malloc(CHUNK_BYTES);
	uint64_t total = 0;
	fw_status status = chunk ? FW_OK : fw_fail_nomem(err, CHUNK_BYTES);
	int code = Z_OK;

	while (status == FW_OK && code != Z_STREAM_END) {
		size_t n;

		if (!stream->avail_in && packed.size) {
			n = packed.size < (1u << 30) ? packed.size : 1u << 30;
			stream->next_in = (unsigned char *)(uintptr_t)packed.data;
			stream->avail_in = (unsigned)n;
			packed.data += n;
			packed.size -= n;
		}
		stream->next_out = chunk;
		stream->avail_out = (unsigned)CHUNK_BYTES;
		code = inflate(stream, Z_NO_FLUSH);
		n = CHUNK_BYTES - stream->avail_out;
		total += n;
		if ((code != Z_OK && code != Z_STREAM_END) || total > limit)
			status =
				fw_fail(err, FW_ERR_FORMAT, "zip: damaged after %llu of %llu bytes",
					(unsigned long long)total, (unsigned long long)limit);
		*crc = (uint32_t)crc32(*crc, chunk, (unsigned)n);
		if (status == FW_OK)
			status = write_all(fd, chunk, n, err);
	}
	free(chunk);
	if (status == FW_OK && total != limit)
		return fw_fail(err, FW_ERR_FORMAT, "zip: %llu bytes instead of %llu",
			       (unsigned long long)total, (unsigned long long)limit);
	return status;
}

static fw_status map(struct fw_file *file, int fd, uint64_t size, struct fw_error *err)
{
	void *p;

	if (!size)
		return FW_OK;
	p = size <= SIZE_MAX ? mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
	if (p == MAP_FAILED)
		return fw_fail(err, FW_ERR_IO, "temporary file: cannot map %llu bytes: %s",
			       (unsigned long long)size, strerror(errno));
	file->data = p;
	file->size = (size_t)size;
	return FW_OK;
}

fw_status fw_zip_inflate(const struct fw_zip_member *member, struct fw_span packed,
			 struct fw_file *file, struct fw_error *err)
{
	z_stream stream = { 0 };
	uint32_t crc = 0;
	fw_status status;
	int fd = open_unnamed();

	*file = (struct fw_file){ 0 };
	if (fd < 0)
		return fw_fail(err, FW_ERR_IO, "cannot create a temporary file (TMPDIR): %s",
			       strerror(errno));
	if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
		close(fd);
		return fw_fail(err, FW_ERR_NOMEM, "zlib: out of memory");
	}
	status = inflate_all(&stream, packed, member->unpacked, fd, &crc, err);
	inflateEnd(&stream);
	if (status == FW_OK && crc != member->crc)
		status = fw_fail(err, FW_ERR_FORMAT, "zip: checksum %08x instead of %08x", crc,
				 member->crc);
	if (status == FW_OK)
		status = map(file, fd, member->unpacked, err);
	close(fd);
	return status;
}
