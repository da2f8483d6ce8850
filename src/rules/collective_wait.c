/* Only collectives run: the GPU waits for other GPUs, or for data on its way between them. */
#include "rules/host.h"
#include "rules/gpu_time.h"
#include "rules/places.h"
#include "rules/ranks.h"

#include <inttypes.h>

extern const struct fw_rule fw_rule_collective_wait;

struct job {
	const struct fw_ledger *ledger;
	const struct fw_device_ledger *device;
	struct fw_intervals compute, collective;
	struct fw_places places; /* exposed time by name */
};

/* Time in which only collectives ran, by name; where two overlap, both are charged. */
static bool measure(struct job *job)
{
	const struct fw_trace_ops *ops = &job->ledger->trace->ops;

	if (!fw_gpu_time(job->ledger, job->device, FW_CLASS_BIT(FW_CLASS_COMPUTE), &job->compute) ||
	    !fw_gpu_time(job->ledger, job->device, FW_CLASS_BIT(FW_CLASS_COLLECTIVE),
			 &job->collective))
		return false;
	for (size_t i = 0; i < job->device->op_count; i++) {
		uint32_t op = job->device->ops[i];
		int64_t ns = fw_op_in_window(job->ledger, job->device, op);

		if (ops->owner[op] == FW_CLASS_COLLECTIVE && ns)
			fw_places_add(&job->places, ops->name[op],
				      ns - fw_intervals_covered(&job->compute, ops->start_ns[op],
								ops->end_ns[op]));
	}
	return true;
}

static void add_evidence(struct job *job, size_t d, struct fw_findings *findings,
			 struct fw_finding *f)
{
	const struct fw_ranks *ranks = fw_ranks_of(job->ledger, findings);
	int64_t all = fw_intervals_length(&job->collective);
	int64_t alone = job->device->ns[FW_CLASS_COLLECTIVE];

	fw_finding_evidence(findings, f, NULL, "collectives ran",
			    "%s, under computing kernels %.0f %% of it", fw_ns_text(findings, all),
			    all ? 100.0 * (double)(all - alone) / (double)all : 0);
	fw_places_report(&job->places, job->ledger, findings, f, "ran alone");
	if (!ranks)
		return;
	if (ranks->is_matched)
		fw_finding_evidence(findings, f, NULL, "of its time in collectives",
				    "%s was waiting for the last of %zu GPUs (%" PRId64
				    " collectives matched by order)",
				    fw_ns_text(findings, ranks->of_device[d].waited_ns),
				    ranks->devices, ranks->of_device[d].collectives);
	else
		fw_finding_evidence(findings, f, NULL, "waiting and transfer",
				    "cannot be told apart without the traces of the other ranks");
}

static void add_changes(struct fw_findings *findings, struct fw_finding *f)
{
	fw_finding_change(
		findings, f,
		&(struct fw_change){
			.text = "Let collectives run under the backward pass, and less often.",
			.pytorch = "model = DDP(model, bucket_cap_mb=100, "
				   "gradient_as_bucket_view=True)\n"
				   "with model.no_sync():  # all but the last micro-batch\n"
				   "    loss.backward()",
			.when = "the time is transfer. Where it is waiting for a late rank, make "
				"that rank "
				"faster instead: nvidia-smi counts a spinning collective as "
				"busy" });
}

static void look(const struct fw_ledger *ledger, size_t d, struct fw_findings *findings)
{
	const struct fw_device_ledger *device = &ledger->devices[d];
	struct job job = { .ledger = ledger, .device = device, .places = FW_PLACES };
	int64_t cost = device->ns[FW_CLASS_COLLECTIVE];
	struct fw_finding *f;

	if (!cost)
		return;
	findings->failed |= !measure(&job);
	f = fw_finding_add(findings, &fw_rule_collective_wait, d,
			   "The GPU runs collectives and computes nothing meanwhile");
	fw_finding_cost(f, device, cost, fw_gpu_bound(ledger, findings, d, cost));
	add_evidence(&job, d, findings, f);
	add_changes(findings, f);
	fw_places_release(&job.places);
	fw_intervals_release(&job.compute);
	fw_intervals_release(&job.collective);
}

const struct fw_rule fw_rule_collective_wait = {
	.id = "collective-wait",
	.summary = "Only collectives run: waiting for other GPUs, or for data between them",
	.clause = "it waited in collectives",
	.look = look,
};
