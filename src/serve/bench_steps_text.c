/* The table of the remedies. */
#include "base/amount.h"
#include "serve/bench_steps.h"

#include <math.h>
#include <string.h>

#define NAME_WIDTH 26

static void put_percent(struct fw_str *out, struct fw_value value)
{
	if (fw_value_is_known(value))
		fw_str_printf(out, "%7.1f %%", value.number);
	else
		fw_str_printf(out, "%9s", "?");
}

static void put_measured(struct fw_str *out, const struct fw_bench_step_row *row)
{
	const struct fw_bench_result *result = &row->result;
	const struct fw_bench_run *run = result->n_runs ? result->runs[0] : NULL;
	struct fw_bench_spread rate;
	int64_t p99;

	if (!run || !run->n_repeats) {
		fw_str_puts(out, "stopped\n");
		return;
	}
	rate = fw_bench_rate(run);
	p99 = fw_latency_quantile(&run->sum.latency, 990);
	fw_str_printf(out, "%9.1f %9.1f %9.1f", rate.median, rate.least, rate.most);
	if (isnan(row->gain))
		fw_str_printf(out, "%8s", "");
	else
		fw_str_printf(out, "  x%-5.2f", row->gain);
	fw_str_printf(out, " %9s", p99 < 0 ? "?" : fw_amount_time(p99).text);
	put_percent(out, run->usage.gpu[FW_GPU_SM_BUSY]);
	put_percent(out, run->usage.gpu[FW_GPU_BUSY]);
	fw_str_printf(out, " %8s", fw_amount_bytes(run->usage.rss_most).text);
	fw_str_printf(out, " %8s",
		      result->stats.pinned_bytes
			      ? fw_amount_bytes((int64_t)result->stats.pinned_bytes).text
			      : "none");
}

/* The last measured row beside the first. */
static void put_total(struct fw_str *out, const struct fw_bench_steps_result *steps)
{
	double gain = 1;
	unsigned lines = 0, gains = 0;

	for (uint32_t i = 0; i < steps->n_rows; i++) {
		if (!steps->rows[i].is_measured || isnan(steps->rows[i].gain))
			continue;
		gain *= steps->rows[i].gain;
		lines += fw_bench_steps[i].lines;
		gains++;
	}
	if (gains)
		fw_str_printf(out, "\nall that were turned on: x%.2f, %u lines\n", gain, lines);
}

void fw_bench_steps_text(struct fw_str *out, const struct fw_bench_page *page,
			 const struct fw_bench_steps_result *steps)
{
	const struct fw_pipeline_stats *stats = &steps->rows[0].result.stats;
	const struct fw_bench_job *job = page->job;
	const char *group = "";

	fw_str_printf(out, "%s: %s%s%s, batches of up to %u; closed loops, %u x %g s after %g s\n",
		      job->config.model, stats->engine, stats->gpu[0] ? " on " : "", stats->gpu,
		      stats->max_batch, job->repeats, (double)job->seconds_ns / 1e9,
		      (double)job->warmup_ns / 1e9);
	fw_str_printf(out, "\n%-*s %9s %9s %9s  %-6s %9s %9s%9s %8s %8s  lines\n", NAME_WIDTH,
		      "step", "images/s", "least", "most", "gain", "p99", "SM busy", "GPU-Util",
		      "RSS", "pinned");
	for (uint32_t i = 0; i < steps->n_rows; i++) {
		const struct fw_bench_step_row *row = &steps->rows[i];
		const struct fw_bench_step_kind *kind = &fw_bench_steps[i];

		if (strcmp(group, kind->group))
			fw_str_printf(out, "%s\n", kind->group);
		group = kind->group;
		fw_str_printf(out, "%s%-*s ", *group ? "  " : "", NAME_WIDTH - (*group ? 2 : 0),
			      kind->name);
		if (!row->is_measured) {
			fw_str_printf(out, "%s: %s\n", row->has_failed ? "failed" : "left out",
				      row->why.message);
			continue;
		}
		put_measured(out, row);
		fw_str_printf(out, " %6u\n", kind->lines);
	}
	put_total(out, steps);
	if (steps->is_stopped)
		fw_str_puts(out, "\nstopped: what was measured until then\n");
}
