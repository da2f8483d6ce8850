/* The options that record and run share, and what they say of a program that used no GPU. */
#include "cli/recording.h"

#include "cli/duration.h"
#include "cli/size.h"
#include "gpu/cuda.h"
#include "trace/recording_control.h"

#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void fw_recording_options(struct fw_option *table, struct fw_recording_arguments *args)
{
	const struct fw_option rows[FW_RECORDING_OPTIONS] = {
		{ 'o', "output", "DIR",
		  "folder of the recording; %r: the rank, %h: the host, %p: a number", NULL,
		  &args->folder },
		{ 0, "delay", "T", "begin so long after the program (30s, 5m; no unit: seconds)",
		  NULL, &args->delay },
		{ 0, "duration", "T", "end the recording, not the program, after so long", NULL,
		  &args->duration },
		{ 0, "every", "T", "with --for: record a part of each T only", NULL, &args->every },
		{ 0, "for", "T", "with --every: how long that part is", NULL, &args->every_for },
		{ 0, "signal", "NAME",
		  "record from this signal, sent to fullwarp, to the next one: USR1, USR2...", NULL,
		  &args->signal },
		{ 0, "range", "cuda-profiler",
		  "record only between cudaProfilerStart and cudaProfilerStop", NULL,
		  &args->range },
		{ 0, "kernels", "REGEX", "name only the kernels that match", NULL, &args->kernels },
		{ 0, "max-size", "SIZE", "of each file of the recording, such as 500M", NULL,
		  &args->max_size },
		{ 0, "graphs", "launch|node",
		  "CUDA graphs as a whole, or node by node, which costs more", NULL,
		  &args->graphs },
		{ 0, "syncs", NULL,
		  "GPU-side records of waits and events too; PyTorch may take 80 % longer",
		  &args->syncs, NULL },
		{ 0, "interval", "T", "between samples of the GPU's counters", NULL,
		  &args->interval },
		{ 0, "counters", "SOURCE", "of the GPU's counters, at best: auto, pm, gpm or nvml",
		  NULL, &args->counters },
		{ 0, "python-calls", NULL, "find the lines of Python that wait for the GPU",
		  &args->python_calls, NULL },
		{ 0, "no-python", NULL, "load nothing into Python", &args->no_python, NULL },
		{ 0, "no-counters", NULL, "leave the GPU's counters alone", &args->no_counters,
		  NULL },
		{ 0, "no-host", NULL, "do not watch CPU time, memory and disk", &args->no_host,
		  NULL },
	};

	memcpy(table, rows, sizeof(rows));
}

static int settle_time(const struct fw_usage *usage, const char *name, const char *text,
		       int64_t *ns)
{
	if (text && !fw_parse_duration(text, ns))
		return fw_usage_error(usage, "--%s is a time such as 500ms, 30s or 5m, not '%s'",
				      name, text);
	return -1;
}

/* The times, and how they fit together. */
static int settle_schedule(const struct fw_usage *usage, const struct fw_recording_arguments *args,
			   struct fw_record_options *options)
{
	struct fw_record_schedule *schedule = &options->schedule;
	int status = settle_time(usage, "delay", args->delay, &schedule->delay_ns);

	if (status < 0)
		status = settle_time(usage, "duration", args->duration, &schedule->duration_ns);
	if (status < 0)
		status = settle_time(usage, "every", args->every, &schedule->every_ns);
	if (status < 0)
		status = settle_time(usage, "for", args->every_for, &schedule->for_ns);
	if (status < 0)
		status = settle_time(usage, "interval", args->interval,
				     &options->counter_interval_ns);
	if (status >= 0)
		return status;
	if (!args->every != !args->every_for)
		return fw_usage_error(usage, "--every and --for need each other");
	if (schedule->for_ns > schedule->every_ns)
		return fw_usage_error(usage, "--for %s is longer than --every %s", args->every_for,
				      args->every);
	if (args->interval && (options->counter_interval_ns < 1000000 ||
			       options->counter_interval_ns > INT64_C(60000000000)))
		return fw_usage_error(usage, "--interval is from 1ms to 60s, not '%s'",
				      args->interval);
	return -1;
}

/* Signals that no program needs to stay alive or in order; 0: not one of them. */
static int signal_number(const char *name)
{
	static const struct {
		const char *name;
		int number;
	} known[] = { { "USR1", SIGUSR1 },   { "USR2", SIGUSR2 }, { "HUP", SIGHUP },
		      { "WINCH", SIGWINCH }, { "URG", SIGURG },   { "ALRM", SIGALRM } };

	if (!strncmp(name, "SIG", 3))
		name += 3;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i].name, name))
			return known[i].number;
	return 0;
}

