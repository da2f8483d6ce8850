/* Counters, gauges and histograms, each changed by one atomic operation or a short retry. */
#include "metrics/instruments.h"

#include <math.h>
#include <string.h>

void fw_counter_add(struct fw_counter *counter, uint64_t amount)
{
	atomic_fetch_add_explicit(&counter->value, amount, memory_order_relaxed);
}

uint64_t fw_counter_read(const struct fw_counter *counter)
{
	return atomic_load_explicit(&counter->value, memory_order_relaxed);
}

static uint64_t to_bits(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static double from_bits(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

void fw_gauge_set(struct fw_gauge *gauge, double value)
{
	atomic_store_explicit(&gauge->bits, to_bits(value), memory_order_relaxed);
}

void fw_gauge_add(struct fw_gauge *gauge, double amount)
{
	uint64_t old = atomic_load_explicit(&gauge->bits, memory_order_relaxed);

	while (!atomic_compare_exchange_weak_explicit(&gauge->bits, &old,
						      to_bits(from_bits(old) + amount),
						      memory_order_relaxed, memory_order_relaxed))
		;
}

double fw_gauge_read(const struct fw_gauge *gauge)
{
	return from_bits(atomic_load_explicit(&gauge->bits, memory_order_relaxed));
}

bool fw_histogram_init(struct fw_histogram *histogram, const double *bounds, size_t count)
{
	*histogram = (struct fw_histogram){ .count = 0 };
	if (!count || count > FW_HISTOGRAM_BOUNDS_MAX)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!isfinite(bounds[i]) || (i && bounds[i] <= bounds[i - 1]))
			return false;
	memcpy(histogram->bounds, bounds, count * sizeof(*bounds));
	histogram->count = count;
	return true;
}

void fw_histogram_observe(struct fw_histogram *histogram, double value)
{
	size_t bucket = 0;

	if (isnan(value))
		return;
	while (bucket < histogram->count && value > histogram->bounds[bucket])
		bucket++;
	atomic_fetch_add_explicit(&histogram->buckets[bucket], 1, memory_order_relaxed);
	fw_gauge_add(&histogram->sum, value);
}
