/* Counts of requests, and everything that can be measured of the service as OpenMetrics. */
#include "serve/counts.h"

#include "metrics/openmetrics.h"
#include "serve/exchange.h"
#include "serve/steady_clock.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

static const unsigned codes[FW_COUNTED_CODES] = { 200, 400, 401, 404, 405, 408, 413,
						  415, 431, 499, 500, 503, 504, 0 };

void fw_counts_init(struct fw_counts *counts)
{
	static const double bounds[] = { 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
					 0.25,  0.5,    1,     2.5,  5,     10 };

	for (int i = 0; i < FW_ENDPOINT_COUNT; i++)
		fw_histogram_init(&counts->seconds[i], bounds, sizeof(bounds) / sizeof(bounds[0]));
}

void fw_counts_request(struct fw_counts *counts, enum fw_endpoint endpoint, unsigned status,
		       double seconds)
{
	int i = 0;

	while (codes[i] && codes[i] != status)
		i++;
	fw_counter_add(&counts->requests[endpoint][i], 1);
	fw_histogram_observe(&counts->seconds[endpoint], seconds);
}

/* The text being written, and the family that the writer borrows meanwhile. */
struct page {
	struct fw_openmetrics writer;
	struct fw_metric_family family;
};

static void family(struct page *p, enum fw_metric_type type, const char *name, const char *unit,
		   const char *help)
{
	p->family = (struct fw_metric_family){ name, type, unit, help };
	fw_openmetrics_family(&p->writer, &p->family);
}

static void gauge(struct page *p, const char *name, const char *unit, const char *help,
		  double value)
{
	family(p, FW_METRIC_GAUGE, name, unit, help);
	fw_openmetrics_value(&p->writer, NULL, 0, value);
}

static void counter(struct page *p, const char *name, const char *unit, const char *help,
		    uint64_t value)
{
	family(p, FW_METRIC_COUNTER, name, unit, help);
	fw_openmetrics_count(&p->writer, NULL, 0, value);
}

static void write_requests(struct page *p, const struct fw_counts *counts)
{
	family(p, FW_METRIC_COUNTER, "fullwarp_serve_requests", NULL,
	       "Requests by endpoint and status code; 499: the client left first.");
	for (int e = 0; e < FW_ENDPOINT_COUNT; e++)
		for (int i = 0; i < FW_COUNTED_CODES; i++) {
			uint64_t n = fw_counter_read(&counts->requests[e][i]);
			char code[16];
			const struct fw_metric_label labels[] = {
				{ "endpoint", fw_endpoint_name((enum fw_endpoint)e) },
				{ "code", code },
			};

			snprintf(code, sizeof(code), "%u", codes[i]);
			if (!codes[i])
				snprintf(code, sizeof(code), "other");
			if (n)
				fw_openmetrics_count(&p->writer, labels, 2, n);
		}
	family(p, FW_METRIC_HISTOGRAM, "fullwarp_serve_request_seconds", "seconds",
	       "From the head of a request to the end of its answer.");
	for (int e = FW_ENDPOINT_INFER; e < FW_ENDPOINT_COUNT; e++) {
		const struct fw_metric_label label = { "endpoint",
						       fw_endpoint_name((enum fw_endpoint)e) };

		fw_openmetrics_histogram(&p->writer, &label, 1, &counts->seconds[e]);
	}
}

