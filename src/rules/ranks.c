/* Matches the collectives of several devices. */
#include "rules/ranks.h"

#include "base/map.h"

#include <stdlib.h>

/* One collective: the nth of its name. */
struct match {
	uint32_t name;
	int64_t least_ns, sum_ns;
	uint32_t count, last; /* devices that took part; the one with the least time */
	uint32_t inside;      /* devices in whose window it began */
};

struct job {
	const struct fw_ledger *ledger;
	struct fw_map index; /* (name, ordinal) -> match */
	struct fw_map seen;  /* (name, device) -> how many so far */
	struct fw_vec matches;
};

static int64_t duration(const struct fw_trace *t, uint32_t op)
{
	return t->ops.end_ns[op] - t->ops.start_ns[op];
}

/* The match that the device's next collective of that name belongs to; NULL: memory is out. */
static struct match *next_match(struct job *job, uint32_t name, size_t device)
{
	uint64_t *ordinal = fw_map_at(&job->seen, name, device, NULL), *at;
	struct match *match;
	bool inserted;

	if (!ordinal)
		return NULL;
	at = fw_map_at(&job->index, name, (*ordinal)++, &inserted);
	if (!at)
		return NULL;
	if (inserted) {
		match = fw_vec_push(&job->matches);
		if (!match)
			return NULL;
		*match = (struct match){ .name = name, .least_ns = INT64_MAX };
		*at = job->matches.len - 1;
	}
	return *at < job->matches.len ? (struct match *)job->matches.data + *at : NULL;
}

static bool pass(struct job *job,
		 bool (*visit)(struct job *job, size_t device, uint32_t op, struct match *match,
			       void *user),
		 void *user)
{
	const struct fw_trace *t = job->ledger->trace;

	fw_map_release(&job->seen);
	for (size_t d = 0; d < job->ledger->device_count; d++) {
		const struct fw_device_ledger *device = &job->ledger->devices[d];

		for (size_t i = 0; i < device->op_count; i++) {
			uint32_t op = device->ops[i];
			struct match *match;

			if (t->ops.owner[op] != FW_CLASS_COLLECTIVE)
				continue;
			match = next_match(job, t->ops.name[op], d);
			if (!match || !visit(job, d, op, match, user))
				return false;
		}
	}
	return true;
}

static bool is_inside(const struct job *job, size_t device, uint32_t op)
{
	const struct fw_window *w = &job->ledger->devices[device].window;
	int64_t start_ns = job->ledger->trace->ops.start_ns[op];

	return start_ns >= w->start_ns && start_ns < w->end_ns;
}

static bool note(struct job *job, size_t device, uint32_t op, struct match *match, void *user)
{
	int64_t ns = duration(job->ledger->trace, op);

	(void)user;
	if (ns < match->least_ns) {
		match->least_ns = ns;
		match->last = (uint32_t)device;
	}
	match->sum_ns += ns;
	match->count++;
	match->inside += is_inside(job, device, op);
	return true;
}

/* One that is warm-up on any device tells nothing of the steady run. */
static bool credit(struct job *job, size_t device, uint32_t op, struct match *match, void *user)
{
	struct fw_ranks *ranks = user;
	struct fw_rank *rank = &ranks->of_device[device];

	if (match->count < 2 || match->inside < match->count)
		return true;
	ranks->devices += !rank->collectives;
	rank->collectives++;
	if (match->last == device) {
		rank->late++;
		rank->caused_ns +=
			(match->sum_ns - match->count * match->least_ns) / (match->count - 1);
	} else {
		rank->waited_ns += duration(job->ledger->trace, op) - match->least_ns;
	}
	return true;
}

/* Every collective of a name has as many devices as its first: else the captures differ in length. */
static bool is_even(const struct job *job)
{
	const struct match *list = job->matches.data;

	for (size_t i = 0; i < job->matches.len; i++) {
		const uint64_t *first = fw_map_find(&job->index, list[i].name, 0);

		if (!first || list[*first].count != list[i].count)
			return false;
	}
	return true;
}

static bool match_all(const struct fw_ledger *ledger, struct fw_ranks *ranks)
{
	struct job job = { .ledger = ledger, .matches = FW_VEC(struct match) };
	bool done;

	ranks->of_device = calloc(ledger->device_count + 1, sizeof(*ranks->of_device));
	done = ranks->of_device && pass(&job, note, NULL);
	if (done && is_even(&job))
		done = pass(&job, credit, ranks);
	ranks->is_matched = done && ranks->devices > 1;
	fw_map_release(&job.index);
	fw_map_release(&job.seen);
	fw_vec_release(&job.matches);
	return done;
}

const struct fw_ranks *fw_ranks_of(const struct fw_ledger *ledger, struct fw_findings *findings)
{
	struct fw_ranks *ranks = findings->ranks;

	if (ranks)
		return ranks;
	ranks = calloc(1, sizeof(*ranks));
	if (!ranks || !match_all(ledger, ranks)) {
		fw_ranks_destroy(ranks);
		findings->failed = true;
		return NULL;
	}
	findings->ranks = ranks;
	return ranks;
}

void fw_ranks_destroy(struct fw_ranks *ranks)
{
	if (!ranks)
		return;
	free(ranks->of_device);
	free(ranks);
}
