/* Host samples -> memory over time. */
#include "rules/host_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Processes between a worker and the program: a loader's workers are its children. */
#define DEPTH_MOST 16

/* About 4 KB each. The recorder watches 512; a file made to claim more is not followed further. */
#define MEMBERS_MOST 1024

/* One value: at each point the latest sample that is not after it. */
struct track {
	double value[FW_MEMORY_POINTS];
	int64_t time_ns[FW_MEMORY_POINTS]; /* INT64_MIN: no sample between the points */
};

struct member {
	struct track resident, shared;
};

struct job {
	const struct fw_trace *trace;
	uint32_t process;
	int64_t start_ns, end_ns;
	struct fw_host_memory *memory;
	uint32_t *parent;        /* of each process its parent's row + 1; 0: unknown */
	struct member **members; /* of each process; NULL: it is none of the program's */
	struct track left, limit;
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

/* Processes of the file whose host it is, by number. */
static bool find_parents(struct job *job)
{
	const struct fw_trace *t = job->trace;
	const struct fw_trace_host_samples *s = &t->host_samples;
	struct fw_map rows = { 0 };
	bool ok = true;

	for (size_t i = 0; i < s->len && ok; i++) {
		uint64_t *slot;

		if (s->file[i] != job->memory->file || s->process[i] == FW_NONE)
			continue;
		slot = fw_map_at(
			&rows, strtoul(fw_trace_text(t, t->processes.pid[s->process[i]]), NULL, 10),
			0, NULL);
		ok = slot != NULL;
		if (ok)
			*slot = (uint64_t)s->process[i] + 1;
	}
	for (size_t i = 0; i < s->len && ok; i++) {
		const uint64_t *slot;

		if (s->file[i] != job->memory->file || s->process[i] == FW_NONE ||
		    job->parent[s->process[i]] || strcmp(name_of(t, i), "parent_pid") ||
		    s->value[i] < 1 || s->value[i] > UINT32_MAX)
			continue;
		slot = fw_map_find(&rows, (uint64_t)s->value[i], 0);
		if (slot)
			job->parent[s->process[i]] = (uint32_t)*slot;
	}
	fw_map_release(&rows);
	return ok;
}

static bool is_below(const struct job *job, uint32_t process)
{
	for (int depth = 0; depth < DEPTH_MOST; depth++) {
		if (process == job->process)
			return true;
		if (!job->parent[process])
			return false;
		process = job->parent[process] - 1;
	}
	return false;
}

static bool add_member(struct job *job, uint32_t process)
{
	struct member *member = calloc(1, sizeof(*member));

	job->members[process] = member;
	if (!member)
		return false;
	clear(&member->resident);
	clear(&member->shared);
	return true;
}

static bool add_members(struct job *job)
{
	const struct fw_trace_host_samples *s = &job->trace->host_samples;
	bool ok = add_member(job, job->process);
	size_t count = 1;

	for (size_t i = 0; i < s->len && count < MEMBERS_MOST && ok; i++) {
		uint32_t process = s->process[i];

		if (s->file[i] != job->memory->file || process == FW_NONE ||
		    job->members[process] || !is_below(job, process))
			continue;
		ok = add_member(job, process);
		count++;
	}
	return ok;
}

static void take(struct job *job)
{
	const struct fw_trace_host_samples *s = &job->trace->host_samples;

	for (size_t i = 0; i < s->len; i++) {
		const char *name = name_of(job->trace, i);
		struct member *member;

		if (s->file[i] != job->memory->file || s->thread[i] != FW_NONE)
			continue;
		if (s->process[i] == FW_NONE) {
			if (!strcmp(name, "memory_free_bytes"))
				put(job, &job->left, s->time_ns[i], s->value[i]);
			else if (!strcmp(name, "memory_limit_bytes"))
				put(job, &job->limit, s->time_ns[i], s->value[i]);
			continue;
		}
		member = job->members[s->process[i]];
		if (!member)
			continue;
		if (!strcmp(name, "rss_bytes")) {
			put(job, &member->resident, s->time_ns[i], s->value[i]);
		} else if (!strcmp(name, "shared_bytes")) {
			put(job, &member->shared, s->time_ns[i], s->value[i]);
		} else if (!strcmp(name, "state") && s->value[i] == 'X') {
			put(job, &member->resident, s->time_ns[i], 0);
			put(job, &member->shared, s->time_ns[i], 0);
		}
	}
}

static void add_child(struct fw_host_memory *memory, struct member *member)
{
	double seen = first_value(&member->resident);

	if (isnan(seen))
		return;
	memory->children++;
	hold(&member->resident, 0);
	hold(&member->shared, 0);
	for (size_t k = 0; k < FW_MEMORY_POINTS; k++)
		memory->children_own[k] +=
			fmax(member->resident.value[k] - member->shared.value[k], 0);
}

static void add_up(struct job *job)
{
	struct fw_host_memory *memory = job->memory;
	struct member *own = job->members[job->process];
	double first = first_value(&own->resident);

	for (size_t p = 0; p < job->trace->processes.len; p++)
		if (job->members[p] && p != job->process)
			add_child(memory, job->members[p]);
	if (isnan(first)) {
		memory->file = FW_NONE;
		return;
	}
	hold(&own->resident, first);
	memcpy(memory->main, own->resident.value, sizeof(memory->main));
	first = first_value(&job->left);
	memory->has_left = !isnan(first);
	hold(&job->left, first);
	memcpy(memory->left, job->left.value, sizeof(memory->left));
	hold(&job->limit, first_value(&job->limit));
	memory->limit = job->limit.value[FW_MEMORY_POINTS - 1];
	if (!(memory->limit > 0))
		memory->limit = -1;
}

static uint32_t file_of(const struct fw_trace *trace, uint32_t process)
{
	const struct fw_trace_host_samples *s = &trace->host_samples;

	for (size_t i = 0; i < s->len; i++)
		if (s->process[i] == process && !strcmp(name_of(trace, i), "rss_bytes"))
			return s->file[i];
	return FW_NONE;
}

bool fw_host_memory_of(const struct fw_trace *trace, uint32_t process, int64_t start_ns,
		       int64_t end_ns, struct fw_host_memory *memory)
{
	size_t processes = trace->processes.len;
	struct job job = { .trace = trace,
			   .process = process,
			   .start_ns = start_ns,
			   .end_ns = end_ns,
			   .memory = memory };
	bool ok;

	*memory = (struct fw_host_memory){ .file = file_of(trace, process), .limit = -1 };
	if (memory->file == FW_NONE)
		return true;
	clear(&job.left);
	clear(&job.limit);
	job.parent = calloc(processes, sizeof(*job.parent));
	job.members = calloc(processes, sizeof(*job.members));
	ok = job.parent && job.members && find_parents(&job) && add_members(&job);
	if (ok) {
		take(&job);
		add_up(&job);
	}
	for (size_t p = 0; job.members && p < processes; p++)
		free(job.members[p]);
	free(job.members);
	free(job.parent);
	return ok;
}
