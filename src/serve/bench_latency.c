/* Times in buckets whose width grows with them. */
#include "serve/bench_latency.h"

#include <stddef.h>

#define STEP_BITS 6

_Static_assert(1 << STEP_BITS == FW_LATENCY_STEPS, "steps");

/* The first power has the buckets of 1 ns; from then on each power of two has as many, twice as wide. */
static size_t bucket_of(int64_t ns)
{
	uint64_t value = ns > 0 ? (uint64_t)ns : 0;
	unsigned shift;
	size_t bucket;

	if (value < FW_LATENCY_STEPS)
		return (size_t)value;
	shift = 63 - (unsigned)__builtin_clzll(value) - STEP_BITS;
	bucket = (size_t)FW_LATENCY_STEPS * (shift + 1) +
		 (size_t)((value >> shift) - FW_LATENCY_STEPS);
	return bucket < FW_LATENCY_BUCKETS ? bucket : FW_LATENCY_BUCKETS - 1;
}

/* The middle of the bucket's values, which halves the error. */
static int64_t value_of(size_t bucket)
{
	size_t shift = bucket / FW_LATENCY_STEPS;
	int64_t low;

	if (!shift)
		return (int64_t)bucket;
	shift--;
	low = (int64_t)(FW_LATENCY_STEPS + bucket % FW_LATENCY_STEPS) << shift;
	return low + ((INT64_C(1) << shift) - 1) / 2;
}

void fw_latency_add(struct fw_latency *latency, int64_t ns)
{
	latency->buckets[bucket_of(ns)]++;
	latency->count++;
	latency->total_ns += (double)ns;
	if (ns > latency->max_ns)
		latency->max_ns = ns;
}

void fw_latency_merge(struct fw_latency *to, const struct fw_latency *from)
{
	for (size_t i = 0; i < FW_LATENCY_BUCKETS; i++)
		to->buckets[i] += from->buckets[i];
	to->count += from->count;
	to->total_ns += from->total_ns;
	if (from->max_ns > to->max_ns)
		to->max_ns = from->max_ns;
}

int64_t fw_latency_quantile(const struct fw_latency *latency, unsigned per_mille)
{
	uint64_t above = per_mille < 1000 ? 1000 - per_mille : 1, rank, seen = 0;

	if (!latency->count || (per_mille > 500 && latency->count < 1000 / above))
		return -1;
	/* ceil(count x q), without a product that could overflow. */
	rank = latency->count / 1000 * per_mille + (latency->count % 1000 * per_mille + 999) / 1000;
	for (size_t i = 0; i < FW_LATENCY_BUCKETS; i++) {
		seen += latency->buckets[i];
		if (seen >= rank && latency->buckets[i])
			return value_of(i) < latency->max_ns ? value_of(i) : latency->max_ns;
	}
	return latency->max_ns;
}

int64_t fw_latency_mean(const struct fw_latency *latency)
{
	return latency->count ? (int64_t)(latency->total_ns / (double)latency->count) : -1;
}
