#include "record/stream.h"

#include "base/map.h"
#include "base/utf8.h"
#include "trace/recording_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* 100 ms of the densest sampling (100 threads every 10 ms, ten values each) is about 300 kB. */
#define PAYLOAD_BYTES (512u << 10)

/* Names are of counters, threads and devices; a name that is longer is cut. */
#define NAMES      8192
#define NAME_BYTES 512

struct fw_record_stream {
	int fd;
	uint64_t max_bytes;
	uint64_t bytes;    /* of the file, up to its last whole chunk */
	uint32_t sequence; /* of the chunk that is gathered */
	int64_t since;     /* when its first record came */
	uint32_t records;  /* in it, names left out */
	uint32_t names;    /* in the file */
	struct fw_map ids; /* (hash, length) of a name -> its id */
	struct fw_record_stream_state state;
	struct fw_rec_loss loss; /* not yet written; count 0: none */
	uint32_t used;
	uint8_t *payload; /* PAYLOAD_BYTES, after a chunk header's place */
	uint8_t *chunk;   /* the header, the payload, and room for zeros */
};

int64_t fw_record_now(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* All of it, or nothing: a part that was written is cut off again. 0, or errno. */
static int write_whole(struct fw_record_stream *stream, const void *bytes, size_t size)
{
	const char *at = bytes;
	size_t left = size;

	while (left) {
		ssize_t n = pwrite(stream->fd, at, left, (off_t)(stream->bytes + size - left));
		int saved = errno;

		if (n < 0 && saved == EINTR)
			continue;
		if (n <= 0) {
			if (ftruncate(stream->fd, (off_t)stream->bytes))
				saved = n ? saved : EIO;
			return n ? saved : EIO;
		}
		at += n;
		left -= (size_t)n;
	}
	stream->bytes += size;
	return 0;
}

static fw_status begin(struct fw_record_stream *stream, const char *path,
		       enum fw_rec_file_kind kind, struct fw_error *err)
{
	struct fw_rec_file header;
	int failed;

	stream->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (stream->fd < 0)
		return fw_fail(err, FW_ERR_IO, "%s: %s", path, strerror(errno));
	fw_rec_begin_file(&header, kind, (uint32_t)getpid());
	failed = write_whole(stream, &header, sizeof(header));
	if (failed)
		return fw_fail(err, FW_ERR_IO, "%s: %s", path, strerror(failed));
	return FW_OK;
}

static void discard(struct fw_record_stream *stream)
{
	if (stream->fd >= 0)
		close(stream->fd);
	fw_map_release(&stream->ids);
	free(stream->chunk);
	free(stream);
}

fw_status fw_record_stream_open(struct fw_record_stream **stream, const char *path,
				enum fw_rec_file_kind kind, uint64_t max_bytes,
				struct fw_error *err)
{
	const size_t size = sizeof(struct fw_rec_chunk) + PAYLOAD_BYTES + 8;
	struct fw_record_stream *made = calloc(1, sizeof(*made));
	fw_status status;

	if (!made)
		return fw_fail_nomem(err, sizeof(*made));
	made->fd = -1;
	made->max_bytes = max_bytes;
	made->chunk = malloc(size);
	if (!made->chunk) {
		discard(made);
		return fw_fail_nomem(err, size);
	}
	made->payload = made->chunk + sizeof(struct fw_rec_chunk);
	status = begin(made, path, kind, err);
	if (status) {
		discard(made);
		return status;
	}
	*stream = made;
	return FW_OK;
}

static void count_loss(struct fw_record_stream *stream, enum fw_rec_loss_reason reason,
		       uint64_t count)
{
	int64_t now = fw_record_now();

	stream->state.lost += count;
	if (!stream->loss.count)
		stream->loss =
			(struct fw_rec_loss){ .head = { FW_REC_LOSS, sizeof(stream->loss), reason },
					      .start_mono = stream->used ? stream->since : now };
	stream->loss.end_mono = now;
	stream->loss.count += count;
}

/* Only the names stay, to be written with what comes later. */
static void keep_names(struct fw_record_stream *stream)
{
	uint32_t kept = 0, at = 0;

	while (at < stream->used) {
		struct fw_rec head;

		memcpy(&head, stream->payload + at, sizeof(head));
		if (head.kind == FW_REC_STRING) {
			memmove(stream->payload + kept, stream->payload + at, head.size);
			kept += head.size;
		}
		at += head.size;
	}
	stream->used = kept;
	stream->records = 0;
	stream->since = fw_record_now();
}

static bool is_full(const struct fw_record_stream *stream, uint64_t more)
{
	return stream->max_bytes && stream->bytes + more > stream->max_bytes;
}

void fw_record_stream_flush(struct fw_record_stream *stream)
{
	struct fw_rec_chunk header;
	uint32_t padded = fw_rec_padded(stream->used);
	int failed;

	if (!stream->used)
		return;
	fw_rec_seal_chunk(&header, stream->sequence++, stream->payload, stream->used);
	memcpy(stream->chunk, &header, sizeof(header));
	memset(stream->payload + stream->used, 0, padded - stream->used);
	failed = write_whole(stream, stream->chunk, sizeof(header) + padded);
	if (failed) {
		stream->state.write_error = failed;
		count_loss(stream, FW_REC_LOSS_DISK, stream->records);
		keep_names(stream);
		return;
	}
	stream->used = 0;
	stream->records = 0;
}

/* Puts a record into the chunk; false: there is no room, even after a flush. */
static bool gather(struct fw_record_stream *stream, const void *record, uint32_t size)
{
	if (stream->used + size > PAYLOAD_BYTES)
		fw_record_stream_flush(stream);
	if (stream->used + size > PAYLOAD_BYTES)
		return false;
	if (!stream->used)
		stream->since = fw_record_now();
	memcpy(stream->payload + stream->used, record, size);
	stream->used += size;
	return true;
}

/* What was lost before goes in front of what comes now. */
static void gather_loss(struct fw_record_stream *stream)
{
	if (stream->loss.count && gather(stream, &stream->loss, (uint32_t)sizeof(stream->loss)))
		stream->loss.count = 0;
}

void fw_record_stream_append(struct fw_record_stream *stream, const void *record)
{
	struct fw_rec head;

	memcpy(&head, record, sizeof(head));
	if (is_full(stream, sizeof(struct fw_rec_chunk) + stream->used + head.size)) {
		count_loss(stream, FW_REC_LOSS_SIZE, 1);
		return;
	}
	gather_loss(stream);
	if (!gather(stream, record, head.size)) {
		count_loss(stream, FW_REC_LOSS_DROPPED_HOST, 1);
		return;
	}
	stream->records++;
	if (fw_record_now() - stream->since >= FW_RECORD_SEAL_NS)
		fw_record_stream_flush(stream);
}

static bool define(struct fw_record_stream *stream, uint32_t id, const char *text, uint32_t length)
{
	uint8_t record[sizeof(struct fw_rec_string) + NAME_BYTES + 8] = { 0 };
	uint32_t size = (uint32_t)sizeof(struct fw_rec_string) + fw_rec_padded(length);
	struct fw_rec_string string = { .head = { FW_REC_STRING, (uint16_t)size, id },
					.length = length };

	memcpy(record, &string, sizeof(string));
	for (uint32_t i = 0; i < length; i++) {
		size_t whole = fw_utf8_length(text + i, length - i);

		record[sizeof(string) + i] = whole ? (uint8_t)text[i] : '?';
		for (; whole > 1; whole--, i++)
			record[sizeof(string) + i + 1] = (uint8_t)text[i + 1];
	}
	return gather(stream, record, size);
}

/* The length of text, or of its longest part below NAME_BYTES that ends with a whole character. */
static uint32_t name_length(const char *text)
{
	size_t length = strnlen(text, NAME_BYTES + 1);

	if (length <= NAME_BYTES)
		return (uint32_t)length;
	length = NAME_BYTES;
	while (length && ((unsigned char)text[length] & 0xc0) == 0x80)
		length--;
	return (uint32_t)length;
}

uint32_t fw_record_stream_string(struct fw_record_stream *stream, const char *text)
{
	uint32_t length;
	uint64_t *id, hash;
	bool is_new;

	if (!text)
		return 0;
	length = name_length(text);
	hash = fw_hash_bytes(text, length);
	id = fw_map_find(&stream->ids, hash, length);
	if (id)
		return (uint32_t)*id;
	if (stream->names >= NAMES || !define(stream, stream->names + 1, text, length))
		return 0;
	stream->names++;
	id = fw_map_at(&stream->ids, hash, length, &is_new);
	if (id)
		*id = stream->names;
	return stream->names;
}

void fw_record_stream_info(struct fw_record_stream *stream, enum fw_rec_info_key key,
			   const char *text, int64_t value)
{
	struct fw_rec_info info = { .head = { FW_REC_INFO, sizeof(info), key }, .value = value };

	info.text = fw_record_stream_string(stream, text);
	fw_record_stream_append(stream, &info);
}

void fw_record_stream_pause(struct fw_record_stream *stream, int64_t start_mono, int64_t end_mono)
{
	struct fw_rec_loss loss = { .head = { FW_REC_LOSS, sizeof(loss), FW_REC_LOSS_PAUSED },
				    .start_mono = start_mono,
				    .end_mono = end_mono,
				    .count = UINT64_MAX };

	fw_record_stream_append(stream, &loss);
}

struct fw_record_stream_state fw_record_stream_state(const struct fw_record_stream *stream)
{
	struct fw_record_stream_state state = stream->state;

	state.bytes = stream->bytes;
	return state;
}

void fw_record_stream_close(struct fw_record_stream *stream, struct fw_record_stream_state *state)
{
	struct fw_rec_info ended = { .head = { FW_REC_INFO, sizeof(ended), FW_REC_INFO_ENDED } };

	if (!stream)
		return;
	/* The end and what was lost are written past --max-size too: a few dozen bytes. */
	ended.value = fw_record_now();
	gather_loss(stream);
	gather(stream, &ended, (uint32_t)sizeof(ended));
	fw_record_stream_flush(stream);
	if (state)
		*state = fw_record_stream_state(stream);
	discard(stream);
}
