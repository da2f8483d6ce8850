#ifndef FW_RULES_RULE_H
#define FW_RULES_RULE_H
/* Ledger in, findings out. One file a rule, one line in rules.def, one page in docs/rules/. */
#include "ledger/cost.h"
#include "ledger/ledger.h"

struct fw_evidence {
	const char *label; /* "synchronisation calls in the window" */
	const char *value; /* formatted, with its unit */
	const char *place; /* name of the call, kernel, operator, loader; NULL: nowhere special */
};

struct fw_change {
	const char *text;    /* what to change, one or two sentences */
	const char *pytorch; /* snippet to paste; NULL: none */
	const char *cuda;    /* the same in CUDA C; NULL: none */
	const char *when;    /* the condition under which it helps */
};

struct fw_prediction {
	int64_t low_ns, best_ns, high_ns; /* time saved */
	const char *assumption;
};

struct fw_finding {
	const char *id;     /* the rule's */
	const char *clause; /* the rule's */
	uint32_t rank;      /* the order in which they were found, for ties */
	bool is_all_clear;  /* says that there is no problem */
	uint32_t device;    /* index into ledger->devices; FW_NONE: the whole trace */
	const char *title;
	int64_t cost_ns;        /* -1: unknown */
	double share;           /* of the window, 0..1; < 0: unknown */
	const char *harm;       /* where it costs no time of the GPU: what else; else NULL */
	int64_t at_most_ns;     /* upper bound of the gain; -1: unknown */
	struct fw_vec evidence; /* struct fw_evidence */
	struct fw_vec changes;  /* struct fw_change */
	const struct fw_prediction *prediction; /* NULL: none, and no_prediction says why */
	const char *no_prediction;
	uint32_t blind_spots; /* bits 1 << enum fw_blind_spot that weaken it */
};

struct fw_findings {
	struct fw_arena arena;    /* owns every string of the findings */
	struct fw_vec list;       /* struct fw_finding */
	struct fw_vec unable;     /* struct fw_unable: rules that could not look */
	struct fw_host *host;     /* what host threads did, by thread and time: see host.h */
	struct fw_before *before; /* before the window, one a device: see before.h */
	struct fw_host_samples *host_samples; /* where those of memory are: see host_samples.h */
	struct fw_ranks *ranks;               /* the collectives of several devices: see ranks.h */
	bool failed;                          /* memory ran out while filling */
};

/* A rule that lacks a record it needs: "could not look" is never "no problem". */
struct fw_unable {
	const char *id;
	const char *lacks;   /* which record */
	const char *capture; /* how to capture it */
};

struct fw_rule {
	const char *id;      /* kebab-case, stable: "input-bound" */
	const char *summary; /* one line for `fullwarp rules` and the docs */
	const char *clause;  /* in a verdict, before "71 % of the time"; NULL: never in one */
	bool costs_no_time;  /* its findings have no cost, but a harm */
	/* Looks at one device and adds what it finds. Adds nothing: no finding. */
	void (*look)(const struct fw_ledger *ledger, size_t device, struct fw_findings *findings);
};

/* Every rule, in the order of rules.def; static storage. */
const struct fw_rule *const *fw_rules(size_t *count);

/*
 * The page docs/rules/<id>.md, built into the program; NULL for an id that no rule has. Static storage.
 */
const char *fw_rule_page(const char *id);

/*
 * Shares of the window. Below the first a finding is left out, unless it is the only one of its
 * device; from the second on it is a problem, from the third on one to name beside a dearer one.
 */
#define FW_SHARE_WORTH_READING 0.01
#define FW_SHARE_PROBLEM       0.05
#define FW_SHARE_SECOND        0.1

/*
 * Runs every rule on every device; findings ranked by cost, unknown costs last. Release with
 * fw_findings_release.
 */
fw_status fw_findings_build(const struct fw_ledger *ledger, struct fw_findings *findings,
			    struct fw_error *err);
void fw_findings_release(struct fw_findings *findings);

/*
 * One sentence for the head of a report: how busy the GPUs were and what cost most. Lives as long as
 * the findings; NULL when memory is out.
 */
const char *fw_verdict(const struct fw_ledger *ledger, struct fw_findings *findings);

/*
 * What the verdict would say of one device: the id of the finding, or of the class where no finding
 * explains as much, and its share of the window. NULL: no cause costs 5 %.
 */
const char *fw_top_cause(const struct fw_ledger *ledger, const struct fw_findings *findings,
			 size_t device, double *share);

/*
 * For rules: a new finding with id, device and title set, cost and bound unknown; NULL when memory is
 * out. The pointer dies on the next fw_finding_add. The other calls accept a NULL finding, and copy
 * what they are given, but for the rule, whose strings are static.
 */
struct fw_finding *fw_finding_add(struct fw_findings *findings, const struct fw_rule *rule,
				  size_t device, const char *title);

/* Its cost, also as a share of the device's window, and its bound (-1: unknown). */
void fw_finding_cost(struct fw_finding *finding, const struct fw_device_ledger *device,
		     int64_t cost_ns, int64_t at_most_ns);
void fw_finding_evidence(struct fw_findings *findings, struct fw_finding *finding,
			 const char *place, const char *label, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
void fw_finding_change(struct fw_findings *findings, struct fw_finding *finding,
		       const struct fw_change *change);

/* True, and said once as "could not look", if the trace has that blind spot, which means `lacks`. */
bool fw_rule_lacks(const struct fw_ledger *ledger, struct fw_findings *findings,
		   const struct fw_rule *rule, enum fw_blind_spot spot, const char *lacks);

/* Says, once a rule, that it could not look. */
void fw_findings_unable(struct fw_findings *findings, const struct fw_rule *rule, const char *lacks,
			const char *capture);

/* Texts that live as long as the findings; never NULL. fw_ns_text: "12.3 ms", "870 us". */
const char *fw_finding_text(struct fw_findings *findings, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
const char *fw_ns_text(struct fw_findings *findings, int64_t ns);

#endif
