/* Opens the GPU and compiles what runs on it beside the user's kernels. */
#include "tune/device.h"

#include "gpu/nvrtc.h"
#include "hw/limits.h"
#include "tune/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_THREADS 256u
#define CHECK_BLOCKS  8u /* an SM */
/* Reasons for a lower clock that are no rest and no wish of a user. */
#define THROTTLED                                                                                  \
	(FW_NVML_CLOCKS_POWER_CAP | FW_NVML_CLOCKS_HW_SLOWDOWN | FW_NVML_CLOCKS_SW_THERMAL |       \
	 FW_NVML_CLOCKS_HW_THERMAL | FW_NVML_CLOCKS_HW_POWER_BRAKE)

void fw_tune_device_allow(struct fw_tune_device *device, double seconds)
{
	int64_t hang = atomic_load(&device->watch->hang_ns);

	atomic_store(&device->watch->deadline_ns, fw_tune_now() + hang + (int64_t)(seconds * 1e9));
}

/* All that tune calls and that a driver of before CUDA 11.4 may lack. */
static fw_status check_calls(const struct fw_cuda *cuda, struct fw_error *err)
{
	if (cuda->ctx_synchronize && cuda->mem_alloc && cuda->mem_free &&
	    cuda->memcpy_host_to_device && cuda->launch_kernel && cuda->stream_create &&
	    cuda->stream_synchronize && cuda->event_create && cuda->event_record &&
	    cuda->event_synchronize && cuda->event_elapsed_time && cuda->memset_async &&
	    cuda->memcpy_device_to_device_async && cuda->memcpy_device_to_host &&
	    cuda->stream_begin_capture && cuda->stream_end_capture && cuda->graph_instantiate &&
	    cuda->graph_launch && cuda->graph_destroy && cuda->graph_exec_destroy)
		return FW_OK;
	return fw_fail(
		err, FW_ERR_UNSUPPORTED,
		"the driver lacks calls that tune needs; 470 (CUDA 11.4) and later have them");
}

static fw_status attribute(const struct fw_tune_device *device, int which, unsigned *value,
			   struct fw_error *err)
{
	int got = 0;

	FW_TUNE_TRY(device, device->cuda.device_get_attribute(&got, which, device->ordinal),
		    "cuDeviceGetAttribute");
	*value = got > 0 ? (unsigned)got : 0;
	return FW_OK;
}

static void set_uuid(struct fw_tune_device *device)
{
	unsigned char u[16];

	if (!device->cuda.device_get_uuid || device->cuda.device_get_uuid(u, device->ordinal))
		return;
	snprintf(device->gpu.uuid, sizeof(device->gpu.uuid),
		 "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0],
		 u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13],
		 u[14], u[15]);
}

static fw_status identify(struct fw_tune_device *device, struct fw_error *err)
{
	struct fw_tune_gpu *gpu = &device->gpu;
	unsigned major = 0, minor = 0, l2 = 0;
	fw_status status;
	int version = 0;

	FW_TUNE_TRY(device,
		    device->cuda.device_get_name(gpu->name, sizeof(gpu->name), device->ordinal),
		    "cuDeviceGetName");
	FW_TUNE_TRY(device, device->cuda.driver_get_version(&version), "cuDriverGetVersion");
	gpu->driver_version = (unsigned)version;
	status = attribute(device, FW_CUDA_CC_MAJOR, &major, err);
	if (!status)
		status = attribute(device, FW_CUDA_CC_MINOR, &minor, err);
	if (!status)
		status = attribute(device, FW_CUDA_SM_COUNT, &gpu->sms, err);
	if (!status)
		status = attribute(device, FW_CUDA_L2_BYTES, &l2, err);
	if (status)
		return status;
	gpu->cc = major * 10 + minor;
	gpu->l2_bytes = l2;
	set_uuid(device);
	return fw_hw_limits_find(gpu->cc, &device->hw, err);
}

