/* `--sweep`: one resource varied, as a table with a chart, JSON or CSV. */
#include "cli/occupancy.h"

#include <string.h>

#define CHART_COLUMNS 40u

static struct fw_occupancy_launch at(const struct fw_occupancy_launch *launch,
				     enum fw_resource over, unsigned value)
{
	struct fw_occupancy_input in = fw_resource_set(&launch->in, over, value);

	return fw_occupancy_launch_of(launch->device, &in, in.block_threads);
}

static const char *header_of(enum fw_resource over)
{
	return over == FW_RESOURCE_BLOCK       ? "threads"
	       : over == FW_RESOURCE_REGISTERS ? "registers"
					       : "smem B";
}

static bool is_same(const struct fw_occupancy_result *a, const struct fw_occupancy_result *b)
{
	return a->blocks_per_sm == b->blocks_per_sm && a->warps_per_block == b->warps_per_block &&
	       a->limiters == b->limiters;
}

/* The last value of the run of equal results that starts at first. */
static unsigned run_end(const struct fw_occupancy_launch *launch, enum fw_resource over,
			unsigned first, struct fw_resource_range range)
{
	struct fw_occupancy_launch start = at(launch, over, first);
	unsigned last = first;

	while (last + range.step <= range.most) {
		struct fw_occupancy_launch next = at(launch, over, last + range.step);

		if (!is_same(&start.result, &next.result))
			break;
		last += range.step;
	}
	return last;
}

static void put_row(struct fw_str *out, const struct fw_occupancy_launch *launch, unsigned first,
		    unsigned last, bool has_chart)
{
	const struct fw_occupancy_result *r = &launch->result;
	char range[32];

	if (first == last)
		snprintf(range, sizeof(range), "%u", first);
	else
		snprintf(range, sizeof(range), "%u-%u", first, last);
	fw_str_printf(out, "  %15s %10u %9u %11.4g %9.1f %%  ", range, r->blocks_per_sm,
		      r->warps_per_sm, (double)r->warps_per_sm / r->schedulers_per_sm,
		      100 * r->occupancy);
	if (has_chart) {
		size_t filled = (size_t)(r->occupancy * CHART_COLUMNS + 0.5);

		fw_str_repeat(out, "#", filled);
		fw_str_repeat(out, ".", CHART_COLUMNS - filled);
		fw_str_puts(out, "  ");
	}
	fw_occupancy_put_limiters(out, r->limiters, ", ");
	fw_str_putc(out, '\n');
}

void fw_occupancy_put_sweep(struct fw_str *out, const struct fw_occupancy_launch *launch,
			    enum fw_resource over, bool has_chart)
{
	struct fw_resource_range range = fw_resource_range(launch->device->hw, over);

	fw_str_printf(out, "  %15s %10s %9s %11s %11s  %s%*slimited by\n", header_of(over),
		      "blocks/SM", "warps/SM", "w/scheduler", "occupancy",
		      has_chart ? "0 % to 100 %" : "",
		      has_chart ? (int)(CHART_COLUMNS + 2 - strlen("0 % to 100 %")) : 0, "");
	for (unsigned first = range.least; first <= range.most;) {
		unsigned last =
			over == FW_RESOURCE_BLOCK ? first : run_end(launch, over, first, range);
		struct fw_occupancy_launch point = at(launch, over, first);

		put_row(out, &point, first, last, has_chart);
		first = last + range.step;
	}
}

void fw_occupancy_json_sweep(struct fw_json *json, const struct fw_occupancy_launch *launch,
			     enum fw_resource over)
{
	static const char *const names[] = { "block", "regs", "smem" };
	struct fw_resource_range range = fw_resource_range(launch->device->hw, over);

	fw_json_begin_object(json, "sweep");
	fw_json_string(json, "over", names[over]);
	fw_json_begin_array(json, "points");
	for (unsigned value = range.least; value <= range.most; value += range.step) {
		struct fw_occupancy_launch point = at(launch, over, value);

		fw_json_begin_object(json, NULL);
		fw_json_uint(json, "value", value);
		fw_json_uint(json, "blocks_per_sm", point.result.blocks_per_sm);
		fw_json_uint(json, "warps_per_sm", point.result.warps_per_sm);
		fw_json_double(json, "occupancy", point.result.occupancy);
		fw_occupancy_json_limiters(json, point.result.limiters);
		fw_json_end_object(json);
	}
	fw_json_end_array(json);
	fw_json_end_object(json);
}

void fw_occupancy_csv_sweep(struct fw_str *out, const struct fw_occupancy_launch *launch,
			    enum fw_resource over)
{
	struct fw_resource_range range = fw_resource_range(launch->device->hw, over);

	for (unsigned value = range.least; value <= range.most; value += range.step) {
		struct fw_occupancy_launch point = at(launch, over, value);

		fw_occupancy_csv_line(out, &point);
	}
}
