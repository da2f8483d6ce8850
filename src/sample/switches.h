#ifndef FW_SAMPLE_SWITCHES_H
#define FW_SAMPLE_SWITCHES_H
/*
 * When a thread was off the CPU, from the kernel's context-switch records (perf_event_open(2) with a
 * software event that counts nothing). Users may have them of their own processes where
 * kernel.perf_event_paranoid is 2 or less.
 */
#include "sample/host_sampler.h"

/* Of one thread. */
struct fw_switches {
	int fd;     /* -1: not open */
	void *ring; /* what the kernel writes into */
	unsigned pid, tid;
	int64_t off_since_ns; /* 0: on a CPU, or not known */
	bool is_runnable;
	bool is_certain; /* a record was seen; before, the thread may run since it began */
	bool is_filling; /* the ring holds so much that it must be looked at each time */
	unsigned losses; /* readings that found the ring full */
	int64_t drained_ns;
};

/*
 * Begins at now_ns. state is the thread's letter of proc(5): where the first record says that the
 * thread came back to a CPU, it tells what it did until then. Fails with errno, else 0.
 */
int fw_switches_open(struct fw_switches *switches, unsigned pid, unsigned tid, char state,
		     int64_t now_ns);

/* Passes on what came since; true: something did. An interval that lasts is told in pieces, of at most a second each. */
bool fw_switches_drain(struct fw_switches *switches, const struct fw_host_sink *sink,
		       int64_t now_ns);

/* Passes over what came until now_ns. */
void fw_switches_skip(struct fw_switches *switches, int64_t now_ns);

/* Tells the rest, unless the thread has ended; closes. Accepts one that is not open. */
void fw_switches_close(struct fw_switches *switches, const struct fw_host_sink *sink,
		       int64_t now_ns, bool has_ended);

/* What to do about an errno of fw_switches_open; static storage. */
const char *fw_switches_error(int error);

/* The records between two positions of a ring of `size` bytes, a power of two; for tests and fuzzing. */
struct fw_switch_ring {
	const uint8_t *bytes;
	uint64_t size, tail, head;
};
void fw_switches_parse(struct fw_switches *switches, const struct fw_switch_ring *ring,
		       const struct fw_host_sink *sink, int64_t now_ns);

#endif
