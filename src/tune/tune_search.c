/* The search: configurations are asked for, compiled ahead, checked and timed on the GPU, and told in order. */
#include "tune/tune_run.h"

#include "base/error.h"
#include "tune/process.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Samples of a configuration before the race. */
#define SCREENING 3

/* Configurations timed between two looks at the GPU's speed, and the change that counts. */
#define DRIFT_EVERY 20
#define DRIFT_SHARE 0.03

/* Of the fastest so many stay loaded for the race. */
#define LOADED_MAX 40

/* A launch that takes so many times the best is hung; at the least, a second. */
#define HANG_FACTOR  10.0
#define HANG_LEAST_S 1.0

#define AHEAD_MAX 128

struct asked { /* a configuration between asking and telling */
	struct fw_tune_config config;
	bool is_compiled, is_cached;
	struct fw_tune_object object;
};

struct progress {
	struct fw_tune_search *search;
	struct asked *ahead; /* a ring */
	uint32_t first, n, room;
	uint64_t told;
	unsigned timed_since; /* the last look at the speed */
	int64_t start_ns;
	bool is_over; /* nothing more is asked: stopped, or out of time */
};

static struct asked *asked_at(struct progress *p, uint32_t i)
{
	return &p->ahead[(p->first + i) % p->room];
}

static bool is_out_of_time(struct fw_tune_run *run, const struct progress *p)
{
	double passed = (double)(fw_tune_now() - p->start_ns) * 1e-9;

	return fw_tune_run_is_stopped(run) ||
	       (run->options->limit_s > 0 && passed >= run->options->limit_s);
}

/* Asks as long as there is room; what the cache does not know goes to the compiler. */
static fw_status ask(struct fw_tune_run *run, struct progress *p, struct fw_error *err)
{
	p->is_over = p->is_over || is_out_of_time(run, p);
	while (!p->is_over && p->n < p->room) {
		struct asked *asked = asked_at(p, p->n);
		fw_status status = FW_OK;

		*asked = (struct asked){ 0 };
		if (!fw_tune_search_ask(p->search, &asked->config, 1))
			break;
		p->n++;
		asked->is_cached = run->cache && fw_tune_cache_find(run->cache, &asked->config);
		if (!asked->is_cached)
			status = fw_tune_compiler_submit(run->compiler, &asked->config, NULL, err);
		if (status)
			return status;
	}
	return FW_OK;
}

/* Waits until the first asked is compiled: told in the order of asking, a search is the same again. */
static fw_status await_first(struct fw_tune_run *run, struct progress *p, struct fw_error *err)
{
	while (!asked_at(p, 0)->is_cached && !asked_at(p, 0)->is_compiled) {
		struct fw_tune_object object;
		fw_status status = fw_tune_compiler_next(run->compiler, &object, err);
		uint32_t i = 0;

		if (status)
			return status;
		while (i < p->n && (asked_at(p, i)->is_compiled || asked_at(p, i)->is_cached ||
				    memcmp(&asked_at(p, i)->config, &object.result.config,
					   sizeof(object.result.config))))
			i++;
		if (i == p->n) {
			fw_tune_object_release(&object);
			return fw_fail(err, FW_ERR_INTERNAL,
				       "a configuration was compiled that was not asked for");
		}
		asked_at(p, i)->object = object;
		asked_at(p, i)->is_compiled = true;
	}
	return FW_OK;
}

/* A key of what is run: the machine code and how it is launched. */
static fw_status code_key(const struct fw_tune_run *run, const struct fw_tune_result *r,
			  uint64_t *key, struct fw_error *err)
{
	struct fw_tune_launch launch = { 0 };
	fw_status status = fw_tune_spec_launch(run->spec, &r->config, NULL, &launch, err);
	const uint64_t parts[] = {
		launch.grid[0],  launch.grid[1],      launch.grid[2],
		launch.block[0], launch.block[1],     launch.block[2],
		launch.cluster,  launch.dynamic_smem, (uint64_t)(int64_t)launch.carveout
	};

	*key = fw_hash_bytes(parts, sizeof(parts));
	return status;
}

/* The entry that ran the same code with the same launch, or -1; else this one is noted as the first. */
static fw_status find_same(struct fw_tune_run *run, uint32_t entry, ptrdiff_t *same,
			   struct fw_error *err)
{
	const struct fw_tune_result *r = &fw_tune_entry(run->report, entry)->result;
	uint64_t key, *at;
	fw_status status = code_key(run, r, &key, err);

	*same = -1;
	if (status || !r->cubin_hash)
		return status;
	at = fw_map_at(&run->codes, key, r->cubin_hash, NULL);
	if (!at)
		return fw_fail_nomem(err, sizeof(*at));
	if (*at)
		*same = (ptrdiff_t)*at - 1;
	else
		*at = (uint64_t)entry + 1;
	return FW_OK;
}

