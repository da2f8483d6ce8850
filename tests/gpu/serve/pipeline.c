/*
 * gpu_pipeline ENGINE MODEL FOLDER all|presets: the pipeline's answers on ENGINE (cudnn, or onednn to try this program out)
 * against those of the CPU's, picture by picture, for every combination of switches or for the presets. JSON on standard
 * output, a table on standard error; exits 1 where an answer is another, 77 where there is no such engine.
 */
#include "fullwarp/pipeline.h"

#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_FILES 1000
#define MAX_BYTES (8 << 20)
#define TOP       5
#define TINY      1e-20f              /* a probability whose logarithm says nothing */
#define WIDE      FW_PIPELINE_MAX_TOP /* classes that the reference keeps */
#define TENSOR    0                   /* number of the request that is a tensor */
#define DAMAGED   1                   /* and of the one that is a damaged picture */

struct file {
	unsigned char *bytes;
	size_t size;
	bool is_tensor;
};

struct answer {
	enum fw_pipeline_outcome outcome;
	uint32_t count, ids[WIDE];
	float probabilities[WIDE];
	char message[200];
	int calls;
};

static struct file files[MAX_FILES];
static struct answer want[MAX_FILES], got[MAX_FILES];
static int n_files, n_bad;
static const char *engine, *model;

struct variant {
	const char *precision, *memory, *copy;
	int graph, fuse;
	uint32_t workers, batch;
	const char *decoder; /* NULL: the CPU */
};

