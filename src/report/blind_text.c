/* What the trace could not show, which rules could not look for that, and what was skipped. */
#include "report/sections.h"

#include "report/recording_text.h"

#include <inttypes.h>
#include <string.h>

/* "input-bound, straggler": the rules that ask for what `capture` records; NULL: none. */
static const char *askers(struct fw_page *page, const struct fw_vec *unable, const char *capture)
{
	const struct fw_unable *rows = unable->data;
	const char *list = NULL;

	for (size_t i = 0; i < unable->len; i++)
		if (!strcmp(rows[i].capture, capture))
			list = list ? fw_page_text(page, "%s, %s", list, rows[i].id) : rows[i].id;
	return list;
}

static void put_blind(struct fw_page *page, const char *text, const char *rules, const char *remedy)
{
	if (rules)
		text = fw_page_text(page, "%s (could not look: %s)", text, rules);
	fw_page_item(page, "  -", 4, text);
	fw_page_item(page, page->ascii ? "   ->" : "    →", 6, remedy);
}

/* What a rule lacks that is no blind spot of the trace; what several lack the same way is said once. */
static void put_unable(struct fw_page *page, const struct fw_vec *unable,
		       const struct fw_trace *trace)
{
	const struct fw_unable *rows = unable->data;

	for (size_t i = 0; i < unable->len; i++) {
		bool is_said = false;

		for (size_t k = 0; k < i && !is_said; k++)
			is_said = !strcmp(rows[k].capture, rows[i].capture);
		for (unsigned b = 0; b < FW_BLIND_COUNT && !is_said; b++)
			is_said = (trace->blind_spots & 1u << b) &&
				  !strcmp(fw_blind_spot_remedy(trace, (enum fw_blind_spot)b),
					  rows[i].capture);
		if (!is_said)
			put_blind(page, fw_page_text(page, "missing: %s", rows[i].lacks),
				  askers(page, unable, rows[i].capture), rows[i].capture);
	}
}

void fw_text_blind_spots(struct fw_page *page, const struct fw_report *report)
{
	const struct fw_vec *unable = &report->findings.unable;
	const struct fw_trace *trace = report->ledger->trace;
	uint32_t blind_spots = trace->blind_spots;

	if (!blind_spots && !unable->len && !fw_recording_lacks(trace))
		return;
	fw_page_heading(page,
			"What this trace could not show ('could not look' is not 'no problem')");
	for (unsigned b = 0; b < FW_BLIND_COUNT; b++) {
		const char *remedy = fw_blind_spot_remedy(trace, (enum fw_blind_spot)b);

		if (blind_spots & 1u << b)
			put_blind(page, fw_blind_spot_text((enum fw_blind_spot)b),
				  askers(page, unable, remedy), remedy);
	}
	put_unable(page, unable, trace);
	fw_text_not_recorded(page, trace);
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
	fw_text_clock_error(page, trace);
	if (is_partial)
		fw_page_item(page, "  partial:", 11,
			     "records are missing, so sums are lower than they were and idle time "
			     "may be higher");
}
