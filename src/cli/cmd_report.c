/* fullwarp report: traces in, the ledger and the ranked findings out, as text or JSON. */
#include "cli/cmd.h"
#include "cli/duration.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "cli/size.h"
#include "cli/terminal.h"
#include "fullwarp/report.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct arguments {
	bool all, all_devices, all_findings, explain, full_names, kernels;
	const char *format, *gpu, *max_memory, *output, *top, *window;
};

static const char about[] =
	"Why was the GPU not full? Reads recordings (a folder, or its .fwr files) and PyTorch "
	"profiler\n"
	"traces (JSON, also .gz and .zst; - is standard input; a folder or a quoted pattern "
	"stands for\n"
	"the traces in it), gives every nanosecond an owner, and ranks the causes by cost. "
	"Several\n"
	"traces are the ranks of one job.\n";

static int report_failure(const struct fw_error *err)
{
	fprintf(stderr, "fullwarp report: %s\n", err->message);
	return err->code == FW_ERR_ARGUMENT ? 2 : 1;
}

/* On a terminal only: how far reading is, on one line that is wiped at the end. */
static void show_progress(void *user, uint64_t bytes, uint64_t total)
{
	int *shown = user; /* percent, or MB where the total is unknown */
	int now = (int)(total ? bytes * 100 / total : bytes >> 20);

	if (now == *shown)
		return;
	*shown = now;
	fprintf(stderr, "\rreading: %d %s\033[K", now, total ? "%" : "MB");
}

static bool is_format(const char *name)
{
	const char *known;

	for (size_t i = 0; (known = fw_report_format_name(i)); i++)
		if (!strcmp(known, name))
			return true;
	return false;
}

/* Checks the values and fills what the library takes; -1: go on, 2: a mistake, explained. */
static int settle(const struct fw_usage *usage, const struct arguments *args,
		  struct fw_report_options *options, struct fw_report_style *style)
{
	uint64_t top = args->kernels ? UINT_MAX : 0;

	if (!is_format(args->format))
		return fw_usage_error(usage, "--format is text, json or perfetto, not '%s'",
				      args->format);
	if (args->top && !fw_parse_count(args->top, 1, UINT_MAX, &top))
		return fw_usage_error(usage, "--top is a whole number from 1, not '%s'", args->top);
	if (args->all && args->window)
		return fw_usage_error(usage, "--all and --window exclude each other");
	if (args->window) {
		options->has_window = 1;
		if (!fw_parse_window(args->window, &options->window_start_ns,
				     &options->window_end_ns))
			return fw_usage_error(usage,
					      "--window is START,END in ms or with ns, us, ms, s, "
					      "END after START, not '%s'",
					      args->window);
	}
	if (args->max_memory && !fw_parse_size(args->max_memory, &options->max_memory_bytes))
		return fw_usage_error(usage, "--max-memory is a size such as 512M or 2G, not '%s'",
				      args->max_memory);
	options->all = args->all;
	options->gpu = args->gpu;
	style->kernels = (unsigned)top;
	style->columns = fw_terminal_columns();
	style->color = !args->output && fw_terminal_has_color();
	style->ascii = !fw_terminal_is_utf8();
	style->full_names = args->full_names;
	style->only_kernels = args->kernels;
	style->explain = args->explain;
	style->all_findings = args->all_findings;
	style->all_devices = args->all_devices;
	return -1;
}

static int put(void *out, const char *bytes, size_t size)
{
	return fwrite(bytes, 1, size, out) != size;
}

/* The explanation alone, or the report; what standard output loses, main() finds. */
static fw_status write_report(const struct fw_report *report, const struct arguments *args,
			      const struct fw_report_style *style, FILE *out, struct fw_error *err)
{
	fw_status status;
	char *text = NULL;

	if (report)
		return fw_report_write_to(report, args->format, style, put, out, err);
	status = fw_report_explanation(style, &text, err);
	if (!status)
		fputs(text, out);
	free(text);
	return status;
}

