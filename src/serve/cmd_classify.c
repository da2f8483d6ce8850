/* fullwarp-serve classify: image files to rows of classes. */
#include "cli/options.h"
#include "serve/classify.h"
#include "serve/cmd.h"
#include "serve/flow_options.h"
#include "serve/foreign_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	struct fw_flow_args flow;
	const char *labels, *top, *format, *output, *list;
	bool resume, quiet;
} args;

static const struct fw_option options[] = {
	{ .name = "labels",
	  .value = "FILE",
	  .help = "the classes' names, one a line",
	  .text = &args.labels },
	{ .name = "top", .value = "K", .help = "classes for each image: 5", .text = &args.top },
	{ .name = "format", .value = "F", .help = "csv or jsonl", .text = &args.format },
	{ .letter = 'o',
	  .name = "output",
	  .value = "FILE",
	  .help = "rows go here",
	  .text = &args.output },
	{ .name = "resume",
	  .help = "go on with the rows that -o FILE has already",
	  .flag = &args.resume },
	{ .name = "list",
	  .value = "FILE",
	  .help = "names of images, one a line; - is standard input",
	  .text = &args.list },
	{ .name = "quiet",
	  .help = "no progress and no summary; failures are still listed",
	  .flag = &args.quiet },
	FW_FLOW_OPTIONS(args.flow),
};

static const struct fw_usage usage = {
	.program = "fullwarp-serve",
	.command = "classify",
	.operands = "MODEL.onnx IMAGE|FOLDER...",
	.about = "Classifies JPEG and PNG files: a row of classes and probabilities for each, in "
		 "their order.\n",
	.options = options,
	.count = sizeof(options) / sizeof(options[0]),
};

static int fail(const struct fw_error *err)
{
	fputs("fullwarp-serve classify: ", stderr);
	fw_serve_print_safely(stderr, err->message);
	fputc('\n', stderr);
	return 1;
}

static void say(void *user, const char *text)
{
	(void)user;
	if (args.quiet)
		return;
	fputs("fullwarp-serve classify: ", stderr);
	fw_serve_print_safely(stderr, text);
	fputc('\n', stderr);
}

static void print_summary(const struct fw_classify_result *result)
{
	size_t n = result->classified + result->failed;
	double s = (double)result->took_ns / 1e9;

	if (result->torn_bytes)
		fprintf(stderr, "took %zu bytes of a row that was not whole off %s\n",
			result->torn_bytes, args.output);
	if (result->skipped)
		fprintf(stderr, "%zu images have their row already\n", result->skipped);
	fprintf(stderr, "%zu images classified, %zu failed, in %.2f s (%.1f images/s)\n",
		result->classified, result->failed, s, s > 0 ? (double)n / s : 0);
}

static int report(const struct fw_classify_result *result)
{
	size_t listed = 0;

	if (!args.quiet)
		print_summary(result);
	if (!result->failed)
		return 0;
	fputs("failed:\n", stderr);
	fw_serve_print_safely(stderr, result->failures ? result->failures : "");
	for (const char *c = result->failures; c && *c; c++)
		listed += *c == '\n';
	if (result->failed > listed)
		fprintf(stderr, "and %zu more: see their rows\n", result->failed - listed);
	return 1;
}

static fw_status collect(struct fw_image_names *names, char **operands, int n, struct fw_error *err)
{
	fw_status status = FW_OK;

	for (int i = 0; i < n && !status; i++)
		status = fw_image_names_add(names, operands[i], err);
	if (!status && args.list)
		status = fw_image_names_add_list(names, args.list, err);
	if (status)
		return status;
	if (names->other && !args.quiet)
		fprintf(stderr, "%zu other files in the folders are left out\n", names->other);
	if (names->empty_folders && !args.quiet)
		fprintf(stderr, "%zu of the folders have no .jpg, .jpeg or .png in them\n",
			names->empty_folders);
	if (!names->names.len)
		return fw_fail(err, FW_ERR_ARGUMENT, "there is no image to classify");
	return FW_OK;
}

static int run(struct fw_classify_job *job, char **operands, int n)
{
	struct fw_image_names names = { .names = FW_VEC(char *) };
	struct fw_classify_result result = { .failures = NULL };
	struct fw_error err;
	int code;

	job->names = &names;
	if (collect(&names, operands, n, &err) || fw_classify(job, &result, &err))
		code = fail(&err);
	else
		code = report(&result);
	fw_classify_result_release(&result);
	fw_image_names_release(&names);
	return code;
}

/* -1: go on; else the exit code. */
static int read_args(struct fw_classify_job *job)
{
	struct fw_pipeline_config *config = &job->config;
	uint64_t top;
	int code;

	if (!fw_parse_count(args.top, 1, FW_PIPELINE_MAX_TOP, &top))
		return fw_usage_error(&usage, "--top takes a number from 1 to %d",
				      FW_PIPELINE_MAX_TOP);
	if (strcmp(args.format, "csv") && strcmp(args.format, "jsonl"))
		return fw_usage_error(&usage, "--format is csv or jsonl");
	if (args.resume && !args.output)
		return fw_usage_error(&usage, "--resume goes on with the file that -o names");
	code = fw_flow_options_read(&usage, &args.flow, config);
	if (code >= 0)
		return code;
	config->top = (uint32_t)top;
	config->say = say;
	job->labels = args.labels;
	job->output = args.output;
	job->is_json = !strcmp(args.format, "jsonl");
	job->is_resuming = args.resume;
	job->is_quiet = args.quiet;
	job->explains = args.flow.explain;
	return -1;
}

int fw_serve_classify(int argc, char **argv)
{
	struct fw_classify_job job;
	int code;

	fw_pipeline_config_init(&job.config);
	args.top = "5";
	args.format = "csv";
	code = fw_options_parse(&usage, &argc, argv);
	if (code >= 0)
		return code;
	if (argc < 2 || (argc == 2 && !args.list))
		return fw_usage_error(&usage, "a model and images, folders or --list");
	code = read_args(&job);
	if (code >= 0)
		return code;
	job.config.model = argv[1];
	return run(&job, argv + 2, argc - 2);
}
