/* The result of a tuning run for programs; the members are described in docs/tune.md. */
#include "cli/tune.h"

#include "base/error.h"
#include "base/json_writer.h"
#include "fullwarp/occupancy.h"
#include "tune/effects.h"
#include "tune/paste.h"
#include "tune/race.h"

#define SCHEMA 1

static void put_seconds(struct fw_json *json, const char *key, double s)
{
	if (s >= 0)
		fw_json_double(json, key, s);
	else
		fw_json_null(json, key);
}

static void put_config(struct fw_json *json, const struct fw_tune_spec *spec,
		       const struct fw_tune_config *config)
{
	fw_json_begin_object(json, "config");
	for (uint32_t p = 0; p < spec->space.n_params; p++)
		fw_json_string(json, spec->space.params[p].name,
			       spec->space.params[p].values[config->value[p]].text);
	fw_json_end_object(json);
}

static void put_limiters(struct fw_json *json, uint32_t limiters)
{
	fw_json_begin_array(json, "limiters");
	for (uint32_t bit = 1; bit && bit <= limiters; bit <<= 1)
		if ((limiters & bit) && fw_limiter_name(bit))
			fw_json_string(json, NULL, fw_limiter_name(bit));
	fw_json_end_array(json);
}

static void put_launch(struct fw_json *json, const struct fw_tune_spec *spec,
		       const struct fw_tune_config *config)
{
	struct fw_tune_launch launch;

	if (fw_tune_spec_launch(spec, config, NULL, &launch, NULL))
		return;
	fw_json_begin_array(json, "grid");
	for (int i = 0; i < 3; i++)
		fw_json_uint(json, NULL, launch.grid[i]);
	fw_json_end_array(json);
	fw_json_begin_array(json, "block");
	for (int i = 0; i < 3; i++)
		fw_json_uint(json, NULL, launch.block[i]);
	fw_json_end_array(json);
}

static void put_times(struct fw_json *json, const struct fw_tune_result *r)
{
	put_seconds(json, "median_s", r->n_samples ? r->median_s : -1);
	put_seconds(json, "low_s", r->n_samples ? r->low_s : -1);
	put_seconds(json, "high_s", r->n_samples ? r->high_s : -1);
	fw_json_uint(json, "samples", r->n_samples);
	fw_json_uint(json, "discarded", r->discarded);
	fw_json_uint(json, "unsteady", r->unsteady);
}

static void put_entry(struct fw_json *json, const char *key, const struct fw_tune_page *page,
		      size_t i)
{
	const struct fw_tune_entry *e = fw_tune_entry(page->report, i);
	const struct fw_tune_result *r = &e->result;

	fw_json_begin_object(json, key);
	put_config(json, page->spec, &r->config);
	put_launch(json, page->spec, &r->config);
	put_times(json, r);
	fw_json_bool(json, "raced", e->is_raced);
	if (r->has_attributes) {
		fw_json_uint(json, "registers", r->registers);
		fw_json_uint(json, "static_smem", r->static_smem);
		fw_json_uint(json, "dynamic_smem", r->dynamic_smem);
		fw_json_uint(json, "spill_bytes", r->spill_bytes);
	}
	if (r->occupancy >= 0) {
		fw_json_double(json, "occupancy", r->occupancy);
		put_limiters(json, r->limiters);
	}
	fw_json_end_object(json);
}

static void put_head(struct fw_json *json, const struct fw_tune_page *page)
{
	const struct fw_tune_report *r = page->report;
	const struct fw_tune_spec *spec = page->spec;

	fw_json_int(json, "schema", SCHEMA);
	fw_json_string(json, "kernel", spec->kernel);
	fw_json_string(json, "source", spec->source_path);
	fw_json_string(json, "gpu", r->gpu.name);
	fw_json_uint(json, "cc", r->gpu.cc);
	fw_json_uint(json, "driver", r->gpu.driver_version);
	fw_json_string(json, "l2", page->settings->flushes_l2 ? "flush" : "warm");
	fw_json_begin_object(json, "sizes");
	for (uint32_t i = 0; i < spec->n_sets; i++)
		fw_json_int(json, spec->sets[i].name, spec->sets[i].number);
	fw_json_end_object(json);
	fw_json_string(json, "strategy", r->strategy);
	fw_json_uint(json, "seed", page->settings->seed);
	fw_json_uint(json, "evaluated", r->entries.len);
	if (spec->space.is_listed)
		fw_json_uint(json, "configurations", spec->space.n_valid);
	else
		fw_json_null(json, "configurations");
	fw_json_bool(json, "stopped", r->is_stopped);
	fw_json_double(json, "search_s", r->search_s);
	fw_json_double(json, "race_s", r->race_s);
	fw_json_uint(json, "rescaled", r->n_rescaled);
	fw_json_uint(json, "compiled", r->compile.compiled);
	fw_json_uint(json, "compiled_before", r->compile.from_cache);
}

