#ifndef FW_SAMPLE_HOST_SAMPLER_H
#define FW_SAMPLE_HOST_SAMPLER_H
/*
 * Watches a process and all below it, and the machine around them, for a recording: what
 * host_values.def lists, and when threads were off the CPU. Cheap enough to run every 10 ms; where it
 * would cost more than it may, it runs less often and says so.
 *
 * Of a value only changes are told. A value that stayed the same for some readings and then changes is
 * told once more as it was last seen, then as it is: between two neighbours it changed at most as a
 * line does, and not before the first of them.
 */
#include "base/error.h"
#include "sample/values.h"

#include <stdbool.h>
#include <stdint.h>

struct fw_host_reading {
	int64_t time_ns;   /* CLOCK_MONOTONIC */
	unsigned pid, tid; /* pid 0: the machine or the container; tid 0: the whole process */
	enum fw_host_value which;
	double value;
};

struct fw_off_cpu {
	int64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
	unsigned pid, tid;
	bool is_runnable; /* the CPU was taken from it; else it waited, then perhaps for a CPU */
};

/* Where it all goes; called from fw_host_sampler_read and _close. None may be NULL. */
struct fw_host_sink {
	void *context;
	void (*value)(void *context, const struct fw_host_reading *reading);
	void (*thread)(void *context, unsigned pid, unsigned tid, const char *name);
	void (*off_cpu)(void *context, const struct fw_off_cpu *off);
	/* count records of a thread were lost in [start_ns, end_ns). */
	void (*lost)(void *context, int64_t start_ns, int64_t end_ns, uint64_t count);
	/* What cannot be sampled, and why: a sentence, once. */
	void (*cannot)(void *context, const char *what);
};

struct fw_host_options {
	const char *root;  /* "/", or where another system's proc and sys are mounted */
	unsigned pid;      /* the watched process; all below it are watched too */
	unsigned adopter;  /* processes whose parent it is are watched too; 0: none */
	int64_t period_ns; /* 0: 10 ms */
	double most_cpu;   /* of a core, with all that the calling thread does; 0: 0.009 */
	/* Threads whose context switches are recorded; 0: none. */
	unsigned switch_threads_most;
};

/* One thread, which does nothing else. */
struct fw_host_sampler;

fw_status fw_host_sampler_open(struct fw_host_sampler **sampler,
			       const struct fw_host_options *options,
			       const struct fw_host_sink *sink, struct fw_error *err);

/* One round of readings at now_ns; returns when the next is due. */
int64_t fw_host_sampler_read(struct fw_host_sampler *sampler, int64_t now_ns);

/* Passes over what happened until now_ns and was not to be recorded; before the next reading. */
void fw_host_sampler_skip(struct fw_host_sampler *sampler, int64_t now_ns);

/* Tells until when unchanged values held. Accepts NULL. */
void fw_host_sampler_close(struct fw_host_sampler *sampler);

#endif
