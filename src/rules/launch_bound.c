/* The GPU is idle because the launches of small kernels reach it one by one. */
#include "rules/host.h"
#include "rules/places.h"

#include "ledger/intervals.h"

#include <inttypes.h>

/*
 * A kernel shorter than this is small: eager PyTorch needed 25-75 us to issue an operator in the
 * recorded loops (docs/rules/launch-bound.md), so the GPU is done before the next launch arrives.
 */
#define SMALL_KERNEL_NS 50000

extern const struct fw_rule fw_rule_launch_bound;

struct launches {
	int64_t kernels, small;          /* kernels in the window, and the small ones among them */
	int64_t small_ns;                /* summed time of the small ones */
	int64_t calls, call_ns;          /* launch calls, each once */
	int64_t latency_ns, api_ns;      /* idle time before small kernels */
	int64_t stalled_ns, overhead_ns; /* left out of it: the profiler's own work */
	struct fw_places latency, api;
};

static bool is_small(const struct fw_trace *t, uint32_t op)
{
	return op != FW_NONE && t->ops.kind[op] == FW_OP_KERNEL &&
	       t->ops.end_ns[op] - t->ops.start_ns[op] < SMALL_KERNEL_NS;
}

static bool is_stalled(const struct fw_trace *t, const struct fw_idle *piece)
{
	return piece->class_id == FW_CLASS_API && piece->call != FW_NONE &&
	       t->calls.end_ns[piece->call] - t->calls.start_ns[piece->call] > FW_STALLED_CALL_NS;
}

static void measure_idle(const struct fw_ledger *ledger, const struct fw_device_ledger *device,
			 const struct fw_intervals *overhead, struct launches *l)
{
	const struct fw_trace *t = ledger->trace;

	for (size_t i = 0; i < device->idle_count; i++) {
		const struct fw_idle *piece = &device->idle[i];
		int64_t ns = piece->end_ns - piece->start_ns, profiler;
		bool is_api = piece->class_id == FW_CLASS_API;

		if ((!is_api && piece->class_id != FW_CLASS_LAUNCH_LATENCY) ||
		    !is_small(t, piece->next_op))
			continue;
		profiler = fw_intervals_covered(overhead, piece->start_ns, piece->end_ns);
		l->overhead_ns += profiler;
		ns -= profiler;
		/* A stalled call is no launch overhead: allocation-stall and implicit-sync look at those. */
		if (is_stalled(t, piece)) {
			l->stalled_ns += ns;
			continue;
		}
		if (is_api) {
			l->api_ns += ns;
			if (piece->call != FW_NONE)
				fw_places_add(&l->api, t->calls.name[piece->call], ns);
		} else {
			l->latency_ns += ns;
			fw_places_add(&l->latency, t->ops.name[piece->next_op], ns);
		}
	}
}

static void measure_kernels(const struct fw_ledger *ledger, const struct fw_device_ledger *device,
			    struct launches *l)
{
	const struct fw_trace *t = ledger->trace;

	for (size_t i = 0; i < device->op_count; i++) {
		uint32_t op = device->ops[i], call = ledger->call_of_op[op];

		if (t->ops.start_ns[op] < device->window.start_ns ||
		    t->ops.start_ns[op] >= device->window.end_ns || t->ops.kind[op] != FW_OP_KERNEL)
			continue;
		l->kernels++;
		if (is_small(t, op)) {
			l->small++;
			l->small_ns += t->ops.end_ns[op] - t->ops.start_ns[op];
		}
		if (call == FW_NONE || ledger->nth_of_op[op])
			continue;
		l->calls++;
		l->call_ns += t->calls.end_ns[call] - t->calls.start_ns[call];
	}
}

