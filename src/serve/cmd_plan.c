/* fullwarp-serve plan: how a model will run, without any engine or GPU. */
#include "cli/options.h"
#include "cli/terminal.h"
#include "nn/roofline.h"
#include "serve/cmd.h"
#include "serve/model.h"
#include "serve/plan_print.h"

#include <stdio.h>
#include <string.h>

#define MAX_BATCH 65536

static struct {
	const char *batch, *precision, *gpu, *format;
	bool no_fuse, dynamic;
} args;

static const struct fw_option options[] = {
	{ .name = "batch", .value = "N", .help = "samples at a time: 1", .text = &args.batch },
	{ .name = "precision",
	  .value = "P",
	  .help = "fp32, fp16 (the default) or bf16",
	  .text = &args.precision },
	{ .name = "gpu",
	  .value = "NAME",
	  .help = "the least time of each step on this GPU",
	  .text = &args.gpu },
	{ .name = "format",
	  .value = "F",
	  .help = "text (the default) or json",
	  .text = &args.format },
	{ .name = "no-fuse", .help = "a step for each node", .flag = &args.no_fuse },
	{ .name = "dynamic",
	  .help = "take the first dimension as the batch, also where it is fixed",
	  .flag = &args.dynamic },
};

static const struct fw_usage usage = {
	.program = "fullwarp-serve",
	.command = "plan",
	.operands = "MODEL.onnx",
	.about = "How a model is fused and laid out in memory, its FLOPs and bytes.\n",
	.options = options,
	.count = sizeof(options) / sizeof(options[0]),
};

static fw_status show(const char *path, const struct fw_nn_plan_options *wanted,
		      const struct fw_hw_peak *peak, struct fw_str *out, struct fw_error *err)
{
	struct fw_nn_graph graph;
	struct fw_nn_plan plan;
	struct fw_serve_shown shown = {
		.plan = &plan,
		.peak = peak,
		.is_fused = wanted->fuse,
		.columns = fw_terminal_columns(),
	};
	fw_status status = fw_serve_load(path, args.dynamic, &graph, err);

	if (status)
		return status;
	status = fw_nn_plan_make(&graph, wanted, &plan, err);
	if (!status && peak)
		status = fw_nn_roofline_check(&plan, peak, err);
	if (!status) {
		(!strcmp(args.format, "json") ? fw_serve_plan_json : fw_serve_plan_text)(out,
											 &shown);
		if (out->failed)
			status = fw_fail_nomem(err, out->cap);
	}
	fw_nn_plan_free(&plan);
	fw_nn_graph_free(&graph);
	return status;
}

int fw_serve_plan(int argc, char **argv)
{
	struct fw_nn_plan_options wanted = {
		.channel_multiple = 4,
		.concat_in_place = true,
		.residual_in_place = true,
	};
	const struct fw_hw_peak *peak = NULL;
	struct fw_str out = { 0 };
	struct fw_error err;
	fw_status status;
	uint64_t batch;
	int code;

	args.batch = "1";
	args.precision = "fp16";
	args.format = "text";
	code = fw_options_parse(&usage, &argc, argv);
	if (code >= 0)
		return code;
	if (argc != 2)
		return fw_usage_error(&usage, "one model at a time");
	if (!fw_parse_count(args.batch, 1, MAX_BATCH, &batch))
		return fw_usage_error(&usage, "--batch takes a number from 1 to %d", MAX_BATCH);
	if (!fw_serve_precision(args.precision, &wanted.precision))
		return fw_usage_error(&usage, "--precision is fp32, fp16 or bf16");
	if (strcmp(args.format, "text") && strcmp(args.format, "json"))
		return fw_usage_error(&usage, "--format is text or json");
	if (args.gpu && fw_hw_peak_find(args.gpu, &peak, &err))
		return fw_usage_error(&usage, "%s", err.message);
	wanted.batch = (int64_t)batch;
	wanted.fuse = !args.no_fuse;
	status = show(argv[1], &wanted, peak, &out, &err);
	if (status)
		fprintf(stderr, "fullwarp-serve plan: %s\n", err.message);
	else
		fputs(fw_str_text(&out), stdout);
	fw_str_release(&out);
	return status ? 1 : 0;
}
