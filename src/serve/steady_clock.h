#ifndef FW_SERVE_STEADY_CLOCK_H
#define FW_SERVE_STEADY_CLOCK_H
/* CLOCK_MONOTONIC in nanoseconds. */
#include <stdint.h>
#include <time.h>

static inline int64_t fw_steady_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A signal may end it earlier. */
static inline void fw_steady_sleep_until(int64_t until_ns)
{
	const struct timespec t = { .tv_sec = until_ns / 1000000000,
				    .tv_nsec = until_ns % 1000000000 };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

#endif