static void add_evidence(const struct fw_ledger *ledger, struct fw_findings *findings,
			 struct fw_finding *f, struct launches *l)
{
	fw_finding_evidence(findings, f, NULL, "kernels shorter than 50 us",
			    "%" PRId64 " of %" PRId64 ", mean %s", l->small, l->kernels,
			    fw_ns_text(findings, l->small ? l->small_ns / l->small : 0));
	if (l->calls)
		fw_finding_evidence(findings, f, NULL, "launch calls",
				    "%" PRId64 ", mean %s on the host, %.1f kernels each", l->calls,
				    fw_ns_text(findings, l->call_ns / l->calls),
				    (double)l->kernels / (double)l->calls);
	fw_finding_evidence(findings, f, NULL, "idle while the launch was on its way", "%s",
			    fw_ns_text(findings, l->latency_ns));
	fw_places_report(&l->latency, ledger, findings, f, "waited for before it started");
	if (l->api_ns)
		fw_finding_evidence(findings, f, NULL, "idle inside other CUDA calls", "%s",
				    fw_ns_text(findings, l->api_ns));
	fw_places_report(&l->api, ledger, findings, f, "idle inside the call");
	if (l->stalled_ns)
		fw_finding_evidence(findings, f, NULL,
				    "not counted: calls that stalled for over 1 ms", "%s",
				    fw_ns_text(findings, l->stalled_ns));
	if (l->overhead_ns)
		fw_finding_evidence(findings, f, NULL, "not counted: the profiler's own work", "%s",
				    fw_ns_text(findings, l->overhead_ns));
}

static void add_changes(struct fw_findings *findings, struct fw_finding *f)
{
	fw_finding_change(
		findings, f,
		&(struct fw_change){
			.text = "Launch many kernels with one call: a CUDA graph of the step.",
			.pytorch = "model = torch.compile(model, mode=\"reduce-overhead\")",
			.cuda = "cudaStreamBeginCapture(stream, "
				"cudaStreamCaptureModeThreadLocal);\n"
				"step(stream);\n"
				"cudaStreamEndCapture(stream, &graph);\n"
				"cudaGraphInstantiate(&exec, graph, 0);\n"
				"for (;;)\n\tcudaGraphLaunch(exec, stream);",
			.when = "shapes and addresses stay the same from step to step and nothing "
				"in the "
				"step reads back to the host; the first call takes seconds" });
	fw_finding_change(
		findings, f,
		&(struct fw_change){
			.text = "Give each launch more to do: fuse elementwise operators, or raise "
				"the "
				"batch size.",
			.pytorch = "model = torch.compile(model)  # fuses; or a larger batch_size",
			.when = "the small kernels work on the same tensors one after the other, "
				"which fusing needs, or memory and latency allow a larger batch" });
}

static void look(const struct fw_ledger *ledger, size_t d, struct fw_findings *findings)
{
	const struct fw_device_ledger *device = &ledger->devices[d];
	struct fw_intervals overhead = { 0 };
	struct launches l = { .latency = FW_PLACES, .api = FW_PLACES };
	const struct fw_host *host;
	struct fw_finding *f;
	int64_t cost;

	if (fw_rule_lacks(ledger, findings, &fw_rule_launch_bound, FW_BLIND_NO_CALLS, "CUDA calls"))
		return;
	host = fw_host_of(ledger, findings);
	if (!host || !fw_host_overhead(host, d, &overhead))
		findings->failed = true;
	fw_intervals_merge(&overhead);
	measure_idle(ledger, device, &overhead, &l);
	fw_intervals_release(&overhead);
	cost = l.latency_ns + l.api_ns;
	if (!cost)
		return;
	measure_kernels(ledger, device, &l);
	f = fw_finding_add(findings, &fw_rule_launch_bound, d,
			   "The GPU waits for the launches of small kernels");
	fw_finding_cost(f, device, cost, fw_bound(ledger, device, FW_BOUND_HOST, NULL, 0, cost));
	add_evidence(ledger, findings, f, &l);
	add_changes(findings, f);
}

const struct fw_rule fw_rule_launch_bound = {
	.id = "launch-bound",
	.summary = "Launches of small kernels reach the GPU one by one",
	.clause = "it waited for launches of small kernels",
	.look = look,
};
