/* The report's text and JSON of a trace and ledger put together by hand. */
#include "report/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"

#define DEVICES 6

struct fixture {
	struct fw_report report;
	struct fw_ledger ledger;
	struct fw_device_ledger devices[DEVICES];
	struct fw_kernel_row kernels[2];
	struct fw_copy_total copy;
};

static uint32_t intern(struct fw_trace *trace, const char *text)
{
	return fw_trace_intern(trace, text, strlen(text), NULL);
}

static void add_file(struct fw_trace *trace, const char *path, int32_t rank)
{
	uint32_t file = fw_trace_add_files(trace), device;

	trace->files.path[file] = intern(trace, path);
	trace->files.rank[file] = rank;
	device = fw_trace_device(trace, file, 0);
	trace->devices.cc[device] = -1;
	trace->devices.sms[device] = -1;
}

static void add_finding(struct fixture *f, const char *title)
{
	struct fw_finding *finding = fw_vec_push(&f->report.findings.list);
	struct fw_evidence *evidence;
	struct fw_change *change;

	*finding = (struct fw_finding){ .id = "made-up",
					.title = title,
					.cost_ns = 600000,
					.share = 0.6,
					.at_most_ns = -1,
					.evidence = FW_VEC(struct fw_evidence),
					.changes = FW_VEC(struct fw_change),
					.no_prediction = "nothing replays the trace yet" };
	evidence = fw_vec_push(&finding->evidence);
	*evidence = (struct fw_evidence){ "waits", "3", title };
	change = fw_vec_push(&finding->changes);
	*change = (struct fw_change){ "Do it.", "a = 1\nb = 2", NULL, NULL };
}

/* A window of 1 ms: 400 us compute, 600 us input; one kernel named `name`. */
static void set_up(struct fixture *f, const char *name, size_t devices)
{
	struct fw_trace *trace;

	memset(f, 0, sizeof(*f));
	assert_int_equal(fw_trace_create(&trace, NULL), FW_OK);
	trace->source = FW_SOURCE_KINETO;
	trace->integrity.first_flaw_offset = UINT64_MAX;
	for (size_t i = 0; i < devices; i++)
		add_file(trace, i ? "rank1.json" : "rank0.json", devices > 1 ? (int32_t)i : -1);
	f->kernels[0] = (struct fw_kernel_row){ .name = intern(trace, name),
						.shape = FW_NONE,
						.count = 2,
						.total_ns = 400000,
						.occupancy = -1,
						.fill = FW_FILL_UNKNOWN };
	for (size_t i = 0; i < devices; i++) {
		struct fw_device_ledger *device = &f->devices[i];

		device->device = (uint32_t)i;
		device->window = (struct fw_window){ 500000, 1500000, FW_WINDOW_ALL, -1, 0 };
		device->ns[FW_CLASS_COMPUTE] = 400000;
		device->ns[FW_CLASS_INPUT] = 600000;
		device->fill_ns[FW_FILL_UNKNOWN] = 400000;
		device->kernel_busy_ns = 400000;
		device->kernels = f->kernels;
		device->kernel_count = 1;
	}
	f->copy = (struct fw_copy_total){ "HtoD (Host -> Device)", 2, -1 };
	f->devices[0].copies = &f->copy;
	f->devices[0].copy_count = 1;
	f->ledger = (struct fw_ledger){ .trace = trace,
					.devices = f->devices,
					.device_count = devices };
	f->report = (struct fw_report){ .trace = trace,
					.ledger = &f->ledger,
					.findings = { .list = FW_VEC(struct fw_finding),
						      .unable = FW_VEC(struct fw_unable) },
					.verdict = "A sentence." };
	add_finding(f, name);
}

static void tear_down(struct fixture *f)
{
	struct fw_finding *findings = f->report.findings.list.data;

	for (size_t i = 0; i < f->report.findings.list.len; i++) {
		fw_vec_release(&findings[i].evidence);
		fw_vec_release(&findings[i].changes);
	}
	fw_vec_release(&f->report.findings.list);
	fw_trace_destroy(f->report.trace);
}

static char *text_of(struct fixture *f, struct fw_report_style style)
{
	char *text;

	style.struct_size = sizeof(style);
	assert_int_equal(fw_report_write(&f->report, "text", &style, &text, NULL), FW_OK);
	return text;
}

static void assert_utf8(const char *text)
{
	for (size_t i = 0, len = strlen(text), n; i < len; i += n) {
		n = fw_utf8_length(text + i, len - i);
		assert_true(n > 0);
	}
}

static void assert_lines_fit(const char *text, size_t columns)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		assert_true(fw_utf8_width(text, len) <= columns);
		text += len + (text[len] == '\n');
	}
}

