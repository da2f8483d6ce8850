#ifndef FW_SAMPLE_PM_CLOCK_H
#define FW_SAMPLE_PM_CLOCK_H
/*
 * The clock of PM samples against CLOCK_MONOTONIC, without a CUDA context: a sample that a reading
 * hands out ended before the reading was done. The least of what lies between over many readings is the
 * offset, too high by at most the time that a finished sample waits in the hardware.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FW_PM_CLOCK_WINDOW_NS INT64_C(1000000000)
#define FW_PM_CLOCK_WINDOWS   4 /* the clocks drift: older readings do not count */

/* The reading of a window in which the newest sample was youngest. */
struct fw_pm_clock_pair {
	int64_t asked_mono, told_mono;
	uint64_t device_ns; /* end of the newest sample */
};

/* Initialise with {0}. One thread. */
struct fw_pm_clock {
	struct fw_pm_clock_pair pairs[FW_PM_CLOCK_WINDOWS]; /* of the last windows, newest first */
	size_t count;
	int64_t window_start;
};

/*
 * Takes a reading. True: a window ended with it, and *ended is its pair; the one after it has begun.
 */
bool fw_pm_clock_add(struct fw_pm_clock *clock, const struct fw_pm_clock_pair *reading,
		     struct fw_pm_clock_pair *ended);

/* CLOCK_MONOTONIC of a time of the samples' clock; false: there was no reading yet. */
bool fw_pm_clock_mono(const struct fw_pm_clock *clock, uint64_t device_ns, int64_t *mono);

#endif
