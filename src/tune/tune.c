/* A tuning run from its first compile to its report. */
#include "tune/tune_run.h"

#include "base/error.h"
#include "tune/include_hash.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Before anything is measured, a launch that takes longer is hung. */
#define FIRST_HANG_S 30.0

/* Of one compile. */
#define COMPILE_LIMIT_S 120.0

bool fw_tune_run_is_stopped(struct fw_tune_run *run)
{
	const struct fw_tune_run_options *o = run->options;

	if (!run->report->is_stopped && o->is_stopped && o->is_stopped(o->user))
		run->report->is_stopped = true;
	return run->report->is_stopped;
}

void fw_tune_run_note(struct fw_tune_run *run, const char *fmt, ...)
{
	const char **to = fw_vec_push(&run->report->notes);
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (to) {
		*to = fw_arena_strndup(&run->report->arena, text, strlen(text));
		if (!*to)
			run->report->notes.len--;
	}
	if (run->options->note)
		run->options->note(run->options->user, text);
}

ptrdiff_t fw_tune_run_best(struct fw_tune_run *run)
{
	const struct fw_tune_report *report = run->report;

	if (run->best >= 0 && fw_tune_entry(report, (size_t)run->best)->guide_s < 0) {
		run->best = -1;
		run->looked_at = 0;
	}
	for (size_t i = run->looked_at; i < report->entries.len; i++) {
		const struct fw_tune_entry *e = fw_tune_entry(report, i);

		if (e->guide_s >= 0 &&
		    (run->best < 0 ||
		     e->guide_s < fw_tune_entry(report, (size_t)run->best)->guide_s))
			run->best = (ptrdiff_t)i;
	}
	/* The last one may get its time later. */
	run->looked_at = report->entries.len ? report->entries.len - 1 : 0;
	return run->best;
}

void fw_tune_run_progress(struct fw_tune_run *run, enum fw_tune_phase phase, uint64_t done,
			  uint64_t of)
{
	struct fw_tune_progress progress = { phase, done, of, -1, -1, run->failed };
	ptrdiff_t best = fw_tune_run_best(run);

	if (!run->options->progress)
		return;
	if (best >= 0)
		progress.best_s = fw_tune_entry(run->report, (size_t)best)->guide_s;
	if (run->report->preset >= 0)
		progress.preset_s =
			fw_tune_entry(run->report, (size_t)run->report->preset)->guide_s;
	run->options->progress(run->options->user, &progress);
}

fw_status fw_tune_run_open_runner(struct fw_tune_run *run, struct fw_error *err)
{
	const struct fw_tune_runner_options options = { .device = run->options->device,
							.flushes_l2 = run->options->flushes_l2,
							.hang_s = FIRST_HANG_S,
							.seed = run->options->search.seed,
							.nvrtc_path = run->options->nvrtc_path };

	run->has_reference = false;
	return fw_tune_runner_open(run->spec, &options, &run->runner, &run->report->gpu, err);
}

static fw_status open_compiler(struct fw_tune_run *run, struct fw_error *err)
{
	const struct fw_tune_compile_options options = { .cc = run->report->gpu.cc,
							 .workers = run->options->workers,
							 .cache_dir = run->options->object_dir,
							 .nvrtc_path = run->options->nvrtc_path,
							 .limit_s = COMPILE_LIMIT_S };

	return fw_tune_compiler_open(run->spec, &options, &run->compiler, err);
}

fw_status fw_tune_run_compile(struct fw_tune_run *run, const struct fw_tune_config *config,
			      const int64_t *sizes, struct fw_tune_object *object,
			      struct fw_error *err)
{
	fw_status status = fw_tune_compiler_submit(run->compiler, config, sizes, err);

	*object = (struct fw_tune_object){ 0 };
	return status ? status : fw_tune_compiler_next(run->compiler, object, err);
}

struct fw_tune_loaded *fw_tune_run_loaded(const struct fw_tune_run *run, uint32_t entry)
{
	struct fw_tune_loaded *loaded = run->loaded.data;

	for (size_t i = 0; i < run->loaded.len; i++)
		if (loaded[i].entry == entry)
			return &loaded[i];
	return NULL;
}

