#include "sample/pm.h"

#include "gpu/cuda.h"
#include "gpu/cupti_pm.h"
#include "sample/cupti_places.h"
#include "sample/pm_metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUFFER_BYTES ((size_t)16 << 20)
#define BATCH        256
#define IMAGE_MOST   ((size_t)256 << 20) /* an image of counters is some MiB */
#define BATCHES      64                  /* in one reading; the next one goes on */
#define PERCENT_MOST 100.5               /* the hardware's counters may overshoot a little */
#define LINK_MOST    4e12                /* bytes a second: 18 links of NVLink 5 carry 0.9e12 */
#define SAMPLE_MOST  UINT64_C(60000000000)

/* A sample is handed out within milliseconds of its end; this far off, another clock timed it. */
#define CLOCK_MOST INT64_C(1000000000)

struct fw_pm_library {
	struct fw_cuda cuda;
	struct fw_cupti_pm cupti;
	char path[512];
	uint32_t version;
};

struct fw_pm {
	const struct fw_cupti_pm *cupti;
	struct fw_pm_choice choice;
	void *object;
	uint8_t *data; /* decoded samples */
	size_t data_bytes;
	bool is_started;
	bool is_fresh; /* no sample since the start: the first one reaches back to before it */
	uint64_t last_end;
	size_t device;
	struct fw_pm_options options;
};

static fw_status refuse(struct fw_error *err, const char *call, int result)
{
	return fw_fail(err, FW_ERR_UNSUPPORTED, "%s: %s (%d)", call, fw_cupti_result_text(result),
		       result);
}

static fw_status start_driver(struct fw_cuda *cuda, struct fw_error *err)
{
	fw_status status = fw_cuda_open(cuda, err);
	int result;

	if (status)
		return status;
	result = cuda->init(0);
	if (!result)
		return FW_OK;
	fw_cuda_fail(cuda, result, "cuInit", err);
	fw_cuda_close(cuda);
	return FW_ERR_UNSUPPORTED;
}

static fw_status try_library(struct fw_pm_library *library, const char *path, struct fw_error *err)
{
	struct fw_cupti_params params = { .size = FW_CUPTI_SIZE(fw_cupti_params, reserved) };
	fw_status status = fw_cupti_pm_open(&library->cupti, path, err);
	int result;

	if (status)
		return status;
	result = library->cupti.profiler_initialize(&params);
	if (result) {
		refuse(err, "cuptiProfilerInitialize", result);
		fw_error_prefix(err, "%s", path);
		return FW_ERR_UNSUPPORTED;
	}
	library->cupti.get_version(&library->version);
	snprintf(library->path, sizeof(library->path), "%s", path);
	return FW_OK;
}

/* The message of the last place that had a library, else of the first place. */
static fw_status find_library(struct fw_pm_library *library, struct fw_error *err)
{
	struct fw_cupti_places *places = calloc(1, sizeof(*places));
	struct fw_error first = { 0 }, last = { 0 };
	fw_status status = FW_ERR_UNSUPPORTED;

	if (!places)
		return fw_fail_nomem(err, sizeof(*places));
	fw_cupti_places_find(places);
	for (size_t i = 0; i < places->count && status; i++) {
		status = try_library(library, places->paths[i], i ? &last : &first);
		if (!status || !library->cupti.handle)
			continue;
		first = i ? last : first;
	}
	free(places);
	if (!status)
		return FW_OK;
	return fw_fail(err, FW_ERR_UNSUPPORTED,
		       "no libcupti with PM sampling (CUDA 12.6 or newer): %s", first.message);
}

fw_status fw_pm_library_open(struct fw_pm_library **library, const char *path, struct fw_error *err)
{
	struct fw_pm_library *l = calloc(1, sizeof(*l));
	fw_status status;

	*library = NULL;
	if (!l)
		return fw_fail_nomem(err, sizeof(*l));
	status = start_driver(&l->cuda, err);
	if (!status)
		status = path ? try_library(l, path, err) : find_library(l, err);
	if (status) {
		fw_pm_library_close(l);
		return status;
	}
	*library = l;
	return FW_OK;
}

