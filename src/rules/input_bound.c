/* The GPU is idle while the training or serving loop waits for its data loader. */
#include "rules/host.h"
#include "rules/page_locking.h"
#include "rules/places.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* One wait that makes up this share of the cost is a start-up, not a rate. */
#define START_UP_SHARE 0.5

/* A wait counts as long from this share of the longest on; long ones this regular come in bursts. */
#define LONG_SHARE     0.5
#define PERIODS_NEEDED 3

/* Workers are proposed up to this many; beyond it the trace says only that the loader is far too slow. */
#define WORKERS_LIMIT 64

/* A loader's one page-locking thread that runs so much of the time is what all workers wait for. */
#define PAGE_LOCKING_SHARE 0.75

/* Loaders that a finding describes; training and validation have one each. */
#define LOADERS_SHOWN 3

extern const struct fw_rule fw_rule_input_bound;

struct waits {
	int64_t count, total_ns,
		longest_ns;        /* all waits in the window, whether the GPU was idle or not */
	int64_t first_ns, last_ns; /* when the first and the last began */
	int64_t whole_ns,
		last_length_ns;  /* all of the waits, and the last, also outside the window */
	int64_t longest_idle_ns; /* the most idle time inside one wait */
	size_t period;           /* long waits come every so many batches; 0: irregularly */
	struct fw_vec lengths;   /* int64_t, in order of time */
	bool is_single;          /* the loader runs in the process that waits */
	const char *name;
};

static int64_t overlap(int64_t start, int64_t end, const struct fw_window *w)
{
	int64_t from = start > w->start_ns ? start : w->start_ns;
	int64_t to = end < w->end_ns ? end : w->end_ns;

	return to > from ? to - from : 0;
}

static void add_wait(const struct fw_trace *t, uint32_t row, int64_t ns, struct waits *waits,
		     struct fw_findings *findings)
{
	int64_t *length = fw_vec_push(&waits->lengths);

	if (length)
		*length = ns;
	findings->failed |= !length;
	/* Rows come by thread, so a later row may be earlier. */
	if (!waits->count || t->ranges.start_ns[row] < waits->first_ns)
		waits->first_ns = t->ranges.start_ns[row];
	if (!waits->count || t->ranges.start_ns[row] > waits->last_ns) {
		waits->last_ns = t->ranges.start_ns[row];
		waits->last_length_ns = t->ranges.end_ns[row] - t->ranges.start_ns[row];
	}
	waits->whole_ns += t->ranges.end_ns[row] - t->ranges.start_ns[row];
	waits->count++;
	waits->total_ns += ns;
	if (ns > waits->longest_ns)
		waits->longest_ns = ns;
	waits->name = fw_trace_text(t, t->ranges.name[row]);
	if (strstr(waits->name, "SingleProcess"))
		waits->is_single = true;
}

/* Workers that each make a whole batch finish together: N short waits, then a long one. */
static void find_period(struct waits *waits)
{
	const int64_t *lengths = waits->lengths.data;
	size_t last = 0, distance = 0, found = 0;
	bool is_regular = true;

	for (size_t i = 0; i < waits->lengths.len; i++) {
		if ((double)lengths[i] < LONG_SHARE * (double)waits->longest_ns)
			continue;
		if (found++) {
			is_regular &= !distance || i - last == distance;
			distance = i - last;
		}
		last = i;
	}
	if (is_regular && found >= PERIODS_NEEDED && distance > 1)
		waits->period = distance;
}

static void measure_waits(const struct fw_ledger *ledger, size_t d, const struct fw_host *host,
			  struct waits *waits, struct fw_findings *findings)
{
	const struct fw_trace_ranges *ranges = &ledger->trace->ranges;
	struct fw_rows marks;

	for (size_t p = 0; fw_host_marks(host, d, p, &marks); p++)
		for (size_t i = 0; i < marks.count; i++) {
			uint32_t row = marks.rows[i];
			int64_t ns = overlap(ranges->start_ns[row], ranges->end_ns[row],
					     &ledger->devices[d].window);

			if (ranges->kind[row] == FW_RANGE_INPUT && ns)
				add_wait(ledger->trace, row, ns, waits, findings);
		}
	find_period(waits);
}

/* Idle pieces of one wait follow each other in time, so one running sum is enough. */
static void measure_longest_idle(const struct fw_device_ledger *device, struct waits *waits)
{
	uint32_t range = FW_NONE;
	int64_t ns = 0;

	for (size_t i = 0; i < device->idle_count; i++) {
		const struct fw_idle *piece = &device->idle[i];

		if (piece->class_id != FW_CLASS_INPUT)
			continue;
		if (piece->range != range)
			ns = 0;
		range = piece->range;
		ns += piece->end_ns - piece->start_ns;
		if (ns > waits->longest_idle_ns)
			waits->longest_idle_ns = ns;
	}
}

