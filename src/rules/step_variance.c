/* Some steps take much longer than the others. */
#include "rules/steps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A step is slow if it takes this many times the median. */
#define SLOW 1.2
/* Fewer steps tell nothing about variance. */
#define STEPS_NEEDED 5
/* Slow steps this regular come in a period: loader workers that each make a whole batch. */
#define PERIODS_NEEDED 3

extern const struct fw_rule fw_rule_step_variance;

struct variance {
	int64_t median_ns, longest_ns, excess_ns;
	size_t steps, slow, longest; /* longest: which one, from 0 */
	size_t period;               /* slow steps come every so many steps; 0: irregularly */
	enum fw_class cause;         /* grows most in slow steps; FW_CLASS_COUNT: none */
	int64_t cause_ns;            /* by how much, over all slow steps */
	int64_t idle_ns;             /* growth of the other idle classes */
	int64_t elsewhere_ns;        /* growth of classes that rules of their own charge */
};

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int64_t length(const struct fw_step *step)
{
	return step->end_ns - step->start_ns;
}

static bool is_slow(const struct variance *v, const struct fw_step *step)
{
	return (double)length(step) > SLOW * (double)v->median_ns;
}

static bool find_median(const struct fw_vec *steps, struct variance *v)
{
	const struct fw_step *list = steps->data;
	int64_t *lengths = malloc((steps->len + 1) * sizeof(*lengths));

	if (!lengths)
		return false;
	for (size_t i = 0; i < steps->len; i++)
		lengths[i] = length(&list[i]);
	qsort(lengths, steps->len, sizeof(*lengths), by_value);
	v->median_ns = lengths[steps->len / 2];
	free(lengths);
	return true;
}

static void find_slow(const struct fw_vec *steps, struct variance *v)
{
	const struct fw_step *list = steps->data;
	size_t last = SIZE_MAX, distance = 0;
	bool is_regular = true;

	v->steps = steps->len;
	for (size_t i = 0; i < steps->len; i++) {
		if (length(&list[i]) > v->longest_ns) {
			v->longest_ns = length(&list[i]);
			v->longest = i;
		}
		if (!is_slow(v, &list[i]))
			continue;
		v->slow++;
		v->excess_ns += length(&list[i]) - v->median_ns;
		if (last != SIZE_MAX) {
			is_regular &= !distance || i - last == distance;
			distance = i - last;
		}
		last = i;
	}
	if (is_regular && v->slow >= PERIODS_NEEDED && distance > 1)
		v->period = distance;
}

/* Adds a piece of idle time to the step in which it began; pieces and steps come in order of time. */
static void share_idle(const struct fw_device_ledger *device, const struct fw_vec *steps,
		       const struct variance *v, int64_t slow[FW_CLASS_COUNT],
		       int64_t other[FW_CLASS_COUNT])
{
	const struct fw_step *list = steps->data;
	size_t s = 0;

	for (size_t i = 0; i < device->idle_count; i++) {
		const struct fw_idle *piece = &device->idle[i];

		while (s < steps->len && list[s].end_ns <= piece->start_ns)
			s++;
		if (s == steps->len)
			return;
		if (list[s].start_ns <= piece->start_ns)
			(is_slow(v, &list[s]) ? slow : other)[piece->class_id] +=
				piece->end_ns - piece->start_ns;
	}
}

/* Classes whose growth another rule charges already; what is left is this rule's. */
static bool has_own_rule(enum fw_class c)
{
	return c == FW_CLASS_INPUT || c == FW_CLASS_ALLOC || c == FW_CLASS_ONE_TIME ||
	       c == FW_CLASS_BLOCKING_COPY || c == FW_CLASS_SYNC;
}

/* The idle class that has more in a slow step than in another one, by the largest sum. */
static void find_cause(const struct fw_device_ledger *device, const struct fw_vec *steps,
		       struct variance *v)
{
	int64_t slow[FW_CLASS_COUNT] = { 0 }, other[FW_CLASS_COUNT] = { 0 };
	size_t others = v->steps - v->slow;

