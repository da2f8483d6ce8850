/* The report for people: verdict, ledger, findings, kernels, and what could not be seen. */
#include "report/report.h"

#include <inttypes.h>
#include <string.h>

#include "report/amounts.h"
#include "report/sections.h"

#define DEFAULT_KERNELS 15
#define SUMMARY_WIDTH   65 /* columns of the table of devices before the file's name */

static void put_files(struct fw_page *page, const struct fw_trace *trace)
{
	size_t refused = 0, used;

	if (trace->files.len == 1) {
		fw_page_printf(page, "%s\n", fw_trace_text(trace, trace->files.path[0]));
		return;
	}
	for (size_t i = 0; i < trace->files.len; i++)
		refused += trace->files.refused[i] != 0;
	used = trace->files.len - refused;
	fw_page_printf(page, "%zu trace%s", used, used == 1 ? "" : "s");
	if (refused)
		fw_page_printf(page, ", and %zu that could not be used (see Trace integrity)",
			       refused);
	fw_page_put(page, "\n");
}

static void put_verdict(struct fw_page *page, const char *verdict)
{
	fw_str_putc(page->out, '\n');
	fw_page_ink(page, FW_INK_BOLD);
	fw_page_wrap(page, 0, 0, verdict);
	fw_page_ink(page, FW_INK_PLAIN);
}

/* Time in which kernels ran that can fill the GPU; -1 where that is unknown for most of it. */
static int64_t full_ns(const struct fw_device_ledger *device)
{
	return device->fill_ns[FW_FILL_UNKNOWN] <= device->ns[FW_CLASS_COMPUTE] / 2
		       ? device->fill_ns[FW_FILL_FULL]
		       : -1;
}

/* What the GPU waited for most; NULL: it was never idle. */
static const char *largest_idle(const struct fw_device_ledger *device)
{
	const char *name = NULL;
	int64_t most = 0;

	for (unsigned c = 0; c < FW_CLASS_COUNT; c++)
		if (fw_class_is_idle((enum fw_class)c) && device->ns[c] > most) {
			most = device->ns[c];
			name = fw_class_id((enum fw_class)c);
		}
	return name;
}

