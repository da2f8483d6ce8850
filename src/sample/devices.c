#include "sample/devices.h"

#include "sample/device_counters.h"
#include "sample/processes.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* NVML finds GPUs when it starts only; while one is missing it is started again so often. */
#define REOPEN_NS INT64_C(5000000000)

struct device {
	bool is_identified;
	struct fw_nvml_identity identity;
	struct fw_device_counters counters;
};

struct fw_devices {
	bool is_open;
	struct fw_nvml nvml; /* if is_open */
	char *library;
	int64_t opened_ns;
	uint64_t read_us; /* real time of the last reading */
	bool is_missing_one;
	struct fw_counter_sources sources;
	struct device devices[FW_SAMPLE_GPUS];
};

fw_status fw_devices_open(struct fw_devices **devices, const char *library, struct fw_error *err)
{
	struct fw_devices *d = calloc(1, sizeof(*d));

	*devices = NULL;
	if (!d)
		return fw_fail_nomem(err, sizeof(*d));
	if (library) {
		d->library = strdup(library);
		if (!d->library) {
			free(d);
			return fw_fail_nomem(err, strlen(library) + 1);
		}
	}
	d->sources.wanted.source = FW_COUNTERS_GPM;
	*devices = d;
	return FW_OK;
}

fw_status fw_devices_set_counters(struct fw_devices *devices,
				  const struct fw_devices_counters *counters, struct fw_error *err)
{
	char *copy = counters->cupti ? strdup(counters->cupti) : NULL;

	if (counters->cupti && !copy)
		return fw_fail_nomem(err, strlen(counters->cupti) + 1);
	free(devices->sources.cupti);
	devices->sources.cupti = copy;
	devices->sources.wanted = *counters;
	return FW_OK;
}

static void shut(struct fw_devices *d)
{
	for (size_t i = 0; d->is_open && i < FW_SAMPLE_GPUS; i++)
		fw_device_counters_release(&d->devices[i].counters, &d->nvml);
	memset(d->devices, 0, sizeof(d->devices));
	if (d->is_open)
		fw_nvml_close(&d->nvml);
	d->is_open = false;
	d->is_missing_one = false;
}

void fw_devices_close(struct fw_devices *devices)
{
	if (!devices)
		return;
	shut(devices);
	fw_counter_sources_release(&devices->sources);
	free(devices->library);
	free(devices);
}

/* After these, only starting NVML again helps. */
static bool is_over(int result)
{
	return result == FW_NVML_UNINITIALIZED || result == FW_NVML_DRIVER_NOT_LOADED ||
	       result == FW_NVML_VERSION_MISMATCH;
}

static void say(struct fw_machine_sample *sample, int result, const char *why)
{
	sample->result = result;
	snprintf(sample->why, sizeof(sample->why), "%s", why);
}

static bool make_open(struct fw_devices *d, int64_t now_ns, struct fw_machine_sample *sample)
{
	struct fw_error err = { 0 };
	int result = 0;

	if (d->is_open && d->is_missing_one && now_ns - d->opened_ns >= REOPEN_NS)
		shut(d);
	if (d->is_open)
		return true;
	if (fw_nvml_open(&d->nvml, d->library, &result, &err)) {
		say(sample, result, err.message);
		return false;
	}
	d->is_open = true;
	d->opened_ns = now_ns;
	return true;
}

static struct fw_value from(struct fw_nvml_figure figure, double scale)
{
	if (!figure.is_known)
		return fw_value_unknown(fw_nvml_result_text(figure.result));
	return fw_value_measured((double)figure.value * scale, "NVML");
}

/* The driver's own sampling of what ran: never more than 100 %. */
static struct fw_value from_percent(struct fw_nvml_figure figure)
{
	if (!figure.is_known)
		return fw_value_unknown(fw_nvml_result_text(figure.result));
	if (figure.value > 100)
		return fw_value_unknown("NVML answered an impossible value");
	return fw_value_sampled((double)figure.value, "NVML");
}