static fw_status compile_check(const struct fw_tune_device *device,
			       const struct fw_tune_runner_options *options, void **cubin,
			       size_t *bytes, struct fw_error *err)
{
	char architecture[32];
	const char *const flags[] = { architecture };
	const struct fw_nvrtc_job job = { .source = fw_tune_check_source,
					  .name = "fullwarp_check.cu",
					  .options = flags,
					  .n_options = 1 };
	struct fw_nvrtc_output output;
	struct fw_nvrtc nvrtc;
	fw_status status = fw_nvrtc_open(&nvrtc, options->nvrtc_path, err);

	if (status)
		return status;
	snprintf(architecture, sizeof(architecture), "--gpu-architecture=sm_%u", device->gpu.cc);
	status = fw_nvrtc_compile(&nvrtc, &job, &output, err);
	if (!status) {
		*cubin = output.cubin;
		*bytes = output.cubin_bytes;
		output.cubin = NULL;
		fw_nvrtc_output_release(&output);
	}
	/* The library stays open: nothing is gained by unloading it, and libraries seldom expect it. */
	return status;
}

static fw_status load_check(struct fw_tune_device *device, const void *cubin, struct fw_error *err)
{
	const struct fw_cuda *cuda = &device->cuda;

	FW_TUNE_TRY(device, cuda->module_load_data(&device->module, cubin), "cuModuleLoadData");
	FW_TUNE_TRY(device,
		    cuda->module_get_function(&device->check, device->module, FW_TUNE_CHECK_KERNEL),
		    "cuModuleGetFunction");
	FW_TUNE_TRY(device,
		    cuda->module_get_function(&device->wait, device->module, FW_TUNE_WAIT_KERNEL),
		    "cuModuleGetFunction");
	return FW_OK;
}

/* Twice the L2, so that nothing of before is left in it. */
static fw_status allocate(struct fw_tune_device *device, bool flushes_l2, struct fw_error *err)
{
	const struct fw_cuda *cuda = &device->cuda;

	FW_TUNE_TRY(device,
		    cuda->mem_alloc(&device->findings,
				    FW_TUNE_MAX_ARGS * sizeof(struct fw_tune_findings)),
		    "cuMemAlloc");
	if (flushes_l2 && device->gpu.l2_bytes)
		FW_TUNE_TRY(device, cuda->mem_alloc(&device->flush, 2 * device->gpu.l2_bytes),
			    "cuMemAlloc");
	/* Not one of those that do not wait for the default stream, on which plain copies run. */
	FW_TUNE_TRY(device, cuda->stream_create(&device->stream, 0), "cuStreamCreate");
	FW_TUNE_TRY(device, cuda->event_create(&device->start, 0), "cuEventCreate");
	FW_TUNE_TRY(device, cuda->event_create(&device->stop, 0), "cuEventCreate");
	return FW_OK;
}

static fw_status open_context(struct fw_tune_device *device, unsigned ordinal, struct fw_error *err)
{
	const struct fw_cuda *cuda = &device->cuda;
	void *context;
	int count = 0;

	FW_TUNE_TRY(device, cuda->init(0), "cuInit");
	FW_TUNE_TRY(device, cuda->device_get_count(&count), "cuDeviceGetCount");
	if (ordinal >= (unsigned)count)
		return fw_fail(err, FW_ERR_ARGUMENT, "there is no GPU %u; %d are visible", ordinal,
			       count);
	FW_TUNE_TRY(device, cuda->device_get(&device->ordinal, (int)ordinal), "cuDeviceGet");
	FW_TUNE_TRY(device, cuda->device_primary_ctx_retain(&context, device->ordinal),
		    "cuDevicePrimaryCtxRetain");
	FW_TUNE_TRY(device, cuda->ctx_set_current(context), "cuCtxSetCurrent");
	return FW_OK;
}

/* Without NVML the clocks are not known, no more. */
static void open_nvml(struct fw_tune_device *device)
{
	if (!device->gpu.uuid[0] || fw_nvml_open(&device->nvml, NULL, NULL, NULL))
		return;
	if (!device->nvml.device_get_handle_by_uuid ||
	    device->nvml.device_get_handle_by_uuid(device->gpu.uuid, &device->nvml_device))
		device->nvml_device = NULL;
}

