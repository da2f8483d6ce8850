/* fullwarp tune: the fastest correct launch configuration of a kernel. */
#include "cli/cmd.h"
#include "cli/duration.h"
#include "cli/tune.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char about[] =
	"Finds the fastest correct launch configuration of a CUDA kernel on this GPU: compiles, "
	"checks "
	"and\n"
	"times configurations of the space that `// fullwarp:` lines of the source describe, or "
	"with "
	"--n\n"
	"every block size of a kernel without such lines. Prints the best with their intervals and "
	"the lines\n"
	"to paste. --simulate and --from need no GPU.\n";

int fw_tune_failure(const struct fw_error *err)
{
	fprintf(stderr, "fullwarp tune: %s\n", err->message);
	return 1;
}

static bool is_strategy(const char *name)
{
	const char *known;

	for (size_t i = 0; (known = fw_tune_strategy_name(i)); i++)
		if (!strcmp(name, known))
			return true;
	return !strcmp(name, "auto");
}

/* "200" configurations, or "90s". */
static bool parse_budget(const char *text, struct fw_tune_settings *settings)
{
	int64_t ns;

	if (fw_parse_count(text, 1, INT64_MAX, &settings->budget))
		return true;
	settings->budget = 0;
	if (!fw_parse_duration(text, &ns))
		return false;
	settings->limit_s = (double)ns * 1e-9;
	return true;
}

/* Whole numbers of the command line; NULL: all are right, else what one must be. */
static const char *parse_numbers(const struct fw_tune_arguments *args,
				 struct fw_tune_settings *settings)
{
	if (!fw_parse_count(args->device, 0, 1023, &settings->device))
		return "--device is the number of a GPU, from 0";
	if (args->jobs && !fw_parse_count(args->jobs, 1, 256, &settings->jobs))
		return "--jobs is a whole number from 1 to 256";
	if (args->n && !fw_parse_count(args->n, 1, INT64_MAX / 1024, &settings->n))
		return "--n is a whole number from 1";
	if (!fw_parse_count(args->runs, 1, 1000, &settings->runs))
		return "--runs is a whole number from 1 to 1000";
	if (!fw_parse_count(args->seed, 0, UINT64_MAX, &settings->seed))
		return "--seed is a whole number";
	if (!fw_parse_count(args->top, 1, 100000, &settings->top))
		return "--top is a whole number from 1";
	return NULL;
}

/* What excludes each other; NULL: nothing does. */
static const char *find_conflict(const struct fw_tune_arguments *args)
{
	if (!!args->from + !!args->simulate + args->init > 1)
		return "--from, --simulate and --init exclude each other";
	if (args->kernel && !args->n && !args->init)
		return "--kernel goes with --n: a source with // fullwarp: lines names its kernel";
	if (args->exhaustive && (args->strategy || args->thorough))
		return "--exhaustive excludes --strategy and --thorough";
	if (args->thorough && args->budget)
		return "--thorough is a budget of 400; it excludes --budget";
	if (args->no_cache && (args->cache || args->resume || args->fresh))
		return "--no-cache excludes --cache, --resume and --fresh";
	if (args->fresh && args->resume)
		return "--fresh and --resume exclude each other";
	return NULL;
}

/* -1: go on, 2: a mistake, explained. */
static int settle(const struct fw_usage *usage, const struct fw_tune_arguments *args,
		  struct fw_tune_settings *settings)
{
	const char *mistake = find_conflict(args);

	if (!mistake)
		mistake = parse_numbers(args, settings);
	if (mistake)
		return fw_usage_error(usage, "%s", mistake);
	if (strcmp(args->format, "text") && strcmp(args->format, "json"))
		return fw_usage_error(usage, "--format is text or json, not '%s'", args->format);
	if (strcmp(args->l2, "warm") && strcmp(args->l2, "flush"))
		return fw_usage_error(usage, "--l2 is warm or flush, not '%s'", args->l2);
	if (args->strategy && !is_strategy(args->strategy))
		return fw_usage_error(usage,
				      "--strategy is auto, exhaustive, genetic, local or random, "
				      "not '%s'",
				      args->strategy);
	if (args->budget && !parse_budget(args->budget, settings))
		return fw_usage_error(
			usage,
			"--budget is a number of configurations or a time such as 90s or "
			"5m, not '%s'",
			args->budget);
	settings->is_json = !strcmp(args->format, "json");
	settings->flushes_l2 = !strcmp(args->l2, "flush");
	if (args->thorough)
		settings->budget = 400;
	return -1;
}

