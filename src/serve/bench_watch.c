/* CPU time, memory and GPU of a measurement. */
#include "serve/bench_watch.h"

#include "serve/gpu_figures.h"
#include "serve/steady_clock.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define PM_INTERVAL_NS (FW_BENCH_WATCH_PERIOD_NS / 40) /* as `fullwarp top` takes PM samples */
#define MAX_SAMPLES    (1 << 20)                       /* twelve days */

int64_t fw_bench_rss_now(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	int64_t size, pages = -1, page = sysconf(_SC_PAGESIZE);

	if (!file)
		return -1;
	if (fscanf(file, "%" SCNd64 " %" SCNd64, &size, &pages) != 2)
		pages = -1;
	fclose(file);
	return pages < 0 || page <= 0 ? -1 : pages * page;
}

bool fw_bench_rss_slope(const struct fw_bench_rss *samples, size_t n, double *slope)
{
	double mean_t = 0, mean_y = 0, tt = 0, ty = 0;

	if (n < 3)
		return false;
	for (size_t i = 0; i < n; i++) {
		mean_t += (double)(samples[i].time_ns - samples[0].time_ns) / 60e9 / (double)n;
		mean_y += (double)samples[i].bytes / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		double t = (double)(samples[i].time_ns - samples[0].time_ns) / 60e9 - mean_t;

		tt += t * t;
		ty += t * ((double)samples[i].bytes - mean_y);
	}
	if (tt <= 0)
		return false;
	*slope = ty / tt;
	return true;
}

static fw_status open_devices(struct fw_bench_watch *watch, struct fw_error *err)
{
	const struct fw_devices_counters counters = {
		.source = FW_COUNTERS_AUTO,
		.interval_ns = PM_INTERVAL_NS,
	};
	fw_status status = fw_devices_open(&watch->devices, NULL, err);

	if (status)
		return status;
	fw_gpu_find_uuid(watch->options.device, watch->uuid);
	watch->machine = calloc(1, sizeof(*watch->machine));
	if (!watch->machine)
		return fw_fail_nomem(err, sizeof(*watch->machine));
	return fw_devices_set_counters(watch->devices, &counters, err);
}

/* The values since the reading before, weighted with the time. is_first: there is none, and they are forgotten. */
static void read_gpu(struct fw_bench_watch *watch, int64_t now_ns, bool is_first)
{
	struct fw_machine_sample *machine = watch->machine;
	double s = (double)(now_ns - watch->read_ns) / 1e9;
	const struct fw_gpu_sample *gpu = NULL;

	if (!watch->devices)
		return;
	fw_devices_read(watch->devices, now_ns, machine);
	watch->read_ns = now_ns;
	for (unsigned i = 0; i < machine->gpu_count && !machine->result; i++)
		if (!strcmp(machine->gpus[i].identity.uuid, watch->uuid))
			gpu = &machine->gpus[i];
	if (is_first || !gpu)
		return;
	for (int i = 0; i < FW_GPU_VALUE_COUNT; i++) {
		watch->notes[i] = gpu->values[i].note;
		if (!fw_value_is_known(gpu->values[i]))
			continue;
		watch->sums[i] += gpu->values[i].number * s;
		watch->times[i] += s;
	}
}

static void read_rss(struct fw_bench_watch *watch, int64_t now_ns)
{
	const struct fw_bench_rss sample = { now_ns, fw_bench_rss_now() };
	struct fw_bench_rss *kept;

	if (sample.bytes < 0)
		return;
	if (watch->options.rss)
		fprintf(watch->options.rss, "%.3f,%" PRId64 "\n",
			(double)(now_ns - watch->opened_ns) / 1e9, sample.bytes);
	if (watch->rss.len < MAX_SAMPLES && (kept = fw_vec_push(&watch->rss)))
		*kept = sample;
}

fw_status fw_bench_watch_open(struct fw_bench_watch *watch,
			      const struct fw_bench_watch_options *options, struct fw_error *err)
{
	fw_status status = FW_OK;

	*watch = (struct fw_bench_watch){
		.options = *options,
		.rss = FW_VEC(struct fw_bench_rss),
		.opened_ns = fw_steady_ns(),
	};
	if (options->has_gpu)
		status = open_devices(watch, err);
	if (status) {
		fw_bench_watch_close(watch);
		return status;
	}
	/* The first reading opens the counters, whose memory is not the pipeline's. */
	read_gpu(watch, watch->opened_ns, true);
	return FW_OK;
}

void fw_bench_watch_begin(struct fw_bench_watch *watch)
{
	watch->rss.len = 0;
	memset(watch->sums, 0, sizeof(watch->sums));
	memset(watch->times, 0, sizeof(watch->times));
	watch->began_ns = fw_steady_ns();
	read_gpu(watch, watch->began_ns, true);
	read_rss(watch, fw_steady_ns());
	getrusage(RUSAGE_SELF, &watch->began);
	watch->began_ns = fw_steady_ns();
}

void fw_bench_watch_tick(struct fw_bench_watch *watch)
{
	int64_t now = fw_steady_ns();

	read_rss(watch, now);
	read_gpu(watch, now, false);
}

static double cpu_seconds(const struct rusage *usage)
{
	return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
	       (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

static void sum_rss(const struct fw_bench_watch *watch, struct fw_bench_usage *usage)
{
	const struct fw_bench_rss *samples = watch->rss.data;
	size_t n = watch->rss.len;

	usage->rss_start = usage->rss_end = usage->rss_most = -1;
	if (!n)
		return;
	usage->rss_start = samples[0].bytes;
	usage->rss_end = samples[n - 1].bytes;
	for (size_t i = 0; i < n; i++)
		if (samples[i].bytes > usage->rss_most)
			usage->rss_most = samples[i].bytes;
	usage->has_slope = fw_bench_rss_slope(samples, n, &usage->rss_slope);
}

static struct fw_value mean_of(const struct fw_bench_watch *watch, int which)
{
	const char *note = watch->notes[which];

	if (!watch->options.has_gpu)
		return fw_value_unknown("the engine computes on the CPU");
	if (watch->times[which] <= 0)
		return fw_value_unknown(note ? note : "NVML does not know the GPU");
	return fw_value_sampled(watch->sums[which] / watch->times[which], note);
}

void fw_bench_watch_end(struct fw_bench_watch *watch, struct fw_bench_usage *usage)
{
	int64_t now = fw_steady_ns();
	struct rusage ended;

	getrusage(RUSAGE_SELF, &ended);
	*usage = (struct fw_bench_usage){
		.cpu_cores = (cpu_seconds(&ended) - cpu_seconds(&watch->began)) * 1e9 /
			     (double)(now > watch->began_ns ? now - watch->began_ns : 1),
	};
	usage->has_gpu = watch->options.has_gpu;
	fw_bench_watch_tick(watch);
	sum_rss(watch, usage);
	for (int i = 0; i < FW_GPU_VALUE_COUNT; i++)
		usage->gpu[i] = mean_of(watch, i);
}

void fw_bench_watch_close(struct fw_bench_watch *watch)
{
	if (watch->devices)
		fw_devices_close(watch->devices);
	free(watch->machine);
	fw_vec_release(&watch->rss);
	watch->devices = NULL;
	watch->machine = NULL;
}
