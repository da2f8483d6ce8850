/* The result of a tuning run for people. */
#include "cli/tune.h"

#include "base/error.h"
#include "base/utf8.h"
#include "fullwarp/occupancy.h"
#include "tune/effects.h"
#include "tune/paste.h"
#include "tune/race.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define EFFECTS_SHOWN 8

/* What a source or a driver calls things goes to a terminal. */
static void put_safe(struct fw_str *out, const char *text)
{
	size_t len = strlen(text);

	for (size_t i = 0, n; i < len; i += n ? n : 1) {
		n = fw_utf8_printable(text + i, len - i);
		if (n)
			fw_str_append(out, text + i, n);
		else
			fw_str_putc(out, '?');
	}
}

/* Four digits: differences of a percent are what it is about. */
static void put_seconds(struct fw_str *out, double s)
{
	if (s < 0)
		fw_str_puts(out, "unknown");
	else if (s < 1e-3)
		fw_str_printf(out, "%.4g us", s * 1e6);
	else if (s < 1)
		fw_str_printf(out, "%.4g ms", s * 1e3);
	else
		fw_str_printf(out, "%.4g s", s);
}

/* "[12.3, 12.5]" in the unit of the median; nothing where the samples are too few. */
static void put_interval(struct fw_str *out, const struct fw_tune_result *r)
{
	double unit = r->median_s < 1e-3 ? 1e6 : r->median_s < 1 ? 1e3 : 1;

	if (r->low_s >= 0)
		fw_str_printf(out, " [%.4g, %.4g]", r->low_s * unit, r->high_s * unit);
}

static void put_count(struct fw_str *out, uint64_t n)
{
	char digits[32];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			fw_str_putc(out, ',');
		fw_str_putc(out, digits[i]);
	}
}

/* All parameters, or those that do not have their default value. */
static void put_config(struct fw_str *out, const struct fw_tune_spec *spec,
		       const struct fw_tune_config *config, bool only_changes)
{
	bool has_any = false;

	for (uint32_t p = 0; p < spec->space.n_params; p++) {
		const struct fw_tune_param *param = &spec->space.params[p];

		if (only_changes && config->value[p] == param->preset)
			continue;
		fw_str_puts(out, has_any ? " " : "");
		put_safe(out, param->name);
		fw_str_putc(out, '=');
		put_safe(out, param->values[config->value[p]].text);
		has_any = true;
	}
	if (!has_any)
		fw_str_puts(out, "default");
}

static void put_head(struct fw_str *out, const struct fw_tune_page *page)
{
	const struct fw_tune_report *r = page->report;
	const struct fw_tune_spec *spec = page->spec;

	put_safe(out, spec->kernel);
	fw_str_puts(out, " in ");
	put_safe(out, spec->source_path);
	fw_str_puts(out, " on ");
	put_safe(out, r->gpu.name);
	fw_str_printf(out, " (sm_%u), NVRTC %u.%u, L2 %s", r->gpu.cc, r->compile.nvrtc_major,
		      r->compile.nvrtc_minor,
		      page->settings->flushes_l2 ? "flushed before each sample" : "warm");
	for (uint32_t i = 0; i < spec->n_sets; i++) {
		fw_str_puts(out, i ? " " : "\n");
		put_safe(out, spec->sets[i].name);
		fw_str_printf(out, "=%" PRId64, spec->sets[i].number);
	}
	fw_str_printf(out, "\n%s search, seed %" PRIu64 ": ", r->strategy, page->settings->seed);
	put_count(out, r->entries.len);
	fw_str_puts(out, " of ");
	if (spec->space.is_listed)
		put_count(out, spec->space.n_valid);
	else
		fw_str_printf(out, "up to %.3g", spec->space.cartesian);
	fw_str_printf(out, " configurations in %.1f s", r->search_s);
	if (r->race_s > 0)
		fw_str_printf(out, ", race of the best %.1f s", r->race_s);
	fw_str_puts(out, r->is_stopped ? "; stopped before its end\n" : "\n");
}

static void put_failures(struct fw_str *out, const struct fw_tune_report *report)
{
	const char *reasons[FW_TUNE_HUNG + 1] = { NULL };
	uint64_t counts[FW_TUNE_HUNG + 1] = { 0 }, cached = 0, same = 0;

	for (size_t i = 0; i < report->entries.len; i++) {
		const struct fw_tune_entry *e = fw_tune_entry(report, i);

		cached += e->is_cached;
		same += e->same_as >= 0;
		if (!counts[e->result.status]++)
			reasons[e->result.status] = e->result.reason;
	}
	put_count(out, counts[FW_TUNE_OK]);
	fw_str_puts(out, " ran right");
	if (same) {
		fw_str_puts(out, ", ");
		put_count(out, same);
		fw_str_puts(out, " with the same code and launch as another");
	}
	if (cached) {
		fw_str_puts(out, ", ");
		put_count(out, cached);
		fw_str_puts(out, " known from the cache");
	}
	fw_str_putc(out, '\n');
	for (int s = FW_TUNE_OK + 1; s <= FW_TUNE_HUNG; s++) {
		if (!counts[s])
			continue;
		put_count(out, counts[s]);
		fw_str_printf(out, " %s", fw_tune_status_name((enum fw_tune_status)s));
		if (reasons[s][0]) {
			fw_str_puts(out, counts[s] > 1 ? ", the first: " : ": ");
			put_safe(out, reasons[s]);
		}
		fw_str_putc(out, '\n');
	}
}

