/* Damaged, odd and foreign files: what is whole is read, what is lost is counted. */
#include "import/import.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#define HEAD "{\"schemaVersion\": 1, \"traceEvents\": ["
#define TAIL "]}"
#define CALL(n)                                                                                    \
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9,\"tid\":"  \
	"9,\"ts\":" n "0,\"dur\":5,\"args\":{\"correlation\":" n "}}"
#define KERNEL(n, name)                                                                            \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"pid\":0,\"tid\":7,\"ts\":" n     \
	"1,\"dur\":4,\"args\":{\"device\":0,\"stream\":7,\"correlation\":" n "}}"

#define REST "\"traceEvents\": [" KERNEL("1", "k") TAIL

static uint64_t count_flaws(const struct fw_trace *t)
{
	uint64_t n = 0;

#define FW_FLAW(name, partial, text) n += t->integrity.name;
#include "trace/integrity.def"
#undef FW_FLAW
	return n;
}

static struct fw_trace *read_in_window(const char *text, size_t window_bytes)
{
	struct fw_import_options options = { .window_bytes = window_bytes };
	struct fw_trace *trace;
	struct fw_error err = { FW_OK, "" };

	if (fw_import_bytes("t", text, strlen(text), &options, &trace, &err))
		fail_msg("%s", err.message);
	return trace;
}

/* Wherever the window's end falls, the same comes out. */
static struct fw_trace *read_text(const char *text)
{
	struct fw_trace *trace = read_in_window(text, 0);

	for (size_t window = 1; window < strlen(text) + 2; window += window < 64 ? 1 : 37) {
		struct fw_trace *other = read_in_window(text, window);

		assert_int_equal(other->ops.len, trace->ops.len);
		assert_int_equal(other->integrity.events, trace->integrity.events);
		assert_int_equal(count_flaws(other), count_flaws(trace));
		assert_int_equal(other->integrity.first_flaw_offset,
				 trace->integrity.first_flaw_offset);
		fw_trace_destroy(other);
	}
	return trace;
}

static void refuses(const char *text, size_t len, fw_status status, const char *message)
{
	struct fw_trace *trace = NULL;
	struct fw_error err = { FW_OK, "" };

	assert_int_equal(fw_import_bytes("t", text, len, NULL, &trace, &err), status);
	assert_null(trace);
	if (!strstr(err.message, message))
		fail_msg("'%s' does not say '%s'", err.message, message);
}

/* The trace has so many operations, and exactly one kind of flaw, seen so often. */
#define EXPECT(text, ops_, flaw, times)                                                            \
	do {                                                                                       \
		struct fw_trace *t_ = read_text(text);                                             \
		assert_int_equal(t_->ops.len, ops_);                                               \
		assert_int_equal(t_->integrity.flaw, times);                                       \
		assert_int_equal(count_flaws(t_), times);                                          \
		assert_true(t_->integrity.first_flaw_offset < sizeof(text) ||                      \
			    t_->integrity.first_flaw_offset == UINT64_MAX);                        \
		fw_trace_destroy(t_);                                                              \
	} while (0)

static void a_whole_file_has_no_flaw(void **state)
{
	(void)state;
	EXPECT(HEAD CALL("1") "," KERNEL("1", "k") TAIL, 1, bad_records, 0);
	EXPECT("[" CALL("1") "," KERNEL("1", "k") "]", 1, bad_records, 0);
	EXPECT(HEAD KERNEL("1", "k") ",\n" TAIL, 1, bad_records, 0);
	EXPECT(HEAD KERNEL("1", "a \\\"q\\\" \\u00e9 \\ud83d\\ude00 \xc3\xa9") TAIL, 1, bad_escapes,
	       0);
}