static void copy_outcome(struct fw_tune_entry *to, const struct fw_tune_entry *from)
{
	to->result.status = from->result.status;
	memcpy(to->result.reason, from->result.reason, sizeof(to->result.reason));
	memcpy(to->result.samples_s, from->result.samples_s, sizeof(to->result.samples_s));
	to->result.n_samples = from->result.n_samples;
	to->result.sm_clock_mhz = from->result.sm_clock_mhz;
	to->guide_s = from->guide_s;
	to->is_cached = from->is_cached;
	fw_tune_summarize(&to->result);
}

/* The slowest of the loaded makes room, if there are many; never the default or the fastest. */
static void make_room(struct fw_tune_run *run)
{
	struct fw_tune_loaded *loaded = run->loaded.data, *slowest = NULL;
	ptrdiff_t best = fw_tune_run_best(run);
	double most = -1;

	if (run->loaded.len < LOADED_MAX)
		return;
	for (size_t i = 0; i < run->loaded.len; i++) {
		ptrdiff_t entry = loaded[i].entry;
		double guide = fw_tune_entry(run->report, (size_t)entry)->guide_s;

		if (entry != best && entry != run->report->preset && guide > most) {
			most = guide;
			slowest = &loaded[i];
		}
	}
	if (slowest)
		fw_tune_run_unload(run, slowest);
}

static void set_hang(struct fw_tune_run *run)
{
	ptrdiff_t best = fw_tune_run_best(run);

	if (best >= 0)
		fw_tune_runner_set_hang(
			run->runner,
			fmax(HANG_LEAST_S,
			     HANG_FACTOR * run->drift *
				     fw_tune_entry(run->report, (size_t)best)->guide_s));
}

/* Checks and times a compiled configuration on the GPU. */
static fw_status time_entry(struct fw_tune_run *run, uint32_t entry, struct fw_tune_object *object,
			    struct fw_error *err)
{
	struct fw_tune_result *result;
	fw_status status;

	make_room(run);
	status = fw_tune_run_load(run, entry, object, err);
	result = &fw_tune_entry(run->report, entry)->result;
	if (!status && result->status == FW_TUNE_OK)
		status = fw_tune_runner_sample(run->runner, &entry, &result, 1, SCREENING, err);
	if (status)
		return status;
	fw_tune_summarize(result);
	if (result->status == FW_TUNE_OK && result->n_samples) {
		fw_tune_entry(run->report, entry)->guide_s = result->median_s / run->drift;
		set_hang(run);
	}
	return FW_OK;
}

/* Puts what became of the first asked into its entry. */
static fw_status evaluate(struct fw_tune_run *run, struct progress *p, uint32_t entry,
			  struct fw_error *err)
{
	struct asked *asked = asked_at(p, 0);
	struct fw_tune_entry *e = fw_tune_entry(run->report, entry);
	fw_status status;

	if (asked->is_cached) {
		e->result = *fw_tune_cache_find(run->cache, &asked->config);
		e->is_cached = true;
		e->guide_s = e->result.status == FW_TUNE_OK ? e->result.median_s : -1;
		return find_same(run, entry, &e->same_as, err);
	}
	e->result = asked->object.result;
	if (e->result.status != FW_TUNE_OK)
		return FW_OK;
	status = find_same(run, entry, &e->same_as, err);
	if (status)
		return status;
	if (e->same_as >= 0) {
		copy_outcome(e, fw_tune_entry(run->report, (size_t)e->same_as));
		return FW_OK;
	}
	p->timed_since++;
	return time_entry(run, entry, &asked->object, err);
}

/* The default configuration is known by its values. */
static void note_preset(struct fw_tune_run *run, uint32_t entry)
{
	struct fw_tune_config config;

	if (fw_tune_space_preset(&run->spec->space, &config) &&
	    !memcmp(&config, &fw_tune_entry(run->report, entry)->result.config, sizeof(config)))
		run->report->preset = entry;
}

static fw_status settle_first(struct fw_tune_run *run, struct progress *p, struct fw_error *err)
{
	struct asked *asked = asked_at(p, 0);
	uint32_t entry = (uint32_t)run->report->entries.len;
	struct fw_tune_entry *e = fw_vec_push(&run->report->entries);
	fw_status status;

	if (!e)
		return fw_fail_nomem(err, sizeof(*e));
	*e = (struct fw_tune_entry){ .guide_s = -1, .same_as = -1 };
	e->result.config = asked->config;
	e->result.occupancy = -1;
	status = evaluate(run, p, entry, err);
	fw_tune_object_release(&asked->object);
	if (status)
		return status;
	note_preset(run, entry);
	e = fw_tune_entry(run->report, entry);
	fw_tune_summarize(&e->result);
	run->failed += e->guide_s < 0;
	if (!e->is_cached)
		fw_tune_run_keep(run, &e->result);
	p->first = (p->first + 1) % p->room;
	p->n--;
	p->told++;
	return fw_tune_search_tell(p->search, &e->result.config,
				   e->guide_s >= 0 ? FW_TUNE_TIMED : FW_TUNE_FAILED, e->guide_s,
				   err);
}

