/* Every well-formed Kineto trace of the corpus gives the figures of the ground truth. */
#include "import/import.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define COLUMNS 22

enum {
	FILE_NAME,
	DEVICE,
	KERNELS,
	BUSY,
	SUM,
	GPU_BUSY,
	SPAN,
	IDLE,
	LONGEST,
	LONGEST_AT,
	COPIES,
	BY_KIND,
	MEMSETS,
	STREAMS,
	SYNCS,
	SYNCS_US,
	SYNCS_UNIQUE
};

struct interval {
	int64_t start, end;
};

static int by_start(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

struct figures {
	int64_t busy, sum, first, last, longest_gap;
	size_t n;
};

/* Union, sum and the longest hole of intervals, which are sorted here. */
static struct figures measure(struct interval *iv, size_t n)
{
	struct figures f = { .first = INT64_MAX, .last = INT64_MIN, .n = n };

	qsort(iv, n, sizeof(*iv), by_start);
	for (size_t i = 0; i < n; i++) {
		int64_t from = iv[i].start;

		f.sum += iv[i].end - iv[i].start;
		if (!i)
			f.first = from;
		else if (from > f.last && from - f.last > f.longest_gap)
			f.longest_gap = from - f.last;
		if (i && from < f.last)
			from = f.last;
		if (iv[i].end > from)
			f.busy += iv[i].end - from;
		if (iv[i].end > f.last)
			f.last = iv[i].end;
	}
	return f;
}

static uint32_t device_of(const struct fw_trace *t, const char *id)
{
	for (uint32_t d = 0; d < t->devices.len; d++)
		if (t->devices.id[d] == strtoll(id, NULL, 10))
			return d;
	return FW_NONE;
}

static struct figures measure_ops(const struct fw_trace *t, uint32_t device, bool only_kernels)
{
	struct interval *iv = calloc(t->ops.len + 1, sizeof(*iv));
	struct figures f;
	size_t n = 0;

	assert_non_null(iv);
	for (uint32_t i = 0; i < t->ops.len; i++)
		if (fw_op_device(t, i) == device &&
		    (!only_kernels || t->ops.kind[i] == FW_OP_KERNEL))
			iv[n++] = (struct interval){ t->ops.start_ns[i], t->ops.end_ns[i] };
	f = measure(iv, n);
	free(iv);
	return f;
}

static size_t count_kind(const struct fw_trace *t, uint32_t device, enum fw_op_kind kind)
{
	size_t n = 0;

	for (uint32_t i = 0; i < t->ops.len; i++)
		n += fw_op_device(t, i) == device && t->ops.kind[i] == kind;
	return n;
}

static size_t count_streams(const struct fw_trace *t, uint32_t device)
{
	char *used = calloc(t->streams.len + 1, 1);
	size_t n = 0;

	assert_non_null(used);
	for (uint32_t i = 0; i < t->ops.len; i++)
		used[t->ops.stream[i]] = 1;
	for (uint32_t s = 0; s < t->streams.len; s++)
		n += used[s] && t->streams.device[s] == device;
	free(used);
	return n;
}

static size_t count_syncs(const struct fw_trace *t)
{
	size_t n = 0;

	for (uint32_t i = 0; i < t->calls.len; i++)
		n += strstr(fw_trace_text(t, t->calls.name[i]), "Synchronize") != NULL;
	return n;
}

/* "HtoD (Pageable -> Device) 16:244403360;..." against count and bytes of copies of that name. */
static void check_copies(const struct fw_trace *t, uint32_t device, char *list)
{
	if (!strcmp(list, "-"))
		return;
	for (char *item; (item = strsep(&list, ";"));) {
		char name[256], *space = strrchr(item, ' '), *colon;
		long long count = 0, bytes = 0;

		assert_non_null(space);
		*space = '\0';
		while (*item == ' ')
			item++;
		snprintf(name, sizeof(name), "Memcpy %s", item);
		for (uint32_t i = 0; i < t->ops.len; i++) {
			int64_t moved;

			if (t->ops.kind[i] != FW_OP_COPY || fw_op_device(t, i) != device ||
			    strcmp(fw_trace_text(t, t->ops.name[i]), name))
				continue;
			moved = t->transfers.bytes[t->ops.detail[i]];
			count++;
			bytes += moved > 0 ? moved : 0;
		}
		assert_int_equal(count, strtoll(space + 1, &colon, 10));
		assert_int_equal(bytes, strtoll(colon + 1, NULL, 10));
	}
}

/*
 * Nanoseconds against the ground truth's microseconds. Those went through doubles, which resolve no
 * more than 1 ns at 5e12 us, times the number of operations: hence up to 1 us of difference.
 */
static void check_time(int64_t ns, const char *us)
{
	double difference = (double)ns - strtod(us, NULL) * 1e3;

	if (difference > 1000 || difference < -1000)
		fail_msg("%lld ns, expected %s us", (long long)ns, us);
}

static void check_row(const struct fw_trace *t, char **c)
{
	uint32_t device = device_of(t, c[DEVICE]);
	struct figures kernels, all;

	assert_int_not_equal(device, FW_NONE);
	kernels = measure_ops(t, device, true);
	all = measure_ops(t, device, false);
	assert_int_equal(kernels.n, strtoll(c[KERNELS], NULL, 10));
	check_time(kernels.busy, c[BUSY]);
	check_time(kernels.sum, c[SUM]);
	check_time(all.busy, c[GPU_BUSY]);
	check_time(all.last - all.first, c[SPAN]);
	check_time(all.longest_gap, c[LONGEST]);
	assert_int_equal(count_kind(t, device, FW_OP_COPY), strtoll(c[COPIES], NULL, 10));
	check_copies(t, device, c[BY_KIND]);
	assert_int_equal(count_kind(t, device, FW_OP_MEMSET), strtoll(c[MEMSETS], NULL, 10));
	assert_int_equal(count_streams(t, device), strtoll(c[STREAMS], NULL, 10));
	assert_int_equal(count_syncs(t), strtoll(c[SYNCS], NULL, 10));
}

static bool is_kineto(const char *name)
{
	return !strstr(name, ".sqlite") && !strstr(name, "_et.json");
}

static void check_line(char *line)
{
	char *c[COLUMNS] = { NULL }, path[4096];
	struct fw_trace *trace;
	struct fw_error err = { FW_OK, "" };
	int n = 0;

	line[strcspn(line, "\n")] = '\0';
	for (char *cell; n < COLUMNS && (cell = strsep(&line, "\t"));)
		c[n++] = cell;
	assert_int_equal(n, COLUMNS);
	if (!is_kineto(c[FILE_NAME]))
		return;
	snprintf(path, sizeof(path), FW_CORPUS "/traces/%s", c[FILE_NAME]);
	printf("%s device %s\n", c[FILE_NAME], c[DEVICE]);
	if (fw_import_file(path, NULL, &trace, &err))
		fail_msg("%s", err.message);
	check_row(trace, c);
	fw_trace_destroy(trace);
}

static void traces_have_the_figures_of_the_ground_truth(void **state)
{
	FILE *f = fopen(FW_CORPUS "/groundtruth_all.tsv", "r");
	char *line = NULL;
	size_t cap = 0, rows = 0;

	(void)state;
	assert_non_null(f);
	assert_true(getline(&line, &cap, f) > 0);
	for (; getline(&line, &cap, f) > 0; rows++)
		check_line(line);
	free(line);
	fclose(f);
	assert_true(rows > 50);
}

/* The rows of groundtruth_synth.tsv: kernels, busy and span, and the flaws that they tell of. */
struct synthetic {
	const char *file;
	size_t kernels, calls;
	int64_t busy_ns, span_ns, gap_ns;
	struct fw_integrity flaws; /* only the counts */
};

static const struct synthetic synthetic[] = {
	{ "bad_escape.json", 10, 10, 400000, 940000, 60000, { .bad_escapes = 1 } },
	{ "ctrl_char.json", 10, 10, 400000, 940000, 60000, { .control_characters = 1 } },
	/* The first kernel has the NaN, and the span starts at the second. */
	{ "bare_nan.json", 9, 10, 360000, 840000, 60000, { .bad_times = 1 } },
	{ "bom.json", 10, 10, 400000, 940000, 60000, { 0 } },
	{ "ts_zero.json", 8, 10, 320000, 740000, 60000, { .zero_times = 2 } },
	{ "neg_latency.json", 10, 10, 400000, 0, 0, { .early_starts = 1 } },
	{ "string_ts.json", 10, 10, 400000, 940000, 60000, { 0 } },
	{ "graph_4000_streams.json.gz", 4000, 1, 2000000, 3999500, 500, { 0 } },
	{ "idle_stream_busy_dev.json", 52, 0, 50000000, 50000000, 0, { 0 } },
	{ "cuda_sync_rows.json", 10, 10, 400000, 940000, 60000, { 0 } },
	{ "dup_pid_procs.json", 20, 20, 800000, 990000, 10000, { 0 } },
};

static void check_flaws(const struct fw_integrity *found, const struct fw_integrity *expected)
{
#define FW_FLAW(name, partial, text) assert_int_equal(found->name, expected->name);
#include "trace/integrity.def"
#undef FW_FLAW
}

static void check_synthetic(const struct synthetic *s)
{
	struct fw_error err = { FW_OK, "" };
	struct fw_trace *trace;
	struct figures kernels;
	char path[4096];

	snprintf(path, sizeof(path), FW_CORPUS "/traces/synthetic/%s", s->file);
	printf("%s\n", s->file);
	if (fw_import_file(path, NULL, &trace, &err))
		fail_msg("%s", err.message);
	assert_int_equal(trace->devices.len, 1);
	kernels = measure_ops(trace, 0, true);
	assert_int_equal(kernels.n, s->kernels);
	assert_int_equal(trace->calls.len, s->calls);
	assert_int_equal(kernels.busy, s->busy_ns);
	if (s->span_ns) {
		assert_int_equal(kernels.last - kernels.first, s->span_ns);
		assert_int_equal(kernels.longest_gap, s->gap_ns);
	}
	check_flaws(&trace->integrity, &s->flaws);
	fw_trace_destroy(trace);
}

static void synthetic_traces_give_what_is_known_of_them(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(synthetic) / sizeof(synthetic[0]); i++)
		check_synthetic(&synthetic[i]);
}

static void unusable_traces_are_refused_or_partial(void **state)
{
	struct fw_error err = { FW_OK, "" };
	struct fw_trace *trace;

	(void)state;
	assert_int_equal(
		fw_import_file(FW_CORPUS "/traces/synthetic/empty.json", NULL, &trace, &err),
		FW_ERR_FORMAT);
	assert_non_null(strstr(err.message, "empty.json: the file is empty"));
	/* 521 bytes can be unpacked: one whole call, and a kernel that is cut. */
	assert_int_equal(
		fw_import_file(FW_CORPUS "/traces/synthetic/truncated.json.gz", NULL, &trace, &err),
		FW_OK);
	assert_int_equal(trace->calls.len, 1);
	assert_int_equal(trace->ops.len, 0);
	assert_int_equal(trace->integrity.truncated, 1);
	fw_trace_destroy(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(synthetic_traces_give_what_is_known_of_them),
		cmocka_unit_test(unusable_traces_are_refused_or_partial),
		cmocka_unit_test(traces_have_the_figures_of_the_ground_truth),
	};

	if (access(FW_CORPUS "/groundtruth_all.tsv", R_OK)) {
		puts("skipped: no corpus at " FW_CORPUS);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
