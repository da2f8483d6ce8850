/* Findings with their four parts, rules that could not look, blind spots, integrity. */
#include "report/sections.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "report/amounts.h"
#include "report/names.h"

#define INDENT       14
#define CODE_INDENT  18
#define PLACE_MARGIN 30 /* columns that a line of evidence keeps for indent and value */

static void put_cost(struct fw_page *page, const struct fw_finding *finding)
{
	const char *text = "unknown";

	if (finding->cost_ns >= 0 && finding->share >= 0)
		text = fw_page_text(page, "%s, %.1f %% of the window",
				    fw_amount_time(finding->cost_ns).text, finding->share * 100);
	else if (finding->cost_ns >= 0)
		text = fw_page_text(page, "%s", fw_amount_time(finding->cost_ns).text);
	fw_page_item(page, "   cost", INDENT, text);
}

/*
 * Kernels are shortened as in the table; other names would lose a part that tells. What is longer than
 * most of a line is cut.
 */
static const char *place_name(struct fw_page *page, const char *place)
{
	bool is_kernel = strchr(place, '<') || !strncmp(place, "_Z", 2);
	const char *name = is_kernel ? fw_short_name(&page->arena, place) : place;

	return page->full_names ? place : fw_page_cut(page, name, page->columns - PLACE_MARGIN);
}

/* A label or a place that is the row above's is not said again. */
static void put_evidence(struct fw_page *page, const struct fw_finding *finding)
{
	const struct fw_evidence *rows = finding->evidence.data;
	const char *label = "", *place = "";

	for (size_t i = 0; i < finding->evidence.len; i++) {
		const char *name = rows[i].place ? rows[i].place : "";
		bool is_same = !strcmp(rows[i].label, label), is_there = !strcmp(name, place);
		const char *text = fw_page_text(page, "%s%s%s%s%s", is_same ? "" : rows[i].label,
						is_same ? "" : ": ", rows[i].value,
						is_there || !*name ? "" : ", ",
						is_there ? "" : place_name(page, name));

		fw_page_item(page, i ? "" : "   evidence", INDENT + (is_same ? 2 : 0), text);
		label = rows[i].label;
		place = name;
	}
}

static void put_changes(struct fw_page *page, const struct fw_finding *finding)
{
	const struct fw_change *changes = finding->changes.data;

	for (size_t i = 0; i < finding->changes.len; i++) {
		fw_page_item(page, "   change", INDENT, changes[i].text);
		if (changes[i].pytorch)
			fw_page_code(page, "   PyTorch", CODE_INDENT, changes[i].pytorch);
		if (changes[i].cuda)
			fw_page_code(page, "   CUDA C", CODE_INDENT, changes[i].cuda);
		if (changes[i].when)
			fw_page_item(page, "   helps when", INDENT, changes[i].when);
	}
}

static void put_gain(struct fw_page *page, const struct fw_finding *finding, int64_t window)
{
	const struct fw_prediction *p = finding->prediction;
	const char *text = "unknown";

	if (p)
		text = fw_page_text(page, "%s (%s to %s), if %s", fw_amount_time(p->best_ns).text,
				    fw_amount_time(p->low_ns).text, fw_amount_time(p->high_ns).text,
				    p->assumption);
	else if (finding->at_most_ns >= 0)
		text = fw_page_text(page, "at most %s, %s of the window",
				    fw_amount_time(finding->at_most_ns).text,
				    fw_amount_share(finding->at_most_ns, window).text);
	fw_page_item(page, "   gain", INDENT, text);
}

static void put_cautions(struct fw_page *page, const struct fw_finding *finding)
{
	const char *label = "   caution";

	for (unsigned b = 0; b < FW_BLIND_COUNT; b++)
		if (finding->blind_spots & 1u << b) {
			fw_page_item(page, label, INDENT,
				     fw_blind_spot_text((enum fw_blind_spot)b));
			label = "";
		}
}

static void put_finding(struct fw_page *page, const struct fw_finding *finding, size_t number,
			int64_t window)
{
	fw_str_printf(page->out, "\n%zu. ", number);
	fw_page_ink(page, FW_INK_BOLD);
	fw_page_wrap(page, 3, 3, fw_page_text(page, "%s [%s]", finding->title, finding->id));
	fw_page_ink(page, FW_INK_PLAIN);
	put_cost(page, finding);
	put_evidence(page, finding);
	put_changes(page, finding);
	put_gain(page, finding, window);
	put_cautions(page, finding);
}

