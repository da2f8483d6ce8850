/* fullwarp-serve bench: a pipeline under load. */
#include "cli/duration.h"
#include "cli/options.h"
#include "cli/size.h"
#include "serve/bench_steps.h"
#include "serve/cmd.h"
#include "serve/flow_options.h"
#include "serve/foreign_text.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SECONDS_NS INT64_C(86400000000000)
#define MAX_RATE       1e7
#define MAX_SIDE       16384
#define DRAWN          64 /* pictures of --synthetic */

static struct {
	struct fw_flow_args flow;
	const char *synthetic, *pictures, *max_input, *seed, *in_flight, *rate, *load, *seconds,
		*warmup, *repeats, *timeout, *format, *rss, *slots, *list;
	bool steps, quiet;
} args;

static const struct fw_option options[] = {
	{ .name = "synthetic",
	  .value = "WxH",
	  .help = "draw JPEG pictures of this size instead of reading files",
	  .text = &args.synthetic },
	{ .name = "pictures",
	  .value = "N",
	  .help = "how many it draws: 64",
	  .text = &args.pictures },
	{ .name = "list",
	  .value = "FILE",
	  .help = "names of images, one a line; - is standard input",
	  .text = &args.list },
	{ .name = "max-input",
	  .value = "SIZE",
	  .help = "memory for the images: 2G",
	  .text = &args.max_input },
	{ .name = "seed",
	  .value = "N",
	  .help = "of the pictures, their order and the arrivals: 1",
	  .text = &args.seed },
	{ .name = "in-flight",
	  .value = "N",
	  .help = "closed loop: requests inside at a time; as many as slots",
	  .text = &args.in_flight },
	{ .name = "load",
	  .value = "P,P",
	  .help = "open loops at these percentages of the closed loop's rate",
	  .text = &args.load },
	{ .name = "rate",
	  .value = "R,R",
	  .help = "open loops of so many arrivals a second, without a closed loop",
	  .text = &args.rate },
	{ .name = "steps",
	  .help = "the remedies, from a plain loop on, one at a time: a closed loop of each",
	  .flag = &args.steps },
	{ .name = "timeout",
	  .value = "TIME",
	  .help = "requests expire after it, such as 50ms",
	  .text = &args.timeout },
	{ .name = "seconds", .value = "S", .help = "of a repeat: 10", .text = &args.seconds },
	{ .name = "warmup", .value = "S", .help = "before the repeats: 2", .text = &args.warmup },
	{ .name = "repeats", .value = "N", .help = "of each load: 3", .text = &args.repeats },
	{ .name = "slots",
	  .value = "N",
	  .help = "requests that may be inside at a time",
	  .text = &args.slots },
	{ .name = "rss",
	  .value = "FILE",
	  .help = "write a line each second: seconds, bytes of resident memory",
	  .text = &args.rss },
	{ .name = "format", .value = "F", .help = "text or json", .text = &args.format },
	{ .name = "quiet", .help = "do not say what is going on", .flag = &args.quiet },
	FW_FLOW_OPTIONS(args.flow),
};

static const struct fw_usage usage = {
	.program = "fullwarp-serve",
	.command = "bench",
	.operands = "MODEL.onnx [IMAGE|FOLDER...]",
	.about = "Puts load on the pipeline without a network: rate, latency, stages, memory, CPU, "
		 "GPU.\n",
	.options = options,
	.count = sizeof(options) / sizeof(options[0]),
};

static volatile sig_atomic_t is_interrupted;

static void interrupt(int number)
{
	(void)number;
	is_interrupted = 1;
}

static bool is_stopped(void)
{
	return is_interrupted;
}