/*
 * Samples the fastest again: where the GPU has become slower or faster, later times are told as they would have been
 * before. The race measures anew what counts.
 */
static fw_status look_at_speed(struct fw_tune_run *run, struct progress *p, struct fw_error *err)
{
	ptrdiff_t best = fw_tune_run_best(run);
	struct fw_tune_result again = { 0 }, *results[] = { &again };
	uint32_t slot = (uint32_t)best;
	double drift;
	fw_status status;

	if (p->timed_since < DRIFT_EVERY || best < 0 || !fw_tune_run_loaded(run, slot))
		return FW_OK;
	p->timed_since = 0;
	status = fw_tune_runner_sample(run->runner, &slot, results, 1, SCREENING, err);
	fw_tune_summarize(&again);
	if (status || !again.n_samples)
		return status;
	drift = again.median_s / fw_tune_entry(run->report, (size_t)best)->guide_s;
	if (fabs(drift / run->drift - 1) <= DRIFT_SHARE)
		return FW_OK;
	fw_tune_run_note(
		run,
		"the GPU is %.1f %% %s than before: the fastest so far took %.3g us, now %.3g "
		"us; times are compared at equal speed from here on",
		100 * fabs(drift / run->drift - 1), drift > run->drift ? "slower" : "faster",
		1e6 * run->drift * fw_tune_entry(run->report, (size_t)best)->guide_s,
		1e6 * again.median_s);
	run->drift = drift;
	run->report->n_rescaled++;
	return FW_OK;
}

static fw_status open_search(struct fw_tune_run *run, struct progress *p, struct fw_error *err)
{
	struct fw_tune_search_options options = run->options->search;
	struct fw_tune_config starts[FW_TUNE_MAX_STARTS];
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned workers =
		run->options->workers ? run->options->workers : (unsigned)(cores > 0 ? cores : 1);
	fw_status status;

	options.starts = starts;
	options.n_starts = fw_tune_starts(run->spec, starts);
	status = fw_tune_search_open(&run->spec->space, &options, &p->search, err);
	if (status)
		return status;
	run->report->strategy = fw_tune_search_strategy(p->search);
	p->room = workers * 2 < AHEAD_MAX ? workers * 2 : AHEAD_MAX;
	p->ahead = calloc(p->room, sizeof(*p->ahead));
	return p->ahead ? FW_OK : fw_fail_nomem(err, p->room * sizeof(*p->ahead));
}

static fw_status settle_all(struct fw_tune_run *run, struct progress *p, struct fw_error *err)
{
	uint64_t budget = run->options->search.budget;
	const struct fw_tune_space *space = &run->spec->space;
	fw_status status = FW_OK;

	if (space->is_listed && budget > space->n_valid)
		budget = space->n_valid;
	for (;;) {
		status = ask(run, p, err);
		if (status || p->is_over || !p->n)
			return status;
		status = await_first(run, p, err);
		if (!status)
			status = settle_first(run, p, err);
		if (!status)
			status = look_at_speed(run, p, err);
		if (status)
			return status;
		fw_tune_run_progress(run, FW_TUNE_PHASE_SEARCH, p->told, budget);
	}
}

/* What was compiled for nothing because the search is over; the compilers are to be idle, unless nothing follows. */
static void forget_ahead(struct fw_tune_run *run, struct progress *p)
{
	struct fw_tune_object object;

	while (p->n) {
		struct asked *asked = asked_at(p, 0);

		if (!asked->is_cached && !asked->is_compiled && !run->report->is_stopped &&
		    !fw_tune_compiler_next(run->compiler, &object, NULL))
			fw_tune_object_release(&object);
		fw_tune_object_release(&asked->object);
		p->first = (p->first + 1) % p->room;
		p->n--;
	}
}

fw_status fw_tune_run_search(struct fw_tune_run *run, struct fw_error *err)
{
	struct progress p = { .start_ns = fw_tune_now() };
	const struct fw_tune_space *space = &run->spec->space;
	fw_status status = open_search(run, &p, err);

	if (!status)
		status = settle_all(run, &p, err);
	run->report->is_complete = !status && space->is_listed && p.told == space->n_valid;
	run->report->search_s = (double)(fw_tune_now() - p.start_ns) * 1e-9;
	forget_ahead(run, &p);
	free(p.ahead);
	fw_tune_search_close(p.search);
	return status;
}
