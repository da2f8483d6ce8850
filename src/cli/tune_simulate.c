/* fullwarp tune --simulate: how near each strategy comes to the optimum of a recorded space. */
#include "cli/tune.h"

#include "base/error.h"
#include "base/json_writer.h"
#include "tune/recorded.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t usual_budgets[] = { 25, 50, 100, 200, 400 };

#define BUDGETS (sizeof(usual_budgets) / sizeof(usual_budgets[0]))

struct cell { /* of the seeds */
	double median, p10;
};

struct table {
	const struct fw_tune_recorded *recorded;
	const struct fw_tune_settings *settings;
	uint64_t budgets[BUDGETS];
	size_t n_budgets;
};

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Every budget on its own: a search plans with what it has. */
static fw_status simulate(const struct table *table, const char *strategy, uint64_t budget,
			  struct cell *cell, struct fw_error *err)
{
	uint64_t runs = table->settings->runs;
	double *fractions = calloc(runs, sizeof(*fractions));
	fw_status status = fractions ? FW_OK : fw_fail_nomem(err, runs * sizeof(*fractions));

	for (uint64_t i = 0; !status && i < runs; i++) {
		const struct fw_tune_search_options options = { .strategy = strategy,
								.seed = table->settings->seed + i,
								.budget = budget };

		status = fw_tune_simulate(table->recorded, &options, &fractions[i], err);
	}
	if (!status) {
		qsort(fractions, runs, sizeof(*fractions), compare);
		cell->median = (fractions[(runs - 1) / 2] + fractions[runs / 2]) / 2;
		cell->p10 = fractions[runs / 10];
	}
	free(fractions);
	return status;
}

static void put_head(const struct table *table, struct fw_str *out)
{
	const struct fw_tune_recorded *r = table->recorded;

	fw_str_printf(out, "%s", r->format);
	for (const char *c = r->gpu; *c; c++) {
		fw_str_puts(out, c == r->gpu ? ", " : "");
		fw_str_putc(out, (unsigned char)(*c - 0x20) < 0x5f ? *c : '?');
	}
	fw_str_printf(out,
		      ": %" PRIu64 " configurations, %" PRIu64 " failed, optimum %.4g us\n"
		      "optimum / best found after N evaluations: median of %" PRIu64
		      " seeds (10th percentile)\n%-12s",
		      r->timed + r->failed, r->failed, 1e6 * r->best_s, table->settings->runs, "");
	for (size_t b = 0; b < table->n_budgets; b++)
		fw_str_printf(out, "  %13" PRIu64, table->budgets[b]);
	fw_str_putc(out, '\n');
}

static fw_status put_text(const struct table *table, struct fw_str *out, struct fw_error *err)
{
	fw_status status = FW_OK;
	const char *name;

	put_head(table, out);
	for (size_t i = 0; !status && (name = fw_tune_strategy_name(i)); i++) {
		if (!strcmp(name, "exhaustive"))
			continue;
		fw_str_printf(out, "%-12s", name);
		for (size_t b = 0; !status && b < table->n_budgets; b++) {
			struct cell cell = { 0 };

			status = simulate(table, name, table->budgets[b], &cell, err);
			fw_str_printf(out, "  %.3f (%.3f)", cell.median, cell.p10);
		}
		fw_str_putc(out, '\n');
	}
	return status;
}

static fw_status put_strategy(const struct table *table, const char *name, struct fw_json *json,
			      struct fw_error *err)
{
	fw_status status = FW_OK;

	for (size_t b = 0; !status && b < table->n_budgets; b++) {
		struct cell cell = { 0 };

		status = simulate(table, name, table->budgets[b], &cell, err);
		fw_json_begin_object(json, NULL);
		fw_json_string(json, "strategy", name);
		fw_json_uint(json, "evaluations", table->budgets[b]);
		fw_json_double(json, "median", cell.median);
		fw_json_double(json, "p10", cell.p10);
		fw_json_end_object(json);
	}
	return status;
}

static fw_status put_json(const struct table *table, struct fw_str *out, struct fw_error *err)
{
	const struct fw_tune_recorded *r = table->recorded;
	struct fw_json json = { .out = out, .indent = 2 };
	fw_status status = FW_OK;
	const char *name;

	fw_json_begin_object(&json, NULL);
	fw_json_int(&json, "schema", 1);
	fw_json_string(&json, "format", r->format);
	fw_json_string(&json, "gpu", r->gpu[0] ? r->gpu : NULL);
	fw_json_uint(&json, "configurations", r->timed + r->failed);
	fw_json_uint(&json, "failed", r->failed);
	fw_json_double(&json, "optimum_s", r->best_s);
	fw_json_uint(&json, "runs", table->settings->runs);
	fw_json_begin_array(&json, "fractions");
	for (size_t i = 0; !status && (name = fw_tune_strategy_name(i)); i++)
		if (strcmp(name, "exhaustive"))
			status = put_strategy(table, name, &json, err);
	fw_json_end_array(&json);
	fw_json_end_object(&json);
	fw_str_putc(out, '\n');
	return status;
}

int fw_tune_command_simulate(const struct fw_tune_arguments *args,
			     const struct fw_tune_settings *settings)
{
	struct fw_tune_recorded recorded;
	struct table table = { .recorded = &recorded, .settings = settings };
	struct fw_str text = { 0 };
	struct fw_error err = { 0 };
	fw_status status;

	if (fw_tune_recorded_read(args->simulate, &recorded, &err))
		return fw_tune_failure(&err);
	if (recorded.left_out)
		fprintf(stderr,
			"fullwarp tune: %s: %" PRIu64
			" lines are left out: damaged, or of other conditions than most\n",
			args->simulate, recorded.left_out);
	if (settings->budget)
		table.budgets[table.n_budgets++] = settings->budget;
	else
		for (; table.n_budgets < BUDGETS; table.n_budgets++)
			table.budgets[table.n_budgets] = usual_budgets[table.n_budgets];
	status = settings->is_json ? put_json(&table, &text, &err) : put_text(&table, &text, &err);
	if (!status && text.failed)
		status = fw_fail_nomem(&err, text.len);
	if (!status)
		fputs(fw_str_text(&text), stdout);
	fw_str_release(&text);
	fw_tune_recorded_free(&recorded);
	return status ? fw_tune_failure(&err) : 0;
}
