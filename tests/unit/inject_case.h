/* A sink in a folder of its own, and what it wrote, record by record. */
#ifndef TEST_INJECT_CASE_H
#define TEST_INJECT_CASE_H

#include "inject/sink.h"
#include "trace/recording_write.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct inject_case {
	char dir[64];
	struct fw_sink sink;
	uint8_t *bytes; /* of the file, after reading */
	size_t size;
};

static inline void open_case(struct inject_case *c, uint64_t max_bytes)
{
	struct fw_sink sink = c->sink;

	snprintf(c->dir, sizeof(c->dir), "/tmp/fullwarp-inject-XXXXXX");
	assert_non_null(mkdtemp(c->dir));
	c->sink = sink;
	assert_true(fw_sink_open(&c->sink, c->dir, (uint32_t)getpid(), max_bytes));
}

/* Every chunk is whole, and its CRC right. */
static inline void check_chunks(const struct inject_case *c)
{
	size_t at = sizeof(struct fw_rec_file);

	while (at < c->size) {
		const struct fw_rec_chunk *chunk = (const void *)(c->bytes + at);
		struct fw_rec_chunk again;

		assert_true(at + sizeof(*chunk) <= c->size);
		assert_int_equal(chunk->magic, FW_REC_CHUNK_MAGIC);
		at += sizeof(*chunk);
		assert_true(at + chunk->stored_bytes <= c->size);
		fw_rec_seal_chunk(&again, chunk->sequence, c->bytes + at, chunk->stored_bytes);
		assert_int_equal(again.crc, chunk->crc);
		at += fw_rec_padded(chunk->stored_bytes);
	}
	assert_int_equal(at, c->size);
}

static inline void read_case(struct inject_case *c)
{
	int fd = open(c->sink.path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	free(c->bytes);
	c->size = (size_t)st.st_size;
	c->bytes = malloc(c->size + 1);
	assert_non_null(c->bytes);
	assert_int_equal(read(fd, c->bytes, c->size), c->size);
	close(fd);
	check_chunks(c);
}

static inline void close_case(struct inject_case *c)
{
	fw_sink_end(&c->sink);
	unlink(c->sink.path);
	rmdir(c->dir);
	free(c->bytes);
	c->bytes = NULL;
}

/* The record after `last` (NULL: the first); NULL: no more. */
static inline const struct fw_rec *next_record(const struct inject_case *c,
					       const struct fw_rec *last)
{
	size_t chunk_at = sizeof(struct fw_rec_file);
	size_t wanted = last ? (size_t)((const uint8_t *)last - c->bytes) + last->size : 0;

	while (chunk_at + sizeof(struct fw_rec_chunk) <= c->size) {
		const struct fw_rec_chunk *chunk = (const void *)(c->bytes + chunk_at);
		size_t at = chunk_at + sizeof(*chunk), end = at + chunk->stored_bytes;

		if (wanted < end) {
			const struct fw_rec *record =
				(const void *)(c->bytes + (wanted > at ? wanted : at));

			assert_true(record->size >= sizeof(*record) && record->size % 8 == 0);
			return record;
		}
		chunk_at = end;
	}
	return NULL;
}

/* The n-th record of a kind; NULL: there is none. */
static inline const void *record_of(const struct inject_case *c, enum fw_rec_kind kind, unsigned n)
{
	const struct fw_rec *record = NULL;

	while ((record = next_record(c, record)))
		if (record->kind == kind && !n--)
			return record;
	return NULL;
}

static inline unsigned count_of(const struct inject_case *c, enum fw_rec_kind kind)
{
	const struct fw_rec *record = NULL;
	unsigned n = 0;

	while ((record = next_record(c, record)))
		n += record->kind == kind;
	return n;
}

/* The text of an id; fails where it does not stand before `user`. */
static inline const char *text_of(const struct inject_case *c, uint32_t id, const void *user)
{
	static char text[65536];
	const struct fw_rec *record = NULL;

	while ((record = next_record(c, record)) && (const void *)record != user) {
		const struct fw_rec_string *string = (const void *)record;

		if (record->kind != FW_REC_STRING || record->extra != id)
			continue;
		memcpy(text, string + 1, string->length);
		text[string->length] = 0;
		return text;
	}
	fail_msg("string %u is not there before its use", id);
	return NULL;
}

#endif