static void fill_state(const struct fw_nvml_state *state, struct fw_gpu_sample *gpu)
{
	struct fw_value *v = gpu->values;

	v[FW_GPU_BUSY] = from_percent(state->gpu_percent);
	v[FW_GPU_MEMORY_BUSY] = from_percent(state->memory_percent);
	v[FW_GPU_MEMORY_USED] = from(state->memory_used, 1);
	v[FW_GPU_MEMORY_TOTAL] = from(state->memory_total, 1);
	v[FW_GPU_SM_CLOCK] = from(state->sm_mhz, 1);
	v[FW_GPU_SM_CLOCK_MAX] = from(gpu->identity.sm_mhz_max, 1);
	v[FW_GPU_MEMORY_CLOCK] = from(state->memory_mhz, 1);
	v[FW_GPU_POWER] = from(state->power_mw, 1e-3);
	v[FW_GPU_POWER_LIMIT] = from(state->power_limit_mw, 1e-3);
	v[FW_GPU_TEMPERATURE] = from(state->celsius, 1);
	v[FW_GPU_LINK_GEN] = from(state->link_gen, 1);
	v[FW_GPU_LINK_WIDTH] = from(state->link_width, 1);
	gpu->has_reasons = state->clocks_reasons.is_known;
	gpu->reasons = state->clocks_reasons.value;
	gpu->has_mig = state->mig.is_known && state->mig.value;
}

/* A GPU that fell off the bus or must be reset answers every question so. */
static int state_result(const struct fw_nvml_state *state)
{
	const struct fw_nvml_figure *asked[] = { &state->memory_used, &state->power_mw,
						 &state->celsius };

	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		int result = asked[i]->result;

		if (result == FW_NVML_GPU_IS_LOST || result == FW_NVML_RESET_REQUIRED ||
		    is_over(result))
			return result;
	}
	return 0;
}

void fw_devices_spare_gpm(struct fw_devices *devices, unsigned index, bool is_spared)
{
	if (index < FW_SAMPLE_GPUS)
		devices->devices[index].counters.is_gpm_spared = is_spared;
}

static void read_device(struct fw_devices *d, unsigned index, int64_t now_ns,
			struct fw_machine_sample *sample)
{
	struct device *device = &d->devices[index];
	struct fw_gpu_sample *gpu = &sample->gpus[index];
	struct fw_nvml_state state;
	void *handle = NULL;

	gpu->index = index;
	gpu->result = d->nvml.device_get_handle_by_index(index, &handle);
	if (!gpu->result && !device->is_identified) {
		fw_nvml_identify(&d->nvml, handle, &device->identity);
		device->is_identified = true;
	}
	gpu->identity = device->identity;
	if (!gpu->result) {
		fw_nvml_read_state(&d->nvml, handle, &state);
		gpu->result = state_result(&state);
	}
	if (gpu->result) {
		fw_values_forget(gpu->values, FW_GPU_VALUE_COUNT, fw_nvml_result_text(gpu->result));
		d->is_missing_one = true;
		return;
	}
	gpu->has_mig = state.mig.is_known && state.mig.value;
	fill_state(&state, gpu);
	fw_device_counters_read(&device->counters, &d->sources, &d->nvml, handle, gpu, now_ns);
}

static uint64_t real_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void read_processes(struct fw_devices *d, struct fw_machine_sample *sample)
{
	struct fw_sample_span span = { d->read_us, real_us() };

	if (!span.since_us) /* the first reading: the last second counts */
		span.since_us = span.now_us - 1000000;
	d->read_us = span.now_us;
	for (unsigned i = 0; i < sample->gpu_count; i++) {
		void *handle = NULL;

		if (!sample->gpus[i].result && !d->nvml.device_get_handle_by_index(i, &handle))
			fw_processes_read(&d->nvml, handle, i, span, sample);
	}
}

/* If all devices say that the driver is gone, it is. */
static void notice_end(struct fw_devices *d, struct fw_machine_sample *sample)
{
	for (unsigned i = 0; i < sample->gpu_count; i++)
		if (is_over(sample->gpus[i].result)) {
			say(sample, sample->gpus[i].result,
			    fw_nvml_result_text(sample->gpus[i].result));
			sample->gpu_count = sample->process_count = 0;
			shut(d);
			return;
		}
}

void fw_devices_read(struct fw_devices *devices, int64_t now_ns, struct fw_machine_sample *sample)
{
	struct fw_devices *d = devices;
	unsigned count = 0;
	int result;

	memset(sample, 0, sizeof(*sample));
	if (!make_open(d, now_ns, sample))
		return;
	result = d->nvml.device_get_count(&count);
	if (result) {
		say(sample, result, fw_nvml_result_text(result));
		shut(d);
		return;
	}
	if (d->nvml.system_get_driver_version(sample->driver, sizeof(sample->driver)))
		sample->driver[0] = '\0';
	sample->gpu_count = count < FW_SAMPLE_GPUS ? count : FW_SAMPLE_GPUS;
	sample->gpus_left_out = count - sample->gpu_count;
	d->is_missing_one = false;
	for (unsigned i = 0; i < sample->gpu_count; i++)
		read_device(d, i, now_ns, sample);
	notice_end(d, sample);
	if (d->is_open)
		read_processes(d, sample);
}
