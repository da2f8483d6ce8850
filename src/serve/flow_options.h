#ifndef FW_SERVE_FLOW_OPTIONS_H
#define FW_SERVE_FLOW_OPTIONS_H
/*
 * The switches of the pipeline on the command line, the same for every command that runs one:
 *
 *	static struct { struct fw_flow_args flow; const char *output; } args;
 *	static const struct fw_option options[] = { FW_FLOW_OPTIONS(args.flow), { .name = "output", ... } };
 *	...
 *	fw_pipeline_config_init(&config);
 *	code = fw_options_parse(&usage, &argc, argv);
 *	if (code < 0)
 *		code = fw_flow_options_read(&usage, &args.flow, &config);
 */
#include "cli/options.h"
#include "fullwarp/pipeline.h"

/* As they were typed; NULL: not. */
struct fw_flow_args {
	const char *preset, *engine, *device, *precision, *cache, *autotune, *memory, *copy,
		*streams, *workers, *fuse, *graph, *batch, *decode_threads, *decoder;
	bool explain; /* fw_flow_explain is wanted once the pipeline is there */
};

#define FW_FLOW_OPTION_(args, option, field, what, text_)                                          \
	{                                                                                          \
		.name = option, .value = what, .help = text_, .text = &(args).field                \
	}

/* clang-format off */
#define FW_FLOW_OPTIONS(args)                                                                                  \
	FW_FLOW_OPTION_(args, "engine", engine, "E", "cudnn, a GPU, or onednn, the CPU: cudnn where it can be"), \
	FW_FLOW_OPTION_(args, "device", device, "N", "CUDA device: 0"),                                        \
	FW_FLOW_OPTION_(args, "precision", precision, "P", "fp32, fp16 or bf16: fp16 on a GPU"),               \
	FW_FLOW_OPTION_(args, "cache", cache, "DIR", "keeps the GPU engine's choices"),                        \
	FW_FLOW_OPTION_(args, "autotune", autotune, "S", "seconds for these choices, a batch size: 2"),        \
	FW_FLOW_OPTION_(args, "memory", memory, "M", "pinned or pageable: pinned on a GPU"),                   \
	FW_FLOW_OPTION_(args, "copy", copy, "C", "to the GPU: async or blocking: async"),                      \
	FW_FLOW_OPTION_(args, "streams", streams, "N", "networks side by side: measured on a GPU, else cores"), \
	FW_FLOW_OPTION_(args, "workers", workers, "N", "the same as --streams"),                               \
	FW_FLOW_OPTION_(args, "fuse", fuse, "on|off", "activations and sums within convolutions: on"),         \
	FW_FLOW_OPTION_(args, "graph", graph, "on|off", "one CUDA graph for a batch: on"),                     \
	FW_FLOW_OPTION_(args, "batch", batch, "N", "the most images at a time: 64 on a GPU, else 8"),          \
	FW_FLOW_OPTION_(args, "decode-threads", decode_threads, "N", "decoders side by side: chosen"),         \
	FW_FLOW_OPTION_(args, "decoder", decoder, "D", "cpu, nvjpeg or auto: cpu"),                           \
	FW_FLOW_OPTION_(args, "preset", preset, "P", "before, every remedy off, or after; others override it"), \
	{ .name = "explain-tuning", .help = "print what was measured and chosen", .flag = &(args).explain }
/* clang-format on */

/* -1: go on; else the exit code, after the mistake was explained. Values are borrowed from args. */
int fw_flow_options_read(const struct fw_usage *usage, const struct fw_flow_args *args,
			 struct fw_pipeline_config *config);

/* fw_pipeline_explain on standard error. */
void fw_flow_explain(struct fw_pipeline *pipeline);

#endif
