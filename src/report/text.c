/* The report for people: verdict, ledger, findings, kernels, and what could not be seen. */
#include "report/report.h"

#include <inttypes.h>

#include "report/amounts.h"
#include "report/recording_text.h"
#include "report/sections.h"

static void put_files(struct fw_page *page, const struct fw_trace *trace)
{
	size_t refused = 0, used;

	if (trace->source == FW_SOURCE_RECORDING) {
		fw_text_recording_files(page, trace);
		return;
	}
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
	fw_text_before(page, report, index);
	fw_text_fill(page, device);
	fw_text_counters(page, report, index);
	fw_text_kernels(page, trace, device, kernels);
}

static void put_all(struct fw_page *page, const struct fw_report *report,
		    const struct fw_report_style *style)
{
	const size_t *devices;
	size_t count;

	put_verdict(page, report->verdict);
	if (report->ledger->device_count > 1)
		fw_text_devices(page, report);
	devices = fw_text_choose_devices(page, report, style->all_devices, &count);
	for (size_t i = 0; devices && i < count; i++)
		put_device(page, report, devices[i], style->kernels);
	fw_text_findings(page, report, FW_NONE);
	fw_text_blind_spots(page, report);
	fw_text_integrity(page, report->ledger->trace);
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
	struct fw_page page;

	fw_page_init(&page, style, out);
	put_files(&page, report->ledger->trace);
	if (style->only_kernels)
		put_kernels(&page, report, style->kernels);
	else
		put_all(&page, report, style);
	if (style->explain)
		fw_text_explanation(&page);
	fw_page_release(&page);
}
