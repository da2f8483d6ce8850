#ifndef FW_RULES_HOST_MEMORY_H
#define FW_RULES_HOST_MEMORY_H
/* Memory of a program and of the processes below it over a part of a recording, at equal distances. */
#include "rules/host_samples.h"

/* A multiple of 3: thirds are compared. */
#define FW_MEMORY_POINTS 120

struct fw_host_memory {
	uint32_t file; /* whose host; FW_NONE: there are no samples of the process */
	size_t children;
	double main[FW_MEMORY_POINTS]; /* resident bytes of the process */
	double children_own
		[FW_MEMORY_POINTS]; /* of all processes below it, without shared memory */
	bool has_share;             /* known of processes that have half of their memory at least */
	double children_share
		[FW_MEMORY_POINTS]; /* their parts of what a fork shares: 1/n in each of n */
	bool has_left;
	double left[FW_MEMORY_POINTS]; /* below the limit of the machine, or of the container */
	double limit;                  /* bytes; -1: unknown */
};

struct fw_memory_time {
	int64_t start_ns, end_ns;
};

/*
 * The samples of the process (row of processes) and of those that it, or one of them, started. A value
 * holds until the next: unchanged ones are not recorded.
 */
void fw_host_memory_of(const struct fw_trace *trace, const struct fw_host_samples *samples,
		       uint32_t process, const struct fw_memory_time *time,
		       struct fw_host_memory *memory);

/* The first of the points, from start_ns to end_ns, that is not before that time; FW_MEMORY_POINTS: none. */
size_t fw_memory_point(int64_t start_ns, int64_t end_ns, int64_t time_ns);

#endif
