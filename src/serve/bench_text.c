/* The result for people. */
#include "base/amount.h"
#include "serve/bench_print.h"

#include <inttypes.h>
#include <math.h>
#include <sched.h>

unsigned fw_bench_cores(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : (unsigned)CPU_COUNT(&set);
}

/* A time, or '?' where it is unknown. */
static struct fw_amount time_of(int64_t ns)
{
	return ns < 0 ? (struct fw_amount){ "?" } : fw_amount_time(ns);
}

static void put_head(struct fw_str *out, const struct fw_bench_page *page)
{
	const struct fw_pipeline_stats *stats = &page->result->stats;
	const struct fw_bench_images *images = page->images;

	fw_str_printf(out, "%s: %s%s%s, %s, %u workers, %u decoding threads, ",
		      page->job->config.model, stats->engine, stats->gpu[0] ? " on " : "",
		      stats->gpu, stats->precision, stats->workers, stats->decode_threads);
	fw_str_printf(out, "batches of up to %u, %u slots\n", stats->max_batch, stats->slots);
	fw_str_printf(out, "images    %zu in memory, %s", images->images.len,
		      fw_amount_bytes((int64_t)images->bytes).text);
	if (page->drawn)
		fw_str_printf(out, ", drawn %" PRIu32 "x%" PRIu32, page->drawn->width,
			      page->drawn->height);
	if (images->unreadable)
		fw_str_printf(out, "; %zu files could not be read: %s", images->unreadable,
			      images->why.message);
	fw_str_printf(out, "\nready     %s", time_of(page->result->ready_ns).text);
	fw_str_printf(out, ", first request %s\n", time_of(page->result->first_ns).text);
	fw_str_printf(out, "memory    host at most %s",
		      fw_amount_bytes((int64_t)stats->memory_bytes).text);
	fw_str_printf(out, " (page-locked %s)",
		      stats->pinned_bytes ? fw_amount_bytes((int64_t)stats->pinned_bytes).text
					  : "none");
	fw_str_printf(out, " and weights %s; RSS at most ",
		      fw_amount_bytes((int64_t)stats->weight_bytes).text);
	fw_str_printf(out, "%s in all\n", fw_amount_bytes(page->result->peak_rss).text);
	if (stats->device_bytes)
		fw_str_printf(out, "          GPU %s\n",
			      fw_amount_bytes((int64_t)stats->device_bytes).text);
}

static void put_title(struct fw_str *out, const struct fw_bench_page *page,
		      const struct fw_bench_run *run)
{
	const struct fw_bench_job *job = page->job;

	if (run->kind.rate > 0)
		fw_str_printf(out, "\nopen loop, %.1f arrivals/s", run->kind.rate);
	else
		fw_str_printf(out, "\nclosed loop, %u in flight", run->kind.in_flight);
	if (run->kind.load > 0)
		fw_str_printf(out, ", %g %% of the closed loop", run->kind.load);
	fw_str_printf(out, ": %u x %g s", run->n_repeats, (double)job->seconds_ns / 1e9);
	fw_str_printf(out, " after %g s%s\n", (double)job->warmup_ns / 1e9,
		      run->is_cut ? ", stopped before its end" : "");
}

static void put_latency(struct fw_str *out, const struct fw_latency *latency)
{
	static const struct {
		const char *name;
		unsigned per_mille;
	} quantiles[] = { { "p50", 500 }, { "p90", 900 }, { "p99", 990 }, { "p99.9", 999 } };

	fw_str_puts(out, "  latency     ");
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++)
		fw_str_printf(out, "%s %s  ", quantiles[i].name,
			      time_of(fw_latency_quantile(latency, quantiles[i].per_mille)).text);
	fw_str_printf(out, "max %s\n", time_of(latency->count ? latency->max_ns : -1).text);
}

static void put_stages(struct fw_str *out, const struct fw_bench_run *run)
{
	fw_str_puts(out, "  stages      ");
	for (int i = 0; i < FW_PIPELINE_STAGE_COUNT; i++)
		fw_str_printf(out, "%s%s %s", i ? ", " : "", fw_pipeline_stage_name(i),
			      time_of(fw_latency_mean(&run->sum.stages[i])).text);
	fw_str_puts(out, " (means)\n");
}

