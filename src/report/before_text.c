/* What was paid before the window, and is in none of its figures. */
#include "report/sections.h"

#include <inttypes.h>

#include "report/amounts.h"
#include "rules/before.h"

static const char *plural(int64_t count)
{
	return count == 1 ? "" : "s";
}

static const char *add_loading(struct fw_page *page, const struct fw_report *report,
			       const struct fw_before *b, const char *text)
{
	const struct fw_trace *trace = report->ledger->trace;
	const struct fw_trace_calls *calls = &trace->calls;

	if (!b->has_calls || b->longest == FW_NONE)
		return text;
	text = fw_page_text(page, "%s, loading and first calls %s (%" PRId64 " call%s", text,
			    fw_amount_time(b->loading_ns).text, b->loading_calls,
			    plural(b->loading_calls));
	return fw_page_text(
		page, "%s, the longest %s with %s)", text,
		fw_trace_text(trace, calls->name[b->longest]),
		fw_amount_time(calls->end_ns[b->longest] - calls->start_ns[b->longest]).text);
}

void fw_text_before(struct fw_page *page, const struct fw_report *report, size_t device)
{
	const struct fw_before *b = report->findings.before;
	int64_t steps = report->ledger->devices[device].window.dropped_steps;
	const char *text;

	if (!b || b[device].duration_ns <= 0)
		return;
	b += device;
	if (steps <= 0 && b->longest == FW_NONE && !b->alloc_calls && !b->compilations)
		return;
	text = fw_page_text(page, "the GPU was busy %s of it", fw_amount_time(b->gpu_busy_ns).text);
	if (steps > 0)
		text = fw_page_text(page, "%" PRId64 " warm-up step%s; %s", steps, plural(steps),
				    text);
	text = add_loading(page, report, b, text);
	if (b->has_calls && b->alloc_calls)
		text = fw_page_text(page, "%s, allocation %s (%" PRId64 " call%s)", text,
				    fw_amount_time(b->alloc_ns).text, b->alloc_calls,
				    plural(b->alloc_calls));
	if (b->compilations)
		text = fw_page_text(page, "%s, compilation %s (%" PRId64 " time%s)", text,
				    fw_amount_time(b->compile_ns).text, b->compilations,
				    plural(b->compilations));
	fw_page_heading(page,
			fw_page_text(page, "Before the window: %s, in none of the figures above",
				     fw_amount_time(b->duration_ns).text));
	fw_str_puts(page->out, "  ");
	fw_page_wrap(page, 2, 2, fw_page_text(page, "%s.", text));
}