static void put_statuses(struct fw_json *json, const struct fw_tune_report *r)
{
	uint64_t counts[FW_TUNE_HUNG + 1] = { 0 }, cached = 0, same = 0;

	for (size_t i = 0; i < r->entries.len; i++) {
		counts[fw_tune_entry(r, i)->result.status]++;
		cached += fw_tune_entry(r, i)->is_cached;
		same += fw_tune_entry(r, i)->same_as >= 0;
	}
	fw_json_begin_object(json, "statuses");
	for (int s = FW_TUNE_OK; s <= FW_TUNE_HUNG; s++)
		fw_json_uint(json, fw_tune_status_name((enum fw_tune_status)s), counts[s]);
	fw_json_end_object(json);
	fw_json_uint(json, "from_cache", cached);
	fw_json_uint(json, "same_code", same);
}

static void put_gain(struct fw_json *json, const char *key, const struct fw_tune_result *from,
		     const struct fw_tune_result *to)
{
	struct fw_tune_gain gain;

	if (!from->n_samples || !to->n_samples) {
		fw_json_null(json, key);
		return;
	}
	gain = fw_tune_gain_of(from, to);
	fw_json_begin_object(json, key);
	fw_json_double(json, "ratio", gain.ratio);
	put_seconds(json, "low", gain.low);
	put_seconds(json, "high", gain.high);
	fw_json_end_object(json);
}

static void put_effects(struct fw_json *json, const struct fw_tune_page *page)
{
	struct fw_tune_effect effects[FW_TUNE_MAX_PARAMS];
	uint32_t n = fw_tune_effects(page->spec, page->report, effects), measured;
	ptrdiff_t block = fw_tune_best_block(page->spec, page->report, &measured);

	fw_json_begin_array(json, "effects");
	for (uint32_t i = 0; i < n; i++) {
		const struct fw_tune_param *param = &page->spec->space.params[effects[i].param];

		fw_json_begin_object(json, NULL);
		fw_json_string(json, "param", param->name);
		fw_json_double(json, "ratio", effects[i].ratio);
		put_seconds(json, "share", effects[i].share);
		fw_json_string(json, "fastest", param->values[effects[i].fastest].text);
		fw_json_end_object(json);
	}
	fw_json_end_array(json);
	if (block >= 0)
		put_entry(json, "best_block", page, (size_t)block);
	else
		fw_json_null(json, "best_block");
}

static fw_status put_winner(struct fw_json *json, const struct fw_tune_page *page,
			    struct fw_error *err)
{
	const struct fw_tune_report *r = page->report;
	const struct fw_tune_result *winner = &fw_tune_entry(r, (size_t)r->winner)->result;
	struct fw_str lines = { 0 };
	fw_status status = fw_tune_paste(page->spec, winner, &lines, err);

	put_entry(json, "winner", page, (size_t)r->winner);
	if (r->preset >= 0) {
		put_entry(json, "default", page, (size_t)r->preset);
		put_gain(json, "gain", &fw_tune_entry(r, (size_t)r->preset)->result, winner);
	}
	if (r->confirmed.n_samples) {
		fw_json_begin_object(json, "confirmed");
		put_times(json, &r->confirmed);
		put_gain(json, "gain", &r->confirmed_preset, &r->confirmed);
		fw_json_end_object(json);
	} else {
		fw_json_null(json, "confirmed");
	}
	fw_json_uint(json, "other_sizes_checked", r->n_sizes_checked);
	fw_json_uint(json, "equal", r->n_equal);
	put_effects(json, page);
	fw_json_string(json, "paste", fw_str_text(&lines));
	fw_str_release(&lines);
	return status;
}

fw_status fw_tune_write_json(const struct fw_tune_page *page, struct fw_str *out,
			     struct fw_error *err)
{
	const struct fw_tune_report *r = page->report;
	const uint32_t *ranked = r->ranked.data;
	const char *const *notes = r->notes.data;
	struct fw_json json = { .out = out, .indent = 2 };
	fw_status status = FW_OK;

	fw_json_begin_object(&json, NULL);
	put_head(&json, page);
	put_statuses(&json, r);
	if (r->winner >= 0)
		status = put_winner(&json, page, err);
	else
		fw_json_null(&json, "winner");
	fw_json_begin_array(&json, "best");
	for (size_t i = 0; i < r->ranked.len && i < page->settings->top; i++)
		put_entry(&json, NULL, page, ranked[i]);
	fw_json_end_array(&json);
	fw_json_begin_array(&json, "notes");
	for (size_t i = 0; i < r->notes.len; i++)
		fw_json_string(&json, NULL, notes[i]);
	fw_json_end_array(&json);
	fw_json_end_object(&json);
	fw_str_putc(out, '\n');
	return status ? status : out->failed ? fw_fail_nomem(err, out->len) : FW_OK;
}
