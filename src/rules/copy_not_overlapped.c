/* Copies that do not hold the host, but run while no kernel does. */
#include "base/amount.h"
#include "rules/host.h"
#include "rules/call_groups.h"
#include "rules/gpu_time.h"

#include <inttypes.h>

#define GROUPS_SHOWN 4

#define LINK_COPIES (FW_CLASS_BIT(FW_CLASS_COPY_H2D) | FW_CLASS_BIT(FW_CLASS_COPY_D2H))
extern const struct fw_rule fw_rule_copy_not_overlapped;

struct job {
	const struct fw_ledger *ledger;
	const struct fw_device_ledger *device;
	struct fw_intervals kernels;
	struct fw_intervals exposed; /* the copies' time without a kernel */
	struct fw_map computing;     /* streams that run kernels */
	struct fw_call_groups groups;
	int64_t same_stream; /* copies on a stream that computes */
	bool failed;
};

/* An asynchronous copy over the link to the host; those that block are blocking-copy's. */
static bool is_wanted(const struct fw_ledger *ledger, uint32_t op)
{
	const struct fw_trace *t = ledger->trace;
	uint32_t call = ledger->call_of_op[op], row = t->ops.detail[op];

	if (!(LINK_COPIES & FW_CLASS_BIT(t->ops.owner[op])))
		return false;
	if (call != FW_NONE)
		return fw_ledger_call_class(ledger, call) != FW_CLASS_BLOCKING_COPY;
	return row == FW_NONE || (t->transfers.src[row] != FW_MEM_PAGEABLE &&
				  t->transfers.dst[row] != FW_MEM_PAGEABLE);
}

static void note_streams(struct job *job)
{
	const struct fw_trace_ops *ops = &job->ledger->trace->ops;

	for (size_t i = 0; i < job->device->op_count; i++) {
		uint32_t op = job->device->ops[i];

		if (ops->kind[op] == FW_OP_KERNEL &&
		    !fw_map_at(&job->computing, ops->stream[op], 0, NULL))
			job->failed = true;
	}
}

static void add_copy(struct job *job, uint32_t op)
{
	const struct fw_trace *t = job->ledger->trace;
	int64_t ns = fw_op_in_window(job->ledger, job->device, op);
	uint32_t row = t->ops.detail[op];
	struct fw_call_group *g = fw_call_groups_at(&job->groups, t->ops.name[op], 0);

	if (!g)
		return;
	g->count++;
	g->gpu_ns += ns;
	g->cost_ns +=
		ns - fw_intervals_covered(&job->kernels, t->ops.start_ns[op], t->ops.end_ns[op]);
	g->bytes = row == FW_NONE || t->transfers.bytes[row] < 0 || g->bytes < 0
			   ? -1
			   : g->bytes + t->transfers.bytes[row];
	job->same_stream += fw_map_find(&job->computing, t->ops.stream[op], 0) != NULL;
}

/* Copies at the same time count once. -1: memory is out. */
static int64_t measure(struct job *job)
{
	const struct fw_trace_ops *ops = &job->ledger->trace->ops;
	struct fw_intervals copies = { 0 };
	int64_t cost = -1;

	if (!fw_gpu_time(job->ledger, job->device, FW_GPU_KERNELS, &job->kernels))
		job->failed = true;
	note_streams(job);
	for (size_t i = 0; i < job->device->op_count; i++) {
		uint32_t op = job->device->ops[i];

		if (!is_wanted(job->ledger, op) || !fw_op_in_window(job->ledger, job->device, op))
			continue;
		if (!fw_intervals_add(&copies, ops->start_ns[op], ops->end_ns[op]))
			job->failed = true;
		add_copy(job, op);
	}
	fw_intervals_merge(&copies);
	if (!job->failed && fw_intervals_subtract(&job->exposed, &copies, &job->kernels))
		cost = fw_intervals_covered(&job->exposed, job->device->window.start_ns,
					    job->device->window.end_ns);
	fw_intervals_release(&copies);
	return cost;
}

static void add_evidence(struct job *job, struct fw_findings *findings, struct fw_finding *f)
{
	const struct fw_call_group *list = job->groups.list.data;
	int64_t count = 0;

	for (size_t i = 0; i < job->groups.list.len; i++) {
		const struct fw_call_group *g = &list[i];
		const char *rate = "bytes unknown";

		count += g->count;
		if (i >= GROUPS_SHOWN)
			continue;
		if (g->bytes > 0 && g->gpu_ns > 0)
			rate = fw_finding_text(findings, "%s at %s", fw_amount_bytes(g->bytes).text,
					       fw_amount_rate(g->bytes, g->gpu_ns).text);
		fw_finding_evidence(findings, f, NULL, fw_trace_text(job->ledger->trace, g->name),
				    "%" PRId64 " copies, %s, %s, of which without a kernel %s",
				    g->count, rate, fw_ns_text(findings, g->gpu_ns),
				    fw_ns_text(findings, g->cost_ns));
	}
	fw_finding_evidence(findings, f, NULL, "copies on a stream that computes",
			    "%" PRId64 " of %" PRId64
			    ": there they queue behind the kernels, and the kernels behind them",
			    job->same_stream, count);
}

static void add_changes(struct fw_findings *findings, struct fw_finding *f)
{
	fw_finding_change(
		findings, f,
		&(struct fw_change){ .text = "Copy the next batch on a stream of its own while "
					     "this one computes.",
				     .pytorch = "copier = torch.cuda.Stream()\n"
						"with torch.cuda.stream(copier):\n"
						"    next_x = batch.to(device, non_blocking=True)  "
						"# pinned memory\n"
						"train_step(x)\n"
						"torch.cuda.current_stream().wait_stream(copier)\n"
						"next_x.record_stream(torch.cuda.current_stream())",
				     .cuda = "cudaMemcpyAsync(next, pinned, bytes, "
					     "cudaMemcpyHostToDevice, copies);\n"
					     "cudaEventRecord(ready, copies);\n"
					     "cudaStreamWaitEvent(compute, ready, 0);",
				     .when = "the next batch is on the host early enough, a second "
					     "buffer fits on the "
					     "GPU, and the GPU is the limit: where the host is, "
					     "hiding the copy gains "
					     "nothing" });
}

static void look(const struct fw_ledger *ledger, size_t d, struct fw_findings *findings)
{
	const struct fw_device_ledger *device = &ledger->devices[d];
	struct job job = { .ledger = ledger, .device = device, .groups = FW_CALL_GROUPS };
	int64_t cost = measure(&job), at_most;

	if (cost > 0) {
		struct fw_finding *f = fw_finding_add(findings, &fw_rule_copy_not_overlapped, d,
						      "Copies run while no kernel does");

		/* A copy hides behind a kernel, so no more than the kernels' time can be gained. */
		at_most = fw_gpu_bound(ledger, findings, d, cost);
		if (at_most > device->kernel_busy_ns)
			at_most = device->kernel_busy_ns;
		fw_finding_cost(f, device, cost, at_most);
		add_evidence(&job, findings, f);
		add_changes(findings, f);
	}
	findings->failed |= cost < 0 || job.groups.failed;
	fw_call_groups_release(&job.groups);
	fw_map_release(&job.computing);
	fw_intervals_release(&job.kernels);
	fw_intervals_release(&job.exposed);
}

const struct fw_rule fw_rule_copy_not_overlapped = {
	.id = "copy-not-overlapped",
	.summary = "Copies run while no kernel does, though they do not hold the host",
	.clause = "it copied without computing",
	.look = look,
};
