#include "sample/pm_mean.h"

#include <math.h>
#include <string.h>

bool fw_pm_mean_open(struct fw_pm_mean *mean, struct fw_pm_library *library, const char *uuid,
		     int64_t interval_ns)
{
	struct fw_pm_options options = { .interval_ns = (uint64_t)interval_ns };

	if (mean->is_tried)
		return mean->pm != NULL;
	mean->is_tried = true;
	return !fw_pm_open(&mean->pm, library, uuid, &options, &mean->why);
}

static void add(void *arg, const struct fw_pm_sample *sample)
{
	struct fw_pm_mean *mean = arg;
	double length = (double)(sample->end_mono - sample->start_mono);

	for (size_t i = 0; i < FW_PM_VALUES; i++) {
		if (isnan(sample->values[i]))
			continue;
		mean->sums[i] += sample->values[i] * length;
		mean->times[i] += length;
	}
}

/* After an overflow the newest part of the time is missing, however long it was. */
static const char *why_unknown(const struct fw_pm_read *read)
{
	if (read->overflows)
		return "PM sampling: the hardware's buffer ran over";
	return read->samples ? "PM sampling gave impossible values" : "PM sampling: no sample yet";
}

bool fw_pm_mean_read(struct fw_pm_mean *mean, struct fw_value *values)
{
	const enum fw_gpu_value *kinds;
	struct fw_pm_read read;
	size_t count;

	memset(mean->sums, 0, sizeof(mean->sums));
	memset(mean->times, 0, sizeof(mean->times));
	if (fw_pm_read(mean->pm, add, mean, &read, &mean->why)) {
		fw_pm_mean_release(mean);
		return false;
	}
	kinds = fw_pm_values(mean->pm, &count);
	for (size_t i = 0; i < count; i++) {
		if (read.overflows || mean->times[i] <= 0)
			values[kinds[i]] = fw_value_unknown(why_unknown(&read));
		else
			values[kinds[i]] =
				fw_value_measured(mean->sums[i] / mean->times[i], "PM sampling");
	}
	return true;
}

void fw_pm_mean_release(struct fw_pm_mean *mean)
{
	fw_pm_close(mean->pm);
	mean->pm = NULL;
}
