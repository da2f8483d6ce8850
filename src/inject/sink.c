#include "inject/sink.h"

#include "inject/descriptor.h"
#include "trace/recording_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Chunks before this size wait for the next flush. */
#define FULL_ENOUGH (FW_SINK_BYTES - 65536)

/* Of the allowed size, kept for the records of the end. */
#define END_BYTES 4096

/* As many files of one process number as there may be in a recording. */
#define FILES_OF_PID 10000

int64_t fw_sink_now(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* All or nothing; *done says how far it came. */
static bool write_all(int fd, const void *bytes, size_t size, size_t *done)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes = (const uint8_t *)bytes + n;
		size -= (size_t)n;
		*done += (size_t)n;
	}
	return true;
}

static int create(struct fw_sink *sink, const char *dir, uint32_t pid)
{
	for (unsigned n = 0; n < FILES_OF_PID; n++) {
		int fd;

		if (snprintf(sink->path, sizeof(sink->path), "%s/process-%u-%u.fwr", dir, pid, n) >=
		    (int)sizeof(sink->path))
			return -1;
		fd = fw_descriptor_open(sink->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			return -1;
	}
	return -1;
}

bool fw_sink_open(struct fw_sink *sink, const char *dir, uint32_t pid, uint64_t max_bytes)
{
	uint8_t *payload = sink->payload;
	struct fw_rec_file header;
	struct stat st;
	size_t done = 0;

	*sink = (struct fw_sink){ .fd = -1, .max_bytes = max_bytes, .payload = payload };
	if (!payload) {
		void *memory = mmap(NULL, FW_SINK_BYTES, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED)
			return false;
		sink->payload = memory;
	}
	sink->fd = create(sink, dir, pid);
	if (sink->fd < 0)
		return false;
	fw_rec_begin_file(&header, FW_REC_FILE_PROCESS, pid);
	if (fstat(sink->fd, &st) || !write_all(sink->fd, &header, sizeof(header), &done)) {
		close(sink->fd);
		unlink(sink->path);
		return false;
	}
	sink->device = st.st_dev;
	sink->inode = st.st_ino;
	sink->bytes = sizeof(header);
	sink->state = FW_SINK_OPEN;
	return true;
}

static bool is_our_file(const struct fw_sink *sink)
{
	return fw_descriptor_is(sink->fd, sink->device, sink->inode);
}

/* A program may close all descriptors, and open its own files on their numbers. */
static bool has_file(struct fw_sink *sink)
{
	if (is_our_file(sink))
		return true;
	sink->fd = fw_descriptor_open(sink->path, O_WRONLY | O_APPEND);
	if (is_our_file(sink))
		return true;
	if (sink->fd >= 0)
		close(sink->fd);
	sink->fd = -1;
	return false;
}

static bool write_chunk(struct fw_sink *sink, const void *payload, uint32_t size)
{
	static const uint8_t zeros[8];
	struct fw_rec_chunk chunk;
	size_t done = 0;

	if (!has_file(sink))
		return false;
	fw_rec_seal_chunk(&chunk, sink->sequence, payload, size);
	if (write_all(sink->fd, &chunk, sizeof(chunk), &done) &&
	    write_all(sink->fd, payload, size, &done) &&
	    write_all(sink->fd, zeros, fw_rec_padded(size) - size, &done)) {
		sink->bytes += done;
		sink->sequence++;
		return true;
	}
	/* Half a chunk would be skipped by a reader; better is none. */
	if (done && ftruncate(sink->fd, (off_t)sink->bytes))
		return false;
	return false;
}

static void stop(struct fw_sink *sink, enum fw_sink_state state)
{
	sink->state = state;
	sink->stopped_mono = fw_sink_now();
	sink->used = 0;
}

void fw_sink_flush(struct fw_sink *sink)
{
	uint64_t after = sink->bytes + sizeof(struct fw_rec_chunk) + sink->used + END_BYTES;

	if (sink->state != FW_SINK_OPEN || !sink->used)
		return;
	if (sink->max_bytes && after > sink->max_bytes)
		stop(sink, FW_SINK_FULL);
	else if (write_chunk(sink, sink->payload, sink->used))
		sink->used = 0;
	else
		stop(sink, FW_SINK_FAILED);
}

void *fw_sink_add(struct fw_sink *sink, enum fw_rec_kind kind, size_t bytes, uint32_t extra)
{
	struct fw_rec *record;

	if (sink->state == FW_SINK_OPEN && sink->used + bytes > FULL_ENOUGH)
		fw_sink_flush(sink);
	if (sink->state != FW_SINK_OPEN) {
		sink->lost++;
		return NULL;
	}
	record = (struct fw_rec *)(sink->payload + sink->used);
	memset(record, 0, bytes);
	record->kind = (uint16_t)kind;
	record->size = (uint16_t)bytes;
	record->extra = extra;
	sink->used += (uint32_t)bytes;
	return record;
}

void fw_sink_loss(struct fw_sink *sink, const struct fw_rec_loss *loss)
{
	struct fw_rec_loss alone = *loss;
	struct fw_rec_loss *record;

	alone.head = (struct fw_rec){ FW_REC_LOSS, sizeof(alone), loss->head.extra };
	if (sink->state == FW_SINK_OPEN) {
		record = fw_sink_add(sink, FW_REC_LOSS, sizeof(*record), loss->head.extra);
		if (record)
			*record = alone;
	} else if (sink->state == FW_SINK_FULL || sink->state == FW_SINK_FAILED) {
		write_chunk(sink, &alone, sizeof(alone));
	}
}

static void add_end(struct fw_sink *sink)
{
	struct fw_rec_info *end = fw_sink_add(sink, FW_REC_INFO, sizeof(*end), FW_REC_INFO_ENDED);

	if (end)
		end->value = fw_sink_now();
}

void fw_sink_end(struct fw_sink *sink)
{
	if (sink->state == FW_SINK_CLOSED)
		return;
	if (sink->state == FW_SINK_OPEN)
		add_end(sink);
	fw_sink_flush(sink);
	if (sink->state != FW_SINK_OPEN) {
		struct fw_rec_loss loss = {
			.head.extra =
				sink->state == FW_SINK_FULL ? FW_REC_LOSS_SIZE : FW_REC_LOSS_DISK,
			.start_mono = sink->stopped_mono,
			.end_mono = fw_sink_now(),
			.count = UINT64_MAX,
		};

		fw_sink_loss(sink, &loss);
	}
	if (is_our_file(sink))
		close(sink->fd);
	sink->fd = -1;
	sink->state = FW_SINK_CLOSED;
}
