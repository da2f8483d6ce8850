#include "sample/pm_metrics.h"

#include <stdlib.h>

static const struct {
	enum fw_gpu_value value;
	const char *name;
} metrics[] = {
#define FW_PM_METRIC(value, name) { FW_GPU_##value, name },
#include "sample/pm_metrics.def"
#undef FW_PM_METRIC
};

#define METRICS (sizeof(metrics) / sizeof(metrics[0]))

/* An image is some KiB; more than this is not believed. */
#define IMAGE_MOST ((size_t)64 << 20)

void fw_pm_choice_release(const struct fw_cupti_pm *cupti, struct fw_pm_choice *choice)
{
	struct fw_cupti_host params = { .size = FW_CUPTI_SIZE(fw_cupti_host, host),
					.host = choice->host };

	if (choice->host)
		cupti->host_deinitialize(&params);
	free(choice->image);
	*choice = (struct fw_pm_choice){ 0 };
}

/* The image of the metrics on the choice's host, and how many passes they need. */
static int schedule(const struct fw_cupti_pm *cupti, struct fw_pm_choice *choice, size_t *passes)
{
	struct fw_cupti_host_metrics add = { .size = FW_CUPTI_SIZE(fw_cupti_host_metrics, count),
					     .host = choice->host,
					     .names = choice->names,
					     .count = choice->count };
	struct fw_cupti_host_image_size ask = {
		.size = FW_CUPTI_SIZE(fw_cupti_host_image_size, bytes), .host = choice->host
	};
	struct fw_cupti_host_image get = { .size = FW_CUPTI_SIZE(fw_cupti_host_image, image),
					   .host = choice->host };
	struct fw_cupti_passes count = { .size = FW_CUPTI_SIZE(fw_cupti_passes, passes) };
	int result = cupti->host_config_add_metrics(&add);

	if (!result)
		result = cupti->host_get_config_image_size(&ask);
	if (result)
		return result;
	if (!ask.bytes || ask.bytes > IMAGE_MOST)
		return FW_CUPTI_UNKNOWN;
	choice->image_bytes = ask.bytes;
	choice->image = calloc(1, ask.bytes);
	if (!choice->image)
		return FW_CUPTI_OUT_OF_MEMORY;
	get.bytes = count.bytes = ask.bytes;
	get.image = count.image = choice->image;
	result = cupti->host_get_config_image(&get);
	if (!result)
		result = cupti->host_get_num_of_passes(&count);
	*passes = count.passes;
	return result;
}

/* Makes host and image of the names in choice; both are released again where that fails. */
static int make(const struct fw_cupti_pm *cupti, const char *chip, const uint8_t *availability,
		struct fw_pm_choice *choice, size_t *passes)
{
	struct fw_cupti_host_initialize init = {
		.size = FW_CUPTI_SIZE(fw_cupti_host_initialize, host),
		.kind = FW_CUPTI_PROFILER_PM_SAMPLING,
		.chip = chip,
		.availability = availability,
	};
	int result = cupti->host_initialize(&init);

	if (result)
		return result;
	choice->host = init.host;
	result = schedule(cupti, choice, passes);
	if (result)
		fw_pm_choice_release(cupti, choice);
	return result;
}

static bool has_value(const struct fw_pm_choice *choice, enum fw_gpu_value value)
{
	for (size_t i = 0; i < choice->count; i++)
		if (choice->values[i] == value)
			return true;
	return false;
}

fw_status fw_pm_choose(const struct fw_cupti_pm *cupti, const char *chip,
		       const uint8_t *availability, struct fw_pm_choice *choice,
		       struct fw_error *err)
{
	int result = FW_CUPTI_INVALID_METRIC_NAME;

	*choice = (struct fw_pm_choice){ 0 };
	for (size_t i = 0; i < METRICS && choice->count < FW_PM_VALUES; i++) {
		struct fw_pm_choice more = { .count = choice->count };
		size_t passes = 0;
		int answer;

		if (has_value(choice, metrics[i].value))
			continue;
		for (size_t k = 0; k < choice->count; k++) {
			more.names[k] = choice->names[k];
			more.values[k] = choice->values[k];
		}
		more.names[more.count] = metrics[i].name;
		more.values[more.count++] = metrics[i].value;
		answer = make(cupti, chip, availability, &more, &passes);
		if (answer || passes != 1) {
			result = answer;
			fw_pm_choice_release(cupti, &more);
			continue;
		}
		fw_pm_choice_release(cupti, choice);
		*choice = more;
	}
	if (choice->count)
		return FW_OK;
	return fw_fail(err, FW_ERR_UNSUPPORTED,
		       "chip %s: none of our metrics fits one pass: %s (%d)", chip,
		       fw_cupti_result_text(result), result);
}
