/* The time before each device's window. */
#include "rules/before.h"

#include "rules/compiling.h"

struct job {
	const struct fw_ledger *ledger;
	const struct fw_host *host;
	size_t d;
	int64_t end_ns; /* where the window begins */
	int64_t first_ns;
	struct fw_before *before;
};

/* Operations are in order of their start. */
static void add_gpu(struct job *job)
{
	const struct fw_device_ledger *device = &job->ledger->devices[job->d];
	const struct fw_trace_ops *ops = &job->ledger->trace->ops;
	int64_t covered = INT64_MIN;

	for (size_t i = 0; i < device->op_count && ops->start_ns[device->ops[i]] < job->end_ns;
	     i++) {
		int64_t start = ops->start_ns[device->ops[i]], end = ops->end_ns[device->ops[i]];

		job->first_ns = start < job->first_ns ? start : job->first_ns;
		start = start > covered ? start : covered;
		end = end < job->end_ns ? end : job->end_ns;
		if (end > start)
			job->before->gpu_busy_ns += end - start;
		covered = end > covered ? end : covered;
	}
}

static bool add_call(struct job *job, uint32_t call, struct fw_intervals *loading,
		     struct fw_intervals *alloc)
{
	const struct fw_trace_calls *calls = &job->ledger->trace->calls;
	enum fw_class class_id = fw_ledger_call_class(job->ledger, call);
	int64_t start = calls->start_ns[call], end = calls->end_ns[call];
	struct fw_before *b = job->before;

	job->first_ns = start < job->first_ns ? start : job->first_ns;
	end = end < job->end_ns ? end : job->end_ns;
	if (class_id == FW_CLASS_ONE_TIME) {
		b->loading_calls++;
		if (b->longest == FW_NONE ||
		    calls->end_ns[call] - start >
			    calls->end_ns[b->longest] - calls->start_ns[b->longest])
			b->longest = call;
		return fw_intervals_add(loading, start, end);
	}
	if (class_id != FW_CLASS_ALLOC)
		return true;
	b->alloc_calls++;
	return fw_intervals_add(alloc, start, end);
}

static bool add_calls(struct job *job)
{
	struct fw_intervals loading = { 0 }, alloc = { 0 };
	struct fw_rows rows;
	bool ok = true;

	for (size_t p = 0; ok && fw_host_calls(job->host, job->d, p, &rows); p++)
		for (size_t i = 0; ok && i < rows.count; i++) {
			uint32_t call = rows.rows[i];

			if (job->ledger->trace->calls.start_ns[call] < job->end_ns &&
			    !fw_host_is_repeat(job->host, call))
				ok = add_call(job, call, &loading, &alloc);
		}
	fw_intervals_merge(&loading);
	fw_intervals_merge(&alloc);
	job->before->loading_ns = fw_intervals_length(&loading);
	job->before->alloc_ns = fw_intervals_length(&alloc);
	fw_intervals_release(&loading);
	fw_intervals_release(&alloc);
	return ok;
}

static bool add_compiling(struct job *job)
{
	struct fw_intervals set = { 0 };
	bool ok = fw_compiling(job->ledger, job->host, job->d, job->end_ns, &set,
			       &job->before->compilations);

	job->before->compile_ns = fw_intervals_covered(&set, INT64_MIN, job->end_ns);
	fw_intervals_release(&set);
	return ok;
}

/* Without a window of its own kind there is no before: the whole trace is analysed. */
static bool look(struct job *job)
{
	const struct fw_window *window = &job->ledger->devices[job->d].window;

	job->before->longest = FW_NONE;
	if (window->source == FW_WINDOW_ALL || window->source == FW_WINDOW_FALLBACK)
		return true;
	job->end_ns = job->first_ns = window->start_ns;
	job->before->has_calls = !(job->ledger->trace->blind_spots & 1u << FW_BLIND_NO_CALLS);
	add_gpu(job);
	if (!add_calls(job) || !add_compiling(job))
		return false;
	job->before->duration_ns = job->end_ns - job->first_ns;
	return true;
}

bool fw_before_build(const struct fw_ledger *ledger, struct fw_findings *findings)
{
	struct job job = { .ledger = ledger };

	findings->before =
		fw_arena_array(&findings->arena, ledger->device_count, sizeof(*findings->before));
	job.host = fw_host_of(ledger, findings);
	if (!findings->before || !job.host)
		return false;
	for (job.d = 0; job.d < ledger->device_count; job.d++) {
		job.before = &findings->before[job.d];
		if (!look(&job))
			return false;
	}
	return true;
}
