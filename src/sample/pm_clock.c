#include "sample/pm_clock.h"

#include <string.h>

/* How old the newest sample was at most. Both clocks are positive: no overflow. */
static int64_t age(const struct fw_pm_clock_pair *pair)
{
	return pair->told_mono - (int64_t)pair->device_ns;
}

static void open_window(struct fw_pm_clock *clock, const struct fw_pm_clock_pair *reading)
{
	size_t kept = clock->count < FW_PM_CLOCK_WINDOWS ? clock->count : FW_PM_CLOCK_WINDOWS - 1;

	memmove(clock->pairs + 1, clock->pairs, kept * sizeof(clock->pairs[0]));
	clock->pairs[0] = *reading;
	clock->count = kept + 1;
	clock->window_start = reading->told_mono;
}

bool fw_pm_clock_add(struct fw_pm_clock *clock, const struct fw_pm_clock_pair *reading,
		     struct fw_pm_clock_pair *ended)
{
	bool is_over =
		clock->count && reading->told_mono - clock->window_start >= FW_PM_CLOCK_WINDOW_NS;

	if (!clock->count || is_over) {
		if (is_over)
			*ended = clock->pairs[0];
		open_window(clock, reading);
	} else if (age(reading) < age(&clock->pairs[0])) {
		clock->pairs[0] = *reading;
	}
	return is_over;
}

bool fw_pm_clock_mono(const struct fw_pm_clock *clock, uint64_t device_ns, int64_t *mono)
{
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < clock->count; i++)
		if (age(&clock->pairs[i]) < least)
			least = age(&clock->pairs[i]);
	if (!clock->count)
		return false;
	*mono = (int64_t)device_ns + least;
	return true;
}