static void put_batches(struct fw_str *out, const struct fw_bench_run *run)
{
	uint64_t launches = 0, images = 0;

	for (unsigned i = 1; i <= FW_PIPELINE_MAX_BATCH; i++) {
		launches += run->batches[i];
		images += i * run->batches[i];
	}
	if (!launches)
		return;
	fw_str_puts(out, "  batches    ");
	for (unsigned i = 1; i <= FW_PIPELINE_MAX_BATCH; i++)
		if (run->batches[i] * 200 >= launches) /* half a percent */
			fw_str_printf(out, " %u: %.0f %%,", i,
				      100 * (double)run->batches[i] / (double)launches);
	fw_str_printf(out, " mean %.2f; %.1f %% of what was computed was padding\n",
		      (double)images / (double)launches,
		      100 * (double)run->padded / (double)(images + run->padded));
}

static void put_memory(struct fw_str *out, const struct fw_bench_usage *usage)
{
	fw_str_printf(out, "  RSS         %s", fw_amount_bytes(usage->rss_start).text);
	fw_str_printf(out, " at the start, %s", fw_amount_bytes(usage->rss_end).text);
	fw_str_printf(out, " at the end, at most %s; slope ",
		      fw_amount_bytes(usage->rss_most).text);
	if (usage->has_slope)
		fw_str_printf(out, "%+.3f MB/min\n", usage->rss_slope / 1e6);
	else
		fw_str_puts(out, "unknown, fewer than three samples\n");
}

static void put_gpu(struct fw_str *out, const struct fw_bench_usage *usage)
{
	static const struct {
		enum fw_gpu_value which;
		const char *name;
	} shown[] = { { FW_GPU_BUSY, "GPU-Util" },
		      { FW_GPU_SM_BUSY, "SM busy" },
		      { FW_GPU_TENSOR, "tensor" },
		      { FW_GPU_DRAM, "memory" } };
	const char *why = NULL;

	fw_str_puts(out, "  GPU         ");
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		const struct fw_value *value = &usage->gpu[shown[i].which];

		fw_str_printf(out, "%s%s ", i ? ", " : "", shown[i].name);
		if (fw_value_is_known(*value))
			fw_str_printf(out, "%.1f %%", value->number);
		else
			fw_str_puts(out, "?");
		if (!fw_value_is_known(*value))
			why = value->note;
	}
	if (why)
		fw_str_printf(out, " (?: %s)", why);
	fw_str_putc(out, '\n');
}

static void put_run(struct fw_str *out, const struct fw_bench_page *page,
		    const struct fw_bench_run *run)
{
	const struct fw_bench_phase *sum = &run->sum;
	struct fw_bench_spread rate = fw_bench_rate(run);

	put_title(out, page, run);
	if (!run->n_repeats)
		return;
	fw_str_printf(out, "  images/s    %.1f (%.1f to %.1f)\n", rate.median, rate.least,
		      rate.most);
	put_latency(out, &sum->latency);
	if (run->kind.rate > 0) {
		fw_str_printf(out,
			      "  arrivals    %" PRIu64 ", %" PRIu64
			      " refused as all slots were taken; sent late by ",
			      sum->arrived, sum->refused);
		fw_str_printf(out, "%s (p99)\n",
			      time_of(fw_latency_quantile(&sum->late, 990)).text);
	}
	if (sum->failed)
		fw_str_printf(out, "  failed      %" PRIu64 " of %" PRIu64 ": %s\n", sum->failed,
			      sum->failed + sum->classified, sum->why.message);
	if (sum->expired)
		fw_str_printf(out, "  expired     %" PRIu64 "\n", sum->expired);
	put_stages(out, run);
	put_batches(out, run);
	fw_str_printf(out, "  CPU         %.2f of %u cores, the load itself included\n",
		      run->usage.cpu_cores, fw_bench_cores());
	put_memory(out, &run->usage);
	if (run->usage.has_gpu)
		put_gpu(out, &run->usage);
}

void fw_bench_text(struct fw_str *out, const struct fw_bench_page *page)
{
	put_head(out, page);
	for (uint32_t i = 0; i < page->result->n_runs; i++)
		put_run(out, page, page->result->runs[i]);
	if (page->result->is_stopped)
		fw_str_puts(out, "\nstopped: what was measured until then\n");
}