static void advise_start_up(struct fw_findings *findings, struct fw_finding *f)
{
	fw_finding_change(findings, f,
			  &(struct fw_change){ .text = "One wait makes up most of this: workers "
						       "that start, or a first batch. "
						       "Keep the workers alive between epochs, and "
						       "judge the rate on a longer "
						       "window.",
					       .pytorch = "loader = DataLoader(dataset, "
							  "num_workers=N, persistent_workers=True)",
					       .when = "the loader is iterated more than once; "
						       "more workers do not shorten a "
						       "start-up, they lengthen it" });
}

/* A batch takes load_ns to make in one worker, and the rest of the loop needs one every step_ns. */
static void advise_first_workers(struct fw_findings *findings, struct fw_finding *f,
				 int64_t load_ns, int64_t step_ns)
{
	double needed = step_ns > 0 ? ceil((double)load_ns / (double)step_ns) : WORKERS_LIMIT + 1;
	const char *text, *snippet;

	if (needed > WORKERS_LIMIT) {
		text = fw_finding_text(
			findings,
			"A batch takes %s to load and the rest of the loop only %s: no "
			"sensible number of workers keeps up. Make loading cheaper "
			"(decode once, store tensors, transform on the GPU) as well as "
			"parallel.",
			fw_ns_text(findings, load_ns), fw_ns_text(findings, step_ns));
		snippet = "loader = DataLoader(dataset, batch_size=B, num_workers=os.cpu_count(), "
			  "persistent_workers=True)";
	} else {
		text = fw_finding_text(
			findings,
			"Load in other processes. A batch takes %s to load and the rest "
			"of the loop %s, so about %.0f workers keep up.",
			fw_ns_text(findings, load_ns), fw_ns_text(findings, step_ns), needed);
		snippet = fw_finding_text(
			findings,
			"loader = DataLoader(dataset, batch_size=B, num_workers=%.0f, "
			"pin_memory=True, persistent_workers=True)",
			needed);
	}
	fw_finding_change(
		findings, f,
		&(struct fw_change){
			.text = text,
			.pytorch = snippet,
			.when = "that many CPU cores are free, and neither disk, network nor "
				"memory is the limit; each worker holds prefetch_factor "
				"batches" });
}

static void advise_more_workers(struct fw_findings *findings, struct fw_finding *f,
				int64_t batch_ns, int64_t step_ns)
{
	double factor = step_ns > 0 ? (double)batch_ns / (double)step_ns : 0;

	fw_finding_change(
		findings, f,
		&(struct fw_change){
			.text = fw_finding_text(
				findings,
				"The workers deliver a batch every %s and the rest of the loop "
				"needs "
				"one every %s: %.1f times the workers keep up, or a loader that is "
				"that much cheaper.",
				fw_ns_text(findings, batch_ns), fw_ns_text(findings, step_ns),
				factor),
			.pytorch = "loader = DataLoader(dataset, num_workers=MORE, "
				   "persistent_workers=True)  # then cheaper transforms: decode "
				   "smaller, cache, transform on the GPU",
			.when = "CPU cores are free. With every core busy, more workers gain "
				"nothing: "
				"only cheaper loading does" });
}

/* Only one thread does it, whatever the number of workers. */
static void advise_less_page_locking(struct fw_findings *findings, struct fw_finding *f,
				     double share)
{
	fw_finding_evidence(findings, f, NULL, "the loader's page-locking thread",
			    "pt_data_pin ran %.0f %% of the time", share * 100);
	fw_finding_change(
		findings, f,
		&(struct fw_change){
			.text = "One thread of the loader copies every batch into page-locked "
				"memory, and it has no time left: more workers gain nothing. Give "
				"it fewer bytes: keep pictures as uint8 and convert them on the "
				"GPU, which is a quarter of fp32.",
			.pytorch = "x = x.to(\"cuda\", non_blocking=True).float().div_(255)  # the "
				   "dataset returns uint8",
			.when = "the batches hold more bytes than the data need; else two loaders "
				"with half of the data each have two such threads" });
}

static bool uses_device(const struct fw_ledger *ledger, const struct fw_device_ledger *device,
			uint32_t process)
{
	const uint32_t *of_op = ledger->trace->ops.process;

	for (size_t i = 0; i < device->op_count; i++)
		if (of_op[device->ops[i]] == process)
			return true;
	return false;
}

static const char *number_or_unset(struct fw_findings *findings, int32_t n)
{
	return n < 0 ? "unset" : fw_finding_text(findings, "%" PRId32, n);
}

/* How the device's loaders were made, as a recording tells it; several may be alike. */
static void add_loaders(const struct fw_ledger *ledger, const struct fw_device_ledger *device,
			struct fw_findings *findings, struct fw_finding *f)
{
	const struct fw_trace_loaders *l = &ledger->trace->loaders;
	uint32_t process = FW_NONE;
	bool is_ours = false;
	const char *last = "";
	int shown = 0;

	for (size_t i = 0; i < l->len && shown < LOADERS_SHOWN; i++) {
		const char *text;

		/* Loaders of a process follow each other, so that its operations are searched once. */
		if (l->process[i] != process)
			is_ours = uses_device(ledger, device, l->process[i]);
		process = l->process[i];
		if (!is_ours)
			continue;
		text = fw_finding_text(
			findings,
			"num_workers=%s, prefetch_factor=%s, batch_size=%s, pin_memory=%s, "
			"persistent_workers=%s",
			number_or_unset(findings, l->workers[i]),
			number_or_unset(findings, l->prefetch[i]),
			number_or_unset(findings, l->batch[i]), l->pin_memory[i] ? "True" : "False",
			l->persistent[i] ? "True" : "False");
		if (!strcmp(text, last))
			continue;
		fw_finding_evidence(findings, f, NULL, "a loader of this process", "%s", text);
		last = text;
		shown++;
	}
}