/* Cut anywhere: the events that end before the cut are kept, and nothing of the one that is cut. */
static void a_file_cut_anywhere_keeps_the_whole_events(void **state)
{
	static const char text[] =
		HEAD KERNEL("1", "a{b") "," KERNEL("2", "c]d") ",\n" KERNEL("3", "e") TAIL;
	const size_t head = sizeof(HEAD) - 1;
	size_t ends[3] = { head + sizeof(KERNEL("1", "a{b")) - 1, 0, 0 };

	(void)state;
	ends[1] = ends[0] + sizeof(KERNEL("2", "c]d"));
	ends[2] = ends[1] + sizeof(KERNEL("3", "e")) + 1;
	for (size_t cut = 0; cut < sizeof(text) - 1; cut++) {
		size_t whole = (cut >= ends[0]) + (cut >= ends[1]) + (cut >= ends[2]);
		struct fw_trace *trace = NULL;
		fw_status status = fw_import_bytes("t", text, cut, NULL, &trace, NULL);

		if (!whole) {
			assert_int_equal(status, FW_ERR_FORMAT);
			continue;
		}
		assert_int_equal(status, FW_OK);
		assert_int_equal(trace->ops.len, whole);
		assert_int_equal(trace->integrity.truncated, 1);
		assert_int_equal(count_flaws(trace), 1);
		assert_true(trace->integrity.first_flaw_offset <= cut);
		fw_trace_destroy(trace);
	}
}

static void names_are_mended_and_their_records_kept(void **state)
{
	struct fw_trace *t;

	(void)state;
	EXPECT(HEAD KERNEL("1", "C:\\Users\\me") TAIL, 1, bad_escapes, 1);
	EXPECT(HEAD KERNEL("1", "half \\ud83d pair") TAIL, 1, bad_escapes, 1);
	EXPECT(HEAD KERNEL("1", "line\nbreak \x01") TAIL, 1, control_characters, 1);
	EXPECT(HEAD KERNEL("1", "\xff\xfe latin \xe9") TAIL, 1, invalid_utf8, 1);
	EXPECT(HEAD KERNEL("1", "say \"hi\", then go") "," KERNEL("2", "k") TAIL, 2,
	       unescaped_quotes, 1);
	EXPECT(HEAD KERNEL("1", "one \" only") "," KERNEL("2", "k") TAIL, 2, unescaped_quotes, 1);
	t = read_text(HEAD KERNEL("1", "say \"hi\", \x02 C:\\x") TAIL);
	assert_string_equal(fw_trace_text(t, t->ops.name[0]), "say \"hi\", \xef\xbf\xbd C:\\x");
	fw_trace_destroy(t);
	t = read_text(HEAD KERNEL("1", "\\u00e9\\ud83d\\ude00\\n\\/") TAIL);
	assert_string_equal(fw_trace_text(t, t->ops.name[0]), "\xc3\xa9\xf0\x9f\x98\x80\n/");
	fw_trace_destroy(t);
}

static void a_broken_record_is_skipped_and_the_next_is_read(void **state)
{
	(void)state;
	/* A missing quote, brace, colon, value; text between records; a record cut by the next. */
	EXPECT(HEAD "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k,\"pid\":0,\"tid\":7,\"ts\":1,"
		    "\"dur\":1}," KERNEL("2", "k") TAIL,
	       1, bad_records, 1);
	EXPECT(HEAD "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1,\"args\":{\"device\":"
		    "0," KERNEL("2", "k") TAIL,
	       1, bad_records, 1);
	EXPECT(HEAD "{\"ph\":\"X\",\"cat\" \"kernel\",\"name\":\"k\",\"ts\":1}," KERNEL("2", "k")
		       TAIL,
	       1, bad_records, 1);
	EXPECT(HEAD "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":}," KERNEL("2", "k")
		       TAIL,
	       1, bad_records, 1);
	EXPECT(HEAD KERNEL("1", "k") ", lost text, " KERNEL("2", "k") TAIL, 2, bad_records, 1);
	EXPECT(HEAD KERNEL("1", "k") ",{\"ph\":\"X\",\"cat\":\"kernel\",\"na" KERNEL("2", "k") TAIL,
	       1, bad_records, 1);
	EXPECT(HEAD "{\"ph\":\"X\",\"cat\":\"kernel\",\"na\n," KERNEL("2", "k") TAIL, 1,
	       bad_records, 1);
	EXPECT(HEAD "17, null, \"x\"," KERNEL("2", "k") TAIL, 1, bad_records, 1);
	/* The last record is broken, and what stands behind the events is still read. */
	EXPECT(HEAD KERNEL("1", "k") ",{\"ph\":\"X\",\"ts\":oops\"}], \"traceName\": \"n\"}", 1,
	       bad_records, 1);
}

/* A kernel as files have it whose last argument is a list. */
#define LISTED(n, dur)                                                                             \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":" n "1,"       \
	"\"dur\":" dur ",\"args\":{\"device\":0,\"stream\":7,\"block\":[64,1,1]}}"

