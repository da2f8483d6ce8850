/* What the GPU's counters measured in the window of one device: beside the fill, which is a model. */
#include "report/sections.h"

#include <inttypes.h>
#include <stdio.h>

#include "report/amounts.h"
#include "report/names.h"
#include "report/step_counters.h"

#define NAME_WIDTH   18
#define VALUE_WIDTH  9
#define KERNELS_MOST 8

static struct fw_amount percent(double value)
{
	struct fw_amount a = { "?" };

	if (value > 0 && value < 0.05) /* little is not nothing */
		snprintf(a.text, sizeof(a.text), "<0.1 %%");
	else if (value >= 0)
		snprintf(a.text, sizeof(a.text), "%.1f %%", value);
	return a;
}

static void put_cells(struct fw_page *page, const char *const *cells, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		fw_str_putc(page->out, ' ');
		fw_page_cell_right(page, cells[i], VALUE_WIDTH);
	}
}

static void put_head(struct fw_page *page, bool has_steps)
{
	static const char *const heads[] = { "window", "kernels", "least", "median", "most" };

	fw_page_ink(page, FW_INK_DIM);
	fw_str_puts(page->out, "    ");
	fw_page_cell(page, "", NAME_WIDTH);
	put_cells(page, heads, has_steps ? 5 : 2);
	fw_str_puts(page->out, has_steps ? "  of the steps" : "");
	fw_page_end_line(page);
	fw_page_ink(page, FW_INK_PLAIN);
}

static void put_counter(struct fw_page *page, const struct fw_device_ledger *d,
			enum fw_counter counter, const struct fw_step_counter *steps)
{
	struct fw_amount window = percent(d->measured[counter].value);
	struct fw_amount busy = percent(fw_counter_while_busy(d, counter));
	struct fw_amount least = percent(steps->least), median = percent(steps->median);
	struct fw_amount most = percent(steps->most);
	const char *cells[5];

	fw_str_puts(page->out, "    ");
	fw_page_cell(page, fw_counter_text(counter), NAME_WIDTH);
	cells[0] = window.text;
	cells[1] = counter == FW_COUNTER_DRAM ? "" : busy.text;
	cells[2] = least.text;
	cells[3] = median.text;
	cells[4] = most.text;
	put_cells(page, cells, steps->steps ? 5 : 2);
	fw_page_end_line(page);
}

/* What profilers call achieved occupancy: of the SMs that worked. */
static void put_occupancy(struct fw_page *page, const struct fw_device_ledger *d)
{
	struct fw_amount occupancy = percent(fw_counter_occupancy(d->measured));
	const char *cell = occupancy.text;

	fw_str_puts(page->out, "    ");
	fw_page_cell(page, "achieved occupancy", NAME_WIDTH);
	put_cells(page, &cell, 1);
	fw_str_puts(page->out, "  warp slots of busy SMs");
	fw_page_end_line(page);
}

static void put_kernel_head(struct fw_page *page)
{
	fw_page_ink(page, FW_INK_DIM);
	fw_page_printf(page, "  %7s %7s %7s %7s %7s %7s %7s  kernel, alone", "samples", "occup.",
		       "SMs", "warps", "tensor", "FP32", "DRAM");
	fw_page_end_line(page);
	fw_page_ink(page, FW_INK_PLAIN);
}

static void put_kernel(struct fw_page *page, const struct fw_trace *trace,
		       const struct fw_kernel_row *row)
{
	const struct fw_counter_mean *measured = row->measured;
	const char *name = fw_trace_text(trace, row->name);

	fw_page_printf(page, "  %7" PRId64 " %7s", measured[FW_COUNTER_SM_BUSY].samples,
		       percent(fw_counter_occupancy(measured)).text);
	for (unsigned c = 0; c < FW_COUNTER_COUNT; c++)
		fw_page_printf(page, " %7s",
			       percent(measured[c].samples ? measured[c].value : -1).text);
	fw_str_puts(page->out, "  ");
	name = page->full_names ? name : fw_short_name(&page->arena, name);
	fw_page_put(page, fw_page_cut(page, name, page->columns > 80 ? page->columns - 60 : 20));
	fw_page_end_line(page);
}

/* The first of the kernel table that have samples of their own. */
static void put_kernels(struct fw_page *page, const struct fw_trace *trace,
			const struct fw_device_ledger *d)
{
	size_t shown = 0;

	for (size_t i = 0; i < d->kernel_count && shown < KERNELS_MOST; i++) {
		if (!d->kernels[i].measured[FW_COUNTER_SM_BUSY].samples)
			continue;
		if (!shown++)
			put_kernel_head(page);
		put_kernel(page, trace, &d->kernels[i]);
	}
}

static const char *source_text(const struct fw_report *report, const struct fw_device_ledger *d)
{
	return fw_counters_are_fine(report->ledger, d) ? "PM sampling" : "GPM";
}

void fw_text_counters(struct fw_page *page, const struct fw_report *report, size_t device)
{
	const struct fw_device_ledger *d = &report->ledger->devices[device];
	const struct fw_counter_mean *first = &d->measured[FW_COUNTER_SM_BUSY];
	int64_t window = d->window.end_ns - d->window.start_ns;
	struct fw_step_counter steps[FW_COUNTER_COUNT];

	if (!d->counter_source || !first->samples || window <= 0)
		return;
	fw_page_heading(page, fw_page_text(page,
					   "What the counters measured (%s, %" PRId64
					   " sample%s, %.0f %% of the window)",
					   source_text(report, d), first->samples,
					   first->samples == 1 ? "" : "s",
					   100.0 * (double)first->covered_ns / (double)window));
	if (!fw_step_counters(report, device, steps))
		page->out->failed = true;
	put_head(page, steps[FW_COUNTER_SM_BUSY].steps > 0);
	for (unsigned c = 0; c < FW_COUNTER_COUNT; c++)
		if (d->measured[c].samples)
			put_counter(page, d, (enum fw_counter)c, &steps[c]);
	if (fw_counter_occupancy(d->measured) >= 0)
		put_occupancy(page, d);
	put_kernels(page, report->ledger->trace, d);
}
