/* The kernels of one device, longest first: time, launch configuration, occupancy, fill. */
#include "report/sections.h"

#include <inttypes.h>
#include <stdio.h>

#include "fullwarp/occupancy.h"
#include "report/amounts.h"
#include "report/names.h"

/* The name shares the line with the numbers where it has at least this much room. */
#define NAME_LEAST  34
#define TABLE_WIDTH 80

static void put_head(struct fw_page *page, bool has_name)
{
	fw_page_ink(page, FW_INK_DIM);
	fw_page_printf(page, "  %9s %5s %6s %8s %9s %7s %4s %-10s %-12s%s", "time ms", "%", "count",
		       "mean us", "grid", "block", "regs", "occupancy", "fill",
		       has_name ? "  kernel" : "");
	fw_page_end_line(page);
	fw_page_ink(page, FW_INK_PLAIN);
}

/* "1568x4", trailing ones left out. */
static struct fw_amount extent(uint32_t x, uint32_t y, uint32_t z)
{
	struct fw_amount a;

	if (z > 1)
		snprintf(a.text, sizeof(a.text), "%ux%ux%u", x, y, z);
	else if (y > 1)
		snprintf(a.text, sizeof(a.text), "%ux%u", x, y);
	else
		snprintf(a.text, sizeof(a.text), "%u", x);
	return a;
}

static const char *limiter_word(uint32_t limiters)
{
	static const struct {
		uint32_t bit;
		const char *word;
	} words[] = { { FW_LIMITER_REGISTERS, "regs" }, { FW_LIMITER_SHARED_MEMORY, "smem" },
		      { FW_LIMITER_WARPS, "warps" },    { FW_LIMITER_BLOCKS, "blocks" },
		      { FW_LIMITER_BARRIERS, "bars" },  { FW_LIMITER_VIRTUAL, "virt" },
		      { FW_LIMITER_CLUSTER, "clust" } };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (limiters & words[i].bit)
			return words[i].word;
	return "";
}

/* "50 % regs"; a kernel at 100 % has no limiter worth naming. */
static struct fw_amount occupancy(const struct fw_kernel_row *row)
{
	struct fw_amount a = { "?" };

	if (row->occupancy >= 0)
		snprintf(a.text, sizeof(a.text), "%3.0f %% %s", row->occupancy * 100,
			 row->occupancy < 1 ? limiter_word(row->limiters) : "");
	return a;
}

static void put_shape(struct fw_page *page, const struct fw_trace *trace, uint32_t shape)
{
	const struct fw_trace_shapes *s = &trace->shapes;
	struct fw_amount registers = { "?" };

	if (shape == FW_NONE) {
		fw_page_printf(page, " %9s %7s %4s", "?", "?", "?");
		return;
	}
	if (s->registers[shape] >= 0)
		snprintf(registers.text, sizeof(registers.text), "%" PRId32, s->registers[shape]);
	fw_str_putc(page->out, ' ');
	fw_page_cell_right(page, extent(s->grid_x[shape], s->grid_y[shape], s->grid_z[shape]).text,
			   9);
	fw_str_putc(page->out, ' ');
	fw_page_cell_right(page,
			   extent(s->block_x[shape], s->block_y[shape], s->block_z[shape]).text, 7);
	fw_page_printf(page, " %4s", registers.text);
}

static const char *name_of(struct fw_page *page, const struct fw_trace *trace, uint32_t name)
{
	const char *text = fw_trace_text(trace, name);

	return page->full_names ? text : fw_short_name(&page->arena, text);
}

static void put_name(struct fw_page *page, const char *name, bool has_room)
{
	if (!has_room)
		fw_page_end_line(page);
	fw_str_repeat(page->out, " ", has_room ? 2 : 6);
	if (page->full_names) {
		fw_page_wrap(page, 6, 6, name);
		return;
	}
	fw_page_cell(page, name, page->columns - (has_room ? TABLE_WIDTH + 2 : 6));
	fw_page_end_line(page);
}

static void put_row(struct fw_page *page, const struct fw_trace *trace,
		    const struct fw_device_ledger *device, const struct fw_kernel_row *row)
{
	int64_t window = fw_window_ns(device);

	fw_page_printf(page, "  %9.3f", (double)row->total_ns / 1e6);
	if (window > 0)
		fw_page_printf(page, " %5.1f", (double)row->total_ns * 100 / (double)window);
	else
		fw_page_printf(page, " %5s", "?");
	fw_page_printf(page, " %6" PRId64 " %8.1f", row->count,
		       row->count ? (double)row->total_ns / 1e3 / (double)row->count : 0.0);
	put_shape(page, trace, row->shape);
	fw_page_printf(page, " %-10s %-12s", occupancy(row).text,
		       row->fill == FW_FILL_UNKNOWN ? "?" : fw_fill_id(row->fill));
}

#define DEFAULT_ROWS 15

static size_t count_rows(const struct fw_device_ledger *device, unsigned wish)
{
	size_t most = wish ? wish : DEFAULT_ROWS;

	return device->kernel_count < most ? device->kernel_count : most;
}

void fw_text_kernels(struct fw_page *page, const struct fw_trace *trace,
		     const struct fw_device_ledger *device, unsigned rows)
{
	size_t count = count_rows(device, rows);
	bool has_room = page->columns >= TABLE_WIDTH + 2 + NAME_LEAST && !page->full_names;

	if (!device->kernel_count) {
		fw_page_heading(page, "Kernels: none ran in the window");
		return;
	}
	fw_page_heading(page, fw_page_text(page, "Kernels by time: %zu of %zu (%% of the window%s)",
					   count, device->kernel_count,
					   count < device->kernel_count ? "; --top N: more" : ""));
	put_head(page, has_room);
	for (size_t i = 0; i < count; i++) {
		put_row(page, trace, device, &device->kernels[i]);
		put_name(page, name_of(page, trace, device->kernels[i].name), has_room);
	}
}
