#include "report/step_counters.h"

#include <stdlib.h>
#include <string.h>

#include "rules/steps.h"

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* A mean over less than so many samples says more of the samples than of the step. */
static bool is_long_enough(const struct fw_counter_mean *window, const struct fw_step *step)
{
	return window->samples &&
	       (step->end_ns - step->start_ns) >= 3 * (window->covered_ns / window->samples);
}

static size_t take_means(const struct fw_report *report, size_t device, enum fw_counter counter,
			 const struct fw_vec *steps, double *means)
{
	const struct fw_device_ledger *d = &report->ledger->devices[device];
	const struct fw_step *list = steps->data;
	size_t count = 0;

	for (size_t i = 0; i < steps->len; i++) {
		struct fw_counter_mean mean;

		if (!is_long_enough(&d->measured[counter], &list[i]))
			continue;
		mean = fw_counter_over(report->ledger, d, counter, list[i].start_ns,
				       list[i].end_ns);
		if (mean.samples)
			means[count++] = mean.value;
	}
	return count;
}

static bool summarise(const struct fw_report *report, size_t device, enum fw_counter counter,
		      const struct fw_vec *steps, struct fw_step_counter *out)
{
	double *means = calloc(steps->len + 1, sizeof(*means));
	size_t count;

	if (!means)
		return false;
	count = take_means(report, device, counter, steps, means);
	if (count) {
		qsort(means, count, sizeof(*means), by_value);
		*out = (struct fw_step_counter){ (int64_t)count, means[0], means[count / 2],
						 means[count - 1] };
	}
	free(means);
	return true;
}

bool fw_step_counters(const struct fw_report *report, size_t device,
		      struct fw_step_counter out[FW_COUNTER_COUNT])
{
	struct fw_vec steps = FW_VEC(struct fw_step);
	const struct fw_host *host =
		report->findings.host; /* there since the first rule that asked */
	bool is_annotated, ok = true;

	memset(out, 0, FW_COUNTER_COUNT * sizeof(*out));
	if (!report->ledger->devices[device].counter_source || !host)
		return true;
	ok = fw_steps_of(report->ledger, device, host, &steps, &is_annotated);
	for (unsigned c = 0; c < FW_COUNTER_COUNT && ok && steps.len; c++)
		ok = summarise(report, device, (enum fw_counter)c, &steps, &out[c]);
	fw_vec_release(&steps);
	return ok;
}