/* part of whole in percent, "?" where it is unknown, for a column whose head says %. */
static const char *percent(struct fw_page *page, int64_t part, int64_t whole)
{
	if (part < 0 || whole <= 0)
		return "?";
	return fw_page_text(page, "%.1f", (double)part * 100 / (double)whole);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void put_summary_row(struct fw_page *page, const struct fw_trace *trace,
			    const struct fw_device_ledger *device)
{
	uint32_t file = trace->devices.file[device->device];
	int32_t rank = trace->files.rank[file];
	int64_t window = fw_window_ns(device);
	const char *idle = largest_idle(device);

	fw_page_printf(page, "  %6" PRId64 " %4s %10.3f %6s %6s %6s  %-16s  ",
		       trace->devices.id[device->device],
		       rank < 0 ? "?" : fw_page_text(page, "%" PRId32, rank), (double)window / 1e6,
		       percent(page, device->kernel_busy_ns, window),
		       percent(page, full_ns(device), window),
		       percent(page, fw_idle_ns(device), window), idle ? idle : "never idle");
	fw_page_cell(page, base_name(fw_trace_text(trace, trace->files.path[file])),
		     page->columns > SUMMARY_WIDTH ? page->columns - SUMMARY_WIDTH : 0);
	fw_page_end_line(page);
}

static void put_summary(struct fw_page *page, const struct fw_ledger *ledger)
{
	fw_page_heading(page, "Devices (in % of each window; full: model)");
	fw_page_ink(page, FW_INK_DIM);
	fw_page_printf(page, "  %6s %4s %10s %6s %6s %6s  %-16s  %s\n", "device", "rank",
		       "window ms", "busy", "full", "idle", "mostly", "file");
	fw_page_ink(page, FW_INK_PLAIN);
	for (size_t i = 0; i < ledger->device_count; i++)
		put_summary_row(page, ledger->trace, &ledger->devices[i]);
}

/* "NVIDIA H200, compute capability 9.0, 132 SMs": what is known of it. */
static void put_device_line(struct fw_page *page, const struct fw_trace *trace, uint32_t device)
{
	uint32_t file = trace->devices.file[device];
	int32_t cc = trace->devices.cc[device], sms = trace->devices.sms[device];

	fw_page_ink(page, FW_INK_BOLD);
	fw_page_printf(page, "GPU %" PRId64 ": %s", trace->devices.id[device],
		       trace->devices.name[device]
			       ? fw_trace_text(trace, trace->devices.name[device])
			       : "model unknown");
	if (cc >= 0 && !trace->devices.is_amd[device])
		fw_page_printf(page, ", compute capability %" PRId32 ".%" PRId32, cc / 10, cc % 10);
	if (sms >= 0)
		fw_page_printf(page, ", %" PRId32 " %s", sms,
			       trace->devices.is_amd[device] ? "CUs" : "SMs");
	if (trace->files.rank[file] >= 0)
		fw_page_printf(page, ", rank %" PRId32, trace->files.rank[file]);
	if (trace->files.host[file])
		fw_page_printf(page, " on %s", fw_trace_text(trace, trace->files.host[file]));
	fw_page_ink(page, FW_INK_PLAIN);
	fw_str_putc(page->out, '\n');
}

static const char *window_origin(struct fw_page *page, const struct fw_window *window)
{
	const char *what = window->source == FW_WINDOW_STEPS ? "annotated steps"
							     : "repetitions of the kernel sequence";

	switch (window->source) {
	case FW_WINDOW_ALL: return "the whole trace, warm-up included (--all)";
	case FW_WINDOW_USER: return "given with --window";
	case FW_WINDOW_FALLBACK:
		return "the whole trace: fewer than 3 steps were found, so warm-up is not told "
		       "apart";
	case FW_WINDOW_STEPS:
	case FW_WINDOW_PATTERN: break;
	}
	if (!window->dropped_steps)
		return fw_page_text(page, "%" PRId64 " steady %s", window->steps, what);
	return fw_page_text(page,
			    "%" PRId64 " steady %s; %" PRId64 " before them left out as warm-up",
			    window->steps, what, window->dropped_steps);
}

static void put_window(struct fw_page *page, const struct fw_device_ledger *device)
{
	const struct fw_window *window = &device->window;
	const char *text = fw_page_text(
		page, "%s, from %s to %s: %s", fw_amount_time(fw_window_ns(device)).text,
		fw_amount_ms(window->start_ns).text, fw_amount_ms(window->end_ns).text,
		window_origin(page, window));

	fw_page_item(page, "window", 8, text);
}

static void put_tile(struct fw_page *page, const char *label, struct fw_amount value)
{
	fw_page_printf(page, "  %s ", label);
	fw_page_ink(page, FW_INK_BOLD);
	fw_page_printf(page, "%s", value.text);
	fw_page_ink(page, FW_INK_PLAIN);
	fw_str_puts(page->out, "  ");
}

static void put_three_numbers(struct fw_page *page, const struct fw_device_ledger *device)
{
	int64_t window = fw_window_ns(device);

	fw_str_putc(page->out, '\n');
	put_tile(page, "GPU busy", fw_amount_share(device->kernel_busy_ns, window));
	put_tile(page, "full (model)", fw_amount_share(full_ns(device), window));
	put_tile(page, "idle", fw_amount_share(fw_idle_ns(device), window));
	fw_page_end_line(page);
}

static void put_device(struct fw_page *page, const struct fw_report *report, size_t index,
		       unsigned kernels)
{
	const struct fw_trace *trace = report->ledger->trace;
	const struct fw_device_ledger *device = &report->ledger->devices[index];

	fw_str_putc(page->out, '\n');
	put_device_line(page, trace, device->device);
	put_window(page, device);
	put_three_numbers(page, device);
	fw_text_ledger(page, device);
	fw_text_findings(page, report, (uint32_t)index);
	fw_text_fill(page, device);
	fw_text_kernels(page, trace, device, kernels);
}

static void put_all(struct fw_page *page, const struct fw_report *report, unsigned kernels)
{
	const struct fw_trace *trace = report->ledger->trace;

	put_verdict(page, report->verdict);
	if (report->ledger->device_count > 1)
		put_summary(page, report->ledger);
	for (size_t i = 0; i < report->ledger->device_count; i++)
		put_device(page, report, i, kernels);
	fw_text_findings(page, report, FW_NONE);
	fw_text_unable(page, report);
	fw_text_blind_spots(page, trace);
	fw_text_integrity(page, trace);
	fw_str_putc(page->out, '\n');
	fw_page_ink(page, FW_INK_DIM);
	fw_page_wrap(page, 0, 0,
		     "'fullwarp report --explain' says what each class and number means, 'fullwarp "
		     "rules ID' more about a finding.");
	fw_page_ink(page, FW_INK_PLAIN);
}

static void put_kernels(struct fw_page *page, const struct fw_report *report, unsigned kernels)
{
	for (size_t i = 0; i < report->ledger->device_count; i++) {
		const struct fw_device_ledger *device = &report->ledger->devices[i];

		fw_str_putc(page->out, '\n');
		put_device_line(page, report->ledger->trace, device->device);
		put_window(page, device);
		fw_text_kernels(page, report->ledger->trace, device, kernels);
	}
}

void fw_write_text(const struct fw_report *report, const struct fw_report_style *style,
		   struct fw_str *out)
{
	unsigned kernels = style->kernels ? style->kernels : DEFAULT_KERNELS;
	struct fw_page page;

	fw_page_init(&page, style, out);
	put_files(&page, report->ledger->trace);
	if (style->only_kernels)
		put_kernels(&page, report, kernels);
	else
		put_all(&page, report, kernels);
	if (style->explain)
		fw_text_explanation(&page);
	fw_page_release(&page);
}