static void brackets_in_a_broken_record_are_not_the_end_of_the_events(void **state)
{
	(void)state;
	/* Behind the damage a bracket has a brace behind it, as the array of events has. */
	EXPECT(HEAD LISTED("1", "4") "," LISTED("2", "") "," LISTED("3", "4") TAIL, 2, bad_records,
	       1);
	EXPECT("[" LISTED("1", "4") "," LISTED("2", "") "," LISTED("3", "4") "]", 2, bad_records,
	       1);
	EXPECT(HEAD LISTED("2", "") "," LISTED("3", "4") "]\n}\n", 1, bad_records, 1);
	/* One before an object that looks like an event: the list's end is not that of the events. */
	EXPECT(HEAD "{\"ph\":\"X\",\"ts\":,\"args\":{\"in\":[{\"id\":3}]}}," LISTED("3", "4") TAIL,
	       1, bad_records, 2);
	/* A sound record that the file's end cuts behind such a bracket is cut, not broken. */
	EXPECT(HEAD LISTED("1", "4") ",{\"ph\":\"X\",\"ts\":4,\"args\":{\"in\":[1,2]}", 1,
	       truncated, 1);
	EXPECT("[" LISTED("1", "4") ",{\"ph\":\"X\",\"ts\":4,\"args\":{\"in\":[1,2]", 1, truncated,
	       1);
}

static void words_may_be_written_with_escapes(void **state)
{
	struct fw_trace *t = read_text(
		"{\"trace\\u0045vents\":[{\"\\u0070h\":\"\\u0058\",\"cat\":\"k\\u0065rnel\","
		"\"name\":"
		"\"k\",\"pid\":0,\"tid\":7,\"t\\u0073\":8,\"\\u0064ur\":1,\"args\":{"
		"\"\\u0064evice\":2,"
		"\"correlatio\\u006e\":5}}" TAIL);

	(void)state;
	assert_int_equal(t->ops.len, 1);
	assert_int_equal(t->ops.end_ns[0] - t->ops.start_ns[0], 1000);
	assert_int_equal(t->ops.corr[0], 5);
	assert_int_equal(t->devices.id[0], 2);
	assert_int_equal(count_flaws(t), 0);
	fw_trace_destroy(t);
}

static void damage_behind_the_events_ends_the_reading(void **state)
{
	(void)state;
	EXPECT(HEAD KERNEL("1", "k") "], \"a\" oops, \"traceEvents\": []}", 1, bad_records, 1);
	EXPECT(HEAD KERNEL("1", "k") "]", 1, truncated, 1);
}

static void a_damaged_header_does_not_hide_the_events(void **state)
{
	(void)state;
	EXPECT("{\"schemaVersion\":1,\"mine\": {oops}, \"traceEvents\": [" KERNEL("1", "k") TAIL, 1,
	       bad_records, 1);
	EXPECT("{\"schemaVersion\":1,\"mine\": \"a\"b\"c\", \"traceEvents\": [" KERNEL("1", "k")
		       TAIL,
	       1, bad_records, 1);
}

#define WITH(fields)                                                                               \
	HEAD "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7," fields         \
	     "}," KERNEL("2", "k") TAIL

static void records_without_usable_times_are_dropped(void **state)
{
	(void)state;
	EXPECT(WITH("\"ts\":1,\"dur\":NaN"), 1, bad_times, 1);
	EXPECT(WITH("\"ts\":inf,\"dur\":1"), 1, bad_times, 1);
	EXPECT(WITH("\"ts\":1,\"dur\":N/A"), 1, bad_times, 1);
	EXPECT(WITH("\"ts\":1,\"dur\":\"inf\""), 1, bad_times, 1);
	EXPECT(WITH("\"ts\":{},\"dur\":1"), 1, bad_times, 1);
	EXPECT(WITH("\"dur\":1"), 1, bad_times, 1);
	EXPECT(WITH("\"ts\":99999999999999999999,\"dur\":1"), 1, bad_times, 1);
	EXPECT(WITH("\"ts\":1,\"dur\":18446744073709551.615"), 1, bad_times, 1);
	/* Eight days: longer than any profile. */
	EXPECT(WITH("\"ts\":1,\"dur\":691200000000"), 1, bad_times, 1);
	EXPECT(WITH("\"ts\":5,\"dur\":-1"), 1, negative_durations, 1);
	EXPECT(WITH("\"ts\":0,\"dur\":0"), 1, zero_times, 1);
	/* The trace is 20 us long and starts at 0: that is a time. */
	EXPECT(WITH("\"ts\":0,\"dur\":1"), 2, zero_times, 0);
	/* A missing duration is 0. */
	EXPECT(WITH("\"ts\":1"), 2, bad_times, 0);
	/* Not finite where it does not matter. */
	EXPECT(WITH("\"ts\":1,\"dur\":1,\"args\":{\"blocks per SM\":inf,\"x\":-nan,\"y\":N/A}"), 2,
	       bad_times, 0);
}

