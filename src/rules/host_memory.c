/* Host samples -> memory over time. */
#include "rules/host_memory.h"

#include <math.h>
#include <string.h>

/* The recorder watches 512; a file made to claim more is not followed further. */
#define MEMBERS_MOST 1024

/* One value: at each point the latest sample that is not after it. */
struct track {
	double value[FW_MEMORY_POINTS];
	int64_t time_ns[FW_MEMORY_POINTS]; /* INT64_MIN: no sample between the points */
};

/* Of one process. */
struct member {
	struct track resident, shared, share;
};

struct job {
	const struct fw_trace *trace;
	const struct fw_host_samples *samples;
	int64_t start_ns, end_ns;
	struct fw_host_memory *memory;
	double all,
		known; /* bytes of the children, of those whose share is known; summed over the points */
};

static void clear(struct track *track)
{
	for (size_t k = 0; k < FW_MEMORY_POINTS; k++)
		track->time_ns[k] = INT64_MIN;
}

size_t fw_memory_point(int64_t start_ns, int64_t end_ns, int64_t time_ns)
{
	double step = (double)(end_ns - start_ns) / (FW_MEMORY_POINTS - 1);
	double at = time_ns <= start_ns ? 0 : ceil((double)(time_ns - start_ns) / step);

	if (time_ns > end_ns)
		return FW_MEMORY_POINTS;
	return at < FW_MEMORY_POINTS ? (size_t)at : FW_MEMORY_POINTS - 1;
}

static void put(const struct job *job, struct track *track, int64_t time_ns, double value)
{
	size_t k = fw_memory_point(job->start_ns, job->end_ns, time_ns);

	if (k == FW_MEMORY_POINTS || time_ns < track->time_ns[k])
		return;
	track->time_ns[k] = time_ns;
	track->value[k] = value;
}

/* Each point without a sample has the value before it, those before the first sample `before`. */
static void hold(struct track *track, double before)
{
	for (size_t k = 0; k < FW_MEMORY_POINTS; k++) {
		if (track->time_ns[k] == INT64_MIN)
			track->value[k] = before;
		before = track->value[k];
	}
}

/* The first value there is; NAN: none. */
static double first_value(const struct track *track)
{
	for (size_t k = 0; k < FW_MEMORY_POINTS; k++)
		if (track->time_ns[k] != INT64_MIN)
			return track->value[k];
	return NAN;
}

static const char *name_of(const struct fw_trace *t, size_t sample)
{
	return fw_trace_text(t, t->host_samples.name[sample]);
}

static void take(const struct job *job, uint32_t row, struct member *member)
{
	const struct fw_trace_host_samples *s = &job->trace->host_samples;
	const char *name = name_of(job->trace, row);

	if (!strcmp(name, "rss_bytes")) {
		put(job, &member->resident, s->time_ns[row], s->value[row]);
	} else if (!strcmp(name, "shared_bytes")) {
		put(job, &member->shared, s->time_ns[row], s->value[row]);
	} else if (!strcmp(name, "pss_anon_bytes")) {
		put(job, &member->share, s->time_ns[row], s->value[row]);
	} else if (!strcmp(name, "state") && s->value[row] == 'X') {
		put(job, &member->resident, s->time_ns[row], 0);
		put(job, &member->shared, s->time_ns[row], 0);
		put(job, &member->share, s->time_ns[row], 0);
	}
}

static void take_all(const struct job *job, uint32_t process, struct member *member)
{
	clear(&member->resident);
	clear(&member->shared);
	clear(&member->share);
	for (size_t i = job->samples->first[process]; i < job->samples->first[process + 1]; i++)
		take(job, job->samples->rows[i], member);
}

/* Its share is read seldom: before the first reading it is taken to have been the same. */
static void add_share(struct job *job, struct member *member)
{
	double first = first_value(&member->share);

	if (isnan(first))
		return;
	hold(&member->share, first);
	for (size_t k = 0; k < FW_MEMORY_POINTS; k++) {
		job->memory->children_share[k] += member->share.value[k];
		job->known += member->resident.value[k];
	}
}

static void add_child(struct job *job, uint32_t process)
{
	struct fw_host_memory *memory = job->memory;
	struct member member;

	take_all(job, process, &member);
	if (isnan(first_value(&member.resident)))
		return;
	memory->children++;
	hold(&member.resident, 0);
	hold(&member.shared, 0);
	for (size_t k = 0; k < FW_MEMORY_POINTS; k++) {
		memory->children_own[k] +=
			fmax(member.resident.value[k] - member.shared.value[k], 0);
		job->all += member.resident.value[k];
	}
	add_share(job, &member);
}

/* All below the process, those near it first. */
static void add_children(struct job *job, uint32_t process)
{
	uint32_t members[MEMBERS_MOST] = { process };
	size_t count = 1;

	for (size_t at = 0; at < count; at++) {
		uint32_t next = job->samples->child[members[at]];

		if (at)
			add_child(job, members[at]);
		for (; next && count < MEMBERS_MOST; next = job->samples->next[next - 1])
			if (next - 1 != process) /* in a damaged file it is below itself */
				members[count++] = next - 1;
	}
	job->memory->has_share = job->known > 0 && job->known >= job->all / 2;
}

static void add_limit(const struct job *job)
{
	const struct fw_trace_host_samples *s = &job->trace->host_samples;
	struct fw_host_memory *memory = job->memory;
	size_t list = job->samples->processes + memory->file;
	struct track left, limit;

	clear(&left);
	clear(&limit);
	for (size_t i = job->samples->first[list]; i < job->samples->first[list + 1]; i++) {
		uint32_t row = job->samples->rows[i];
		const char *name = name_of(job->trace, row);

		if (!strcmp(name, "memory_free_bytes"))
			put(job, &left, s->time_ns[row], s->value[row]);
		else if (!strcmp(name, "memory_limit_bytes"))
			put(job, &limit, s->time_ns[row], s->value[row]);
	}
	memory->has_left = !isnan(first_value(&left));
	hold(&left, first_value(&left));
	memcpy(memory->left, left.value, sizeof(memory->left));
	hold(&limit, first_value(&limit));
	if (limit.value[FW_MEMORY_POINTS - 1] > 0)
		memory->limit = limit.value[FW_MEMORY_POINTS - 1];
}

void fw_host_memory_of(const struct fw_trace *trace, const struct fw_host_samples *samples,
		       uint32_t process, const struct fw_memory_time *time,
		       struct fw_host_memory *memory)
{
	struct job job = { .trace = trace,
			   .samples = samples,
			   .start_ns = time->start_ns,
			   .end_ns = time->end_ns,
			   .memory = memory };
	struct member own;
	double first;

	*memory = (struct fw_host_memory){ .file = FW_NONE, .limit = -1 };
	take_all(&job, process, &own);
	first = first_value(&own.resident);
	if (isnan(first) || samples->file[process] == FW_NONE)
		return;
	memory->file = samples->file[process];
	hold(&own.resident, first);
	memcpy(memory->main, own.resident.value, sizeof(memory->main));
	add_children(&job, process);
	add_limit(&job);
}
