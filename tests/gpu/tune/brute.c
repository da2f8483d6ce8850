/*
 * gpu_tune_brute SPEC.cu [--cache FILE] [--points N] [--seed S] [--samples K] [--workers W] [--objects FOLDER]
 *                [--compile-only CC] [--l2 warm|flush] [--hang SECONDS] [--config A=1,B=2]... [--runs R]
 * Measures all configurations of a specification, or N drawn at random, or those named, each checked first; a line of
 * JSON on stdout, every result in the cache. With --compile-only nothing is launched. --runs R: each named one R times,
 * each time in a fresh process and with fresh inputs; every run's median is printed.
 */
#include "tune/cache.h"
#include "tune/race.h"
#include "tune/rng.h"
#include "tune/runner.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REASONS 8
#define CONFIGS 16
#define RUNS    32

struct brute {
	const char *spec_path, *cache_path, *objects, *l2;
	uint64_t points, seed;
	uint32_t samples, workers, compile_only;
	double hang_s;
	struct fw_tune_spec spec;
	struct fw_tune_compiler *compiler;
	struct fw_tune_runner *runner;
	struct fw_tune_gpu gpu;
	struct fw_tune_conditions conditions;
	struct fw_tune_cache *cache;
	uint64_t done, by_status[FW_TUNE_HUNG + 1], spills;
	double compile_s, gpu_s; /* summed over workers; of this process */
	struct fw_tune_result best;
	double preset_s; /* the default configuration; 0: not measured */
	char reasons[REASONS][FW_TUNE_REASON_BYTES + 32];
	unsigned n_reasons;
	const char *configs[CONFIGS];
	unsigned n_configs, runs;
	double medians[CONFIGS][RUNS]; /* of the runs; negative: failed */
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int fail(const char *what, const struct fw_error *err)
{
	fprintf(stderr, "%s: %s\n", what, err->message);
	return 1;
}

static int read_options(struct brute *b, int argc, char **argv)
{
	static const struct option options[] = {
		{ "cache", 1, 0, 'c' },   { "points", 1, 0, 'p' },       { "seed", 1, 0, 's' },
		{ "samples", 1, 0, 'k' }, { "workers", 1, 0, 'w' },      { "objects", 1, 0, 'o' },
		{ "l2", 1, 0, 'l' },      { "compile-only", 1, 0, 'x' }, { "hang", 1, 0, 'h' },
		{ "config", 1, 0, 'g' },  { "runs", 1, 0, 'r' },         { 0 },
	};
	int c;

	*b = (struct brute){ .samples = 5, .l2 = "warm", .hang_s = 2 };
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (c) {
		case 'c': b->cache_path = optarg; break;
		case 'p': b->points = strtoull(optarg, NULL, 10); break;
		case 's': b->seed = strtoull(optarg, NULL, 10); break;
		case 'k': b->samples = (uint32_t)strtoul(optarg, NULL, 10); break;
		case 'w': b->workers = (uint32_t)strtoul(optarg, NULL, 10); break;
		case 'o': b->objects = optarg; break;
		case 'l': b->l2 = optarg; break;
		case 'x': b->compile_only = (uint32_t)strtoul(optarg, NULL, 10); break;
		case 'h': b->hang_s = strtod(optarg, NULL); break;
		case 'r': b->runs = (unsigned)strtoul(optarg, NULL, 10); break;
		case 'g':
			if (b->n_configs == CONFIGS)
				return 2;
			b->configs[b->n_configs++] = optarg;
			break;
		default: return 2;
		}
	b->spec_path = argv[optind];
	if (b->runs > RUNS || (b->runs && !b->n_configs))
		return 2;
	return optind + 1 == argc ? 0 : 2;
}

/* The runner and the compiler fork: both before anything else is open. */
static int open_parts(struct brute *b)
{
	struct fw_tune_runner_options run = { .flushes_l2 = !strcmp(b->l2, "flush"),
					      .hang_s = b->hang_s,
					      .seed = b->seed };
	struct fw_tune_compile_options compile = {
		.cc = b->compile_only, .workers = b->workers, .cache_dir = b->objects, .limit_s = 60
	};
	struct fw_tune_cache_options cache = { .path = b->cache_path,
					       .space = &b->spec.space,
					       .conditions = &b->conditions };
	struct fw_tune_compile_stats stats;
	struct fw_error err = { 0 };

	if (fw_tune_spec_read(b->spec_path, &b->spec, &err))
		return fail(b->spec_path, &err);
	if (!b->compile_only) {
		if (fw_tune_runner_open(&b->spec, &run, &b->runner, &b->gpu, &err))
			return fail("the GPU", &err);
		compile.cc = b->gpu.cc;
	}
	if (fw_tune_compiler_open(&b->spec, &compile, &b->compiler, &err))
		return fail("the compiler", &err);
	fw_tune_compiler_stats(b->compiler, &stats);
	b->conditions = (struct fw_tune_conditions){ .cc = b->gpu.cc,
						     .driver = b->gpu.driver_version,
						     .l2 = b->l2 };
	snprintf(b->conditions.gpu, sizeof(b->conditions.gpu), "%s", b->gpu.name);
	snprintf(b->conditions.uuid, sizeof(b->conditions.uuid), "%s", b->gpu.uuid);
	snprintf(b->conditions.nvrtc, sizeof(b->conditions.nvrtc), "%u.%u", stats.nvrtc_major,
		 stats.nvrtc_minor);
	fw_tune_conditions_of_spec(&b->spec, &b->conditions);
	if (b->cache_path && fw_tune_cache_open(&cache, &b->cache, &err))
		return fail(b->cache_path, &err);
	return 0;
}

static int set_reference(struct brute *b)
{
	struct fw_tune_object object = { 0 };
	struct fw_tune_config preset;
	struct fw_error err = { 0 };
	fw_status status;

	if (!fw_tune_space_preset(&b->spec.space, &preset))
		fprintf(stderr, "the default configuration is not in the space\n");
	status = fw_tune_compiler_submit(b->compiler, &preset, NULL, &err);
	if (!status)
		status = fw_tune_compiler_next(b->compiler, &object, &err);
	if (!status && object.result.status)
		status = FW_ERR_FORMAT;
	if (!status && b->runner)
		status = fw_tune_runner_set_reference(b->runner, &object, NULL, &err);
	if (status)
		fprintf(stderr, "the reference: %s%s\n", err.message, object.result.reason);
	fw_tune_object_release(&object);
	return status ? 1 : 0;
}

/* All keys, or so many of them in random order (Fisher and Yates). */
static uint64_t submit_points(struct brute *b)
{
	const struct fw_tune_space *space = &b->spec.space;
	uint64_t n = b->points && b->points < space->n_valid ? b->points : space->n_valid;
	uint64_t *keys = malloc(space->n_valid * sizeof(*keys));
	struct fw_tune_rng rng;
	struct fw_error err = { 0 };

	if (!keys || !space->is_listed)
		exit(1);
	fw_tune_rng_seed(&rng, b->seed);
	memcpy(keys, space->keys, space->n_valid * sizeof(*keys));
	for (uint64_t i = 0; i < n; i++) {
		uint64_t j = i + fw_tune_rng_below(&rng, space->n_valid - i), key = keys[j];
		struct fw_tune_config config;

		keys[j] = keys[i];
		fw_tune_space_config(space, key, &config);
		if (fw_tune_compiler_submit(b->compiler, &config, NULL, &err))
			exit(fail("submit", &err));
	}
	free(keys);
	return n;
}

/* "A=1,B=2": the default configuration with those values. */
static void read_config(const struct brute *b, const char *text, struct fw_tune_config *config)
{
	const struct fw_tune_space *space = &b->spec.space;

	fw_tune_space_preset(space, config);
	while (*text) {
		size_t name = strcspn(text, "="), value = strcspn(text + name, ",");
		bool is_found = false;

		for (uint32_t p = 0; p < space->n_params; p++)
			for (uint16_t v = 0; v < space->params[p].n_values; v++) {
				const char *own = space->params[p].values[v].text;

				if (strlen(space->params[p].name) != name || value < 1 ||
				    strncmp(space->params[p].name, text, name) ||
				    strlen(own) != value - 1 ||
				    strncmp(own, text + name + 1, value - 1))
					continue;
				config->value[p] = v;
				is_found = true;
			}
		if (!is_found) {
			fprintf(stderr, "no such value: %s\n", text);
			exit(2);
		}
		text += name + value;
		text += *text == ',';
	}
}

static uint64_t submit_configs(struct brute *b)
{
	struct fw_tune_config config;
	struct fw_error err = { 0 };

	for (unsigned i = 0; i < b->n_configs; i++) {
		read_config(b, b->configs[i], &config);
		if (fw_tune_compiler_submit(b->compiler, &config, NULL, &err))
			exit(fail("submit", &err));
	}
	return b->n_configs;
}

static void keep_reason(struct brute *b, const struct fw_tune_result *result)
{
	if (b->by_status[result->status] == 1 && b->n_reasons < REASONS)
		snprintf(b->reasons[b->n_reasons++], sizeof(b->reasons[0]), "%s: %s",
			 fw_tune_status_name(result->status), result->reason);
}

static int take_one(struct brute *b)
{
	struct fw_tune_result result, *results[] = { &result };
	struct fw_tune_object object;
	struct fw_tune_config preset;
	struct fw_error err = { 0 };
	const uint32_t slot = 0;
	double start;

	if (fw_tune_compiler_next(b->compiler, &object, &err))
		return fail("next", &err);
	result = object.result;
	b->compile_s += result.compile_s;
	b->spills += result.has_attributes && result.spill_bytes;
	start = now();
	if (object.cubin && b->runner &&
	    (fw_tune_runner_check(b->runner, &object, slot, &result, &err) ||
	     (!result.status &&
	      fw_tune_runner_sample(b->runner, &slot, results, 1, b->samples, &err))))
		return fail("check", &err);
	b->gpu_s += now() - start;
	fw_tune_object_release(&object);
	if (result.n_samples)
		fw_tune_summarize(&result);
	b->done++;
	b->by_status[result.status]++;
	if (result.status)
		keep_reason(b, &result);
	else if (result.median_s > 0 && (!b->best.n_samples || result.median_s < b->best.median_s))
		b->best = result;
	fw_tune_space_preset(&b->spec.space, &preset);
	if (!result.status && fw_tune_space_key(&b->spec.space, &preset) ==
				      fw_tune_space_key(&b->spec.space, &result.config))
		b->preset_s = result.median_s;
	return b->cache && fw_tune_cache_append(b->cache, &result, &err) ? fail("cache", &err) : 0;
}

/* Each named configuration once, in a process of its own. */
static int run_once(struct brute *b, unsigned run)
{
	struct fw_tune_runner_options options = { .flushes_l2 = !strcmp(b->l2, "flush"),
						  .hang_s = b->hang_s,
						  .seed = b->seed + 1000 + run };
	struct fw_error err = { 0 };

	fw_tune_runner_close(b->runner);
	b->runner = NULL;
	if (fw_tune_runner_open(&b->spec, &options, &b->runner, &b->gpu, &err))
		return fail("the GPU", &err);
	if (set_reference(b))
		return 1;
	for (unsigned i = 0; i < b->n_configs; i++) {
		struct fw_tune_result result, *results[] = { &result };
		struct fw_tune_object object;
		struct fw_tune_config config;
		const uint32_t slot = 0;

		read_config(b, b->configs[i], &config);
		if (fw_tune_compiler_submit(b->compiler, &config, NULL, &err) ||
		    fw_tune_compiler_next(b->compiler, &object, &err) || !object.cubin ||
		    fw_tune_runner_check(b->runner, &object, slot, &result, &err) ||
		    fw_tune_runner_sample(b->runner, &slot, results, 1, b->samples, &err))
			return fail(b->configs[i], &err);
		fw_tune_object_release(&object);
		if (result.n_samples)
			fw_tune_summarize(&result);
		b->medians[i][run] = result.status ? -1 : result.median_s;
		fprintf(stderr, "%s %s: run %u: %s %s %.9g s, %u samples, %u MHz\n", b->spec_path,
			b->configs[i], run, fw_tune_status_name(result.status), result.reason,
			result.median_s, result.n_samples, result.sm_clock_mhz);
	}
	return 0;
}

static void print_runs(const struct brute *b)
{
	for (unsigned i = 0; i < b->n_configs; i++) {
		printf("%s{\"config\": \"%s\", \"runs_s\": [", i ? ", " : ", \"runs\": [",
		       b->configs[i]);
		for (unsigned run = 0; run < b->runs; run++)
			printf("%s%.9g", run ? ", " : "", b->medians[i][run]);
		printf("]}%s", i + 1 == b->n_configs ? "]" : "");
	}
}

static void print(const struct brute *b, double wall_s)
{
	struct fw_tune_compile_stats stats;

	fw_tune_compiler_stats(b->compiler, &stats);
	printf("{\"spec\": \"%s\", \"valid\": %llu, \"done\": %llu, \"wall_s\": %.2f, \"rate\": "
	       "%.2f, "
	       "\"compile_s\": %.2f, \"gpu_s\": %.2f, \"from_cache\": %llu, \"spills\": %llu, "
	       "\"best_s\": %.9g, \"default_s\": %.9g",
	       b->spec_path, (unsigned long long)b->spec.space.n_valid, (unsigned long long)b->done,
	       wall_s, (double)b->done / wall_s, b->compile_s, b->gpu_s,
	       (unsigned long long)stats.from_cache, (unsigned long long)b->spills,
	       b->best.median_s, b->preset_s);
	for (unsigned i = 0; i <= FW_TUNE_HUNG; i++)
		printf(", \"%s\": %llu", fw_tune_status_name((enum fw_tune_status)i),
		       (unsigned long long)b->by_status[i]);
	if (b->runs)
		print_runs(b);
	printf("}\n");
	for (unsigned i = 0; i < b->n_reasons; i++)
		fprintf(stderr, "%s: first %s\n", b->spec_path, b->reasons[i]);
}

int main(int argc, char **argv)
{
	static struct brute b;
	struct fw_error err = { 0 };
	double start;
	uint64_t n;

	if (read_options(&b, argc, argv)) {
		fprintf(stderr, "usage: gpu_tune_brute SPEC.cu [--cache FILE] [--points N] ...\n");
		return 2;
	}
	if (open_parts(&b) || set_reference(&b))
		return 1;
	start = now();
	n = b.runs ? 0 : b.n_configs ? submit_configs(&b) : submit_points(&b);
	while (b.done < n)
		if (take_one(&b))
			return 1;
	for (unsigned run = 0; run < b.runs; run++)
		if (run_once(&b, run))
			return 1;
	print(&b, now() - start);
	fw_tune_runner_close(b.runner);
	if (fw_tune_cache_close(b.cache, &err))
		return fail("cache", &err);
	fw_tune_compiler_close(b.compiler);
	fw_tune_spec_free(&b.spec);
	return 0;
}