static int settle_kernels(const struct fw_usage *usage, const char *pattern)
{
	char why[200];
	regex_t regex;
	int failed;

	if (strlen(pattern) > FW_REC_KERNELS_BYTES)
		return fw_usage_error(usage, "--kernels is at most %d bytes long, not %zu",
				      FW_REC_KERNELS_BYTES, strlen(pattern));
	failed = regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB);
	if (!failed) {
		regfree(&regex);
		return -1;
	}
	regerror(failed, &regex, why, sizeof(why));
	return fw_usage_error(usage, "--kernels '%s': %s", pattern, why);
}

int fw_recording_settle(const struct fw_usage *usage, const struct fw_recording_arguments *args,
			struct fw_record_options *options)
{
	int status = settle_schedule(usage, args, options);

	if (status < 0 && args->kernels)
		status = settle_kernels(usage, args->kernels);
	if (status >= 0)
		return status;
	if (args->signal) {
		options->signal = signal_number(args->signal);
		options->schedule.by_signal = true;
		if (!options->signal)
			return fw_usage_error(
				usage, "--signal is USR1, USR2, HUP, WINCH, URG or ALRM, not '%s'",
				args->signal);
	}
	if (args->range && strcmp(args->range, "cuda-profiler") != 0)
		return fw_usage_error(usage, "--range is cuda-profiler, not '%s'", args->range);
	if (args->graphs && strcmp(args->graphs, "launch") != 0 &&
	    strcmp(args->graphs, "node") != 0)
		return fw_usage_error(usage, "--graphs is launch or node, not '%s'", args->graphs);
	if (args->counters && !fw_counter_source_parse(args->counters, &options->counter_source))
		return fw_usage_error(usage, "--counters is auto, pm, gpm or nvml, not '%s'",
				      args->counters);
	if (args->max_size && !fw_parse_size(args->max_size, &options->max_bytes))
		return fw_usage_error(usage, "--max-size is a size such as 500M or 2G, not '%s'",
				      args->max_size);
	options->folder = args->folder;
	options->kernels = args->kernels;
	options->cuda_profiler = args->range != NULL;
	options->graph_nodes = args->graphs && !strcmp(args->graphs, "node");
	options->syncs = args->syncs;
	options->python_calls = args->python_calls;
	options->no_python = args->no_python;
	options->no_counters = args->no_counters;
	options->no_host = args->no_host;
	return -1;
}

int fw_recording_failure(const char *command, const struct fw_error *err)
{
	fprintf(stderr, "fullwarp %s: %s\n", command, err->message);
	return err->code == FW_ERR_ARGUMENT ? 2 : 1;
}

/* Programs that start others where this environment does not reach. */
static bool leaves_environment(const char *name)
{
	static const char *const known[] = { "docker", "podman", "nerdctl", "kubectl",
					     "ssh",    "sudo",   "su",      "systemd-run" };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i], name))
			return true;
	return false;
}

static void explain_no_process(const char *command, const char *program)
{
	const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
	struct fw_error err = { 0 };
	struct fw_cuda cuda;
	struct stat info;

	fprintf(stderr, "fullwarp %s: no process called CUDA, so there is nothing to report\n",
		command);
	if (leaves_environment(name)) {
		fprintf(stderr,
			"  %s starts programs without this environment: put fullwarp inside, "
			"before the program\n",
			name);
	} else if (slash && !stat(program, &info) && info.st_mode & (S_ISUID | S_ISGID)) {
		fprintf(stderr,
			"  %s is setuid or setgid: the driver loads nothing into such a program\n",
			program);
	} else if (fw_cuda_open(&cuda, &err)) {
		fprintf(stderr, "  no program can use the GPU here: %s\n", err.message);
	} else {
		fw_cuda_close(&cuda);
		fprintf(stderr,
			"  if it should have: 'fullwarp doctor' looks at the driver and the GPU; a "
			"program linked statically,\n"
			"  or one that was started earlier (a server, a daemon), cannot be "
			"watched\n");
	}
}

bool fw_recording_is_empty(const char *command, const struct fw_record_result *result,
			   const char *program)
{
	if (!result->was_wanted)
		fprintf(stderr,
			"fullwarp %s: nothing was recorded: the program ended before --delay or "
			"--signal let it begin\n",
			command);
	else if (!result->processes)
		explain_no_process(command, program);
	else
		return false;
	return true;
}
