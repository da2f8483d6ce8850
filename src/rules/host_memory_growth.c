/* Host memory that grows all the time: it costs nothing until it is full. */
#include "base/amount.h"
#include "rules/host.h"
#include "rules/host_memory.h"

#include <inttypes.h>
#include <string.h>

/* Less is noise; it also has to be this share of what there was. */
#define GROWTH_BYTES 64e6
#define GROWTH_SHARE 0.05
/* The window's first third counts as warm-up; a shorter window shows nothing but that. */
#define WARM_UP         3
#define LEAST_WINDOW_NS INT64_C(30000000000)
/* What only grew at the start has stopped: the lows must still rise at this share of the earlier pace. */
#define STILL_GROWS 0.25
/* CUDA's page-locked memory explains the growth from this share on. */
#define LOCKED_SHARE 0.5

#define THIRD (FW_MEMORY_POINTS / 3)

extern const struct fw_rule fw_rule_host_memory_growth;

struct line {
	double start, end, per_second; /* bytes; the slope of least squares */
};

/* What the process page-locked with CUDA. */
struct locked {
	double bytes[FW_MEMORY_POINTS]; /* since the recording began, less what was freed */
	int64_t calls;                  /* in the part looked at */
	bool is_known;                  /* bytes are recorded */
};

struct job {
	const struct fw_ledger *ledger;
	struct fw_findings *findings;
	size_t d;
	uint32_t process;
	int64_t start_ns, end_ns;
	struct fw_host_memory memory;
	struct locked locked;
};

static double lowest(const double *bytes, size_t third)
{
	double low = bytes[third * THIRD];

	for (size_t k = third * THIRD; k < (third + 1) * THIRD; k++)
		low = bytes[k] < low ? bytes[k] : low;
	return low;
}

static double slope(const double *bytes, double seconds)
{
	double step = seconds / (FW_MEMORY_POINTS - 1), mean = 0, xx = 0, xy = 0;

	for (size_t k = 0; k < FW_MEMORY_POINTS; k++)
		mean += bytes[k] / FW_MEMORY_POINTS;
	for (size_t k = 0; k < FW_MEMORY_POINTS; k++) {
		double x = ((double)k - (FW_MEMORY_POINTS - 1) / 2.0) * step;

		xx += x * x;
		xy += x * (bytes[k] - mean);
	}
	return xy / xx;
}

/*
 * Steady growth: what is left after each release grows too (a sawtooth's lows do not), and still does at
 * the end (after a warm-up it does not).
 */
static bool grows(const struct job *job, const double *bytes, struct line *line)
{
	double first = lowest(bytes, 0), second = lowest(bytes, 1), third = lowest(bytes, 2);
	double growth;

	line->start = bytes[0];
	line->end = bytes[FW_MEMORY_POINTS - 1];
	line->per_second = slope(bytes, (double)(job->end_ns - job->start_ns) / 1e9);
	growth = line->end - line->start;
	return growth > GROWTH_BYTES && growth > GROWTH_SHARE * line->start &&
	       line->per_second > 0 && second > first &&
	       third - second >= STILL_GROWS * (second - first) && third - first >= growth / 2;
}

static bool is_of_process(const struct job *job, uint32_t thread, uint32_t device)
{
	const struct fw_trace *t = job->ledger->trace;

	if (thread != FW_NONE)
		return t->threads.process[thread] == job->process;
	return device == FW_NONE || device == job->ledger->devices[job->d].device;
}

static bool page_locks(const char *name)
{
	return strstr(name, "HostAlloc") || strstr(name, "MallocHost") ||
	       strstr(name, "AllocHost") || strstr(name, "HostRegister");
}

static void add_locked_bytes(struct job *job)
{
	const struct fw_trace_allocations *a = &job->ledger->trace->allocations;
	double *bytes = job->locked.bytes;

	for (size_t i = 0; i < a->len; i++) {
		size_t k;

		if (a->memory[i] != FW_MEM_PINNED ||
		    !is_of_process(job, a->thread[i], a->device[i]))
			continue;
		job->locked.is_known = true;
		k = fw_memory_point(job->start_ns, job->end_ns, a->time_ns[i]);
		if (k < FW_MEMORY_POINTS)
			bytes[k] += (double)a->bytes[i];
	}
	for (size_t k = 1; k < FW_MEMORY_POINTS; k++)
		bytes[k] += bytes[k - 1];
}

