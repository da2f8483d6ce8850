/*
 * A stand-in for the part of libcupti that samples counters. $FW_FAKE_PM names a text file of lines
 * KEY VALUE, read again at every call:
 *
 *   CALL N            the call answers N: initialize, chip, host, availability, enable, config, start,
 *                     data, info, evaluate
 *   decode AT N       the AT-th decoding (from 0, since sampling was enabled) answers N
 *   overflow AT       the AT-th decoding says that the buffer ran over
 *   metric NAME N     a metric that contains NAME needs N passes; 0: the chip does not know it
 *   most N            so many metrics fit one pass
 *   sample S E V...   the next sample: start and end in ns since 100 ms before sampling was enabled
 *                     (a start of 0: really 0), values in the order of the metrics; "*" as the first
 *                     value: the rest is what every metric has
 *   steady MS V...    samples of MS milliseconds as real time passes, each "late" ns late
 *   ahead N           CUPTI's clock is that much ahead of CLOCK_MONOTONIC
 *   astray N          the samples' clock is that much ahead of CUPTI's
 *   chip_name NAME    GH100
 *
 * As on an H200, the first sample after a start reaches back seconds, and after its buffer ran over
 * sampling can only be started again by enabling it anew.
 */
#include "gpu/cupti_pm.h"
#include "pm_script.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define API __attribute__((visibility("default")))

#define MOST_METRICS 32

struct host {
	size_t count;
	const char *names[MOST_METRICS];
};

struct sampler {
	bool is_started, is_fresh, is_over;
	uint64_t enabled; /* when, in the samples' clock, less 100 ms */
	uint64_t steady;  /* end of the last steady sample */
};

/* Survive enabling anew. */
static unsigned decodings;
static size_t taken; /* lines of "sample" */

struct sample {
	uint64_t start, end;
	double values[MOST_METRICS];
};

/* The image of decoded samples. */
struct data {
	uint32_t room, count;
	struct sample samples[];
};

static int answer(const char *call)
{
	return (int)fake_pm_number(call, 0);
}

/* A caller that says another size than the header has would be refused. */
#define SIZE_IS(params, type, last) ((params)->size == FW_CUPTI_SIZE(type, last))

static uint64_t cupti_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec +
	       (uint64_t)(int64_t)fake_pm_number("ahead", 0);
}

static uint64_t samples_now(void)
{
	return cupti_now() + (uint64_t)(int64_t)fake_pm_number("astray", 0);
}

API int cuptiGetTimestamp(uint64_t *ns)
{
	*ns = cupti_now();
	return answer("timestamp");
}

API int cuptiGetVersion(uint32_t *version)
{
	*version = 130001;
	return 0;
}

API int cuptiProfilerInitialize(struct fw_cupti_params *params)
{
	decodings = 0;
	taken = 0;
	return SIZE_IS(params, fw_cupti_params, reserved) ? answer("initialize") : 1;
}

API int cuptiDeviceGetChipName(struct fw_cupti_chip_name *params)
{
	static char name[FAKE_PM_LINE];

	if (!fake_pm_line("chip_name", 0, name))
		snprintf(name, sizeof(name), "GH100");
	params->name = name;
	return SIZE_IS(params, fw_cupti_chip_name, name) ? answer("chip") : 1;
}

API int cuptiProfilerHostInitialize(struct fw_cupti_host_initialize *params)
{
	if (!SIZE_IS(params, fw_cupti_host_initialize, host) ||
	    params->kind != FW_CUPTI_PROFILER_PM_SAMPLING)
		return 1;
	if (answer("host"))
		return answer("host");
	params->host = calloc(1, sizeof(struct host));
	return 0;
}

API int cuptiProfilerHostDeinitialize(struct fw_cupti_host *params)
{
	free(params->host);
	return 0;
}

/* How many passes the script says; 1 if nothing. */
static unsigned passes_of(const char *metric)
{
	char rest[FAKE_PM_LINE], name[FAKE_PM_LINE];
	unsigned passes = 1, n;

	for (size_t i = 0; fake_pm_line("metric", i, rest); i++)
		if (sscanf(rest, "%511s %u", name, &n) == 2 && strstr(metric, name))
			passes = n;
	return passes;
}