void fw_tune_run_unload(struct fw_tune_run *run, struct fw_tune_loaded *loaded)
{
	struct fw_tune_loaded *all = run->loaded.data;

	fw_tune_runner_drop(run->runner, loaded->entry);
	fw_tune_object_release(&loaded->object);
	*loaded = all[--run->loaded.len];
}

static void unload_all(struct fw_tune_run *run)
{
	struct fw_tune_loaded *all = run->loaded.data;

	while (run->loaded.len)
		fw_tune_run_unload(run, &all[run->loaded.len - 1]);
	fw_vec_release(&run->loaded);
}

fw_status fw_tune_run_load(struct fw_tune_run *run, uint32_t entry, struct fw_tune_object *object,
			   struct fw_error *err)
{
	struct fw_tune_entry *e = fw_tune_entry(run->report, entry);
	struct fw_tune_loaded *loaded;
	fw_status status = FW_OK;

	if (!run->has_reference && run->spec->reference)
		status = fw_tune_runner_set_reference(run->runner, object, NULL, err);
	run->has_reference = run->has_reference || !status;
	if (!status)
		status = fw_tune_runner_check(run->runner, object, entry, &e->result, err);
	loaded = !status && e->result.status == FW_TUNE_OK ? fw_vec_push(&run->loaded) : NULL;
	if (!status && e->result.status == FW_TUNE_OK && !loaded)
		status = fw_fail_nomem(err, sizeof(*loaded));
	if (loaded)
		*loaded = (struct fw_tune_loaded){ entry, *object };
	else
		fw_tune_object_release(object);
	*object = (struct fw_tune_object){ 0 };
	return status;
}

/* A cache that cannot be written costs the promise to resume, not the run: told once, and in the exit status. */
void fw_tune_run_keep(struct fw_tune_run *run, const struct fw_tune_result *result)
{
	struct fw_error err = { 0 };

	if (!run->cache || run->report->cache_error.code)
		return;
	if (fw_tune_cache_append(run->cache, result, &err)) {
		run->report->cache_error = err;
		fw_tune_run_note(run, "the cache is not written any more: %s", err.message);
	}
}

static void tell_of_cache(struct fw_tune_run *run)
{
	struct fw_tune_cache_stats stats;
	const char *path = run->options->cache_path;

	fw_tune_cache_stats(run->cache, &stats);
	if (stats.results)
		fw_tune_run_note(run, "%s: %llu results of earlier runs are used", path,
				 (unsigned long long)stats.results);
	if (stats.foreign)
		fw_tune_run_note(run, "%s: %llu results are not used: %s", path,
				 (unsigned long long)stats.foreign, stats.difference);
	if (stats.foreign_space)
		fw_tune_run_note(run,
				 "%s: %llu results are not used: their parameters or values are "
				 "not in the space now",
				 path, (unsigned long long)stats.foreign_space);
	if (stats.damaged)
		fw_tune_run_note(
			run, "%s: %llu lines are left out: damaged, the first is line %llu", path,
			(unsigned long long)stats.damaged, (unsigned long long)stats.first_damaged);
	if (stats.is_torn)
		fw_tune_run_note(run,
				 "%s: the last line has no end: an earlier run was ended while "
				 "it wrote",
				 path);
}

static fw_status open_cache(struct fw_tune_run *run, struct fw_error *err)
{
	struct fw_tune_conditions *c = &run->conditions;
	const struct fw_tune_gpu *gpu = &run->report->gpu;
	struct fw_tune_cache_options options = { .path = run->options->cache_path,
						 .space = &run->spec->space,
						 .conditions = c,
						 .forgets = run->options->forgets };
	uint64_t includes;
	fw_status status;

	memcpy(c->gpu, gpu->name, sizeof(c->gpu));
	memcpy(c->uuid, gpu->uuid, sizeof(c->uuid));
	c->cc = gpu->cc;
	c->driver = gpu->driver_version;
	c->l2 = run->options->flushes_l2 ? "flush" : "warm";
	fw_tune_compiler_stats(run->compiler, &run->report->compile);
	snprintf(c->nvrtc, sizeof(c->nvrtc), "%u.%u", run->report->compile.nvrtc_major,
		 run->report->compile.nvrtc_minor);
	fw_tune_conditions_of_spec(run->spec, c);
	if (!run->options->cache_path)
		return FW_OK;
	status = fw_tune_include_hash(run->spec, &includes, err);
	if (status)
		return status;
	c->source = fw_hash_u64(c->source ^ includes);
	status = fw_tune_cache_open(&options, &run->cache, err);
	if (!status)
		tell_of_cache(run);
	return status;
}

