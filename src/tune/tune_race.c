/*
 * The race: the fastest of the search are measured anew, interleaved in rounds, so that none has a better moment than
 * another; who is slower for certain drops out. Of those that cannot be told from the fastest, the cheapest wins.
 */
#include "tune/tune_run.h"

#include "base/error.h"
#include "tune/process.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RACERS_LEAST 10 /* the table of the result has so many */
#define RACERS_MAX   32
#define FIRST_ROUND  8 /* samples; from 6 on there is an interval */
#define ROUND        5
#define SAMPLES_CAP  50

/* A default that is many times slower need not be known to a percent. */
#define PRESET_SAMPLES 20

/* The race may take as long as the search, and this long in any case. */
#define RACE_LEAST_S 60.0

struct race {
	uint32_t entries[RACERS_MAX + 1]; /* and the default */
	uint32_t n;
	uint32_t left_out; /* that may be as fast, but were too many */
	int64_t start_ns;
	double limit_s;
};

struct ranked {
	uint32_t entry;
	bool is_raced;
	double seconds;
};

static int compare(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->is_raced != y->is_raced)
		return x->is_raced ? -1 : 1;
	if (x->seconds != y->seconds)
		return x->seconds < y->seconds ? -1 : 1;
	return x->entry < y->entry ? -1 : x->entry > y->entry;
}

/* How many parameters do not have their default value. */
static unsigned changes(const struct fw_tune_space *space, const struct fw_tune_config *config)
{
	unsigned n = 0;

	for (uint32_t p = 0; p < space->n_params; p++)
		n += config->value[p] != space->params[p].preset;
	return n;
}

static uint64_t block_bytes(const struct fw_tune_run *run, const struct fw_tune_result *r)
{
	struct fw_tune_launch launch = { 0 };

	if (!r->has_attributes || fw_tune_spec_launch(run->spec, &r->config, NULL, &launch, NULL))
		return UINT64_MAX;
	return fw_tune_block_bytes(r, launch.block[0] * launch.block[1] * launch.block[2]);
}

/* Least of an SM, then nearest to the default, then fastest. */
static bool is_cheaper(const struct fw_tune_run *run, const struct fw_tune_result *a,
		       const struct fw_tune_result *b)
{
	const struct fw_tune_space *space = &run->spec->space;
	uint64_t x = block_bytes(run, a), y = block_bytes(run, b);

	if (x != y)
		return x < y;
	return changes(space, &a->config) < changes(space, &b->config);
}

fw_status fw_tune_run_rank(struct fw_tune_run *run, struct fw_error *err)
{
	struct fw_tune_report *report = run->report;
	struct ranked *order = calloc(report->entries.len + 1, sizeof(*order));
	const struct fw_tune_entry *first;
	size_t n = 0;

	if (!order || !fw_vec_reserve(&report->ranked, report->entries.len)) {
		free(order);
		return fw_fail_nomem(err, report->entries.len * sizeof(*order));
	}
	for (size_t i = 0; i < report->entries.len; i++) {
		const struct fw_tune_entry *e = fw_tune_entry(report, i);

		if (e->result.status == FW_TUNE_OK && e->guide_s >= 0)
			order[n++] =
				(struct ranked){ (uint32_t)i, e->is_raced,
						 e->is_raced ? e->result.median_s : e->guide_s };
	}
	qsort(order, n, sizeof(*order), compare);
	report->ranked.len = 0;
	for (size_t i = 0; i < n; i++)
		*(uint32_t *)fw_vec_push(&report->ranked) = order[i].entry;
	report->n_equal = 0;
	report->winner = -1;
	first = n ? fw_tune_entry(report, order[0].entry) : NULL;
	for (size_t i = 0; i < n; i++) {
		const struct fw_tune_entry *e = fw_tune_entry(report, order[i].entry);

		if (e->is_raced != first->is_raced || !fw_tune_is_equal(&e->result, &first->result))
			break;
		report->n_equal += e->same_as < 0;
		if (report->winner < 0 ||
		    is_cheaper(run, &e->result,
			       &fw_tune_entry(report, (size_t)report->winner)->result))
			report->winner = order[i].entry;
	}
	free(order);
	return FW_OK;
}