API int cuptiProfilerHostConfigAddMetrics(struct fw_cupti_host_metrics *params)
{
	struct host *host = params->host;

	if (!SIZE_IS(params, fw_cupti_host_metrics, count) || params->count > MOST_METRICS)
		return 1;
	for (size_t i = 0; i < params->count; i++) {
		if (!passes_of(params->names[i]))
			return FW_CUPTI_INVALID_METRIC_NAME;
		host->names[i] = params->names[i];
	}
	host->count = params->count;
	return 0;
}

API int cuptiProfilerHostGetConfigImageSize(struct fw_cupti_host_image_size *params)
{
	params->bytes = 8;
	return SIZE_IS(params, fw_cupti_host_image_size, bytes) ? 0 : 1;
}

/* The image holds the number of passes. */
API int cuptiProfilerHostGetConfigImage(struct fw_cupti_host_image *params)
{
	const struct host *host = params->host;
	unsigned passes = 1;

	if (!SIZE_IS(params, fw_cupti_host_image, image) || params->bytes != 8)
		return 1;
	for (size_t i = 0; i < host->count; i++)
		passes = passes_of(host->names[i]) > passes ? passes_of(host->names[i]) : passes;
	if (host->count > (size_t)fake_pm_number("most", MOST_METRICS))
		passes++;
	memset(params->image, 0, 8);
	params->image[0] = (uint8_t)passes;
	return 0;
}

API int cuptiProfilerHostGetNumOfPasses(struct fw_cupti_passes *params)
{
	params->passes = params->image[0];
	return SIZE_IS(params, fw_cupti_passes, passes) ? 0 : 1;
}

API int cuptiPmSamplingGetCounterAvailability(struct fw_cupti_availability *params)
{
	if (!SIZE_IS(params, fw_cupti_availability, image))
		return 1;
	if (params->image)
		memset(params->image, 1, params->bytes);
	else
		params->bytes = 64;
	return answer("availability");
}

API int cuptiPmSamplingEnable(struct fw_cupti_pm_enable *params)
{
	int result = answer("enable");

	if (!SIZE_IS(params, fw_cupti_pm_enable, object))
		return 1;
	if (!result) {
		struct sampler *sampler = calloc(1, sizeof(*sampler));

		sampler->enabled = samples_now() - 100000000u;
		params->object = sampler;
	}
	return result;
}

API int cuptiPmSamplingDisable(struct fw_cupti_pm_object *params)
{
	free(params->object);
	return 0;
}

API int cuptiPmSamplingSetConfig(struct fw_cupti_pm_config *params)
{
	if (!SIZE_IS(params, fw_cupti_pm_config, append) || params->config_bytes != 8)
		return 1;
	if (params->config[0] != 1)
		return FW_CUPTI_NOT_SUPPORTED; /* several passes */
	if (params->trigger == FW_CUPTI_PM_TRIGGER_TIME && fake_pm_number("no_time_trigger", 0) > 0)
		return FW_CUPTI_NOT_SUPPORTED;
	return answer("config");
}

API int cuptiPmSamplingStart(struct fw_cupti_pm_object *params)
{
	struct sampler *sampler = params->object;

	if (sampler->is_started)
		return FW_CUPTI_INVALID_OPERATION;
	if (sampler->is_over)
		return FW_CUPTI_UNKNOWN;
	sampler->is_fresh = true;
	sampler->is_started = !answer("start");
	return answer("start");
}

API int cuptiPmSamplingStop(struct fw_cupti_pm_object *params)
{
	struct sampler *sampler = params->object;

	sampler->is_started = false;
	return 0;
}

API int cuptiPmSamplingGetCounterDataSize(struct fw_cupti_pm_data_size *params)
{
	if (!SIZE_IS(params, fw_cupti_pm_data_size, bytes))
		return 1;
	params->bytes = sizeof(struct data) + params->samples * sizeof(struct sample);
	return answer("data");
}

API int cuptiPmSamplingCounterDataImageInitialize(struct fw_cupti_pm_data_clear *params)
{
	struct data *data = (struct data *)(void *)params->data;

	if (!SIZE_IS(params, fw_cupti_pm_data_clear, data))
		return 1;
	data->room = (uint32_t)((params->bytes - sizeof(*data)) / sizeof(struct sample));
	data->count = 0;
	return 0;
}

