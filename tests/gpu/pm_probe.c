/*
 * What PM sampling and GPM do on the GPU that is here, as a table: which metrics fit, what it costs, in
 * which clock the samples' times are and how that moves, what a second client meets. Needs a GPU and a
 * libcupti, not the toolkit; about a minute. 77: no GPU or no permission.
 *   pm_probe [LIBCUPTI]
 */
#include "gpu/nvml.h"
#include "pm_load.h"
#include "sample/devices.h"
#include "sample/pm.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SAMPLES 200000
#define PULSES  4096

struct series {
	struct fw_pm_sample *samples;
	size_t count;
	unsigned dropped, wild, overflows, reads;
	int64_t worst_clock_ns; /* the widest pair of clocks */
	double cpu_ms, seconds;
};

struct probe {
	struct fw_pm_library *library;
	struct fw_nvml nvml;
	void *device;
	char uuid[FW_NVML_NAME_BYTES];
	struct series series;
	struct pulse pulses[PULSES];
	size_t pulse_count;
	struct clock_pair clocks[PULSES];
	size_t clock_count;
};

static int64_t nanoseconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void sleep_ms(unsigned ms)
{
	struct timespec t = { ms / 1000, (ms % 1000) * 1000000L };

	nanosleep(&t, NULL);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts; prints "median (least to most)" in units of `unit`. */
static void print_spread(const char *what, double *numbers, size_t count, double unit,
			 const char *name)
{
	if (!count) {
		printf("  %-46s none\n", what);
		return;
	}
	qsort(numbers, count, sizeof(*numbers), compare);
	printf("  %-46s %.3f (%.3f to %.3f) %s, n %zu\n", what, numbers[count / 2] / unit,
	       numbers[0] / unit, numbers[count - 1] / unit, name, count);
}

/* ---- the load: this program again, in a process of its own ---- */

static FILE *start_load(pid_t *pid, const char *const *arguments)
{
	int ends[2];

	if (pipe(ends))
		exit(1);
	fflush(stdout);
	*pid = fork();
	if (!*pid) {
		dup2(ends[1], 1);
		close(ends[0]);
		close(ends[1]);
		execv("/proc/self/exe", (char *const *)arguments);
		_exit(127);
	}
	close(ends[1]);
	FILE *out = fdopen(ends[0], "r");
	char line[256];

	if (!out || !fgets(line, sizeof(line), out) || line[0] != 'R')
		printf("  the load did not start\n");
	return out;
}

static void end_load(struct probe *p, pid_t pid, FILE *out)
{
	char line[512];

	p->pulse_count = p->clock_count = 0;
	while (out && fgets(line, sizeof(line), out)) {
		struct pulse *pulse = &p->pulses[p->pulse_count];
		struct clock_pair *pair = &p->clocks[p->clock_count];

		if (p->pulse_count < PULSES &&
		    sscanf(line,
			   "P %" SCNd64 " %" SCNd64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
			   &pulse->before_mono, &pulse->after_mono, &pulse->start_timer,
			   &pulse->end_timer, &pulse->start_cupti, &pulse->end_cupti) == 6)
			p->pulse_count++;
		else if (p->clock_count < PULSES &&
			 sscanf(line, "C %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNu64,
				&pair->before_mono, &pair->after_mono, &pair->realtime,
				&pair->cupti) == 4)
			p->clock_count++;
	}
	if (out)
		fclose(out);
	waitpid(pid, NULL, 0);
}

/* ---- sampling ---- */

static void keep(void *arg, const struct fw_pm_sample *sample)
{
	struct series *series = arg;

	if (series->count < SAMPLES)
		series->samples[series->count++] = *sample;
}

static void clear(struct series *series)
{
	struct fw_pm_sample *samples = series->samples;

	memset(series, 0, sizeof(*series));
	series->samples = samples;
}

static bool read_once(struct fw_pm *pm, struct series *series)
{
	struct fw_pm_read read;
	struct fw_error err = { 0 };

	if (fw_pm_read(pm, keep, series, &read, &err)) {
		printf("  reading failed: %s\n", err.message);
		return false;
	}
	series->reads++;
	series->dropped += read.dropped;
	series->wild += read.wild;
	series->overflows += read.overflows;
	if (read.clock.after_mono - read.clock.before_mono > series->worst_clock_ns)
		series->worst_clock_ns = read.clock.after_mono - read.clock.before_mono;
	return true;
}

static struct fw_pm *open_pm(struct probe *p, const struct fw_pm_options *options)
{
	struct fw_error err = { 0 };
	struct fw_pm *pm = NULL;

	if (fw_pm_open(&pm, p->library, p->uuid, options, &err))
		printf("  opening failed: %s\n", err.message);
	return pm;
}

static bool sample_for(struct probe *p, const struct fw_pm_options *options, unsigned read_ms,
		       double seconds)
{
	struct fw_pm *pm = open_pm(p, options);
	int64_t begin = nanoseconds(CLOCK_MONOTONIC), cpu;
	bool is_good = pm != NULL;

	clear(&p->series);
	cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
	while (is_good && nanoseconds(CLOCK_MONOTONIC) - begin < (int64_t)(seconds * 1e9)) {
		sleep_ms(read_ms);
		is_good = read_once(pm, &p->series);
	}
	p->series.cpu_ms = (double)(nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / 1e6;
	p->series.seconds = (double)(nanoseconds(CLOCK_MONOTONIC) - begin) / 1e9;
	fw_pm_close(pm);
	return is_good;
}

static double mean_of(const struct series *series, size_t value)
{
	double sum = 0, time = 0;

	for (size_t i = 0; i < series->count; i++) {
		double length =
			(double)(series->samples[i].end_mono - series->samples[i].start_mono);

		if (isnan(series->samples[i].values[value]))
			continue;
		sum += series->samples[i].values[value] * length;
		time += length;
	}
	return time > 0 ? sum / time : NAN;
}

static void print_gaps(const struct series *series)
{
	double *lengths = calloc(series->count + 1, sizeof(*lengths));
	size_t holes = 0;

	for (size_t i = 0; lengths && i < series->count; i++) {
		lengths[i] = (double)(series->samples[i].end_mono - series->samples[i].start_mono);
		holes +=
			i && series->samples[i].start_mono > series->samples[i - 1].end_mono + 1000;
	}
	if (lengths)
		print_spread("length of the samples", lengths, series->count, 1e6, "ms");
	printf("  %-46s %zu\n", "samples that do not begin where the last ended", holes);
	free(lengths);
}

/* ---- the questions ---- */

static void ask_setup(struct probe *p)
{
	int64_t begin = nanoseconds(CLOCK_MONOTONIC);
	int64_t cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
	const struct fw_pm_options options = { .interval_ns = 1000000 };
	struct fw_pm *pm = open_pm(p, &options);
	const enum fw_gpu_value *values;
	size_t count;

	if (!pm)
		return;
	printf("set-up %.0f ms, CPU %.0f ms\nmetrics in one pass:",
	       (double)(nanoseconds(CLOCK_MONOTONIC) - begin) / 1e6,
	       (double)(nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / 1e6);
	values = fw_pm_values(pm, &count);
	for (size_t i = 0; i < count; i++)
		printf(" %s", fw_gpu_values[values[i]].name);
	begin = nanoseconds(CLOCK_MONOTONIC);
	fw_pm_close(pm);
	printf("\nclosing %.0f ms\n", (double)(nanoseconds(CLOCK_MONOTONIC) - begin) / 1e6);
}

static void ask_cost(struct probe *p)
{
	static const struct {
		double interval_ms;
		unsigned read_ms, batch;
	} tries[] = { { 1, 50, 256 },  { 1, 50, 64 },    { 1, 250, 256 },
		      { 2, 250, 256 }, { 2, 250, 32 },   { 2, 1000, 256 },
		      { 5, 250, 256 }, { 10, 250, 256 }, { 50, 1000, 256 } };
	const char *const arguments[] = { "pm_probe", "load", "fill", "16", NULL };
	pid_t pid;
	FILE *out = start_load(&pid, arguments);

	printf("\nhalf of the SMs full (truth: SM 50, warp slots 25):\n"
	       "  interval    read batch samples  SM busy  warps  CPU ms/s ms/read  dropped wild "
	       "overflows\n");
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		struct fw_pm_options options = { .interval_ns =
							 (uint64_t)(tries[i].interval_ms * 1e6),
						 .batch = tries[i].batch };
		struct series *s = &p->series;

		if (!sample_for(p, &options, tries[i].read_ms, 1.2))
			break;
		printf("  %5.1f ms %4u ms %5u %7zu %8.3f %6.3f %9.2f %7.2f %7u %5u %5u\n",
		       tries[i].interval_ms, tries[i].read_ms, tries[i].batch, s->count,
		       mean_of(s, 0), mean_of(s, 1), s->cpu_ms / s->seconds, s->cpu_ms / s->reads,
		       s->dropped, s->wild, s->overflows);
		print_gaps(s);
	}
	end_load(p, pid, out);
}

/* How much a buffer holds, what an overflow says, and whether it goes on afterwards. */
static void ask_overflow(struct probe *p, size_t buffer, double interval_ms, unsigned pause_ms)
{
	const struct fw_pm_options options = { .interval_ns = (uint64_t)(interval_ms * 1e6),
					       .buffer_bytes = buffer };
	struct fw_pm *pm = open_pm(p, &options);

	printf("buffer of %zu KiB, %.1f ms, read after %u ms, then three times after 100 ms:\n",
	       buffer >> 10, interval_ms, pause_ms);
	for (int i = 0; pm && i < 4; i++) {
		clear(&p->series);
		sleep_ms(i ? 100 : pause_ms);
		if (!read_once(pm, &p->series))
			break;
		printf("  %zu samples, dropped %u, overflows %u\n", p->series.count,
		       p->series.dropped, p->series.overflows);
	}
	fw_pm_close(pm);
}

/*
 * When the next pulse at or after sample *from began by the samples: it keeps every SM busy, so that the
 * share of its first busy sample says where in it that was. 0: no more.
 */
static double next_edge(const struct series *s, size_t *from)
{
	for (size_t i = *from ? *from : 1; i + 1 < s->count; i++) {
		const struct fw_pm_sample *a = &s->samples[i];

		if (!(s->samples[i - 1].values[0] < 0.5 && a->values[0] >= 0.5))
			continue;
		*from = i + 1;
		return (double)a->end_mono -
		       a->values[0] / 100 * (double)(a->end_mono - a->start_mono);
	}
	return 0;
}

static const struct pulse *nearest_pulse(const struct probe *p, double mono)
{
	const struct pulse *nearest = NULL;
	double least = 25e6; /* pulses are 60 ms apart */

	for (size_t i = 0; i < p->pulse_count; i++) {
		double distance = fabs((double)p->pulses[i].before_mono - mono);

		if (distance < least) {
			least = distance;
			nearest = &p->pulses[i];
		}
	}
	return nearest;
}

/* Of CUPTI's clock, by the pair nearest to a time. */
static double cupti_to_mono(const struct probe *p, uint64_t cupti)
{
	const struct clock_pair *best = NULL;

	for (size_t i = 0; i < p->clock_count; i++)
		if (!best || llabs((int64_t)(cupti - p->clocks[i].cupti)) <
				     llabs((int64_t)(cupti - best->cupti)))
			best = &p->clocks[i];
	if (!best)
		return 0;
	return (double)(best->before_mono + best->after_mono) / 2 +
	       (double)(int64_t)(cupti - best->cupti);
}

static void print_clocks(struct probe *p)
{
	static double cupti[PULSES], mono[PULSES], clock[PULSES];
	size_t count = 0, with_cupti = 0, from = 0;
	double edge;

	while ((edge = next_edge(&p->series, &from)) > 0 && count < PULSES) {
		const struct pulse *pulse = nearest_pulse(p, edge);

		if (!pulse)
			continue;
		mono[count++] = edge - (double)pulse->before_mono;
		if (pulse->start_cupti)
			cupti[with_cupti++] = edge - cupti_to_mono(p, pulse->start_cupti);
	}
	for (size_t i = 0; i < p->clock_count; i++)
		clock[i] = (double)((int64_t)p->clocks[i].cupti - p->clocks[i].realtime);
	print_spread("PM start of pulse - its launch, CLOCK_MONOTONIC", mono, count, 1e3, "us");
	print_spread("PM start of pulse - CUPTI kernel record", cupti, with_cupti, 1e3, "us");
	print_spread("cuptiGetTimestamp - CLOCK_REALTIME", clock, p->clock_count, 1e3, "us");
	printf("  %-46s %.3f us\n", "widest pair of clocks",
	       (double)p->series.worst_clock_ns / 1e3);
}

static void ask_clock(struct probe *p, bool has_activity, const char *seconds)
{
	const struct fw_pm_options options = { .interval_ns = 2000000 };
	const char *const arguments[] = { "pm_probe", "load", has_activity ? "activity" : "pulse",
					  seconds,    "50",   fw_pm_library_path(p->library),
					  NULL };
	pid_t pid;
	FILE *out = start_load(&pid, arguments);
	size_t records = 0;

	printf("\npulses of 10 ms on all SMs, %s, 2 ms, %s s:\n",
	       has_activity ? "with CUPTI's kernel records on in their process" : "not recorded",
	       seconds);
	sample_for(p, &options, 250, strtod(seconds, NULL) - 1);
	end_load(p, pid, out);
	for (size_t i = 0; i < p->pulse_count; i++)
		records += p->pulses[i].start_cupti != 0;
	printf("  %-46s %zu, kernel records %zu, CPU of sampling %.2f ms/s\n", "pulses",
	       p->pulse_count, records, p->series.cpu_ms / p->series.seconds);
	print_clocks(p);
}

static void ask_pcie(struct probe *p)
{
	const char *const arguments[] = { "pm_probe", "load", "copy", "2", NULL };
	pid_t pid;
	FILE *out = start_load(&pid, arguments);
	const struct fw_pm_options options = { .interval_ns = 5000000 };
	struct fw_pm *pm = open_pm(p, &options);
	const enum fw_gpu_value *values;
	size_t count = 0;

	printf("\ncopies of page-locked memory to the GPU (means of 1 s):\n");
	values = pm ? fw_pm_values(pm, &count) : NULL;
	clear(&p->series);
	for (int i = 0; pm && i < 10; i++) {
		sleep_ms(100);
		read_once(pm, &p->series);
	}
	for (size_t i = 0; i < count; i++)
		printf("  %-30s %.4g\n", fw_gpu_values[values[i]].name, mean_of(&p->series, i));
	fw_pm_close(pm);
	end_load(p, pid, out);
}

static void ask_second(struct probe *p)
{
	const struct fw_pm_options options = { .interval_ns = 5000000 };
	struct fw_pm *pm = open_pm(p, &options);
	char uuid[FW_NVML_NAME_BYTES];
	pid_t pid;

	printf("\na second client while one samples:\n");
	fflush(stdout);
	snprintf(uuid, sizeof(uuid), "%s", p->uuid);
	pid = fork();
	if (!pid) {
		execl("/proc/self/exe", "pm_probe", "second", uuid, fw_pm_library_path(p->library),
		      (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	fw_pm_close(pm);
}

static int second(const char *uuid, const char *path)
{
	struct fw_pm_options options = { .interval_ns = 5000000 };
	struct fw_pm_library *library = NULL;
	struct fw_error err = { 0 };
	struct fw_pm *pm = NULL;

	if (fw_pm_library_open(&library, path, &err) ||
	    fw_pm_open(&pm, library, uuid, &options, &err))
		printf("  refused: %s\n", err.message);
	else
		printf("  admitted too\n");
	fw_pm_close(pm);
	fw_pm_library_close(library);
	return 0;
}

static void ask_gpm(struct probe *p)
{
	static const unsigned tries[] = { 20, 100, 200, 500 };
	static const unsigned ids[] = { FW_NVML_GPM_SM, FW_NVML_GPM_SM_OCCUPANCY,
					FW_NVML_GPM_DRAM };
	const char *const arguments[] = { "pm_probe", "load", "fill", "3", NULL };
	pid_t pid;
	FILE *out = start_load(&pid, arguments);
	void *a = NULL, *b = NULL;

	printf("\nGPM, half of the SMs full:\n  interval   SM  occupancy  DRAM  CPU ms/sample\n");
	if (!p->nvml.gpm_sample_alloc || p->nvml.gpm_sample_alloc(&a) ||
	    p->nvml.gpm_sample_alloc(&b))
		printf("  no GPM\n");
	for (size_t i = 0; b && i < sizeof(tries) / sizeof(tries[0]); i++) {
		struct fw_nvml_gpm_metrics get = {
			.version = 1, .count = 3, .first = a, .second = b
		};
		int64_t cpu;
		int result;

		for (size_t k = 0; k < 3; k++)
			get.metrics[k].id = ids[k];
		result = p->nvml.gpm_sample_get(p->device, a);
		sleep_ms(tries[i]);
		cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
		result = result ? result : p->nvml.gpm_sample_get(p->device, b);
		result = result ? result : p->nvml.gpm_metrics_get(&get);
		printf("  %5u ms %6.2f %6.2f %6.2f %8.2f  result %d\n", tries[i],
		       get.metrics[0].value, get.metrics[1].value, get.metrics[2].value,
		       (double)(nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / 1e6, result);
	}
	if (a)
		p->nvml.gpm_sample_free(a);
	if (b)
		p->nvml.gpm_sample_free(b);
	end_load(p, pid, out);
}

/* A reading of NVML's figures and the processes, as recordings and top take it. */
static void ask_nvml(void)
{
	static struct fw_machine_sample sample;
	struct fw_devices *devices = NULL;

	printf("\nNVML, a reading of all GPUs and processes, CPU ms and wall ms:\n");
	if (fw_devices_open(&devices, NULL, NULL))
		return;
	for (int with_gpm = 0; with_gpm < 2; with_gpm++) {
		int64_t cpu, wall;

		for (unsigned i = 0; i < FW_SAMPLE_GPUS; i++)
			fw_devices_spare_gpm(devices, i, !with_gpm);
		fw_devices_read(devices, nanoseconds(CLOCK_MONOTONIC), &sample);
		cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
		wall = nanoseconds(CLOCK_MONOTONIC);
		for (int i = 0; i < 8; i++) {
			int64_t now = nanoseconds(CLOCK_MONOTONIC);

			fw_devices_read(devices, now, &sample);
			wall += 200000000;
			sleep_ms(200);
		}
		printf("  %s GPM: %.2f, %.2f\n", with_gpm ? "with" : "without",
		       (double)(nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / 8e6,
		       (double)(nanoseconds(CLOCK_MONOTONIC) - wall) / 8e6);
	}
	fw_devices_close(devices);
}

static int prepare(struct probe *p, const char *path)
{
	struct fw_nvml_identity identity;
	struct fw_error err = { 0 };
	char driver[FW_NVML_NAME_BYTES] = "";

	if (fw_nvml_open(&p->nvml, NULL, NULL, &err) ||
	    p->nvml.device_get_handle_by_index(0, &p->device)) {
		printf("skipped: %s\n", err.message);
		return 77;
	}
	fw_nvml_identify(&p->nvml, p->device, &identity);
	snprintf(p->uuid, sizeof(p->uuid), "%s", identity.uuid);
	p->nvml.system_get_driver_version(driver, sizeof(driver));
	if (fw_pm_library_open(&p->library, path, &err)) {
		printf("skipped: %s\n", err.message);
		return 77;
	}
	printf("%s, driver %s, %s, CUPTI %" PRIu32 ", uid %u\n", identity.name, driver,
	       fw_pm_library_path(p->library), fw_pm_library_version(p->library),
	       (unsigned)getuid());
	p->series.samples = calloc(SAMPLES, sizeof(*p->series.samples));
	return p->series.samples ? 0 : 1;
}

int main(int argc, char **argv)
{
	static struct probe probe;
	int status;

	if (argc > 2 && !strcmp(argv[1], "load"))
		return load_main(argc - 2, argv + 2);
	if (argc > 3 && !strcmp(argv[1], "second"))
		return second(argv[2], argv[3]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	status = prepare(&probe, argc > 1 ? argv[1] : NULL);
	if (status)
		return status;
	ask_setup(&probe);
	ask_cost(&probe);
	puts("");
	ask_overflow(&probe, (size_t)1 << 20, 0.2, 1000);
	ask_overflow(&probe, (size_t)16 << 20, 1, 4000);
	ask_clock(&probe, false, "4");
	ask_clock(&probe, true, "20");
	ask_pcie(&probe);
	ask_second(&probe);
	ask_gpm(&probe);
	ask_nvml();
	free(probe.series.samples);
	fw_pm_library_close(probe.library);
	fw_nvml_close(&probe.nvml);
	return 0;
}
