#ifndef FW_SERVE_BENCH_LATENCY_H
#define FW_SERVE_BENCH_LATENCY_H
/*
 * Times in buckets of bounded memory: 64 for each power of two, so that a quantile is off by at most 1/129 (0.8 %) of
 * itself; below 64 ns exact. Longer than 2^43 ns (2.4 hours): counted in the last bucket, their largest exact.
 */
#include <stdint.h>

#define FW_LATENCY_STEPS   64 /* a power of two */
#define FW_LATENCY_POWERS  37 /* 2^6 to 2^43 ns */
#define FW_LATENCY_BUCKETS (FW_LATENCY_STEPS * (FW_LATENCY_POWERS + 1))

/* One thread. Initialise with {0}. */
struct fw_latency {
	uint64_t count;
	int64_t max_ns;
	double total_ns;
	uint64_t buckets[FW_LATENCY_BUCKETS];
};

/* Negative ones, which a steady clock does not give, count as 0. */
void fw_latency_add(struct fw_latency *latency, int64_t ns);
void fw_latency_merge(struct fw_latency *to, const struct fw_latency *from);

/*
 * Nearest rank of per_mille (500 is the median, 999 is p99.9); -1: there are fewer times than it takes for one of them
 * to be above it (10 for p90, 100 for p99, 1000 for p99.9; one for the median), so that it is unknown.
 */
int64_t fw_latency_quantile(const struct fw_latency *latency, unsigned per_mille);

/* -1: none. */
int64_t fw_latency_mean(const struct fw_latency *latency);

#endif