static int dispatch(const struct fw_usage *usage, const struct fw_tune_arguments *args,
		    const struct fw_tune_settings *settings, int argc, char **argv)
{
	if (args->from || args->simulate) {
		if (argc > 1)
			return fw_usage_error(usage, "%s takes no kernel: '%s'",
					      args->from ? "--from" : "--simulate", argv[1]);
		return args->from ? fw_tune_command_from(args, settings)
				  : fw_tune_command_simulate(args, settings);
	}
	if (argc != 2)
		return fw_usage_error(usage, argc < 2 ? "no source given" : "one source at a time");
	return args->init ? fw_tune_command_init(args, settings, argv[1])
			  : fw_tune_command_run(args, settings, argv[1]);
}

int fw_cmd_tune(int argc, char **argv)
{
	struct fw_tune_arguments a = { .device = "0",
				       .format = "text",
				       .l2 = "warm",
				       .runs = "20",
				       .seed = "1",
				       .top = "10" };
	const struct fw_option table[] = {
		{ 0, "kernel", "NAME", "with --n: the kernel, if the source has several", NULL,
		  &a.kernel },
		{ 0, "n", "N", "tune the block size alone: N elements, one a thread", NULL, &a.n },
		{ 0, "init", NULL, "write a first specification for the source instead", &a.init,
		  NULL },
		{ 'b', "budget", "N|TIME", "configurations (200), or a time: 90s, 5m", NULL,
		  &a.budget },
		{ 0, "thorough", NULL, "a budget of 400", &a.thorough, NULL },
		{ 0, "exhaustive", NULL, "every configuration", &a.exhaustive, NULL },
		{ 0, "strategy", "NAME", "auto, exhaustive, genetic, local or random", NULL,
		  &a.strategy },
		{ 0, "seed", "N", "of the search and of random inputs (1)", NULL, &a.seed },
		{ 0, "l2", "warm|flush", "L2 cache before each sample: as it is, or overwritten",
		  NULL, &a.l2 },
		{ 0, "device", "N", "the GPU (0)", NULL, &a.device },
		{ 'j', "jobs", "N", "compilers at once (cores less one)", NULL, &a.jobs },
		{ 0, "nvrtc", "FILE", "libnvrtc to compile with", NULL, &a.nvrtc },
		{ 0, "cache", "FILE", "results are kept there (SOURCE.tune.jsonl)", NULL,
		  &a.cache },
		{ 0, "no-cache", NULL, "keep neither results nor compiled code", &a.no_cache,
		  NULL },
		{ 0, "fresh", NULL, "measure everything anew, whatever the cache knows", &a.fresh,
		  NULL },
		{ 0, "resume", NULL, "fail if there is no cache to go on from", &a.resume, NULL },
		{ 0, "top", "N", "rows of the table (10)", NULL, &a.top },
		{ 0, "format", "FORMAT", "text for people, json for programs", NULL, &a.format },
		{ 0, "plot", "FILE", "picture (SVG) of all configurations: time, occupancy", NULL,
		  &a.plot },
		{ 0, "simulate", "CACHE", "try the strategies on a recorded space", NULL,
		  &a.simulate },
		{ 0, "runs", "N", "of --simulate: seeds of each strategy (20)", NULL, &a.runs },
		{ 0, "from", "TRACE", "list the kernels of a trace where tuning could pay", NULL,
		  &a.from },
	};
	const struct fw_usage usage = { .command = "tune",
					.operands = "KERNEL.cu",
					.about = about,
					.options = table,
					.count = sizeof(table) / sizeof(table[0]) };
	struct fw_tune_settings settings = { 0 };
	int status = fw_options_parse(&usage, &argc, argv);

	if (status < 0)
		status = settle(&usage, &a, &settings);
	return status < 0 ? dispatch(&usage, &a, &settings, argc, argv) : status;
}
