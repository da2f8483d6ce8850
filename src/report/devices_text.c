/* Several devices side by side, and which of them are worth a section of their own. */
#include "report/sections.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/amounts.h"

#define FILE_COLUMN 69 /* where the file's name begins */

/* Of more devices than the first number only so many have a section. */
#define MANY_DEVICES  4
#define SHOWN_OF_MANY 3

/* part of whole in percent, "?" where it is unknown, for a column whose head says %. */
static const char *percent(struct fw_page *page, int64_t part, int64_t whole)
{
	if (part < 0 || whole <= 0)
		return "?";
	return fw_page_text(page, "%.1f", (double)part * 100 / (double)whole);
}

/* Without folder and usual endings, which all ranks share. */
static const char *file_name(struct fw_page *page, const char *path)
{
	static const char *const endings[] = { ".gz", ".zst", ".json", ".trace", ".pt" };
	const char *slash = strrchr(path, '/'), *name = slash && slash[1] ? slash + 1 : path;
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t n = strlen(endings[i]);

		if (len > n && !strncmp(name + len - n, endings[i], n))
			len -= n;
	}
	return fw_page_text(page, "%.*s", (int)len, name);
}

static int32_t rank_of(const struct fw_trace *trace, uint32_t device)
{
	return trace->files.rank[trace->devices.file[device]];
}

static const char *cause_text(struct fw_page *page, const struct fw_report *report, size_t index)
{
	double share;
	const char *id = fw_top_cause(report->ledger, &report->findings, index, &share);

	return id ? fw_page_text(page, "%s %.0f %%", id, 100 * share) : "none over 5 %";
}

static void put_row(struct fw_page *page, const struct fw_report *report, size_t index)
{
	const struct fw_trace *trace = report->ledger->trace;
	const struct fw_device_ledger *device = &report->ledger->devices[index];
	int32_t rank = rank_of(trace, device->device);
	int64_t window = fw_window_ns(device);
	uint32_t file = trace->devices.file[device->device];

	fw_page_printf(page, "  %4s %4" PRId64 " %9.1f %6s %6s %6s  ",
		       rank < 0 ? "?" : fw_page_text(page, "%" PRId32, rank),
		       trace->devices.id[device->device], (double)window / 1e6,
		       percent(page, device->kernel_busy_ns, window),
		       percent(page, fw_idle_ns(device), window),
		       percent(page, device->ns[FW_CLASS_COLLECTIVE], window));
	fw_page_cell(page, cause_text(page, report, index), 25);
	fw_str_puts(page->out, "  ");
	if (page->columns > FILE_COLUMN)
		fw_page_put(page,
			    fw_page_cut_front(
				    page,
				    file_name(page, fw_trace_text(trace, trace->files.path[file])),
				    page->columns - FILE_COLUMN));
	fw_page_end_line(page);
}

/* What sorting needs of a device. */
struct place {
	size_t index;
	int64_t key; /* the smaller the earlier; ties keep the order of the files */
};

static int by_key(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static struct place *take_places(struct fw_page *page, const struct fw_ledger *ledger)
{
	struct place *places =
		fw_arena_array(&page->arena, ledger->device_count + 1, sizeof(*places));

	if (!places)
		page->out->failed = true;
	for (size_t i = 0; places && i < ledger->device_count; i++)
		places[i].index = i;
	return places;
}

void fw_text_devices(struct fw_page *page, const struct fw_report *report)
{
	const struct fw_ledger *ledger = report->ledger;
	struct place *places = take_places(page, ledger);

	if (!places)
		return;
	for (size_t i = 0; i < ledger->device_count; i++) {
		int32_t rank = rank_of(ledger->trace, ledger->devices[i].device);

		places[i].key = rank < 0 ? INT64_MAX : rank;
	}
	qsort(places, ledger->device_count, sizeof(*places), by_key);
	fw_page_heading(page, "Ranks: busy, idle and in collectives alone, in % of each window");
	fw_page_ink(page, FW_INK_DIM);
	fw_page_printf(page, "  %4s %4s %9s %6s %6s %6s  %-25s  %s", "rank", "GPU", "window ms",
		       "busy", "idle", "coll.", "top cause",
		       page->columns > FILE_COLUMN + 4 ? "file" : "");
	fw_page_end_line(page);
	fw_page_ink(page, FW_INK_PLAIN);
	for (size_t i = 0; i < ledger->device_count; i++)
		put_row(page, report, places[i].index);
}

static const char *name_in_list(struct fw_page *page, const struct fw_trace *trace, uint32_t device)
{
	uint32_t file = trace->devices.file[device];
	int32_t rank = rank_of(trace, device);
	const char *of = rank < 0 ? file_name(page, fw_trace_text(trace, trace->files.path[file]))
				  : fw_page_text(page, "rank %" PRId32, rank);

	return fw_page_text(page, "GPU %" PRId64 " of %s", trace->devices.id[device], of);
}

static void say_which(struct fw_page *page, const struct fw_report *report,
		      const struct place *places, size_t count)
{
	const struct fw_ledger *ledger = report->ledger;
	const char *list = "";

	for (size_t i = 0; i < count; i++)
		list = fw_page_text(
			page, "%s%s%s", list, i ? ", " : "",
			name_in_list(page, ledger->trace, ledger->devices[places[i].index].device));
	fw_str_putc(page->out, '\n');
	fw_page_wrap(
		page, 0, 0,
		fw_page_text(page,
			     "In detail: the %zu of %zu that were idle most: %s. --all-devices "
			     "shows all.",
			     count, ledger->device_count, list));
}

const size_t *fw_text_choose_devices(struct fw_page *page, const struct fw_report *report,
				     bool is_all, size_t *count)
{
	const struct fw_ledger *ledger = report->ledger;
	struct place *places = take_places(page, ledger);
	size_t *chosen = fw_arena_array(&page->arena, ledger->device_count + 1, sizeof(*chosen));

	*count = ledger->device_count;
	if (!places || !chosen) {
		page->out->failed = true;
		return NULL;
	}
	if (!is_all && *count > MANY_DEVICES) {
		/* Parts in a million of the window; what has none comes last. */
		for (size_t i = 0; i < *count; i++) {
			int64_t window = fw_window_ns(&ledger->devices[i]);

			places[i].key =
				window > 0 ? -(int64_t)((double)fw_idle_ns(&ledger->devices[i]) *
							1e6 / (double)window)
					   : INT64_MAX;
		}
		qsort(places, *count, sizeof(*places), by_key);
		*count = SHOWN_OF_MANY;
		say_which(page, report, places, *count);
	}
	for (size_t i = 0; i < *count; i++)
		chosen[i] = places[i].index;
	return chosen;
}
