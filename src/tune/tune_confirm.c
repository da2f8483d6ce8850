/* The winner once more: its outputs on other problem sizes, its time in a fresh process. */
#include "tune/tune_run.h"

#include "base/error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CONFIRM_SAMPLES 20

/* Winners that do not hold are replaced so often. */
#define TRIES 5

/* More than the claim, and it does not hold. */
#define HOLDS_WITHIN 0.03

static void describe_sizes(const struct fw_tune_spec *spec, const int64_t *sizes, char *text,
			   size_t size)
{
	size_t len = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < spec->n_sets && len < size; i++)
		len += (size_t)snprintf(text + len, size - len, "%s%s=%lld", i ? " " : "",
					spec->sets[i].name, (long long)sizes[i]);
}

/* The reference's outputs for these sizes; NULL: the specification's own. */
static fw_status set_reference(struct fw_tune_run *run, const struct fw_tune_object *winner,
			       const int64_t *sizes, struct fw_error *err)
{
	struct fw_tune_object preset = { 0 };
	struct fw_tune_config config;
	fw_status status;

	if (run->spec->reference || !fw_tune_space_preset(&run->spec->space, &config))
		return fw_tune_runner_set_reference(run->runner, winner, sizes, err);
	status = fw_tune_run_compile(run, &config, sizes, &preset, err);
	if (!status && preset.result.status != FW_TUNE_OK)
		status = fw_fail(err, FW_ERR_UNSUPPORTED, "the default configuration: %s: %s",
				 fw_tune_status_name(preset.result.status), preset.result.reason);
	if (!status)
		status = fw_tune_runner_set_reference(run->runner, &preset, sizes, err);
	fw_tune_object_release(&preset);
	return status;
}

/* The winner on one other size; result says what came of it. A size that the reference cannot do is noted. */
static fw_status check_size(struct fw_tune_run *run, const int64_t *sizes,
			    struct fw_tune_result *result, struct fw_error *err)
{
	const struct fw_tune_entry *winner =
		fw_tune_entry(run->report, (size_t)run->report->winner);
	uint32_t slot = (uint32_t)run->report->entries.len; /* no entry has it */
	struct fw_tune_object object;
	struct fw_error why = { 0 };
	char text[200];
	fw_status status = fw_tune_run_compile(run, &winner->result.config, sizes, &object, err);

	if (status)
		return status;
	*result = object.result;
	if (result->status == FW_TUNE_OK) {
		status = set_reference(run, &object, sizes, &why);
		if (status) {
			describe_sizes(run->spec, sizes, text, sizeof(text));
			fw_tune_run_note(run, "not checked with %s: %s", text, why.message);
			status = FW_OK;
		} else {
			status = fw_tune_runner_check(run->runner, &object, slot, result, err);
			fw_tune_runner_drop(run->runner, slot);
			run->report->n_sizes_checked++;
		}
	}
	fw_tune_object_release(&object);
	return status;
}

/* The winner, and what runs the same code, are failures from now on. */
static void reject(struct fw_tune_run *run, const struct fw_tune_result *result, const char *where)
{
	ptrdiff_t winner = run->report->winner;
	ptrdiff_t same = fw_tune_entry(run->report, (size_t)winner)->same_as;
	ptrdiff_t first = same >= 0 ? same : winner;

	fw_tune_run_note(run, "the fastest is out: %s %s: %s", fw_tune_status_name(result->status),
			 where, result->reason);
	for (size_t i = 0; i < run->report->entries.len; i++) {
		struct fw_tune_entry *e = fw_tune_entry(run->report, i);

		if ((ptrdiff_t)i != first && e->same_as != first)
			continue;
		e->result.status = result->status;
		snprintf(e->result.reason, sizeof(e->result.reason), "%s%s: %.120s", where,
			 (ptrdiff_t)i == winner ? "" : ", as another with the same code",
			 result->reason);
		e->guide_s = -1;
		run->failed++;
		fw_tune_run_keep(run, &e->result);
	}
}

/* False in *holds: the winner was wrong on a size, and another one is the winner now. */
static fw_status check_sizes(struct fw_tune_run *run, bool *holds, struct fw_error *err)
{
	const struct fw_tune_spec *spec = run->spec;
	char where[120], text[100];

	*holds = true;
	run->report->n_sizes_checked = 0;
	for (uint32_t i = 0; i < spec->n_check_sizes; i++) {
		const int64_t *sizes = spec->check_sizes + (size_t)i * spec->n_sets;
		struct fw_tune_result result;
		fw_status status = check_size(run, sizes, &result, err);

		if (status)
			return status;
		if (result.status == FW_TUNE_OK)
			continue;
		*holds = false;
		describe_sizes(spec, sizes, text, sizeof(text));
		snprintf(where, sizeof(where), "with %s", text);
		reject(run, &result, where);
		return fw_tune_run_rank(run, err);
	}
	return FW_OK;
}

static fw_status fresh_process(struct fw_tune_run *run, struct fw_error *err)
{
	fw_tune_runner_close(run->runner);
	run->runner = NULL;
	return fw_tune_run_open_runner(run, err);
}

/* The default is compiled already. */
static fw_status set_fresh_reference(struct fw_tune_run *run, const struct fw_tune_object *object,
				     struct fw_error *err)
{
	fw_status status = FW_OK;

