/* Calls that wait for the GPU, or for the driver, without saying so in their name. */
#include "rules/call_groups.h"
#include "rules/copies.h"
#include "rules/gpu_time.h"
#include "rules/places.h"

#include <inttypes.h>
#include <string.h>

#define GROUPS_SHOWN 5

/* A call waited for the GPU if it took longer than this and the GPU's work ended inside it. */
#define WAITED_NS 50000

extern const struct fw_rule fw_rule_implicit_sync;

struct job {
	const struct fw_ledger *ledger;
	size_t d;
	struct fw_intervals busy;  /* the GPU ran something */
	struct fw_intervals other; /* allocations and the profiler's own work: not stalls */
	struct fw_call_groups groups;
	struct fw_places stalls;
	int64_t stalled_ns;
	bool failed;
};

/* True if work ran on the GPU when the call began, and none ran any more when it returned. */
static bool waited(const struct job *job, uint32_t call)
{
	const struct fw_trace_calls *calls = &job->ledger->trace->calls;
	int64_t start = calls->start_ns[call], end = calls->end_ns[call];

	return end - start > WAITED_NS && fw_intervals_covered(&job->busy, start, start + 1) > 0 &&
	       fw_intervals_covered(&job->busy, end - 1, end) == 0;
}

/* Neither a synchronisation, nor a copy, nor a launch: those have rules of their own. */
static bool is_candidate(const struct job *job, const struct fw_host *host, uint32_t call)
{
	const struct fw_trace *t = job->ledger->trace;
	enum fw_class c = fw_ledger_call_class(job->ledger, call);
	uint32_t op = fw_host_op_of_call(host, call);

	if (c == FW_CLASS_SYNC || c == FW_CLASS_BLOCKING_COPY)
		return false;
	return op == FW_NONE || t->ops.kind[op] == FW_OP_MEMSET;
}

static void collect(struct job *job, const struct fw_host *host)
{
	const struct fw_trace_calls *calls = &job->ledger->trace->calls;
	struct fw_rows rows;

	for (size_t p = 0; fw_host_calls(host, job->d, p, &rows); p++)
		for (size_t i = 0; i < rows.count; i++) {
			uint32_t call = rows.rows[i];
			struct fw_call_group *group;

			if (fw_ledger_call_class(job->ledger, call) == FW_CLASS_ALLOC &&
			    !fw_intervals_add(&job->other, calls->start_ns[call],
					      calls->end_ns[call]))
				job->failed = true;
			if (!fw_host_in_window(host, job->d, call) ||
			    fw_host_is_repeat(host, call) || !is_candidate(job, host, call) ||
			    !waited(job, call))
				continue;
			group = fw_call_groups_at(&job->groups, calls->name[call], 0);
			fw_call_groups_add(&job->groups, group, call);
			if (group) {
				group->count++;
				group->host_ns += calls->end_ns[call] - calls->start_ns[call];
			}
		}
}

/* Launch calls of over 1 ms that are not first ones, while neither an allocation nor the profiler ran. */
static void measure_stalls(struct job *job)
{
	const struct fw_device_ledger *device = &job->ledger->devices[job->d];
	const struct fw_trace_calls *calls = &job->ledger->trace->calls;

	for (size_t i = 0; i < device->idle_count; i++) {
		const struct fw_idle *piece = &device->idle[i];
		int64_t ns = piece->end_ns - piece->start_ns;

		if (piece->class_id != FW_CLASS_API || piece->call == FW_NONE ||
		    calls->end_ns[piece->call] - calls->start_ns[piece->call] <= FW_STALLED_CALL_NS)
			continue;
		ns -= fw_intervals_covered(&job->other, piece->start_ns, piece->end_ns);
		job->stalled_ns += ns;
		fw_places_add(&job->stalls, calls->name[piece->call], ns);
	}
}