static void a_start_that_was_never_filled_in_is_dropped(void **state)
{
	static const char text[] = HEAD "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,"
					"\"tid\":7,\"ts\":0,\"dur\":3},"
					"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"l\",\"pid\":0,"
					"\"tid\":7,\"ts\":1700000000000000,\"dur\":3},"
					"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"o\",\"pid\":1,"
					"\"tid\":1,\"ts\":0,\"dur\":3}" TAIL;
	struct fw_trace *t = read_text(text);

	(void)state;
	assert_int_equal(t->ops.len, 1);
	assert_int_equal(t->ranges.len, 0);
	assert_int_equal(t->integrity.zero_times, 2);
	assert_int_equal(t->integrity.events, 1);
	assert_string_equal(fw_trace_text(t, t->ops.name[0]), "l");
	assert_int_equal(t->ops.end_ns[0], 3000);
	fw_trace_destroy(t);
}

static void calls_recorded_twice_and_early_operations_are_counted(void **state)
{
	(void)state;
	EXPECT(HEAD CALL("1") "," CALL("1") "," KERNEL("1", "k") TAIL, 1, duplicate_calls, 1);
	/* The kernel of call 2 (at 20) starts at 21, but its id says call 3 (at 30). */
	EXPECT(HEAD CALL("3") ",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":"
			      "7,\"ts\":29.999,\"dur\":1,\"args\":{\"correlation\":3}}" TAIL,
	       1, early_starts, 1);
}

static void ids_and_numbers_in_quotes_are_ids_and_numbers(void **state)
{
	struct fw_trace *t = read_text(HEAD CALL(
		"1") ",{\"ph\":\"X\",\"cat\":\"Runtime\",\"name\":\"c\",\"pid\":\"9\",\"tid\":"
		     "\"9\",\"ts\":\"2\",\"dur\":\"1\",\"args\":{\"correlation\":\"5\"}}"
		     ",{\"ph\":\"X\",\"cat\":\"Kernel\",\"name\":\"k\",\"pid\":\"0\",\"tid\":"
		     "\"stream "
		     "13\",\"ts\":\"2.5\",\"dur\":\"1\",\"args\":{\"correlation\":\"5\"}}" TAIL);

	(void)state;
	assert_int_equal(t->threads.len, 1);
	assert_int_equal(t->calls.corr[1], 5);
	assert_int_equal(t->ops.corr[0], 5);
	assert_int_equal(t->streams.id[0], 13);
	assert_int_equal(t->devices.id[0], 0);
	fw_trace_destroy(t);
}

static void a_repeated_or_late_header_is_read(void **state)
{
	struct fw_trace *t = read_text("{\"distributedInfo\":{\"rank\":1},\"traceEvents\":[" KERNEL(
		"1", "k") "],\"baseTimeNanoseconds\":1700000000000000000,\"distributedInfo\":{"
			  "\"rank\":3,\"world_size\":8},"
			  "\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA "
			  "H200\",\"computeMajor\":9,\"computeMinor\":0,\"numSms\":132,"
			  "\"totalGlobalMem\":150109880320}]}");

	(void)state;
	assert_int_equal(t->files.rank[0], 3);
	assert_int_equal(t->files.world_size[0], 8);
	assert_int_equal(t->epoch_ns, INT64_C(1700000000000011000));
	assert_int_equal(t->files.epoch_ns[0], t->epoch_ns);
	assert_string_equal(fw_trace_text(t, t->devices.name[0]), "NVIDIA H200");
	assert_int_equal(t->devices.cc[0], 90);
	assert_int_equal(t->devices.sms[0], 132);
	assert_int_equal(t->devices.memory_bytes[0], INT64_C(150109880320));
	fw_trace_destroy(t);
}

static size_t put(char *to, const char *text)
{
	size_t len = strlen(text);

	memcpy(to, text, len);
	return len;
}