const char *fw_pm_library_path(const struct fw_pm_library *library)
{
	return library->path;
}

uint32_t fw_pm_library_version(const struct fw_pm_library *library)
{
	return library->version;
}

void fw_pm_library_close(struct fw_pm_library *library)
{
	if (!library)
		return;
	/* Neither CUPTI nor the driver under it is unloaded: both keep threads and exit handlers. */
	free(library);
}

/* CUDA's number of the GPU: depends on CUDA_VISIBLE_DEVICES. */
static fw_status find_device(const struct fw_cuda *cuda, const char *uuid, size_t *device,
			     struct fw_error *err)
{
	int count = 0;

	if (!cuda->device_get_uuid || cuda->device_get_count(&count))
		return fw_fail(err, FW_ERR_UNSUPPORTED, "CUDA does not name its devices");
	for (int i = 0; i < count; i++) {
		char text[FW_CUDA_UUID_BYTES];

		if (fw_cuda_uuid(cuda, i, text) && !strcmp(text, uuid)) {
			*device = (size_t)i;
			return FW_OK;
		}
	}
	return fw_fail(err, FW_ERR_UNSUPPORTED,
		       "%s is not among CUDA's %d devices (CUDA_VISIBLE_DEVICES? MIG?)", uuid,
		       count);
}

bool fw_pm_library_sees(const struct fw_pm_library *library, const char *uuid)
{
	size_t device;

	return !find_device(&library->cuda, uuid, &device, NULL);
}

/* What stands between us and the counters, for the results that have a known reason. */
static fw_status refuse_device(struct fw_error *err, const char *call, int result)
{
	const char *fix = NULL;

	switch (result) {
	case FW_CUPTI_INSUFFICIENT_PRIVILEGES:
		fix = "ERR_NVGPUCTRPERM: set NVreg_RestrictProfilingToAdminUsers=0 (nvidia "
		      "module), "
		      "or run with CAP_SYS_ADMIN";
		break;
	case FW_CUPTI_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
		fix = "the host of this virtual GPU does not permit profiling "
		      "(pciPassthru.cfg.enable_profiling)";
		break;
	case FW_CUPTI_INVALID_OPERATION:
	case FW_CUPTI_HARDWARE_BUSY:
		fix = "another program (a profiler, DCGM, a second fullwarp) holds the GPU's "
		      "counters";
		break;
	default: return refuse(err, call, result);
	}
	return fw_fail(err, FW_ERR_UNSUPPORTED, "%s (%s: %d)", fix, call, result);
}

/* What the chip in hand can count; NULL where the library does not say. */
static fw_status get_availability(const struct fw_cupti_pm *cupti, size_t device, uint8_t **image,
				  struct fw_error *err)
{
	struct fw_cupti_availability params = { .size = FW_CUPTI_SIZE(fw_cupti_availability, image),
						.device = device };
	int result = cupti->pm_get_counter_availability(&params);

	*image = NULL;
	if (!result && params.bytes && params.bytes <= IMAGE_MOST) {
		params.image = calloc(1, params.bytes);
		if (!params.image)
			return fw_fail_nomem(err, params.bytes);
		result = cupti->pm_get_counter_availability(&params);
	}
	if (result) {
		free(params.image);
		return refuse_device(err, "cuptiPmSamplingGetCounterAvailability", result);
	}
	*image = params.image;
	return FW_OK;
}

static fw_status choose(struct fw_pm *pm, size_t device, struct fw_error *err)
{
	struct fw_cupti_chip_name name = { .size = FW_CUPTI_SIZE(fw_cupti_chip_name, name),
					   .device = device };
	uint8_t *availability = NULL;
	int result = pm->cupti->device_get_chip_name(&name);
	fw_status status;

	if (result || !name.name)
		return refuse_device(err, "cuptiDeviceGetChipName", result);
	status = get_availability(pm->cupti, device, &availability, err);
	if (!status)
		status = fw_pm_choose(pm->cupti, name.name, availability, &pm->choice, err);
	free(availability);
	return status;
}

