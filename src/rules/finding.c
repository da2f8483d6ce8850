/* Building findings: every string is copied into the findings' arena. */
#include "rules/rule.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/amount.h"

/* Evidence values are short; what does not fit is cut. */
#define VALUE_BYTES 256

static const char *keep(struct fw_findings *findings, const char *text)
{
	const char *copy;

	if (!text)
		return NULL;
	copy = fw_arena_strndup(&findings->arena, text, strlen(text));
	if (!copy)
		findings->failed = true;
	return copy ? copy : "";
}

const char *fw_finding_text(struct fw_findings *findings, const char *fmt, ...)
{
	char text[4 * VALUE_BYTES];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return keep(findings, text);
}

const char *fw_ns_text(struct fw_findings *findings, int64_t ns)
{
	return keep(findings, fw_amount_time(ns).text);
}

struct fw_finding *fw_finding_add(struct fw_findings *findings, const struct fw_rule *rule,
				  size_t device, const char *title)
{
	struct fw_finding *finding = fw_vec_push(&findings->list);

	if (!finding) {
		findings->failed = true;
		return NULL;
	}
	finding->id = rule->id;
	finding->clause = rule->clause;
	finding->device = (uint32_t)device;
	finding->rank = (uint32_t)findings->list.len;
	finding->title = keep(findings, title);
	finding->cost_ns = finding->at_most_ns = -1;
	finding->share = -1;
	finding->evidence = (struct fw_vec)FW_VEC(struct fw_evidence);
	finding->changes = (struct fw_vec)FW_VEC(struct fw_change);
	finding->no_prediction =
		"no replay was made: 'at most' is an upper bound, not a prediction";
	return finding;
}

void fw_finding_cost(struct fw_finding *finding, const struct fw_device_ledger *device,
		     int64_t cost_ns, int64_t at_most_ns)
{
	int64_t window = device->window.end_ns - device->window.start_ns;

	if (!finding)
		return;
	finding->cost_ns = cost_ns;
	finding->share = window > 0 ? (double)cost_ns / (double)window : -1;
	finding->at_most_ns = at_most_ns;
}

void fw_finding_evidence(struct fw_findings *findings, struct fw_finding *finding,
			 const char *place, const char *label, const char *fmt, ...)
{
	char value[VALUE_BYTES];
	struct fw_evidence *row;
	va_list args;

	if (!finding)
		return;
	row = fw_vec_push(&finding->evidence);
	if (!row) {
		findings->failed = true;
		return;
	}
	va_start(args, fmt);
	vsnprintf(value, sizeof(value), fmt, args);
	va_end(args);
	row->place = keep(findings, place);
	row->label = keep(findings, label);
	row->value = keep(findings, value);
}

void fw_finding_change(struct fw_findings *findings, struct fw_finding *finding,
		       const struct fw_change *change)
{
	struct fw_change *row;

	if (!finding)
		return;
	row = fw_vec_push(&finding->changes);
	if (!row) {
		findings->failed = true;
		return;
	}
	row->text = keep(findings, change->text);
	row->pytorch = keep(findings, change->pytorch);
	row->cuda = keep(findings, change->cuda);
	row->when = keep(findings, change->when);
}

void fw_findings_unable(struct fw_findings *findings, const struct fw_rule *rule, const char *lacks,
			const char *capture)
{
	struct fw_unable *list = findings->unable.data, *row;

	/* Each rule says it once, however many devices the trace has. */
	for (size_t i = 0; i < findings->unable.len; i++)
		if (list[i].id == rule->id)
			return;
	row = fw_vec_push(&findings->unable);
	if (!row) {
		findings->failed = true;
		return;
	}
	row->id = rule->id;
	row->lacks = keep(findings, lacks);
	row->capture = keep(findings, capture);
}

bool fw_rule_lacks(const struct fw_ledger *ledger, struct fw_findings *findings,
		   const struct fw_rule *rule, enum fw_blind_spot spot, const char *lacks)
{
	if (!(ledger->trace->blind_spots & (1u << spot)))
		return false;
	fw_findings_unable(findings, rule, lacks, fw_blind_spot_remedy(ledger->trace, spot));
	return true;
}
