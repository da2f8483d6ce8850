#include "record/counters_device.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of a reading, in the sampler's buffer: two seconds at 0.2 ms. */
#define READING_SAMPLES 10000

#define CLOCK_NS INT64_C(1000000000)

/* Read at every sample; the others, whose course matters less, are averaged over a reading. */
static bool is_fine(enum fw_gpu_value value)
{
	return value == FW_GPU_SM_BUSY || value == FW_GPU_WARPS || value == FW_GPU_TENSOR ||
	       value == FW_GPU_DRAM || value == FW_GPU_FP32;
}

static void put(struct fw_record_stream *stream, uint32_t device, int64_t start, int64_t end,
		double value, const char *name, const char *source)
{
	struct fw_rec_counter c = { .head = { FW_REC_COUNTER, sizeof(c), device },
				    .start_mono = start,
				    .end_mono = end,
				    .value = value };

	c.name = fw_record_stream_string(stream, name);
	c.source = fw_record_stream_string(stream, source);
	fw_record_stream_append(stream, &c);
}

bool fw_counters_device_sample(struct fw_counters_device *device, struct fw_pm_library *library,
			       const char *uuid, int64_t interval_ns, struct fw_error *err)
{
	struct fw_pm_options options = { .interval_ns = (uint64_t)interval_ns };

	device->samples = (struct fw_vec)FW_VEC(struct fw_pm_sample);
	return !fw_pm_open(&device->pm, library, uuid, &options, err);
}

static void keep(void *arg, const struct fw_pm_sample *sample)
{
	struct fw_counters_device *device = arg;
	struct fw_pm_sample *kept;

	if (device->samples.len == READING_SAMPLES) {
		device->dropped++;
		return;
	}
	kept = fw_vec_push(&device->samples);
	if (kept)
		*kept = *sample;
	else
		device->dropped++;
}

/* A pair of clocks by which samples were placed, once a second. */
static void put_clock(struct fw_record_stream *stream, struct fw_counters_device *device,
		      const struct fw_pm_clock *clock)
{
	struct fw_rec_device_clock c = {
		.head = { FW_REC_DEVICE_CLOCK, sizeof(c), device->number },
		.before_mono = clock->before_mono,
		.after_mono = clock->after_mono,
		.device_ns = clock->cupti_ns,
	};

	if (clock->before_mono - device->clock_mono < CLOCK_NS)
		return;
	device->clock_mono = clock->before_mono;
	fw_record_stream_append(stream, &c);
}

/* A stretch of samples that say the same is one record. */
struct stretch {
	int64_t start, end;
	struct fw_pm_sample sample;
};

static void put_stretch(struct fw_record_stream *stream, const struct fw_counters_device *device,
			const struct stretch *stretch)
{
	size_t count;
	const enum fw_gpu_value *values = fw_pm_values(device->pm, &count);

	for (size_t i = 0; i < count && stretch->end > stretch->start; i++)
		if (is_fine(values[i]) && !isnan(stretch->sample.values[i]))
			put(stream, device->number, stretch->start, stretch->end,
			    stretch->sample.values[i], fw_gpu_values[values[i]].name,
			    fw_counter_source_name(FW_COUNTERS_PM));
}

static bool is_same(const struct fw_counters_device *device, const struct fw_pm_sample *a,
		    const struct fw_pm_sample *b)
{
	size_t count;
	const enum fw_gpu_value *values = fw_pm_values(device->pm, &count);

	for (size_t i = 0; i < count; i++)
		if (is_fine(values[i]) && !(a->values[i] == b->values[i])) /* NAN: other */
			return false;
	return true;
}

/* The fine values, sample by sample, at their times on CLOCK_MONOTONIC. */
static void put_samples(struct fw_record_stream *stream, struct fw_counters_device *device)
{
	const struct fw_pm_sample *samples = device->samples.data;
	struct stretch stretch = { 0 };

	for (size_t i = 0; i < device->samples.len; i++) {
		int64_t start = samples[i].start_mono, end = samples[i].end_mono;

		if (start < device->last_end_mono) /* the clocks drift by microseconds */
			start = device->last_end_mono;
		if (end <= start)
			continue;
		device->last_end_mono = end;
		if (stretch.end == start && is_same(device, &stretch.sample, &samples[i])) {
			stretch.end = end;
			continue;
		}
		put_stretch(stream, device, &stretch);
		stretch = (struct stretch){ start, end, samples[i] };
	}
	put_stretch(stream, device, &stretch);
}

/* The others, averaged over the samples' time. */
static void put_means(struct fw_record_stream *stream, const struct fw_counters_device *device,
		      int64_t start, int64_t end)
{
	const struct fw_pm_sample *samples = device->samples.data;
	size_t count;
	const enum fw_gpu_value *values = fw_pm_values(device->pm, &count);

	for (size_t i = 0; i < count && end > start; i++) {
		double sum = 0, time = 0;

		for (size_t k = 0; k < device->samples.len && !is_fine(values[i]); k++) {
			double length = (double)(samples[k].end_mono - samples[k].start_mono);

			if (isnan(samples[k].values[i]))
				continue;
			sum += samples[k].values[i] * length;
			time += length;
		}
		if (time > 0)
			put(stream, device->number, start, end, sum / time,
			    fw_gpu_values[values[i]].name, fw_counter_source_name(FW_COUNTERS_PM));
	}
}