/* Chips before GA10x have no trigger by time; their samples still carry their times. */
static int set_config(struct fw_pm *pm)
{
	struct fw_cupti_pm_config params = {
		.size = FW_CUPTI_SIZE(fw_cupti_pm_config, append),
		.object = pm->object,
		.config_bytes = pm->choice.image_bytes,
		.config = pm->choice.image,
		.buffer_bytes = pm->options.buffer_bytes ? pm->options.buffer_bytes : BUFFER_BYTES,
		.interval = pm->options.interval_ns,
		.trigger = FW_CUPTI_PM_TRIGGER_TIME,
	};
	int result = pm->cupti->pm_set_config(&params);

	if (!result)
		return 0;
	params.trigger = FW_CUPTI_PM_TRIGGER_SYSCLK; /* of about 1 GHz: a cycle is about 1 ns */
	return pm->cupti->pm_set_config(&params) ? result : 0;
}

static int clear_data(struct fw_pm *pm)
{
	struct fw_cupti_pm_data_clear params = { .size = FW_CUPTI_SIZE(fw_cupti_pm_data_clear,
								       data),
						 .object = pm->object,
						 .bytes = pm->data_bytes,
						 .data = pm->data };

	return pm->cupti->pm_counter_data_image_initialize(&params);
}

static fw_status make_data(struct fw_pm *pm, struct fw_error *err)
{
	struct fw_cupti_pm_data_size params = {
		.size = FW_CUPTI_SIZE(fw_cupti_pm_data_size, bytes),
		.object = pm->object,
		.names = pm->choice.names,
		.count = pm->choice.count,
		.samples = pm->options.batch ? pm->options.batch : BATCH,
	};
	int result = pm->cupti->pm_get_counter_data_size(&params);

	if (!result && (!params.bytes || params.bytes > IMAGE_MOST))
		result = FW_CUPTI_UNKNOWN;
	if (result)
		return refuse(err, "cuptiPmSamplingGetCounterDataSize", result);
	pm->data_bytes = params.bytes;
	pm->data = calloc(1, params.bytes);
	if (!pm->data)
		return fw_fail_nomem(err, params.bytes);
	result = clear_data(pm);
	return result ? refuse(err, "cuptiPmSamplingCounterDataImageInitialize", result) : FW_OK;
}

static struct fw_cupti_pm_object object_of(const struct fw_pm *pm)
{
	return (struct fw_cupti_pm_object){ .size = FW_CUPTI_SIZE(fw_cupti_pm_object, object),
					    .object = pm->object };
}

static int start(struct fw_pm *pm)
{
	struct fw_cupti_pm_object params = object_of(pm);
	int result = pm->cupti->pm_start(&params);

	pm->is_started = pm->is_fresh = !result;
	return result;
}

static void shut(struct fw_pm *pm)
{
	struct fw_cupti_pm_object params = object_of(pm);

	if (pm->is_started)
		pm->cupti->pm_stop(&params);
	if (pm->object)
		pm->cupti->pm_disable(&params);
	pm->is_started = false;
	pm->object = NULL;
	free(pm->data);
	pm->data = NULL;
}

static fw_status begin(struct fw_pm *pm, struct fw_error *err)
{
	struct fw_cupti_pm_enable enable = { .size = FW_CUPTI_SIZE(fw_cupti_pm_enable, object),
					     .device = pm->device };
	fw_status status;
	int result = pm->cupti->pm_enable(&enable);

	if (result)
		return refuse_device(err, "cuptiPmSamplingEnable", result);
	pm->object = enable.object;
	result = set_config(pm);
	if (result)
		return refuse_device(err, "cuptiPmSamplingSetConfig", result);
	status = make_data(pm, err);
	if (status)
		return status;
	result = start(pm);
	return result ? refuse_device(err, "cuptiPmSamplingStart", result) : FW_OK;
}

