/* First calls, module loading, graph instantiation and compilation leave the GPU idle. */
#include "rules/compiling.h"
#include "rules/gpu_time.h"
#include "rules/host.h"
#include "rules/places.h"

#include <inttypes.h>

/* From this many compilations on, something that should be compiled once is compiled again and again. */
#define RECOMPILES 3

extern const struct fw_rule fw_rule_one_time_costs;

struct job {
	const struct fw_ledger *ledger;
	size_t d;
	struct fw_intervals
		compiling; /* ranges in which the framework compiled, of the device's processes */
	struct fw_places calls;
	int64_t call_ns, compile_ns; /* idle time */
	int64_t compilations;
};

static void measure(struct job *job)
{
	const struct fw_device_ledger *device = &job->ledger->devices[job->d];
	const struct fw_trace *t = job->ledger->trace;

	for (size_t i = 0; i < device->idle_count; i++) {
		const struct fw_idle *piece = &device->idle[i];
		int64_t ns = piece->end_ns - piece->start_ns;

		if (piece->class_id != FW_CLASS_ONE_TIME) {
			job->compile_ns += fw_intervals_covered(&job->compiling, piece->start_ns,
								piece->end_ns);
			continue;
		}
		/* A recording marks compilation itself. */
		if (piece->range != FW_NONE) {
			job->compile_ns += ns;
			continue;
		}
		job->call_ns += ns;
		if (piece->call != FW_NONE)
			fw_places_add(&job->calls, t->calls.name[piece->call], ns);
	}
}

static void add_evidence(struct job *job, struct fw_findings *findings, struct fw_finding *f)
{
	const struct fw_window *window = &job->ledger->devices[job->d].window;

	if (job->call_ns)
		fw_finding_evidence(findings, f, NULL, "idle inside first or loading calls", "%s",
				    fw_ns_text(findings, job->call_ns));
	fw_places_report(&job->calls, job->ledger, findings, f, "idle inside the call");
	if (job->compile_ns)
		fw_finding_evidence(findings, f, NULL, "idle while the framework compiled",
				    "%s, %" PRId64 " compilations",
				    fw_ns_text(findings, job->compile_ns), job->compilations);
	if (window->source == FW_WINDOW_FALLBACK || window->source == FW_WINDOW_ALL)
		fw_finding_evidence(findings, f, NULL, "the window",
				    "includes the warm-up: a long run "
				    "pays this once");
}

static void add_changes(struct job *job, struct fw_findings *findings, struct fw_finding *f)
{
	fw_finding_change(
		findings, f,
		&(struct fw_change){
			.text = "Warm up before it counts: run the step, with every shape that "
				"will come, "
				"before measuring or before the service says that it is ready.",
			.pytorch = "for shape in shapes:\n    model(torch.zeros(shape, "
				   "device=device))\n"
				   "torch.cuda.synchronize()",
			.cuda = "/* in the environment: CUDA_MODULE_LOADING=EAGER loads all "
				"kernels at start */",
			.when = "the process lives long, or answers requests; a job of minutes "
				"gains "
				"nothing from moving this cost" });
	if (job->compilations >= RECOMPILES)
		fw_finding_change(
			findings, f,
			&(struct fw_change){
				.text = fw_finding_text(findings,
							"The framework compiled %" PRId64
							" times: varying "
							"shapes are compiled one by one.",
							job->compilations),
				.pytorch = "model = torch.compile(model, dynamic=True)",
				.when = "the recompilations come from shapes. dynamic=False suits "
					"fixed shapes "
					"only: past 8 variants the function runs uncompiled" });
}

static void look(const struct fw_ledger *ledger, size_t d, struct fw_findings *findings)
{
	const struct fw_device_ledger *device = &ledger->devices[d];
	struct job job = { .ledger = ledger, .d = d, .calls = FW_PLACES };
	const struct fw_host *host;
	struct fw_finding *f;
	int64_t cost;

	if (fw_rule_lacks(ledger, findings, &fw_rule_one_time_costs, FW_BLIND_NO_CALLS,
			  "CUDA calls"))
		return;
	host = fw_host_of(ledger, findings);
	if (!host || !fw_compiling(ledger, host, d, INT64_MAX, &job.compiling, &job.compilations))
		findings->failed = true;
	measure(&job);
	fw_intervals_release(&job.compiling);
	cost = job.call_ns + job.compile_ns;
	if (!cost)
		return;
	f = fw_finding_add(findings, &fw_rule_one_time_costs, d,
			   "First calls, loading and compilation: paid once, not in every step");
	fw_finding_cost(f, device, cost, fw_bound(ledger, device, FW_BOUND_HOST, NULL, 0, cost));
	add_evidence(&job, findings, f);
	add_changes(&job, findings, f);
}

const struct fw_rule fw_rule_one_time_costs = {
	.id = "one-time-costs",
	.summary = "First calls, module loading, graph instantiation and compilation",
	.clause = "it waited for one-time work (first calls, loading, compilation)",
	.look = look,
};