static void add_evidence(const struct fw_ledger *ledger, const struct fw_device_ledger *device,
			 struct fw_findings *findings, struct fw_finding *f,
			 const struct waits *waits)
{
	struct fw_places places = FW_PLACES;

	fw_places_of_class(&places, ledger, device, FW_CLASS_INPUT);
	fw_places_report(&places, ledger, findings, f, "GPU idle inside the wait");
	fw_finding_evidence(findings, f, waits->name, "waits in the window",
			    "%" PRId64 ", mean %s, longest %s", waits->count,
			    fw_ns_text(findings, waits->total_ns / waits->count),
			    fw_ns_text(findings, waits->longest_ns));
	if (waits->period)
		fw_finding_evidence(
			findings, f, waits->name, "long waits come regularly",
			"every %zu batches: typical of %zu workers that finish together, each "
			"slower than %zu steps",
			waits->period, waits->period, waits->period);
	if (waits->is_single)
		fw_finding_evidence(findings, f, waits->name, "where loading runs",
				    "in the process that waits (num_workers=0)");
	add_loaders(ledger, device, findings, f);
}

/* The share of the time in which the busiest page-locking thread of the device's processes ran; < 0: unknown. */
static double page_locking(const struct fw_ledger *ledger, const struct fw_device_ledger *device)
{
	struct fw_page_locker lockers[FW_PAGE_LOCKERS];
	const struct fw_trace *t = ledger->trace;
	size_t count = fw_page_lockers(t, device->window.start_ns, device->window.end_ns, lockers);
	double most = -1;

	for (size_t i = 0; i < count; i++) {
		double share = fw_page_locker_share(&lockers[i]);

		if (share > most &&
		    uses_device(ledger, device, t->threads.process[lockers[i].thread]))
			most = share;
	}
	return most;
}

static void look(const struct fw_ledger *ledger, size_t d, struct fw_findings *findings)
{
	const struct fw_device_ledger *device = &ledger->devices[d];
	int64_t window_ns = device->window.end_ns - device->window.start_ns;
	int64_t cost = device->ns[FW_CLASS_INPUT] ? fw_cost_of_input(ledger, device) : 0;
	int64_t batch_ns, load_ns, step_ns, gpu_ns;
	const struct fw_host *host;
	struct waits waits = { .lengths = FW_VEC(int64_t) };
	struct fw_finding *f;
	double locking;

	if (fw_rule_lacks(ledger, findings, &fw_rule_input_bound, FW_BLIND_NO_LOADER_MARKS,
			  "data-loader waits"))
		return;
	findings->failed |= cost < 0;
	host = cost > 0 ? fw_host_of(ledger, findings) : NULL;
	if (!host)
		return;
	measure_waits(ledger, d, host, &waits, findings);
	fw_vec_release(&waits.lengths);
	measure_longest_idle(device, &waits);
	if (!waits.count)
		return;
	f = fw_finding_add(findings, &fw_rule_input_bound, d, "The GPU waits for the data loader");
	fw_finding_cost(f, device, cost, fw_bound(ledger, device, FW_BOUND_INPUT, NULL, 0, cost));
	add_evidence(ledger, device, findings, f, &waits);
	if (cost > device->ns[FW_CLASS_INPUT])
		fw_finding_evidence(findings, f, NULL, "GPU idle later, the host being late", "%s",
				    fw_ns_text(findings, cost - device->ns[FW_CLASS_INPUT]));
	/* What the rest of the loop needs a batch: the GPU and the host work at the same time. */
	batch_ns =
		waits.count > 1 ? (waits.last_ns - waits.first_ns) / (waits.count - 1) : window_ns;
	load_ns = waits.count > 1 ? (waits.whole_ns - waits.last_length_ns) / (waits.count - 1)
				  : waits.total_ns;
	step_ns = batch_ns - load_ns;
	gpu_ns = (int64_t)((double)device->gpu_busy_ns / (double)window_ns * (double)batch_ns);
	if (step_ns < gpu_ns)
		step_ns = gpu_ns;
	locking = page_locking(ledger, device);
	if ((double)waits.longest_idle_ns >= START_UP_SHARE * (double)cost && waits.count > 2)
		advise_start_up(findings, f);
	else if (waits.is_single)
		advise_first_workers(findings, f, load_ns, step_ns);
	else if (locking >= PAGE_LOCKING_SHARE)
		advise_less_page_locking(findings, f, locking);
	else
		advise_more_workers(findings, f, batch_ns, step_ns);
}

const struct fw_rule fw_rule_input_bound = {
	.id = "input-bound",
	.summary = "The GPU waits for the data loader",
	.clause = "it waited for the data loader",
	.look = look,
};