/* The same into a file, made only now that there is something to write. */
static int write_out(const struct fw_report *report, const struct arguments *args,
		     const struct fw_report_style *style)
{
	FILE *out = args->output ? fopen(args->output, "w") : stdout;
	struct fw_error err = { 0 };
	fw_status status;
	bool lost;

	if (!out) {
		fprintf(stderr, "fullwarp report: %s: %s\n", args->output, strerror(errno));
		return 1;
	}
	status = write_report(report, args, style, out, &err);
	if (status && status != FW_ERR_IO)
		report_failure(&err);
	if (!args->output)
		return status && status != FW_ERR_IO;
	lost = ferror(out) != 0;
	lost = fclose(out) || lost;
	if (lost)
		fprintf(stderr, "fullwarp report: %s: %s\n", args->output, strerror(errno));
	return lost || status;
}

static fw_status open_report(int argc, char **argv, struct fw_report_options *options,
			     struct fw_report **report, struct fw_error *err)
{
	struct fw_inputs inputs = { .paths = FW_VEC(const char *) };
	fw_status status = FW_OK;
	int shown = -1;

	for (int i = 1; i < argc && !status; i++)
		status = fw_inputs_add(&inputs, argv[i], err);
	if (isatty(STDERR_FILENO)) {
		options->progress = show_progress;
		options->user = &shown;
	}
	if (!status)
		status = fw_report_open(inputs.paths.data, inputs.paths.len, options, report, err);
	if (shown >= 0)
		fputs("\r\033[K", stderr);
	fw_inputs_release(&inputs);
	return status;
}

static int run(const struct arguments *args, int argc, char **argv,
	       struct fw_report_options *options, const struct fw_report_style *style)
{
	struct fw_report *report = NULL;
	struct fw_error err = { 0 };
	int code;

	if (argc >= 2 && open_report(argc, argv, options, &report, &err))
		code = report_failure(&err);
	else
		code = write_out(report, args, style);
	fw_report_close(report);
	return code;
}

int fw_cmd_report(int argc, char **argv)
{
	struct arguments args = { .format = "text" };
	const struct fw_option table[] = {
		{ 0, "all", NULL, "from the first to the last GPU operation, warm-up included",
		  &args.all, NULL },
		{ 0, "window", "START,END",
		  "this part only, in ms from the trace's start, or with a unit", NULL,
		  &args.window },
		{ 0, "gpu", "NAME", "model of a GPU that the trace does not describe, e.g. H200",
		  NULL, &args.gpu },
		{ 0, "top", "N", "rows of the kernel table (15)", NULL, &args.top },
		{ 0, "kernels", NULL, "the kernel table alone, every row unless --top is given",
		  &args.kernels, NULL },
		{ 0, "full-names", NULL, "names as recorded, never shortened", &args.full_names,
		  NULL },
		{ 0, "all-findings", NULL, "every finding in full, not only a GPU's dearest three",
		  &args.all_findings, NULL },
		{ 0, "all-devices", NULL, "a section for every GPU, not only the idlest of many",
		  &args.all_devices, NULL },
		{ 0, "explain", NULL,
		  "what every class and number means; without a TRACE, only that", &args.explain,
		  NULL },
		{ 0, "format", "FORMAT",
		  "text for people, json for programs, perfetto for ui.perfetto.dev", NULL,
		  &args.format },
		{ 0, "max-memory", "SIZE",
		  "of a large trace, keep so much in memory, the rest in files", NULL,
		  &args.max_memory },
		{ 'o', "output", "FILE", "write there instead of to standard output", NULL,
		  &args.output },
	};
	const struct fw_usage usage = { .command = "report",
					.operands = "TRACE...",
					.about = about,
					.options = table,
					.count = sizeof(table) / sizeof(table[0]) };
	struct fw_report_options options = { .struct_size = sizeof(options) };
	struct fw_report_style style = { .struct_size = sizeof(style) };
	int status = fw_options_parse(&usage, &argc, argv);

	if (status < 0)
		status = settle(&usage, &args, &options, &style);
	if (status >= 0)
		return status;
	if (argc < 2 && !args.explain)
		return fw_usage_error(&usage, "no trace given");
	return run(&args, argc, argv, &options, &style);
}