fw_status fw_pm_open(struct fw_pm **pm, struct fw_pm_library *library, const char *uuid,
		     const struct fw_pm_options *options, struct fw_error *err)
{
	struct fw_pm *p = calloc(1, sizeof(*p));
	fw_status status;

	*pm = NULL;
	if (!p)
		return fw_fail_nomem(err, sizeof(*p));
	p->cupti = &library->cupti;
	p->options = *options;
	status = find_device(&library->cuda, uuid, &p->device, err);
	if (!status)
		status = choose(p, p->device, err);
	if (!status)
		status = begin(p, err);
	if (status) {
		fw_pm_close(p);
		return status;
	}
	*pm = p;
	return FW_OK;
}

void fw_pm_close(struct fw_pm *pm)
{
	if (!pm)
		return;
	shut(pm);
	fw_pm_choice_release(pm->cupti, &pm->choice);
	free(pm);
}

const enum fw_gpu_value *fw_pm_values(const struct fw_pm *pm, size_t *count)
{
	*count = pm->choice.count;
	return pm->choice.values;
}

static bool is_sane(enum fw_gpu_value value, double number)
{
	bool is_percent = fw_gpu_values[value].unit == FW_UNIT_PERCENT;

	return number >= 0 && number <= (is_percent ? PERCENT_MOST : LINK_MOST); /* NAN: no */
}

static void check_values(const struct fw_pm *pm, struct fw_pm_sample *sample,
			 struct fw_pm_read *read)
{
	for (size_t i = 0; i < pm->choice.count; i++) {
		enum fw_gpu_value value = pm->choice.values[i];

		if (!is_sane(value, sample->values[i])) {
			sample->values[i] = NAN;
			read->wild++;
		} else if (fw_gpu_values[value].unit == FW_UNIT_PERCENT) {
			sample->values[i] = fmin(sample->values[i], 100);
		}
	}
}

