/* fullwarp top: what the GPUs do now, on a screen, once, or for Prometheus. */
#include "cli/cmd.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "cli/top.h"
#include "top/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char about[] =
	"What the GPUs do now: busy as nvidia-smi says it, beside how full the SMs, the tensor\n"
	"pipes and the memory are; clocks, power, the host memory of each process and when it "
	"will\n"
	"be out. What cannot be known is '?', never 0. On a terminal it goes on until q is "
	"pressed.\n";

static int fail(const struct fw_error *err)
{
	fprintf(stderr, "fullwarp top: %s\n", err->message);
	return err->code == FW_ERR_ARGUMENT ? 2 : 1;
}

int64_t fw_top_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void wait_seconds(double seconds)
{
	struct timespec t = { .tv_sec = (time_t)seconds };

	t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

/* The newest reading in the format asked for. */
static int print(const struct fw_top_arguments *args, const struct fw_top *top)
{
	struct fw_view view = { .lines = FW_VEC(struct fw_view_line) };
	struct fw_view_options options = args->view;
	const struct fw_view_line *lines;

	if (!strcmp(args->format, "json")) {
		fw_view_json(&view.text, top);
	} else if (!strcmp(args->format, "csv")) {
		fw_view_csv(&view.text, top);
	} else {
		struct fw_str text = { 0 };

		fw_view_render(&view, top, &options);
		lines = view.lines.data;
		for (size_t i = 0; i < view.lines.len && !view.failed; i++) {
			fw_str_append(&text, view.text.data + lines[i].offset, lines[i].len);
			fw_str_putc(&text, '\n');
		}
		view.failed = view.failed || text.failed;
		fw_str_release(&view.text);
		view.text = text;
	}
	if (view.failed || view.text.failed) {
		fw_view_release(&view);
		fprintf(stderr, "fullwarp top: out of memory\n");
		return 1;
	}
	fputs(fw_str_text(&view.text), stdout);
	fw_view_release(&view);
	return 0;
}

/* Two readings, as counters are of the time between. */
static int run_once(const struct fw_top_arguments *args, struct fw_top *top)
{
	struct fw_error err = { 0 };

	if (fw_top_update(top, fw_top_clock_ns(), &err))
		return fail(&err);
	if (!top->machine.result) {
		wait_seconds(args->view.interval_s);
		if (fw_top_update(top, fw_top_clock_ns(), &err))
			return fail(&err);
	}
	if (top->machine.result) {
		fprintf(stderr, "fullwarp top: no GPU to be seen: %s\n", top->machine.why);
		return 1;
	}
	return print(args, top);
}

/* Seconds with a fraction, 0.2 (GPM is not true over less) to 3600. */
static bool parse_interval(const char *text, double *seconds)
{
	char *end;

	if ((*text < '0' || *text > '9') || strspn(text, "0123456789.") != strlen(text))
		return false;
	*seconds = strtod(text, &end);
	return !*end && *seconds >= 0.2 && *seconds <= 3600;
}

/*
 * A reading costs 3 ms of CPU time and 60 us a PM sample (measured on an H200): forty samples keep it
 * under a hundredth of a core from --interval 1 on.
 */
static int64_t sample_interval_ns(double interval_s)
{
	double ns = interval_s * 1e9 / 40;

	return (int64_t)(ns < 10e6 ? 10e6 : ns > 1e9 ? 1e9 : ns);
}

static int settle_counters(const struct fw_usage *usage, const char *text,
			   const struct fw_top_arguments *args,
			   struct fw_devices_counters *counters)
{
	if (text && !fw_counter_source_parse(text, &counters->source))
		return fw_usage_error(usage, "--counters is auto, pm, gpm or nvml, not '%s'", text);
	/* PM sampling starts the driver here: a shell that is recorded does not mean this program. */
	unsetenv("CUDA_INJECTION64_PATH");
	/* Whoever serves for days must not keep the counters from profilers. */
	counters->spares_pm = args->prometheus != NULL;
	counters->interval_ns = sample_interval_ns(args->view.interval_s);
	return -1;
}

/* -1: go on; 2: a mistake, explained. */
static int settle(const struct fw_usage *usage, const char *interval, struct fw_top_arguments *args)
{
	args->view.interval_s = args->once ? 1 : 2;
	if (interval && !parse_interval(interval, &args->view.interval_s))
		return fw_usage_error(usage, "--interval is 0.2 to 3600 seconds, not '%s'",
				      interval);
	if (strcmp(args->format, "text") != 0 && strcmp(args->format, "json") != 0 &&
	    strcmp(args->format, "csv") != 0)
		return fw_usage_error(usage, "--format is text, json or csv, not '%s'",
				      args->format);
	if (!args->once && strcmp(args->format, "text") != 0)
		return fw_usage_error(usage, "--format %s needs --once", args->format);
	if (args->once && args->prometheus)
		return fw_usage_error(usage, "--once and --prometheus exclude each other");
	args->view.is_ascii = !fw_terminal_is_utf8();
	args->view.columns = fw_terminal_columns();
	if (!args->view.columns)
		args->view.columns = 100;
	return -1;
}

static int run(const struct fw_top_arguments *args, const struct fw_top_options *options)
{
	struct fw_error err = { 0 };
	struct fw_top *top;
	int status;

	if (fw_top_open(&top, options, &err))
		return fail(&err);
	if (args->once)
		status = run_once(args, top);
	else if (args->prometheus)
		status = fw_top_export(args, top);
	else
		status = fw_top_live(args, top);
	fw_top_close(top);
	return status;
}

int fw_cmd_top(int argc, char **argv)
{
	struct fw_top_arguments args = { .format = "text" };
	struct fw_top_options options = { .nvml = NULL };
	const char *interval = NULL, *counters = NULL;
	const struct fw_option table[] = {
		{ 0, "once", NULL, "two readings, one result, no screen", &args.once, NULL },
		{ 0, "format", "FORMAT", "of --once: text, json or csv", NULL, &args.format },
		{ 0, "interval", "S", "seconds between readings (2; with --once 1), from 0.2", NULL,
		  &interval },
		{ 0, "prometheus", "A:PORT",
		  "serve /metrics and /healthz at address A; :PORT is loopback", NULL,
		  &args.prometheus },
		{ 0, "counters", "SOURCE",
		  "auto, pm (CUPTI's PM sampling), gpm (NVML's GPM) or nvml (none)", NULL,
		  &counters },
		{ 0, "root", "DIR", "read /proc and /sys below DIR (a host's, in a container)",
		  NULL, &options.root },
		{ 0, "nvml", "FILE", "another libnvidia-ml.so.1 than the loader finds", NULL,
		  &options.nvml },
		{ 0, "cupti", "FILE", "another libcupti than is looked for", NULL,
		  &options.counters.cupti },
	};
	const struct fw_usage usage = { .command = "top",
					.operands = "",
					.about = about,
					.options = table,
					.count = sizeof(table) / sizeof(table[0]) };
	int status = fw_options_parse(&usage, &argc, argv);

	if (status < 0 && argc > 1)
		status = fw_usage_error(&usage, "it takes no operand, such as '%s'", argv[1]);
	if (status < 0)
		status = settle(&usage, interval, &args);
	if (status < 0)
		status = settle_counters(&usage, counters, &args, &options.counters);
	if (status >= 0)
		return status;
	return run(&args, &options);
}
