/* The ledger and the fill of one device as tables of bars whose shares add up to 100 %. */
#include "report/sections.h"

#include <stdlib.h>
#include <string.h>

#include "report/amounts.h"

#define NAME_WIDTH  18
#define TIME_WIDTH  15
#define SHARE_WIDTH 8
#define BAR_MOST    40

struct row {
	const char *name;
	int64_t ns, tenths;
	bool is_idle;
};

int64_t fw_idle_ns(const struct fw_device_ledger *device)
{
	int64_t sum = 0;

	for (unsigned c = 0; c < FW_CLASS_COUNT; c++)
		if (fw_class_is_idle((enum fw_class)c))
			sum += device->ns[c];
	return sum;
}

int64_t fw_window_ns(const struct fw_device_ledger *device)
{
	return device->window.end_ns - device->window.start_ns;
}

static unsigned bar_width(const struct fw_page *page)
{
	unsigned used = 4 + NAME_WIDTH + TIME_WIDTH + SHARE_WIDTH + 2;
	unsigned room = page->columns > used ? page->columns - used : 0;

	return room < BAR_MOST ? room : BAR_MOST;
}

static void put_row(struct fw_page *page, const struct row *row, int64_t most, unsigned indent)
{
	fw_str_repeat(page->out, " ", indent);
	fw_page_cell(page, row->name, NAME_WIDTH + 4 - indent);
	fw_page_cell_right(page, fw_amount_ms(row->ns).text, TIME_WIDTH);
	fw_page_cell_right(page, fw_amount_tenths(row->tenths).text, SHARE_WIDTH);
	if (most > 0) {
		fw_str_puts(page->out, "  ");
		fw_page_ink(page, row->is_idle ? FW_INK_IDLE : FW_INK_BUSY);
		fw_page_bar(page, row->ns, most, bar_width(page));
		fw_page_ink(page, FW_INK_PLAIN);
	}
	fw_page_end_line(page);
}

/* The larger first, then by name. */
static int by_size(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Rounds the rows' shares of total, and sorts them. */
static void settle(struct row *rows, size_t count, int64_t total)
{
	int64_t values[FW_CLASS_COUNT], tenths[FW_CLASS_COUNT];

	for (size_t i = 0; i < count; i++)
		values[i] = rows[i].ns;
	fw_apportion(values, count, total, tenths);
	for (size_t i = 0; i < count; i++)
		rows[i].tenths = tenths[i];
	qsort(rows, count, sizeof(rows[0]), by_size);
}

static void put_rows(struct fw_page *page, const struct row *rows, size_t count, int64_t most)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].ns)
			put_row(page, &rows[i], most, 4);
}

static void put_sum(struct fw_page *page, const char *name, int64_t ns, int64_t tenths)
{
	struct row sum = { .name = name, .ns = ns, .tenths = tenths };

	fw_page_ink(page, FW_INK_BOLD);
	put_row(page, &sum, 0, 2);
	fw_page_ink(page, FW_INK_PLAIN);
}

/* The busy or the idle classes of a device; returns how many. */
static size_t take_group(const struct fw_device_ledger *device, bool is_idle, struct row *rows)
{
	size_t count = 0;

	for (unsigned c = 0; c < FW_CLASS_COUNT; c++)
		if (fw_class_is_idle((enum fw_class)c) == is_idle)
			rows[count++] = (struct row){ .name = fw_class_id((enum fw_class)c),
						      .ns = device->ns[c],
						      .is_idle = is_idle };
	return count;
}

void fw_text_ledger(struct fw_page *page, const struct fw_device_ledger *device)
{
	int64_t window = fw_window_ns(device), idle = fw_idle_ns(device), most;
	int64_t sums[2] = { window - idle, idle }, tenths[2];
	struct row groups[2][FW_CLASS_COUNT];
	size_t counts[2];

	fw_apportion(sums, 2, window, tenths);
	for (int g = 0; g < 2; g++) {
		counts[g] = take_group(device, g, groups[g]);
		settle(groups[g], counts[g], window);
	}
	most = groups[0][0].ns > groups[1][0].ns ? groups[0][0].ns : groups[1][0].ns;
	fw_page_heading(page, "Where the time went: every nanosecond has one owner");
	for (int g = 0; g < 2; g++) {
		put_sum(page, g ? "idle" : "busy", sums[g], tenths[g]);
		put_rows(page, groups[g], counts[g], most);
	}
	if (window > 0)
		put_sum(page, "window", window, 1000);
}

void fw_text_fill(struct fw_page *page, const struct fw_device_ledger *device)
{
	struct row rows[FW_FILL_COUNT];

	for (unsigned f = 0; f < FW_FILL_COUNT; f++)
		rows[f] = (struct row){ .name = fw_fill_id((enum fw_fill)f),
					.ns = device->fill_ns[f] };
	settle(rows, FW_FILL_COUNT, device->ns[FW_CLASS_COMPUTE]);
	/* What is unknown altogether is said above, as "full (model) unknown". */
	if (!rows[0].ns || device->fill_ns[FW_FILL_UNKNOWN] == device->ns[FW_CLASS_COMPUTE])
		return;
	fw_page_heading(page, "How full the compute time can have been (model, not measured)");
	put_rows(page, rows, FW_FILL_COUNT, rows[0].ns);
}