/* Every event in its own size, so that the window's end falls on every place of a record. */
static void records_may_lie_anywhere_in_the_window(void **state)
{
	const size_t events = 20000;
	char *text = malloc(events * 400 + (4 << 20)), *p = text;
	struct fw_trace *t;
	int64_t kernels = 0;

	(void)state;
	assert_non_null(text);
	p += put(p, HEAD);
	for (size_t i = 0; i < events; i++) {
		char name[200];
		size_t len = i * 7 % 150;

		memset(name, "a{]\\"[i % 4], len);
		name[len & ~(size_t)1] = '\0';
		if (i == events / 2) {
			/* One record larger than the window. */
			p += put(p,
				 "{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1,\"dur\":1,\"name\":\"");
			memset(p, 'n', 3 << 20);
			p += 3 << 20;
			p += put(p, "\",\"pid\":0,\"tid\":7},\n");
			kernels++;
		}
		p += snprintf(p, 400,
			      "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"%s\",\"pid\":0,\"tid\":"
			      "7,\"ts\":%zu.5,\"dur\":0.250}%s\n",
			      i % 4 == 3 ? "" : name, i, i + 1 < events ? "," : TAIL);
		kernels++;
	}
	assert_int_equal(fw_import_bytes("t", text, (size_t)(p - text), NULL, &t, NULL), FW_OK);
	assert_int_equal(t->ops.len, kernels);
	assert_int_equal(count_flaws(t), 0);
	for (size_t i = 0; i < t->ops.len; i++)
		assert_int_equal(t->ops.end_ns[i] - t->ops.start_ns[i],
				 i == events / 2 ? 1000 : 250);
	fw_trace_destroy(t);
	free(text);
}

/* gzip of text, cut or with one byte changed. */
static size_t pack(const char *text, unsigned char *out, size_t cap)
{
	z_stream z = { .next_in = (unsigned char *)(uintptr_t)text,
		       .avail_in = (uInt)strlen(text) };

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_out = out;
	z.avail_out = (uInt)cap;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return cap - z.avail_out;
}

static void packed_files_are_read_as_far_as_they_are_whole(void **state)
{
	static const char text[] =
		HEAD KERNEL("1", "k") "," KERNEL("2", "l") "," KERNEL("3", "m") TAIL;
	unsigned char gz[2048];
	size_t len = pack(text, gz, sizeof(gz) / 2);
	struct fw_trace *t;

	(void)state;
	assert_int_equal(fw_import_bytes("t", gz, len, NULL, &t, NULL), FW_OK);
	assert_int_equal(t->ops.len, 3);
	assert_int_equal(count_flaws(t), 0);
	fw_trace_destroy(t);
	/* Without its trailer the text is whole, but nothing vouches for it. */
	assert_int_equal(fw_import_bytes("t", gz, len - 8, NULL, &t, NULL), FW_OK);
	assert_int_equal(t->ops.len, 3);
	assert_int_equal(t->integrity.truncated, 1);
	fw_trace_destroy(t);
	/* Padding of tapes and block devices. */
	memset(gz + len, 0, 512);
	assert_int_equal(fw_import_bytes("t", gz, len + 512, NULL, &t, NULL), FW_OK);
	assert_int_equal(count_flaws(t), 0);
	fw_trace_destroy(t);
	/* A wrong checksum. */
	gz[len - 8] ^= 1;
	assert_int_equal(fw_import_bytes("t", gz, len, NULL, &t, NULL), FW_OK);
	assert_int_equal(t->integrity.bad_compression, 1);
	fw_trace_destroy(t);
	refuses("\x1f\x8b\x08oops", 7, FW_ERR_FORMAT, "damaged");
}

#define REFUSES(text, status, message) refuses(text, sizeof(text) - 1, status, message)

