/* Runs the rules over a ledger and ranks what they find. */
#include "rules/before.h"
#include "rules/host.h"
#include "rules/host_samples.h"
#include "rules/ranks.h"
#include "rules/rule.h"

#include <stdlib.h>

/*
 * LIMIT: devices past this many have a ledger but no findings, which is said; a file that names more is
 * not of one machine room.
 */
#define DEVICE_LIMIT 1024

/* Below this share of the window a cost is noise, even where it is the only one. */
#define SHARE_NOISE 0.001

#define FW_RULE(name) extern const struct fw_rule fw_rule_##name;
#include "rules/rules.def"
#undef FW_RULE

static const struct fw_rule *const rules[] = {
#define FW_RULE(name) &fw_rule_##name,
#include "rules/rules.def"
#undef FW_RULE
};

const struct fw_rule *const *fw_rules(size_t *count)
{
	*count = sizeof(rules) / sizeof(rules[0]);
	return rules;
}

/* Dearest first, unknown costs last; ties by rule and device, so that the order is always the same. */
static int by_cost(const void *a, const void *b)
{
	const struct fw_finding *x = a, *y = b;

	if (x->cost_ns != y->cost_ns)
		return x->cost_ns > y->cost_ns ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->device > y->device) - (x->device < y->device);
}

static void release_finding(struct fw_finding *finding)
{
	fw_vec_release(&finding->evidence);
	fw_vec_release(&finding->changes);
}

/* Another finding of that device, dearer or saying that all is well, makes a small one unnecessary. */
static bool is_needed(const struct fw_finding *list, size_t len, size_t i)
{
	for (size_t k = 0; k < len; k++)
		if (k != i && list[k].device == list[i].device && (k < i || list[k].is_all_clear))
			return false;
	return true;
}

static bool is_worth_reading(const struct fw_finding *list, size_t len, size_t i)
{
	if (list[i].share < 0 || list[i].is_all_clear || list[i].share >= FW_SHARE_WORTH_READING)
		return true;
	return list[i].share >= SHARE_NOISE && is_needed(list, len, i);
}

static void drop_small(struct fw_findings *findings)
{
	struct fw_finding *list = findings->list.data;
	size_t kept = 0, len = findings->list.len;

	/* What moves down was kept: it has the device of its old place, or of a dearer one. */
	for (size_t i = 0; i < len; i++) {
		if (is_worth_reading(list, len, i))
			list[kept++] = list[i];
		else
			release_finding(&list[i]);
	}
	findings->list.len = kept;
}

fw_status fw_findings_build(const struct fw_ledger *ledger, struct fw_findings *findings,
			    struct fw_error *err)
{
	*findings = (struct fw_findings){ .list = FW_VEC(struct fw_finding),
					  .unable = FW_VEC(struct fw_unable) };
	for (size_t d = 0; d < ledger->device_count && d < DEVICE_LIMIT; d++)
		for (size_t r = 0; r < sizeof(rules) / sizeof(rules[0]); r++)
			rules[r]->look(ledger, d, findings);
	if (ledger->device_count > DEVICE_LIMIT)
		fw_findings_unable(findings, &fw_rule_no_problem, "time for more than 1024 devices",
				   "report fewer ranks at once");
	if (!fw_before_build(ledger, findings))
		findings->failed = true;
	if (findings->failed) {
		fw_findings_release(findings);
		return fw_fail(err, FW_ERR_NOMEM, "out of memory while looking for causes");
	}
	if (findings->list.len)
		qsort(findings->list.data, findings->list.len, sizeof(struct fw_finding), by_cost);
	drop_small(findings);
	return FW_OK;
}

void fw_findings_release(struct fw_findings *findings)
{
	struct fw_finding *list = findings->list.data;

	for (size_t i = 0; i < findings->list.len; i++)
		release_finding(&list[i]);
	fw_vec_release(&findings->list);
	fw_vec_release(&findings->unable);
	fw_host_destroy(findings->host);
	findings->host = NULL;
	fw_host_samples_destroy(findings->host_samples);
	findings->host_samples = NULL;
	fw_ranks_destroy(findings->ranks);
	findings->ranks = NULL;
	findings->before = NULL;
	fw_arena_release(&findings->arena);
}
