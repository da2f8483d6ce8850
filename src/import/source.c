#include "import/source.h"

#include "import/ahead.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define RAW_BYTES (256u << 10)

enum packing { PLAIN, GZIP, ZSTD };

struct fw_source {
	const char *name;
	int fd;                     /* -1: bytes in memory */
	const unsigned char *bytes; /* not owned */
	size_t bytes_left;
	_Atomic uint64_t position; /* raw bytes taken; moved by the second thread while it runs */
	uint64_t size;
	enum packing packing;
	enum fw_source_damage damage;
	bool at_end;     /* no more raw bytes */
	bool in_frame;   /* a packed stream is open: an end now is an early one */
	bool has_member; /* at least one packed stream was unpacked whole */
	bool is_stopped; /* nothing more comes out */
	z_stream zlib;
	ZSTD_DStream *zstd;
	const unsigned char *raw; /* raw bytes not yet used */
	size_t raw_len;
	unsigned char *raw_buffer;
	struct fw_ahead *ahead; /* unpacks in a second thread, to which all above then belongs */
};

static fw_status read_file(struct fw_source *s, struct fw_error *err)
{
	ssize_t n;

	do
		n = read(s->fd, s->raw_buffer, RAW_BYTES);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return fw_fail(err, FW_ERR_IO, "%s: cannot read at offset %llu: %s", s->name,
			       (unsigned long long)s->position, strerror(errno));
	s->raw = s->raw_buffer;
	s->raw_len = (size_t)n;
	return FW_OK;
}

/* Makes raw bytes available, or finds the end. */
static fw_status refill(struct fw_source *s, struct fw_error *err)
{
	if (s->raw_len || s->at_end)
		return FW_OK;
	if (s->fd >= 0) {
		fw_status status = read_file(s, err);

		if (status)
			return status;
	} else {
		s->raw = s->bytes;
		s->raw_len = s->bytes_left;
		s->bytes_left = 0;
	}
	s->position += s->raw_len;
	s->at_end = !s->raw_len;
	return FW_OK;
}

static bool has_magic(const struct fw_source *s, const char *magic, size_t len)
{
	return s->raw_len >= len && !memcmp(s->raw, magic, len);
}