static void foreign_files_are_refused_by_name(void **state)
{
	(void)state;
	REFUSES("", FW_ERR_FORMAT, "empty");
	REFUSES(" \n\t ", FW_ERR_FORMAT, "white space");
	REFUSES("hello", FW_ERR_FORMAT, "not JSON: byte 0x68 at offset 0");
	REFUSES("{\"a\": 1}", FW_ERR_FORMAT, "no traceEvents");
	REFUSES("{\"schema\":\"1.0.3-chakra\",\"nodes\":[{\"id\":1}]}", FW_ERR_UNSUPPORTED,
		"execution trace");
	REFUSES("{\"traceEvents\":[{\"name\":\"a\",\"ph\":\"X\",\"cat\":\"toplevel\",\"ts\":1,"
		"\"pid\":1,\"tid\":1}]}",
		FW_ERR_UNSUPPORTED, "Chrome trace, but not of PyTorch's profiler");
	REFUSES("[{\"name\":\"aten::add\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"tid\":1,\"pid\":\"CPU "
		"functions\",\"args\":{}}]",
		FW_ERR_UNSUPPORTED, "not of PyTorch's profiler");
	/* As export_memory_timeline("x.raw.json.gz") writes: time, action, what, bytes. */
	REFUSES("[[1700000000000, 1, [7, 0], 512], [1700000000001, 3, [7, 0], 512]]",
		FW_ERR_UNSUPPORTED, "memory timeline");
	REFUSES("[]", FW_ERR_FORMAT, "no traceEvents");
	REFUSES("SQLite format 3\0 and the rest", FW_ERR_UNSUPPORTED, "SQLite");
	REFUSES("PK\3\4....", FW_ERR_UNSUPPORTED, "zip");
	REFUSES("{\"traceEvents\":[{\"ph\":\"X\",\"name\"", FW_ERR_FORMAT, "ends at offset");
	REFUSES("{\"traceEvents\":[{\"ph\":oops", FW_ERR_FORMAT, "offset");
}

/* A file of its own with this text; removed by the caller. */
static void write_file(char *path, const char *text)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static struct fw_trace *read_two(const char *a, const char *b)
{
	char first[] = "/tmp/fw_import_XXXXXX", second[] = "/tmp/fw_import_XXXXXX";
	const char *const paths[] = { first, second };
	struct fw_trace *trace;

	write_file(first, a);
	write_file(second, b);
	assert_int_equal(fw_import_files(paths, 2, NULL, &trace, NULL), FW_OK);
	unlink(first);
	unlink(second);
	return trace;
}

static void ranks_are_aligned_by_their_absolute_times(void **state)
{
	struct fw_trace *t;

	(void)state;
	/* The second file's zero is 50 us later: its kernel starts at 11 + 50 us. */
	t = read_two("{\"baseTimeNanoseconds\":1700000000000000000,\"distributedInfo\":{\"rank\":0}"
		     "," REST,
		     "{\"baseTimeNanoseconds\":1700000000000050000,\"distributedInfo\":{\"rank\":1}"
		     "," REST);
	assert_int_equal(t->files.len, 2);
	assert_int_equal(t->devices.len, 2);
	assert_int_equal(t->files.rank[1], 1);
	assert_int_equal(t->ops.start_ns[0], 0);
	assert_int_equal(t->ops.start_ns[1], 50000);
	assert_int_equal(t->epoch_ns, INT64_C(1700000000000011000));
	assert_int_equal(t->files.epoch_ns[1], t->epoch_ns);
	assert_false(t->blind_spots & 1u << FW_BLIND_UNALIGNED);
	fw_trace_destroy(t);
	/* One of them does not tell: each from its own zero, and that is said. */
	t = read_two("{\"baseTimeNanoseconds\":1700000000000000000," REST,
		     "{\"schemaVersion\":1," REST);
	assert_int_equal(t->ops.start_ns[0], 0);
	assert_int_equal(t->ops.start_ns[1], 0);
	assert_int_equal(t->epoch_ns, INT64_MIN);
	assert_int_equal(t->files.epoch_ns[0], INT64_C(1700000000000011000));
	assert_int_equal(t->files.epoch_ns[1], INT64_MIN);
	assert_true(t->blind_spots & 1u << FW_BLIND_UNALIGNED);
	fw_trace_destroy(t);
}

