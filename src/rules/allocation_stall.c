/* The GPU is idle while the host allocates, frees or page-locks memory, on this thread or beside it. */
#include "rules/call_groups.h"
#include "rules/gpu_time.h"
#include "rules/host.h"

#include <inttypes.h>
#include <string.h>

#define GROUPS_SHOWN 5

/* A launch call that takes longer was held up: one that is not takes 5 to 15 us. */
#define HELD_UP_NS 100000

extern const struct fw_rule fw_rule_allocation_stall;

struct job {
	const struct fw_ledger *ledger;
	size_t d;
	struct fw_call_groups groups;
	struct fw_intervals allocating; /* all threads' calls */
	int64_t held_up_ns;             /* idle inside other threads' calls meanwhile */
	bool has_page_locking, has_freeing;
	bool failed;
};

static void add_call(struct job *job, uint32_t call)
{
	const struct fw_trace_calls *calls = &job->ledger->trace->calls;
	const char *name = fw_trace_text(job->ledger->trace, calls->name[call]);
	struct fw_call_group *group = fw_call_groups_at(&job->groups, calls->name[call], 0);

	fw_call_groups_add(&job->groups, group, call);
	if (!fw_intervals_add(&job->allocating, calls->start_ns[call], calls->end_ns[call]))
		job->failed = true;
	if (!group)
		return;
	group->count++;
	group->host_ns += calls->end_ns[call] - calls->start_ns[call];
	job->has_page_locking |= strstr(name, "Host") != NULL;
	job->has_freeing |= strstr(name, "Free") != NULL;
}

static void collect(struct job *job, const struct fw_host *host)
{
	struct fw_rows calls;

	for (size_t p = 0; fw_host_calls(host, job->d, p, &calls); p++)
		for (size_t i = 0; i < calls.count; i++)
			if (fw_ledger_call_class(job->ledger, calls.rows[i]) == FW_CLASS_ALLOC &&
			    fw_host_in_window(host, job->d, calls.rows[i]) &&
			    !fw_host_is_repeat(host, calls.rows[i]))
				add_call(job, calls.rows[i]);
	fw_intervals_merge(&job->allocating);
}

/* The call in which a piece of idle time lies, if it is a launch that was held up; FW_NONE. */
static uint32_t held_up_call(const struct fw_ledger *ledger, const struct fw_idle *piece)
{
	const struct fw_trace_calls *calls = &ledger->trace->calls;
	uint32_t call = piece->call;

	if (piece->class_id != FW_CLASS_API && piece->class_id != FW_CLASS_LAUNCH_LATENCY)
		return FW_NONE;
	if (call == FW_NONE && piece->next_op != FW_NONE)
		call = ledger->call_of_op[piece->next_op];
	if (call == FW_NONE || calls->end_ns[call] - calls->start_ns[call] <= HELD_UP_NS)
		return FW_NONE;
	return call;
}

/* Idle time by the call that owned it; calls of other threads held up by an allocation have no group. */
static int64_t measure(struct job *job)
{
	const struct fw_device_ledger *device = &job->ledger->devices[job->d];

	for (size_t i = 0; i < device->idle_count; i++) {
		const struct fw_idle *piece = &device->idle[i];

		if (piece->class_id == FW_CLASS_ALLOC && piece->call != FW_NONE) {
			struct fw_call_group *group = fw_call_groups_at(
				&job->groups, job->ledger->trace->calls.name[piece->call], 0);

			if (group)
				group->cost_ns += piece->end_ns - piece->start_ns;
		} else if (held_up_call(job->ledger, piece) != FW_NONE) {
			job->held_up_ns += fw_intervals_covered(&job->allocating, piece->start_ns,
								piece->end_ns);
		}
	}
	return device->ns[FW_CLASS_ALLOC] + job->held_up_ns;
}

static void add_evidence(struct job *job, struct fw_findings *findings, struct fw_finding *f)
{
	const struct fw_call_group *list = job->groups.list.data;

	fw_call_groups_sort(&job->groups);
	for (size_t i = 0; i < job->groups.list.len && i < GROUPS_SHOWN; i++)
		fw_finding_evidence(findings, f, fw_trace_text(job->ledger->trace, list[i].name),
				    "calls in the window",
				    "%" PRId64 ", %s on the host, GPU idle meanwhile %s",
				    list[i].count, fw_ns_text(findings, list[i].host_ns),
				    fw_ns_text(findings, list[i].cost_ns));
	if (job->held_up_ns)
		fw_finding_evidence(findings, f, NULL,
				    "launches of other threads held up meanwhile", "%s idle",
				    fw_ns_text(findings, job->held_up_ns));
}

static void add_changes(struct job *job, struct fw_findings *findings, struct fw_finding *f)
{
	if (job->has_page_locking)
		fw_finding_change(
			findings, f,
			&(struct fw_change){ .text = "Page-lock memory once. In a steady state the "
						     "loader's pinning "
						     "should find its buffers in the cache: "
						     "batches of one size, and a "
						     "small prefetch_factor, since workers x "
						     "prefetch_factor batches "
						     "are held.",
					     .pytorch = "loader = DataLoader(dataset, "
							"pin_memory=True, prefetch_factor=2)",
					     .cuda = "cudaHostAlloc(&ring, slots * bytes, "
						     "cudaHostAllocDefault);  /* at "
						     "start */",
					     .when = "the calls go on after the warm-up: in the "
						     "first steps they are "
						     "the cache being filled" });
	fw_finding_change(
		findings, f,
		&(struct fw_change){
			.text = job->has_freeing ? "Do not give memory back in the loop: freeing "
						   "makes the next step "
						   "allocate again."
						 : "Allocate before the loop, or from a pool.",
			.pytorch = "# no torch.cuda.empty_cache() in the loop; for varying sizes:\n"
				   "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
			.cuda = "cudaMallocAsync(&p, bytes, stream);  /* a pool, with\n"
				"cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, "
				"&all) */",
			.when = "the calls repeat in every step; those of the first step are paid "
				"once" });
}

static void look(const struct fw_ledger *ledger, size_t d, struct fw_findings *findings)
{
	const struct fw_device_ledger *device = &ledger->devices[d];
	struct job job = { .ledger = ledger, .d = d, .groups = FW_CALL_GROUPS };
	const struct fw_host *host;
	int64_t cost;

	if (fw_rule_lacks(ledger, findings, &fw_rule_allocation_stall, FW_BLIND_NO_CALLS,
			  "CUDA calls"))
		return;
	host = fw_host_of(ledger, findings);
	if (!host)
		return;
	collect(&job, host);
	cost = measure(&job);
	if (cost > 0) {
		struct fw_finding *f = fw_finding_add(
			findings, &fw_rule_allocation_stall, d,
			"The GPU waits while memory is allocated, freed or page-locked");

		fw_finding_cost(f, device, cost,
				fw_bound(ledger, device, FW_BOUND_HOST, NULL, 0, cost));
		add_evidence(&job, findings, f);
		add_changes(&job, findings, f);
	}
	findings->failed |= job.failed || job.groups.failed;
	fw_call_groups_release(&job.groups);
	fw_intervals_release(&job.allocating);
}

const struct fw_rule fw_rule_allocation_stall = {
	.id = "allocation-stall",
	.summary = "Allocating, freeing or page-locking memory leaves the GPU idle",
	.clause = "it waited for memory to be allocated or freed",
	.look = look,
};