static void the_ledger_is_a_table_that_sums(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	set_up(&f, "k", 1);
	text = text_of(&f, (struct fw_report_style){ .columns = 100, .ascii = 1 });
	assert_non_null(strstr(text, "A sentence."));
	assert_non_null(strstr(text, "GPU busy 40.0 %"));
	assert_non_null(strstr(text, "idle 60.0 %"));
	assert_non_null(strstr(text, "    compute                  0.400 ms  40.0 %  ####"));
	assert_non_null(strstr(text, "    input                    0.600 ms  60.0 %  ####"));
	assert_non_null(strstr(text, "  window                     1.000 ms 100.0 %\n"));
	assert_null(strstr(text, "copy-h2d"));
	free(text);
	tear_down(&f);
}

static void unknown_is_never_a_number(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	set_up(&f, "k", 1);
	text = text_of(&f, (struct fw_report_style){ .columns = 100, .ascii = 1 });
	assert_non_null(strstr(text, "full (model) unknown"));
	assert_non_null(strstr(text, "gain       unknown"));
	assert_non_null(strstr(text, "model unknown"));
	free(text);
	tear_down(&f);
}

static void lines_fit_any_width(void **state)
{
	/* Wide characters, a word longer than any line, and a template name. */
	static const char *const names[] = {
		"矩阵乘法核函数矩阵乘法核函数矩阵乘法核函数矩阵乘法核函数矩阵乘法核函数矩阵乘法核函"
		"数",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		"aaaaaaaa"
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		"aaaaaaaa",
		"void at::native::fill<4, at::native::Op<float>, std::array<char*, 3ul> >(int, "
		"float)",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (unsigned columns = 80; columns <= 140; columns += 1 + columns % 7)
			for (int full = 0; full < 2; full++) {
				struct fw_report_style style = { .columns = columns,
								 .full_names = full,
								 .ascii = full,
								 .explain = 1 };
				struct fixture f;
				char *text;

				set_up(&f, names[i], 1);
				text = text_of(&f, style);
				assert_utf8(text);
				assert_lines_fit(text, columns);
				free(text);
				tear_down(&f);
			}
}

static void hostile_names_are_harmless(void **state)
{
	/* An escape sequence, a C1 control, a writing-direction mark, bytes that are not UTF-8. */
	static const char hostile[] = "evil\033[2J\a\xc2\x9b"
				      "31m\xe2\x80\xae\xff\xfe(\x80";
	struct fixture f;
	char *text;

	(void)state;
	set_up(&f, hostile, 1);
	text = text_of(&f, (struct fw_report_style){ .columns = 100 });
	assert_utf8(text);
	assert_null(strchr(text, '\033'));
	assert_null(strchr(text, '\a'));
	assert_null(strstr(text, "\xc2\x9b"));
	assert_null(strstr(text, "\xe2\x80\xae"));
	free(text);
	assert_int_equal(fw_report_write(&f.report, "json", NULL, &text, NULL), FW_OK);
	assert_utf8(text);
	assert_null(strchr(text, '\033'));
	free(text);
	tear_down(&f);
}

static void colours_come_only_when_asked_for(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	set_up(&f, "k", 1);
	text = text_of(&f, (struct fw_report_style){ .color = 1 });
	assert_non_null(strchr(text, '\033'));
	free(text);
	text = text_of(&f, (struct fw_report_style){ 0 });
	assert_null(strchr(text, '\033'));
	free(text);
	tear_down(&f);
}

static size_t count_of(const char *text, const char *part)
{
	size_t n = 0;

	for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
		n++;
	return n;
}

static void several_devices_begin_with_a_summary(void **state)
{
	struct fixture f;
	char *text, *summary, *section;

	(void)state;
	set_up(&f, "k", 2);
	text = text_of(&f, (struct fw_report_style){ .columns = 120 });
	summary = strstr(text, "  rank1\n");
	section = strstr(text, "Where the time went");
	assert_non_null(summary);
	assert_non_null(section);
	assert_true(summary < section);
	assert_int_equal(count_of(text, "Where the time went"), 2);
	free(text);
	tear_down(&f);
}

/* Of six devices the third and the second are idlest, then the others in their order. */
static void of_many_devices_the_idlest_are_shown(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	set_up(&f, "k", DEVICES);
	for (unsigned i = 1; i < 3; i++) {
		f.devices[i].ns[FW_CLASS_COMPUTE] -= 100000 * i;
		f.devices[i].ns[FW_CLASS_INPUT] += 100000 * i;
	}
	text = text_of(&f, (struct fw_report_style){ .columns = 100 });
	assert_non_null(strstr(text,
			       "In detail: the 3 of 6 that were idle most: GPU 0 of rank 2, GPU "
			       "0 of rank 1, GPU 0 of rank 0."));
	assert_int_equal(count_of(text, "Where the time went"), 3);
	assert_non_null(strstr(text, "     5    0       1.0   40.0   60.0    0.0"));
	free(text);
	text = text_of(&f, (struct fw_report_style){ .columns = 100, .all_devices = 1 });
	assert_int_equal(count_of(text, "Where the time went"), DEVICES);
	assert_null(strstr(text, "In detail"));
	free(text);
	tear_down(&f);
}

/* Beside the dearest only what costs 10 % and can gain 1 % stands in full; at most three do. */
static void small_findings_are_lines(void **state)
{
	static const struct {
		double share;
		int64_t at_most_ns;
		bool in_full;
	} rows[] = { { 0.6, 600000, true }, { 0.5, 9999, false },   { 0.4, 10000, true },
		     { 0.3, -1, true },     { 0.2, 200000, false }, { 0.05, 50000, false } };
	struct fixture f;
	char *text;

	(void)state;
	set_up(&f, "k", 1);
	for (size_t i = 1; i < sizeof(rows) / sizeof(rows[0]); i++)
		add_finding(&f, "k");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fw_finding *finding = (struct fw_finding *)f.report.findings.list.data + i;

		finding->share = rows[i].share;
		finding->at_most_ns = rows[i].at_most_ns;
	}
	text = text_of(&f, (struct fw_report_style){ .columns = 100 });
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char cost[64];

		snprintf(cost, sizeof(cost), "cost       600 us, %.1f %%", rows[i].share * 100);
		assert_int_equal(!!strstr(text, cost), rows[i].in_full);
	}
	assert_non_null(strstr(text, "\n4.  50.0 %    1.0 %  k [made-up]\n"));
	/* The same code is not printed again. */
	assert_int_equal(count_of(text, "a = 1"), 1);
	assert_int_equal(count_of(text, "as in finding 1"), 2);
	free(text);
	text = text_of(&f, (struct fw_report_style){ .columns = 100, .all_findings = 1 });
	assert_int_equal(count_of(text, "   cost       600 us"), 6);
	free(text);
	tear_down(&f);
}

