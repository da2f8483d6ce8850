#include "record/counters.h"

#include "record/counters_device.h"

#include <stdlib.h>
#include <string.h>

/* NVML's figures change a few times a second; GPM's samples are true from 100 ms on. */
#define STATE_NS INT64_C(500000000)
#define GPM_NS   INT64_C(250000000)

/* A context of CUDA takes hundreds of MB of the device: somebody uses it. */
#define CONTEXT_BYTES (64.0 * 1048576)

struct fw_record_counters {
	struct fw_record_stream *stream;
	struct fw_record_counters_options options;
	char *nvml, *cupti; /* copies */
	struct fw_devices *devices;
	struct fw_pm_library *library; /* NULL: no PM sampling */
	struct fw_error why_no_pm;     /* if so */
	struct fw_error why;           /* the first reason for a lesser source */
	int64_t state_mono;            /* of the last reading of NVML; 0: none */
	struct fw_machine_sample *sample;
	struct fw_counters_device gpus[FW_SAMPLE_GPUS];
};

static bool copy_text(const char *text, char **copy)
{
	*copy = text ? strdup(text) : NULL;
	return !text || *copy;
}

static void discard(struct fw_record_counters *c)
{
	free(c->nvml);
	free(c->cupti);
	free(c->sample);
	free(c);
}

fw_status fw_record_counters_open(struct fw_record_counters **counters,
				  const struct fw_record_counters_options *options,
				  struct fw_error *err)
{
	struct fw_record_counters *c = calloc(1, sizeof(*c));
	fw_status status;

	*counters = NULL;
	if (!c)
		return fw_fail_nomem(err, sizeof(*c));
	c->options = *options;
	c->sample = calloc(1, sizeof(*c->sample));
	if (!c->sample || !copy_text(options->nvml, &c->nvml) ||
	    !copy_text(options->cupti, &c->cupti)) {
		discard(c);
		return fw_fail_nomem(err, sizeof(*c->sample));
	}
	unsetenv("CUDA_INJECTION64_PATH"); /* the driver here is not to be recorded */
	status = fw_record_stream_open(&c->stream, options->path, FW_REC_FILE_COUNTERS,
				       options->max_bytes, err);
	if (status) {
		discard(c);
		return status;
	}
	*counters = c;
	return FW_OK;
}

static void keep_why(struct fw_record_counters *c, const char *why)
{
	if (!c->why.message[0])
		fw_fail(&c->why, FW_ERR_UNSUPPORTED, "%s", why);
}

/* Nothing at all can be read. */
static bool give_up(struct fw_record_counters *c, const char *why)
{
	struct fw_error err = { 0 };

	fw_fail(&err, FW_ERR_UNSUPPORTED, "no counters of the GPUs: %s", why);
	keep_why(c, err.message);
	fw_record_stream_info(c->stream, FW_REC_INFO_CANNOT, err.message, 0);
	return false;
}

const char *fw_record_counters_why(const struct fw_record_counters *counters)
{
	return counters->why.message[0] ? counters->why.message : NULL;
}

/* The library of PM sampling, or in words why there is none. */
static void open_library(struct fw_record_counters *c)
{
	if (c->options.best > FW_COUNTERS_PM) {
		fw_fail(&c->why_no_pm, FW_ERR_UNSUPPORTED, "not asked for (--counters)");
		return;
	}
	if (fw_pm_library_open(&c->library, c->cupti, &c->why_no_pm))
		c->library = NULL;
}

bool fw_record_counters_begin(void *counters)
{
	struct fw_record_counters *c = counters;
	struct fw_error err = { 0 };

	if (fw_devices_open(&c->devices, c->nvml, &err))
		return give_up(c, err.message);
	open_library(c);
	fw_record_counters_tick(c, fw_record_now());
	return !c->sample->result || give_up(c, c->sample->why);
}

static bool has_process(const struct fw_machine_sample *sample, unsigned gpu)
{
	for (unsigned i = 0; i < sample->process_count; i++)
		if (sample->processes[i].gpu == gpu)
			return true;
	return false;
}

static unsigned count_visible(const struct fw_record_counters *c)
{
	unsigned count = 0;

	for (unsigned i = 0; i < c->sample->gpu_count; i++)
		count += !c->library ||
			 fw_pm_library_sees(c->library, c->sample->gpus[i].identity.uuid);
	return count;
}

/* A GPU that the program cannot see is not looked at; of several, those that somebody uses are. */
static bool is_used(const struct fw_record_counters *c, struct fw_counters_device *device,
		    unsigned visible)
{
	const struct fw_gpu_sample *gpu = &c->sample->gpus[device->number];
	struct fw_value memory = gpu->values[FW_GPU_MEMORY_USED];
	struct fw_value busy = gpu->values[FW_GPU_BUSY];

	if (c->library && !fw_pm_library_sees(c->library, gpu->identity.uuid))
		return false;
	if (visible == 1 || has_process(c->sample, device->number))
		return true;
	if (fw_value_is_known(busy) && busy.number > 0)
		return true;
	if (!fw_value_is_known(memory))
		return false;
	if (device->idle_memory_bytes <= 0)
		device->idle_memory_bytes = memory.number;
	return memory.number > device->idle_memory_bytes + CONTEXT_BYTES;
}

