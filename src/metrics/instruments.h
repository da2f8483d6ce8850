#ifndef FW_METRICS_INSTRUMENTS_H
#define FW_METRICS_INSTRUMENTS_H
/* What a running program counts: counters, gauges, histograms. Any thread may change and read them. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Only grows. Initialise with {0}. */
struct fw_counter {
	_Atomic uint64_t value;
};

/* Goes up and down; the bits of a double. Initialise with {0}: 0.0. */
struct fw_gauge {
	_Atomic uint64_t bits;
};

#define FW_HISTOGRAM_BOUNDS_MAX 32

/* How often which values came. Initialise with fw_histogram_init. */
struct fw_histogram {
	double bounds[FW_HISTOGRAM_BOUNDS_MAX]; /* upper ends, inclusive, ascending */
	size_t count;                           /* of bounds */
	_Atomic uint64_t buckets[FW_HISTOGRAM_BOUNDS_MAX + 1]; /* the last one: above all bounds */
	struct fw_gauge sum;
};

void fw_counter_add(struct fw_counter *counter, uint64_t amount);
uint64_t fw_counter_read(const struct fw_counter *counter);

void fw_gauge_set(struct fw_gauge *gauge, double value);
void fw_gauge_add(struct fw_gauge *gauge, double amount);
double fw_gauge_read(const struct fw_gauge *gauge);

/* False: no bounds, more than fit, not ascending, or not finite; the histogram is then unusable. */
bool fw_histogram_init(struct fw_histogram *histogram, const double *bounds, size_t count);

/* Not-a-number is not counted. */
void fw_histogram_observe(struct fw_histogram *histogram, double value);

#endif