fw_status fw_tune_device_open(struct fw_tune_device *device,
			      const struct fw_tune_device_setup *setup, void **made,
			      size_t *made_bytes, struct fw_error *err)
{
	const void *cubin = setup->check_cubin;
	fw_status status;

	*device = (struct fw_tune_device){ .watch = setup->watch };
	*made = NULL;
	*made_bytes = 0;
	status = fw_cuda_open(&device->cuda, err);
	if (!status)
		status = check_calls(&device->cuda, err);
	if (!status)
		status = open_context(device, setup->options->device, err);
	if (!status)
		status = identify(device, err);
	if (!status && !cubin) {
		status = compile_check(device, setup->options, made, made_bytes, err);
		cubin = *made;
	}
	if (!status)
		status = load_check(device, cubin, err);
	if (!status)
		status = allocate(device, setup->options->flushes_l2, err);
	if (!status)
		open_nvml(device);
	return status;
}

fw_status fw_tune_device_finish(struct fw_tune_device *device, struct fw_error *err)
{
	FW_TUNE_TRY(device, device->cuda.stream_synchronize(device->stream), "cuStreamSynchronize");
	return FW_OK;
}

bool fw_tune_device_is_lost(const struct fw_tune_device *device)
{
	return device->cuda.ctx_synchronize() != 0;
}

fw_status fw_tune_device_check(struct fw_tune_device *device, struct fw_tune_check check,
			       uint32_t i, struct fw_error *err)
{
	uint64_t blocks = (check.elements + CHECK_THREADS - 1) / CHECK_THREADS;
	void *parameters[] = { &check };

	check.findings = device->findings + i * sizeof(struct fw_tune_findings);
	if (blocks > (uint64_t)device->gpu.sms * CHECK_BLOCKS)
		blocks = (uint64_t)device->gpu.sms * CHECK_BLOCKS;
	FW_TUNE_TRY(device,
		    device->cuda.launch_kernel(device->check, blocks ? (unsigned)blocks : 1, 1, 1,
					       CHECK_THREADS, 1, 1, 0, device->stream, parameters,
					       NULL),
		    "cuLaunchKernel of the check");
	return FW_OK;
}

fw_status fw_tune_device_clear_findings(struct fw_tune_device *device, struct fw_error *err)
{
	struct fw_tune_findings none[FW_TUNE_MAX_ARGS];

	for (unsigned i = 0; i < FW_TUNE_MAX_ARGS; i++)
		none[i] = (struct fw_tune_findings){ .first_wrong = FW_TUNE_NO_PLACE,
						     .first_outside = FW_TUNE_NO_PLACE };
	FW_TUNE_TRY(device,
		    device->cuda.memcpy_host_to_device(device->findings, none, sizeof(none)),
		    "cuMemcpyHtoD");
	return FW_OK;
}

fw_status fw_tune_device_findings(struct fw_tune_device *device,
				  struct fw_tune_findings findings[FW_TUNE_MAX_ARGS],
				  struct fw_error *err)
{
	fw_status status = fw_tune_device_finish(device, err);

	if (status)
		return status;
	FW_TUNE_TRY(device,
		    device->cuda.memcpy_device_to_host(findings, device->findings,
						       FW_TUNE_MAX_ARGS * sizeof(*findings)),
		    "cuMemcpyDtoH");
	return FW_OK;
}

unsigned fw_tune_device_clock(const struct fw_tune_device *device, bool *is_throttled)
{
	const struct fw_nvml *nvml = &device->nvml;
	unsigned long long reasons = 0;
	unsigned mhz = 0;

	*is_throttled = false;
	if (!device->nvml_device || !nvml->device_get_clock_info ||
	    nvml->device_get_clock_info(device->nvml_device, FW_NVML_CLOCK_SM, &mhz))
		return 0;
	if (nvml->device_get_current_clocks_event_reasons)
		nvml->device_get_current_clocks_event_reasons(device->nvml_device, &reasons);
	else if (nvml->device_get_current_clocks_throttle_reasons)
		nvml->device_get_current_clocks_throttle_reasons(device->nvml_device, &reasons);
	*is_throttled = (reasons & THROTTLED) != 0;
	return mhz;
}
