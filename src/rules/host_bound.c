/* The GPU is idle because the framework and Python do not issue work fast enough. */
#include "rules/host.h"
#include "rules/places.h"

#include "ledger/intervals.h"

#include <inttypes.h>
#include <string.h>

/* Optimizer advice is given when at least this share of the idle host time lies in optimizer steps. */
#define OPTIMIZER_SHARE 0.2

extern const struct fw_rule fw_rule_host_bound;

struct host_time {
	int64_t op_ns, python_ns, unrecorded_ns;
	int64_t optimizer_ns;     /* of all of it, inside Optimizer.step annotations */
	int64_t launched, gpu_ns; /* operations in the window and their summed time */
	int64_t idle_ns;          /* of the three classes together */
	int64_t waited_ns;        /* the busiest launching thread waited for the GPU so long */
	bool has_graphs, is_compiled;
};

static bool is_host_class(enum fw_class c)
{
	return c == FW_CLASS_HOST_OP || c == FW_CLASS_HOST_PYTHON || c == FW_CLASS_HOST_UNRECORDED;
}

static bool collect_optimizer(const struct fw_ledger *ledger, size_t d, const struct fw_host *host,
			      struct fw_intervals *steps)
{
	const struct fw_trace *t = ledger->trace;
	struct fw_rows marks;

	for (size_t p = 0; fw_host_marks(host, d, p, &marks); p++)
		for (size_t i = 0; i < marks.count; i++) {
			uint32_t row = marks.rows[i];

			if (!strncmp(fw_trace_text(t, t->ranges.name[row]), "Optimizer.step", 14) &&
			    !fw_intervals_add(steps, t->ranges.start_ns[row],
					      t->ranges.end_ns[row]))
				return false;
		}
	fw_intervals_merge(steps);
	return true;
}

static void measure_operations(const struct fw_ledger *ledger,
			       const struct fw_device_ledger *device, struct host_time *h)
{
	const struct fw_trace *t = ledger->trace;

	for (size_t i = 0; i < device->op_count; i++) {
		uint32_t op = device->ops[i], call = ledger->call_of_op[op];

		if (t->ops.start_ns[op] < device->window.start_ns ||
		    t->ops.start_ns[op] >= device->window.end_ns)
			continue;
		h->launched++;
		h->gpu_ns += t->ops.end_ns[op] - t->ops.start_ns[op];
		if (!strncmp(fw_trace_text(t, t->ops.name[op]), "triton_", 7))
			h->is_compiled = true;
		if (call != FW_NONE && strstr(fw_trace_text(t, t->calls.name[call]), "GraphLaunch"))
			h->has_graphs = true;
	}
}

static void measure_idle(const struct fw_device_ledger *device, const struct fw_intervals *steps,
			 struct host_time *h)
{
	for (size_t i = 0; i < device->idle_count; i++) {
		const struct fw_idle *piece = &device->idle[i];

		if (is_host_class(piece->class_id))
			h->optimizer_ns +=
				fw_intervals_covered(steps, piece->start_ns, piece->end_ns);
	}
	h->op_ns = device->ns[FW_CLASS_HOST_OP];
	h->python_ns = device->ns[FW_CLASS_HOST_PYTHON];
	h->unrecorded_ns = device->ns[FW_CLASS_HOST_UNRECORDED];
	h->idle_ns = h->op_ns + h->python_ns + h->unrecorded_ns;
}

/*
 * What a slow host costs: the idle time while it worked, but no more than its work exceeds the GPU's. A
 * host that waits for the GPU and would be fast enough without those waits is not too slow: then the
 * waits, which let the GPU run dry, are the cause. -1: unknown.
 */
static int64_t host_cost(const struct fw_ledger *ledger, struct fw_findings *findings, size_t d,
			 struct host_time *h)
{
	const struct fw_device_ledger *device = &ledger->devices[d];
	int64_t window_ns = device->window.end_ns - device->window.start_ns, excess;

	h->waited_ns = fw_gpu_bound(ledger, findings, d, window_ns);
	if (h->waited_ns < 0)
		return -1;
	excess = window_ns - h->waited_ns - device->gpu_busy_ns;
	if (excess < 0)
		excess = 0;
	return excess < h->idle_ns ? excess : h->idle_ns;
}

static void add_evidence(const struct fw_ledger *ledger, const struct fw_device_ledger *device,
			 struct fw_findings *findings, struct fw_finding *f,
			 const struct host_time *h)
{
	int64_t window_ns = device->window.end_ns - device->window.start_ns;
	struct fw_places ops = FW_PLACES, python = FW_PLACES;

	if (!(ledger->trace->blind_spots & 1u << FW_BLIND_NO_OPERATORS))
		fw_finding_evidence(findings, f, NULL, "idle while the host ran operators", "%s",
				    fw_ns_text(findings, h->op_ns));
	fw_places_of_class(&ops, ledger, device, FW_CLASS_HOST_OP);
	fw_places_report(&ops, ledger, findings, f, "idle inside the operator");
	if (h->python_ns)
		fw_finding_evidence(findings, f, NULL, "idle while the host ran Python", "%s",
				    fw_ns_text(findings, h->python_ns));
	fw_places_of_class(&python, ledger, device, FW_CLASS_HOST_PYTHON);
	fw_places_report(&python, ledger, findings, f, "idle inside the function");
	if (h->unrecorded_ns)
		fw_finding_evidence(findings, f, NULL,
				    "idle while the host did what the trace does not show", "%s",
				    fw_ns_text(findings, h->unrecorded_ns));
	if (h->launched)
		fw_finding_evidence(findings, f, NULL, "an operation on the GPU",
				    "every %s, takes %s (%" PRId64 " operations)",
				    fw_ns_text(findings, window_ns / h->launched),
				    fw_ns_text(findings, h->gpu_ns / h->launched), h->launched);
	if (f && f->cost_ns < h->idle_ns)
		fw_finding_evidence(findings, f, NULL, "of all this, not because the host is slow",
				    "%s: it waited for the GPU for %s",
				    fw_ns_text(findings, h->idle_ns - f->cost_ns),
				    fw_ns_text(findings, h->waited_ns));
	if (h->optimizer_ns)
		fw_finding_evidence(findings, f, "Optimizer.step", "idle inside optimizer steps",
				    "%s", fw_ns_text(findings, h->optimizer_ns));
}

