/* The ledger and the fill of one device as tables of bars whose shares add up to 100 %. */
#include "report/sections.h"

#include <stdlib.h>

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

/* Busy before idle, then the larger first, then by name. */
static int by_size(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->is_idle != y->is_idle)
		return x->is_idle ? 1 : -1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(x->name, y->name);
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
	fw_str_putc(page->out, '\n');
}

/* Rounds the shares, sorts, and returns the largest value. */
static int64_t settle(struct row *rows, size_t count)
{
	int64_t values[FW_CLASS_COUNT], tenths[FW_CLASS_COUNT], most = 0;

	for (size_t i = 0; i < count; i++) {
		values[i] = rows[i].ns;
		most = rows[i].ns > most ? rows[i].ns : most;
	}
	fw_apportion(values, count, tenths);
	for (size_t i = 0; i < count; i++)
		rows[i].tenths = tenths[i];
	qsort(rows, count, sizeof(rows[0]), by_size);
	return most;
}

static void put_group(struct fw_page *page, const struct row *rows, size_t count, bool is_idle,
		      int64_t most)
{
	struct row sum = { .name = is_idle ? "idle" : "busy", .is_idle = is_idle };

	for (size_t i = 0; i < count; i++)
		if (rows[i].is_idle == is_idle) {
			sum.ns += rows[i].ns;
			sum.tenths += rows[i].tenths;
		}
	fw_page_ink(page, FW_INK_BOLD);
	put_row(page, &sum, 0, 2);
	fw_page_ink(page, FW_INK_PLAIN);
	for (size_t i = 0; i < count; i++)
		if (rows[i].is_idle == is_idle && rows[i].ns)
			put_row(page, &rows[i], most, 4);
}

void fw_text_ledger(struct fw_page *page, const struct fw_device_ledger *device)
{
	struct row rows[FW_CLASS_COUNT];
	struct row sum = { .name = "window", .ns = fw_window_ns(device), .tenths = 1000 };
	int64_t most;

	for (unsigned c = 0; c < FW_CLASS_COUNT; c++)
		rows[c] = (struct row){ .name = fw_class_id((enum fw_class)c),
					.ns = device->ns[c],
					.is_idle = fw_class_is_idle((enum fw_class)c) };
	most = settle(rows, FW_CLASS_COUNT);
	fw_page_heading(page, "Where the time went: every nanosecond has one owner");
	put_group(page, rows, FW_CLASS_COUNT, false, most);
	put_group(page, rows, FW_CLASS_COUNT, true, most);
	if (sum.ns > 0)
		put_row(page, &sum, 0, 2);
}

void fw_text_fill(struct fw_page *page, const struct fw_device_ledger *device)
{
	struct row rows[FW_FILL_COUNT];
	int64_t most;

	for (unsigned f = 0; f < FW_FILL_COUNT; f++)
		rows[f] = (struct row){ .name = fw_fill_id((enum fw_fill)f),
					.ns = device->fill_ns[f] };
	most = settle(rows, FW_FILL_COUNT);
	if (!most)
		return;
	fw_page_heading(page, "How full the compute time can have been (model, not measured)");
	for (unsigned f = 0; f < FW_FILL_COUNT; f++)
		if (rows[f].ns)
			put_row(page, &rows[f], most, 4);
}
