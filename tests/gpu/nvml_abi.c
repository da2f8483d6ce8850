/* Compares what src/gpu declares of NVML with NVIDIA's nvml.h; only compiled. */
#include "gpu/nvml.h"

#include <nvml.h>

#define SAME(ours, theirs) _Static_assert((long long)(ours) == (long long)(theirs), #theirs)
#define SAME_SIZE(ours, theirs)                                                                    \
	_Static_assert(sizeof(struct ours) == sizeof(theirs), #theirs " has another size")
#define SAME_PLACE(ours, a, theirs, b)                                                             \
	_Static_assert(offsetof(struct ours, a) == offsetof(theirs, b) &&                          \
			       sizeof(((struct ours *)0)->a) == sizeof(((theirs *)0)->b),          \
		       #theirs "." #b " lies elsewhere")

SAME_SIZE(fw_nvml_pci, nvmlPciInfo_t);
SAME_PLACE(fw_nvml_pci, domain, nvmlPciInfo_t, domain);
SAME_PLACE(fw_nvml_pci, device_id, nvmlPciInfo_t, pciDeviceId);
SAME_PLACE(fw_nvml_pci, bus_id, nvmlPciInfo_t, busId);
SAME_SIZE(fw_nvml_utilization, nvmlUtilization_t);
SAME_PLACE(fw_nvml_utilization, memory, nvmlUtilization_t, memory);
SAME_SIZE(fw_nvml_memory, nvmlMemory_v2_t);
SAME_PLACE(fw_nvml_memory, total, nvmlMemory_v2_t, total);
SAME_PLACE(fw_nvml_memory, reserved, nvmlMemory_v2_t, reserved);
SAME_PLACE(fw_nvml_memory, free, nvmlMemory_v2_t, free);
SAME_PLACE(fw_nvml_memory, used, nvmlMemory_v2_t, used);
SAME(FW_NVML_MEMORY_VERSION, nvmlMemory_v2);
SAME_SIZE(fw_nvml_process, nvmlProcessInfo_t);
SAME_PLACE(fw_nvml_process, memory, nvmlProcessInfo_t, usedGpuMemory);
SAME_PLACE(fw_nvml_process, gpu_instance, nvmlProcessInfo_t, gpuInstanceId);
SAME_PLACE(fw_nvml_process, compute_instance, nvmlProcessInfo_t, computeInstanceId);
SAME_SIZE(fw_nvml_process_utilization, nvmlProcessUtilizationSample_t);
SAME_PLACE(fw_nvml_process_utilization, time_us, nvmlProcessUtilizationSample_t, timeStamp);
SAME_PLACE(fw_nvml_process_utilization, sm, nvmlProcessUtilizationSample_t, smUtil);
SAME_PLACE(fw_nvml_process_utilization, decoder, nvmlProcessUtilizationSample_t, decUtil);
SAME_SIZE(fw_nvml_gpm_support, nvmlGpmSupport_t);
SAME_PLACE(fw_nvml_gpm_support, is_supported, nvmlGpmSupport_t, isSupportedDevice);
SAME_SIZE(fw_nvml_gpm_metric, nvmlGpmMetric_t);
SAME_PLACE(fw_nvml_gpm_metric, result, nvmlGpmMetric_t, nvmlReturn);
SAME_PLACE(fw_nvml_gpm_metric, value, nvmlGpmMetric_t, value);
SAME_PLACE(fw_nvml_gpm_metric, unit, nvmlGpmMetric_t, metricInfo.unit);
SAME_PLACE(fw_nvml_gpm_metrics, count, nvmlGpmMetricsGet_t, numMetrics);
SAME_PLACE(fw_nvml_gpm_metrics, first, nvmlGpmMetricsGet_t, sample1);
SAME_PLACE(fw_nvml_gpm_metrics, second, nvmlGpmMetricsGet_t, sample2);
_Static_assert(offsetof(struct fw_nvml_gpm_metrics, metrics) ==
		       offsetof(nvmlGpmMetricsGet_t, metrics),
	       "nvmlGpmMetricsGet_t.metrics lies elsewhere");
_Static_assert(sizeof(struct fw_nvml_gpm_metrics) >= sizeof(nvmlGpmMetricsGet_t),
	       "NVML knows more GPM metrics than there is room for");
SAME(1, NVML_GPM_METRICS_GET_VERSION);
SAME(1, NVML_GPM_SUPPORT_VERSION);
_Static_assert(sizeof(nvmlReturn_t) == sizeof(int), "results are ints");
_Static_assert(sizeof(nvmlEnableState_t) == sizeof(int), "states are ints");
_Static_assert(sizeof(nvmlDevice_t) == sizeof(void *), "handles are pointers");

SAME(FW_NVML_SUCCESS, NVML_SUCCESS);
SAME(FW_NVML_UNINITIALIZED, NVML_ERROR_UNINITIALIZED);
SAME(FW_NVML_NOT_SUPPORTED, NVML_ERROR_NOT_SUPPORTED);
SAME(FW_NVML_NO_PERMISSION, NVML_ERROR_NO_PERMISSION);
SAME(FW_NVML_NOT_FOUND, NVML_ERROR_NOT_FOUND);
SAME(FW_NVML_INSUFFICIENT_SIZE, NVML_ERROR_INSUFFICIENT_SIZE);
SAME(FW_NVML_DRIVER_NOT_LOADED, NVML_ERROR_DRIVER_NOT_LOADED);
SAME(FW_NVML_GPU_IS_LOST, NVML_ERROR_GPU_IS_LOST);
SAME(FW_NVML_RESET_REQUIRED, NVML_ERROR_RESET_REQUIRED);
SAME(FW_NVML_OPERATING_SYSTEM, NVML_ERROR_OPERATING_SYSTEM);
SAME(FW_NVML_VERSION_MISMATCH, NVML_ERROR_LIB_RM_VERSION_MISMATCH);
SAME(FW_NVML_UNKNOWN, NVML_ERROR_UNKNOWN);
SAME(FW_NVML_CLOCK_GRAPHICS, NVML_CLOCK_GRAPHICS);
SAME(FW_NVML_CLOCK_SM, NVML_CLOCK_SM);
SAME(FW_NVML_CLOCK_MEMORY, NVML_CLOCK_MEM);
SAME(FW_NVML_PCIE_TX, NVML_PCIE_UTIL_TX_BYTES);
SAME(FW_NVML_PCIE_RX, NVML_PCIE_UTIL_RX_BYTES);
SAME(FW_NVML_ECC_CORRECTED, NVML_MEMORY_ERROR_TYPE_CORRECTED);
SAME(FW_NVML_ECC_UNCORRECTED, NVML_MEMORY_ERROR_TYPE_UNCORRECTED);
SAME(FW_NVML_ECC_SINCE_LOAD, NVML_VOLATILE_ECC);
SAME(FW_NVML_ECC_LIFETIME, NVML_AGGREGATE_ECC);
SAME(FW_NVML_COMPUTE_DEFAULT, NVML_COMPUTEMODE_DEFAULT);
SAME(FW_NVML_COMPUTE_PROHIBITED, NVML_COMPUTEMODE_PROHIBITED);
SAME(FW_NVML_COMPUTE_EXCLUSIVE_PROCESS, NVML_COMPUTEMODE_EXCLUSIVE_PROCESS);
SAME(0, NVML_TEMPERATURE_GPU);
SAME(FW_NVML_CLOCKS_IDLE, nvmlClocksThrottleReasonGpuIdle);
SAME(FW_NVML_CLOCKS_APPLICATION, nvmlClocksThrottleReasonApplicationsClocksSetting);
SAME(FW_NVML_CLOCKS_POWER_CAP, nvmlClocksThrottleReasonSwPowerCap);
SAME(FW_NVML_CLOCKS_HW_SLOWDOWN, nvmlClocksThrottleReasonHwSlowdown);
SAME(FW_NVML_CLOCKS_SYNC_BOOST, nvmlClocksThrottleReasonSyncBoost);
SAME(FW_NVML_CLOCKS_SW_THERMAL, nvmlClocksThrottleReasonSwThermalSlowdown);
SAME(FW_NVML_CLOCKS_HW_THERMAL, nvmlClocksThrottleReasonHwThermalSlowdown);
SAME(FW_NVML_CLOCKS_HW_POWER_BRAKE, nvmlClocksThrottleReasonHwPowerBrakeSlowdown);
SAME(FW_NVML_CLOCKS_DISPLAY, nvmlClocksThrottleReasonDisplayClockSetting);
SAME(FW_NVML_GPM_GRAPHICS, NVML_GPM_METRIC_GRAPHICS_UTIL);
SAME(FW_NVML_GPM_SM, NVML_GPM_METRIC_SM_UTIL);
SAME(FW_NVML_GPM_SM_OCCUPANCY, NVML_GPM_METRIC_SM_OCCUPANCY);
SAME(FW_NVML_GPM_INTEGER, NVML_GPM_METRIC_INTEGER_UTIL);
SAME(FW_NVML_GPM_TENSOR, NVML_GPM_METRIC_ANY_TENSOR_UTIL);
SAME(FW_NVML_GPM_DRAM, NVML_GPM_METRIC_DRAM_BW_UTIL);
SAME(FW_NVML_GPM_FP64, NVML_GPM_METRIC_FP64_UTIL);
SAME(FW_NVML_GPM_FP32, NVML_GPM_METRIC_FP32_UTIL);
SAME(FW_NVML_GPM_FP16, NVML_GPM_METRIC_FP16_UTIL);
SAME(FW_NVML_GPM_PCIE_TX, NVML_GPM_METRIC_PCIE_TX_PER_SEC);
SAME(FW_NVML_GPM_PCIE_RX, NVML_GPM_METRIC_PCIE_RX_PER_SEC);
SAME(FW_NVML_GPM_NVLINK_RX, NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC);
SAME(FW_NVML_GPM_NVLINK_TX, NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC);
