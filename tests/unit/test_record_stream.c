/* The recorder's own files, read back by the letter of recording.h; zlib's CRC-32 is the second opinion. */
#include "record/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#define MOST (8u << 20)

/* What a file holds: how often each kind, and the last of those that tests look at. */
struct content {
	uint32_t chunks, count[FW_REC_KIND_END];
	uint32_t last_kind, names[64];
	char name[64][600];
	struct fw_rec_loss loss;
	struct fw_rec_counter counter;
	struct fw_rec_info info;
	size_t size;
};

static char path[] = "/tmp/fw-stream-XXXXXX";

static void take(struct content *content, const uint8_t *at, const struct fw_rec *head)
{
	assert_in_range(head->kind, 1, FW_REC_KIND_END - 1);
	content->count[head->kind]++;
	content->last_kind = head->kind;
	if (head->kind == FW_REC_STRING && head->extra < 64) {
		struct fw_rec_string string;

		memcpy(&string, at, sizeof(string));
		assert_in_range(string.length, 0, 599);
		assert_in_range(sizeof(string) + string.length, 0, head->size);
		memcpy(content->name[head->extra], at + sizeof(string), string.length);
		content->names[head->extra]++;
	} else if (head->kind == FW_REC_LOSS) {
		memcpy(&content->loss, at, sizeof(content->loss));
	} else if (head->kind == FW_REC_COUNTER) {
		memcpy(&content->counter, at, sizeof(content->counter));
	} else if (head->kind == FW_REC_INFO) {
		memcpy(&content->info, at, sizeof(content->info));
	}
}

static void take_payload(struct content *content, const uint8_t *at, uint32_t size)
{
	struct fw_rec head;

	for (uint32_t done = 0; done < size; done += head.size) {
		memcpy(&head, at + done, sizeof(head));
		assert_in_range(head.size, sizeof(head), size - done);
		assert_int_equal(head.size % 8, 0);
		take(content, at + done, &head);
	}
}

static void read_back(struct content *content)
{
	static uint8_t bytes[MOST];
	int fd = open(path, O_RDONLY);
	size_t size = 0, at = sizeof(struct fw_rec_file);
	struct fw_rec_file file;
	ssize_t n;

	assert_true(fd >= 0);
	while ((n = read(fd, bytes + size, MOST - size)) > 0)
		size += (size_t)n;
	close(fd);
	memset(content, 0, sizeof(*content));
	content->size = size;
	assert_true(size >= sizeof(file));
	memcpy(&file, bytes, sizeof(file));
	assert_int_equal(file.crc, crc32(0, bytes, offsetof(struct fw_rec_file, crc)));
	assert_int_equal(file.kind, FW_REC_FILE_COUNTERS);
	while (at < size) {
		struct fw_rec_chunk chunk;
		uint32_t crc;

		memcpy(&chunk, bytes + at, sizeof(chunk));
		assert_int_equal(chunk.magic, FW_REC_CHUNK_MAGIC);
		crc = (uint32_t)crc32(0, bytes + at, offsetof(struct fw_rec_chunk, crc));
		at += sizeof(chunk);
		assert_in_range(chunk.stored_bytes, 1, size - at);
		assert_int_equal(chunk.crc, crc32(crc, bytes + at, chunk.stored_bytes));
		content->chunks++;
		take_payload(content, bytes + at, chunk.stored_bytes);
		at += (chunk.stored_bytes + 7) / 8 * 8;
	}
	assert_int_equal(at, size);
}

static struct fw_record_stream *open_stream(uint64_t max_bytes)
{
	struct fw_record_stream *stream = NULL;

	assert_int_equal(
		fw_record_stream_open(&stream, path, FW_REC_FILE_COUNTERS, max_bytes, NULL), FW_OK);
	return stream;
}

static void count(struct fw_record_stream *stream, double value)
{
	struct fw_rec_counter counter = { .head = { FW_REC_COUNTER, sizeof(counter), 0 },
					  .value = value };

	counter.name = fw_record_stream_string(stream, "sm_busy_percent");
	counter.source = fw_record_stream_string(stream, "gpm");
	fw_record_stream_append(stream, &counter);
}

static void writes_each_name_once_and_marks_its_end(void **state)
{
	struct fw_record_stream *stream = open_stream(0);
	struct content content;
	int64_t before = fw_record_now();

	(void)state;
	for (int i = 0; i < 100; i++)
		count(stream, i);
	fw_record_stream_close(stream, NULL);
	read_back(&content);
	assert_int_equal(content.count[FW_REC_COUNTER], 100);
	assert_int_equal(content.count[FW_REC_STRING], 2);
	assert_string_equal(content.name[content.counter.name], "sm_busy_percent");
	assert_string_equal(content.name[content.counter.source], "gpm");
	assert_int_equal(content.last_kind, FW_REC_INFO);
	assert_int_equal(content.info.head.extra, FW_REC_INFO_ENDED);
	assert_in_range(content.info.value, before, fw_record_now());
}