static int64_t now_mono(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* The narrowest of three pairs: an interrupt may lie in one. */
static int read_clock(const struct fw_pm *pm, struct fw_pm_clock *clock)
{
	for (int i = 0; i < 3; i++) {
		struct fw_pm_clock pair = { .before_mono = now_mono() };
		int result = pm->cupti->get_timestamp(&pair.cupti_ns);

		pair.after_mono = now_mono();
		if (result)
			return result;
		if (!i ||
		    pair.after_mono - pair.before_mono < clock->after_mono - clock->before_mono)
			*clock = pair;
	}
	return 0;
}

static int64_t to_mono(const struct fw_pm_clock *clock, uint64_t cupti_ns)
{
	int64_t middle = clock->before_mono + (clock->after_mono - clock->before_mono) / 2;

	return middle + (int64_t)(cupti_ns - clock->cupti_ns);
}

enum verdict { GOOD, DROPPED, FIRST, OTHER_CLOCK };

/* The newest sample of a reading that came to the end is young, in the right clock. */
static bool is_in_clock(const struct fw_pm *pm, const struct fw_pm_clock *clock)
{
	int64_t age = (int64_t)(clock->cupti_ns - pm->last_end);

	return age < CLOCK_MOST + 4 * (int64_t)pm->options.interval_ns;
}

/* What the times of a sample say. */
static enum verdict judge(struct fw_pm *pm, const struct fw_cupti_pm_sample_info *info,
			  const struct fw_pm_clock *clock)
{
	int64_t ahead = (int64_t)(info->end - clock->cupti_ns);

	if (pm->is_fresh) {
		pm->is_fresh = false;
		return FIRST;
	}
	if (!info->start || info->start >= info->end || info->end - info->start > SAMPLE_MOST ||
	    info->start < pm->last_end)
		return DROPPED;
	return ahead > CLOCK_MOST ? OTHER_CLOCK : GOOD;
}

static int take(struct fw_pm *pm, size_t index, struct fw_pm_sample *sample,
		const struct fw_pm_clock *clock, enum verdict *verdict)
{
	struct fw_cupti_pm_sample_info info = { .size = FW_CUPTI_SIZE(fw_cupti_pm_sample_info, end),
						.object = pm->object,
						.data = pm->data,
						.bytes = pm->data_bytes,
						.sample = index };
	struct fw_cupti_evaluate evaluate = { .size = FW_CUPTI_SIZE(fw_cupti_evaluate, values),
					      .host = pm->choice.host,
					      .data = pm->data,
					      .data_bytes = pm->data_bytes,
					      .sample = index,
					      .names = pm->choice.names,
					      .count = pm->choice.count,
					      .values = sample->values };
	int result = pm->cupti->pm_get_sample_info(&info);

	if (result)
		return result;
	*verdict = judge(pm, &info, clock);
	if (*verdict != GOOD)
		return 0;
	pm->last_end = info.end;
	sample->start_mono = to_mono(clock, info.start);
	sample->end_mono = to_mono(clock, info.end);
	return pm->cupti->host_evaluate_to_gpu_values(&evaluate);
}

/* Where samples of a reading go. */
struct delivery {
	fw_pm_sink *sink;
	void *arg;
	struct fw_pm_read *read;
	bool is_other_clock;
};

static int deliver(struct fw_pm *pm, struct delivery *to)
{
	struct fw_cupti_pm_data_info info = { .size = FW_CUPTI_SIZE(fw_cupti_pm_data_info,
								    completed),
					      .data = pm->data,
					      .bytes = pm->data_bytes };
	int result = pm->cupti->pm_get_counter_data_info(&info);

	for (size_t i = 0; i < info.completed && !result; i++) {
		struct fw_pm_sample sample = { 0 };
		enum verdict verdict = DROPPED;

		result = take(pm, i, &sample, &to->read->clock, &verdict);
		to->read->dropped += !result && verdict == DROPPED;
		to->is_other_clock |= !result && verdict == OTHER_CLOCK;
		if (result || verdict != GOOD)
			continue;
		check_values(pm, &sample, to->read);
		to->read->samples++;
		to->sink(to->arg, &sample);
	}
	return result ? result : clear_data(pm);
}

static int decode(struct fw_pm *pm, struct fw_cupti_pm_decode *params)
{
	*params = (struct fw_cupti_pm_decode){ .size = FW_CUPTI_SIZE(fw_cupti_pm_decode, overflow),
					       .object = pm->object,
					       .data = pm->data,
					       .bytes = pm->data_bytes };
	return pm->cupti->pm_decode_data(params);
}

/*
 * After its buffer ran over the hardware takes no more samples, and CUPTI refuses to start it again
 * (seen on an H200): everything but the choice of metrics is made anew.
 */
static fw_status restart(struct fw_pm *pm, struct fw_pm_read *read, struct fw_error *err)
{
	read->overflows++;
	shut(pm);
	return begin(pm, err);
}

fw_status fw_pm_read(struct fw_pm *pm, fw_pm_sink *sink, void *arg, struct fw_pm_read *read,
		     struct fw_error *err)
{
	struct delivery to = { .sink = sink, .arg = arg, .read = read };
	int result;

	*read = (struct fw_pm_read){ 0 };
	if (!pm->object)
		return fw_fail(err, FW_ERR_UNSUPPORTED, "PM sampling broke down before");
	result = read_clock(pm, &read->clock);
	if (result)
		return refuse(err, "cuptiGetTimestamp", result);
	for (unsigned i = 0; i < BATCHES; i++) {
		struct fw_cupti_pm_decode params;
		bool is_over;

		result = decode(pm, &params);
		is_over = result == FW_CUPTI_OUT_OF_MEMORY || (!result && params.overflow);
		if (result && !is_over)
			return refuse(err, "cuptiPmSamplingDecodeData", result);
		result = deliver(pm, &to);
		if (result)
			return refuse(err, "reading PM samples", result);
		if (!is_over && params.stop != FW_CUPTI_PM_STOP_FULL && read->samples)
			to.is_other_clock |= !is_in_clock(pm, &read->clock);
		if (to.is_other_clock)
			return fw_fail(
				err, FW_ERR_UNSUPPORTED,
				"PM samples are not in CUPTI's clock: they cannot be placed");
		if (is_over)
			return restart(pm, read, err);
		if (params.stop != FW_CUPTI_PM_STOP_FULL)
			break;
	}
	return FW_OK;
}
