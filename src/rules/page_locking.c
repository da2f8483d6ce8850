#include "rules/page_locking.h"

#include <string.h>

/* What torch/utils/data/_utils/pin_memory.py calls it, and how many are looked at. */
#define THREAD_NAME "pt_data_pin"
#define MOST        16

/* CPU time of a thread at its first and last sample inside. */
struct run {
	uint32_t thread;
	int64_t first_ns, last_ns;
	double first, last;
};

static struct run *find(struct run *runs, size_t *count, uint32_t thread)
{
	for (size_t i = 0; i < *count; i++)
		if (runs[i].thread == thread)
			return &runs[i];
	if (*count == MOST)
		return NULL;
	runs[*count] =
		(struct run){ .thread = thread, .first_ns = INT64_MAX, .last_ns = INT64_MIN };
	return &runs[(*count)++];
}

static bool is_wanted(const struct fw_trace *t, size_t sample, uint32_t process)
{
	uint32_t thread = t->host_samples.thread[sample];

	return thread != FW_NONE && t->threads.process[thread] == process &&
	       !strcmp(fw_trace_text(t, t->threads.name[thread]), THREAD_NAME) &&
	       !strcmp(fw_trace_text(t, t->host_samples.name[sample]), "run_ns");
}

double fw_page_locking_share(const struct fw_trace *trace, uint32_t process, int64_t start_ns,
			     int64_t end_ns)
{
	struct run runs[MOST];
	size_t count = 0;
	double share = -1;

	for (size_t i = 0; i < trace->host_samples.len; i++) {
		int64_t time_ns = trace->host_samples.time_ns[i];
		struct run *run;

		if (time_ns < start_ns || time_ns >= end_ns || !is_wanted(trace, i, process))
			continue;
		run = find(runs, &count, trace->host_samples.thread[i]);
		if (run && time_ns < run->first_ns) {
			run->first_ns = time_ns;
			run->first = trace->host_samples.value[i];
		}
		if (run && time_ns > run->last_ns) {
			run->last_ns = time_ns;
			run->last = trace->host_samples.value[i];
		}
	}
	for (size_t i = 0; i < count; i++) {
		double ran = runs[i].last - runs[i].first;

		if (runs[i].last_ns > runs[i].first_ns && ran >= 0 &&
		    ran / (double)(runs[i].last_ns - runs[i].first_ns) > share)
			share = ran / (double)(runs[i].last_ns - runs[i].first_ns);
	}
	return share;
}
