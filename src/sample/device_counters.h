#ifndef FW_SAMPLE_DEVICE_COUNTERS_H
#define FW_SAMPLE_DEVICE_COUNTERS_H
/* The counters of one device from the best source that is wanted and works. */
#include "sample/devices.h"
#include "sample/gpm.h"
#include "sample/pm_mean.h"

/* What all devices share. One thread. */
struct fw_counter_sources {
	struct fw_devices_counters wanted;
	char *cupti;                   /* a copy */
	struct fw_pm_library *library; /* opened at the first need */
	struct fw_error why_no_pm;     /* if that failed */
};

/* Initialise with {0}. */
struct fw_device_counters {
	struct fw_gpm gpm;
	struct fw_pm_mean pm;
	bool is_gpm_spared;
};

/* Fills the counters among gpu's values, its source and why it is not a better one. */
void fw_device_counters_read(struct fw_device_counters *counters,
			     struct fw_counter_sources *sources, const struct fw_nvml *nvml,
			     void *device, struct fw_gpu_sample *gpu, int64_t now_ns);

/* Before nvml is closed. */
void fw_device_counters_release(struct fw_device_counters *counters, const struct fw_nvml *nvml);

void fw_counter_sources_release(struct fw_counter_sources *sources);

#endif