/* Where every change gains nothing, the dearest still stands in full. */
static void one_finding_is_always_in_full(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	set_up(&f, "k", 1);
	((struct fw_finding *)f.report.findings.list.data)->at_most_ns = 0;
	text = text_of(&f, (struct fw_report_style){ .columns = 100 });
	assert_non_null(strstr(text, "1. k [made-up]"));
	assert_null(strstr(text, "others"));
	free(text);
	tear_down(&f);
}

static void the_kernel_table_has_fifteen_rows_unless_asked(void **state)
{
	struct fw_kernel_row rows[20];
	struct fixture f;
	char *text;

	(void)state;
	set_up(&f, "k", 1);
	for (size_t i = 0; i < 20; i++)
		rows[i] = f.kernels[0];
	f.devices[0].kernels = rows;
	f.devices[0].kernel_count = 20;
	text = text_of(&f, (struct fw_report_style){ .columns = 100 });
	assert_non_null(strstr(text, "Kernels by time: 15 of 20"));
	free(text);
	text = text_of(&f, (struct fw_report_style){ .columns = 100, .kernels = 3 });
	assert_non_null(strstr(text, "Kernels by time: 3 of 20"));
	free(text);
	tear_down(&f);
}

static void json_has_the_names_of_the_contract(void **state)
{
	static const char *const parts[] = {
		"{\n  \"schema\": 1,\n  \"trace\": {\n    \"source\": \"kineto\",\n    \"files\": "
		"[\n"
		"      \"rank0.json\"\n    ],\n    \"integrity\": {\n      \"events\": 0,\n",
		"      \"first_flaw_offset\": null\n    },\n    \"blind_spots\": [],\n"
		"    \"refused\": [],\n    \"recording\": null\n  },\n",
		"      \"id\": 0,\n      \"rank\": null,\n      \"host\": null,\n"
		"      \"file\": \"rank0.json\",\n      \"name\": null,\n      \"cc\": null,\n"
		"      \"sms\": null,\n      \"all\": {\n        \"kernels\": 0,\n",
		"        \"memcpy\": [\n          {\n            \"kind\": \"HtoD (Host -> "
		"Device)\",\n"
		"            \"count\": 2,\n            \"bytes\": null\n          }\n        ],\n"
		"        \"memsets\": 0,\n        \"streams\": 0,\n        \"syncs\": 0,\n"
		"        \"sync_ns\": 0\n      },\n      \"window\": {\n        \"start_ns\": "
		"500000,\n"
		"        \"end_ns\": 1500000,\n        \"duration_ns\": 1000000,\n"
		"        \"steps\": null\n      },\n",
		"        {\n          \"class\": \"input\",\n          \"ns\": 600000\n        "
		"},\n",
		"          \"class\": \"unknown\",\n          \"ns\": 400000\n",
		"    {\n      \"id\": \"made-up\",\n      \"device\": 0,\n      \"title\": \"k\",\n"
		"      \"cost_ns\": 600000,\n      \"share\": 0.6,\n      \"at_most_ns\": null,\n",
		"      \"prediction\": null\n    }\n  ]\n}\n",
	};
	struct fixture f;
	char *text, *at;

	(void)state;
	set_up(&f, "k", 1);
	assert_int_equal(fw_report_write(&f.report, "json", NULL, &text, NULL), FW_OK);
	at = text;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		at = strstr(at, parts[i]);
		assert_non_null(at);
		at += strlen(parts[i]);
	}
	assert_int_equal(*at, '\0');
	free(text);
	tear_down(&f);
}

