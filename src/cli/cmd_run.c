/* fullwarp run: records a program, then reports why the GPU was not full. */
#include "base/str.h"
#include "cli/cmd.h"
#include "cli/recording.h"
#include "fullwarp/report.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char about[] =
	"Runs a program, unchanged, records what it does on the GPU, and says why the GPU was "
	"not full.\n"
	"The report goes to standard error, or to --report FILE: standard output is the "
	"program's own,\n"
	"and so is the exit status. The recording is kept with -o only.\n";

/* What is passed on to fullwarp report. */
struct reporting {
	const char *report, *format, *top;
	bool all, all_findings, all_devices, full_names;
};

#define REPORT_OPTIONS 7
#define OPTIONS        (FW_RECORDING_OPTIONS + REPORT_OPTIONS)

static void report_options(struct fw_option *table, struct reporting *args)
{
	const struct fw_option rows[REPORT_OPTIONS] = {
		{ 0, "report", "FILE", "write the report there instead of to standard error", NULL,
		  &args->report },
		{ 0, "format", "FORMAT", "of the report: text, json...", NULL, &args->format },
		{ 0, "top", "N", "rows of the kernel table", NULL, &args->top },
		{ 0, "all", NULL, "report on everything, warm-up included", &args->all, NULL },
		{ 0, "all-findings", NULL, "every finding in full", &args->all_findings, NULL },
		{ 0, "all-devices", NULL, "a section for every GPU", &args->all_devices, NULL },
		{ 0, "full-names", NULL, "names as recorded, never shortened", &args->full_names,
		  NULL },
	};

	memcpy(table, rows, sizeof(rows));
}

static void note(void *user, const char *message)
{
	(void)user;
	fprintf(stderr, "fullwarp run: %s\n", message);
}

/* A new folder below TMPDIR, for free(), and as a pattern in *pattern; NULL: it cannot be made. */
static char *make_temporary(struct fw_str *pattern)
{
	const char *tmp = getenv("TMPDIR");
	struct fw_str name = { 0 };

	fw_str_printf(&name, "%s/fullwarp-run-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (name.failed || !mkdtemp(name.data)) {
		fprintf(stderr,
			"fullwarp run: %s: %s; the recording is made in the current folder and "
			"kept\n",
			fw_str_text(&name), strerror(errno));
		fw_str_release(&name);
		return NULL;
	}
	for (const char *p = name.data; *p; p++) {
		if (*p == '%')
			fw_str_putc(pattern, '%');
		fw_str_putc(pattern, *p);
	}
	return fw_str_detach(&name);
}

/* A recording has no folders below it. */
static void remove_folder(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(path);
}

/* Whether a report on standard error got there; one that did not must not become the program's status. */
static int flush_report(int status)
{
	int why;

	if (!fflush(stdout) && !ferror(stdout))
		return status;
	why = errno;
	if (!freopen("/dev/null", "w", stdout))
		clearerr(stdout);
	if (why == EPIPE) /* the reader, e.g. head, has seen enough */
		return 0;
	fprintf(stderr, "fullwarp run: cannot write the report: %s\n", strerror(why));
	return 1;
}

/* fullwarp report of the folder, on standard error unless it goes to a file. */
static int report(const struct reporting *args, const char *folder)
{
	const char *argv[16] = { "report" };
	int argc = 1;

	if (args->report) {
		argv[argc++] = "-o";
		argv[argc++] = args->report;
	} else {
		fflush(stdout);
		if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
			return 1;
	}
	if (args->format) {
		argv[argc++] = "--format";
		argv[argc++] = args->format;
	}
	if (args->top) {
		argv[argc++] = "--top";
		argv[argc++] = args->top;
	}
	if (args->all)
		argv[argc++] = "--all";
	if (args->all_findings)
		argv[argc++] = "--all-findings";
	if (args->all_devices)
		argv[argc++] = "--all-devices";
	if (args->full_names)
		argv[argc++] = "--full-names";
	argv[argc++] = "--";
	argv[argc++] = folder;
	return flush_report(fw_cmd_report(argc, (char **)argv));
}

/* Reports what was recorded; true: the recording is of no more use. */
static bool conclude(const struct reporting *args, const struct fw_record_result *result,
		     const char *program, bool is_kept)
{
	if (!result->is_recorded || !result->folder ||
	    fw_recording_is_empty("run", result, program))
		return true;
	if (!report(args, result->folder) && !is_kept)
		return true;
	fprintf(stderr, "fullwarp run: the recording is in %s\n", result->folder);
	return false;
}

static int record(struct fw_record_options *options, const struct reporting *args)
{
	struct fw_str pattern = { 0 };
	struct fw_record_result result;
	struct fw_error err = { 0 };
	char *temporary = NULL;
	bool is_done = true;
	int status;

	if (!options->folder) {
		temporary = make_temporary(&pattern);
		options->folder = temporary ? fw_str_text(&pattern) : NULL;
	}
	if (fw_record(options, &result, &err)) {
		status = fw_recording_failure("run", &err);
	} else {
		is_done = conclude(args, &result, options->command[0], !temporary);
		status = result.status;
		fw_record_result_release(&result);
	}
	if (temporary && is_done)
		remove_folder(temporary);
	free(temporary);
	fw_str_release(&pattern);
	return status;
}

/* Mistakes are found before the program runs, not after; -1: there is none. */
static int settle_report(const struct fw_usage *usage, const struct reporting *args)
{
	const char *known = NULL;
	uint64_t count;

	for (size_t i = 0; args->format && (known = fw_report_format_name(i)); i++)
		if (!strcmp(known, args->format))
			break;
	if (args->format && !known)
		return fw_usage_error(usage, "there is no report --format '%s'", args->format);
	if (args->top && !fw_parse_count(args->top, 1, UINT_MAX, &count))
		return fw_usage_error(usage, "--top is a whole number from 1, not '%s'", args->top);
	return -1;
}

int fw_cmd_run(int argc, char **argv)
{
	struct fw_recording_arguments args = { 0 };
	struct reporting reporting = { 0 };
	struct fw_record_options options = { .note = note };
	struct fw_option table[OPTIONS];
	const struct fw_usage usage = { .command = "run",
					.operands = "[--] COMMAND [ARGUMENT...]",
					.about = about,
					.options = table,
					.count = OPTIONS,
					.ends_at_operand = true };
	int status;

	fw_recording_options(table, &args);
	report_options(table + FW_RECORDING_OPTIONS, &reporting);
	status = fw_options_parse(&usage, &argc, argv);
	if (status < 0)
		status = fw_recording_settle(&usage, &args, &options);
	if (status < 0)
		status = settle_report(&usage, &reporting);
	if (status >= 0)
		return status;
	if (argc < 2)
		return fw_usage_error(&usage, "no program given");
	argv[argc] = NULL; /* parsing moved the operands to the front */
	options.command = argv + 1;
	return record(&options, &reporting);
}
