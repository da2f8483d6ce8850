/* Compares what src/gpu declares of CUPTI's PM sampling with NVIDIA's headers; only compiled. */
#include "gpu/cupti_pm.h"

#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

#define SAME(ours, theirs) _Static_assert((long long)(ours) == (long long)(theirs), #theirs)
/* The size that CUPTI is told, and where the last fields lie. */
#define SAME_SIZE(ours, last, theirs)                                                              \
	_Static_assert(FW_CUPTI_SIZE(ours, last) == theirs##_STRUCT_SIZE,                          \
		       #theirs " has another size")
#define SAME_PLACE(ours, a, theirs, b)                                                             \
	_Static_assert(offsetof(struct ours, a) == offsetof(theirs, b) &&                          \
			       sizeof(((struct ours *)0)->a) == sizeof(((theirs *)0)->b),          \
		       #theirs "." #b " lies elsewhere")

SAME_SIZE(fw_cupti_params, reserved, CUpti_Profiler_Initialize_Params);
SAME_SIZE(fw_cupti_params, reserved, CUpti_Profiler_DeInitialize_Params);
SAME_SIZE(fw_cupti_chip_name, name, CUpti_Device_GetChipName_Params);
SAME_PLACE(fw_cupti_chip_name, device, CUpti_Device_GetChipName_Params, deviceIndex);
SAME_SIZE(fw_cupti_host_initialize, host, CUpti_Profiler_Host_Initialize_Params);
SAME_PLACE(fw_cupti_host_initialize, kind, CUpti_Profiler_Host_Initialize_Params, profilerType);
SAME_PLACE(fw_cupti_host_initialize, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
SAME_PLACE(fw_cupti_host_initialize, availability, CUpti_Profiler_Host_Initialize_Params,
	   pCounterAvailabilityImage);
SAME_SIZE(fw_cupti_host, host, CUpti_Profiler_Host_Deinitialize_Params);
SAME_PLACE(fw_cupti_host, host, CUpti_Profiler_Host_Deinitialize_Params, pHostObject);
SAME_SIZE(fw_cupti_host_metrics, count, CUpti_Profiler_Host_ConfigAddMetrics_Params);
SAME_PLACE(fw_cupti_host_metrics, host, CUpti_Profiler_Host_ConfigAddMetrics_Params, pHostObject);
SAME_PLACE(fw_cupti_host_metrics, names, CUpti_Profiler_Host_ConfigAddMetrics_Params,
	   ppMetricNames);
SAME_SIZE(fw_cupti_host_image_size, bytes, CUpti_Profiler_Host_GetConfigImageSize_Params);
SAME_PLACE(fw_cupti_host_image_size, bytes, CUpti_Profiler_Host_GetConfigImageSize_Params,
	   configImageSize);
SAME_SIZE(fw_cupti_host_image, image, CUpti_Profiler_Host_GetConfigImage_Params);
SAME_PLACE(fw_cupti_host_image, bytes, CUpti_Profiler_Host_GetConfigImage_Params, configImageSize);
SAME_SIZE(fw_cupti_passes, passes, CUpti_Profiler_Host_GetNumOfPasses_Params);
SAME_PLACE(fw_cupti_passes, bytes, CUpti_Profiler_Host_GetNumOfPasses_Params, configImageSize);
SAME_PLACE(fw_cupti_passes, image, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage);
SAME_SIZE(fw_cupti_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params);
SAME_PLACE(fw_cupti_evaluate, data, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
	   pCounterDataImage);
SAME_PLACE(fw_cupti_evaluate, data_bytes, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
	   counterDataImageSize);
SAME_PLACE(fw_cupti_evaluate, sample, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex);
SAME_PLACE(fw_cupti_evaluate, names, CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames);
SAME_PLACE(fw_cupti_evaluate, count, CUpti_Profiler_Host_EvaluateToGpuValues_Params, numMetrics);
SAME_SIZE(fw_cupti_availability, image, CUpti_PmSampling_GetCounterAvailability_Params);
SAME_PLACE(fw_cupti_availability, device, CUpti_PmSampling_GetCounterAvailability_Params,
	   deviceIndex);
SAME_PLACE(fw_cupti_availability, bytes, CUpti_PmSampling_GetCounterAvailability_Params,
	   counterAvailabilityImageSize);
SAME_SIZE(fw_cupti_pm_object, object, CUpti_PmSampling_Disable_Params);
SAME_SIZE(fw_cupti_pm_object, object, CUpti_PmSampling_Start_Params);
SAME_SIZE(fw_cupti_pm_object, object, CUpti_PmSampling_Stop_Params);
SAME_SIZE(fw_cupti_pm_enable, object, CUpti_PmSampling_Enable_Params);
SAME_PLACE(fw_cupti_pm_enable, device, CUpti_PmSampling_Enable_Params, deviceIndex);
SAME_SIZE(fw_cupti_pm_config, append, CUpti_PmSampling_SetConfig_Params);
SAME_PLACE(fw_cupti_pm_config, object, CUpti_PmSampling_SetConfig_Params, pPmSamplingObject);
SAME_PLACE(fw_cupti_pm_config, config_bytes, CUpti_PmSampling_SetConfig_Params, configSize);
SAME_PLACE(fw_cupti_pm_config, config, CUpti_PmSampling_SetConfig_Params, pConfig);
SAME_PLACE(fw_cupti_pm_config, buffer_bytes, CUpti_PmSampling_SetConfig_Params, hardwareBufferSize);
SAME_PLACE(fw_cupti_pm_config, interval, CUpti_PmSampling_SetConfig_Params, samplingInterval);
SAME_PLACE(fw_cupti_pm_config, trigger, CUpti_PmSampling_SetConfig_Params, triggerMode);
SAME_SIZE(fw_cupti_pm_data_size, bytes, CUpti_PmSampling_GetCounterDataSize_Params);
SAME_PLACE(fw_cupti_pm_data_size, names, CUpti_PmSampling_GetCounterDataSize_Params, pMetricNames);
SAME_PLACE(fw_cupti_pm_data_size, count, CUpti_PmSampling_GetCounterDataSize_Params, numMetrics);
SAME_PLACE(fw_cupti_pm_data_size, samples, CUpti_PmSampling_GetCounterDataSize_Params, maxSamples);
SAME_SIZE(fw_cupti_pm_data_clear, data, CUpti_PmSampling_CounterDataImage_Initialize_Params);
SAME_PLACE(fw_cupti_pm_data_clear, bytes, CUpti_PmSampling_CounterDataImage_Initialize_Params,
	   counterDataSize);
SAME_SIZE(fw_cupti_pm_decode, overflow, CUpti_PmSampling_DecodeData_Params);
SAME_PLACE(fw_cupti_pm_decode, data, CUpti_PmSampling_DecodeData_Params, pCounterDataImage);
SAME_PLACE(fw_cupti_pm_decode, bytes, CUpti_PmSampling_DecodeData_Params, counterDataImageSize);
SAME_PLACE(fw_cupti_pm_decode, stop, CUpti_PmSampling_DecodeData_Params, decodeStopReason);
SAME_SIZE(fw_cupti_pm_data_info, completed, CUpti_PmSampling_GetCounterDataInfo_Params);
SAME_PLACE(fw_cupti_pm_data_info, data, CUpti_PmSampling_GetCounterDataInfo_Params,
	   pCounterDataImage);
SAME_PLACE(fw_cupti_pm_data_info, total, CUpti_PmSampling_GetCounterDataInfo_Params,
	   numTotalSamples);
SAME_SIZE(fw_cupti_pm_sample_info, end, CUpti_PmSampling_CounterData_GetSampleInfo_Params);
SAME_PLACE(fw_cupti_pm_sample_info, data, CUpti_PmSampling_CounterData_GetSampleInfo_Params,
	   pCounterDataImage);
SAME_PLACE(fw_cupti_pm_sample_info, sample, CUpti_PmSampling_CounterData_GetSampleInfo_Params,
	   sampleIndex);
SAME_PLACE(fw_cupti_pm_sample_info, start, CUpti_PmSampling_CounterData_GetSampleInfo_Params,
	   startTimestamp);

SAME(FW_CUPTI_PROFILER_PM_SAMPLING, CUPTI_PROFILER_TYPE_PM_SAMPLING);
SAME(FW_CUPTI_PM_TRIGGER_SYSCLK, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL);
SAME(FW_CUPTI_PM_TRIGGER_TIME, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
SAME(0, CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST);
SAME(FW_CUPTI_PM_STOP_OTHER, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_OTHER);
SAME(FW_CUPTI_PM_STOP_FULL, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL);
SAME(FW_CUPTI_PM_STOP_END, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS);

#define SAME_RESULT(name) SAME(FW_CUPTI_##name, CUPTI_ERROR_##name)
SAME(FW_CUPTI_SUCCESS, CUPTI_SUCCESS);
SAME_RESULT(INVALID_PARAMETER);
SAME_RESULT(INVALID_DEVICE);
SAME_RESULT(INVALID_OPERATION);
SAME_RESULT(OUT_OF_MEMORY);
SAME_RESULT(HARDWARE);
SAME_RESULT(NOT_COMPATIBLE);
SAME_RESULT(NOT_INITIALIZED);
SAME_RESULT(INVALID_METRIC_NAME);
SAME_RESULT(HARDWARE_BUSY);
SAME_RESULT(NOT_SUPPORTED);
SAME_RESULT(VIRTUALIZED_DEVICE_NOT_SUPPORTED);
SAME_RESULT(INSUFFICIENT_PRIVILEGES);
SAME_RESULT(VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
SAME_RESULT(CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
SAME_RESULT(MIG_DEVICE_NOT_SUPPORTED);
SAME_RESULT(INVALID_CHIP_NAME);
SAME_RESULT(UNKNOWN);

/* The header's prototypes must fit ours but for the names of the structs. */
_Static_assert(sizeof(CUptiResult) == sizeof(int), "CUptiResult is an int");
