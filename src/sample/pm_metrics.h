#ifndef FW_SAMPLE_PM_METRICS_H
#define FW_SAMPLE_PM_METRICS_H
/* Which of the metrics that we want fit one pass on a chip: found out by asking CUPTI. */
#include "gpu/cupti_pm.h"
#include "sample/pm.h"

/* A choice. The profiler host and the image belong to it. */
struct fw_pm_choice {
	size_t count;
	const char *names[FW_PM_VALUES]; /* static storage */
	enum fw_gpu_value values[FW_PM_VALUES];
	void *host;
	uint8_t *image;
	size_t image_bytes;
};

/* availability: what the chip in hand has; NULL: what such chips have. */
fw_status fw_pm_choose(const struct fw_cupti_pm *cupti, const char *chip,
		       const uint8_t *availability, struct fw_pm_choice *choice,
		       struct fw_error *err);

/* Accepts one that is all zero. */
void fw_pm_choice_release(const struct fw_cupti_pm *cupti, struct fw_pm_choice *choice);

#endif
