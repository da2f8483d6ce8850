/* Findings with their four parts, rules that could not look, blind spots, integrity. */
#include "report/sections.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "report/amounts.h"
#include "report/names.h"

#define INDENT       14
#define CODE_INDENT  18
#define LEAST_NAME   24 /* columns of a name that still tell something */
#define MOST_PLACES  3  /* rows of evidence with one label, the longest first */
#define OTHERS_WIDTH 21 /* columns before the title of a finding that is not shown in full */
#define FULL_MOST    3  /* findings of a device in full, unless all are asked for */

/* A finding of one device, in their order. */
struct shown {
	const struct fw_finding *finding;
	bool in_full;
};

static void put_cost(struct fw_page *page, const struct fw_finding *finding)
{
	const char *text = finding->harm ? finding->harm : "unknown";

	if (finding->cost_ns >= 0 && finding->share >= 0)
		text = fw_page_text(page, "%s, %.1f %% of the window",
				    fw_amount_time(finding->cost_ns).text, finding->share * 100);
	else if (finding->cost_ns >= 0)
		text = fw_page_text(page, "%s", fw_amount_time(finding->cost_ns).text);
	fw_page_item(page, "   cost", INDENT, text);
}

/*
 * Other names than those of kernels, such as of Python functions or "train.py:12 .item()", would lose a
 * part that tells.
 */
static bool is_kernel(const char *name)
{
	size_t len = strlen(name);

	if (strstr(name, ".py:"))
		return false;
	return strchr(name, '<') || !strncmp(name, "_Z", 2) || (len && name[len - 1] == ')');
}

/*
 * Evidence and the name it is about. Kernels are shortened and cut as in their table; what does not fit
 * behind the evidence has the next line.
 */
static void put_placed(struct fw_page *page, const char *label, unsigned indent, const char *text,
		       const char *place)
{
	bool is_short = is_kernel(place) && !page->full_names;
	const char *name = is_short ? fw_short_name(&page->arena, place) : place;
	size_t used = indent + fw_utf8_width(text, strlen(text)) + 2;

	if (is_short && used + LEAST_NAME <= page->columns)
		name = fw_page_cut(page, name, page->columns - (unsigned)used);
	else if (!page->full_names)
		name = fw_page_cut(page, name, page->columns - indent);
	if (page->full_names || !strchr(name, ' ') || strlen(name) < LEAST_NAME ||
	    used + fw_utf8_width(name, strlen(name)) <= page->columns) {
		fw_page_item(page, label, indent, fw_page_text(page, "%s, %s", text, name));
		return;
	}
	/* A name with blanks is not broken at them. */
	fw_page_item(page, label, indent, fw_page_text(page, "%s,", text));
	fw_str_repeat(page->out, " ", indent);
	fw_page_put(page, name);
	fw_page_end_line(page);
}

/* A label or a place that is the row above's is not said again. */
static void put_evidence(struct fw_page *page, const struct fw_finding *finding)
{
	const struct fw_evidence *rows = finding->evidence.data;
	const char *label = "", *place = "";
	size_t alike = 0;

	for (size_t i = 0; i < finding->evidence.len; i++) {
		const char *name = rows[i].place ? rows[i].place : "";
		bool is_same = !strcmp(rows[i].label, label), is_there = !strcmp(name, place);
		const char *head = i ? "" : "   evidence";
		const char *text =
			is_same ? rows[i].value
				: fw_page_text(page, "%s: %s", rows[i].label, rows[i].value);

		alike = is_same ? alike + 1 : 1;
		if (alike > MOST_PLACES && !page->all_findings)
			continue;
		if (is_there || !*name)
			fw_page_item(page, head, INDENT + (is_same ? 2 : 0), text);
		else
			put_placed(page, head, INDENT + (is_same ? 2 : 0), text, name);
		label = rows[i].label;
		place = name;
	}
}

/* The number of the finding among those printed before this one that says the same code; 0: none. */
static size_t said_before(const struct shown *shown, size_t before, const char *code)
{
	for (size_t n = 0; n < before; n++) {
		const struct fw_change *changes = shown[n].finding->changes.data;

		for (size_t i = 0; shown[n].in_full && i < shown[n].finding->changes.len; i++)
			if ((changes[i].pytorch && !strcmp(changes[i].pytorch, code)) ||
			    (changes[i].cuda && !strcmp(changes[i].cuda, code)))
				return n + 1;
	}
	return 0;
}

static void put_code(struct fw_page *page, const char *label, const char *code, size_t said_in)
{
	if (said_in && strchr(code, '\n'))
		fw_page_item(page, label, CODE_INDENT,
			     fw_page_text(page, "as in finding %zu", said_in));
	else
		fw_page_code(page, label, CODE_INDENT, code);
}