	v->cause = FW_CLASS_COUNT;
	share_idle(device, steps, v, slow, other);
	for (int c = 0; c < FW_CLASS_COUNT; c++) {
		int64_t usual = others ? other[c] / (int64_t)others * (int64_t)v->slow : 0;

		if (slow[c] > usual && has_own_rule((enum fw_class)c))
			v->elsewhere_ns += slow[c] - usual;
		else if (slow[c] > usual)
			v->idle_ns += slow[c] - usual;
		if (slow[c] - usual > v->cause_ns && !has_own_rule((enum fw_class)c)) {
			v->cause_ns = slow[c] - usual;
			v->cause = (enum fw_class)c;
		}
	}
}

static void add_evidence(struct fw_findings *findings, struct fw_finding *f,
			 const struct variance *v, bool is_annotated)
{
	fw_finding_evidence(findings, f, NULL, is_annotated ? "steps" : "steps (by loader waits)",
			    "%zu, median %s, longest %s (number %zu)", v->steps,
			    fw_ns_text(findings, v->median_ns), fw_ns_text(findings, v->longest_ns),
			    v->longest + 1);
	fw_finding_evidence(findings, f, NULL, "slow steps, over 1.2 times the median",
			    "%zu, %s above it in all", v->slow, fw_ns_text(findings, v->excess_ns));
	if (v->elsewhere_ns > 0)
		fw_finding_evidence(findings, f, NULL, "not counted: waits that other rules charge",
				    "%s", fw_ns_text(findings, v->elsewhere_ns));
	if (v->cause != FW_CLASS_COUNT)
		fw_finding_evidence(findings, f, fw_class_id(v->cause),
				    "GPU idle more in slow steps", "%s",
				    fw_ns_text(findings, v->cause_ns));
	if (v->period)
		fw_finding_evidence(findings, f, NULL, "slow steps come regularly",
				    "every %zu steps", v->period);
}

static void add_changes(struct fw_findings *findings, struct fw_finding *f)
{
	fw_finding_change(
		findings, f,
		&(struct fw_change){
			.text = "Look at what the slow steps do beyond the others: "
				"logging, checkpoints, "
				"validation, garbage collection, longer inputs, a new "
				"shape.",
			.pytorch = "gc.disable()  # and gc.collect() at a place of your "
				   "choice\n"
				   "with torch.profiler.record_function(\"checkpoint\"): ...",
			.when = "the work can be moved off the loop, or be done less "
				"often" });
}

static void look(const struct fw_ledger *ledger, size_t d, struct fw_findings *findings)
{
	const struct fw_device_ledger *device = &ledger->devices[d];
	const struct fw_host *host = fw_host_of(ledger, findings);
	struct variance v = { 0 };
	struct fw_vec steps;
	bool is_annotated;
	int64_t cost;

	if (!host)
		return;
	if (!fw_steps_of(ledger, d, host, &steps, &is_annotated)) {
		findings->failed = true;
	} else if (steps.len < STEPS_NEEDED) {
		fw_findings_unable(
			findings, &fw_rule_step_variance, "at least 5 marked steps",
			ledger->trace->source == FW_SOURCE_RECORDING
				? "record more steps, without --no-python"
				: "call profiler.step() once an iteration, and profile more of "
				  "them");
	} else if (!find_median(&steps, &v)) {
		findings->failed = true;
	} else {
		find_slow(&steps, &v);
		find_cause(device, &steps, &v);
	}
	/* A step in which the GPU works longer is no loss; idle time beyond the usual is. */
	cost = v.idle_ns < v.excess_ns ? v.idle_ns : v.excess_ns;
	if (cost > 0) {
		struct fw_finding *f =
			fw_finding_add(findings, &fw_rule_step_variance, d,
				       "Some steps take much longer than the others");

		fw_finding_cost(f, device, cost, cost);
		add_evidence(findings, f, &v, is_annotated);
		add_changes(findings, f);
	}
	fw_vec_release(&steps);
}

const struct fw_rule fw_rule_step_variance = {
	.id = "step-variance",
	.summary = "Some steps take much longer than the others",
	.look = look,
};