static void count_locking(struct job *job, const struct fw_host *host, const struct fw_rows *calls)
{
	const struct fw_trace *t = job->ledger->trace;

	for (size_t i = 0; i < calls->count; i++) {
		uint32_t call = calls->rows[i];

		if (t->calls.start_ns[call] >= job->start_ns &&
		    t->calls.start_ns[call] <= job->end_ns && !fw_host_is_repeat(host, call) &&
		    page_locks(fw_trace_text(t, t->calls.name[call])))
			job->locked.calls++;
	}
}

static const char *bytes_text(struct fw_findings *findings, double bytes)
{
	return fw_finding_text(findings, "%s", fw_amount_bytes((int64_t)bytes).text);
}

/* "12 min", "3.4 h" */
static const char *long_time(struct fw_findings *findings, double seconds)
{
	if (seconds < 60)
		return fw_finding_text(findings, "%.0f s", seconds);
	if (seconds < 3600)
		return fw_finding_text(findings, "%.0f min", seconds / 60);
	return fw_finding_text(findings, "%.1f h", seconds / 3600);
}

static struct fw_finding *add(struct job *job, const char *title)
{
	struct fw_finding *f =
		fw_finding_add(job->findings, &fw_rule_host_memory_growth, job->d, title);

	if (f)
		f->harm = "no GPU time until the memory is full: then a process is killed";
	return f;
}

static void put_line(struct job *job, struct fw_finding *f, const char *label,
		     const struct line *line)
{
	struct fw_findings *findings = job->findings;

	fw_finding_evidence(findings, f, NULL, label, "%s at the start, %s at the end, %s a minute",
			    bytes_text(findings, line->start), bytes_text(findings, line->end),
			    bytes_text(findings, 60 * line->per_second));
}

static void put_flat(struct job *job, struct fw_finding *f, const char *label, const double *bytes)
{
	fw_finding_evidence(job->findings, f, NULL, label, "%s at the start, %s at the end",
			    bytes_text(job->findings, bytes[0]),
			    bytes_text(job->findings, bytes[FW_MEMORY_POINTS - 1]));
}

static const char *children_label(struct job *job)
{
	return fw_finding_text(job->findings,
			       "the %zu process%s below it, added up, a page that they share "
			       "counted in each",
			       job->memory.children, job->memory.children == 1 ? "" : "es");
}

/* Over which time, and how long until the memory is full. */
static void put_limit(struct job *job, struct fw_finding *f, double per_second)
{
	const struct fw_host_memory *m = &job->memory;
	struct fw_findings *findings = job->findings;

	fw_finding_evidence(findings, f, NULL, "looked at", "%s, after the first third as warm-up",
			    fw_ns_text(findings, job->end_ns - job->start_ns));
	if (m->has_left && m->limit > 0)
		fw_finding_evidence(
			findings, f, NULL, "memory left at the end",
			"%s of %s: full in %s at this pace",
			bytes_text(findings, m->left[FW_MEMORY_POINTS - 1]),
			bytes_text(findings, m->limit),
			long_time(findings, m->left[FW_MEMORY_POINTS - 1] / per_second));
}

static double locked_growth(const struct job *job)
{
	return job->locked.bytes[FW_MEMORY_POINTS - 1] - job->locked.bytes[0];
}

static void put_locked(struct job *job, struct fw_finding *f)
{
	const struct locked *locked = &job->locked;
	double bytes = locked_growth(job);

	if (locked->is_known)
		fw_finding_evidence(job->findings, f, NULL,
				    "page-locked by CUDA in that time, less what was freed",
				    "%s, %" PRId64 " calls",
				    bytes > 0 ? bytes_text(job->findings, bytes) : "0 B",
				    locked->calls);
	else
		fw_finding_evidence(job->findings, f, NULL, "calls that page-lock memory",
				    locked->calls ? "%" PRId64 ", bytes unknown" : "%" PRId64,
				    locked->calls);
}

static void advise_locked(struct job *job, struct fw_finding *f)
{
	fw_finding_change(
		job->findings, f,
		&(struct fw_change){
			.text = "PyTorch keeps every page-locked block for a later batch that fits "
				"it. Give the batches one size, or a few (pad, or bucket by "
				"length), and have fewer of them ahead.",
			.pytorch = "loader = DataLoader(dataset, pin_memory=True, "
				   "prefetch_factor=2,\n"
				   "                    collate_fn=pad_to_one_length)",
			.cuda = "cudaHostAlloc(&buffer, largest, cudaHostAllocDefault);  // once, "
				"not once a batch",
			.when = "batches differ in their bytes, or many wait ahead. Memory that "
				"the program page-locks itself has to be freed by it" });
}

