/* Kernels that are ready and find room on the GPU wait for kernels of other streams or threads. */
#include "rules/gpu_time.h"
#include "rules/host.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A kernel that starts so soon after another ended was waiting for it. */
#define FOLLOWS_NS 20000
/* Threads that share a stream are independent if they take turns at least this often. */
#define TURNS_SHARE 0.2
/* CUPTI's number of the legacy default stream, with which other streams synchronise. */
#define LEGACY_STREAM 7

extern const struct fw_rule fw_rule_stream_serialisation;

struct job {
	const struct fw_ledger *ledger;
	const struct fw_device_ledger *device;
	const struct fw_host *host;
	struct fw_intervals waited; /* a kernel was ready, and only small kernels ran */
	int64_t *stream_end;        /* by stream row: end of its last operation so far */
	uint32_t *stream_thread;    /* the thread that launched that operation */
	int64_t kernels, waits, across, turns;
	bool has_legacy;
	bool failed;
};

static uint32_t thread_of(const struct job *job, uint32_t op)
{
	uint32_t call = job->ledger->call_of_op[op];

	return call == FW_NONE ? FW_NONE : job->ledger->trace->calls.thread[call];
}

/* A kernel with fewer blocks than the GPU has SMs: another one would find room beside it. */
static bool leaves_room(const struct job *job, uint32_t op)
{
	const struct fw_trace *t = job->ledger->trace;
	uint32_t shape = t->ops.detail[op];
	int32_t sms = t->devices.sms[job->device->device];

	return t->ops.kind[op] == FW_OP_KERNEL && shape != FW_NONE && sms > 0 &&
	       (double)t->shapes.grid_x[shape] * t->shapes.grid_y[shape] * t->shapes.grid_z[shape] <
		       (double)sms;
}

/* True if the launching thread asked for an order itself, right before this launch. */
static bool asked_to_wait(const struct job *job, uint32_t call)
{
	const struct fw_trace *t = job->ledger->trace;
	uint32_t previous = fw_host_previous_call(job->host, call);

	return previous != FW_NONE &&
	       strstr(fw_trace_text(t, t->calls.name[previous]), "StreamWaitEvent") != NULL;
}

/*
 * The op waited from the time it was ready (launched, and its own thread's previous work on the stream
 * done) to its start, for `before`, the operation that ran until then.
 */
static void add_wait(struct job *job, uint32_t op, uint32_t before, bool is_across)
{
	const struct fw_trace *t = job->ledger->trace;
	int64_t from = t->ops.start_ns[before],
		ready = t->calls.end_ns[job->ledger->call_of_op[op]];

	if (is_across && job->stream_end[t->ops.stream[op]] > ready)
		ready = job->stream_end[t->ops.stream[op]];
	if (ready > from)
		from = ready;
	if (from >= t->ops.end_ns[before])
		return;
	job->waits++;
	job->across += is_across;
	if (t->streams.id[t->ops.stream[op]] == LEGACY_STREAM ||
	    t->streams.id[t->ops.stream[before]] == LEGACY_STREAM)
		job->has_legacy = true;
	if (!fw_intervals_add(&job->waited, from, t->ops.end_ns[before]))
		job->failed = true;
}

/* Looks at one operation; before: the one that ended last of those that began earlier. */
static void pass_op(struct job *job, uint32_t op, uint32_t before)
{
	const struct fw_trace *t = job->ledger->trace;
	uint32_t stream = t->ops.stream[op], thread = thread_of(job, op);
	bool is_other_thread = job->stream_thread[stream] != FW_NONE && thread != FW_NONE &&
			       job->stream_thread[stream] != thread;

	job->kernels += t->ops.kind[op] == FW_OP_KERNEL;
	job->turns += is_other_thread;
	if (before != FW_NONE && thread != FW_NONE && t->ops.kind[op] == FW_OP_KERNEL &&
	    !job->ledger->nth_of_op[op] && fw_op_in_window(job->ledger, job->device, op) &&
	    leaves_room(job, op) && leaves_room(job, before) &&
	    t->ops.start_ns[op] >= t->ops.end_ns[before] &&
	    t->ops.start_ns[op] - t->ops.end_ns[before] <= FOLLOWS_NS &&
	    !asked_to_wait(job, job->ledger->call_of_op[op])) {
		if (t->ops.stream[before] != stream)
			add_wait(job, op, before, true);
		else if (is_other_thread)
			add_wait(job, op, before, false);
	}
	if (job->stream_end[stream] < t->ops.end_ns[op])
		job->stream_end[stream] = t->ops.end_ns[op];
	job->stream_thread[stream] = thread;
}