/* Why there is no prediction: once for all findings in a row that say the same. */
static void put_reasons(struct fw_page *page, const struct fw_report *report, uint32_t device)
{
	const struct fw_finding *findings = report->findings.list.data;
	const char *said = NULL;

	for (size_t i = 0; i < report->findings.list.len; i++) {
		const char *reason = findings[i].prediction ? NULL : findings[i].no_prediction;

		if (findings[i].device != device || !reason || !*reason ||
		    (said && !strcmp(said, reason)))
			continue;
		fw_str_putc(page->out, '\n');
		fw_page_ink(page, FW_INK_DIM);
		fw_page_wrap(
			page, 0, 0,
			fw_page_text(page, "%c%s.", toupper((unsigned char)*reason), reason + 1));
		fw_page_ink(page, FW_INK_PLAIN);
		said = reason;
	}
}

void fw_text_findings(struct fw_page *page, const struct fw_report *report, uint32_t device)
{
	const struct fw_finding *findings = report->findings.list.data;
	int64_t window = device == FW_NONE ? -1 : fw_window_ns(&report->ledger->devices[device]);
	size_t number = 0;

	for (size_t i = 0; i < report->findings.list.len; i++) {
		if (findings[i].device != device)
			continue;
		if (!number)
			fw_page_heading(page,
					"Findings, by cost (costs may overlap: do not add them)");
		put_finding(page, &findings[i], ++number, window);
	}
	put_reasons(page, report, device);
}

void fw_text_unable(struct fw_page *page, const struct fw_report *report)
{
	const struct fw_unable *rows = report->findings.unable.data;

	if (!report->findings.unable.len)
		return;
	fw_page_heading(page, "Rules that could not look: that is not 'no problem'");
	for (size_t i = 0; i < report->findings.unable.len; i++) {
		const char *text = fw_page_text(page, "%s: lacks %s; to capture it: %s", rows[i].id,
						rows[i].lacks, rows[i].capture);

		fw_page_item(page, "  -", 4, text);
	}
}

void fw_text_blind_spots(struct fw_page *page, const struct fw_trace *trace)
{
	if (!trace->blind_spots)
		return;
	fw_page_heading(page, "What this trace could not show");
	for (unsigned b = 0; b < FW_BLIND_COUNT; b++) {
		enum fw_blind_spot spot = (enum fw_blind_spot)b;

		if (!(trace->blind_spots & 1u << b))
			continue;
		fw_page_item(page, "  -", 4, fw_blind_spot_text(spot));
		fw_page_item(page, page->ascii ? "   ->" : "    →", 6, fw_blind_spot_remedy(spot));
	}
}

static bool put_flaw(struct fw_page *page, uint64_t count, const char *text)
{
	if (!count)
		return false;
	fw_page_printf(page, "  %8" PRIu64 "  ", count);
	fw_page_wrap(page, 12, 12, text);
	return true;
}

void fw_text_integrity(struct fw_page *page, const struct fw_trace *trace)
{
	const struct fw_integrity *integrity = &trace->integrity;
	bool is_partial = false, is_flawed = false, is_refused = false;

	fw_page_heading(page, "Trace integrity");
	fw_page_printf(page, "  %8" PRIu64 "  records were read\n", integrity->events);
#define FW_FLAW(name, partial, text)                                                               \
	if (put_flaw(page, integrity->name, text)) {                                               \
		is_flawed = true;                                                                  \
		is_partial = is_partial || (partial);                                              \
	}
#include "trace/integrity.def"
#undef FW_FLAW
	for (size_t i = 0; i < trace->files.len; i++)
		if (trace->files.refused[i]) {
			fw_page_item(page, "  not used:", 12,
				     fw_trace_text(trace, trace->files.refused[i]));
			is_refused = true;
		}
	if (!is_flawed && !is_refused)
		fw_page_put(page, "  nothing had to be skipped or repaired\n");
	if (is_flawed && integrity->first_flaw_offset != UINT64_MAX)
		fw_page_printf(page, "  the first of these is at byte %" PRIu64 "\n",
			       integrity->first_flaw_offset);
	if (is_partial)
		fw_page_item(page, "  partial:", 11,
			     "records are missing, so sums are lower than they were and idle time "
			     "may be higher");
}