/* The ranked in their order: the fastest few, and whoever may be as fast. */
static void choose_racers(struct fw_tune_run *run, struct race *race)
{
	const uint32_t *ranked = run->report->ranked.data;
	bool has_preset = false;

	for (size_t i = 0; i < run->report->ranked.len; i++) {
		const struct fw_tune_entry *e = fw_tune_entry(run->report, ranked[i]);
		const struct fw_tune_entry *first = fw_tune_entry(run->report, ranked[0]);

		/* The same code is measured once. */
		if (e->same_as >= 0)
			continue;
		if (race->n >= RACERS_LEAST && !fw_tune_is_equal(&e->result, &first->result))
			continue;
		if (race->n == RACERS_MAX) {
			race->left_out++;
			continue;
		}
		has_preset = has_preset || ranked[i] == run->report->preset;
		race->entries[race->n++] = ranked[i];
	}
	if (!has_preset && run->report->preset >= 0 &&
	    fw_tune_entry(run->report, (size_t)run->report->preset)->guide_s >= 0 &&
	    fw_tune_entry(run->report, (size_t)run->report->preset)->same_as < 0)
		race->entries[race->n++] = (uint32_t)run->report->preset;
}

/* What is not loaded, such as a result of an earlier run, is compiled and checked again. */
static fw_status load_racer(struct fw_tune_run *run, uint32_t entry, struct fw_error *err)
{
	struct fw_tune_entry *e = fw_tune_entry(run->report, entry);
	struct fw_tune_object object;
	fw_status status;

	if (fw_tune_run_loaded(run, entry))
		return FW_OK;
	status = fw_tune_run_compile(run, &e->result.config, NULL, &object, err);
	if (status)
		return status;
	e->result = object.result;
	if (e->result.status == FW_TUNE_OK)
		status = fw_tune_run_load(run, entry, &object, err);
	fw_tune_object_release(&object);
	if (!status && e->result.status != FW_TUNE_OK) {
		e->guide_s = -1;
		run->failed++;
		fw_tune_run_note(run, "a configuration that ran before does not run now: %s: %s",
				 fw_tune_status_name(e->result.status), e->result.reason);
	}
	return status;
}

static fw_status load_racers(struct fw_tune_run *run, struct race *race, struct fw_error *err)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < race->n; i++) {
		struct fw_tune_entry *e = fw_tune_entry(run->report, race->entries[i]);
		fw_status status = load_racer(run, race->entries[i], err);

		if (status)
			return status;
		if (e->result.status != FW_TUNE_OK)
			continue;
		/* Samples of other moments do not compare. */
		e->result.n_samples = 0;
		e->is_cached = false;
		race->entries[n++] = race->entries[i];
	}
	race->n = n;
	return FW_OK;
}

/* n more samples for each of the slots; who fails now is out. */
static fw_status sample(struct fw_tune_run *run, const uint32_t *slots, uint32_t n_slots,
			uint32_t n, struct fw_error *err)
{
	struct fw_tune_result *results[RACERS_MAX + 1];
	fw_status status;

	for (uint32_t i = 0; i < n_slots; i++)
		results[i] = &fw_tune_entry(run->report, slots[i])->result;
	status = fw_tune_runner_sample(run->runner, slots, results, n_slots, n, err);
	for (uint32_t i = 0; !status && i < n_slots; i++) {
		struct fw_tune_entry *e = fw_tune_entry(run->report, slots[i]);

		fw_tune_summarize(&e->result);
		e->is_raced = e->result.status == FW_TUNE_OK && e->result.n_samples > 0;
		if (!e->is_raced)
			e->guide_s = -1;
	}
	return status;
}