static void say_source(struct fw_record_counters *c, struct fw_counters_device *device,
		       enum fw_counter_source source, const char *why)
{
	if (device->source == source)
		return;
	device->source = source;
	fw_record_stream_info(c->stream, FW_REC_INFO_SOURCE, fw_counter_source_name(source),
			      device->number);
	if (why)
		fw_record_stream_info(c->stream, FW_REC_INFO_SOURCE_WHY, why, device->number);
}

/* Without PM sampling: GPM where it answers, else NVML; why not the better one goes with it. */
static void fall_back(struct fw_record_counters *c, struct fw_counters_device *device,
		      const char *why)
{
	const struct fw_gpu_sample *gpu = &c->sample->gpus[device->number];
	bool has_gpm = gpu->identity.gpm.is_known && gpu->identity.gpm.value && !gpu->has_mig &&
		       c->options.best <= FW_COUNTERS_GPM;
	struct fw_error text = { 0 };

	if (c->options.best <= FW_COUNTERS_PM) /* else it was not asked for */
		keep_why(c, why);
	if (has_gpm) {
		say_source(c, device, FW_COUNTERS_GPM, why);
		return;
	}
	fw_fail(&text, FW_ERR_UNSUPPORTED, "%s; %s", why,
		c->options.best > FW_COUNTERS_GPM ? "GPM: not asked for (--counters)"
		: gpu->has_mig                    ? "GPM: MIG is on"
						  : "GPM needs Hopper or newer");
	say_source(c, device, FW_COUNTERS_NVML, text.message);
}

static void begin_sampling(struct fw_record_counters *c, struct fw_counters_device *device)
{
	const struct fw_gpu_sample *gpu = &c->sample->gpus[device->number];
	int64_t interval = c->options.interval_ns ? c->options.interval_ns : FW_RECORD_PM_NS;
	struct fw_error err = c->why_no_pm;

	device->is_pm_tried = true;
	if (c->library && gpu->has_mig)
		fw_fail(&err, FW_ERR_UNSUPPORTED,
			"MIG is on: the counters belong to its instances");
	else if (c->library && fw_counters_device_sample(device, c->library, gpu->identity.uuid,
							 interval, &err)) {
		say_source(c, device, FW_COUNTERS_PM, NULL);
		return;
	}
	fall_back(c, device, err.message);
}

/* A reading of NVML: GPUs that came into use, and their figures. */
static void read_state(struct fw_record_counters *c, int64_t now_mono)
{
	struct fw_machine_sample *sample = c->sample;
	unsigned visible;

	for (unsigned i = 0; i < FW_SAMPLE_GPUS; i++)
		fw_devices_spare_gpm(c->devices, i,
				     c->gpus[i].pm || !c->gpus[i].is_used ||
					     c->options.best > FW_COUNTERS_GPM);
	fw_devices_read(c->devices, now_mono, sample);
	c->state_mono = now_mono;
	visible = count_visible(c);
	for (unsigned i = 0; i < sample->gpu_count; i++) {
		struct fw_counters_device *device = &c->gpus[i];

		device->number = i;
		device->is_used = device->is_used || is_used(c, device, visible);
		if (sample->gpus[i].result || !device->is_used)
			continue;
		if (!device->is_known)
			fw_counters_device_describe(device, c->stream, &sample->gpus[i]);
		if (!device->is_pm_tried)
			begin_sampling(c, device);
		fw_counters_device_write(device, c->stream, &sample->gpus[i], now_mono);
	}
}

static int64_t state_interval(const struct fw_record_counters *c)
{
	for (unsigned i = 0; i < FW_SAMPLE_GPUS; i++)
		if (c->gpus[i].source == FW_COUNTERS_GPM)
			return GPM_NS;
	return STATE_NS;
}

void fw_record_counters_tick(void *counters, int64_t now_mono)
{
	struct fw_record_counters *c = counters;

	for (unsigned i = 0; i < FW_SAMPLE_GPUS; i++) {
		struct fw_error err = { 0 };

		if (c->gpus[i].pm && !fw_counters_device_read(&c->gpus[i], c->stream, &err))
			fall_back(c, &c->gpus[i], err.message);
	}
	if (!c->state_mono || now_mono - c->state_mono >= state_interval(c))
		read_state(c, now_mono);
	fw_record_stream_flush(c->stream);
}

void fw_record_counters_paused(void *counters, int64_t start_mono, int64_t end_mono)
{
	struct fw_record_counters *c = counters;

	for (unsigned i = 0; i < FW_SAMPLE_GPUS; i++) {
		struct fw_error err = { 0 };

		if (c->gpus[i].pm && !fw_counters_device_read(&c->gpus[i], NULL, &err))
			fall_back(c, &c->gpus[i], err.message);
	}
	fw_record_stream_pause(c->stream, start_mono, end_mono);
}

void fw_record_counters_end(void *counters)
{
	struct fw_record_counters *c = counters;

	for (unsigned i = 0; i < FW_SAMPLE_GPUS; i++) {
		struct fw_counters_device *device = &c->gpus[i];
		struct fw_error err = { 0 };

		if (device->pm && fw_counters_device_read(device, c->stream, &err))
			fw_counters_device_release(device, c->stream);
	}
	fw_pm_library_close(c->library);
	c->library = NULL;
	fw_devices_close(c->devices);
	c->devices = NULL;
	fw_record_stream_flush(c->stream);
}

void fw_record_counters_close(struct fw_record_counters *counters,
			      struct fw_record_stream_state *state)
{
	if (!counters)
		return;
	fw_record_stream_close(counters->stream, state);
	discard(counters);
}