static void write_state(struct page *p, struct fw_service *s, const struct fw_pipeline_stats *stats)
{
	const struct fw_metric_label info[] = {
		{ "version", fw_version() },
		{ "engine", stats ? stats->engine : "" },
		{ "precision", stats ? stats->precision : "" },
		{ "gpu", stats ? stats->gpu : "" },
		{ "model", s->options.name },
	};

	family(p, FW_METRIC_INFO, "fullwarp_serve_build", NULL, "What is running.");
	fw_openmetrics_value(&p->writer, info, sizeof(info) / sizeof(info[0]), 1);
	gauge(p, "fullwarp_serve_ready", NULL, "1: requests are taken.",
	      fw_service_state(s, NULL, 0) == FW_SERVICE_READY);
	if (stats)
		gauge(p, "fullwarp_serve_ready_after_seconds", "seconds",
		      "From the start to the first moment that it was ready.",
		      (double)(s->ready_ns - s->start_ns) / 1e9);
	gauge(p, "fullwarp_serve_connections", NULL, "Open connections.",
	      fw_gauge_read(&s->counts.connections));
	gauge(p, "fullwarp_serve_exchanges", NULL, "Requests being read, waiting or answered.",
	      fw_exchanges_in_use(s));
	gauge(p, "fullwarp_serve_body_bytes", "bytes", "Bodies of requests in memory.",
	      (double)atomic_load(&s->bodies.used));
	counter(p, "fullwarp_serve_received_bytes", "bytes", "Bodies received, as sent.",
		fw_counter_read(&s->counts.bytes_in));
	counter(p, "fullwarp_serve_sent_bytes", "bytes", "Bodies of answers.",
		fw_counter_read(&s->counts.bytes_out));
	counter(p, "fullwarp_serve_slow_connections", NULL,
		"Connections closed because the client took too long.",
		fw_counter_read(&s->counts.slow));
	counter(p, "fullwarp_serve_access_log_lost", NULL,
		"Lines of the access log that could not be written.", atomic_load(&s->log.lost));
}

/* A stage's buckets, which are counted in powers of two of a microsecond. */
static void write_stage(struct page *p, enum fw_pipeline_stage stage,
			const struct fw_pipeline_stage_stats *stats)
{
	const struct fw_metric_label label = { "stage", fw_pipeline_stage_name(stage) };
	double bounds[FW_PIPELINE_BUCKETS - 1];
	struct fw_histogram histogram;

	for (int i = 0; i < FW_PIPELINE_BUCKETS - 1; i++)
		bounds[i] = ldexp(1e-6, i);
	fw_histogram_init(&histogram, bounds, FW_PIPELINE_BUCKETS - 1);
	for (int i = 0; i < FW_PIPELINE_BUCKETS; i++)
		atomic_store(&histogram.buckets[i], stats->buckets[i]);
	fw_gauge_set(&histogram.sum, (double)stats->total_ns / 1e9);
	fw_openmetrics_histogram(&p->writer, &label, 1, &histogram);
}

static void write_batches(struct page *p, const struct fw_pipeline_stats *stats)
{
	static const double bounds[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256 };
	struct fw_histogram histogram;
	double sum = 0;

	fw_histogram_init(&histogram, bounds, sizeof(bounds) / sizeof(bounds[0]));
	for (uint32_t n = 1; n <= FW_PIPELINE_MAX_BATCH; n++) {
		size_t bucket = 0;

		while (bounds[bucket] < n)
			bucket++;
		atomic_fetch_add(&histogram.buckets[bucket], stats->batches[n]);
		sum += (double)n * (double)stats->batches[n];
	}
	fw_gauge_set(&histogram.sum, sum);
	family(p, FW_METRIC_HISTOGRAM, "fullwarp_serve_batch_images", NULL,
	       "Images that were computed together.");
	fw_openmetrics_histogram(&p->writer, NULL, 0, &histogram);
}

static void write_stages(struct page *p, const struct fw_pipeline_stats *stats)
{
	family(p, FW_METRIC_HISTOGRAM, "fullwarp_serve_stage_seconds", "seconds",
	       "Time of an image in a stage: queue, decode, batch, compute, answer.");
	for (int i = 0; i < FW_PIPELINE_STAGE_COUNT; i++)
		write_stage(p, (enum fw_pipeline_stage)i, &stats->stages[i]);
	family(p, FW_METRIC_COUNTER, "fullwarp_serve_expired", NULL,
	       "Images whose time was over, by the stage that they waited in.");
	for (int i = 0; i < FW_PIPELINE_STAGE_COUNT; i++) {
		const struct fw_metric_label label = { "stage", fw_pipeline_stage_name((
									enum fw_pipeline_stage)i) };

		fw_openmetrics_count(&p->writer, &label, 1, stats->stages[i].expired);
	}
}

