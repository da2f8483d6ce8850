/* One rank comes last to the collectives, and all others wait for it. */
#include "rules/ranks.h"

#include <inttypes.h>

/* A rank is a straggler if it comes last in more than this share of the collectives. */
#define LATE_SHARE 0.5

/*
 * And if the others wait for it longer than it for them, by this share of the window: of two equal ranks one
 * comes last in more than half of the collectives, by chance.
 */
#define NET_WAIT_SHARE 0.01

extern const struct fw_rule fw_rule_straggler;

/* The class on which this device spends most more than the others on average; their mean in *mean. */
static enum fw_class largest_excess(const struct fw_ledger *ledger, const struct fw_ranks *ranks,
				    size_t d, int64_t *mean)
{
	enum fw_class worst = FW_CLASS_COUNT;
	int64_t most = 0;

	for (int c = 0; c < FW_CLASS_COUNT; c++) {
		int64_t sum = 0, others = 0, excess;

		for (size_t k = 0; k < ledger->device_count; k++) {
			if (k == d || !ranks->of_device[k].collectives)
				continue;
			sum += ledger->devices[k].ns[c];
			others++;
		}
		excess = ledger->devices[d].ns[c] - (others ? sum / others : 0);
		if (c != FW_CLASS_COLLECTIVE && others && excess > most) {
			most = excess;
			worst = (enum fw_class)c;
			*mean = sum / others;
		}
	}
	return worst;
}

static void add_evidence(const struct fw_ledger *ledger, const struct fw_ranks *ranks, size_t d,
			 struct fw_findings *findings, struct fw_finding *f)
{
	const struct fw_rank *rank = &ranks->of_device[d];
	int64_t mean = 0;
	enum fw_class worst = largest_excess(ledger, ranks, d, &mean);

	fw_finding_evidence(findings, f, NULL, "came last",
			    "in %" PRId64 " of %" PRId64 " collectives of %zu GPUs, told by the "
			    "shortest time in them",
			    rank->late, rank->collectives, ranks->devices);
	fw_finding_evidence(
		findings, f, NULL, "the others waited for it", "%s each on average, it for them %s",
		fw_ns_text(findings, rank->caused_ns), fw_ns_text(findings, rank->waited_ns));
	if (worst != FW_CLASS_COUNT)
		fw_finding_evidence(findings, f, fw_class_id(worst), "what it spends more time on",
				    "%s, the others %s on average",
				    fw_ns_text(findings, ledger->devices[d].ns[worst]),
				    fw_ns_text(findings, mean));
}

static bool is_late(const struct fw_device_ledger *device, const struct fw_rank *rank)
{
	int64_t window_ns = device->window.end_ns - device->window.start_ns;

	return (double)rank->late > LATE_SHARE * (double)rank->collectives &&
	       (double)(rank->caused_ns - rank->waited_ns) >= NET_WAIT_SHARE * (double)window_ns;
}

static void look(const struct fw_ledger *ledger, size_t d, struct fw_findings *findings)
{
	const struct fw_device_ledger *device = &ledger->devices[d];
	const struct fw_ranks *ranks = fw_ranks_of(ledger, findings);
	const struct fw_rank *rank;
	struct fw_finding *f;

	if (!ranks)
		return;
	rank = &ranks->of_device[d];
	if (!ranks->is_matched && device->ns[FW_CLASS_COLLECTIVE])
		fw_findings_unable(
			findings, &fw_rule_straggler,
			ledger->device_count > 1 ? "collectives that match between the ranks"
						 : "the traces of the other ranks",
			"record the same steps on every rank and give all files at once: "
			"fullwarp report rank*.json.gz");
	if (!ranks->is_matched || !is_late(device, rank))
		return;
	f = fw_finding_add(findings, &fw_rule_straggler, d,
			   "This GPU comes last to the collectives, and the others wait for it");
	fw_finding_cost(f, device, rank->caused_ns, rank->caused_ns);
	add_evidence(ledger, ranks, d, findings, f);
	fw_finding_change(
		findings, f,
		&(struct fw_change){
			.text = "Look for what this rank does beyond the others: more data, a "
				"slower loader, "
				"logging or checkpoints on rank 0, a busier host, a throttled GPU.",
			.pytorch = "sampler = DistributedSampler(dataset)  # equal shares; batches "
				   "of equal "
				   "length",
			.when = "it is always the same rank; where it changes from step to step, "
				"the batches "
				"are uneven" });
}

const struct fw_rule fw_rule_straggler = {
	.id = "straggler",
	.summary = "One rank comes last to the collectives, and the others wait for it",
	.clause = "the others waited for it in collectives",
	.look = look,
};