static void put_overflow(struct fw_record_stream *stream, const struct fw_counters_device *device)
{
	struct fw_rec_loss loss = { .head = { FW_REC_LOSS, sizeof(loss), FW_REC_LOSS_DROPPED_GPU },
				    .start_mono = device->last_end_mono,
				    .end_mono = fw_record_now(),
				    .count = UINT64_MAX };

	if (!loss.start_mono)
		loss.start_mono = loss.end_mono;
	fw_record_stream_append(stream, &loss);
}

bool fw_counters_device_read(struct fw_counters_device *device, struct fw_record_stream *stream,
			     struct fw_error *err)
{
	const struct fw_pm_sample *samples;
	struct fw_pm_read read;

	device->samples.len = 0;
	if (fw_pm_read(device->pm, keep, device, &read, err)) {
		fw_counters_device_release(device, stream);
		return false;
	}
	device->dropped += read.dropped;
	device->wild += read.wild;
	samples = device->samples.data;
	if (!stream) {
		if (device->samples.len)
			device->last_end_mono = samples[device->samples.len - 1].end_mono;
		return true;
	}
	if (device->samples.len) {
		int64_t start = samples[0].start_mono;

		start = start > device->last_end_mono ? start : device->last_end_mono;
		put_clock(stream, device, &read.clock);
		put_samples(stream, device);
		put_means(stream, device, start, device->last_end_mono);
	}
	if (read.overflows)
		put_overflow(stream, device);
	return true;
}

void fw_counters_device_write(struct fw_counters_device *device, struct fw_record_stream *stream,
			      const struct fw_gpu_sample *sample, int64_t now_mono)
{
	for (size_t i = 0; i < FW_GPU_VALUE_COUNT; i++) {
		struct fw_value value = sample->values[i];
		bool is_gpm = value.note && !strcmp(value.note, "GPM");

		if (!fw_value_is_known(value) || i == FW_GPU_MEMORY_TOTAL ||
		    i == FW_GPU_SM_CLOCK_MAX)
			continue;
		put(stream, device->number, is_gpm ? device->values_mono : now_mono, now_mono,
		    value.number, fw_gpu_values[i].name,
		    fw_counter_source_name(is_gpm ? FW_COUNTERS_GPM : FW_COUNTERS_NVML));
	}
	if (sample->has_reasons)
		put(stream, device->number, now_mono, now_mono, (double)sample->reasons,
		    FW_COUNTERS_REASONS, fw_counter_source_name(FW_COUNTERS_NVML));
	device->values_mono = now_mono;
}

/* "GPU-" and 32 digits between dashes; anything else is all zero, which is "unknown". */
static void parse_uuid(const char *text, uint8_t uuid[16])
{
	unsigned digits = 0;

	memset(uuid, 0, 16);
	if (strncmp(text, "GPU-", 4) != 0)
		return;
	for (text += 4; *text && digits < 32; text++) {
		static const char hex[] = "0123456789abcdef";
		const char *at = strchr(hex, *text);

		if (*text == '-')
			continue;
		if (!at)
			break;
		uuid[digits / 2] = (uint8_t)(uuid[digits / 2] << 4 | (at - hex));
		digits++;
	}
	if (digits != 32)
		memset(uuid, 0, 16);
}

void fw_counters_device_describe(struct fw_counters_device *device, struct fw_record_stream *stream,
				 const struct fw_gpu_sample *sample)
{
	struct fw_rec_device d = { .head = { FW_REC_DEVICE, sizeof(d), device->number },
				   .cc = -1,
				   .sms = -1,
				   .memory_bytes = -1 };
	struct fw_value memory = sample->values[FW_GPU_MEMORY_TOTAL];

	parse_uuid(sample->identity.uuid, d.uuid);
	d.name = fw_record_stream_string(stream, sample->identity.name);
	if (sample->identity.cc.is_known)
		d.cc = (int32_t)sample->identity.cc.value;
	if (fw_value_is_known(memory))
		d.memory_bytes = (int64_t)memory.number;
	fw_record_stream_append(stream, &d);
	device->is_known = true;
}

void fw_counters_device_release(struct fw_counters_device *device, struct fw_record_stream *stream)
{
	char text[160];

	fw_pm_close(device->pm);
	device->pm = NULL;
	fw_vec_release(&device->samples);
	if (!stream || (!device->dropped && !device->wild))
		return;
	snprintf(text, sizeof(text),
		 "GPU %u: %llu PM samples with impossible times and %llu impossible values thrown "
		 "away",
		 (unsigned)device->number, (unsigned long long)device->dropped,
		 (unsigned long long)device->wild);
	fw_record_stream_info(stream, FW_REC_INFO_CANNOT, text, device->number);
	device->dropped = device->wild = 0;
}