static void write_pipeline(struct page *p, const struct fw_service *s,
			   const struct fw_pipeline_stats *stats)
{
	static const char *const outcomes[] = { "classified", "failed", "expired", "cancelled" };

	family(p, FW_METRIC_COUNTER, "fullwarp_serve_images", NULL,
	       "Images by what became of them, those of the warm-up among them.");
	for (int i = 0; i < 4; i++) {
		const struct fw_metric_label label = { "outcome", outcomes[i] };

		fw_openmetrics_count(&p->writer, &label, 1, stats->outcomes[i]);
	}
	counter(p, "fullwarp_serve_refused", NULL, "Images that found no slot.", stats->refused);
	counter(p, "fullwarp_serve_padded_images", NULL,
		"Empty places in batches, filled up to a prepared size.", stats->padded);
	gauge(p, "fullwarp_serve_slots", NULL, "Images that may be inside at a time.",
	      stats->slots);
	gauge(p, "fullwarp_serve_slots_used", NULL, "Images inside: the queue's depth.",
	      stats->slots_used);
	gauge(p, "fullwarp_serve_slots_used_most", NULL, "The most that were inside.",
	      stats->max_slots_used);
	gauge(p, "fullwarp_serve_cells", NULL, "Decoded images that fit at a time.", stats->cells);
	gauge(p, "fullwarp_serve_cells_used_most", NULL, "The most that there were.",
	      stats->max_cells_used);
	gauge(p, "fullwarp_serve_workers", NULL, "Networks side by side.", stats->workers);
	gauge(p, "fullwarp_serve_memory_bound_bytes", "bytes",
	      "The most host memory that requests and pipeline take, without the weights.",
	      (double)fw_service_memory_bytes(s));
	gauge(p, "fullwarp_serve_weight_bytes", "bytes", "The model's weights, once.",
	      (double)stats->weight_bytes);
	gauge(p, "fullwarp_serve_pinned_bytes", "bytes", "Page-locked host memory.",
	      (double)stats->pinned_bytes);
	gauge(p, "fullwarp_serve_device_bytes", "bytes", "Memory of the GPU.",
	      (double)stats->device_bytes);
	counter(p, "fullwarp_serve_copied_bytes", "bytes", "Copied to the GPU.",
		stats->copied_bytes);
	counter(p, "fullwarp_serve_nvjpeg_decoded", NULL, "Images that nvJPEG decoded.",
		stats->nvjpeg_decoded);
	counter(p, "fullwarp_serve_nvjpeg_returned", NULL,
		"Images that nvJPEG was given and could not decode.", stats->nvjpeg_returned);
	write_batches(p, stats);
	write_stages(p, stats);
}

/* Resident bytes and CPU seconds, from /proc. */
static void write_process(struct page *p)
{
	char text[128];
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	unsigned long long total, resident;
	struct timespec cpu;

	if (fd >= 0)
		close(fd);
	if (n > 0) {
		text[n] = '\0';
		if (sscanf(text, "%llu %llu", &total, &resident) == 2)
			gauge(p, "process_resident_memory_bytes", "bytes", "Resident memory.",
			      (double)resident * (double)sysconf(_SC_PAGESIZE));
	}
	if (!clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu)) {
		family(p, FW_METRIC_COUNTER, "process_cpu_seconds", "seconds", "CPU time.");
		fw_openmetrics_value(&p->writer, NULL, 0,
				     (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9);
	}
}

void fw_counts_write(struct fw_service *s, struct fw_str *out)
{
	struct page page = { .writer.out = out };
	struct fw_pipeline_stats stats;
	bool is_loaded, has_gpu;

	fw_pipeline_stats_init(&stats);
	pthread_rwlock_rdlock(&s->lock);
	is_loaded = s->pipeline && !fw_pipeline_get_stats(s->pipeline, &stats, NULL);
	has_gpu = s->has_gpu;
	pthread_rwlock_unlock(&s->lock);
	write_state(&page, s, is_loaded ? &stats : NULL);
	write_requests(&page, &s->counts);
	if (is_loaded)
		write_pipeline(&page, s, &stats);
	if (has_gpu)
		fw_gpu_figures_write(&s->gpu, fw_steady_ns(), &page.writer);
	write_process(&page);
	fw_openmetrics_end(&page.writer);
}