	if (!run->has_reference)
		status = fw_tune_runner_set_reference(
			run->runner,
			!run->spec->reference && run->preset.cubin ? &run->preset : object, NULL,
			err);
	run->has_reference = !status;
	return status;
}

/* Loads an entry into the fresh process; what was raced has its code still. */
static fw_status load_fresh(struct fw_tune_run *run, uint32_t entry, struct fw_tune_result *result,
			    struct fw_error *err)
{
	const struct fw_tune_loaded *loaded = fw_tune_run_loaded(run, entry);
	struct fw_tune_object compiled = { 0 };
	const struct fw_tune_object *object = loaded ? &loaded->object : &compiled;
	fw_status status = FW_OK;

	if (!loaded)
		status = fw_tune_run_compile(run, &fw_tune_entry(run->report, entry)->result.config,
					     NULL, &compiled, err);
	*result = object->result;
	if (!status && result->status == FW_TUNE_OK)
		status = set_fresh_reference(run, object, err);
	if (!status && result->status == FW_TUNE_OK)
		status = fw_tune_runner_check(run->runner, object, entry, result, err);
	fw_tune_object_release(&compiled);
	return status;
}

/* Times winner and default anew, interleaved. */
static fw_status time_fresh(struct fw_tune_run *run, struct fw_error *err)
{
	struct fw_tune_report *report = run->report;
	struct fw_tune_result *results[] = { &report->confirmed, &report->confirmed_preset };
	const uint32_t slots[] = { (uint32_t)report->winner, (uint32_t)report->preset };
	bool has_preset = report->preset >= 0 && report->preset != report->winner &&
			  fw_tune_entry(report, (size_t)report->preset)->guide_s >= 0;
	fw_status status = fresh_process(run, err);

	if (!status)
		status = load_fresh(run, slots[0], results[0], err);
	if (!status && has_preset)
		status = load_fresh(run, slots[1], results[1], err);
	if (status || results[0]->status != FW_TUNE_OK)
		return status;
	has_preset = has_preset && results[1]->status == FW_TUNE_OK;
	status = fw_tune_runner_sample(run->runner, slots, results, has_preset ? 2 : 1,
				       CONFIRM_SAMPLES, err);
	fw_tune_summarize(results[0]);
	fw_tune_summarize(results[1]);
	return status;
}

/* A winner that is slower in a fresh process than the next one was in the race has won by chance. */
static bool has_won_by_chance(const struct fw_tune_run *run)
{
	const struct fw_tune_report *report = run->report;
	const uint32_t *ranked = report->ranked.data;
	double claim = fw_tune_entry(report, (size_t)report->winner)->result.median_s;

	if (report->confirmed.median_s <= claim * (1 + HOLDS_WITHIN))
		return false;
	for (size_t i = 0; i < report->ranked.len; i++) {
		const struct fw_tune_entry *e = fw_tune_entry(report, ranked[i]);

		if (ranked[i] != report->winner && e->is_raced)
			return e->result.median_s < report->confirmed.median_s;
	}
	return false;
}

/* True in *holds where the winner is right and its time is what the race said. */
static fw_status confirm(struct fw_tune_run *run, bool *holds, struct fw_error *err)
{
	struct fw_tune_report *report = run->report;
	struct fw_tune_entry *winner = fw_tune_entry(report, (size_t)report->winner);
	fw_status status;

	report->confirmed = report->confirmed_preset = (struct fw_tune_result){ 0 };
	status = time_fresh(run, err);
	*holds = true;
	if (status)
		return status;
	if (report->confirmed.status != FW_TUNE_OK) {
		*holds = false;
		reject(run, &report->confirmed, "in a fresh process");
		report->confirmed = (struct fw_tune_result){ 0 };
		return fw_tune_run_rank(run, err);
	}
	if (!has_won_by_chance(run))
		return FW_OK;
	*holds = false;
	fw_tune_run_note(run,
			 "the fastest took %.3g us in the race and %.3g us in a fresh process: its "
			 "place is by the latter",
			 1e6 * winner->result.median_s, 1e6 * report->confirmed.median_s);
	memcpy(winner->result.samples_s, report->confirmed.samples_s,
	       sizeof(winner->result.samples_s));
	winner->result.n_samples = report->confirmed.n_samples;
	fw_tune_summarize(&winner->result);
	return fw_tune_run_rank(run, err);
}

fw_status fw_tune_run_confirm(struct fw_tune_run *run, struct fw_error *err)
{
	ptrdiff_t before = -1;
	fw_status status = FW_OK;
	bool holds = false;

	for (int i = 0; !status && !holds && i < TRIES; i++) {
		if (run->report->winner < 0 || run->report->winner == before ||
		    fw_tune_run_is_stopped(run))
			break;
		before = run->report->winner;
		fw_tune_run_progress(run, FW_TUNE_PHASE_CONFIRM, (uint64_t)i, TRIES);
		status = check_sizes(run, &holds, err);
		if (!status && holds)
			status = confirm(run, &holds, err);
	}
	/* What was timed in a fresh process is not what is chosen now. */
	if (run->report->winner != before)
		run->report->confirmed = run->report->confirmed_preset =
			(struct fw_tune_result){ 0 };
	return status;
}