static double now_s(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void stop(const char *what, const char *why)
{
	fprintf(stderr, "gpu_pipeline: %s: %s\n", what, why);
	exit(1);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void read_file(const char *path, struct file *file)
{
	FILE *in = fopen(path, "rb");

	file->bytes = malloc(MAX_BYTES);
	if (!in || !file->bytes)
		stop(path, "cannot read");
	file->size = fread(file->bytes, 1, MAX_BYTES, in);
	fclose(in);
}

/* side: of the network's input. */
static void make_tensor(struct file *file, uint32_t side)
{
	size_t n = (size_t)3 * side * side;
	float *values = malloc(n * sizeof(*values));

	if (!values)
		stop("tensor", "no memory");
	for (size_t i = 0; i < n; i++)
		values[i] = sinf((float)(i % 977) * 0.07f) * 2;
	*file = (struct file){ (unsigned char *)values, n * sizeof(*values), true };
}

static void read_folder(const char *folder)
{
	char *names[MAX_FILES], path[4096];
	struct dirent *entry;
	DIR *dir = opendir(folder);
	int n = 0;

	while (dir && (entry = readdir(dir)) && n < MAX_FILES - 2)
		if (entry->d_name[0] != '.')
			names[n++] = strdup(entry->d_name);
	if (dir)
		closedir(dir);
	if (n < 2)
		stop(folder, "no pictures");
	qsort(names, (size_t)n, sizeof(*names), by_name);
	n_files = 2;
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		read_file(path, &files[n_files++]);
		free(names[i]);
	}
	files[DAMAGED] = files[n_files - 1];
	files[DAMAGED].size = files[DAMAGED].size * 2 / 3;
}

static void on_answer(void *user, const struct fw_pipeline_answer *a)
{
	struct answer *answer = user;

	answer->outcome = a->outcome;
	answer->count = a->count;
	memcpy(answer->ids, a->ids, a->count * sizeof(*a->ids));
	memcpy(answer->probabilities, a->probabilities, a->count * sizeof(*a->probabilities));
	if (a->error)
		snprintf(answer->message, sizeof(answer->message), "%.199s", a->error->message);
	answer->calls++;
}

static void submit(struct fw_pipeline *pipeline, const struct file *file, struct answer *answer)
{
	struct fw_pipeline_request request;
	struct fw_error err;

	fw_pipeline_request_init(&request);
	request.bytes = file->bytes;
	request.size = file->size;
	request.is_tensor = file->is_tensor;
	request.callback = on_answer;
	request.user = answer;
	if (fw_pipeline_submit(pipeline, &request, &err))
		stop("submit", err.message);
}

static void run(struct fw_pipeline *pipeline, struct answer *answers)
{
	memset(answers, 0, sizeof(want));
	for (int i = 0; i < n_files; i++)
		submit(pipeline, &files[i], &answers[i]);
	fw_pipeline_drain(pipeline);
}

static void get_reference(void)
{
	struct fw_pipeline_config config;
	struct fw_pipeline *pipeline;
	struct fw_pipeline_stats stats;
	struct fw_error err;

	fw_pipeline_config_init(&config);
	fw_pipeline_stats_init(&stats);
	config.engine = "onednn";
	config.model = model;
	config.top = WIDE;
	if (fw_pipeline_create(&config, &pipeline, &err))
		stop("the reference", err.message);
	fw_pipeline_get_stats(pipeline, &stats, NULL);
	make_tensor(&files[TENSOR], stats.crop);
	run(pipeline, want);
	fw_pipeline_destroy(pipeline);
	for (int i = 0; i < n_files; i++)
		if (i != DAMAGED && want[i].outcome != FW_PIPELINE_CLASSIFIED)
			stop("the reference", want[i].message);
}

/* How far the logarithm of a probability may be off: that is how far the scores are. */
static double tolerance(const char *precision)
{
	if (!strcmp(precision, "fp32"))
		return 0.05;
	return strcmp(precision, "fp16") ? 1.0 : 0.2;
}

static bool bad(int file, const char *what)
{
	if (n_bad++ < 20)
		fprintf(stderr, "  picture %d: %s\n", file, what);
	return false;
}

/* The largest difference of a logarithm; false: this is no right answer. */
static bool compare(int file, double allowed, double *worst)
{
	const struct answer *w = &want[file], *g = &got[file];
	char text[300];

	if (g->calls != 1)
		return bad(file, "it is answered not once");
	if (g->outcome != w->outcome)
		return bad(file, g->message);
	if (file == DAMAGED)
		return strcmp(g->message, w->message) ? bad(file, g->message) : true;
	for (uint32_t i = 0; i < g->count; i++)
		for (uint32_t k = 0; k < w->count; k++)
			if (g->ids[i] == w->ids[k] &&
			    (g->probabilities[i] > TINY || w->probabilities[k] > TINY)) {
				double d =
					fabs(log(g->probabilities[i]) - log(w->probabilities[k]));

				if (d > *worst)
					*worst = d;
				if (d <= allowed)
					continue;
				snprintf(text, sizeof(text), "class %u has %g, the CPU gives %g",
					 g->ids[i], (double)g->probabilities[i],
					 (double)w->probabilities[k]);
				return bad(file, text);
			}
	if (g->ids[0] != w->ids[0] &&
	    log(w->probabilities[0]) - log(w->probabilities[1]) > 2 * allowed)
		return bad(file, "another class is the likeliest, and clearly");
	return true;
}

static void print_row(const struct variant *v, const struct fw_pipeline_stats *stats,
		      double start_s, double run_s, double cpu_s, double worst, int top1, int wrong)
{
	static bool is_later;

	printf("%s\n{\"precision\":\"%s\",\"memory\":\"%s\",\"copy\":\"%s\",\"graph\":%d,\"fuse\":%"
	       "d,"
	       "\"workers\":%u,\"start_s\":%.3f,\"images_s\":%.1f,\"cores\":%.2f,"
	       "\"worst_log\":%.4f,\"top1_same\":%d,\"of\":%d,\"wrong\":%d,\"pinned_bytes\":%llu,"
	       "\"device_bytes\":%llu,\"copies\":%llu,\"decoder\":\"%s\",\"nvjpeg_decoded\":%llu,"
	       "\"nvjpeg_returned\":%llu}",
	       is_later ? "," : "", stats->precision, stats->memory, stats->copy, v->graph, v->fuse,
	       stats->workers, start_s, n_files / run_s, cpu_s / run_s, worst, top1, n_files - 1,
	       wrong, (unsigned long long)stats->pinned_bytes,
	       (unsigned long long)stats->device_bytes, (unsigned long long)stats->copies,
	       stats->decoder, (unsigned long long)stats->nvjpeg_decoded,
	       (unsigned long long)stats->nvjpeg_returned);
	is_later = true;
	fprintf(stderr,
		"%-4s %-8s %-8s graph %d fuse %d workers %u: start %5.2f s, %7.1f images/s, %5.2f "
		"cores, worst log %.4f, top-1 %d of %d, wrong %d, decoder %s, by nvJPEG %llu, "
		"returned "
		"%llu\n",
		stats->precision, stats->memory, stats->copy, v->graph, v->fuse, stats->workers,
		start_s, n_files / run_s, cpu_s / run_s, worst, top1, n_files - 1, wrong,
		stats->decoder, (unsigned long long)stats->nvjpeg_decoded,
		(unsigned long long)stats->nvjpeg_returned);
	fflush(stdout);
}

static void print_line(void *user, const char *text)
{
	(void)user;
	fprintf(stderr, "    %s\n", text);
}

static bool is_gpu(void)
{
	return !strcmp(engine, "cudnn");
}

/* explains: also the table of what was measured. False: an answer is wrong. */
static bool try_variant(const struct variant *v, bool explains)
{
	struct fw_pipeline_config config;
	struct fw_pipeline *pipeline;
	struct fw_pipeline_stats stats;
	struct fw_error err;
	double start = now_s(CLOCK_MONOTONIC), started, ended, cpu, worst = 0;
	int wrong = 0, top1 = 0;

	fw_pipeline_config_init(&config);
	fw_pipeline_stats_init(&stats);
	config.engine = engine;
	config.model = model;
	config.top = TOP;
	config.max_batch = v->batch;
	config.workers = v->workers;
	config.fuse = v->fuse;
	config.autotune_s = 0;
	if (is_gpu()) {
		config.precision = v->precision;
		config.memory = v->memory;
		config.copy = v->copy;
		config.graph = v->graph;
		config.decoder = v->decoder;
	}
	if (explains) {
		config.say = print_line;
		config.autotune_s = 1;
	}
	if (fw_pipeline_create(&config, &pipeline, &err)) {
		fprintf(stderr, "%s %s %s graph %d fuse %d workers %u: %s\n", v->precision,
			v->memory, v->copy, v->graph, v->fuse, v->workers, err.message);
		if (err.code == FW_ERR_UNSUPPORTED && v->decoder)
			return true; /* there is no nvJPEG */
		if (err.code == FW_ERR_UNSUPPORTED)
			exit(77);
		return false;
	}
	started = now_s(CLOCK_MONOTONIC);
	cpu = now_s(CLOCK_PROCESS_CPUTIME_ID);
	run(pipeline, got);
	ended = now_s(CLOCK_MONOTONIC);
	cpu = now_s(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	fw_pipeline_get_stats(pipeline, &stats, NULL);
	for (int i = 0; i < n_files; i++) {
		wrong += !compare(i, tolerance(stats.precision), &worst);
		top1 += i != DAMAGED && got[i].ids[0] == want[i].ids[0];
	}
	if (explains)
		fw_pipeline_explain(pipeline, print_line, NULL, NULL);
	fw_pipeline_destroy(pipeline);
	print_row(v, &stats, started - start, ended - started, cpu, worst, top1, wrong);
	return !wrong;
}

/* fp16: memory x copy x graph x fuse; fp32: memory x copy x graph; then the number of workers. */
static struct variant variant_of(int i)
{
	struct variant v = {
		.precision = i < 16 || i >= 24 ? "fp16" : "fp32",
		.memory = i & 1 ? "pageable" : "pinned",
		.copy = i & 2 ? "blocking" : "async",
		.graph = !(i & 4),
		.fuse = !(i & 8),
		.workers = (uint32_t)i % 3 + 1,
		.batch = 8,
	};

	if (i >= 24) {
		v.memory = "pinned";
		v.copy = "async";
		v.graph = v.fuse = 1;
	}
	return v;
}

static bool try_all(void)
{
	bool is_right = true;
	int first = is_gpu() ? 0 : 5; /* the CPU knows two of the switches */

	for (int i = first; i < (is_gpu() ? 27 : 11); i++) {
		struct variant v = variant_of(i);

		is_right = try_variant(&v, false) && is_right;
	}
	return is_right;
}

static bool try_presets(void)
{
	const struct variant presets[] = {
		{ "fp16", "pinned", "async", 1, 1, 0, 64, NULL },
		{ "fp32", "pinned", "async", 1, 1, 0, 64, NULL },
		{ "bf16", "pinned", "async", 1, 1, 2, 64, NULL },
		{ "fp32", "pageable", "blocking", 0, 0, 1, 64, NULL },
		{ "fp16", "pinned", "async", 1, 1, 2, 64, "nvjpeg" },
		{ "fp16", "pinned", "async", 1, 1, 2, 64, "auto" },
		{ "fp32", "pageable", "blocking", 0, 0, 1, 64, "nvjpeg" },
	};
	bool is_right = true;

	for (int i = 0; i < (is_gpu() ? 7 : 1); i++)
		is_right = try_variant(&presets[i], i < 2) && is_right;
	return is_right;
}

int main(int argc, char **argv)
{
	bool is_right;

	if (argc != 5)
		stop("usage", "gpu_pipeline ENGINE MODEL FOLDER all|presets");
	engine = argv[1];
	model = argv[2];
	read_folder(argv[3]);
	get_reference();
	printf("{\"rows\":[");
	is_right = strcmp(argv[4], "presets") ? try_all() : try_presets();
	printf("\n],\"right\":%s}\n", is_right ? "true" : "false");
	fprintf(stderr, "%s\n", is_right ? "all answers are right" : "ANSWERS ARE WRONG");
	return !is_right;
}