static void put_gain(struct fw_str *out, const struct fw_tune_result *from,
		     const struct fw_tune_result *to)
{
	struct fw_tune_gain gain = fw_tune_gain_of(from, to);

	fw_str_printf(out, "%.3gx", gain.ratio);
	if (gain.low > 0)
		fw_str_printf(out, " [%.3g, %.3g]", gain.low, gain.high);
}

static void put_winner(struct fw_str *out, const struct fw_tune_page *page)
{
	const struct fw_tune_report *r = page->report;
	const struct fw_tune_entry *w = fw_tune_entry(r, (size_t)r->winner);
	const struct fw_tune_entry *preset =
		r->preset >= 0 ? fw_tune_entry(r, (size_t)r->preset) : NULL;

	fw_str_puts(out, "\nChosen: ");
	put_config(out, page->spec, &w->result.config, false);
	fw_str_puts(out, "\n  ");
	put_seconds(out, w->result.median_s);
	put_interval(out, &w->result);
	if (r->winner == r->preset) {
		fw_str_puts(out, ": the default configuration itself\n");
	} else if (preset && preset->result.status == FW_TUNE_OK) {
		fw_str_puts(out, "; the default takes ");
		put_seconds(out, preset->result.median_s);
		put_interval(out, &preset->result);
		fw_str_puts(out, ": ");
		put_gain(out, &preset->result, &w->result);
		fw_str_puts(out, " as fast\n");
	} else {
		fw_str_puts(out, "\n");
	}
	if (r->n_equal > 1)
		fw_str_printf(
			out,
			"  %u configurations are equal within noise; this one holds the least "
			"registers and shared memory of an SM\n",
			r->n_equal);
	if (r->confirmed.n_samples) {
		fw_str_puts(out, "  in a fresh process: ");
		put_seconds(out, r->confirmed.median_s);
		put_interval(out, &r->confirmed);
		if (r->confirmed_preset.n_samples) {
			fw_str_puts(out, ", ");
			put_gain(out, &r->confirmed_preset, &r->confirmed);
			fw_str_puts(out, " as fast as the default there");
		}
		fw_str_putc(out, '\n');
	} else {
		fw_str_puts(out, "  not confirmed in a fresh process\n");
	}
}

static void put_checks(struct fw_str *out, const struct fw_tune_page *page)
{
	const struct fw_tune_report *r = page->report;
	uint32_t outputs = 0;

	for (uint32_t i = 0; i < page->spec->n_args; i++)
		outputs += page->spec->args[i].is_output;
	if (!outputs) {
		fw_str_puts(out, "  no output is checked: the specification names none\n");
		return;
	}
	fw_str_puts(out, "  outputs checked against ");
	if (page->spec->reference) {
		put_safe(out, page->spec->reference);
	} else {
		fw_str_puts(out, "those of the default configuration");
	}
	if (page->spec->n_check_sizes)
		fw_str_printf(out, ", also on %u of %u other sizes\n", r->n_sizes_checked,
			      page->spec->n_check_sizes);
	else
		fw_str_puts(out, ", on this size only: the specification has no `check`\n");
}

/* "regs+smem"; at full occupancy nothing limits. */
static void put_limiters(struct fw_str *out, const struct fw_tune_result *r)
{
	static const struct {
		uint32_t bit;
		const char *word;
	} words[] = { { FW_LIMITER_REGISTERS, "regs" }, { FW_LIMITER_SHARED_MEMORY, "smem" },
		      { FW_LIMITER_WARPS, "warps" },    { FW_LIMITER_BLOCKS, "blocks" },
		      { FW_LIMITER_BARRIERS, "bars" },  { FW_LIMITER_VIRTUAL, "virt" },
		      { FW_LIMITER_CLUSTER, "cluster" } };
	struct fw_str text = { 0 };

	for (size_t i = 0; r->occupancy < 1 && i < sizeof(words) / sizeof(words[0]); i++)
		if (r->limiters & words[i].bit)
			fw_str_printf(&text, "%s%s", text.len ? "+" : "", words[i].word);
	fw_str_printf(out, "  %-11.11s", text.len ? fw_str_text(&text) : "-");
	fw_str_release(&text);
}

