#include "doctor/gpus.h"

#include <stdio.h>
#include <stdlib.h>

static void read_gpu(const struct fw_nvml *nvml, unsigned index, struct fw_gpu *gpu)
{
	void *device = NULL;

	gpu->result = nvml->device_get_handle_by_index(index, &device);
	if (gpu->result)
		return;
	fw_nvml_identify(nvml, device, &gpu->id);
	fw_nvml_read_state(nvml, device, &gpu->now);
	gpu->process_result =
		fw_nvml_processes(nvml, device, FW_NVML_PROCESS_COMPUTE, gpu->processes,
				  FW_GPU_PROCESSES, &gpu->process_count);
	if (gpu->process_count > FW_GPU_PROCESSES)
		gpu->process_count = 0; /* more than fit: none were written */
}

static fw_status read_all(const struct fw_nvml *nvml, struct fw_gpus *gpus, struct fw_error *err)
{
	int cuda = 0;

	if (nvml->system_get_driver_version(gpus->driver, sizeof(gpus->driver)))
		gpus->driver[0] = 0;
	gpus->driver[sizeof(gpus->driver) - 1] = 0;
	gpus->cuda.result = nvml->system_get_cuda_driver_version
				    ? nvml->system_get_cuda_driver_version(&cuda)
				    : FW_NVML_NO_CALL;
	gpus->cuda.is_known = !gpus->cuda.result && cuda > 0;
	gpus->cuda.value = gpus->cuda.is_known ? (unsigned)cuda : 0;
	gpus->result = nvml->device_get_count(&gpus->count);
	if (gpus->result) {
		gpus->count = 0;
		snprintf(gpus->why, sizeof(gpus->why), "NVML: %s",
			 fw_nvml_result_text(gpus->result));
		return FW_OK;
	}
	gpus->read = gpus->count < FW_GPUS_MAX ? gpus->count : FW_GPUS_MAX;
	gpus->gpus = calloc(gpus->read + 1u, sizeof(*gpus->gpus));
	if (!gpus->gpus)
		return fw_fail_nomem(err, gpus->read * sizeof(*gpus->gpus));
	for (unsigned i = 0; i < gpus->read; i++)
		read_gpu(nvml, i, &gpus->gpus[i]);
	return FW_OK;
}

fw_status fw_gpus_ask(struct fw_gpus *gpus, const char *library, struct fw_error *err)
{
	struct fw_nvml nvml;
	struct fw_error why = { 0 };
	fw_status status = FW_OK;

	*gpus = (struct fw_gpus){ .was_asked = true };
	if (fw_nvml_open(&nvml, library, &gpus->result, &why))
		snprintf(gpus->why, sizeof(gpus->why), "%s", why.message);
	else
		status = read_all(&nvml, gpus, err);
	fw_nvml_close(&nvml);
	return status;
}

void fw_gpus_release(struct fw_gpus *gpus)
{
	free(gpus->gpus);
	*gpus = (struct fw_gpus){ 0 };
}