static fw_status refuse(const struct fw_source *s, struct fw_error *err)
{
	static const struct {
		const char *magic;
		size_t len;
		const char *what;
	} known[] = {
		{ "SQLite format 3", 16, "an SQLite file (nsys export): not read by this version" },
		{ "PK\3\4", 4, "a zip archive: unpack it and pass the trace inside" },
		{ "BZh", 3,
		  "compressed with bzip2: unpack it first (plain, gzip and zstd are read)" },
		{ "\xfd\x37zXZ", 6,
		  "compressed with xz: unpack it first (plain, gzip and zstd are read)" },
		{ "\x04\x22\x4d\x18", 4,
		  "compressed with lz4: unpack it first (plain, gzip and zstd are read)" },
		{ "FWREC", 5, "a file of a recording: name it, or its folder" },
		{ "\xff\xfe", 2, "UTF-16 text: JSON must be UTF-8" },
		{ "\xfe\xff", 2, "UTF-16 text: JSON must be UTF-8" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (has_magic(s, known[i].magic, known[i].len))
			return fw_fail(err, FW_ERR_UNSUPPORTED, "%s: %s", s->name, known[i].what);
	return FW_OK;
}

static fw_status unpack(void *user, void *buffer, size_t size, size_t *got, struct fw_error *err);

static fw_status start(struct fw_source *s, struct fw_error *err)
{
	fw_status status = refill(s, err);

	if (!status)
		status = refuse(s, err);
	if (status)
		return status;
	if (has_magic(s, "\x1f\x8b", 2)) {
		/* 15 + 16: the largest window, with a gzip header. */
		if (inflateInit2(&s->zlib, 15 + 16) != Z_OK)
			return fw_fail_nomem(err, 64 << 10);
		s->packing = GZIP;
		s->in_frame = true;
	} else if (has_magic(s, "\x28\xb5\x2f\xfd", 4)) {
		s->zstd = ZSTD_createDStream();
		if (!s->zstd)
			return fw_fail_nomem(err, 1 << 20);
		s->packing = ZSTD;
		s->in_frame = true;
	}
	return s->packing == PLAIN ? FW_OK : fw_ahead_start(&s->ahead, unpack, s, err);
}

static fw_status create(struct fw_source **source, const char *name, struct fw_error *err)
{
	struct fw_source *s = calloc(1, sizeof(*s));

	if (s)
		s->raw_buffer = malloc(RAW_BYTES);
	if (!s || !s->raw_buffer) {
		free(s);
		return fw_fail_nomem(err, sizeof(*s) + RAW_BYTES);
	}
	s->name = name;
	s->fd = -1;
	*source = s;
	return FW_OK;
}

static fw_status open_path(struct fw_source *s, const char *path, struct fw_error *err)
{
	struct stat st;

	s->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (s->fd < 0 || fstat(s->fd, &st))
		return fw_fail(err, FW_ERR_IO, "%s: cannot open: %s", s->name, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return fw_fail(err, FW_ERR_UNSUPPORTED, "%s: is a directory", s->name);
	if (S_ISREG(st.st_mode)) {
		s->size = (uint64_t)st.st_size;
		posix_fadvise(s->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	}
	return start(s, err);
}

fw_status fw_source_open(struct fw_source **source, const char *path, struct fw_error *err)
{
	fw_status status = create(source, strcmp(path, "-") ? path : "standard input", err);

	if (status)
		return status;
	status = open_path(*source, path, err);
	if (status) {
		fw_source_close(*source);
		*source = NULL;
	}
	return status;
}

fw_status fw_source_open_bytes(struct fw_source **source, const char *name, const void *bytes,
			       size_t size, struct fw_error *err)
{
	fw_status status = create(source, name, err);

	if (status)
		return status;
	(*source)->bytes = bytes;
	(*source)->bytes_left = (*source)->size = size;
	status = start(*source, err);
	if (status) {
		fw_source_close(*source);
		*source = NULL;
	}
	return status;
}

static void stop(struct fw_source *s, enum fw_source_damage damage)
{
	s->is_stopped = true;
	s->damage = damage;
}

/* One step of zlib; *got grows. Bytes behind the last member that are no gzip are padding. */
static void step_gzip(struct fw_source *s, unsigned char *out, size_t size, size_t *got)
{
	int result;

	if (!s->in_frame) {
		if (inflateReset(&s->zlib) != Z_OK) {
			stop(s, FW_SOURCE_CORRUPT);
			return;
		}
		s->in_frame = true;
	}
	s->zlib.next_in = (unsigned char *)(uintptr_t)s->raw;
	s->zlib.avail_in = (uInt)(s->raw_len < RAW_BYTES ? s->raw_len : RAW_BYTES);
	s->zlib.next_out = out;
	s->zlib.avail_out = (uInt)(size < RAW_BYTES ? size : RAW_BYTES);
	result = inflate(&s->zlib, Z_NO_FLUSH);
	s->raw_len -= (size_t)(s->zlib.next_in - s->raw);
	s->raw = s->zlib.next_in;
	*got = (size_t)(s->zlib.next_out - out);
	if (result == Z_STREAM_END) {
		s->in_frame = false;
		s->has_member = true;
	} else if (result != Z_OK && result != Z_BUF_ERROR) {
		stop(s, s->has_member && !*got ? FW_SOURCE_WHOLE : FW_SOURCE_CORRUPT);
	}
}

static void step_zstd(struct fw_source *s, unsigned char *out, size_t size, size_t *got)
{
	ZSTD_inBuffer in = { s->raw, s->raw_len, 0 };
	ZSTD_outBuffer to = { out, size, 0 };
	size_t result = ZSTD_decompressStream(s->zstd, &to, &in);

	s->raw += in.pos;
	s->raw_len -= in.pos;
	*got = to.pos;
	if (ZSTD_isError(result))
		stop(s, s->has_member && !s->in_frame ? FW_SOURCE_WHOLE : FW_SOURCE_CORRUPT);
	s->in_frame = result != 0;
	s->has_member = s->has_member || !result;
}

static void step_plain(struct fw_source *s, unsigned char *out, size_t size, size_t *got)
{
	*got = s->raw_len < size ? s->raw_len : size;
	if (*got)
		memcpy(out, s->raw, *got);
	s->raw += *got;
	s->raw_len -= *got;
}

static fw_status unpack(void *user, void *buffer, size_t size, size_t *got, struct fw_error *err)
{
	struct fw_source *s = user;

	*got = 0;
	while (!*got && size && !s->is_stopped) {
		fw_status status = refill(s, err);

		if (status)
			return status;
		/* Packed bytes may wait inside the unpacker after the last raw byte went in. */
		if (s->packing == GZIP && (s->raw_len || s->in_frame))
			step_gzip(s, buffer, size, got);
		else if (s->packing == ZSTD && (s->raw_len || s->in_frame))
			step_zstd(s, buffer, size, got);
		else if (s->packing == PLAIN)
			step_plain(s, buffer, size, got);
		if (s->at_end && !*got && !s->is_stopped)
			stop(s, s->in_frame ? FW_SOURCE_CUT : FW_SOURCE_WHOLE);
	}
	return FW_OK;
}

fw_status fw_source_read(struct fw_source *s, void *buffer, size_t size, size_t *got,
			 struct fw_error *err)
{
	if (s->ahead)
		return fw_ahead_read(s->ahead, buffer, size, got, err);
	return unpack(s, buffer, size, got, err);
}

enum fw_source_damage fw_source_damage(const struct fw_source *s)
{
	return s->damage;
}

const char *fw_source_name(const struct fw_source *s)
{
	return s->name;
}

uint64_t fw_source_position(const struct fw_source *s)
{
	return s->position;
}

uint64_t fw_source_size(const struct fw_source *s)
{
	return s->size;
}

void fw_source_close(struct fw_source *s)
{
	if (!s)
		return;
	fw_ahead_stop(s->ahead);
	if (s->packing == GZIP)
		inflateEnd(&s->zlib);
	ZSTD_freeDStream(s->zstd);
	if (s->fd > STDIN_FILENO)
		close(s->fd);
	free(s->raw_buffer);
	free(s);
}
