#include "sample/device_counters.h"

#include <stdio.h>
#include <stdlib.h>

/* Every value from the first to the last of these comes from counters. */
#define FIRST FW_GPU_SM_BUSY
#define COUNT (FW_GPU_NVLINK_TX - FW_GPU_SM_BUSY + 1)

static const char mig[] = "MIG is on: the GPU's counters belong to its instances";

static bool has_gpm(const struct fw_gpu_sample *gpu)
{
	return gpu->identity.gpm.is_known && gpu->identity.gpm.value && !gpu->has_mig;
}

static const char *why_no_gpm(const struct fw_gpu_sample *gpu)
{
	if (gpu->has_mig)
		return mig;
	if (!gpu->identity.gpm.is_known)
		return fw_nvml_result_text(gpu->identity.gpm.result);
	return "GPM needs Hopper or newer";
}

static void say_why(struct fw_gpu_sample *gpu, const char *why)
{
	snprintf(gpu->why_source, sizeof(gpu->why_source), "%s", why);
}

static bool has_library(struct fw_counter_sources *sources)
{
	if (!sources->library && !sources->why_no_pm.message[0] &&
	    fw_pm_library_open(&sources->library, sources->cupti, &sources->why_no_pm))
		sources->library = NULL;
	return sources->library != NULL;
}

/* False: why not stands in the sample. */
static bool read_pm(struct fw_pm_mean *pm, struct fw_counter_sources *sources,
		    struct fw_gpu_sample *gpu)
{
	if (gpu->has_mig || !has_library(sources)) {
		say_why(gpu, gpu->has_mig ? mig : sources->why_no_pm.message);
		return false;
	}
	if (!fw_pm_mean_open(pm, sources->library, gpu->identity.uuid,
			     sources->wanted.interval_ns)) {
		say_why(gpu, pm->why.message);
		return false;
	}
	fw_values_forget(gpu->values + FIRST, COUNT, "PM sampling does not count it here");
	if (!fw_pm_mean_read(pm, gpu->values)) {
		say_why(gpu, pm->why.message);
		return false;
	}
	gpu->source = FW_COUNTERS_PM;
	return true;
}

static enum fw_counter_source wanted_source(const struct fw_counter_sources *sources,
					    const struct fw_gpu_sample *gpu)
{
	if (sources->wanted.source == FW_COUNTERS_AUTO && sources->wanted.spares_pm && has_gpm(gpu))
		return FW_COUNTERS_GPM;
	return sources->wanted.source;
}

void fw_device_counters_read(struct fw_device_counters *counters,
			     struct fw_counter_sources *sources, const struct fw_nvml *nvml,
			     void *device, struct fw_gpu_sample *gpu, int64_t now_ns)
{
	enum fw_counter_source wanted = wanted_source(sources, gpu);

	gpu->source = FW_COUNTERS_NVML;
	if (wanted == FW_COUNTERS_NVML) {
		fw_values_forget(gpu->values + FIRST, COUNT, "not asked for (--counters)");
		return;
	}
	if (wanted <= FW_COUNTERS_PM && read_pm(&counters->pm, sources, gpu))
		return;
	if (wanted == FW_COUNTERS_PM) {
		fw_values_forget(gpu->values + FIRST, COUNT, "PM sampling does not work here");
		return;
	}
	fw_values_forget(gpu->values + FIRST, COUNT, why_no_gpm(gpu));
	if (!has_gpm(gpu) || counters->is_gpm_spared)
		return;
	gpu->source = FW_COUNTERS_GPM;
	fw_gpm_read(&counters->gpm, nvml, device, now_ns, gpu->values);
}

void fw_device_counters_release(struct fw_device_counters *counters, const struct fw_nvml *nvml)
{
	fw_gpm_release(&counters->gpm, nvml);
	fw_pm_mean_release(&counters->pm);
}

void fw_counter_sources_release(struct fw_counter_sources *sources)
{
	fw_pm_library_close(sources->library);
	free(sources->cupti);
	*sources = (struct fw_counter_sources){ 0 };
}