static void measure(struct job *job)
{
	const struct fw_trace *t = job->ledger->trace;
	uint32_t before = FW_NONE;

	job->stream_end = malloc((t->streams.len + 1) * sizeof(*job->stream_end));
	job->stream_thread = malloc((t->streams.len + 1) * sizeof(*job->stream_thread));
	if (!job->stream_end || !job->stream_thread) {
		job->failed = true;
		return;
	}
	for (size_t i = 0; i < t->streams.len; i++) {
		job->stream_end[i] = INT64_MIN;
		job->stream_thread[i] = FW_NONE;
	}
	for (size_t i = 0; i < job->device->op_count; i++) {
		uint32_t op = job->device->ops[i];

		pass_op(job, op, before);
		if (before == FW_NONE || t->ops.end_ns[op] > t->ops.end_ns[before])
			before = op;
	}
	fw_intervals_merge(&job->waited);
}

static void add_finding(struct job *job, size_t d, struct fw_findings *findings, int64_t cost)
{
	struct fw_finding *f =
		fw_finding_add(findings, &fw_rule_stream_serialisation, d,
			       "Small kernels that could run together run one by one");

	fw_finding_cost(f, job->device, cost, fw_gpu_bound(job->ledger, findings, d, cost));
	fw_finding_evidence(findings, f, NULL, "kernels that were ready and waited",
			    "%" PRId64 " of %" PRId64
			    ", for %s, while kernels with fewer blocks than "
			    "SMs ran",
			    job->waits, job->kernels, fw_ns_text(findings, cost));
	fw_finding_evidence(findings, f, NULL, "of them",
			    "%" PRId64 " behind another stream, %" PRId64
			    " behind another thread on the same stream",
			    job->across, job->waits - job->across);
	if (job->has_legacy && job->across)
		fw_finding_evidence(findings, f, "stream 7", "the legacy default stream takes part",
				    "it waits for all other blocking streams, and they for it");
	fw_finding_change(
		findings, f,
		&(struct fw_change){
			.text = "Launch independent work on streams of its own that do not "
				"synchronise with the "
				"legacy default stream; pass the stream to library calls too.",
			.pytorch = "side = torch.cuda.Stream()\n"
				   "side.wait_stream(torch.cuda.current_stream())\n"
				   "with torch.cuda.stream(side):\n    y2 = branch(x)",
			.cuda = "cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);\n"
				"gemm(..., s);  /* --default-stream per-thread changes only the "
				"code it compiles "
				"*/",
			.when = "the kernels are independent and each leaves SMs empty; full "
				"kernels gain "
				"nothing from company" });
}

static void look(const struct fw_ledger *ledger, size_t d, struct fw_findings *findings)
{
	const struct fw_device_ledger *device = &ledger->devices[d];
	struct job job = { .ledger = ledger, .device = device };
	int64_t cost;

	if (fw_rule_lacks(ledger, findings, &fw_rule_stream_serialisation, FW_BLIND_NO_CALLS,
			  "CUDA calls") ||
	    fw_rule_lacks(ledger, findings, &fw_rule_stream_serialisation,
			  FW_BLIND_NO_DEVICE_PROPERTIES, "the GPU's number of SMs"))
		return;
	job.host = fw_host_of(ledger, findings);
	if (!job.host)
		return;
	measure(&job);
	cost = fw_intervals_covered(&job.waited, device->window.start_ns, device->window.end_ns);
	/* Forward and backward threads hand a stream over once a step: that is an order, not a queue. */
	if (!job.failed && cost > 0 &&
	    (job.across || (double)job.turns >= TURNS_SHARE * (double)job.kernels))
		add_finding(&job, d, findings, cost);
	findings->failed |= job.failed;
	fw_intervals_release(&job.waited);
	free(job.stream_end);
	free(job.stream_thread);
}

const struct fw_rule fw_rule_stream_serialisation = {
	.id = "stream-serialisation",
	.summary = "Small kernels that could run together run one by one",
	.clause = "small kernels ran one by one",
	.look = look,
};