static void advise_main(struct job *job, struct fw_finding *f)
{
	fw_finding_change(
		job->findings, f,
		&(struct fw_change){
			.text = "Look for what the loop keeps: losses or outputs in a list with "
				"their graph, metrics, logs, caches.",
			.pytorch = "total += loss.item()  # or loss.detach(): the loss itself "
				   "keeps its graph",
			.when = "it goes on from epoch to epoch. tracemalloc shows which lines "
				"allocate what stays" });
}

static void advise_workers(struct job *job, struct fw_finding *f)
{
	fw_finding_change(
		job->findings, f,
		&(struct fw_change){
			.text = "The processes keep what they load: look for caches in the data "
				"set and for lists to which __getitem__ appends.",
			.pytorch = "loader = DataLoader(dataset, num_workers=N, "
				   "persistent_workers=False)  # ends the workers after each epoch",
			.when = "it goes on from epoch to epoch; a cache that will hold all of a "
				"small data set stops by itself" });
}

static void advise_copies(struct job *job, struct fw_finding *f)
{
	fw_finding_change(
		job->findings, f,
		&(struct fw_change){
			.text = "To read a Python object is to count a reference to it, and that "
				"write copies the page which a forked worker shared. Keep the data "
				"set's list in one array.",
			.pytorch = "self.names = numpy.array(names, dtype=\"S\")  # or one torch "
				   "tensor, or an Arrow table",
			.when = job->memory.has_share
					? "the data set holds many Python objects (lists, dicts, "
					  "strings); fewer workers copy less"
					: "the data set holds many Python objects (lists, dicts, "
					  "strings); fewer workers copy less. Other programs that "
					  "take memory on this machine look the same" });
}

/* Whether page-locked memory is what grows; driver and kernel decide whether it counts as resident. */
static bool is_by_locking(const struct job *job, double growth)
{
	return job->locked.is_known ? locked_growth(job) >= LOCKED_SHARE * growth
				    : job->locked.calls > 0;
}

static void look_at_main(struct job *job)
{
	struct fw_finding *f;
	struct line line;
	bool is_locked, is_resident = grows(job, job->memory.main, &line);

	if (!is_resident && !grows(job, job->locked.bytes, &line))
		return;
	is_locked = is_by_locking(job, line.end - line.start);
	f = add(job, is_locked ? "Host memory grows: page-locked blocks are taken and kept"
			       : "Host memory of the program grows, not by page-locking");
	if (is_resident)
		put_line(job, f, "resident memory of the program", &line);
	else
		put_flat(job, f, "resident memory of the program", job->memory.main);
	put_locked(job, f);
	if (job->memory.children)
		put_flat(job, f, children_label(job), job->memory.children_own);
	put_limit(job, f, line.per_second);
	if (is_locked)
		advise_locked(job, f);
	else
		advise_main(job, f);
}

/*
 * Memory used up that no process's resident memory shows: a page counts as resident in each process that
 * maps it, before it is copied and after. Added to what the children had, of which it can be a part.
 */
static bool copies_pages(const struct job *job, struct line *line)
{
	const struct fw_host_memory *m = &job->memory;
	double bytes[FW_MEMORY_POINTS];

	if (!m->has_left || !m->children)
		return false;
	for (size_t k = 0; k < FW_MEMORY_POINTS; k++)
		bytes[k] = m->children_own[0] + m->left[0] - m->left[k] -
			   (m->main[k] - m->main[0]) - (m->children_own[k] - m->children_own[0]);
	return grows(job, bytes, line) && line->end - line->start <= line->start;
}

/* What the processes' parts grew by beyond their resident memory: pages that were there already. line: of the parts. */
static bool is_copied(const struct job *job, struct line *line)
{
	const struct fw_host_memory *m = &job->memory;
	double bytes[FW_MEMORY_POINTS];
	struct line beyond;

	for (size_t k = 0; k < FW_MEMORY_POINTS; k++)
		bytes[k] = m->children_share[k] - (m->children_own[k] - m->children_own[0]);
	return grows(job, m->children_share, line) && grows(job, bytes, &beyond);
}