static void seals_a_chunk_that_is_100_ms_old(void **state)
{
	struct fw_record_stream *stream = open_stream(0);
	struct timespec wait = { .tv_nsec = 110000000 };
	struct content content;

	(void)state;
	count(stream, 1);
	read_back(&content);
	assert_int_equal(content.chunks, 0);
	nanosleep(&wait, NULL);
	count(stream, 2);
	read_back(&content);
	assert_int_equal(content.chunks, 1);
	assert_int_equal(content.count[FW_REC_COUNTER], 2);
	fw_record_stream_close(stream, NULL);
}

static void splits_what_is_more_than_a_chunk_holds(void **state)
{
	struct fw_record_stream *stream = open_stream(0);
	struct content content;

	(void)state;
	for (int i = 0; i < 50000; i++) /* of 40 bytes: 2 MB */
		count(stream, i);
	fw_record_stream_close(stream, NULL);
	read_back(&content);
	assert_in_range(content.chunks, 3, 100);
	assert_int_equal(content.count[FW_REC_COUNTER], 50000);
	assert_true(content.counter.value == 49999);
}

static void writes_names_in_utf8_whatever_they_are(void **state)
{
	struct fw_record_stream *stream = open_stream(0);
	struct content content;
	char name[1000];

	(void)state;
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	memcpy(name + 511, "\xc3\xa9", 2); /* e acute: byte 512 would be its second half */
	assert_int_equal(fw_record_stream_string(stream, name), 1);
	assert_int_equal(fw_record_stream_string(stream, NULL), 0);
	assert_int_equal(fw_record_stream_string(stream, "a\xff\xc3\xa9\xc3"), 2);
	fw_record_stream_close(stream, NULL);
	read_back(&content);
	assert_int_equal(strlen(content.name[1]), 511);
	assert_string_equal(content.name[2], "a?\xc3\xa9?");
}

static void stops_at_the_largest_size_and_counts_the_rest(void **state)
{
	struct fw_record_stream *stream = open_stream(20000);
	struct fw_record_stream_state end;
	struct content content;

	(void)state;
	for (int i = 0; i < 1000; i++)
		count(stream, i);
	fw_record_stream_close(stream, &end);
	read_back(&content);
	/* The end and the loss may stand after it. */
	assert_in_range(content.size, 10000, 20000 + 200);
	assert_int_equal(content.size, end.bytes);
	assert_int_equal(content.loss.head.extra, FW_REC_LOSS_SIZE);
	assert_int_equal(content.count[FW_REC_COUNTER] + content.loss.count, 1000);
	assert_int_equal(end.lost, content.loss.count);
}

/* The limit stands for a full disk: nothing is written past it until it is lifted. */
static void goes_on_after_a_full_disk_and_keeps_the_names(void **state)
{
	struct rlimit before, limit;
	struct fw_record_stream *stream = open_stream(0);
	struct fw_record_stream_state end;
	struct content content;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	limit = before;
	limit.rlim_cur = 100; /* in the middle of the first chunk */
	setrlimit(RLIMIT_FSIZE, &limit);
	for (int i = 0; i < 10; i++)
		count(stream, i);
	fw_record_stream_flush(stream);
	setrlimit(RLIMIT_FSIZE, &before);
	read_back(&content);
	assert_int_equal(content.chunks, 0);
	for (int i = 10; i < 13; i++)
		count(stream, i);
	fw_record_stream_close(stream, &end);
	read_back(&content);
	assert_int_equal(content.count[FW_REC_COUNTER], 3);
	assert_int_equal(content.loss.head.extra, FW_REC_LOSS_DISK);
	assert_int_equal(content.loss.count, 10);
	assert_int_equal(end.lost, 10);
	assert_int_equal(end.write_error, EFBIG);
	assert_string_equal(content.name[content.counter.name], "sm_busy_percent");
	assert_int_equal(content.names[content.counter.name], 1);
}

static void says_what_cannot_be_opened(void **state)
{
	struct fw_record_stream *stream = NULL;
	struct fw_error err = { 0 };

	(void)state;
	assert_int_equal(fw_record_stream_open(&stream, "/nowhere/counters.fwr",
					       FW_REC_FILE_COUNTERS, 0, &err),
			 FW_ERR_IO);
	assert_string_equal(err.message, "/nowhere/counters.fwr: No such file or directory");
	assert_null(stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_each_name_once_and_marks_its_end),
		cmocka_unit_test(seals_a_chunk_that_is_100_ms_old),
		cmocka_unit_test(splits_what_is_more_than_a_chunk_holds),
		cmocka_unit_test(writes_names_in_utf8_whatever_they_are),
		cmocka_unit_test(stops_at_the_largest_size_and_counts_the_rest),
		cmocka_unit_test(goes_on_after_a_full_disk_and_keeps_the_names),
		cmocka_unit_test(says_what_cannot_be_opened),
	};
	int fd = mkstemp(path), failed;

	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
