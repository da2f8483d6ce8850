#ifndef FW_SAMPLE_PM_MEAN_H
#define FW_SAMPLE_PM_MEAN_H
/* PM samples averaged over the time between two readings, as values. */
#include "sample/pm.h"

/* Of one device. One thread. Initialise with {0}. */
struct fw_pm_mean {
	struct fw_pm *pm; /* NULL: not sampled */
	bool is_tried;
	struct fw_error why; /* if it was tried and does not work */
	double sums[FW_PM_VALUES], times[FW_PM_VALUES];
};

/* The first call opens the sampler, once; later ones say whether it is open. */
bool fw_pm_mean_open(struct fw_pm_mean *mean, struct fw_pm_library *library, const char *uuid,
		     int64_t interval_ns);

/*
 * Fills those of `values` (FW_GPU_VALUE_COUNT of them) that are sampled, each for the time since the
 * reading before. False: the sampler broke down, why has the reason, and it is closed.
 */
bool fw_pm_mean_read(struct fw_pm_mean *mean, struct fw_value *values);

void fw_pm_mean_release(struct fw_pm_mean *mean);

#endif