static void put_row(struct fw_str *out, const struct fw_tune_page *page, uint32_t entry)
{
	const struct fw_tune_report *r = page->report;
	const struct fw_tune_entry *e = fw_tune_entry(r, entry);
	const struct fw_tune_result *result = &e->result;

	fw_str_printf(out, "%c %10.5g", (ptrdiff_t)entry == r->winner ? '*' : ' ',
		      1e6 * (e->is_raced ? result->median_s : e->guide_s));
	if (result->low_s >= 0)
		fw_str_printf(out, "  %9.5g %9.5g", 1e6 * result->low_s, 1e6 * result->high_s);
	else
		fw_str_printf(out, "  %9s %9s", "-", "-");
	if (result->occupancy >= 0)
		fw_str_printf(out, "  %4.0f %%", 100 * result->occupancy);
	else
		fw_str_printf(out, "  %6s", "-");
	put_limiters(out, result);
	if (result->has_attributes)
		fw_str_printf(out, "%4u  %6u  ", result->registers,
			      result->static_smem + result->dynamic_smem);
	else
		fw_str_printf(out, "%4s  %6s  ", "-", "-");
	put_config(out, page->spec, &result->config, true);
	if (result->has_attributes && result->spill_bytes)
		fw_str_printf(out, " (spills %u B)", result->spill_bytes);
	fw_str_putc(out, '\n');
}

/* The fastest; of equal code only the one that was measured, or chosen. The default and the chosen one in any case. */
static void put_table(struct fw_str *out, const struct fw_tune_page *page)
{
	const struct fw_tune_report *r = page->report;
	const uint32_t *ranked = r->ranked.data;
	uint64_t shown = 0;

	fw_str_puts(out, "\n    time us       95 %  interval  occup.  limiter    regs    smem  "
			 "differs from the default in\n");
	for (size_t i = 0; i < r->ranked.len; i++) {
		const struct fw_tune_entry *e = fw_tune_entry(r, ranked[i]);
		bool is_named = ranked[i] == r->preset || ranked[i] == r->winner;

		if (!is_named && (e->same_as >= 0 || shown >= page->settings->top))
			continue;
		put_row(out, page, ranked[i]);
		shown++;
	}
}

static double guide(const struct fw_tune_report *report, ptrdiff_t entry)
{
	return entry < 0 ? -1 : fw_tune_entry(report, (size_t)entry)->guide_s;
}

/* What changing the block alone would have given. */
static void put_block_gain(struct fw_str *out, const struct fw_tune_page *page)
{
	const struct fw_tune_report *r = page->report;
	double preset = guide(r, r->preset), all = guide(r, r->winner), block;
	uint32_t measured;
	uint32_t params = fw_tune_block_params(page->spec);

	if (preset <= 0 || !params || params == (UINT32_C(1) << page->spec->space.n_params) - 1)
		return;
	block = guide(r, fw_tune_best_block(page->spec, r, &measured));
	if (!measured) {
		fw_str_puts(out, "  block size alone: no such configuration was measured\n");
		return;
	}
	fw_str_printf(out,
		      "  block size alone gives x%.2f (%u such configurations were measured), all "
		      "parameters x%.2f\n",
		      fmax(1, preset / block), measured, preset / all);
}

static void put_effects(struct fw_str *out, const struct fw_tune_page *page)
{
	struct fw_tune_effect effects[FW_TUNE_MAX_PARAMS];
	uint32_t n = fw_tune_effects(page->spec, page->report, effects);

	if (!n)
		return;
	fw_str_puts(out, "\nWhat mattered, over the configurations measured:\n");
	put_block_gain(out, page);
	for (uint32_t i = 0; i < n && i < EFFECTS_SHOWN; i++) {
		const struct fw_tune_param *param = &page->spec->space.params[effects[i].param];

		fw_str_puts(out, "  ");
		put_safe(out, param->name);
		fw_str_printf(out, ": x%.2f between its slowest and its fastest value, which is ",
			      effects[i].ratio);
		put_safe(out, param->values[effects[i].fastest].text);
		if (effects[i].share >= 0)
			fw_str_printf(out, " (%.0f %% of all effects)", 100 * effects[i].share);
		fw_str_putc(out, '\n');
	}
}

static fw_status put_lines(struct fw_str *out, const struct fw_tune_page *page,
			   struct fw_error *err)
{
	struct fw_str text = { 0 };
	fw_status status = fw_tune_paste(
		page->spec, &fw_tune_entry(page->report, (size_t)page->report->winner)->result,
		&text, err);

	if (!status) {
		const char *line = fw_str_text(&text), *end;

		fw_str_puts(out, "\nLines to paste:\n");
		while ((end = strchr(line, '\n'))) {
			fw_str_puts(out, "  ");
			for (; line < end; line++)
				fw_str_putc(out, (unsigned char)*line < 0x20 ? ' ' : *line);
			fw_str_putc(out, '\n');
			line = end + 1;
		}
	}
	fw_str_release(&text);
	return status;
}

fw_status fw_tune_write_text(const struct fw_tune_page *page, struct fw_str *out,
			     struct fw_error *err)
{
	fw_status status = FW_OK;

	put_head(out, page);
	put_failures(out, page->report);
	if (page->report->winner >= 0) {
		put_winner(out, page);
		put_checks(out, page);
		put_table(out, page);
		put_effects(out, page);
		status = put_lines(out, page, err);
	} else {
		fw_str_puts(out, "\nNo configuration ran right.\n");
	}
	if (page->cache_path) {
		fw_str_puts(out, "\nAll results: ");
		put_safe(out, page->cache_path);
		fw_str_putc(out, '\n');
	}
	return status ? status : out->failed ? fw_fail_nomem(err, out->len) : FW_OK;
}
