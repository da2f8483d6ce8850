#include "sample/gpm.h"

#include <math.h>

/* A link's figure above this many bytes a second is garbage: 18 links of NVLink 5 carry 0.9e12. */
#define LINK_MOST 4e12

static const struct {
	unsigned id;
	enum fw_gpu_value value;
	bool is_link; /* MiB/s, else percent */
} metrics[] = {
	{ FW_NVML_GPM_SM, FW_GPU_SM_BUSY, false },
	{ FW_NVML_GPM_SM_OCCUPANCY, FW_GPU_WARPS, false },
	{ FW_NVML_GPM_TENSOR, FW_GPU_TENSOR, false },
	{ FW_NVML_GPM_FP32, FW_GPU_FP32, false },
	{ FW_NVML_GPM_FP16, FW_GPU_FP16, false },
	{ FW_NVML_GPM_FP64, FW_GPU_FP64, false },
	{ FW_NVML_GPM_INTEGER, FW_GPU_INTEGER, false },
	{ FW_NVML_GPM_DRAM, FW_GPU_DRAM, false },
	{ FW_NVML_GPM_PCIE_RX, FW_GPU_PCIE_RX, true },
	{ FW_NVML_GPM_PCIE_TX, FW_GPU_PCIE_TX, true },
	{ FW_NVML_GPM_NVLINK_RX, FW_GPU_NVLINK_RX, true },
	{ FW_NVML_GPM_NVLINK_TX, FW_GPU_NVLINK_TX, true },
};

#define METRICS (sizeof(metrics) / sizeof(metrics[0]))

static void forget(struct fw_value *values, const char *why)
{
	for (size_t i = 0; i < METRICS; i++)
		values[metrics[i].value] = fw_value_unknown(why);
}

static bool alloc_samples(struct fw_gpm *gpm, const struct fw_nvml *nvml)
{
	if (!gpm->older && nvml->gpm_sample_alloc(&gpm->older))
		gpm->older = NULL;
	if (!gpm->newer && nvml->gpm_sample_alloc(&gpm->newer))
		gpm->newer = NULL;
	return gpm->older && gpm->newer;
}

/* The first sample, which tells nothing yet. */
static void begin(struct fw_gpm *gpm, const struct fw_nvml *nvml, void *device, int64_t now_ns,
		  struct fw_value *values)
{
	int result = nvml->gpm_sample_get(device, gpm->older);

	gpm->has_older = !result;
	gpm->older_ns = now_ns;
	forget(values, result ? fw_nvml_result_text(result) : "GPM's first sample");
}

static struct fw_value convert(const struct fw_nvml_gpm_metric *metric, bool is_link)
{
	double most = is_link ? LINK_MOST / 1048576 : 101; /* counters may overshoot a little */

	if (metric->result)
		return fw_value_unknown(fw_nvml_result_text(metric->result));
	if (!(metric->value >= 0 && metric->value <= most)) /* not a number too */
		return fw_value_unknown("GPM answered an impossible value");
	if (is_link)
		return fw_value_measured(metric->value * 1048576, "GPM");
	return fw_value_measured(fmin(metric->value, 100), "GPM");
}

/* Whether any percentage is above zero. */
static bool says_anything(const struct fw_value *values)
{
	for (size_t i = 0; i < METRICS; i++) {
		struct fw_value value = values[metrics[i].value];

		if (!metrics[i].is_link && fw_value_is_known(value) && value.number > 0)
			return true;
	}
	return false;
}

static void compare(struct fw_gpm *gpm, const struct fw_nvml *nvml, struct fw_value *values)
{
	struct fw_nvml_gpm_metrics get = {
		.version = 1, .count = METRICS, .first = gpm->older, .second = gpm->newer
	};
	int result;

	for (size_t i = 0; i < METRICS; i++)
		get.metrics[i].id = metrics[i].id;
	result = nvml->gpm_metrics_get(&get);
	if (result) {
		forget(values, fw_nvml_result_text(result));
		return;
	}
	for (size_t i = 0; i < METRICS; i++)
		values[metrics[i].value] = convert(&get.metrics[i], metrics[i].is_link);
	if (!says_anything(values))
		forget(values, "GPM answered zero for everything: idle, or no answer");
}

void fw_gpm_read(struct fw_gpm *gpm, const struct fw_nvml *nvml, void *device, int64_t now_ns,
		 struct fw_value *values)
{
	void *swap;
	int result;

	if (!nvml->gpm_sample_alloc || !nvml->gpm_sample_get || !nvml->gpm_metrics_get ||
	    !nvml->gpm_sample_free) {
		forget(values, "this driver has no GPM");
		return;
	}
	if (!alloc_samples(gpm, nvml)) {
		forget(values, "GPM gave no memory for samples");
		return;
	}
	if (!gpm->has_older) {
		begin(gpm, nvml, device, now_ns, values);
		return;
	}
	if (now_ns - gpm->older_ns < FW_GPM_LEAST_NS) {
		forget(values, "GPM is not true over less than 200 ms");
		return;
	}
	result = nvml->gpm_sample_get(device, gpm->newer);
	if (result) {
		gpm->has_older = false;
		forget(values, fw_nvml_result_text(result));
		return;
	}
	compare(gpm, nvml, values);
	swap = gpm->older;
	gpm->older = gpm->newer;
	gpm->newer = swap;
	gpm->older_ns = now_ns;
}

void fw_gpm_release(struct fw_gpm *gpm, const struct fw_nvml *nvml)
{
	if (gpm->older)
		nvml->gpm_sample_free(gpm->older);
	if (gpm->newer)
		nvml->gpm_sample_free(gpm->newer);
	*gpm = (struct fw_gpm){ 0 };
}