static void put_copies(struct job *job, struct fw_finding *f, const struct line *line)
{
	put_flat(job, f, children_label(job), job->memory.children_own);
	put_flat(job, f, "resident memory of the program", job->memory.main);
	put_limit(job, f, line->per_second);
	advise_copies(job, f);
}

static void look_at_children(struct job *job)
{
	struct fw_finding *f;
	struct line line;

	if (grows(job, job->memory.children_own, &line)) {
		f = add(job, "Host memory of the processes below the program grows");
		put_line(job, f, children_label(job), &line);
		put_flat(job, f, "resident memory of the program", job->memory.main);
		put_limit(job, f, line.per_second);
		advise_workers(job, f);
	} else if (job->memory.has_share) {
		if (!is_copied(job, &line))
			return;
		f = add(job, "Host memory fills: forked workers copy the pages that they share");
		put_line(job, f,
			 "their parts of it, a page that n processes share counted 1/n in each",
			 &line);
		put_copies(job, f, &line);
	} else if (copies_pages(job, &line)) {
		f = add(job,
			"Host memory fills: forked workers seem to copy the pages that they share");
		fw_finding_evidence(job->findings, f, NULL, "memory taken beyond these",
				    "%s, %s a minute",
				    bytes_text(job->findings, line.end - line.start),
				    bytes_text(job->findings, 60 * line.per_second));
		put_copies(job, f, &line);
	}
}

/* The process of the device's nth calls; FW_NONE: no call of it is recorded. */
static uint32_t process_of(const struct job *job, const struct fw_rows *calls)
{
	const struct fw_trace *t = job->ledger->trace;

	return calls->count ? t->threads.process[t->calls.thread[calls->rows[0]]] : FW_NONE;
}

/* A process that drives several devices is spoken of with the first. */
static bool is_new(const struct job *job, const struct fw_host *host)
{
	struct fw_rows calls;

	for (size_t d = 0; d < job->d; d++)
		for (size_t p = 0; fw_host_calls(host, d, p, &calls); p++)
			if (process_of(job, &calls) == job->process)
				return false;
	return true;
}

static void look_at_process(struct job *job, const struct fw_host *host,
			    const struct fw_rows *calls)
{
	const struct fw_host_samples *samples;

	job->process = process_of(job, calls);
	if (job->process == FW_NONE || !is_new(job, host))
		return;
	samples = fw_host_samples_of(job->ledger->trace, job->findings);
	if (!samples)
		return;
	fw_host_memory_of(job->ledger->trace, samples, job->process,
			  &(struct fw_memory_time){ job->start_ns, job->end_ns }, &job->memory);
	if (job->memory.file == FW_NONE) {
		fw_findings_unable(job->findings, &fw_rule_host_memory_growth,
				   "samples of the processes' memory",
				   job->ledger->trace->source == FW_SOURCE_RECORDING
					   ? "record without --no-host"
					   : "record the program: fullwarp record COMMAND");
		return;
	}
	job->locked = (struct locked){ 0 };
	add_locked_bytes(job);
	count_locking(job, host, calls);
	look_at_main(job);
	look_at_children(job);
}

static void look(const struct fw_ledger *ledger, size_t d, struct fw_findings *findings)
{
	const struct fw_window *window = &ledger->devices[d].window;
	const struct fw_host *host = fw_host_of(ledger, findings);
	int64_t length = window->end_ns - window->start_ns;
	struct job job = { .ledger = ledger,
			   .findings = findings,
			   .d = d,
			   .start_ns = window->start_ns + length / WARM_UP,
			   .end_ns = window->end_ns };
	struct fw_rows calls;

	if (!host)
		return;
	if (length < LEAST_WINDOW_NS) {
		if (ledger->trace->source == FW_SOURCE_RECORDING)
			fw_findings_unable(findings, &fw_rule_host_memory_growth,
					   "30 seconds of the processes' memory",
					   "record for longer");
		return;
	}
	for (size_t p = 0; fw_host_calls(host, d, p, &calls); p++)
		look_at_process(&job, host, &calls);
}

const struct fw_rule fw_rule_host_memory_growth = {
	.id = "host-memory-growth",
	.summary = "Host memory grows steadily",
	.costs_no_time = true,
	.look = look,
};