static void advise_graphs(struct fw_findings *findings, struct fw_finding *f,
			  const struct host_time *h)
{
	struct fw_change change = {
		.text = "Take the host out of the step: compile the model and replay it as a CUDA "
			"graph.",
		.pytorch = "model = torch.compile(model, mode=\"reduce-overhead\")",
		.cuda = "cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);\n"
			"step(stream);\n"
			"cudaStreamEndCapture(stream, &graph);\n"
			"cudaGraphInstantiate(&exec, graph, 0);\n"
			"for (;;)\n\tcudaGraphLaunch(exec, stream);",
		.when = "shapes stay the same, nothing in the step reads back to the host, and the "
			"time is spent between launches rather than in your own Python",
	};

	if (h->is_compiled && !h->has_graphs)
		change.text =
			"The model is compiled but launches kernel by kernel: replay it as a CUDA "
			"graph.";
	if (h->has_graphs)
		change.text = "CUDA graphs are used already; bring the work around them (input "
			      "preparation, sampling, logging) inside, or off this thread.";
	if (h->has_graphs)
		change.pytorch = change.cuda = NULL;
	fw_finding_change(findings, f, &change);
}

static void add_changes(struct fw_findings *findings, struct fw_finding *f,
			const struct host_time *h, int64_t cost)
{
	advise_graphs(findings, f, h);
	if ((double)h->optimizer_ns >= OPTIMIZER_SHARE * (double)cost)
		fw_finding_change(
			findings, f,
			&(struct fw_change){
				.text = "Update all parameters with a few kernels instead of a few "
					"for "
					"each parameter.",
				.pytorch =
					"optimizer = torch.optim.AdamW(model.parameters(), lr=lr, "
					"fused=True)",
				.when = "the optimizer has a fused form and its parameters are on "
					"the "
					"GPU" });
	fw_finding_change(
		findings, f,
		&(struct fw_change){ .text = "Give every operator more work: a larger batch keeps "
					     "the host time and "
					     "lengthens the kernels.",
				     .pytorch = "loader = DataLoader(dataset, batch_size=2 * B)",
				     .when = "memory allows it, and a larger batch is acceptable "
					     "for convergence or "
					     "latency" });
	if (h->unrecorded_ns > h->op_ns + h->python_ns)
		fw_finding_change(
			findings, f,
			&(struct fw_change){
				.text = "Most of this host time is not in the trace: find it "
					"first. Look "
					"for Python work between operators (logging, metrics, gc) "
					"and for "
					"other threads that hold the interpreter's lock.",
				.pytorch = "with torch.profiler.profile(with_stack=True) as p: ...",
				.when = "the run is short: recording stacks slows the host "
					"itself" });
}

static void look(const struct fw_ledger *ledger, size_t d, struct fw_findings *findings)
{
	const struct fw_device_ledger *device = &ledger->devices[d];
	struct fw_intervals steps = { 0 };
	struct host_time h = { 0 };
	const struct fw_host *host;
	struct fw_finding *f;
	int64_t cost;

	if (fw_rule_lacks(ledger, findings, &fw_rule_host_bound, FW_BLIND_NO_CALLS, "CUDA calls"))
		return;
	host = fw_host_of(ledger, findings);
	if (!host || !collect_optimizer(ledger, d, host, &steps))
		findings->failed = true;
	measure_idle(device, &steps, &h);
	fw_intervals_release(&steps);
	cost = host_cost(ledger, findings, d, &h);
	findings->failed |= cost < 0;
	if (cost <= 0)
		return;
	measure_operations(ledger, device, &h);
	f = fw_finding_add(findings, &fw_rule_host_bound, d,
			   "The host does not issue work fast enough");
	fw_finding_cost(f, device, cost, fw_bound(ledger, device, FW_BOUND_HOST, NULL, 0, cost));
	if (f)
		f->blind_spots = ledger->trace->blind_spots &
				 (1u << FW_BLIND_NO_OPERATORS | 1u << FW_BLIND_NO_PYTHON |
				  1u << FW_BLIND_NO_SCHEDULING | 1u << FW_BLIND_NO_LOADER_MARKS);
	add_evidence(ledger, device, findings, f, &h);
	add_changes(findings, f, &h, cost);
}

const struct fw_rule fw_rule_host_bound = {
	.id = "host-bound",
	.summary = "The framework and Python do not issue work fast enough",
	.clause = "it waited for the host to issue work",
	.look = look,
};
