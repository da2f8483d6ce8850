/* Runs of short elementwise kernels that could be one kernel. */
#include "rules/gpu_time.h"
#include "rules/kernel_kind.h"
#include "rules/measured.h"
#include "rules/places.h"

#include <inttypes.h>
#include <stdlib.h>

/* A kernel shorter than this is mostly start and end: a launch alone keeps the GPU for 2 to 5 us. */
#define TINY_NS 10000

/* A run needs this many kernels, and gaps no longer than this: else other work lies between. */
#define RUN_KERNELS 3
#define RUN_GAP_NS  100000

extern const struct fw_rule fw_rule_tiny_kernels;

/* The run that a stream is in. */
struct run {
	int64_t kernels, sum_ns, longest_ns, gap_ns, end_ns;
	uint32_t first; /* name of its first kernel */
};

struct job {
	const struct fw_ledger *ledger;
	const struct fw_device_ledger *device;
	struct run *runs;    /* by row of streams */
	struct fw_map kinds; /* name -> is elementwise */
	struct fw_places places;
	int64_t count, kernels, saved_ns, gap_ns;
	bool failed;
};

static bool is_tiny(struct job *job, uint32_t op)
{
	const struct fw_trace *t = job->ledger->trace;
	uint64_t *kind;
	bool inserted;

	if (t->ops.kind[op] != FW_OP_KERNEL || t->ops.end_ns[op] - t->ops.start_ns[op] >= TINY_NS)
		return false;
	kind = fw_map_at(&job->kinds, t->ops.name[op], 0, &inserted);
	if (!kind) {
		job->failed = true;
		return false;
	}
	if (inserted)
		*kind = (uint64_t)fw_is_elementwise(fw_trace_text(t, t->ops.name[op]));
	return *kind;
}

/* One fused kernel still takes about as long as the longest of them; the rest, and the gaps, go. */
static void close_run(struct job *job, struct run *run)
{
	if (run->kernels >= RUN_KERNELS) {
		int64_t saved = run->sum_ns - run->longest_ns;

		job->count++;
		job->kernels += run->kernels;
		job->saved_ns += saved;
		job->gap_ns += run->gap_ns;
		fw_places_add(&job->places, run->first, saved + run->gap_ns);
	}
	*run = (struct run){ 0 };
}

static void add_op(struct job *job, uint32_t op)
{
	const struct fw_trace_ops *ops = &job->ledger->trace->ops;
	struct run *run = &job->runs[ops->stream[op]];
	int64_t ns = fw_op_in_window(job->ledger, job->device, op);

	if (!ns || !is_tiny(job, op)) {
		close_run(job, run);
		return;
	}
	if (run->kernels && ops->start_ns[op] - run->end_ns > RUN_GAP_NS)
		close_run(job, run);
	if (run->kernels && ops->start_ns[op] > run->end_ns)
		run->gap_ns += ops->start_ns[op] - run->end_ns;
	if (!run->kernels)
		run->first = ops->name[op];
	run->kernels++;
	run->sum_ns += ns;
	if (ns > run->longest_ns)
		run->longest_ns = ns;
	run->end_ns = ops->end_ns[op];
}

static void measure(struct job *job)
{
	size_t streams = job->ledger->trace->streams.len;

	job->runs = calloc(streams + 1, sizeof(*job->runs));
	if (!job->runs) {
		job->failed = true;
		return;
	}
	for (size_t i = 0; i < job->device->op_count; i++)
		add_op(job, job->device->ops[i]);
	for (size_t i = 0; i < streams; i++)
		close_run(job, &job->runs[i]);
	free(job->runs);
}

static void look(const struct fw_ledger *ledger, size_t d, struct fw_findings *findings)
{
	const struct fw_device_ledger *device = &ledger->devices[d];
	struct job job = { .ledger = ledger, .device = device, .places = FW_PLACES };
	int64_t cost;

	measure(&job);
	cost = job.saved_ns + job.gap_ns;
	if (cost > 0) {
		struct fw_finding *f =
			fw_finding_add(findings, &fw_rule_tiny_kernels, d,
				       "Runs of tiny elementwise kernels could be one kernel");

		fw_finding_cost(f, device, cost, cost);
		fw_finding_evidence(findings, f, NULL, "runs of 3 or more kernels under 10 us",
				    "%" PRId64 ", %" PRId64 " kernels in all", job.count,
				    job.kernels);
		fw_finding_evidence(findings, f, NULL, "in them",
				    "%s of kernels beside the longest of each run, %s of gaps",
				    fw_ns_text(findings, job.saved_ns),
				    fw_ns_text(findings, job.gap_ns));
		fw_measured_evidence(ledger, d, findings, f);
		fw_places_report(&job.places, ledger, findings, f, "runs that begin with");
		fw_finding_change(
			findings, f,
			&(struct fw_change){ .text = "Fuse them; where that is not possible, "
						     "launch them with one graph.",
					     .pytorch = "model = torch.compile(model)\n"
							"optimizer = torch.optim.AdamW(params, "
							"lr=lr, fused=True)  # if they "
							"are its updates",
					     .cuda = "y[i] = max(0.f, x[i] * scale + bias);  /* "
						     "one kernel for multiply, add, "
						     "ReLU */",
					     .when = "the kernels of a run work on the same "
						     "tensors one after the other; "
						     "torch.compile needs stable shapes and Python "
						     "that it can trace" });
	}
	findings->failed |= job.failed || job.places.failed;
	fw_places_release(&job.places);
	fw_map_release(&job.kinds);
}

const struct fw_rule fw_rule_tiny_kernels = {
	.id = "tiny-kernels",
	.summary = "Runs of tiny elementwise kernels that could be one",
	.clause = "it ran tiny kernels that could be fused",
	.look = look,
};