static void set_signals(void)
{
	/* The second one ends the program at once. */
	struct sigaction action = { .sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static void say(void *user, const char *text)
{
	(void)user;
	fputs("fullwarp-serve bench: ", stderr);
	fw_serve_print_safely(stderr, text);
	fputc('\n', stderr);
}

static int fail(const struct fw_error *err)
{
	fputs("fullwarp-serve bench: ", stderr);
	fw_serve_print_safely(stderr, err->message);
	fputc('\n', stderr);
	return 1;
}

static fw_status collect(struct fw_bench_images *images, char **operands, int n, uint64_t most,
			 struct fw_error *err)
{
	struct fw_image_names names = { .names = FW_VEC(char *) };
	fw_status status = FW_OK;

	for (int i = 0; i < n && !status; i++)
		status = fw_image_names_add(&names, operands[i], err);
	if (!status && args.list)
		status = fw_image_names_add_list(&names, args.list, err);
	if (!status)
		status = fw_bench_images_read(images, &names, most, err);
	fw_image_names_release(&names);
	return status;
}

/* What the command line says beside the job. */
struct inputs {
	char **operands;
	int n_operands;
	uint64_t most, pictures;
	struct fw_bench_picture picture; /* width 0: files */
};

static fw_status load_images(struct fw_bench_images *images, const struct inputs *inputs,
			     uint64_t seed, struct fw_error *err)
{
	fw_status status;

	if (inputs->picture.width)
		status = fw_bench_images_draw(images, &inputs->picture, (uint32_t)inputs->pictures,
					      inputs->most, err);
	else
		status = collect(images, inputs->operands, inputs->n_operands, inputs->most, err);
	return status ? status : fw_bench_images_shuffle(images, seed, err);
}

/* As text it has names of files in it. */
static int put(struct fw_str *out)
{
	bool has_failed = out->failed;

	if (has_failed)
		fputs("fullwarp-serve bench: out of memory\n", stderr);
	else if (!strcmp(args.format, "json"))
		fputs(fw_str_text(out), stdout);
	else
		fw_serve_print_safely(stdout, fw_str_text(out));
	fw_str_release(out);
	return has_failed;
}

static int run_loads(struct fw_bench_page *page)
{
	struct fw_bench_result result;
	struct fw_str out = { 0 };
	struct fw_error err;
	int code;

	if (fw_bench(page->job, &result, &err))
		return fail(&err);
	page->result = &result;
	(!strcmp(args.format, "json") ? fw_bench_json : fw_bench_text)(&out, page);
	code = put(&out) || result.is_stopped;
	fw_bench_result_release(&result);
	return code;
}

static int run_steps(const struct fw_bench_page *page)
{
	struct fw_bench_steps_result steps;
	struct fw_str out = { 0 };
	struct fw_error err;
	int code;

	if (fw_bench_steps_run(page->job, &steps, &err))
		return fail(&err);
	(!strcmp(args.format, "json") ? fw_bench_steps_json : fw_bench_steps_text)(&out, page,
										   &steps);
	code = put(&out) || steps.is_stopped;
	for (uint32_t i = 0; i < steps.n_rows; i++)
		code = code || steps.rows[i].has_failed;
	fw_bench_steps_release(&steps);
	return code;
}

static int open_rss(struct fw_bench_job *job)
{
	if (!args.rss)
		return 0;
	job->rss = fopen(args.rss, "we");
	if (!job->rss) {
		fprintf(stderr, "fullwarp-serve bench: %s: %s\n", args.rss, strerror(errno));
		return 1;
	}
	fputs("seconds,rss_bytes\n", job->rss);
	return 0;
}

static int close_rss(const struct fw_bench_job *job)
{
	bool has_failed;

	if (!job->rss)
		return 0;
	has_failed = ferror(job->rss);
	if (fclose(job->rss) || has_failed) {
		fprintf(stderr, "fullwarp-serve bench: %s: cannot write\n", args.rss);
		return 1;
	}
	return 0;
}

static int run(struct fw_bench_job *job, const struct inputs *inputs)
{
	struct fw_bench_images images = { .images = FW_VEC(struct fw_bench_image) };
	struct fw_bench_page page = {
		.job = job,
		.images = &images,
		.drawn = inputs->picture.width ? &inputs->picture : NULL,
	};
	struct fw_error err;
	int code;

	set_signals();
	if (open_rss(job))
		return 1;
	if (load_images(&images, inputs, job->seed, &err)) {
		code = fail(&err);
	} else {
		job->images = &images;
		code = args.steps ? run_steps(&page) : run_loads(&page);
	}
	fw_bench_images_release(&images);
	return close_rss(job) ? 1 : code;
}

/* "10,50,80", each over 0 and up to most. */
static bool parse_numbers(const char *text, double most, double *numbers, uint32_t *count)
{
	const char *p = text;
	char *end;

	for (*count = 0; *count < FW_BENCH_MAX_LOADS; p = end + 1) {
		size_t len = strspn(p, "0123456789.");

		if (!len)
			return false;
		numbers[*count] = strtod(p, &end);
		if (end != p + len || !(numbers[*count] > 0 && numbers[*count] <= most))
			return false;
		++*count;
		if (!*end)
			return true;
		if (*end != ',')
			return false;
	}
	return false;
}

/* A duration up to a day; "0" is none. */
static bool parse_time(const char *text, bool may_be_zero, int64_t *ns)
{
	if (may_be_zero && !strcmp(text, "0")) {
		*ns = 0;
		return true;
	}
	return fw_parse_duration(text, ns) && *ns <= MAX_SECONDS_NS;
}

static bool parse_size(const char *text, struct fw_bench_picture *picture)
{
	char width[8];
	const char *x = strchr(text, 'x');
	uint64_t w, h;

	if (!x || (size_t)(x - text) >= sizeof(width))
		return false;
	memcpy(width, text, (size_t)(x - text));
	width[x - text] = '\0';
	if (!fw_parse_count(width, 1, MAX_SIDE, &w) || !fw_parse_count(x + 1, 1, MAX_SIDE, &h))
		return false;
	picture->width = (uint32_t)w;
	picture->height = (uint32_t)h;
	return true;
}

/* -1: go on; else the exit code. */
static int read_load(struct fw_bench_job *job)
{
	uint64_t in_flight, repeats;

	if (args.rate && !parse_numbers(args.rate, MAX_RATE, job->rates, &job->n_rates))
		return fw_usage_error(&usage, "--rate takes up to %d numbers over 0, such as 10,50",
				      FW_BENCH_MAX_LOADS);
	if (args.load && !parse_numbers(args.load, 1000, job->loads, &job->n_loads))
		return fw_usage_error(&usage, "--load takes up to %d percentages, such as 10,50,80",
				      FW_BENCH_MAX_LOADS);
	if (args.steps && (args.rate || args.load))
		return fw_usage_error(&usage,
				      "--steps measures closed loops, without --load and --rate");
	if (!fw_parse_count(args.in_flight, 0, UINT32_MAX, &in_flight))
		return fw_usage_error(&usage, "--in-flight takes a number");
	if (!fw_parse_count(args.repeats, 1, FW_BENCH_MAX_REPEATS, &repeats))
		return fw_usage_error(&usage, "--repeats takes a number from 1 to %d",
				      FW_BENCH_MAX_REPEATS);
	if (!parse_time(args.seconds, false, &job->seconds_ns) ||
	    !parse_time(args.warmup, true, &job->warmup_ns) ||
	    !parse_time(args.timeout, true, &job->timeout_ns))
		return fw_usage_error(&usage,
				      "--seconds, --warmup and --timeout take times such as 10 or "
				      "50ms, up to a day");
	job->in_flight = (uint32_t)in_flight;
	job->repeats = (uint32_t)repeats;
	job->has_closed = !args.rate || args.load;
	return -1;
}

/* -1: go on; else the exit code. */
static int read_config(struct fw_bench_job *job)
{
	uint64_t slots;

	if (!fw_parse_count(args.slots, 0, 1048576, &slots))
		return fw_usage_error(&usage, "--slots takes a number up to 1048576");
	job->config.slots = (uint32_t)slots;
	job->explains = args.flow.explain;
	return fw_flow_options_read(&usage, &args.flow, &job->config);
}

/* -1: go on; else the exit code. */
static int read_inputs(struct inputs *inputs, uint64_t *seed)
{
	if (args.synthetic && !parse_size(args.synthetic, &inputs->picture))
		return fw_usage_error(&usage, "--synthetic takes a size such as 500x375, up to %d",
				      MAX_SIDE);
	if (args.synthetic && (inputs->n_operands || args.list))
		return fw_usage_error(&usage, "--synthetic or images, not both");
	if (!args.synthetic && !inputs->n_operands && !args.list)
		return fw_usage_error(&usage, "images, folders, --list or --synthetic");
	if (!fw_parse_count(args.pictures, 1, 100000, &inputs->pictures))
		return fw_usage_error(&usage, "--pictures takes a number from 1 to 100000");
	if (!fw_parse_size(args.max_input, &inputs->most))
		return fw_usage_error(&usage, "--max-input takes a size such as 512M");
	if (!fw_parse_count(args.seed, 0, UINT64_MAX, seed))
		return fw_usage_error(&usage, "--seed takes a number");
	if (strcmp(args.format, "text") && strcmp(args.format, "json"))
		return fw_usage_error(&usage, "--format is text or json");
	inputs->picture.seed = *seed;
	return -1;
}

static void set_defaults(void)
{
	args.pictures = "64";
	args.max_input = "2G";
	args.seed = "1";
	args.seconds = "10";
	args.warmup = "2";
	args.repeats = "3";
	args.format = "text";
	args.in_flight = args.slots = args.timeout = "0";
}

int fw_serve_bench(int argc, char **argv)
{
	struct fw_bench_job job = { .is_stopped = is_stopped };
	struct inputs inputs = { .n_operands = 0 };
	int code;

	fw_pipeline_config_init(&job.config);
	set_defaults();
	code = fw_options_parse(&usage, &argc, argv);
	if (code >= 0)
		return code;
	if (argc < 2)
		return fw_usage_error(&usage, "a model, and images or --synthetic");
	inputs.operands = argv + 2;
	inputs.n_operands = argc - 2;
	if ((code = read_inputs(&inputs, &job.seed)) >= 0 || (code = read_load(&job)) >= 0 ||
	    (code = read_config(&job)) >= 0)
		return code;
	job.config.model = argv[1];
	if (!args.quiet)
		job.say = job.config.say = say;
	return run(&job, &inputs);
}
