/* What the counters measured, as JSON; docs/format/report-json.md describes it. */
#include "report/counters_json.h"

#include "report/step_counters.h"

static void put_mean(struct fw_json *json, enum fw_counter counter,
		     const struct fw_counter_mean *mean)
{
	fw_json_begin_object(json, fw_counter_name(counter));
	fw_json_double(json, "value", mean->value);
	fw_json_int(json, "covered_ns", mean->covered_ns);
	fw_json_int(json, "samples", mean->samples);
	fw_json_end_object(json);
}

static void put_means(struct fw_json *json, const char *key,
		      const struct fw_counter_mean means[FW_COUNTER_COUNT])
{
	fw_json_begin_object(json, key);
	for (unsigned c = 0; c < FW_COUNTER_COUNT; c++)
		if (means[c].samples)
			put_mean(json, (enum fw_counter)c, &means[c]);
	fw_json_end_object(json);
}

static void put_occupancy(struct fw_json *json,
			  const struct fw_counter_mean means[FW_COUNTER_COUNT])
{
	double occupancy = fw_counter_occupancy(means);

	if (occupancy < 0)
		fw_json_null(json, "achieved_occupancy_percent");
	else
		fw_json_double(json, "achieved_occupancy_percent", occupancy);
}

static void put_busy(struct fw_json *json, const struct fw_device_ledger *device)
{
	fw_json_begin_object(json, "while_kernels_ran");
	for (unsigned c = 0; c < FW_COUNTER_COUNT; c++) {
		double value = fw_counter_while_busy(device, (enum fw_counter)c);

		if (value >= 0)
			fw_json_double(json, fw_counter_name((enum fw_counter)c), value);
	}
	fw_json_end_object(json);
}

static void put_steps(struct fw_json *json, const struct fw_report *report, size_t device)
{
	struct fw_step_counter steps[FW_COUNTER_COUNT];

	if (!fw_step_counters(report, device, steps))
		json->out->failed = true;
	fw_json_begin_object(json, "steps");
	for (unsigned c = 0; c < FW_COUNTER_COUNT; c++) {
		if (!steps[c].steps)
			continue;
		fw_json_begin_object(json, fw_counter_name((enum fw_counter)c));
		fw_json_int(json, "steps", steps[c].steps);
		fw_json_double(json, "least", steps[c].least);
		fw_json_double(json, "median", steps[c].median);
		fw_json_double(json, "most", steps[c].most);
		fw_json_end_object(json);
	}
	fw_json_end_object(json);
}

static void put_kernel(struct fw_json *json, const struct fw_trace *trace,
		       const struct fw_kernel_row *row)
{
	const struct fw_trace_shapes *s = &trace->shapes;

	fw_json_begin_object(json, NULL);
	fw_json_string(json, "name", fw_trace_text(trace, row->name));
	if (row->shape == FW_NONE) {
		fw_json_null(json, "grid");
	} else {
		fw_json_begin_array(json, "grid");
		fw_json_uint(json, NULL, s->grid_x[row->shape]);
		fw_json_uint(json, NULL, s->grid_y[row->shape]);
		fw_json_uint(json, NULL, s->grid_z[row->shape]);
		fw_json_end_array(json);
	}
	put_occupancy(json, row->measured);
	put_means(json, "measured", row->measured);
	fw_json_end_object(json);
}

static bool has_samples(const struct fw_kernel_row *row)
{
	for (unsigned c = 0; c < FW_COUNTER_COUNT; c++)
		if (row->measured[c].samples)
			return true;
	return false;
}

void fw_json_counters(struct fw_json *json, const struct fw_report *report, size_t device)
{
	const struct fw_trace *trace = report->ledger->trace;
	const struct fw_device_ledger *d = &report->ledger->devices[device];

	if (!d->counter_source) {
		fw_json_null(json, "counters");
		return;
	}
	fw_json_begin_object(json, "counters");
	fw_json_string(json, "source", fw_trace_text(trace, d->counter_source));
	put_occupancy(json, d->measured);
	put_means(json, "window", d->measured);
	put_busy(json, d);
	put_steps(json, report, device);
	fw_json_begin_array(json, "kernels");
	for (size_t i = 0; i < d->kernel_count; i++)
		if (has_samples(&d->kernels[i]))
			put_kernel(json, trace, &d->kernels[i]);
	fw_json_end_array(json);
	fw_json_end_object(json);
}
