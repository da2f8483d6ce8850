/* fullwarp-serve serve: the classification service over HTTP. */
#include "cli/duration.h"
#include "cli/options.h"
#include "cli/size.h"
#include "serve/cmd.h"
#include "serve/flow_options.h"
#include "serve/serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CONNECTIONS  65536
#define MAX_HTTP_THREADS 256
#define MAX_HEAD         (UINT64_C(1) << 24)
#define MIN_HEAD         2048

static struct {
	struct fw_flow_args flow;
	const char *listen, *name, *labels, *top, *slots, *delay, *resize, *mean, *std, *max_pixels,
		*max_body, *body_memory, *connections, *images, *head, *threads, *timeout,
		*deadline, *drain, *tokens, *log;
	bool quiet;
} args;

#define TEXT(field, text_name, text_value, text_help)                                              \
	{                                                                                          \
		.name = text_name, .value = text_value, .help = text_help, .text = &args.field     \
	}

static const struct fw_option options[] = {
	TEXT(listen, "listen", "A:PORT", "where: 127.0.0.1:8000; port 0 is a free one"),
	TEXT(name, "name", "NAME", "of the model in paths: its file's name without .onnx"),
	TEXT(labels, "labels", "FILE", "the classes' names, one a line"),
	TEXT(top, "top", "K", "the most classes in an answer, and how many if it is not said: 5"),
	TEXT(slots, "slots", "N", "images inside at a time, then 503: as needed to keep all busy"),
	TEXT(delay, "max-delay", "T", "how long an idle worker waits for a fuller batch: 0"),
	TEXT(resize, "resize", "N", "pixels of the short side before the crop: 8/7 of the crop"),
	TEXT(mean, "mean", "R,G,B", "of the pixels, 0 to 1, subtracted: ImageNet's"),
	TEXT(std, "std", "R,G,B", "by which is divided then: ImageNet's"),
	TEXT(max_pixels, "max-pixels", "N", "larger images are refused: 100M"),
	TEXT(max_body, "max-body", "SIZE", "larger bodies are refused, inflated too: 16M"),
	TEXT(body_memory, "body-memory", "SIZE", "bodies of all requests together: 256M"),
	TEXT(connections, "max-connections", "N", "more wait until one is closed: 256"),
	TEXT(images, "max-images", "N", "images in one request: 32"),
	TEXT(head, "max-head", "SIZE", "of a request's head: 32K"),
	TEXT(threads, "http-threads", "N", "that read requests and write answers: 2"),
	TEXT(timeout, "timeout", "T", "a client's for a head, a body, to take an answer: 30s"),
	TEXT(deadline, "deadline", "T", "of a request in the pipeline: 10s; 0: none"),
	TEXT(drain, "drain", "T", "for what is inside, after SIGTERM: 10s"),
	TEXT(tokens, "token-file", "FILE", "only who sends one of these tokens is answered"),
	TEXT(log, "access-log", "FILE", "a line of JSON for each request; - is standard output"),
	{ .name = "quiet", .help = "nothing on standard error but errors", .flag = &args.quiet },
	FW_FLOW_OPTIONS(args.flow),
};

static const struct fw_usage usage = {
	.program = "fullwarp-serve",
	.command = "serve",
	.operands = "MODEL.onnx",
	.about = "Answers HTTP requests with images in them by their classes: Open Inference "
		 "Protocol v2, or\nthe image alone. Live at once, ready when the model is loaded, "
		 "warm and checked.\n",
	.options = options,
	.count = sizeof(options) / sizeof(options[0]),
};

static bool parse_u32(const char *text, uint32_t least, uint32_t most, uint32_t *value)
{
	uint64_t n;

	if (!fw_parse_count(text, least, most, &n))
		return false;
	*value = (uint32_t)n;
	return true;
}

/* A duration, or 0. */
static bool parse_time(const char *text, int64_t *ns)
{
	*ns = 0;
	return !strcmp(text, "0") || fw_parse_duration(text, ns);
}

/* Three numbers with commas between; NULL: what is there stays. */
static bool parse_three(const char *text, float *three)
{
	for (int i = 0; text && i < 3; i++) {
		char *end;

		three[i] = strtof(text, &end);
		if (end == text || *end != (i < 2 ? ',' : '\0'))
			return false;
		text = end + 1;
	}
	return true;
}

static void set_defaults(void)
{
	args.listen = "127.0.0.1:8000";
	args.top = "5";
	args.slots = args.delay = args.resize = "0";
	args.max_pixels = "100000000";
	args.max_body = "16M";
	args.body_memory = "256M";
	args.connections = "256";
	args.images = "32";
	args.head = "32K";
	args.threads = "2";
	args.timeout = "30s";
	args.deadline = args.drain = "10s";
}