/* The hand-made example: examples/README.md works its ledger out by hand. */
static void the_handle_reads_a_trace(void **state)
{
	const char *paths[] = { FW_SOURCE "/examples/handmade.json" };
	struct fw_report_options options = { .struct_size = sizeof(options), .all = 1 };
	struct fw_report *report;
	char *text;

	(void)state;
	assert_int_equal(fw_report_open(paths, 1, &options, &report, NULL), FW_OK);
	assert_int_equal(fw_report_write(report, "json", NULL, &text, NULL), FW_OK);
	assert_non_null(strstr(text, "\"duration_ns\": 33065000"));
	free(text);
	assert_int_equal(fw_report_write(report, "text", NULL, &text, NULL), FW_OK);
	assert_non_null(strstr(text, "input                   18.000 ms  54.4 %"));
	free(text);
	fw_report_close(report);
}

/* A caller built against an older header passes a shorter struct: the rest has its default. */
static void older_callers_are_understood(void **state)
{
	const char *paths[] = { FW_SOURCE "/examples/handmade.json" };
	struct fw_report_options options = { .struct_size = offsetof(struct fw_report_options, gpu),
					     .gpu = "never looked at" };
	struct fw_report *report;

	(void)state;
	assert_int_equal(fw_report_open(paths, 1, &options, &report, NULL), FW_OK);
	fw_report_close(report);
}

static void windows_that_miss_everything_are_refused(void **state)
{
	const char *paths[] = { FW_SOURCE "/examples/handmade.json" };
	struct fw_report_options options = { .struct_size = sizeof(options),
					     .has_window = 1,
					     .window_start_ns = 39165000,
					     .window_end_ns = 50000000 };
	struct fw_report *report;

	(void)state;
	assert_int_equal(fw_report_open(paths, 1, &options, &report, NULL), FW_ERR_ARGUMENT);
	options.window_start_ns--;
	assert_int_equal(fw_report_open(paths, 1, &options, &report, NULL), FW_OK);
	fw_report_close(report);
}

static void structs_without_their_size_are_refused(void **state)
{
	struct fw_report_style style = { 0 };
	struct fw_report_options options = { 0 };
	const char *path = "none.json";
	struct fw_report *report;
	char *text;

	(void)state;
	assert_int_equal(fw_report_explanation(&style, &text, NULL), FW_ERR_ARGUMENT);
	assert_int_equal(fw_report_write(NULL, "json", &style, &text, NULL), FW_ERR_ARGUMENT);
	assert_int_equal(fw_report_write(NULL, "none", NULL, &text, NULL), FW_ERR_ARGUMENT);
	assert_int_equal(fw_report_open(&path, 1, &options, &report, NULL), FW_ERR_ARGUMENT);
	assert_int_equal(fw_report_open(NULL, 0, NULL, &report, NULL), FW_ERR_ARGUMENT);
	assert_null(report);
	fw_report_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_ledger_is_a_table_that_sums),
		cmocka_unit_test(unknown_is_never_a_number),
		cmocka_unit_test(lines_fit_any_width),
		cmocka_unit_test(hostile_names_are_harmless),
		cmocka_unit_test(colours_come_only_when_asked_for),
		cmocka_unit_test(several_devices_begin_with_a_summary),
		cmocka_unit_test(of_many_devices_the_idlest_are_shown),
		cmocka_unit_test(small_findings_are_lines),
		cmocka_unit_test(one_finding_is_always_in_full),
		cmocka_unit_test(the_kernel_table_has_fifteen_rows_unless_asked),
		cmocka_unit_test(json_has_the_names_of_the_contract),
		cmocka_unit_test(the_handle_reads_a_trace),
		cmocka_unit_test(older_callers_are_understood),
		cmocka_unit_test(windows_that_miss_everything_are_refused),
		cmocka_unit_test(structs_without_their_size_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