/* A Chrome trace that is not of Kineto has rows, and times, before it is known to be none. */
static void files_of_no_use_leave_only_the_reason(void **state)
{
	static const char foreign[] =
		"{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,"
		"\"dur\":-1},"
		"{\"ph\":\"X\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"ts\":2,\"dur\":1}]}";
	static const char good[] =
		"{\"baseTimeNanoseconds\":1700000000000000000,\"traceEvents\":[" KERNEL("1", "k")
			TAIL;
	char names[2][32] = { "/tmp/fw-refusedXXXXXX", "/tmp/fw-usedXXXXXX" };
	const char *paths[] = { names[0], names[1], names[0] };
	struct fw_trace *t;
	struct fw_error err;

	(void)state;
	for (int i = 0; i < 2; i++) {
		int fd = mkstemp(names[i]);
		const char *text = i ? good : foreign;

		assert_int_equal(write(fd, text, strlen(text)), strlen(text));
		close(fd);
	}
	assert_int_equal(fw_import_files(paths, 3, NULL, &t, &err), FW_OK);
	assert_int_equal(t->ops.len, 1);
	assert_int_equal(t->ranges.len, 0);
	assert_int_equal(t->integrity.events, 1);
	assert_int_equal(count_flaws(t), 0);
	assert_false(t->blind_spots & 1u << FW_BLIND_UNALIGNED);
	/* Its base and the kernel's start at 11 us. */
	assert_int_equal(t->epoch_ns, 1700000000000011000);
	assert_int_equal(t->files.refused[1], 0);
	assert_non_null(strstr(fw_trace_text(t, t->files.refused[0]), "not of PyTorch's profiler"));
	assert_non_null(strstr(fw_trace_text(t, t->files.refused[2]), "the same file as"));
	fw_trace_destroy(t);
	/* The same file again counts once. */
	paths[0] = names[1];
	assert_int_equal(fw_import_files(paths, 2, NULL, &t, &err), FW_OK);
	assert_int_equal(t->ops.len, 1);
	assert_non_null(strstr(fw_trace_text(t, t->files.refused[1]), "the same file as"));
	fw_trace_destroy(t);
	paths[0] = names[0];
	t = NULL;
	assert_int_equal(fw_import_files(paths, 1, NULL, &t, &err), FW_ERR_UNSUPPORTED);
	assert_null(t);
	unlink(names[0]);
	unlink(names[1]);
}

static void hostile_times_do_not_overflow(void **state)
{
	struct fw_trace *t;

	(void)state;
	t = read_two("{\"baseTimeNanoseconds\":2305843009213693952,\"traceEvents\":["
		     "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":"
		     "2305000000000000,\"dur\":9}]}",
		     "{\"baseTimeNanoseconds\":0,\"traceEvents\":["
		     "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":-"
		     "2305843009213693.952,\"dur\":9}]}");
	assert_int_equal(t->ops.len, 2);
	assert_int_equal(t->ops.start_ns[1], 0);
	assert_true(t->ops.start_ns[0] > 0);
	fw_trace_destroy(t);
}

static void a_trace_of_the_host_alone_is_a_trace(void **state)
{
	struct fw_trace *t = read_text(HEAD "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::"
					    "add\",\"pid\":1,\"tid\":-2,\"ts\":1,\"dur\":1}" TAIL);

	(void)state;
	assert_int_equal(t->ranges.len, 1);
	assert_string_equal(fw_trace_text(t, t->threads.tid[0]), "-2");
	assert_true(t->blind_spots & 1u << FW_BLIND_NO_GPU_OPS);
	fw_trace_destroy(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_file_has_no_flaw),
		cmocka_unit_test(a_file_cut_anywhere_keeps_the_whole_events),
		cmocka_unit_test(names_are_mended_and_their_records_kept),
		cmocka_unit_test(a_broken_record_is_skipped_and_the_next_is_read),
		cmocka_unit_test(brackets_in_a_broken_record_are_not_the_end_of_the_events),
		cmocka_unit_test(words_may_be_written_with_escapes),
		cmocka_unit_test(damage_behind_the_events_ends_the_reading),
		cmocka_unit_test(a_damaged_header_does_not_hide_the_events),
		cmocka_unit_test(records_without_usable_times_are_dropped),
		cmocka_unit_test(a_start_that_was_never_filled_in_is_dropped),
		cmocka_unit_test(calls_recorded_twice_and_early_operations_are_counted),
		cmocka_unit_test(ids_and_numbers_in_quotes_are_ids_and_numbers),
		cmocka_unit_test(a_repeated_or_late_header_is_read),
		cmocka_unit_test(records_may_lie_anywhere_in_the_window),
		cmocka_unit_test(packed_files_are_read_as_far_as_they_are_whole),
		cmocka_unit_test(foreign_files_are_refused_by_name),
		cmocka_unit_test(ranks_are_aligned_by_their_absolute_times),
		cmocka_unit_test(files_of_no_use_leave_only_the_reason),
		cmocka_unit_test(hostile_times_do_not_overflow),
		cmocka_unit_test(a_trace_of_the_host_alone_is_a_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
