/* Keeps what a host sampler tells, for tests to ask about. */
#ifndef FW_TESTS_HOST_SINK_H
#define FW_TESTS_HOST_SINK_H
#include "sample/host_sampler.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define KEPT_MOST 200000

static struct {
	struct fw_host_reading readings[KEPT_MOST];
	size_t count;
	struct fw_off_cpu off[KEPT_MOST];
	size_t off_count;
	struct {
		unsigned tid;
		char text[32];
	} names[4096];
	size_t name_count;
	char cannot[4096];
	uint64_t lost;
} kept;

static void keep_value(void *context, const struct fw_host_reading *reading)
{
	(void)context;
	if (kept.count < KEPT_MOST)
		kept.readings[kept.count++] = *reading;
}

static void keep_thread(void *context, unsigned pid, unsigned tid, const char *name)
{
	(void)context;
	(void)pid;
	if (kept.name_count == sizeof(kept.names) / sizeof(kept.names[0]))
		return;
	kept.names[kept.name_count].tid = tid;
	snprintf(kept.names[kept.name_count++].text, 32, "%s", name);
}

static void keep_off(void *context, const struct fw_off_cpu *off)
{
	(void)context;
	if (kept.off_count < KEPT_MOST)
		kept.off[kept.off_count++] = *off;
}

static void keep_lost(void *context, int64_t start_ns, int64_t end_ns, uint64_t count)
{
	(void)context;
	(void)start_ns;
	(void)end_ns;
	kept.lost += count;
}

static void keep_cannot(void *context, const char *what)
{
	size_t len = strlen(kept.cannot);

	(void)context;
	snprintf(kept.cannot + len, sizeof(kept.cannot) - len, "%s\n", what);
}

static const struct fw_host_sink keeper = { NULL,     keep_value, keep_thread,
					    keep_off, keep_lost,  keep_cannot };

static inline int64_t clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The last value told, or -1. */
static double last_value(unsigned pid, unsigned tid, enum fw_host_value which)
{
	for (size_t i = kept.count; i-- > 0;) {
		const struct fw_host_reading *r = &kept.readings[i];

		if (r->pid == pid && r->tid == tid && r->which == which)
			return r->value;
	}
	return -1;
}

static inline size_t count_values(unsigned pid, unsigned tid, enum fw_host_value which)
{
	size_t count = 0;

	for (size_t i = 0; i < kept.count; i++)
		count += kept.readings[i].pid == pid && kept.readings[i].tid == tid &&
			 kept.readings[i].which == which;
	return count;
}

#endif
