/* CUDA graphs whose inside the trace does not show: said, and never called idle. */
#include "rules/host.h"

#include <inttypes.h>
#include <string.h>

extern const struct fw_rule fw_rule_graph_blindness;

struct job {
	int64_t launches, empty; /* graph launches in the window, and those without any operation */
	int64_t host_ns;         /* summed time of the empty ones */
	int64_t unseen_ns; /* in synchronisations that went on waiting with no work on record */
	const char *name;
};

/* A synchronisation returns within microseconds of the last work; waiting longer, it waits for more. */
#define UNSEEN_NS 1000000

static void count(const struct fw_ledger *ledger, size_t d, const struct fw_host *host,
		  struct job *job)
{
	const struct fw_trace *t = ledger->trace;
	struct fw_rows calls;

	for (size_t p = 0; fw_host_calls(host, d, p, &calls); p++)
		for (size_t i = 0; i < calls.count; i++) {
			uint32_t call = calls.rows[i];
			const char *name = fw_trace_text(t, t->calls.name[call]);

			if (!strstr(name, "GraphLaunch") || !fw_host_in_window(host, d, call) ||
			    fw_host_is_repeat(host, call))
				continue;
			job->launches++;
			job->name = name;
			if (fw_host_op_of_call(host, call) != FW_NONE)
				continue;
			job->empty++;
			job->host_ns += t->calls.end_ns[call] - t->calls.start_ns[call];
		}
}

static int64_t unseen(const struct fw_device_ledger *device)
{
	int64_t ns = 0;

	for (size_t i = 0; i < device->idle_count; i++) {
		const struct fw_idle *piece = &device->idle[i];

		if (piece->class_id == FW_CLASS_SYNC && piece->end_ns - piece->start_ns > UNSEEN_NS)
			ns += piece->end_ns - piece->start_ns;
	}
	return ns;
}

static void add_change(struct fw_findings *findings, struct fw_finding *f)
{
	fw_finding_change(
		findings, f,
		&(struct fw_change){ .text = "Record graphs node by node, for a short run: it "
					     "costs time for each kernel.",
				     .pytorch = "# PyTorch's profiler records nodes from CUDA 11.7 "
						"and PyTorch 2.1 on;\n"
						"# start it before the graph is captured",
				     .cuda = "nsys profile --cuda-graph-trace=node ...",
				     .when = "the figures of the graph's kernels matter; "
					     "device-side loops inside a graph "
					     "show only their first turn in any recording" });
}

static void look(const struct fw_ledger *ledger, size_t d, struct fw_findings *findings)
{
	const struct fw_device_ledger *device = &ledger->devices[d];
	const struct fw_host *host = fw_host_of(ledger, findings);
	int64_t opaque = device->ns[FW_CLASS_GRAPH_OPAQUE];
	struct fw_finding *f;
	struct job job = { 0 };

	if (!host)
		return;
	count(ledger, d, host, &job);
	if (job.launches)
		job.unseen_ns = unseen(device);
	if (!job.empty && !opaque && !job.unseen_ns)
		return;
	/* What runs unseen has no known cost: it may be all of the idle time, or none. */
	f = fw_finding_add(findings, &fw_rule_graph_blindness, d,
			   "Graphs ran whose work the trace does not show");
	if (job.empty)
		fw_finding_evidence(findings, f, job.name, "graph launches without any GPU record",
				    "%" PRId64 " of %" PRId64
				    ", %s on the host; idle time after them "
				    "may be work",
				    job.empty, job.launches, fw_ns_text(findings, job.host_ns));
	if (job.unseen_ns)
		fw_finding_evidence(findings, f, NULL,
				    "synchronisations went on waiting with no work on record",
				    "%s; a loop inside a graph shows only its first turn",
				    fw_ns_text(findings, job.unseen_ns));
	if (opaque)
		fw_finding_evidence(findings, f, fw_class_id(FW_CLASS_GRAPH_OPAQUE),
				    "graphs known only as a whole",
				    "%s of the window, counted as busy",
				    fw_ns_text(findings, opaque));
	if (f)
		f->blind_spots = ledger->trace->blind_spots & (1u << FW_BLIND_GRAPH_LEVEL_ONLY);
	add_change(findings, f);
}

const struct fw_rule fw_rule_graph_blindness = {
	.id = "graph-blindness",
	.summary = "Graphs ran whose work the trace does not show: never called idle",
	.look = look,
};
