/*
 * Every trace of the corpus, under a sanitizer those of up to LARGEST_BYTES: the classes sum to the
 * window, and on the H200 recordings the idle time inside loader waits is what a plain count found.
 */
#include "import/import.h"
#include "ledger/ledger_private.h"

#include <ftw.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* A sanitizer finds no more in the long traces; corpus.reports reads them under it too. */
#ifdef FW_SANITIZED
#define LARGEST_BYTES 500000
#define LEAST_LEDGERS 110
#else
#define LARGEST_BYTES LONG_MAX
#define LEAST_LEDGERS 150
#endif

static struct fw_trace *read_trace(const char *path)
{
	struct fw_trace *t = NULL;

	if (!fw_import_file(path, NULL, &t, NULL))
		return t;
	fw_trace_destroy(t);
	return NULL;
}

static struct fw_ledger *build(const struct fw_trace *t, bool all, const char *path)
{
	struct fw_ledger_options options = { .all = all };
	struct fw_error err = { 0 };
	struct fw_ledger *l;

	if (fw_ledger_build(t, &options, &l, &err))
		fail_msg("%s: %s", path, err.message);
	return l;
}

static int traces, devices;

static void check_sums(const struct fw_trace *t, bool all, const char *path)
{
	struct fw_ledger *l = build(t, all, path);

	traces++;
	for (size_t i = 0; i < l->device_count; i++, devices++) {
		const struct fw_device_ledger *d = &l->devices[i];
		int64_t sum = 0, window = d->window.end_ns - d->window.start_ns;
		int64_t idle[FW_CLASS_COUNT] = { 0 };

		for (int c = 0; c < FW_CLASS_COUNT; c++)
			sum += d->ns[c];
		if (sum != window || window < 0)
			fail_msg("%s: %lld of %lld", path, (long long)sum, (long long)window);
		for (size_t p = 0; p < d->idle_count; p++)
			idle[d->idle[p].class_id] += d->idle[p].end_ns - d->idle[p].start_ns;
		for (int c = FW_CLASS_LAUNCH_LATENCY; c < FW_CLASS_COUNT; c++)
			assert_int_equal(idle[c], d->ns[c]);
		if (all) {
			assert_int_equal(window, d->totals.span_ns);
			assert_int_equal(d->gpu_busy_ns, d->totals.gpu_busy_ns);
			assert_int_equal(d->kernel_busy_ns, d->totals.kernel_busy_ns);
		}
	}
	fw_ledger_destroy(l);
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *where)
{
	struct fw_trace *t;

	(void)where;
	if (type != FTW_F || st->st_size > LARGEST_BYTES || !strstr(path, ".json"))
		return 0;
	t = read_trace(path);
	if (t && t->ops.len) {
		check_sums(t, true, path);
		check_sums(t, false, path);
	}
	fw_trace_destroy(t);
	return 0;
}

static void every_trace_sums_to_its_window(void **state)
{
	(void)state;
	assert_int_equal(nftw(FW_CORPUS "/traces", visit, 16, FTW_PHYS), 0);
	print_message("%d ledgers of %d devices\n", traces, devices);
	assert_true(traces >= LEAST_LEDGERS);
}

/* Idle time of the device while any thread waits for the loader, as a share of the span. */
static double loader_share(const struct fw_ledger *l, struct fw_intervals *waits)
{
	const struct fw_device_ledger *d = &l->devices[0];
	struct fw_intervals idle = { 0 }, both = { 0 };
	double share;

	for (uint32_t i = 0; i < l->trace->threads.len; i++)
		assert_true(fw_thread_class(l, i, FW_CLASS_INPUT, waits));
	fw_intervals_merge(waits);
	for (size_t i = 0; i < d->idle_count; i++)
		assert_true(fw_intervals_add(&idle, d->idle[i].start_ns, d->idle[i].end_ns));
	fw_intervals_merge(&idle);
	assert_true(fw_intervals_intersect(&both, &idle, waits));
	share = (double)fw_intervals_length(&both) / (double)d->totals.span_ns;
	fw_intervals_release(&idle);
	fw_intervals_release(&both);
	return share;
}

static void idle_time_in_loader_waits_on_the_h200(void **state)
{
	/* Counted apart from this program; train-*: under 1 %. */
	static const struct {
		const char *name;
		double low, high;
	} cases[] = {
		{ "before", 0.752, 0.762 },       { "workers8", 0.021, 0.031 },
		{ "workers8-pin", 0.001, 0.011 }, { "after", 0.001, 0.011 },
		{ "after-half", 0.225, 0.235 },   { "after-compiled", 0.630, 0.640 },
		{ "train-item", 0, 0.01 },        { "train-noitem", 0, 0.01 },
		{ "train-fused", 0, 0.01 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fw_intervals waits = { 0 };
		struct fw_trace *t;
		struct fw_ledger *l;
		struct stat st;
		char path[4096];
		double share;

		snprintf(path, sizeof(path), FW_CORPUS "/traces/h200/%s.json.gz", cases[i].name);
		if (!stat(path, &st) && st.st_size > LARGEST_BYTES)
			continue;
		t = read_trace(path);
		assert_non_null(t);
		l = build(t, true, path);
		share = loader_share(l, &waits);
		print_message("%-15s idle in loader waits %5.1f %%, class input %5.1f %%\n",
			      cases[i].name, 100 * share,
			      100.0 * (double)l->devices[0].ns[FW_CLASS_INPUT] /
				      (double)l->devices[0].totals.span_ns);
		if (share < cases[i].low || share > cases[i].high)
			fail_msg("%s: %.4f is not in %.3f to %.3f", cases[i].name, share,
				 cases[i].low, cases[i].high);
		fw_intervals_release(&waits);
		fw_ledger_destroy(l);
		fw_trace_destroy(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_trace_sums_to_its_window),
		cmocka_unit_test(idle_time_in_loader_waits_on_the_h200),
	};

	if (access(FW_CORPUS "/traces", R_OK)) {
		printf("skipped: no corpus at %s\n", FW_CORPUS);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