/* The default configuration is what outputs are checked against, unless there is a reference. */
static fw_status prepare_preset(struct fw_tune_run *run, struct fw_error *err)
{
	const struct fw_tune_object *preset = &run->preset;
	struct fw_tune_config config;
	fw_status status;

	if (!fw_tune_space_preset(&run->spec->space, &config)) {
		if (run->spec->reference)
			return FW_OK;
		return fw_fail(
			err, FW_ERR_ARGUMENT,
			"%s: the default configuration does not satisfy the constraints, and "
			"there is no reference kernel to check outputs against",
			run->spec->source_path);
	}
	status = fw_tune_run_compile(run, &config, NULL, &run->preset, err);
	if (status)
		return status;
	if (preset->result.status == FW_TUNE_OK) {
		status = fw_tune_runner_set_reference(run->runner, preset, NULL, err);
		run->has_reference = !status;
		return status;
	}
	if (run->spec->reference)
		return FW_OK;
	return fw_fail(err, FW_ERR_ARGUMENT,
		       "%s: the default configuration, which outputs are checked against: %s: %s",
		       run->spec->source_path, fw_tune_status_name(preset->result.status),
		       preset->result.reason);
}

static fw_status go(struct fw_tune_run *run, struct fw_error *err)
{
	fw_status status = fw_tune_run_open_runner(run, err);

	if (!status)
		status = open_compiler(run, err);
	if (!status)
		status = open_cache(run, err);
	if (!status)
		status = prepare_preset(run, err);
	if (!status)
		status = fw_tune_run_search(run, err);
	if (!status)
		status = fw_tune_run_race(run, err);
	if (!status)
		status = fw_tune_run_confirm(run, err);
	return status;
}

/* What went wrong beside the configurations, and was overcome. */
static void tell_of_compilers(struct fw_tune_run *run)
{
	const struct fw_tune_compile_stats *stats = &run->report->compile;

	if (stats->workers_lost)
		fw_tune_run_note(run, "%llu compilers crashed or hung, and were replaced",
				 (unsigned long long)stats->workers_lost);
	if (stats->trouble[0])
		fw_tune_run_note(run, "the cache of compiled code: %s", stats->trouble);
}

static void finish(struct fw_tune_run *run)
{
	struct fw_error *lost = &run->report->cache_error;
	struct fw_error err = { 0 };

	if (fw_tune_cache_close(run->cache, &err) && !lost->code)
		*lost = err;
	if (run->compiler) {
		fw_tune_compiler_stats(run->compiler, &run->report->compile);
		tell_of_compilers(run);
	}
	unload_all(run);
	fw_tune_object_release(&run->preset);
	fw_tune_compiler_close(run->compiler);
	fw_tune_runner_close(run->runner);
	fw_map_release(&run->index);
	fw_map_release(&run->codes);
}

fw_status fw_tune_run(const struct fw_tune_spec *spec, const struct fw_tune_run_options *options,
		      struct fw_tune_report *report, struct fw_error *err)
{
	struct fw_tune_run run = { .spec = spec,
				   .options = options,
				   .report = report,
				   .loaded = FW_VEC(struct fw_tune_loaded),
				   .drift = 1,
				   .best = -1 };
	fw_status status;

	*report = (struct fw_tune_report){ .entries = FW_VEC(struct fw_tune_entry),
					   .ranked = FW_VEC(uint32_t),
					   .notes = FW_VEC(const char *),
					   .preset = -1,
					   .winner = -1 };
	status = go(&run, err);
	finish(&run);
	return status;
}

void fw_tune_report_release(struct fw_tune_report *report)
{
	fw_vec_release(&report->entries);
	fw_vec_release(&report->ranked);
	fw_vec_release(&report->notes);
	fw_arena_release(&report->arena);
}