/* -1: go on; else the exit code. */
static int read_pipeline(struct fw_pipeline_config *config)
{
	int code = fw_flow_options_read(&usage, &args.flow, config);

	if (code >= 0)
		return code;
	config->warm_up = 1;
	if (!parse_u32(args.top, 1, FW_PIPELINE_MAX_TOP, &config->top))
		return fw_usage_error(&usage, "--top takes a number from 1 to %d",
				      FW_PIPELINE_MAX_TOP);
	if (!parse_u32(args.slots, 0, 1 << 20, &config->slots))
		return fw_usage_error(&usage, "--slots takes a number up to %d", 1 << 20);
	if (!parse_time(args.delay, &config->max_delay_ns))
		return fw_usage_error(&usage, "--max-delay takes a time such as 2ms");
	if (!parse_u32(args.resize, 0, 8192, &config->resize))
		return fw_usage_error(&usage, "--resize takes a number of pixels");
	if (!parse_three(args.mean, config->mean) || !parse_three(args.std, config->std))
		return fw_usage_error(&usage, "--mean and --std take three numbers: R,G,B");
	if (!fw_parse_count(args.max_pixels, 1, INT64_MAX, &config->max_pixels))
		return fw_usage_error(&usage, "--max-pixels takes a number");
	return -1;
}

static int read_limits(struct fw_service_options *o, int64_t *drain_ns)
{
	uint64_t head;

	if (!fw_parse_size(args.max_body, &o->max_body) ||
	    !fw_parse_size(args.body_memory, &o->body_memory) || o->body_memory < o->max_body ||
	    o->max_body > (UINT64_C(1) << 40))
		return fw_usage_error(&usage, "--max-body and --body-memory take sizes such as "
					      "16M, the second no smaller");
	if (!parse_u32(args.connections, 1, MAX_CONNECTIONS, &o->max_connections))
		return fw_usage_error(&usage, "--max-connections takes a number from 1 to %d",
				      MAX_CONNECTIONS);
	if (!parse_u32(args.threads, 1, MAX_HTTP_THREADS, &o->http_threads) ||
	    o->http_threads > o->max_connections)
		return fw_usage_error(&usage,
				      "--http-threads takes a number from 1 to %d, no more than "
				      "there are connections",
				      MAX_HTTP_THREADS);
	if (!parse_u32(args.images, 1, 4096, &o->max_images))
		return fw_usage_error(&usage, "--max-images takes a number from 1 to 4096");
	if (!fw_parse_size(args.head, &head) || head < MIN_HEAD || head > MAX_HEAD)
		return fw_usage_error(&usage, "--max-head takes a size from 2K to 16M");
	o->max_head = (uint32_t)head;
	if (!fw_parse_duration(args.timeout, &o->timeout_ns))
		return fw_usage_error(&usage, "--timeout takes a time such as 30s");
	if (!parse_time(args.deadline, &o->deadline_ns) || !parse_time(args.drain, drain_ns))
		return fw_usage_error(&usage, "--deadline and --drain take times such as 10s");
	return -1;
}

static bool is_name(const char *name)
{
	return *name && strlen(name) < 200 &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
		       strlen(name);
}

/* "models/resnet50.onnx" is resnet50. */
static void name_of_file(const char *path, char *name, size_t cap)
{
	const char *slash = strrchr(path, '/');
	size_t len;

	snprintf(name, cap, "%s", slash ? slash + 1 : path);
	len = strlen(name);
	if (len > 5 && !strcmp(name + len - 5, ".onnx"))
		name[len - 5] = '\0';
}

int fw_serve_serve(int argc, char **argv)
{
	struct fw_serve_job job = { .drain_ns = 0 };
	char name[256];
	int code;

	set_defaults();
	fw_pipeline_config_init(&job.service.pipeline);
	code = fw_options_parse(&usage, &argc, argv);
	if (code >= 0)
		return code;
	if (argc != 2)
		return fw_usage_error(&usage, "it takes one model");
	if ((code = read_pipeline(&job.service.pipeline)) >= 0 ||
	    (code = read_limits(&job.service, &job.drain_ns)) >= 0)
		return code;
	name_of_file(argv[1], name, sizeof(name));
	job.service.pipeline.model = argv[1];
	job.service.name = args.name ? args.name : name;
	if (!is_name(job.service.name))
		return fw_usage_error(&usage,
				      "'%s' is no name for a path: give --name, of letters, "
				      "digits and . _ -",
				      job.service.name);
	job.service.labels = args.labels;
	job.service.token_file = args.tokens;
	job.service.access_log = args.log;
	job.is_quiet = args.quiet;
	job.is_explaining = args.flow.explain;
	job.listen = args.listen;
	if (!fw_address_parse(args.listen, &job.address))
		return fw_usage_error(&usage, "--listen takes ADDRESS:PORT, not '%s'", args.listen);
	return fw_serve_http(&job);
}
