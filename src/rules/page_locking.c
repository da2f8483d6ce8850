#include "rules/page_locking.h"

#include <string.h>

/* What torch/utils/data/_utils/pin_memory.py calls it. */
#define THREAD_NAME "pt_data_pin"

static struct fw_page_locker *find(struct fw_page_locker *lockers, size_t *count, uint32_t thread)
{
	for (size_t i = 0; i < *count; i++)
		if (lockers[i].thread == thread)
			return &lockers[i];
	if (*count == FW_PAGE_LOCKERS)
		return NULL;
	lockers[*count] = (struct fw_page_locker){ .thread = thread,
						   .first_ns = INT64_MAX,
						   .last_ns = INT64_MIN };
	return &lockers[(*count)++];
}

static bool is_run_time(const struct fw_trace *t, size_t sample)
{
	uint32_t thread = t->host_samples.thread[sample];

	return thread != FW_NONE &&
	       !strcmp(fw_trace_text(t, t->threads.name[thread]), THREAD_NAME) &&
	       !strcmp(fw_trace_text(t, t->host_samples.name[sample]), "run_ns");
}

size_t fw_page_lockers(const struct fw_trace *trace, int64_t start_ns, int64_t end_ns,
		       struct fw_page_locker lockers[FW_PAGE_LOCKERS])
{
	size_t count = 0;

	for (size_t i = 0; i < trace->host_samples.len; i++) {
		int64_t time_ns = trace->host_samples.time_ns[i];
		struct fw_page_locker *locker;

		if (time_ns < start_ns || time_ns >= end_ns || !is_run_time(trace, i))
			continue;
		locker = find(lockers, &count, trace->host_samples.thread[i]);
		if (locker && time_ns < locker->first_ns) {
			locker->first_ns = time_ns;
			locker->first_run_ns = trace->host_samples.value[i];
		}
		if (locker && time_ns > locker->last_ns) {
			locker->last_ns = time_ns;
			locker->last_run_ns = trace->host_samples.value[i];
		}
	}
	return count;
}

double fw_page_locker_share(const struct fw_page_locker *locker)
{
	double ran = locker->last_run_ns - locker->first_run_ns;

	if (locker->last_ns <= locker->first_ns || !(ran >= 0))
		return -1;
	return ran / (double)(locker->last_ns - locker->first_ns);
}