static const struct fw_tune_result *fastest(struct fw_tune_run *run, const struct race *race)
{
	const struct fw_tune_result *best = NULL;

	for (uint32_t i = 0; i < race->n; i++) {
		const struct fw_tune_entry *e = fw_tune_entry(run->report, race->entries[i]);

		if (e->is_raced && (!best || e->result.median_s < best->median_s))
			best = &e->result;
	}
	return best;
}

/* Who needs more samples. */
static uint32_t survivors(struct fw_tune_run *run, const struct race *race, uint32_t *slots)
{
	const struct fw_tune_result *best = fastest(run, race);
	uint32_t n = 0, n_equal = 0;

	for (uint32_t i = 0; best && i < race->n; i++) {
		const struct fw_tune_entry *e = fw_tune_entry(run->report, race->entries[i]);
		bool is_equal = e->is_raced && fw_tune_is_equal(&e->result, best);

		n_equal += is_equal;
		if ((is_equal && e->result.n_samples < SAMPLES_CAP) ||
		    (e->is_raced && race->entries[i] == run->report->preset &&
		     e->result.n_samples < PRESET_SAMPLES))
			slots[n++] = race->entries[i];
	}
	/* One alone has won; its own interval is worth as many samples as that of the default. */
	if (n_equal == 1 && best->n_samples >= PRESET_SAMPLES)
		return 0;
	return n;
}

static fw_status run_rounds(struct fw_tune_run *run, struct race *race, struct fw_error *err)
{
	uint32_t slots[RACERS_MAX + 1], n = race->n, samples = FIRST_ROUND;
	fw_status status = sample(run, race->entries, race->n, FIRST_ROUND, err);

	while (!status && (n = survivors(run, race, slots))) {
		fw_tune_run_progress(run, FW_TUNE_PHASE_RACE, samples, SAMPLES_CAP);
		if (fw_tune_run_is_stopped(run))
			return FW_OK;
		if ((double)(fw_tune_now() - race->start_ns) * 1e-9 > race->limit_s) {
			fw_tune_run_note(run,
					 "the race was ended after %.0f s with %u samples each: "
					 "what is called equal may still differ",
					 race->limit_s, samples);
			return FW_OK;
		}
		status = sample(run, slots, n, ROUND, err);
		samples += ROUND;
	}
	return status;
}

/* Entries that run the same code have the time of the one that was raced. */
static void share_times(struct fw_tune_run *run)
{
	for (size_t i = 0; i < run->report->entries.len; i++) {
		struct fw_tune_entry *e = fw_tune_entry(run->report, i);
		const struct fw_tune_entry *from;

		if (e->same_as < 0 || e->guide_s < 0)
			continue;
		from = fw_tune_entry(run->report, (size_t)e->same_as);
		if (!from->is_raced)
			continue;
		memcpy(e->result.samples_s, from->result.samples_s, sizeof(e->result.samples_s));
		e->result.n_samples = from->result.n_samples;
		e->is_raced = true;
		fw_tune_summarize(&e->result);
	}
}

fw_status fw_tune_run_race(struct fw_tune_run *run, struct fw_error *err)
{
	struct race race = { .start_ns = fw_tune_now(),
			     .limit_s = fmax(RACE_LEAST_S, run->report->search_s) };
	fw_status status = fw_tune_run_rank(run, err);

	if (status || run->report->is_stopped || !run->report->ranked.len)
		return status;
	choose_racers(run, &race);
	if (race.left_out)
		fw_tune_run_note(
			run,
			"%u more configurations may be as fast as the fastest: too many to "
			"race",
			race.left_out);
	status = load_racers(run, &race, err);
	if (!status && race.n)
		status = run_rounds(run, &race, err);
	if (status)
		return status;
	for (uint32_t i = 0; i < race.n; i++)
		fw_tune_run_keep(run, &fw_tune_entry(run->report, race.entries[i])->result);
	share_times(run);
	run->report->race_s = (double)(fw_tune_now() - race.start_ns) * 1e-9;
	return fw_tune_run_rank(run, err);
}
