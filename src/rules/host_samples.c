/* Host samples -> an index by process and by machine. */
#include "rules/host_samples.h"

#include "base/map.h"

#include <stdlib.h>
#include <string.h>

static const char *name_of(const struct fw_trace *t, size_t sample)
{
	return fw_trace_text(t, t->host_samples.name[sample]);
}

static bool is_of_memory(const struct fw_trace *t, size_t sample)
{
	static const char *const names[] = {
		"rss_bytes", "shared_bytes",      "pss_anon_bytes",
		"state",     "memory_free_bytes", "memory_limit_bytes"
	};
	const char *name = name_of(t, sample);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* A process's samples of one file only: the first's. */
static bool find_files(const struct fw_trace *t, struct fw_host_samples *samples)
{
	const struct fw_trace_host_samples *s = &t->host_samples;

	samples->file = malloc((samples->processes + 1) * sizeof(*samples->file));
	if (!samples->file)
		return false;
	for (size_t p = 0; p < samples->processes; p++)
		samples->file[p] = FW_NONE;
	for (size_t i = 0; i < s->len; i++)
		if (s->process[i] != FW_NONE && samples->file[s->process[i]] == FW_NONE)
			samples->file[s->process[i]] = s->file[i];
	return true;
}

/* Which list the sample belongs to; SIZE_MAX: none. */
static size_t list_of(const struct fw_trace *t, const struct fw_host_samples *samples, size_t i)
{
	const struct fw_trace_host_samples *s = &t->host_samples;

	if (s->thread[i] != FW_NONE || !is_of_memory(t, i))
		return SIZE_MAX;
	if (s->process[i] == FW_NONE)
		return s->file[i] == FW_NONE ? SIZE_MAX : samples->processes + s->file[i];
	return s->file[i] == samples->file[s->process[i]] ? s->process[i] : SIZE_MAX;
}

/* A counting sort: how many each list has, where it begins, then the rows. */
static bool list_rows(const struct fw_trace *t, struct fw_host_samples *samples)
{
	const struct fw_trace_host_samples *s = &t->host_samples;
	size_t lists = samples->processes, *end;

	for (size_t i = 0; i < s->len; i++)
		if (s->file[i] != FW_NONE && s->file[i] >= lists - samples->processes)
			lists = samples->processes + s->file[i] + 1;
	samples->first = calloc(lists + 2, sizeof(*samples->first));
	samples->rows = malloc((s->len + 1) * sizeof(*samples->rows));
	if (!samples->first || !samples->rows)
		return false;
	end = samples->first + 1; /* while filled; then the begin of the next */
	for (size_t i = 0; i < s->len; i++) {
		size_t list = list_of(t, samples, i);

		if (list != SIZE_MAX)
			end[list + 1]++;
	}
	for (size_t list = 0; list < lists; list++)
		end[list + 1] += end[list];
	for (size_t i = 0; i < s->len; i++) {
		size_t list = list_of(t, samples, i);

		if (list != SIZE_MAX)
			samples->rows[end[list]++] = (uint32_t)i;
	}
	return true;
}

/* Processes by number and file. */
static bool number_processes(const struct fw_trace *t, const struct fw_host_samples *samples,
			     struct fw_map *rows)
{
	for (size_t p = 0; p < samples->processes; p++) {
		uint64_t *slot;

		if (samples->file[p] == FW_NONE)
			continue;
		slot = fw_map_at(rows, strtoul(fw_trace_text(t, t->processes.pid[p]), NULL, 10),
				 samples->file[p], NULL);
		if (!slot)
			return false;
		*slot = p + 1;
	}
	return true;
}

/* The first parent counts: later ones adopted it. */
static bool find_parents(const struct fw_trace *t, const struct fw_host_samples *samples,
			 uint32_t *parent)
{
	const struct fw_trace_host_samples *s = &t->host_samples;
	struct fw_map rows = { 0 };
	bool ok = number_processes(t, samples, &rows);

	for (size_t i = 0; i < s->len && ok; i++) {
		uint32_t process = s->process[i];
		const uint64_t *slot;

		if (process == FW_NONE || parent[process] || s->file[i] != samples->file[process] ||
		    strcmp(name_of(t, i), "parent_pid") || s->value[i] < 1 ||
		    s->value[i] > UINT32_MAX)
			continue;
		slot = fw_map_find(&rows, (uint64_t)s->value[i], s->file[i]);
		if (slot)
			parent[process] = (uint32_t)*slot;
	}
	fw_map_release(&rows);
	return ok;
}

static bool find_children(const struct fw_trace *t, struct fw_host_samples *samples)
{
	size_t count = samples->processes;
	uint32_t *parent = calloc(count + 1, sizeof(*parent));
	bool ok = parent && find_parents(t, samples, parent);

	samples->child = calloc(count + 1, sizeof(*samples->child));
	samples->next = calloc(count + 1, sizeof(*samples->next));
	ok = ok && samples->child && samples->next;
	for (size_t p = count; ok && p-- > 0;) {
		if (!parent[p])
			continue;
		samples->next[p] = samples->child[parent[p] - 1];
		samples->child[parent[p] - 1] = (uint32_t)p + 1;
	}
	free(parent);
	return ok;
}

const struct fw_host_samples *fw_host_samples_of(const struct fw_trace *trace,
						 struct fw_findings *findings)
{
	struct fw_host_samples *samples = findings->host_samples;

	if (samples)
		return samples;
	samples = calloc(1, sizeof(*samples));
	if (samples)
		samples->processes = trace->processes.len;
	if (!samples || !find_files(trace, samples) || !list_rows(trace, samples) ||
	    !find_children(trace, samples)) {
		fw_host_samples_destroy(samples);
		findings->failed = true;
		return NULL;
	}
	findings->host_samples = samples;
	return samples;
}

void fw_host_samples_destroy(struct fw_host_samples *samples)
{
	if (!samples)
		return;
	free(samples->rows);
	free(samples->first);
	free(samples->file);
	free(samples->child);
	free(samples->next);
	free(samples);
}