static void read_values(const char *text, double values[MOST_METRICS])
{
	bool is_all = *text == '*';
	char *end;

	if (is_all)
		text++;
	for (size_t i = 0; i < MOST_METRICS; i++) {
		values[i] = strtod(text, &end);
		if (!is_all)
			text = end;
	}
}

static bool next_scripted(struct sampler *sampler, struct sample *sample)
{
	char rest[FAKE_PM_LINE], *at;

	if (!fake_pm_line("sample", taken, rest))
		return false;
	taken++;
	sample->start = strtoull(rest, &at, 10);
	sample->end = strtoull(at, &at, 10) + sampler->enabled;
	if (sample->start)
		sample->start += sampler->enabled;
	read_values(at + strspn(at, " "), sample->values);
	return true;
}

static bool next_steady(struct sampler *sampler, struct sample *sample)
{
	char rest[FAKE_PM_LINE], *at;
	uint64_t now, length;

	if (!fake_pm_line("steady", 0, rest))
		return false;
	now = samples_now() - (uint64_t)(int64_t)fake_pm_number("late", 0);
	length = (uint64_t)(strtod(rest, &at) * 1e6);
	if (!sampler->steady)
		sampler->steady = now;
	if (sampler->steady + length > now)
		return false;
	sample->start = sampler->steady;
	sample->end = sampler->steady += length;
	read_values(at + strspn(at, " "), sample->values);
	return true;
}

/* It begins when the last session ended, and says nothing. */
static void put_first(struct sampler *sampler, struct data *data)
{
	struct sample *first = &data->samples[data->count++];

	sampler->is_fresh = false;
	first->start = sampler->enabled - 3000000000u;
	first->end = sampler->enabled;
	for (size_t i = 0; i < MOST_METRICS; i++)
		first->values[i] = 99;
}

/* What the script says of this decoding. */
static bool says(const char *key, unsigned decoding, int *result)
{
	char rest[FAKE_PM_LINE];
	unsigned at;

	for (size_t i = 0; fake_pm_line(key, i, rest); i++) {
		int n = 0;

		if (sscanf(rest, "%u %d", &at, &n) < 1 || at != decoding)
			continue;
		*result = n;
		return true;
	}
	return false;
}

API int cuptiPmSamplingDecodeData(struct fw_cupti_pm_decode *params)
{
	struct sampler *sampler = params->object;
	struct data *data = (struct data *)(void *)params->data;
	unsigned decoding = decodings++;
	int result = 0;

	if (!SIZE_IS(params, fw_cupti_pm_decode, overflow) || !sampler->is_started)
		return 1;
	params->overflow = sampler->is_over = says("overflow", decoding, &result);
	if (says("decode", decoding, &result) && result) {
		sampler->is_over = result == FW_CUPTI_OUT_OF_MEMORY;
		return result;
	}
	if (sampler->is_fresh)
		put_first(sampler, data);
	params->stop = FW_CUPTI_PM_STOP_END;
	while (data->count < data->room) {
		struct sample *sample = &data->samples[data->count];

		if (!next_scripted(sampler, sample) && !next_steady(sampler, sample))
			return 0;
		data->count++;
	}
	params->stop = FW_CUPTI_PM_STOP_FULL;
	return 0;
}

API int cuptiPmSamplingGetCounterDataInfo(struct fw_cupti_pm_data_info *params)
{
	const struct data *data = (const struct data *)(const void *)params->data;

	params->total = data->room;
	params->populated = params->completed = data->count;
	return SIZE_IS(params, fw_cupti_pm_data_info, completed) ? answer("info") : 1;
}

API int cuptiPmSamplingCounterDataGetSampleInfo(struct fw_cupti_pm_sample_info *params)
{
	const struct data *data = (const struct data *)(const void *)params->data;

	if (!SIZE_IS(params, fw_cupti_pm_sample_info, end) || params->sample >= data->count)
		return 1;
	params->start = data->samples[params->sample].start;
	params->end = data->samples[params->sample].end;
	return 0;
}

API int cuptiProfilerHostEvaluateToGpuValues(struct fw_cupti_evaluate *params)
{
	const struct data *data = (const struct data *)(const void *)params->data;

	if (!SIZE_IS(params, fw_cupti_evaluate, values) || params->sample >= data->count)
		return 1;
	for (size_t i = 0; i < params->count; i++)
		params->values[i] = data->samples[params->sample].values[i];
	return answer("evaluate");
}