static void put_changes(struct fw_page *page, const struct shown *shown, size_t n)
{
	const struct fw_finding *finding = shown[n].finding;
	const struct fw_change *changes = finding->changes.data;

	for (size_t i = 0; i < finding->changes.len; i++) {
		fw_page_item(page, "   change", INDENT, changes[i].text);
		if (changes[i].pytorch)
			put_code(page, "   PyTorch", changes[i].pytorch,
				 said_before(shown, n, changes[i].pytorch));
		if (changes[i].cuda)
			put_code(page, "   CUDA C", changes[i].cuda,
				 said_before(shown, n, changes[i].cuda));
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

static void put_finding(struct fw_page *page, const struct shown *shown, size_t n, int64_t window)
{
	const struct fw_finding *finding = shown[n].finding;

	fw_str_printf(page->out, "\n%zu. ", n + 1);
	fw_page_ink(page, FW_INK_BOLD);
	fw_page_wrap(page, 3, 3, fw_page_text(page, "%s [%s]", finding->title, finding->id));
	fw_page_ink(page, FW_INK_PLAIN);
	if (!finding->is_all_clear)
		put_cost(page, finding);
	put_evidence(page, finding);
	put_changes(page, shown, n);
	if (!finding->is_all_clear && !finding->harm)
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

/* Whether a finding stands in full beside a dearer one. */
static bool is_large(const struct fw_finding *finding)
{
	return finding->is_all_clear || finding->share < 0 || finding->share >= FW_SHARE_SECOND;
}

/* Whether removing the cause can gain enough to be read about. */
static bool can_gain(const struct fw_finding *finding, int64_t window)
{
	return finding->is_all_clear || finding->at_most_ns < 0 || window <= 0 ||
	       (double)finding->at_most_ns >= FW_SHARE_WORTH_READING * (double)window;
}

/* The first that can gain something, else the first. */
static size_t find_first(const struct shown *shown, size_t count, int64_t window)
{
	size_t i = 0;

	while (i < count && !can_gain(shown[i].finding, window))
		i++;
	return i < count ? i : 0;
}

/* Puts those that are shown in full before the others, each part in the order of cost; returns how many. */
static size_t choose(const struct fw_page *page, struct shown *shown, size_t count, int64_t window)
{
	size_t first = find_first(shown, count, window), full = 0;

	for (size_t i = 0; i < count; i++) {
		struct shown it = shown[i];

		it.in_full =
			page->all_findings || i == first ||
			(full < FULL_MOST && is_large(it.finding) && can_gain(it.finding, window));
		if (it.in_full) {
			memmove(&shown[full + 1], &shown[full], (i - full) * sizeof(it));
			shown[full++] = it;
		}
	}
	return full;
}

static const char *share_text(struct fw_page *page, const struct fw_finding *f, double share)
{
	if (f->harm)
		return "none";
	return share < 0 ? "?" : fw_page_text(page, "%.1f %%", share * 100);
}

/* A line for each finding from the given one on. */
static void put_others(struct fw_page *page, const struct shown *shown, size_t from, size_t count,
		       int64_t window)
{
	if (from < count)
		fw_page_put(page,
			    "\n      cost  gain <=  others (--all-findings shows them in full)\n");
	for (size_t i = from; i < count; i++) {
		const struct fw_finding *f = shown[i].finding;
		double gain = f->at_most_ns < 0 || window <= 0
				      ? -1
				      : (double)f->at_most_ns / (double)window;

		fw_page_printf(page, "%zu.", i + 1);
		fw_str_repeat(page->out, " ", i + 1 < 10 ? 1 : 0);
		fw_page_cell_right(page, share_text(page, f, f->share), 7);
		fw_page_cell_right(page, share_text(page, f, gain), 9);
		fw_str_puts(page->out, "  ");
		fw_page_put(page, fw_page_cut(page, fw_page_text(page, "%s [%s]", f->title, f->id),
					      page->columns - OTHERS_WIDTH));
		fw_page_end_line(page);
	}
}

/* The findings of a device, in their order; count is not more than the list holds. */
static struct shown *collect(struct fw_page *page, const struct fw_vec *list, uint32_t device,
			     size_t *count)
{
	const struct fw_finding *findings = list->data;
	struct shown *shown = fw_arena_alloc(&page->arena, (list->len + 1) * sizeof(*shown));

	*count = 0;
	if (!shown) {
		page->out->failed = true;
		return NULL;
	}
	for (size_t i = 0; i < list->len; i++)
		if (findings[i].device == device)
			shown[(*count)++].finding = &findings[i];
	return shown;
}

void fw_text_findings(struct fw_page *page, const struct fw_report *report, uint32_t device)
{
	int64_t window = device == FW_NONE ? -1 : fw_window_ns(&report->ledger->devices[device]);
	size_t count, full;
	struct shown *shown = collect(page, &report->findings.list, device, &count);

	if (!count)
		return;
	full = choose(page, shown, count, window);
	fw_page_heading(page, "Findings, by cost (costs may overlap: do not add them)");
	for (size_t i = 0; i < full; i++)
		put_finding(page, shown, i, window);
	put_others(page, shown, full, count, window);
	put_reasons(page, report, device);
}