static void add_evidence(struct job *job, struct fw_findings *findings, struct fw_finding *f)
{
	const struct fw_call_group *list = job->groups.list.data;

	for (size_t i = 0; i < job->groups.list.len && i < GROUPS_SHOWN; i++)
		fw_finding_evidence(findings, f, fw_trace_text(job->ledger->trace, list[i].name),
				    "calls that waited for the GPU",
				    "%" PRId64 ", host blocked %s, GPU idle because of them %s",
				    list[i].count, fw_ns_text(findings, list[i].host_ns),
				    fw_ns_text(findings, list[i].cost_ns));
	if (job->stalled_ns)
		fw_finding_evidence(
			findings, f, NULL, "launch calls of over 1 ms while the GPU was idle",
			"%s; no record shows what held them: a lock of the driver, another "
			"process, a page fault",
			fw_ns_text(findings, job->stalled_ns));
	fw_places_report(&job->stalls, job->ledger, findings, f, "stalled in the call");
}

static void add_changes(const struct job *job, struct fw_findings *findings, struct fw_finding *f)
{
	if (job->groups.list.len)
		fw_finding_change(
			findings, f,
			&(struct fw_change){
				.text = "Keep calls that drain the GPU out of the loop: they free "
					"or map "
					"memory, load code, or use the legacy default stream.",
				.pytorch = "# before the loop: allocate, load, warm up; in it: no "
					   "empty_cache(), no first use of a module",
				.cuda = "cudaFreeAsync(p, stream);  /* instead of cudaFree(p) */\n"
					"cudaMemsetAsync(p, 0, bytes, stream);  /* instead of "
					"cudaMemset */\n"
					"cudaStreamCreateWithFlags(&stream, "
					"cudaStreamNonBlocking);",
				.when = "the host has work to issue meanwhile; the wait itself, "
					"while the GPU "
					"works, costs nothing" });
	if (job->stalled_ns)
		fw_finding_change(
			findings, f,
			&(struct fw_change){
				.text = "Find out what the stalled launches wait for: record "
					"context "
					"switches and other threads' calls for a short run.",
				.cuda = "nsys profile --trace=cuda,osrt --sampling-trigger=timer "
					"...",
				.when = "the stalls repeat; a single one may be the profiler's, or "
					"the "
					"machine's" });
}

static void look(const struct fw_ledger *ledger, size_t d, struct fw_findings *findings)
{
	const struct fw_device_ledger *device = &ledger->devices[d];
	struct job job = {
		.ledger = ledger, .d = d, .groups = FW_CALL_GROUPS, .stalls = FW_PLACES
	};
	const struct fw_host *host;
	int64_t waits, cost;

	if (fw_rule_lacks(ledger, findings, &fw_rule_implicit_sync, FW_BLIND_NO_CALLS,
			  "CUDA calls"))
		return;
	host = fw_host_of(ledger, findings);
	if (!host || !fw_gpu_time(ledger, device, FW_GPU_BUSY, &job.busy) ||
	    !fw_host_overhead(host, d, &job.other))
		job.failed = true;
	if (!job.failed)
		collect(&job, host);
	fw_intervals_merge(&job.other);
	measure_stalls(&job);
	waits = fw_call_groups_rank(&job.groups, ledger, device);
	cost = waits + job.stalled_ns;
	if (waits >= 0 && cost > 0) {
		struct fw_finding *f =
			fw_finding_add(findings, &fw_rule_implicit_sync, d,
				       "Calls wait for the GPU or the driver without saying so");

		fw_finding_cost(f, device, cost,
				fw_bound(ledger, device, FW_BOUND_HOST, NULL, 0, cost));
		add_evidence(&job, findings, f);
		add_changes(&job, findings, f);
	}
	findings->failed |= job.failed || job.groups.failed || waits < 0;
	fw_call_groups_release(&job.groups);
	fw_places_release(&job.stalls);
	fw_intervals_release(&job.busy);
	fw_intervals_release(&job.other);
}

const struct fw_rule fw_rule_implicit_sync = {
	.id = "implicit-sync",
	.summary = "Calls that wait for the GPU or the driver without saying so",
	.clause = "it ran dry around calls that wait implicitly",
	.look = look,
};
